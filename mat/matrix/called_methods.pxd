cimport cython

from mat._core cimport Callee
from mat.matrix.elements cimport Elements

cdef object _mat
cdef list _in_use, _observers


cdef class MatMethod(Callee):
    cdef dict __dict__
    cdef object function
    cdef object call_fully(self, tuple args, dict kwargs)


cdef class ItemMethod(MatMethod):
    @cython.locals(view=Elements)
    cdef object call_plainly(self, object x, object y, Py_ssize_t count)
    @cython.locals(view=Elements, k=Py_ssize_t)
    cdef object call_fully(self, tuple args, dict kwargs)


cdef class WritingMethod(MatMethod):
    cdef object shorter
    cdef object call_fully(self, tuple args, dict kwargs)
