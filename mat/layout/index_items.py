"""Meaning of the items of a basic index on an axis of some length: positions and slices."""

from __future__ import annotations

from ..errors import IndexOutOfRange, IndexTypeError, ShapeError
from .shapes import index_of

_FAR = 2**31  # steps are not longer: with them there is one element at most
_FARTHEST = 2**62  # beyond all indices


def position(item: object, axis: int, n: int) -> int:
    """Return the index `item` on an axis of length `n`, counted from the front."""
    try:
        i = item if type(item) is int else index_of(item)
        if -n <= i < n:
            return i + n if i < 0 else i
    except TypeError:
        raise IndexTypeError("an index is an integer, a slice, ..., None or an array, got "
                             f"{item!r}") from None
    except OverflowError:  # an integer that C cannot represent
        pass
    raise IndexOutOfRange(f"index {index_of(item)} is out of range for axis {axis} of length {n}")


def _is_int(item: object) -> bool:
    """Return whether the start or stop of a slice is None or an `int`."""
    return item is None or type(item) is int


def step_of(item: slice) -> int:
    """Return the step of a slice of None and of `int` that are not far; 0 for others."""
    if not (_is_int(item.start) and _is_int(item.stop)):
        return 0
    if item.step is None:
        return 1
    step = item.step if type(item.step) is int else 0
    return step if -_FAR < step < _FAR else 0


def bound(item: int | None, default: int, n: int, back: int) -> int:
    """Return the position meant by start or stop of a slice on an axis of length `n`; `default` if
    it is None. `back` is 1 if the step is negative, else 0.

    Compiled, it raises OverflowError for an integer that C cannot represent; `resolve` takes it.
    """
    if item is None:
        return default
    i = item
    return min(n - back, i) if i >= 0 else max(-back, i + n)


def first_of(item: slice, n: int, step: int) -> int:
    """Return the first index that a slice with a step of `step_of` selects, if it selects any."""
    return bound(item.start, 0, n, 0) if step > 0 else bound(item.start, n - 1, n, 1)


def length_of(item: slice, n: int, step: int, first: int) -> int:
    """Return how many indices it selects from the first one on."""
    if step == 1:
        return max(0, bound(item.stop, n, n, 0) - first)
    stop = bound(item.stop, n, n, 0) if step > 0 else bound(item.stop, -1, n, 1)
    return _count(first, stop, step)


def _count(first: int, stop: int, step: int) -> int:
    if step > 0:
        return (stop - first - 1) // step + 1 if stop > first else 0
    return (first - stop - 1) // -step + 1 if stop < first else 0


def is_all(item: slice) -> bool:
    """Return whether a slice is ``:``."""
    return item.start is None and item.stop is None and item.step is None


def near(item: object) -> object:
    """Return an item that selects the same, a slice with bounds that C can represent."""
    if type(item) is not slice:
        return item
    return slice(*[min(max(i, -_FARTHEST), _FARTHEST) if type(i) is int else i
                   for i in (item.start, item.stop, item.step)])


def resolve(item: slice, n: int) -> tuple[int, int, int]:
    """Return first index, length and step of a slice of an axis of length `n`."""
    try:
        first, stop, step = item.indices(n)
    except TypeError as error:
        raise IndexTypeError(f"bad slice {item}: {error}") from None
    except ValueError as error:
        raise ShapeError(f"bad slice {item}: {error}") from None
    if not -_FAR < step < _FAR:
        step = _FAR if step > 0 else -_FAR  # there is one element then, if any
    return first, _count(first, stop, step), step
