from mat.matrix.creation cimport over_memory

cdef object _float64
