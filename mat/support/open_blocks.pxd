# Compiled, so that an interrupt comes only in the parts of a block, which are repeated.
cimport cython


cdef class Nested:
    cdef public bint ended
    cdef public object parent


cpdef Nested still_open(Nested nested)
@cython.locals(inner=Nested)
cpdef enter(object variable, Nested nested)
@cython.locals(innermost=Nested)
cpdef leave(object variable, Nested nested)
cpdef remove(list found, object one)
