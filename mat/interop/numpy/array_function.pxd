cdef object _mat_type
cdef dict _implementations

cdef bint _are_mats(object types) except -1
cpdef object call_numpy(object func, tuple args, dict kwargs=*)
