"""Shapes as tuples of lengths: validation, axes, and broadcasting."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from math import prod
from typing import SupportsInt

from ..errors import AxisError, IntegerError, ShapeError

LARGEST = 2**63 - 1
# of what NumPy can present: axes, and elements, if they are the largest, of 16 bytes
MOST_AXES, MOST_ELEMENTS = 64, LARGEST // 16

Ints = tuple[int, ...]
index_of: Callable[[object], int] = operator.index  # type: ignore[assignment]  # or it raises


def signed(number: SupportsInt) -> int:
    """Return the lowest 64 bits of `number` as a signed integer, as C code takes it."""
    return (int(number) + (1 << 63)) % (1 << 64) - (1 << 63)


def integer(value: object, what: str) -> int:
    """Return `value` as an int; raise `IntegerError` unless it is an integer."""
    if type(value) is int:
        return value
    try:
        return index_of(value)
    except TypeError:
        raise IntegerError(f"{what} must be an integer, got {value!r}") from None


def as_shape(shape: object) -> Ints:
    """Return `shape`, an integer or a sequence of integers, as a tuple of lengths."""
    items = items_of(shape)
    try:
        lengths = tuple(map(index_of, items))
    except TypeError:
        raise _no_shape(shape, items) from None
    if any(n < 0 for n in lengths):
        raise ShapeError(f"a shape has no negative lengths, got {lengths}")
    check_extent(lengths)
    return lengths


def items_of(value: object) -> tuple[object, ...]:
    """Return the items of a sequence, else the value as the only item, as of text or 0-d arrays."""
    if type(value) is int:
        return (value,)
    known = type(value) is tuple or type(value) is list  # which takes less time to find out
    if not known and (not isinstance(value, Iterable) or isinstance(value, str)):
        return (value,)
    try:
        return tuple(value)  # type: ignore[arg-type]
    except TypeError:  # an array or a Mat without axes
        return (value,)


def _no_shape(shape: object, items: tuple[object, ...]) -> IntegerError:
    """Return the error for an invalid shape, with the way to write one."""
    text = f"a shape is an integer or a sequence of integers, got {shape!r}"
    if isinstance(shape, str):
        return IntegerError(f"{text}; a dtype comes after it: dtype={shape!r}")
    if any(isinstance(n, Iterable) for n in items):
        return IntegerError(f"{text}; mat.array(...) makes a Mat of elements")
    return IntegerError(text)


def lengths_for(shape: object, old: Ints) -> Ints:
    """Return `shape` with -1 inferred from the size of `old`; `ShapeError` if sizes differ."""
    size = prod(old)
    given = [integer(n, "a length in a shape") for n in items_of(shape)]
    lengths = with_inferred(tuple(given), size)
    if lengths.count(-1) > 1:
        raise ShapeError(f"only one length of a shape may be -1, got {lengths}")
    if -1 in lengths:
        as_shape([n for n in lengths if n != -1])
        raise ShapeError(f"cannot infer -1 in {lengths} for {size} elements")
    found = as_shape(lengths)
    if prod(found) != size:
        raise ShapeError(f"cannot reshape {old} ({size} elements) to {found} ({prod(found)}); "
                         "view(shape, displacement) may change the size")
    return found


def with_inferred(shape: Ints, size: int) -> Ints:
    """Return `shape` with the length that -1 stands for, if there is one, for a size."""
    known, missing = 1, 0
    for n in shape:
        if type(n) is not int or n < -1:
            return shape
        if n == -1:
            missing += 1
        else:
            known *= n
    if missing != 1 or not known or size % known:
        return shape
    return tuple([size // known if n == -1 else n for n in shape])


def is_written_as(shape: Ints, lengths: tuple[object, ...]) -> bool:
    """Return whether `lengths`, with -1 for at most one, are those of `shape`."""
    if len(shape) != len(lengths):
        return False
    inferred = 0
    for k in range(len(shape)):
        if type(lengths[k]) is not int:
            return False
        if lengths[k] != shape[k]:
            if lengths[k] != -1:
                return False
            inferred += 1
    return inferred < 2


def check_extent(shape: Ints) -> None:
    """Raise `ShapeError` for a shape of too many axes or elements, those beside a 0 included."""
    if len(shape) > MOST_AXES:
        raise ShapeError(f"a shape has at most {MOST_AXES} axes, got {len(shape)}")
    if prod(n or 1 for n in shape) > MOST_ELEMENTS:
        raise ShapeError(f"shape {shape} has more elements than 64 bits can count the bytes of")


def as_axis(axis: object, ndim: int) -> int:
    """Return `axis` counted from the front; raise `AxisError` if there is no such axis."""
    try:
        i = axis if type(axis) is int else integer(axis, "an axis")
        if -ndim <= i < ndim:
            return i + ndim if i < 0 else i
    except OverflowError:  # an integer that C cannot represent
        pass
    raise AxisError(f"axis {integer(axis, 'an axis')} is out of bounds for array of dimension "
                    f"{ndim}")


def as_axes(axes: object, ndim: int) -> Ints:
    """Return `axes`, one or several, counted from the front; raise `ShapeError` for repeats."""
    items = items_of(axes)
    found = tuple([as_axis(a, ndim) for a in items])
    if len(set(found)) != len(found):
        raise ShapeError(f"axes {items} name one axis twice")
    return found


def broadcast_shapes(shapes: Iterable[Ints]) -> Ints:
    """Return the common shape of all `shapes`, broadcast by NumPy's rule."""
    given = list(shapes)
    ndim = max((len(s) for s in given), default=0)
    result = [1] * ndim
    for shape in given:
        for k, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and result[k] not in (1, n):
                raise ShapeError(f"shapes {' and '.join(map(str, given))} do not broadcast "
                                 "together")
            result[k] = result[k] if n == 1 else n
    return tuple(result)


def split(axes: list[tuple[int, ...]], shape: Ints) -> Ints | None:
    """Return strides for `shape` over merged axes of as many elements; None if there are none."""
    strides: list[int] = []
    k = len(axes) - 1
    room, step = axes[k] if axes else (1, 1)
    for n in reversed(shape):
        if n == 1:
            strides.append(step)
            continue
        while room == 1 and k > 0:
            k -= 1
            room, step = axes[k]
        if room % n:
            return None
        strides.append(step)
        room, step = room // n, step * n
    return tuple(strides[::-1])
