cimport cython

from mat._core cimport HostBlocks
from mat.layout.strided cimport Layout
from mat.matrix.base cimport MatBase, is_numpys
from mat.matrix.brief_copies cimport none_else
from mat.matrix.creation cimport copy_of_array
from mat.matrix.elements cimport copied_from_array
from mat.matrix.exports cimport copied_array
from mat.matrix.reading cimport rebuilt
from mat.matrix.storage cimport Storage

cdef frozenset _PLAIN, _METHODS
cdef HostBlocks _blocks
cdef set _known
cdef dict _inside
cdef object _mat, _ndarray, _generic, _not_brief
cdef Py_ssize_t _MOST_RESULT


cdef bint _is_nest(object kind)
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
cdef list _all_copied(tuple args, bint writable)
@cython.locals(options=dict)
cdef dict _keywords_copied(dict kwargs, bint writable)
@cython.locals(target=MatBase, layout=Layout, storage=Storage, arguments=list)
cpdef bint write_briefly(object function, tuple args, dict kwargs) except -1
@cython.locals(arguments=list)
cpdef object call_briefly(object function, tuple args, dict kwargs, bint writable=*)
