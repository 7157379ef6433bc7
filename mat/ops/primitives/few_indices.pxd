cimport cython

from libc.stdint cimport uint64_t, uintptr_t

from mat._core cimport HostBlocks
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_of_result, is_numpys
from mat.matrix.brief_copies cimport none_else
from mat.matrix.joined cimport as_packed
from mat.matrix.storage cimport Storage
from mat.ops.primitives.few_elements cimport bits_of_truth, elements_at, leaves_dtype

cdef HostBlocks _blocks
cdef Registration _array, _foreign
cdef object _mat, _int64, _float64, _float32, _byte, _sum_of_bytes
cdef Py_ssize_t _MOST, _MOST_BYTES, _MOST_ITEMS, _SEARCHED, _LARGEST

@cython.locals(view=MatBase, layout=Layout, storage=Storage, address=uintptr_t, count=Py_ssize_t,
               start=Py_ssize_t, mask=uint64_t)
cpdef object places(object x)
@cython.locals(made=MatBase, form=Form)
cdef list _targets(list found, Py_ssize_t count, tuple shape, bint enabled)
@cython.locals(made=MatBase)
cdef tuple _all_written(list found)
@cython.locals(view=MatBase, layout=Layout, storage=Storage, address=uintptr_t)
cpdef object unraveled(object indices, object shape)
@cython.locals(at=MatBase, like=MatBase, enabled=bint)
cpdef object raveled_places(object indices, object shape, bint wraps=*)
@cython.locals(size=Py_ssize_t)
cdef bint _are_lengths(object shape) except -1

@cython.locals(view=MatBase, at=MatBase, like=MatBase, made=MatBase, layout=Layout,
               storage=Storage, shape=tuple, first=Py_ssize_t, size=Py_ssize_t, k=Py_ssize_t,
               enabled=bint, places=list, to=uintptr_t, address=uintptr_t)
cpdef object picked(object x, tuple index)
@cython.locals(at=MatBase, view=MatBase, layout=Layout, one=Layout, storage=Storage, given=Storage,
               made=MatBase, address=uintptr_t, index=uintptr_t, to=uintptr_t, count=Py_ssize_t,
               nbytes=Py_ssize_t)
cpdef object items(object x, object indices, bint whole)
@cython.locals(at=MatBase, layout=Layout, address=uintptr_t)
cdef object _address_of_index(object item, tuple shape)

@cython.locals(of=MatBase, view=MatBase, layout=Layout, one=Layout, storage=Storage, given=Storage,
               made=MatBase, address=uintptr_t, address_of=uintptr_t, to=uintptr_t,
               other=MatBase)
cpdef object searched(object values, object x)
@cython.locals(made=MatBase)
cdef object _number_searched(MatBase values, object number)

@cython.locals(at=MatBase, view=MatBase, layout=Layout, one=Layout, storage=Storage, given=Storage,
               made=MatBase, address=uintptr_t, index=uintptr_t, to=uintptr_t, rank=Py_ssize_t,
               rows=Py_ssize_t, columns=Py_ssize_t)
cpdef object summed_between(object x, object indices)

@cython.locals(at=MatBase, view=MatBase, source=MatBase, layout=Layout, one=Layout, part=Layout,
               rank=Py_ssize_t)
cpdef bint added_at(object x, object indices, object value) except -1

@cython.locals(storage=Storage, given=Storage, columns=Py_ssize_t, step=Py_ssize_t,
               index=uintptr_t, values=uintptr_t, to=uintptr_t)
cdef bint _rows_added(MatBase view, Layout layout, MatBase at, Layout one, MatBase source,
                      Layout part, double number) except -1
