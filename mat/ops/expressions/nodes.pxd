# Compiled, since each statement of a `fused` block makes a node.
cimport cython

from mat._core cimport LiveObjects, Lock, reference_count, reference_to, referent
from mat.core.pending cimport Pending, new_pending
from mat.matrix.base cimport Form, MatBase
from mat.matrix.storage cimport Storage

cdef object _array, _input
cdef Nodes _values
cdef LiveObjects _live, _cubes


cdef class Node


cdef class Nodes:
    cdef public long long last
    cdef public unsigned long busy
    cdef public bint rows, in_place
    @cython.locals(node=Node, found=list)
    cpdef list wanted(self)


@cython.locals(at=Py_ssize_t, before=Node)
cdef add_by_number(Node node, list found)


cdef class Statements:
    cdef readonly long long least
    cdef public long long reads, most
    cdef public object held
    @cython.locals(node=Node, found=list)
    cpdef list wanted(self)
    cpdef let_go(self)


@cython.final
cdef class Leaf:
    cdef object __weakref__
    cdef public MatBase view
    cdef bint sees_like(self, MatBase view) except -1
    @cython.locals(storage=Storage, lock=Lock, pending=Pending, found=list)
    cpdef register(self)


@cython.locals(pending=Pending)
cpdef list readers_of(MatBase view)
@cython.locals(count=int, pending=Pending)
cpdef int count_readers(MatBase view) except -1
cdef Pending pending_of(Storage storage)


@cython.locals(leaf=Leaf)
cpdef Leaf new_leaf(MatBase view)
@cython.locals(storage=Storage, leaf=Leaf, pending=Pending)
cpdef Leaf leaf_of(MatBase view)


@cython.final
cdef class Node:
    cdef object __weakref__
    cdef readonly long long number
    cdef readonly object operation
    cdef public tuple args, turned
    cdef readonly Form form
    cdef public object line, leaf, mat, old, overwritten, device
    cdef Py_ssize_t place, storage_place
    cdef public Py_ssize_t at
    cdef public Statements block
    cdef public bint enabled, in_place, reduced
    cdef readonly bint spanned
    cdef readonly int weight
    cdef readonly long long reads
    @cython.locals(node=Node, leaf=Leaf)
    cdef int begin(self, object operation, tuple args, Form form, object line) except -1
    @cython.locals(lock=Lock)
    cpdef be_value_of(self, Storage storage, MatBase mat, object old)
    cdef int be_value_of_new(self, Storage storage, MatBase mat, object old) except -1
    cdef int belong_to(self, Storage storage, MatBase mat, object old) except -1
    @cython.locals(storage=Storage)
    cpdef Storage wanted(self)
    @cython.locals(storage=Storage, leaf=Leaf)
    cpdef settle(self, MatBase view)


cpdef Py_ssize_t viewers(MatBase mat) except -1
@cython.locals(node=Node)
cpdef Node new_node(object operation, tuple args, Form form, object line)
