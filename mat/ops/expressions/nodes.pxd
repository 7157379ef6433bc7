# Compiled, since each statement of a `fused` block makes a node.
cimport cython

from mat._core cimport Lock, reference_to
from mat.core.pending cimport Pending
from mat.matrix.base cimport Form, MatBase
from mat.matrix.storage cimport Storage

cdef object _array, _input
cdef Nodes _values


cdef class Nodes:
    cdef public list found
    cdef public Py_ssize_t room
    cdef public long long last, least, reads, most
    cdef public unsigned long busy
    cdef public bint rows
    cpdef add(self, object node)
    @cython.locals(node=Node)
    cpdef list wanted(self)


cdef class Leaf:
    cdef object __weakref__
    cdef public MatBase view
    cdef bint sees_like(self, MatBase view) except -1
    @cython.locals(storage=Storage, lock=Lock, pending=Pending)
    cpdef register(self)


cdef Pending pending_of(Storage storage)


@cython.locals(leaf=Leaf)
cpdef Leaf new_leaf(MatBase view)
@cython.locals(storage=Storage, leaf=Leaf, pending=Pending)
cpdef Leaf leaf_of(MatBase view)


cdef class Node:
    cdef object __weakref__
    cdef readonly long long number
    cdef readonly object operation
    cdef public tuple args
    cdef readonly Form form
    cdef public object line, leaf, storage, mat, old, overwritten, device
    cdef public bint enabled, reduced
    cdef readonly int weight
    @cython.locals(node=Node)
    cpdef begin(self, object operation, tuple args, Form form, object line)
    @cython.locals(lock=Lock, pending=Pending)
    cpdef object be_value_of(self, Storage storage, MatBase mat, object old)
    @cython.locals(storage=Storage)
    cpdef Storage wanted(self)
    @cython.locals(storage=Storage, leaf=Leaf)
    cpdef settle(self, MatBase view)


@cython.locals(node=Node)
cpdef Node new_node(object operation, tuple args, Form form, object line)
