"""Functions of Mats in host memory that need no access of their own: one operation on views, or a
loop over a few packed elements. Those with indices are in `few_indices`.

Each returns None, with nothing done, for other operands.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy._core import multiarray

from ...core.compiled import BLOCKS
from ...core.registry import Facet
from ...facets import ARRAY
from ...layout.shapes import Ints
from ...layout.strided import Layout, packed_strides
from ...matrix.base import Form, form_of_result, is_numpys
from ...matrix.brief_calls import NOT_BRIEF, call_briefly
from ...matrix.brief_copies import copy_rows, is_brief, none_else
from ...matrix.joined import as_packed, new_transposed, packed_copy
from ...matrix.mat import Mat
from ...matrix.storage import Storage
from ...support.options import FLOAT64
from ...support.types import DType, Function, Keywords, Operand
from ..engine.calls import Calls
from . import elementwise, reduce
from .reduce import ALL, mask_of
from .selecting import adapted_to, select

_MOST = 1 << 12  # elements, or bins
_FEW = 1 << 10  # bytes of elements that take less time than a plan
_FEW_PLACES = 1 << 7  # and points: between more, NumPy interpolates in less time if all are sorted
_SEARCHED = 1 << 17  # bytes that are searched, or elements added, at once
_LARGEST = 1 << 40  # elements of a result
_SMALL = 128  # integers up to this one, all dtypes of numbers can represent


def _operations(*functions: Any) -> list[Calls]:
    """Return the operations of functions of elements."""
    return [f.operation for f in functions]


# with types of C
_blocks, _array, _mat, _int64 = BLOCKS, ARRAY, Mat, np.dtype(np.int64)
_float64 = FLOAT64
_bool, _sum, _select, _assign = np.dtype(bool), vars(reduce.sum)["op"], select, elementwise.assign
_max, _min = vars(reduce.max)["op"], vars(reduce.min)["op"]
_subtract, _rint, _equal = _operations(elementwise.subtract, elementwise.rint, elementwise.equal)
_multiply, _divide = _operations(elementwise.multiply, elementwise.divide)
_all, _count = ALL, form_of_result((), _int64)
_clip = vars(elementwise.clip)["op"]
_clip_by_numpy: Function = np.ndarray.clip
_integers = np.dtype(int)  # what NumPy makes of bools
_interp: Function = vars(multiarray)["interp"]  # that NumPy's function calls for real numbers
_NO_KEYWORDS: Keywords = {}
_masks: list[int | None] = [None] * 32  # by the number of a dtype
_spreads: dict[object, Spread] = {}  # by shape, strides and numbers
_MOST_LAYOUTS = 256


def elements_at(view: Mat, layout: Layout, storage: Storage, facet: Facet) -> int:
    """Return the address of the elements of a packed Mat; 0 if its layout or storage has changed,
    or an access has to be opened.
    """
    address = storage.ready(facet.mask, facet.bit, True, False)
    if not address or view.layout is not layout or view.storage is not storage:
        return 0
    found: int = address + view.element_size * layout.displacement
    return found


def counted(x: object) -> Operand:
    """Return how often 0, 1, ... occur in a vector of int64, which are not negative."""
    if type(x) is not _mat or not _blocks.enabled:
        return None
    given: Any = x
    if given.element_type is not _int64 or len(given.layout.shape) != 1:
        return None
    view: Any = as_packed(given)
    if view is None:
        return None
    layout, storage = view.layout, view.storage
    if not 0 < layout.size <= _MOST:
        return None
    start = 8 * layout.displacement
    address = storage.element_address(_array.mask, _array.bit)
    if not address:
        return None
    bins = _blocks.bins_of(address + start, layout.size)
    if not 0 <= bins <= _MOST:
        return None
    made: Any = form_of_result((bins,), _int64).new(view.device_enabled, None)
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = storage.element_address(_array.mask, _array.bit)
    if not to or not address or view.layout is not layout:
        return None
    _blocks.count_each(to, bins, address + start, layout.size)
    made.storage.written(_array.mask)
    return made


def truths(x: object) -> Operand:
    """Return how many elements are true."""
    view: Any = as_packed(x) if type(x) is _mat and _blocks.enabled else None
    if view is None:
        return None
    layout, storage = view.layout, view.storage
    if not 0 < layout.size * view.element_size <= _FEW:
        return None
    mask = bits_of_truth(view.element_type)
    if not mask:
        return None
    made: Any = _count.new(view.device_enabled, None)
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = storage.element_address(_array.mask, _array.bit)
    if not to or not address or view.layout is not layout:
        return None
    address += view.element_size * layout.displacement
    _blocks.count(to, 1, _blocks.count_true(address, view.element_size, layout.size, mask), 0)
    made.storage.written(_array.mask)
    return made


def first_truth(x: object) -> Operand:
    """Return the index of the first of packed bools that is true; 0 if none is."""
    if type(x) is not _mat or not none_else():
        return None
    view: Any = x
    layout, storage = view.layout, view.storage
    if view.element_type is not _bool or not layout.contiguous or not 0 < layout.size <= _SEARCHED:
        return None
    made: Any = _count.new(view.device_enabled, None)
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = storage.element_address(_array.mask, _array.bit)
    if not to or not address or view.layout is not layout:
        return None
    _blocks.count(to, 1, _blocks.first_true(address + layout.displacement, layout.size), 0)
    made.storage.written(_array.mask)
    return made


def bits_of_truth(dtype: DType) -> int:
    """Return the bits that make an element true; 0 for elements of several words."""
    if not is_numpys(dtype):
        return 0
    number = _blocks.number_of(dtype)
    found = _masks[number]
    if found is None:
        found = _masks[number] = 0 if dtype.itemsize > 8 else mask_of(dtype) & (2**64 - 1)
    return found


def interpolated(x: object, xp: object, fp: object) -> Operand:
    """Return the values at `x` of the function through points of real numbers."""
    if type(fp) is not _mat:
        return None
    view: Any = fp
    if view.element_type.kind == "c":
        return None
    found = _few_interpolated(x, xp, view)
    if found is not None:
        return found
    found = call_briefly(_interp, (x, xp, fp), _NO_KEYWORDS, True)
    return None if found is NOT_BRIEF else found


def _few_interpolated(x: object, xp: object, of: Mat) -> Operand:
    """Return the result of `interpolated` for few packed elements, and points in order."""
    if type(x) is not _mat or type(xp) is not _mat or not none_else():
        return None
    view: Any = as_packed(x)
    at: Any = xp
    if view is None or not view.layout.shape:
        return None
    layout, one, other = view.layout, at.layout, of.layout
    if not (one.contiguous and other.contiguous):
        return None
    if len(one.shape) != 1 or len(other.shape) != 1 or one.size != other.size or not (
            0 < layout.size <= _FEW_PLACES and 0 < one.size <= _FEW_PLACES):
        return None
    enabled = view.device_enabled and at.device_enabled and of.device_enabled
    made: Any = form_of_result(layout.shape, _float64).new(enabled, None)
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    view._locate()
    at._locate()
    of._locate()
    dtypes = (view.element_type, at.element_type, of.element_type)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = elements_at(view, layout, view.storage, _array)
    points = elements_at(at, one, at.storage, _array)
    values = elements_at(of, other, of.storage, _array)
    if not to or not address or not points or not values or not _blocks.interpolate(
            to, address, layout.size, points, values, one.size, dtypes):
        return None
    made.storage.written(_array.mask)
    return made


def correlated(a: object, v: object, mode: object) -> Operand:
    """Return NumPy's ``correlate(a, v, mode)`` of few elements."""
    return _moved_along(a, v, mode, False)


