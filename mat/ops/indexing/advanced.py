"""Selection by masks and arrays of integers while a device is in use: the indexed axes, the
positions on them, and the place of their axes in the result.

Indices that NumPy refuses, and the few that devices cannot take, are left to NumPy: `advanced`
returns None for them.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.compiled import BLOCKS
from ...core.observers import OBSERVERS
from ...devices.in_use import computes_elsewhere, has_kernels
from ...errors import IndexOutOfRange, ShapeError
from ...facets import FOREIGN
from ...layout.shapes import Ints, broadcast_shapes
from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...matrix.nested import without_mats
from ...support.native import core
from ...support.plugins import plugin
from ...support.types import Index, Operand
from ..primitives.elementwise import add, multiply
from ..primitives.selecting import BOOL, select
from ..tiles.overlap import DEVICE_AXES
from .gathering import LONG, gather, gathered_shape, picked, positions_of, scatter, within
from .selection import as_mat_of, fitted, selects_as_array

_ALL = slice(None)
_FEW = 1 << 13  # integers that the host has looked at before a device has answered
_INTEGERS = (int, np.integer)
_ARRAYS = (Mat, np.ndarray, list, tuple, range)
# with types of C
_blocks, _foreign, _observers = BLOCKS, FOREIGN, OBSERVERS


class Advanced:
    """Items of a view at positions on the axes `chosen`, which are at `place` of the result."""

    def __init__(self, view: Mat, indices: tuple[Mat, ...], counts: Ints, chosen: Ints,
                 place: int) -> None:
        self.view: Mat = view
        self.indices: tuple[Mat, ...] = indices  # of int64, or one mask
        self.counts: Ints = counts  # of axes that each of them is for
        self.chosen: Ints = chosen
        self.place: int = place

    @property
    def mask(self) -> Mat | None:
        """The mask, if there is nothing but one."""
        only = self.indices[0]
        return only if len(self.indices) == 1 and only.dtype.kind == "b" else None

    def lengths(self) -> Ints:
        """Return the lengths of the chosen axes."""
        return tuple(self.view.shape[k] for k in self.chosen)

    def positions(self) -> tuple[Mat, bool]:
        """Return the positions, packed, and whether all of them differ."""
        mask = self.mask
        if mask is not None:
            return positions_of(mask), True
        if len(self.indices) == 1 and self.indices[0].layout.contiguous:
            return self.indices[0], self.indices[0].size == 1
        found, k = None, 0
        for index, count in zip(self.indices, self.counts, strict=True):
            lengths = self.lengths()[k:k + count]
            k += count
            found = combined(found, index, lengths, len(self.indices) == 1)
        assert found is not None
        return found.contiguous(), found.size == 1

    def get(self) -> Mat:
        """Return a new Mat with the selected elements."""
        mask = self.mask
        # the place may be 0 without that, where the mask is apart from an integer
        if mask is not None and not self.chosen[0] and self.view.layout.size:
            return picked(self.view, mask)
        at, _ = self.positions()
        return gathered_at(self.view, at, self.place, self.chosen)

    def set(self, value: Operand) -> bool:
        """Overwrite the selected elements with a value, converted and broadcast; return True."""
        source, view, mask = as_mat_of(value, self.view), self.view, self.mask
        if mask is not None and source.size == 1 and source.ndim <= 1:
            self.fill(mask, source)
            return True
        at, unique = self.positions()
        shape = gathered_shape(view, at, self.place, self.chosen)
        unique = unique or source.size == 1
        source = fitted(source, shape).broadcast_to(shape)
        at, source = (m.copy() if m.storage is view.storage else m for m in (at, source))
        if source.size:
            scatter(at, source, view, self.place, self.chosen, unique)
        return True

    def fill(self, mask: Mat, value: Mat) -> None:
        """Overwrite the elements that a mask selects with the only one of `value`."""
        view, before = self.view, self.chosen[0]
        ones = (1,) * (view.ndim - mask.ndim - before)
        where = mask.contiguous().reshape((1,) * before + mask.shape + ones)
        if where.storage is view.storage:
            where = where.copy()
        select(where.broadcast_to(view.shape), value.reshape(()).broadcast_to(view.shape), view,
               view)


def combined(found: Mat | None, index: Mat, lengths: Ints, alone: bool) -> Mat:
    """Return positions for more axes: `found` for those before, and an index of `lengths`."""
    if index.dtype.kind == "b":
        index = positions_of(index)
    elif not alone:
        index = plugin("ops.primitives.ufuncs").remainder(index, lengths[0])
    return index if found is None else add(multiply(found, prod(lengths)), index)


# Reading indices


def advanced(x: Mat, index: Index) -> Advanced | None:
    """Return the selection of `index` on `x`, in range; None if NumPy has to do it."""
    now = x._as_now()
    if type(index) is Mat:
        found = _by_one(now, index)
        if found is not None:
            return found
    items = _expanded(now, [_plain(i) for i in (index if isinstance(index, tuple) else (index,))])
    if items is None:
        return None
    at: list[Mat] = []
    counts: list[int] = []
    chosen: list[int] = []
    axis = view_axis = 0
    basic: list[Any] = []
    for item in items:
        if not isinstance(item, Mat):
            basic.append(item)
            view_axis += item is None or isinstance(item, slice)
            axis += item is not None
            continue
        count = item.ndim if item.dtype.kind == "b" else 1
        lengths = now.shape[axis:axis + count]
        if item.dtype.kind == "b" and item.shape != lengths:
            return None
        if item.dtype.kind != "b":
            _check_range(now, item, axis)
        at.append(item)
        counts.append(count)
        chosen += range(view_axis, view_axis + count)
        basic += [_ALL] * count
        axis, view_axis = axis + count, view_axis + count
    view = now.over(now.layout[tuple(basic)])
    return _placed(view, items, tuple(at), tuple(counts), tuple(chosen))


def _by_one(x: Mat, index: Mat) -> Advanced | None:
    """Return the selection of one mask, or of integers on the first axis; None for other kinds."""
    ndim, shape = index.layout.ndim, x.layout.shape
    if not ndim or x.layout.ndim + ndim > DEVICE_AXES:
        return None
    if index.element_type is BOOL:
        if index.layout.shape != shape[:ndim]:
            return None
        return Advanced(x, (index,), (ndim,), tuple(range(ndim)), 0)
    if index.element_type is not LONG or not shape:
        return None
    _check_range(x, index, 0)
    return Advanced(x, (index,), (1,), (0,), 0)


def _placed(view: Mat, items: list[Any], at: tuple[Mat, ...], counts: Ints,
            chosen: Ints) -> Advanced | None:
    """Return the selection on a view; None if there are too many axes, or other shapes."""
    try:
        broadcast_shapes([i.shape if i.dtype.kind != "b" else (1,) for i in at])
    except ShapeError:
        return None
    places = [k for k, item in enumerate(items) if isinstance(item, (Mat, *_INTEGERS))]
    together = places[-1] - places[0] + 1 == len(places)
    before = sum(not isinstance(i, int | np.integer) for i in items[:places[0]])
    if view.ndim + max(i.ndim for i in at) > DEVICE_AXES:
        return None
    return Advanced(view, at, counts, chosen, before if together else 0)


def _plain(item: Any) -> Any:
    """Return an array as a Mat of int64 or bool, packed if a mask; others as they are."""
    if not isinstance(item, _ARRAYS) and not selects_as_array(item):
        return item
    if isinstance(item, Mat):
        if item.dtype.kind not in "biu" or not item.ndim:
            return item if item.ndim else item.item()
        return item if item.dtype.kind == "b" or item.dtype == LONG else item.astype(LONG)
    try:
        found = np.asarray(without_mats(item))
    except (ValueError, TypeError, RecursionError):
        return item
    if not found.size and not isinstance(item, np.ndarray):
        found = found.astype(LONG)
    if found.dtype.kind not in "biu" or (found.dtype.kind == "u" and found.dtype.itemsize == 8):
        return item
    if not found.ndim:
        return found.item()
    return adopted(np.ascontiguousarray(found, np.bool_ if found.dtype.kind == "b" else LONG))


def _expanded(x: Mat, items: list[Any]) -> list[Any] | None:
    """Return a complete index of slices, integers, None and Mats; None if it has others."""
    if any(isinstance(i, bool | np.bool_) or (isinstance(i, Mat) and i.dtype.kind not in "biu")
           or not (i is None or i is Ellipsis or isinstance(i, (Mat, slice, *_INTEGERS)))
           for i in items):
        return None
    dots = [k for k, i in enumerate(items) if i is Ellipsis]
    used = sum(i.ndim if isinstance(i, Mat) and i.dtype.kind == "b" else 1
               for i in items if i is not None and i is not Ellipsis)
    if len(dots) > 1 or used > x.ndim or not any(isinstance(i, Mat) for i in items):
        return None
    at = dots[0] if dots else len(items)
    return [*items[:at], *[_ALL] * (x.ndim - used), *items[at + 1:]]


def _check_range(x: Mat, index: Mat, axis: int) -> None:
    """Raise `IndexOutOfRange` unless all integers are in the range of an axis."""
    n = x.shape[axis]
    if not all_within(index, -n, n):
        raise IndexOutOfRange(f"{x.label()} cannot be indexed with integers outside of -{n} to "
                              f"{n - 1} on axis {axis}; those that are given reach from "
                              f"{index.min().item()} to {index.max().item()}")


def all_within(index: Mat, low: int, high: int) -> bool:
    """Return whether all integers are in a range, looked up where they are fresh or needed."""
    view: Any = index
    found = within_at_once(view, low, high)
    if found is not None:
        return bool(found)
    if not index.storage.is_elsewhere and (view.layout.size <= _FEW or not has_kernels(index)):
        with index.facet("array", "input") as a:
            found = None if core is None else core.integers_within(a, low, high)
            if found is not None:
                return bool(found)
            return not a.size or bool(a.min() >= low and a.max() < high)
    return bool(within(index.contiguous(), low, high))


def within_at_once(view: Any, low: int, high: int) -> bool | None:
    """Return whether a few packed integers in the host's memory are in that range; None where an
    access has to be opened for them, or they are not there.
    """
    layout = view.layout
    if layout.size > _FEW or _observers or not _blocks.enabled or not layout.contiguous:
        return None
    view._locate()
    # no code of Python may run until the address has been used
    address = view.storage.ready(_foreign.mask, _foreign.bit, True, False)
    if not address:
        return None
    return core.integers_within(_blocks.array_at(
        address + layout.displacement * LONG.itemsize, layout.shape, layout.strides, LONG, False),
        low, high)


# Copying


def taken_there(x: Mat, at: Mat, axis: int) -> Mat | None:
    """Return the items of `x` at the integers `at`, of int64, along an axis, if the device in use
    copies them; None where it does not, or integers are out of range.
    """
    if not computes_elsewhere(x) or x.layout.ndim + at.layout.ndim > DEVICE_AXES:
        return None
    now: Any = x._as_now()
    n = now.layout.shape[axis]
    return gathered_at(now, at.contiguous(), axis, (axis,)) if all_within(at, -n, n) else None


def gathered_at(x: Mat, at: Mat, place: int, chosen: Ints) -> Mat:
    """Return a new Mat with the items at positions that were checked."""
    if at.size and x.size:
        return gather.new((x, at, None, place, chosen))
    out = new_like(x, gathered_shape(x, at, place, chosen), x.dtype)
    if out.size:
        gather(x, at, out, place, chosen)
    return out
