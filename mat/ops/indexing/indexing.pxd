cimport cython

from mat.layout.strided cimport Layout
from mat.matrix.base cimport MatBase
from mat.matrix.elements cimport copied_to_part
from mat.ops.engine.calls cimport may_meet
from mat.ops.indexing.selection cimport Selection, selected

cdef frozenset _CHOICES, _BASIC
cdef tuple _ADVANCED
cdef list _in_use, _observers
cdef object _ALL, _io, _mat

cdef bint _is_advanced(object index) except -1
cdef object _selected(object self, object index, str name)
cdef object _gather(object self, object index)
cdef object _scatter(object self, object index, object value)
@cython.locals(now=MatBase, layout=Layout)
cdef object _set_part(MatBase self, object index, object value)
@cython.locals(target=MatBase)
cdef object _assign_part(MatBase now, Layout part, object value)
cdef Selection _chosen(MatBase self, tuple index)
