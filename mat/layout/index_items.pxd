cimport cython

cdef extern from "Python.h":
    ctypedef class builtins.slice [object PySliceObject]:  # with its fields
        cdef object start, stop, step


cdef Py_ssize_t _FAR

@cython.locals(i=Py_ssize_t)
cpdef Py_ssize_t position(object item, Py_ssize_t axis, Py_ssize_t n) except? -1

cdef bint _is_int(object item)

@cython.locals(step=Py_ssize_t)
cpdef Py_ssize_t step_of(slice item) except? -1

@cython.locals(i=Py_ssize_t)
cdef Py_ssize_t bound(object item, Py_ssize_t default, Py_ssize_t n, Py_ssize_t back) except? -1

cpdef Py_ssize_t first_of(slice item, Py_ssize_t n, Py_ssize_t step) except? -1

cpdef Py_ssize_t length_of(slice item, Py_ssize_t n, Py_ssize_t step, Py_ssize_t first) except? -1

cdef Py_ssize_t _count(Py_ssize_t first, Py_ssize_t stop, Py_ssize_t step)

cpdef bint is_all(slice item)

cpdef tuple resolve(object item, Py_ssize_t n)
