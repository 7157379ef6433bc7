cimport cython
from libc.stdint cimport uintptr_t

from mat._core cimport HostBlocks, KernelCall
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_of_result
from mat.matrix.brief_copies cimport copy_bytes, copy_rows, is_brief, none_else, set_rows

cdef KernelCall _ROWS
cdef list _observers
cdef HostBlocks _blocks
cdef Registration _foreign
cdef object _mat
cdef Py_ssize_t MOST_APART, WORTH, _FEW

cpdef MatBase as_packed(MatBase view)

@cython.locals(found=MatBase)
cpdef MatBase new_transposed(MatBase made)

@cython.locals(found=MatBase)
cpdef MatBase stacked_rows(object mats)

@cython.locals(first=MatBase, view=MatBase, like=tuple, rank=Py_ssize_t, k=Py_ssize_t)
cpdef MatBase stacked_along(object mats, object axis)

@cython.locals(form=Form, like=Form, target=MatBase, to=uintptr_t, at=uintptr_t, nbytes=Py_ssize_t,
               packed=bint)
cpdef MatBase packed_copy(MatBase view)

@cython.locals(first=MatBase, parts=list, like=tuple, k=Py_ssize_t, rank=Py_ssize_t,
               total=Py_ssize_t, made=MatBase)
cpdef MatBase joined_along(object mats, object axis)

@cython.locals(view=MatBase, shape=tuple, strides=tuple, found=bint)
cpdef bint all_by_columns(list mats) except -1

@cython.locals(view=MatBase, shape=tuple, total=Py_ssize_t, rank=Py_ssize_t)
cdef Py_ssize_t _total_along(list parts, tuple like, Py_ssize_t axis) except -2

@cython.locals(view=MatBase, first=MatBase, copied=MatBase, target=MatBase, form=Form, parts=list,
               rows=Py_ssize_t, size=Py_ssize_t, itemsize=Py_ssize_t, nbytes=Py_ssize_t,
               k=Py_ssize_t)
cpdef MatBase joined_parts(list mats, tuple shape, Py_ssize_t axis)

@cython.locals(view=MatBase, to=uintptr_t, at=uintptr_t, step=Py_ssize_t, nbytes=Py_ssize_t,
               left=Py_ssize_t)
cdef bint _copy_rows(list parts, MatBase target, Py_ssize_t rows, Py_ssize_t itemsize) except -1

@cython.locals(view=MatBase, kernel=KernelCall, rows=Py_ssize_t, itemsize=Py_ssize_t,
               to=uintptr_t, address=uintptr_t, step=Py_ssize_t, nbytes=Py_ssize_t,
               threads=Py_ssize_t)
cpdef bint join_released(list parts, MatBase target, Py_ssize_t axis) except -1
