from mat.ops.engine.calls cimport Calls

cdef object _mat
cdef frozenset _unchecked
cdef dict _NO_KEYWORDS

cdef class Ufunc:
    cdef dict __dict__


cdef class FunctionOfMatrices(Ufunc):
    cdef Calls operation
    cdef object function


cdef class FunctionOfOne(Ufunc):
    cdef readonly Calls operation
    cdef readonly object rule
    cdef readonly object kernel


cdef class FunctionOfTwo(Ufunc):
    cdef readonly Calls operation
    cdef readonly object rule, check_values, shortcut, kernel, operand


cdef bint _need_no_conversion(object x, object y)
cdef bint _is_number(object value)
cdef object _of_one(Calls kernel, object x, object out)
cdef object _of_mats(Calls kernel, object x, object y, object out)
cdef object _of_three(Calls kernel, object x, object low, object high, object out)
cdef tuple _arguments(Calls kernel, tuple names, tuple args, dict others)
