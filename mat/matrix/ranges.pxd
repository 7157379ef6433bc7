from mat.matrix.creation cimport copy_of_array, range_of_few

cdef object _counted_by_numpy(object start, object stop, object step, object dtype)
cdef object _kind(tuple numbers)
cdef object _counted(object start, object stop, object step, object dtype)
cdef object _between(object start, object stop, object num, bint endpoint)
cdef bint _is_moderate(object value) except -1
cdef object _as_mat(object a, object dtype, tuple ends)
