from mat.core.cube cimport Cube

cdef list _observers


cdef class Storage(Cube):
    cdef public Py_ssize_t itemsize
    cdef public bint writable
    cpdef describe(self, Py_ssize_t size, object dtype, Py_ssize_t itemsize, object fill_value)
