cimport cython

from mat.matrix.base cimport MatBase, is_numpys
from mat.matrix.brief_calls cimport call_briefly
from mat.numpy.short_calls cimport called_shortly

cdef object _mat_type, _not_brief
cdef frozenset _on_devices, _ordering
cdef dict _implementations, _holds, _waiting
cdef list _in_use

cdef bint _are_mats(object types) except -1
@cython.locals(count=Py_ssize_t, k=Py_ssize_t)
cpdef bint are_ready(tuple args, tuple at, bint adapts) except -1
@cython.locals(view=MatBase)
cdef bint _are_plain(object args, int depth=*) except -1
cpdef object call_implementation(object func, tuple args, dict kwargs)
cdef object _called(object implementation, Py_ssize_t holds, tuple args, dict kwargs)
cpdef object call_numpy(object func, tuple args, dict kwargs=*)
cpdef object call_in_full(object func, tuple args, dict kwargs)