def convolved(a: object, v: object, mode: object) -> Operand:
    """Return NumPy's ``convolve(a, v, mode)`` of few elements."""
    return _moved_along(a, v, mode, True)


def _moved_along(a: object, v: object, mode: object, reverse: bool) -> Operand:
    """Return the sums of products of two vectors that are moved along each other."""
    if type(a) is not _mat or type(v) is not _mat or not none_else():
        return None
    one: Any = as_packed(a)
    other: Any = as_packed(v)
    if one is None or other is None or one.element_type is not other.element_type or not (
            len(one.layout.shape) == len(other.layout.shape) == 1):
        return None
    first, last = one.layout, other.layout
    n, m = first.size, last.size
    least, most = min(n, m), max(n, m)
    if mode == "full":
        start, count = 0, n + m - 1
    elif mode == "valid":
        start, count = least - 1, most - least + 1
    elif mode == "same":  # NumPy correlates the longer one with the other, and reverses the result
        start, count = least // 2 if n < m and not reverse else (least - 1) // 2, most
    else:
        return None
    if not 0 < count * least <= _MOST:
        return None
    enabled = one.device_enabled and other.device_enabled
    made: Any = form_of_result((count,), one.element_type).new(enabled, None)
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    one._locate()
    other._locate()
    # no code of Python may run from here on, so that no Mat changes meanwhile
    at = elements_at(one, first, one.storage, _array)
    of = elements_at(other, last, other.storage, _array)
    if not to or not at or not of or not _blocks.correlate(
            to, start, count, at, n, of, m, reverse, one.element_type):
        return None
    made.storage.written(_array.mask)
    return made


