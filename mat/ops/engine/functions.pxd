cimport cython

from mat._core cimport Callee
from mat.matrix.base cimport MatBase
from mat.matrix.called_methods cimport MatMethod
from mat.ops.engine.calls cimport Calls, is_plain_number

cdef object _mat, _float64, _float32
cdef list _in_use
cdef dict _NO_KEYWORDS

cdef class Ufunc(Callee):
    cdef dict __dict__
    cdef object call_fully(self, tuple args, dict kwargs)


cdef class FunctionOfMatrices(Ufunc):
    cdef Calls operation
    cdef object function
    cdef object call_plainly(self, object x, object y, Py_ssize_t count)
    cdef object call_fully(self, tuple args, dict kwargs)


cdef class FunctionOfOne(Ufunc):
    cdef readonly Calls operation
    cdef readonly object rule
    cdef readonly object kernel
    cdef object call_plainly(self, object x, object y, Py_ssize_t count)
    cdef object call_fully(self, tuple args, dict others)


cdef class FunctionOfTwo(Ufunc):
    cdef readonly Calls operation
    cdef readonly object rule, check_values, shortcut, kernel, operand
    cdef object call_plainly(self, object x, object y, Py_ssize_t count)
    cdef object call_fully(self, tuple args, dict others)


cdef class ReducingMethod(MatMethod):
    cdef Calls operation
    cdef public object shorter
    cdef object call_plainly(self, object x, object y, Py_ssize_t count)
    cdef object call_fully(self, tuple args, dict kwargs)


cdef bint _need_no_conversion(object x, object y)
@cython.locals(one=MatBase, other=MatBase)
cdef bint _need_no_check(object x, object y) except -1
cpdef object check_is_mat(object value, object what=*)
cdef object _of_one(Calls kernel, object x, object out)
cdef object _of_mats(Calls kernel, object x, object y, object out)
cdef object _of_three(Calls kernel, object x, object low, object high, object out)
cdef tuple _arguments(Calls kernel, tuple names, tuple args, dict others)
@cython.locals(kernel=Calls, to=MatBase, where=MatBase, found=MatBase)
cpdef object masked(object function, tuple operands, object out, object mask)
