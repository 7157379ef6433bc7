cimport cython

cdef extern from "Python.h":
    ctypedef class builtins.slice [object PySliceObject]:  # with its fields
        cdef object start, stop, step


cpdef Py_ssize_t position(object item, Py_ssize_t axis, Py_ssize_t n) except? -1

cpdef bint is_int(object item)

@cython.locals(i=Py_ssize_t)
cpdef Py_ssize_t bound(object item, Py_ssize_t default, Py_ssize_t n) except? -1

cpdef Py_ssize_t far_bound(object item, Py_ssize_t default, Py_ssize_t n) except? -1

@cython.locals(one=slice)
cpdef bint is_plain(object item)

cpdef bint is_all(slice item)

@cython.locals(first=Py_ssize_t, stop=Py_ssize_t)
cpdef tuple resolve(object item, Py_ssize_t n)
