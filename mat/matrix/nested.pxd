cdef tuple _NESTS, _SEQUENCES

cdef bint _has_mats(object obj, int depth) except -1
