cimport cython

from mat._core cimport HostBlocks
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_of_result
from mat.matrix.elements cimport Elements

cdef object _float32, _float64
cdef tuple _SPECS
cdef dict _named
cdef HostBlocks _blocks
cdef int _COMPLEX64, _COMPLEX128


cdef class Views(Elements):
    @cython.locals(number=int)
    cdef object _type_of_parts(self)
    cdef MatBase _permuted(self, tuple axes)
    @cython.locals(now=MatBase, layout=Layout, found=Layout, size=Py_ssize_t, of=Py_ssize_t,
                   last=Py_ssize_t)
    cdef MatBase _as_bytes_of(self, object kind)
