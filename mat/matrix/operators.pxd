cimport cython

from mat.core.cube cimport View

cdef dict _NO_KEYWORDS
cdef frozenset _NUMBERS
cdef list _unchanging
cdef Operator _neg, _pos, _abs, _invert
cdef Operator _add, _sub, _mul, _truediv, _floordiv
cdef Operator _mod, _pow, _matmul, _and, _or
cdef Operator _xor, _lshift, _rshift
cdef Operator _radd, _rsub, _rmul, _rtruediv, _rfloordiv
cdef Operator _rmod, _rpow, _rmatmul, _rand, _ror
cdef Operator _rxor, _rlshift, _rrshift
cdef Operator _iadd, _isub, _imul, _itruediv, _ifloordiv
cdef Operator _imod, _ipow, _iand, _ior, _ixor
cdef Operator _ilshift, _irshift
cdef Operator _rdivmod, _divmod
cdef Operator _eq, _ne, _lt, _le, _gt
cdef Operator _ge


cdef class Operation:
    cdef object make(self, tuple args)
    cdef object carry_out(self, tuple args, dict kwargs)


cdef class Operator:
    cdef public object function, refused, by_numpy
    cdef public bint gives_numbers
    cdef public Operation operation, unchecked
    cdef public dict by_number
    cdef public Operator plain
    cdef object unary(self, View x)
    @cython.locals(operation=Operation)
    cdef object binary(self, View x, object y)
    cdef object reflected(self, View x, object y)
    cdef object _by_function(self, View x, object y)
    @cython.locals(operations=dict)
    cdef Operation _with_number(self, View x, object y)
    cdef object augmented(self, View x, object y)


cdef bint _is_plain(View x, object y)
cdef str _kind_of(object x)
cdef bint _is_inexact(View x) except -1
cdef bint _is_number(View x) except -1


cdef class Operators(View):
    pass
