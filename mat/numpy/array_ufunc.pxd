cimport cython

from mat.matrix.base cimport MatBase, is_numpys
from mat.matrix.brief_calls cimport call_briefly
from mat.numpy.short_calls cimport called_shortly, product
from mat.ops.engine.calls cimport Calls
from mat.ops.primitives.copying cimport converted

cdef dict _KERNELS, _OF_FLOATS
cdef dict _implementations
cdef set _NUMBERS, _BY_NUMPY
cdef object _mat_type, _matmul, _add, _float64, _float32, _int64, _float16, _positive
cdef list _in_use, _observers
cdef Py_ssize_t _FIRST, _FEW

cpdef object call_ufunc(tuple args, dict kwargs)

cdef bint _are_operands(tuple inputs) except -1
cdef object _implemented(object ufunc, tuple inputs, dict kwargs)
cdef object _by_kernel(Calls kernel, tuple args, dict kwargs)
@cython.locals(one=MatBase, other=MatBase, to=MatBase)
cdef object _matrix_product(tuple args, dict kwargs)
@cython.locals(alike=Calls, view=MatBase, brief=bint)
cpdef object of_few_elements(object ufunc, tuple inputs)
cpdef object by_method(object ufunc, object method, tuple inputs, dict kwargs)
cdef object _quietly(object function, tuple inputs, dict kwargs)
cdef object _only_out(dict kwargs)
