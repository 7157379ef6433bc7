cimport cython

from mat.layout.strided cimport Layout
from mat.matrix.elements cimport Elements

cdef list _only_mats
cdef frozenset _NUMBERS


cdef class FlatIterator:
    cdef readonly Elements base
    cdef readonly Py_ssize_t index
    @cython.locals(view=Elements, layout=Layout, at=Py_ssize_t, n=Py_ssize_t, step=Py_ssize_t)
    cdef object _element(self, Py_ssize_t k)
    cpdef object _vector(self)
    @cython.locals(view=Elements, vector=Elements, layout=Layout)
    cdef bint _set_quickly(self, object at, object value) except -1
    cdef object _set_by_numpy(self, object at, object value)


cdef object _plain(object index)
