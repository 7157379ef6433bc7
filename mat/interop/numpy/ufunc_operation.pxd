cimport cython

from mat.interop.numpy.reading cimport call_reading
from mat.matrix.base cimport Form, MatBase
from mat.matrix.operators cimport Operation

cdef object _mat, _state, _quiet, _set, _reset
cdef dict _NO_KEYWORDS


cdef class UfuncOperation(Operation):
    cdef readonly object rule, checked
    cdef readonly bint of_bools
    cdef set taken
    cdef object make(self, tuple args)
    cdef object carry_out(self, tuple args, dict kwargs)
    cpdef object apply(self, object x, object y)


cdef tuple _kinds(object x, object y)
@cython.locals(form=Form)
cdef object _kind_beside(MatBase mat, object number)
