cimport cython

from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_of_result
from mat.matrix.elements cimport Elements

cdef object _float64
cdef tuple _SPECS
cdef dict _REAL_OF


cdef class Views(Elements):
    cdef bint _is_real(self) except -1
    @cython.locals(layout=Layout, size=Py_ssize_t, of=Py_ssize_t)
    cpdef MatBase _as_bytes_of(self, object kind)
