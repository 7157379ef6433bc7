cimport cython

from mat.layout.strided cimport Layout
from mat.matrix.base cimport MatBase
from mat.matrix.brief_calls cimport call_briefly
from mat.matrix.brief_copies cimport none_else
from mat.matrix.elements cimport copied_to_part
from mat.ops.engine.calls cimport may_meet
from mat.ops.indexing.selection cimport Selection, selected
from mat.ops.indexing.selection cimport as_array_of, as_index, as_source
from mat.ops.primitives.few_indices cimport items, picked, places, raveled_places

cdef frozenset _CHOICES, _BASIC
cdef tuple _ADVANCED
cdef dict _NO_KEYWORDS
cdef list _in_use
cdef object _ALL, _io, _mat

cdef bint _is_advanced(object index) except -1
cdef object _there(object self, object index, str name)
@cython.locals(chosen=Selection)
cdef object _gather(object self, object index)
@cython.locals(view=MatBase)
cdef object _scatter(object self, object index, object value)
@cython.locals(now=MatBase, layout=Layout)
cdef object _set_part(MatBase self, object index, object value)
@cython.locals(target=MatBase)
cdef object _assign_part(MatBase now, Layout part, object value)
@cython.locals(now=MatBase, at=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t, numbers=Py_ssize_t,
               whole=bint, chosen=MatBase, view=MatBase)
cdef Selection _on_host(MatBase self, tuple index)
@cython.locals(now=MatBase)
cdef Selection _of_elements(MatBase self, tuple index)
