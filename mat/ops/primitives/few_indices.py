"""Functions of few packed elements in host memory that take or return indices. They need no access
of their own.

Each returns None, with nothing done, for other operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.compiled import BLOCKS
from ...facets import ARRAY, FOREIGN
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...matrix.base import form_of_result, is_numpys
from ...matrix.brief_copies import none_else
from ...matrix.joined import as_packed
from ...matrix.mat import Mat
from ...support.options import FLOAT32, FLOAT64
from ...support.types import Operand
from .few_elements import bits_of_truth, elements_at, leaves_dtype

_MOST = 1 << 12  # elements, or indices
_MOST_BYTES = 1 << 14  # elements of a byte whose places are found at once
_MOST_ITEMS = 64  # taken one after another, which a kernel takes sooner from some 100 on
_SEARCHED = 1 << 17  # bytes of items, or elements added, at once
_LARGEST = 1 << 40  # elements of an array that indices are of
# with types of C
_blocks, _array, _foreign, _mat, _int64 = BLOCKS, ARRAY, FOREIGN, Mat, np.dtype(np.int64)
_float64, _float32 = FLOAT64, FLOAT32
_byte, _sum_of_bytes = np.dtype(np.uint8), np.dtype(np.uint64)


def places(x: object) -> Operand:
    """Return the indices along each axis of the elements that are true."""
    view: Any = as_packed(x) if type(x) is _mat and _blocks.enabled else None
    if view is None:
        return None
    layout, storage = view.layout, view.storage
    mask = bits_of_truth(view.element_type)
    if not mask or not layout.shape or not 0 < layout.size <= (
            _MOST_BYTES if view.element_size == 1 else _MOST):
        return None
    start = view.element_size * layout.displacement
    address = storage.element_address(_array.mask, _array.bit)
    if not address:
        return None
    count = _blocks.count_true(address + start, view.element_size, layout.size, mask)
    found: list[Mat] = []
    targets = _targets(found, len(layout.shape), (count,), view.device_enabled)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = storage.element_address(_array.mask, _array.bit)
    if not address or 0 in targets or view.layout is not layout:
        return None
    if _blocks.places_of(address + start, view.element_size, layout.shape, mask, targets,
                         count) != count:
        return None
    return _all_written(found)


def _targets(found: list[Mat], count: int, shape: Ints, enabled: bool) -> list[int]:
    """Append new Mats of int64 to a list; return their addresses, 0 where there is none."""
    form = form_of_result(shape, _int64)
    targets: list[int] = []
    for _ in range(count):
        made: Any = form.new(enabled, None)
        found.append(made)
        targets.append(made.storage.ready(_array.mask, _array.bit, False, True))
    return targets


def _all_written(found: list[Mat]) -> tuple[Mat, ...]:
    """Return new Mats, of which all elements have been written."""
    for one in found:
        made: Any = one
        made.storage.written(_array.mask)
    return tuple(found)


def unraveled(indices: object, shape: object) -> Operand:
    """Return the indices along each axis of elements with few row-major int64."""
    if type(indices) is not _mat or not none_else():
        return None
    view: Any = indices
    layout, storage = view.layout, view.storage
    if view.element_type is not _int64 or not layout.contiguous or not 0 < layout.size <= _MOST or (
            not _are_lengths(shape)):
        return None
    lengths: Any = shape
    found: list[Mat] = []
    targets = _targets(found, len(lengths), layout.shape, view.device_enabled)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = storage.element_address(_array.mask, _array.bit)
    if not address or 0 in targets or view.layout is not layout or not _blocks.unravel(
            address + 8 * layout.displacement, layout.size, lengths, targets):
        return None
    return _all_written(found)


def raveled_places(indices: object, shape: object, wraps: bool = False) -> Operand:
    """Return the row-major indices of elements with few int64 along each axis; if `wraps`, negative
    ones count from its end.
    """
    if type(indices) is not tuple or not _are_lengths(shape) or not none_else():
        return None
    lengths: Any = shape
    if len(indices) != len(lengths):
        return None
    like: Any = None
    enabled = True
    for item in indices:
        if type(item) is not _mat:
            return None
        at: Any = item
        if at.element_type is not _int64 or not at.layout.contiguous or (
                like is not None and at.layout.shape != like.layout.shape):
            return None
        like, enabled = at, enabled and at.device_enabled
        at._locate()
    of = like.layout.shape
    if not 0 < like.layout.size <= _MOST:
        return None
    found: list[Mat] = []
    targets = _targets(found, 1, of, enabled)
    # no code of Python may run from here on, so that no Mat changes meanwhile
    addresses = [_address_of_index(item, of) for item in indices]
    if not targets[0] or -1 in addresses or not _blocks.ravel(
            targets[0], like.layout.size, addresses, lengths, wraps):
        return None
    return _all_written(found)[0]


def _are_lengths(shape: object) -> bool:
    """Return whether a tuple has lengths of axes, and an array of that shape some elements."""
    if type(shape) is not tuple or not shape:
        return False
    size = 1
    for n in shape:
        if type(n) is not int or not 0 < n <= _MOST << 8:
            return False
        size *= n
        if size > _LARGEST:
            return False
    return True


def picked(x: object, index: tuple[object, ...]) -> Operand:
    """Return the elements at int64 of one shape, or at an integer, along each axis."""
    view: Any = x
    layout, storage = view.layout, view.storage
    if len(index) != len(layout.shape) or not none_else():
        return None
    like: Any = None
    first, enabled = layout.displacement, view.device_enabled
    for k, item in enumerate(index):
        if type(item) is _mat:
            at: Any = item
            if at.element_type is not _int64 or not at.layout.contiguous or not at.layout.shape or (
                    like is not None and at.layout.shape != like.layout.shape):
                return None
            like, enabled = at, enabled and at.device_enabled
            at._locate()
        elif type(item) is not int or not -layout.shape[k] <= item < layout.shape[k]:
            return None
        else:
            first += (item + layout.shape[k] if item < 0 else item) * layout.strides[k]
    if like is None or not 0 < like.layout.size <= _MOST:
        return None
    shape = like.layout.shape
    made: Any = form_of_result(shape, view.element_type).new(enabled, None)
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    view._locate()
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = storage.ready(_array.mask, _array.bit, True, False)
    places = [_address_of_index(item, shape) for item in index]
    if not to or not address or view.layout is not layout or view.storage is not storage or (
            -1 in places):
        return None
    size = view.element_size
    if not _blocks.pick(to, address + first * size, size, made.layout.size, places, layout.shape,
                        layout.strides):
        return None
    made.storage.written(_array.mask)
    return made


def items(x: object, indices: object, whole: bool) -> Operand:
    """Return a few items of a Mat at int64 indices: of the first axis, or all if `whole`."""
    if type(x) is not _mat or type(indices) is not _mat or not none_else():
        return None
    at: Any = indices
    view: Any = as_packed(x) if at.element_type is _int64 else None
    if view is None:
        return None
    layout, one, storage, given = view.layout, at.layout, view.storage, at.storage
    if not one.shape or not layout.shape or not one.contiguous:
        return None
    count = layout.size if whole else layout.shape[0]
    if not layout.size or not 0 < one.size <= _MOST_ITEMS:
        return None
    nbytes = view.element_size * (layout.size // count)
    if nbytes * one.size > _SEARCHED:
        return None
    shape = one.shape if whole or len(layout.shape) == 1 else one.shape + layout.shape[1:]
    made: Any = form_of_result(shape, view.element_type).new(view.device_enabled, None)
    to = made.storage.ready(_foreign.mask, _foreign.bit, False, True)
    view._locate()
    at._locate()
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = elements_at(view, layout, storage, _foreign)
    index = elements_at(at, one, given, _foreign)
    if not to or not address or not index or not _blocks.take(
            to, address, count, nbytes, index, one.size):
        return None
    made.storage.written(_foreign.mask)
    return made


def _address_of_index(item: object, shape: Ints) -> int:
    """Return where the integers of an index are, 0 for one integer; -1 where they have moved."""
    if type(item) is not _mat:
        return 0
    at: Any = item
    layout = at.layout
    address = at.storage.ready(_array.mask, _array.bit, True, False)
    if not address or not layout.contiguous or layout.shape != shape:
        return -1
    found: int = address + 8 * layout.displacement
    return found


def searched(values: object, x: object) -> Operand:
    """Return before which of a few sorted elements each of a few others of their dtype comes, or of
    any a number.
    """
    if type(values) is not _mat or not none_else():
        return None
    of: Any = values
    if type(x) is float or type(x) is int:
        return _number_searched(of, x)
    if type(x) is not _mat:
        return None
    other: Any = x
    view: Any = as_packed(other) if other.element_type is of.element_type else None
    if view is None:
        return None
    layout, one, storage, given = view.layout, of.layout, view.storage, of.storage
    if len(one.shape) != 1 or not one.contiguous:
        return None
    if not 0 < layout.size <= _MOST or not one.size or not (is_numpys(view.element_type)):
        return None
    if one.size > _MOST and layout.shape:
        return None
    made: Any = form_of_result(layout.shape, _int64).new(view.device_enabled, None)
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    view._locate()
    of._locate()
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = elements_at(view, layout, storage, _array)
    address_of = elements_at(of, one, given, _array)
    if not to or not address or not address_of or not _blocks.search(
            to, address_of, one.size, address, layout.size, view.element_type):
        return None
    made.storage.written(_array.mask)
    return made


def _number_searched(values: Mat, number: object) -> Operand:
    """Return the result of `searched` for a number that the dtype represents."""
    dtype = values.element_type
    if dtype is not _float64 and (
            type(number) is float or not (dtype is _int64 or dtype is _byte or dtype is _float32)):
        return None
    if not leaves_dtype(number, dtype.kind):
        return None
    made: Any = form_of_result((), dtype).new(values.device_enabled, None)
    return searched(values, made) if made._fill_quickly(number) else None


def summed_between(x: object, indices: object) -> Operand:
    """Return the sums of a few rows from each index to the next one, NumPy's ``add.reduceat``."""
    if type(x) is not _mat or type(indices) is not _mat or not none_else():
        return None
    view: Any = x
    at: Any = indices
    layout, one, storage, given = view.layout, at.layout, view.storage, at.storage
    rank = len(layout.shape)
    if at.element_type is not _int64 or len(one.shape) != 1 or not 0 < rank < 3 or not (
            layout.contiguous and one.contiguous):
        return None
    if not 0 < layout.size <= _MOST or not 0 < one.size <= _MOST or not (
            is_numpys(view.element_type)):
        return None
    dtype = _sum_of_bytes if view.element_type is _byte else view.element_type
    rows, columns = layout.shape[0], layout.shape[1] if rank == 2 else 1
    made: Any = form_of_result((one.size, *layout.shape[1:]), dtype).new(view.device_enabled, None)
    to = made.storage.ready(_array.mask, _array.bit, False, True)
    view._locate()
    at._locate()
    # no code of Python may run from here on, so that no Mat changes meanwhile
    address = elements_at(view, layout, storage, _array)
    index = elements_at(at, one, given, _array)
    if not to or not address or not index:
        return None
    if not 0 < _blocks.bins_of(index, one.size) <= rows or not _blocks.sum_between(
            to, address, rows, columns, index, one.size, view.element_type):
        return None
    made.storage.written(_array.mask)
    return made


