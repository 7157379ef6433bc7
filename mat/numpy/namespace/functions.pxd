# Compiled so that a call has no frame: what NumPy warns of names the line of the program.

from mat.numpy.array_function cimport are_ready, call_in_full, call_numpy
from mat.numpy.array_ufunc cimport of_few_elements
from mat.numpy.short_calls cimport called_shortly
from mat.ops.engine.functions cimport Ufunc

cdef object _mat


cdef class NumpysUfunc(Ufunc):
    cdef object ufunc
    cdef Py_ssize_t count
    cdef object call_plainly(self, object x, object y, Py_ssize_t count)
    cdef object call_fully(self, tuple args, dict kwargs)


cdef bint _need_no_mats(dict kwargs) except -1
