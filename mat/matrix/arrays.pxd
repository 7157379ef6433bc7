cdef object _float64
