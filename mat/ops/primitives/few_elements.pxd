cimport cython

from libc.stdint cimport uint64_t, uintptr_t

from mat._core cimport HostBlocks
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_of_result, is_numpys
from mat.matrix.brief_calls cimport call_briefly
from mat.matrix.brief_copies cimport copy_rows, is_brief, none_else
from mat.matrix.joined cimport packed_copy
from mat.matrix.storage cimport Storage
from mat.ops.engine.calls cimport Calls

cdef HostBlocks _blocks
cdef Registration _array
cdef object _mat, _int64, _float64, _bool, _integers, _byte, _sum_of_bytes
cdef Calls _max, _min, _sum, _select, _assign, _subtract, _rint, _equal, _all, _clip
cdef list _masks
cdef dict _spreads, _NO_KEYWORDS
cdef Form _count
cdef object _interp, _clip_by_numpy
cdef Py_ssize_t _MOST, _FEW, _FEW_PLACES, _SEARCHED, _LARGEST, _SMALL

@cython.locals(view=MatBase, layout=Layout, storage=Storage, made=MatBase, address=uintptr_t,
               to=uintptr_t, bins=Py_ssize_t, start=Py_ssize_t)
cpdef object counted(object x)

@cython.locals(view=MatBase, layout=Layout, storage=Storage, made=MatBase, form=Form,
               address=uintptr_t, count=Py_ssize_t, start=Py_ssize_t, mask=uint64_t)
cpdef object places(object x)

@cython.locals(view=MatBase, layout=Layout, storage=Storage, made=MatBase, address=uintptr_t,
               to=uintptr_t, mask=uint64_t)
cpdef object truths(object x)

@cython.locals(view=MatBase, layout=Layout, storage=Storage, made=MatBase, address=uintptr_t,
               to=uintptr_t)
cpdef object first_truth(object x)

@cython.locals(view=MatBase, at=MatBase, like=MatBase, made=MatBase, layout=Layout,
               storage=Storage, shape=tuple, first=Py_ssize_t, size=Py_ssize_t, k=Py_ssize_t,
               enabled=bint, places=list, to=uintptr_t, address=uintptr_t)
cpdef object picked(object x, tuple index)
@cython.locals(at=MatBase, layout=Layout, address=uintptr_t)
cdef object _address_of_index(object item, tuple shape)

@cython.locals(of=MatBase, view=MatBase, layout=Layout, one=Layout, storage=Storage, given=Storage,
               made=MatBase, address=uintptr_t, address_of=uintptr_t, to=uintptr_t,
               size=Py_ssize_t)
cpdef object searched(object values, object x)

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

cdef object _mask_of(object dtype)

@cython.locals(view=MatBase)
cpdef object interpolated(object x, object xp, object fp)

@cython.locals(view=MatBase, at=MatBase, layout=Layout, dtypes=tuple, one=Layout, other=Layout,
               made=MatBase, to=uintptr_t, address=uintptr_t, points=uintptr_t, values=uintptr_t,
               enabled=bint)
cdef object _few_interpolated(object x, object xp, MatBase of)

@cython.locals(view=MatBase, layout=Layout)
cpdef object diagonal(object x)

@cython.locals(view=MatBase, made=MatBase, n=Py_ssize_t)
cpdef object of_diagonal(object x)

@cython.locals(found=MatBase)
cpdef object traced(object x)

@cython.locals(truth=MatBase, one=MatBase, other=MatBase, made=MatBase)
cpdef object chosen(object condition, object a, object b)

@cython.locals(one=MatBase, other=MatBase)
cpdef object all_equal(object a, object b)

@cython.locals(view=MatBase)
cpdef object rounded(object x)

@cython.locals(view=MatBase)
cpdef object same(object x)

cpdef bint leaves_dtype(object number, str kind) except -1

@cython.locals(view=MatBase, lower=MatBase, upper=MatBase)
cpdef object clipped(object x, object low, object high)

@cython.locals(view=MatBase)
cpdef object extent(object x, object axis)

cdef MatBase _as_integers(MatBase view)

@cython.locals(view=MatBase, layout=Layout, rank=Py_ssize_t, k=Py_ssize_t, step=Py_ssize_t,
               shape=tuple)
cpdef object differenced(object x, object axis)

cdef class Spread:
    cdef Form form
    cdef Layout source, target
    @cython.locals(made=MatBase, source=MatBase)
    cdef MatBase copy(self, MatBase view)

@cython.locals(view=MatBase, layout=Layout, found=Spread)
cpdef object repeated(object x, object count, object axis)

@cython.locals(layout=Layout, storage=Storage, made=MatBase, address=uintptr_t, to=uintptr_t,
               size=Py_ssize_t)
cdef object _few_repeated(MatBase view, Py_ssize_t count)

@cython.locals(layout=Layout, spread=Spread)
cdef object _all_repeated(MatBase view, Py_ssize_t count)

@cython.locals(view=MatBase, layout=Layout, found=Spread)
cpdef object tiled(object x, object times)

@cython.locals(view=MatBase, layout=Layout, storage=Storage, made=MatBase, size=Py_ssize_t,
               rows=Py_ssize_t, n=Py_ssize_t, length=Py_ssize_t, cut=Py_ssize_t, rank=Py_ssize_t,
               k=Py_ssize_t, at=uintptr_t, to=uintptr_t)
cpdef object rolled(object x, object shift, object axis)

cdef object _rolled_in_turn(object x, tuple shifts, tuple axes)

@cython.locals(like=Layout)
cdef MatBase _part(MatBase view, tuple shape, tuple strides, Py_ssize_t displacement)