def added_at(x: object, indices: object, value: Operand) -> bool:
    """Add a number or rows to rows that indices select; False, with nothing done, for others."""
    if type(x) is not _mat or type(indices) is not _mat or not none_else():
        return False
    view: Any = x
    at: Any = indices
    layout, one = view.layout, at.layout
    rank = len(layout.shape)
    if at.element_type is not _int64 or len(one.shape) != 1 or not 0 < rank < 3 or not (
            layout.contiguous and one.contiguous):
        return False
    if not layout.size or not 0 < one.size * (layout.shape[1] if rank == 2 else 1) <= _SEARCHED:
        return False
    if type(value) is not _mat:
        return leaves_dtype(value, view.element_type.kind) and _rows_added(
            view, layout, at, one, None, None, value)
    source: Any = value
    part = source.layout
    if source.element_type is not view.element_type or not part.contiguous or (
            part.shape != layout.shape[1:] and part.shape != (one.size, *layout.shape[1:])):
        return False
    return _rows_added(view, layout, at, one, source, part, 0)


# the parameters are Mats and the layouts that they had
def _rows_added(view: Mat, layout: Layout, at: Mat, one: Layout, source: Mat | None,
                part: Layout | None, number: float) -> bool:
    """Add a source's rows, or a number, to rows; return False for operands of one storage."""
    view._locate()
    at._locate()
    if source is not None:
        source._locate()
    # no code of Python may run from here on, so that no Mat changes meanwhile
    storage, given, columns = view.storage, at.storage, layout.size // layout.shape[0]
    values, step = 0, 0
    if view.layout is not layout or at.layout is not one or view.read_only or (
            not storage.writable or given is storage):
        return False
    if source is not None and part is not None:
        if source.layout is not part or source.storage is storage:
            return False
        values = source.storage.ready(_array.mask, _array.bit, True, False)
        if not values:
            return False
        values += source.element_size * part.displacement
        step = columns if part.size == one.size * columns else 0
    index = given.ready(_array.mask, _array.bit, True, False)
    to = storage.ready(_array.mask, _array.bit, True, True)
    if not to or not index or not _blocks.add_at(
            to + view.element_size * layout.displacement, layout.shape[0], columns,
            index + 8 * one.displacement, one.size, values, step, number, view.element_type):
        return False
    storage.written(_array.mask)
    return True
