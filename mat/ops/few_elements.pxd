cimport cython

from libc.stdint cimport uint64_t, uintptr_t

from mat._core cimport HostBlocks
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_of_result, is_numpys
from mat.matrix.storage cimport Storage
from mat.ops.calls cimport Calls

cdef HostBlocks _blocks
cdef Registration _array
cdef object _mat, _int64
cdef Calls _sum
cdef dict _masks
cdef Py_ssize_t _MOST

@cython.locals(view=MatBase, layout=Layout, storage=Storage, made=MatBase, address=uintptr_t,
               to=uintptr_t, bins=Py_ssize_t, start=Py_ssize_t)
cpdef object counted(object x)

@cython.locals(view=MatBase, layout=Layout, storage=Storage, made=MatBase, form=Form,
               address=uintptr_t, count=Py_ssize_t, start=Py_ssize_t, mask=uint64_t)
cpdef object places(object x)

cdef object _mask_of(object dtype)

@cython.locals(view=MatBase, layout=Layout, diagonal=Layout)
cpdef object traced(object x)
