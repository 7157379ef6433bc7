cimport cython

from mat.core.coherence cimport Coherence
from mat.matrix.storage cimport Storage

cdef object _input


cdef class ForeignStorage(Storage):
    cdef public list neighbours
    cdef public bint away, exclusive
    cdef public object owners_version, seen_home
    cdef public long long process
    cdef public object place_of
    cdef public long long starts_at, ends_at
    cpdef share(self)
    @cython.locals(one=ForeignStorage, low=cython.longlong, high=cython.longlong)
    cpdef join(self, object others)
    cdef bint ready_there(self, unsigned long long mask, unsigned long long bit, bint reads,
                          bint writes, bint whole) except -1
