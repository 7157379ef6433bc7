cdef tuple _joined_shape(list shapes, Py_ssize_t axis)
