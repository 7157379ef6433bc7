cimport cython

from mat._core cimport Threads, referent

cdef Threads _threads


@cython.final
cdef class Pending:
    cdef public object value
    cdef public list readers
    cdef public object restored
    cdef public unsigned long long computing
    cdef begin(self)
    cdef bint may_hold_back(self, bint writes) except -1
    cpdef bint holds_back(self, object view, bint writes) except -1
    cpdef list read_in(self, object view)


@cython.locals(pending=Pending)
cpdef Pending new_pending()
