"""Functions that take and put elements by indices and conditions while a device is in use: the
basis of NumPy's. Each returns None for arguments to be left to NumPy on the host, such as invalid
ones; none of them writes before that is known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import IndexOutOfRange, ShapeError
from ...layout.shapes import Ints, broadcast_shapes
from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ..primitives.elementwise import clip, equal
from ..primitives.selecting import is_true, select, where
from ..primitives.ufuncs import floor_divide, remainder
from ..tiles.overlap import DEVICE_AXES, must_copy
from .advanced import all_within, combined, gathered_at
from .gathering import LONG, gather_along, positions_of, scatter

_MODES = ("raise", "wrap", "clip")


def _in_range(indices: Mat, n: int, mode: str, x: Mat) -> Mat | None:
    """Return integers as positions among `n` of `x`, by the rule `mode`; None for other numbers."""
    if indices.dtype.kind not in "iu" or indices.dtype == np.uint64 or mode not in _MODES or (
            not n and mode != "raise"):
        return None
    at = indices if indices.dtype == LONG else indices.astype(LONG)
    if mode == "wrap":
        at = remainder(at, n)
    elif mode == "clip":
        at = clip(at, 0, n - 1)
    elif not all_within(at, -n, n):
        raise IndexOutOfRange(f"{x.label()} has {n} elements there; indices reach from "
                              f"{indices.min().item()} to {indices.max().item()}")
    return at.contiguous()


def _together(*shapes: Ints) -> Ints | None:
    """Return the common broadcast shape; None if there is none."""
    try:
        return broadcast_shapes(shapes)
    except ShapeError:
        return None


def _few(*mats: Mat) -> bool:
    """Return whether a device can step along the axes of all of them together."""
    return sum(m.ndim for m in mats) <= DEVICE_AXES


# Along an axis


def take(x: Mat, indices: Mat, axis: int, mode: str = "raise") -> Mat | None:
    """Return the items of `x` at integers along an axis."""
    if not x.ndim or not _few(x, indices):
        return None
    if 0 in x.shape[:axis] and x.shape[axis]:
        mode = "clip"  # as in NumPy, any integers give nothing of nothing
    at = _in_range(indices, x.shape[axis], mode, x)
    return None if at is None else gathered_at(x, at, axis, (axis,))


def take_along(x: Mat, indices: Mat, axis: int) -> Mat | None:
    """Return, of each line of `x` along an axis, the elements at the same line of `indices`."""
    shape = _along(x, indices, axis)
    at = None if shape is None else _in_range(indices, x.shape[axis], "raise", x)
    if shape is None or at is None:
        return None
    out = new_like(x, shape, x.dtype)
    if out.size:
        gather_along(x, at, out, axis)
    return out


def _along(x: Mat, indices: Mat, axis: int) -> Ints | None:
    """Return the shape of a selection by indices on the lines of `x`; None if they do not fit."""
    if x.ndim != indices.ndim or not 0 < x.ndim <= DEVICE_AXES:
        return None
    lines = (*x.shape[:axis], indices.shape[axis], *x.shape[axis + 1:])
    return _together(lines, indices.shape)


def put_along(x: Mat, indices: Mat, values: Mat, axis: int) -> Mat | None:
    """Overwrite, of each line of `x` along an axis, the elements at the same line of `indices`."""
    shape = _along(x, indices, axis)
    if shape is None or _together(shape, values.shape) != shape:
        return None
    at = _in_range(indices, x.shape[axis], "raise", x)
    if at is None:
        return None
    found: Mat | None = None
    for k, n in enumerate(x.shape):
        ones = (1,) * (x.ndim - 1 - k)
        own = at if k == axis else adopted(np.arange(n).reshape(n, *ones))
        found = combined(found, own, (n,), False)
    assert found is not None
    return _put_at(x, found, values.broadcast_to(found.shape), False)


def compress(condition: Mat, x: Mat, axis: int) -> Mat | None:
    """Return the items of `x` along an axis where a vector is true."""
    if condition.ndim != 1 or not x.ndim:
        return None
    at = positions_of(is_true(condition))
    known = condition.size <= x.shape[axis] and _few(x, at)  # that they are in range
    return gathered_at(x, at, axis, (axis,)) if known else take(x, at, axis)


# By rows


def put(x: Mat, indices: Mat, values: Mat, mode: str = "raise") -> Mat | None:
    """Overwrite the elements at row-major integers with repeated values."""
    if not x.ndim or x.ndim > DEVICE_AXES:
        return None
    at = _in_range(indices, x.size, mode, x)
    if at is None or not values.size or not at.size:
        return None if at is None else x
    if x.ndim > 1 and mode == "raise":
        at = remainder(at, x.size)
    at = at.reshape(-1)
    return _put_at(x, at, _repeated(values, at.size), values.size == 1)


def place(x: Mat, mask: Mat, values: Mat) -> Mat | None:
    """Overwrite the elements where a mask of the size of `x` is true with repeated values."""
    if mask.size != x.size or not values.size:
        return None
    return put(x, positions_of(is_true(mask)), values)


def put_where(x: Mat, condition: Mat, values: Mat) -> Mat | None:
    """Overwrite the elements of `x` where a condition is true with those of `values`; both
    broadcast.
    """
    if _together(x.shape, condition.shape, values.shape) != x.shape:
        return None
    truth = _apart(is_true(condition).broadcast_to(x.shape), x)
    select(truth, _apart(_of_dtype(values, x).broadcast_to(x.shape), x), x, x)
    return x


def _apart(value: Mat, x: Mat) -> Mat:
    """Return an operand, or a copy if it overlaps the target `x`."""
    return value.copy() if must_copy(value, x) else value


def _repeated(values: Mat, n: int) -> Mat:
    """Return the values one after another until there are `n`."""
    flat = values.reshape(-1)
    if flat.size == 1:
        return flat.broadcast_to((n,))
    if flat.size >= n:
        return flat[:n]
    return gathered_at(flat, adopted(np.arange(n) % flat.size), 0, (0,))


def _put_at(x: Mat, at: Mat, source: Mat, unique: bool) -> Mat:
    """Overwrite the elements at checked row-major positions."""
    source, at = _of_dtype(source, x), at.contiguous()
    if source.storage is x.storage:
        source = source.copy()
    if at.storage is x.storage:
        at = at.copy()
    if at.size:
        scatter(at, source, x, 0, tuple(range(x.ndim)), unique)
    return x


def _of_dtype(values: Mat, x: Mat) -> Mat:
    return values if values.dtype == x.dtype else values.astype(x.dtype)


# Positions


def nonzero(x: Mat) -> tuple[Mat, ...] | None:
    """Return the indices of nonzero elements, by rows: a vector for each axis."""
    if not x.ndim:
        return None
    at = positions_of(is_true(x))
    found: list[Mat] = []
    for n in x.shape[:0:-1]:
        found.append(remainder(at, n) if at.size else at.copy())
        at = floor_divide(at, n) if at.size else at
    return (at, *found[::-1])


def choose(x: Mat, choices: Sequence[Mat], mode: str = "raise") -> Mat | None:
    """Return for each integer the element of the choice of that number."""
    n = len(choices)
    if not n or x.dtype.kind not in "biu" or mode not in _MODES:
        return None
    at = x.astype(LONG)
    if mode == "raise" and not all_within(at, 0, n):
        return None
    shape = _together(x.shape, *(c.shape for c in choices))
    if shape is None:
        return None
    at = remainder(at, n) if mode == "wrap" else clip(at, 0, n - 1)
    found = choices[0]
    for k, choice in enumerate(choices[1:], 1):
        found = where(equal(at, k), choice, found)
    dtype = np.result_type(*(c.dtype for c in choices))
    found = found if found.dtype == dtype else found.astype(dtype)
    return found.broadcast_to(shape).copy() if n == 1 or found.shape != shape else found

