cdef class Unbound:
    cdef dict __dict__
    cdef readonly object function
