cimport cython


cpdef object integer(object value, object what)
@cython.locals(i=Py_ssize_t)
cpdef Py_ssize_t as_axis(object axis, Py_ssize_t ndim) except -1
cpdef tuple as_axes(object axes, Py_ssize_t ndim)
cpdef tuple with_inferred(tuple shape, object size)
cpdef bint is_written_as(tuple shape, tuple lengths) except -1