def diagonal(x: object) -> Operand:
    """Return a view of the main diagonal of a matrix."""
    if type(x) is not _mat:
        return None
    view: Any = x
    layout = view.layout
    if len(layout.shape) != 2 or not layout.size:
        return None
    return _part(view, (min(layout.shape[0], layout.shape[1]),),
                 (layout.strides[0] + layout.strides[1],), layout.displacement)


def of_diagonal(x: object) -> Operand:
    """Return a view of the main diagonal of a matrix, or a matrix with a vector on it."""
    if type(x) is not _mat:
        return None
    view: Any = x
    n = view.layout.size
    if len(view.layout.shape) != 1:
        return diagonal(x)
    if not 0 < n <= _MOST or not is_numpys(view.element_type):
        return None
    made: Any = form_of_result((n, n), view.element_type).new(view.device_enabled, 0)
    if not made._fill_quickly(0):  # of many elements
        return None
    _assign.carry_out((view, diagonal(made)), _NO_KEYWORDS)
    return made


def traced(x: object) -> Operand:
    """Return the sum of the main diagonal of a matrix."""
    found: Any = diagonal(x)
    if found is None or not is_numpys(found.element_type):
        return None
    return _sum.make((found, None, None, False))


def chosen(condition: object, a: object, b: object) -> Operand:
    """Return the elements of `a` where bools are true, else of `b`: Mats or a fitting number."""
    if type(condition) is not _mat:
        return None
    truth: Any = condition
    if truth.element_type is not _bool:
        return None
    if type(a) is not _mat or type(b) is not _mat:
        dtype = adapted_to(a, b)
        like, number = (b, a) if type(b) is _mat else (a, b)
        if dtype is None and type(like) is _mat:
            given: Any = like
            dtype = given.element_type if leaves_dtype(number, given.element_type.kind) else None
        if dtype is None or not is_numpys(dtype):
            return None
        made: Any = form_of_result((), dtype).new(truth.device_enabled, None)
        if type(a) is _mat:
            made[()], b = b, made
        else:
            made[()], a = a, made
    one: Any = a
    other: Any = b
    if one.element_type is not other.element_type or not is_numpys(one.element_type):
        return None
    return _select.make((truth, one, other, None))


def all_equal(a: object, b: object) -> Operand:
    """Return whether all elements of Mats of one shape are equal; NaN equals nothing."""
    if type(a) is not _mat or type(b) is not _mat:
        return None
    one: Any = a
    other: Any = b
    if one.layout.shape != other.layout.shape or not one.layout.size or not (
            is_numpys(one.element_type) and is_numpys(other.element_type)):
        return None
    return bool(_all.make((_equal.make((one, other, None)), None, None, False)))


