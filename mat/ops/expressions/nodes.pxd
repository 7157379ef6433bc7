# Compiled, since each statement of a `fused` block makes a node.
cimport cython

from mat._core cimport Threads
from mat.core.pending cimport Pending
from mat.matrix.base cimport Form, MatBase
from mat.matrix.storage cimport Storage

cdef object _array, _input


cdef class Leaf:
    cdef object __weakref__
    cdef readonly MatBase view
    cdef bint sees_like(self, MatBase view) except -1
    @cython.locals(storage=Storage)
    cpdef register(self)


@cython.locals(storage=Storage, leaf=Leaf)
cpdef Leaf leaf_of(MatBase view)


cdef class Node:
    cdef object __weakref__
    cdef readonly long long number
    cdef readonly object operation
    cdef public tuple args
    cdef readonly Form form
    cdef public object line, leaf, storage, mat, old, overwritten
    cdef public bint enabled, reduced
    cdef readonly int weight
    cpdef be_value_of(self, Storage storage, MatBase mat, object old)
    @cython.locals(storage=Storage)
    cpdef Storage wanted(self)
