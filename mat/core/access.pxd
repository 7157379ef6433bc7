cimport cython

from mat._core cimport Threads
from mat.core.access_record cimport AccessRecord
from mat.core.cube cimport Cube, View
from mat.core.registration cimport Registration

cdef object _input
cdef list _observers
cdef Threads _threads


@cython.no_gc
@cython.freelist(8)
cdef class Access:
    cdef public View view
    cdef public Registration facet
    cdef public object direction
    cdef public AccessRecord record
    cdef bint entered
    cdef check(self)
    cdef end(self, bint failed)
    cdef AccessRecord begin(self, object direction, object where)
    cdef undo(self)


@cython.no_gc
@cython.freelist(4)
cdef class AccessGroup:
    cdef public list accesses
    cdef bint open, entered
    @cython.locals(access=Access, record=AccessRecord)
    cdef tuple begin_all(self, object where)
    @cython.locals(access=Access, k=Py_ssize_t)
    cdef begin_some(self, bint writes, list directions, object where)
    @cython.locals(access=Access)
    cdef undo_all(self)
    @cython.locals(access=Access, k=Py_ssize_t)
    cdef list joined(self)
    @cython.locals(access=Access)
    cdef end_all(self, bint failed)