def rounded(x: object, decimals: object) -> Operand:
    """Return floating-point numbers rounded to so many decimals, or integers as they are."""
    if type(x) is not _mat or type(decimals) is not int or not -10 < decimals < 10:
        return None
    view: Any = x
    if not is_numpys(view.element_type):
        return None
    kind = view.element_type.kind
    if kind != "f" or view.element_size < 4:
        integers = (kind == "i" or kind == "u") and decimals >= 0
        return _copied_as_stored(view) if integers else None
    if decimals == 0:
        return _rint.make((view, None))
    factor = 10.0 ** abs(decimals)
    scale, unscale = (_multiply, _divide) if decimals > 0 else (_divide, _multiply)
    found = scale.make((view, factor, None))
    _rint.carry_out((found, found), _NO_KEYWORDS)
    return unscale.carry_out((found, factor, found), _NO_KEYWORDS)


def _copied_as_stored(view: Mat) -> Operand:
    """Return a copy of a small Mat that is stored by rows, or by columns, in the same order."""
    if view.layout.descends():
        return packed_copy(view)
    found = packed_copy(view.T) if view.layout.is_by_columns() else None
    return None if found is None else new_transposed(found)


def same(x: object) -> Operand:
    """Return a copy of a small Mat of numbers that is stored by rows."""
    if type(x) is not _mat:
        return None
    view: Any = x
    if not is_numpys(view.element_type) or view.element_type is _bool:
        return None
    return packed_copy(view) if view.layout.descends() else None


def without_nan(x: object) -> Operand:
    """Return a copy of small integers or bools that are stored by rows, which are no NaN."""
    if type(x) is not _mat:
        return None
    view: Any = x
    if not is_numpys(view.element_type) or view.element_type.kind not in "iub":
        return None
    return packed_copy(view) if view.layout.descends() else None


def leaves_dtype(number: Any, kind: str) -> bool:
    """Return whether all dtypes of a kind represent a number, which so has no effect on them."""
    if type(number) is float:
        return kind == "f" or kind == "c"
    return type(number) is int and kind != "b" and 0 <= number < _SMALL


def clipped(x: object, low: Any, high: Any) -> Operand:
    """Return elements between numbers or Mats of the dtype; of bools, NumPy's integers."""
    if type(x) is not _mat or (type(low) is _mat) != (type(high) is _mat):
        return None
    view: Any = x
    if not is_numpys(view.element_type):
        return None
    if type(low) is _mat:
        lower: Any = low
        upper: Any = high
        if lower.element_type is not view.element_type or (
                upper.element_type is not view.element_type) or (
                view.element_type.kind not in "fiu"):
            return None
        return _clip.make((x, low, high, None))
    kind = "i" if view.element_type is _bool else view.element_type.kind
    if leaves_dtype(low, kind) and leaves_dtype(high, kind):
        return _clip.make((_as_integers(view), low, high, None))
    if view.element_type is not _bool or type(low) is not int or type(high) is not int:
        return None
    found = call_briefly(_clip_by_numpy, (x, low, high), _NO_KEYWORDS, True)
    return None if found is NOT_BRIEF else found


def extent(x: object, axis: object) -> Operand:
    """Return the largest less the smallest elements along an axis, or of all with None."""
    if type(x) is not _mat or not (axis is None or type(axis) is int):
        return None
    view: Any = x
    if not is_numpys(view.element_type) or view.element_type is _bool or not view.layout.size:
        return None
    of = (x, None, axis, False)
    return _subtract.make((_max.make(of), _min.make(of), None))


def _as_integers(view: Mat) -> Mat:
    """Return integers for bools, other elements as they are."""
    if view.element_type is not _bool:
        return view
    made: Mat = form_of_result(view.layout.shape, _integers).new(view.device_enabled, None)
    _assign.carry_out((view, made), _NO_KEYWORDS)
    return made


