"""Meaning of the items of a basic index on an axis of some length: positions and slices."""

from __future__ import annotations

from typing import TypeGuard

from ..errors import IndexOutOfRange, IndexTypeError, ShapeError
from .shapes import index_of

_FAR = 2**31  # steps are not longer: with them there is one element at most


def position(item: object, axis: int, n: int) -> int:
    """Return the index `item` on an axis of length `n`, counted from the front."""
    try:
        i = index_of(item)
    except TypeError:
        raise IndexTypeError("an index is an integer, a slice, ..., None or an array, got "
                         f"{item!r}") from None
    if not -n <= i < n:
        raise IndexOutOfRange(f"index {i} is out of range for axis {axis} of length {n}")
    return i + n if i < 0 else i


def is_int(item: object) -> bool:
    """Return whether the start or stop of a slice is None or an `int`."""
    return item is None or type(item) is int


def bound(item: int | None, default: int, n: int) -> int:
    """Return the position meant by start or stop of a slice with step 1 on an axis of length `n`;
    `default` if it is None.

    Compiled, it raises OverflowError for an integer that C cannot represent; `far_bound` takes it.
    """
    if item is None:
        return default
    i = item
    return min(n, i) if i >= 0 else max(0, i + n)


def far_bound(item: int | None, default: int, n: int) -> int:
    """Return the result of `bound`, also for the largest integers."""
    try:
        return bound(item, default, n)
    except OverflowError:
        return n if item is not None and item > 0 else 0


def is_plain(item: object) -> TypeGuard[slice]:
    """Return whether `item` is a slice without a step whose start and stop are None or an `int`."""
    if type(item) is not slice:
        return False
    one = item
    return one.step is None and is_int(one.start) and is_int(one.stop)


def is_all(item: slice) -> bool:
    """Return whether a slice is ``:``."""
    return item.start is None and item.stop is None and item.step is None


def resolve(item: slice, n: int) -> tuple[int, int, int]:
    """Return first index, length and step of a slice of an axis of length `n`."""
    try:
        if item.start is None and item.stop is None and type(item.step) is int and (
                -_FAR < item.step < _FAR and item.step):  # the most frequent ones
            step = item.step
            first = 0 if step > 0 else n - 1
            stop = n if step > 0 else -1
        else:
            first, stop, step = item.indices(n)
    except TypeError as error:
        raise IndexTypeError(f"bad slice {item}: {error}") from None
    except ValueError as error:
        raise ShapeError(f"bad slice {item}: {error}") from None
    if not -_FAR < step < _FAR:
        step = _FAR if step > 0 else -_FAR  # there is one element then, if any
    if step > 0:
        length = (stop - first - 1) // step + 1 if stop > first else 0
    else:
        length = (first - stop - 1) // -step + 1 if stop < first else 0
    return first, length, step
