cimport cython

from mat.layout.strided cimport Layout
from mat.matrix.base cimport MatBase, form_of_result, is_numpys
from mat.matrix.joined cimport joined_along, stacked_along
from mat.ops.engine.calls cimport Calls
from mat.ops.primitives.copying cimport converted as converted_copy

cdef list _in_use, _observers, _deferrals
cdef object _mat, _device_in_use, _result_type
cdef Py_ssize_t _FEW
cdef dict _NO_KEYWORDS
cdef Calls _assign, _join_two

cpdef MatBase joined(object mats, object axis)
cpdef MatBase stacked(object mats, object axis)

@cython.locals(view=MatBase, parts=list, dtypes=list, size=Py_ssize_t, apart=bint, k=Py_ssize_t)
cdef list _packed(object mats)

@cython.locals(first=MatBase, like=tuple, parts=list, rank=Py_ssize_t, k=Py_ssize_t,
               length=Py_ssize_t)
cdef MatBase _joined_there(object mats, object axis, bint stacks)

@cython.locals(view=MatBase, seen=Layout, layout=Layout)
cdef list _with_axis(list parts, Py_ssize_t k)

@cython.locals(first=MatBase, view=MatBase, like=tuple, shape=tuple, total=Py_ssize_t)
cdef Py_ssize_t _length_there(list parts, Py_ssize_t k, bint stacks) except -2

@cython.locals(view=MatBase, start=Py_ssize_t, stop=Py_ssize_t)
cdef object _copy_there(list parts, object target, Py_ssize_t k, bint stacks)

cdef tuple _joined_shape(list shapes, Py_ssize_t axis)
