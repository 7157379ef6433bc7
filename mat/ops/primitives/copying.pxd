cimport cython

from libc.stdint cimport uintptr_t

from mat._core cimport HostBlocks
from mat.core.cube cimport Cube
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_of_result, is_numpys
from mat.matrix.brief_copies cimport none_else
from mat.matrix.elements cimport copied_to_part
from mat.matrix.joined cimport packed_copy
from mat.matrix.storage cimport Storage
from mat.ops.engine.calls cimport Calls

cdef Calls _assign
cdef HostBlocks _blocks
cdef dict _named, _NO_KEYWORDS
cdef frozenset _HASHED
cdef object _mat, _int64, _float16, _bool
cdef Py_ssize_t MOST_SORTED, _FEW
cdef Registration _foreign

@cython.locals(layout=Layout)
cdef MatBase _converted_plainly(MatBase x, object dtype, bint copy)

@cython.locals(form=Form, made=MatBase)
cpdef MatBase converted(MatBase x, object dtype)

@cython.locals(view=MatBase, layout=Layout, made=MatBase, storage=Cube, rank=Py_ssize_t)
cpdef MatBase sorted_along(object x, object axis, bint stable=*)

@cython.locals(view=MatBase, layout=Layout, made=MatBase, rank=Py_ssize_t, k=Py_ssize_t,
               a=Py_ssize_t, step=Py_ssize_t, length=Py_ssize_t, to=uintptr_t, address=uintptr_t)
cpdef MatBase arg_sorted(object x, object axis)

@cython.locals(layout=Layout, storage=Storage, length=Py_ssize_t, to=uintptr_t)
cdef bint _lines_sorted(MatBase view) except -1
@cython.locals(view=MatBase, made=MatBase, storage=Storage)
cpdef bint sorted_in_place(tuple args) except -1
