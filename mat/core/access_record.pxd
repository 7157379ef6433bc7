cimport cython

from mat._core cimport ArrayLender

cdef object _array_lender


@cython.freelist(64)
cdef class AccessRecord:
    cdef public object facet, handle, value, make_value, view, where, task, direction, runs, used
    cdef public unsigned long long mask, bit, thread
    cdef public bint unchanged, only_holds
    cpdef void reset(self)
    @cython.locals(lender=ArrayLender)
    cdef object lent(self)
    cdef void begin(self, object view, object direction, unsigned long long thread, object task)