def differenced(x: object, axis: object) -> Operand:
    """Return the differences of neighbours along an axis."""
    if type(x) is not _mat or type(axis) is not int:
        return None
    view: Any = x
    layout = view.layout
    rank = len(layout.shape)
    if not -rank <= axis < rank or not is_numpys(view.element_type) or (view.element_type is _bool):
        return None
    k = axis if axis >= 0 else axis + rank
    if layout.shape[k] < 2 or not layout.size:
        return None
    shape = (*layout.shape[:k], layout.shape[k] - 1, *layout.shape[k + 1:])
    step = layout.strides[k]
    return _subtract.make((_part(view, shape, layout.strides, layout.displacement + step),
                           _part(view, shape, layout.strides, layout.displacement), None))


class Spread:
    """A copy with several copies of each element: its form, and layouts to read and write."""

    def __init__(self, view: Mat, shape: Ints, wide: Ints, strides: Ints) -> None:
        self.form: Form = form_of_result(shape, view.element_type)
        self.source: Layout = Layout(wide, strides, 0)
        self.target: Layout = Layout(wide, packed_strides(wide), 0)

    def copy(self, view: Mat) -> Mat:
        """Return the result for `view`."""
        made: Any = self.form.new(view.device_enabled, None)
        source = view._view_of(self.source.moved_to(view.layout.displacement))
        _assign.carry_out((source, made._view_of(self.target)), _NO_KEYWORDS)
        return made


def repeated(x: object, count: object, axis: object) -> Operand:
    """Return each element `count` times along an axis, or of a packed Mat with `axis` None."""
    if type(x) is not _mat or type(count) is not int or not (axis is None or type(axis) is int):
        return None
    view: Any = x
    layout = view.layout
    if axis is None:
        found_now = _few_repeated(view, count)
        if found_now is not None:
            return found_now
    found = _spreads.get((layout.shape, layout.strides, count, axis))
    if found is None or found.form.dtype is not view.element_type:
        if axis is None:
            return _all_repeated(view, count)
        rank = len(layout.shape)
        if not -rank <= axis < rank or not 0 < count <= _MOST or not _can_spread(view, count):
            return None
        k = axis % rank + 1
        before, after = layout.shape[:k], layout.shape[k:]
        found = _remembered(
            (layout.shape, layout.strides, count, axis),
            Spread(view, (*before[:-1], before[-1] * count, *after), (*before, count, *after),
                   (*layout.strides[:k], 0, *layout.strides[k:])))
    return found.copy(view)


def _few_repeated(view: Mat, count: int) -> Operand:
    """Return the result of `_all_repeated` of a few elements that are words."""
    layout, storage, size = view.layout, view.storage, view.element_size
    if size == 2 or size > 8:
        return None
    if not none_else() or not layout.contiguous or not 0 < layout.size <= _MOST or not (
            0 < count <= _MOST and layout.size * count <= _MOST and is_numpys(view.element_type)):
        return None
    made: Any = form_of_result((layout.size * count,), view.element_type).new(
        view.device_enabled, None)
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = storage.element_address(_array.mask, _array.bit)
    if not to or not address or view.layout is not layout:
        return None
    _blocks.repeat(to, address + size * layout.displacement, size, layout.size, count)
    made.storage.written(_array.mask)
    return made


def _all_repeated(view: Mat, count: int) -> Operand:
    """Return each element of a packed Mat in row-major order `count` times."""
    layout = view.layout
    if not layout.contiguous or not 0 < count <= _MOST or not _can_spread(view, count):
        return None
    spread = _remembered((layout.shape, layout.strides, count, None),
                         Spread(view, (layout.size * count,), (layout.size, count), (1, 0)))
    return spread.copy(view)


