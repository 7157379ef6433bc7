# Compiled, so that an interrupt comes only in the parts of a block, which are repeated.


cdef class Nested:
    cdef public bint ended
    cdef public object parent
