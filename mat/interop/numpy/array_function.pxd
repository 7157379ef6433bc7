cimport cython

from mat.matrix.brief_calls cimport call_briefly
from mat.matrix.joined cimport joined_along, stacked_along
from mat.ops.copying cimport sorted_at_once

cdef object _mat_type, _concatenate, _stack, _sort, _not_brief
cdef set _of_many
cdef frozenset _ordering
cdef dict _implementations

cdef bint _are_mats(object types) except -1
cdef object _at_once(object func, tuple args, dict kwargs)
@cython.locals(count=Py_ssize_t, k=Py_ssize_t)
cpdef bint are_ready(tuple args, tuple at, bint adapts) except -1
cdef bint _only_reads(object func, tuple args, dict kwargs) except -1
cdef object _only_axis(tuple args, dict kwargs, object default)
cpdef object call_numpy(object func, tuple args, dict kwargs=*)
