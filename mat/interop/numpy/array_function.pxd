from mat.matrix.joined cimport joined_along, stacked_along
from mat.ops.copying cimport sorted_at_once

cdef object _mat_type, _concatenate, _stack, _sort
cdef frozenset _ordering
cdef dict _implementations

cdef bint _are_mats(object types) except -1
cdef object _at_once(object func, tuple args, dict kwargs)
cdef object _only_axis(tuple args, dict kwargs, object default)
cpdef object call_numpy(object func, tuple args, dict kwargs=*)
