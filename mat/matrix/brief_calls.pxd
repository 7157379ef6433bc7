cimport cython

from mat._core cimport HostBlocks
from mat.matrix.base cimport MatBase
from mat.matrix.creation cimport copy_of_array
from mat.matrix.exports cimport copied_array

cdef HostBlocks _blocks
cdef list _in_use, _observers
cdef frozenset _PLAIN, _NESTS
cdef object _mat, _ndarray, _generic, _not_brief
cdef Py_ssize_t _MOST_RESULT


cdef class BriefCall:
    cdef public bint fails, enabled
    @cython.locals(view=MatBase)
    cpdef object copied(self, object value)
    cdef object item_copied(self, object value)
    cpdef object with_mats(self, object value)
    @cython.locals(made=MatBase)
    cpdef object mat_of(self, object value)


@cython.locals(call=BriefCall, arguments=list)
cpdef object call_briefly(object function, tuple args, dict kwargs)