def tiled(x: object, times: object) -> Operand:
    """Return copies side by side, so many along each axis."""
    if type(x) is not _mat:
        return None
    view: Any = x
    layout = view.layout
    if type(times) is int:
        times = (*(1,) * (len(layout.shape) - 1), times)
    if type(times) is not tuple:
        return None
    found = _spreads.get((layout.shape, layout.strides, times))
    if found is None or found.form.dtype is not view.element_type:
        rank = len(layout.shape)
        if len(times) != rank or not _are_counts(times):
            return None
        if not rank or not _can_spread(view, prod(times)):
            return None
        pairs = list(zip(times, layout.shape, strict=True))
        found = _remembered(
            (layout.shape, layout.strides, times),
            Spread(view, tuple([n * m for n, m in pairs]), tuple([n for p in pairs for n in p]),
                   tuple([n for s in layout.strides for n in (0, s)])))
    return found.copy(view)


def _are_counts(times: tuple[object, ...]) -> bool:
    """Return whether all are positive integers."""
    for n in times:  # noqa: SIM110  # a generator takes three times as long
        if type(n) is not int or not 0 < n <= _MOST:
            return False
    return True


def _can_spread(view: Mat, count: int) -> bool:
    """Return whether the result of so many copies has a size, and NumPy's dtype."""
    return is_numpys(view.element_type) and 0 < view.layout.size <= _LARGEST // count


def _remembered(key: object, spread: Spread) -> Spread:
    """Remember the copy that such calls make; return it."""
    if len(_spreads) > _MOST_LAYOUTS:
        _spreads.clear()
    _spreads[key] = spread
    return spread


def rolled(x: object, shift: object, axis: object) -> Operand:
    """Return a packed Mat rolled along `axis`, along several in turn, or flattened for None."""
    if type(shift) is tuple and type(axis) is tuple:
        return _rolled_in_turn(x, shift, axis)
    if type(x) is not _mat or type(shift) is not int or not _blocks.enabled:
        return None
    view: Any = x
    layout, storage, size = view.layout, view.storage, view.element_size
    if type(axis) is int and not layout.contiguous and layout.is_by_columns():
        turned = rolled(view.T, shift, -1 - axis)  # so NumPy stores the result
        return None if turned is None else new_transposed(turned)
    if not layout.contiguous or not is_brief(layout.size * size):
        return None
    rows, n = 1, layout.size
    if axis is not None:
        rank = len(layout.shape)
        if type(axis) is not int or not -rank <= axis < rank:
            return None
        k = axis if axis >= 0 else axis + rank
        rows, n = prod(layout.shape[:k]), layout.shape[k]
    length = layout.size // rows
    cut = shift % n * (length // n)
    made: Any = form_of_result(layout.shape, view.element_type).new(view.device_enabled, None)
    storage.find_address()
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    at = storage.element_address(_array.mask, _array.bit)
    if not to or not at or view.layout is not layout or view.storage is not storage:
        return None
    at += layout.displacement * size
    cut, length = cut * size, length * size
    copy_rows(at, to + cut, rows, length - cut, length, length)
    if cut:
        copy_rows(at + length - cut, to, rows, cut, length, length)
    made.storage.written(_array.mask)
    return made


def _rolled_in_turn(x: object, shifts: tuple[object, ...], axes: tuple[object, ...]) -> Operand:
    if not shifts or len(shifts) != len(axes):
        return None
    found: Operand = x
    for k, axis in enumerate(axes):
        found = None if type(axis) is not int else rolled(found, shifts[k], axis)
    return found


def _part(view: Mat, shape: Ints, strides: Ints, displacement: int) -> Mat:
    """Return a view of the storage of `view`."""
    like = _layout_like(shape, strides)
    return view._view_of(like.moved_to(displacement))


@lru_cache(_MOST_LAYOUTS)
def _layout_like(shape: Ints, strides: Ints) -> Layout:
    """Return a layout, which keeps the forms of views."""
    like = Layout.__new__(Layout)
    like.fill_in(shape, strides, 0)
    return like
