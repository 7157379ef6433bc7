# Compiled, so that an interrupt comes only in the parts of a block, which are repeated.
cimport cython


cdef set _running


cdef class Body:
    cdef object __weakref__
    cdef public object unused, late
    cdef public Body body
    cdef public bint running
    @cython.locals(made=Body)
    cpdef Body copied(self)
    cpdef end_surely(self, error)


cdef class Nested:
    cdef public bint ended
    cdef public object parent


cpdef Nested still_open(Nested nested)
@cython.locals(inner=Nested)
cpdef enter(object variable, Nested nested)
@cython.locals(innermost=Nested)
cpdef leave(object variable, Nested nested)
cpdef remove(list found, object one)
