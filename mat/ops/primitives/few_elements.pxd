cimport cython

from libc.stdint cimport uint64_t, uintptr_t

from mat._core cimport HostBlocks
from mat.core.registration cimport Registration
from mat.layout.strided cimport Layout
from mat.matrix.base cimport Form, MatBase, form_of_result, is_numpys
from mat.matrix.brief_calls cimport call_briefly
from mat.matrix.brief_copies cimport copy_rows, is_brief, none_else
from mat.matrix.joined cimport as_packed, new_transposed, packed_copy
from mat.matrix.storage cimport Storage
from mat.ops.engine.calls cimport Calls

cdef HostBlocks _blocks
cdef Registration _array
cdef object _mat, _int64, _float64, _bool, _integers
cdef Calls _max, _min, _sum, _select, _assign, _subtract, _rint, _multiply, _divide, _equal, _all
cdef Calls _clip
cdef list _masks
cdef dict _spreads, _NO_KEYWORDS
cdef Form _count
cdef object _interp, _clip_by_numpy
cdef Py_ssize_t _MOST, _FEW, _FEW_PLACES, _SEARCHED, _LARGEST, _SMALL

@cython.locals(address=uintptr_t, found=uintptr_t)
cpdef uintptr_t elements_at(MatBase view, Layout layout, Storage storage,
                            Registration facet) except? 0

@cython.locals(view=MatBase, layout=Layout, storage=Storage, made=MatBase, address=uintptr_t,
               to=uintptr_t, bins=Py_ssize_t, start=Py_ssize_t, given=MatBase)
cpdef object counted(object x)

@cython.locals(view=MatBase, layout=Layout, storage=Storage, made=MatBase, address=uintptr_t,
               to=uintptr_t, mask=uint64_t)
cpdef object truths(object x)

@cython.locals(view=MatBase, layout=Layout, storage=Storage, made=MatBase, address=uintptr_t,
               to=uintptr_t)
cpdef object first_truth(object x)


cpdef object bits_of_truth(object dtype)

@cython.locals(view=MatBase)
cpdef object interpolated(object x, object xp, object fp)

@cython.locals(view=MatBase, at=MatBase, layout=Layout, dtypes=tuple, one=Layout, other=Layout,
               made=MatBase, to=uintptr_t, address=uintptr_t, points=uintptr_t, values=uintptr_t,
               enabled=bint)
cdef object _few_interpolated(object x, object xp, MatBase of)

cpdef object correlated(object a, object v, object mode)
cpdef object convolved(object a, object v, object mode)

@cython.locals(one=MatBase, other=MatBase, first=Layout, last=Layout, n=Py_ssize_t, m=Py_ssize_t,
               least=Py_ssize_t, most=Py_ssize_t, start=Py_ssize_t, count=Py_ssize_t, enabled=bint,
               made=MatBase, to=uintptr_t, at=uintptr_t, of=uintptr_t)
cdef object _moved_along(object a, object v, object mode, bint reverse)

@cython.locals(view=MatBase, layout=Layout)
cpdef object diagonal(object x)

@cython.locals(view=MatBase, made=MatBase, n=Py_ssize_t)
cpdef object of_diagonal(object x)

@cython.locals(found=MatBase)
cpdef object traced(object x)

@cython.locals(truth=MatBase, one=MatBase, other=MatBase, made=MatBase, given=MatBase)
cpdef object chosen(object condition, object a, object b)

@cython.locals(one=MatBase, other=MatBase)
cpdef object all_equal(object a, object b)

@cython.locals(view=MatBase, scale=Calls, unscale=Calls)
cpdef object rounded(object x, object decimals)

cdef object _copied_as_stored(MatBase view)

@cython.locals(view=MatBase)
cpdef object same(object x)
@cython.locals(view=MatBase)
cpdef object without_nan(object x)

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
