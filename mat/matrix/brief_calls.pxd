cimport cython

from mat.matrix.base cimport MatBase, is_numpys
from mat.matrix.brief_copies cimport none_else
from mat.matrix.creation cimport copy_of_array
from mat.matrix.exports cimport copied_array

cdef frozenset _PLAIN, _NESTS, _METHODS
cdef set _known
cdef dict _inside
cdef object _mat, _ndarray, _generic, _not_brief
cdef Py_ssize_t _MOST_RESULT


@cython.locals(items=list)
cdef object _copied(object value, bint writable)
cdef object _array_copied(MatBase view, bint writable)
@cython.locals(view=MatBase)
cdef bint _enabled(object values) except -1
@cython.locals(items=list)
cdef object _with_mats(object value, bint enabled)
@cython.locals(made=MatBase)
cdef object _mat_of(object value, bint enabled)

@cython.locals(arguments=list)
cpdef object call_briefly(object function, tuple args, dict kwargs, bint writable=*)
