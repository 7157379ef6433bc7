cimport cython

from mat._core cimport HostBlocks
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_of_result
from mat.matrix.elements cimport Elements

cdef object _float64
cdef tuple _SPECS
cdef dict _REAL_OF, _named
cdef HostBlocks _blocks
cdef int _FIRST_COMPLEX, _LAST_COMPLEX


cdef class Views(Elements):
    @cython.locals(number=int)
    cdef bint _is_real(self) except -1
    cdef MatBase _permuted(self, tuple axes)
    @cython.locals(now=MatBase, layout=Layout, found=Layout, size=Py_ssize_t, of=Py_ssize_t,
                   last=Py_ssize_t)
    cdef MatBase _as_bytes_of(self, object kind)
