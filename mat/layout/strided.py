"""`Layout`: which elements of a flat storage a matrix sees, as displacement, shape and strides.

Lengths and strides count elements, so ``element(i, j) = storage[displacement + i*s0 + j*s1]``.
Layouts are immutable, and independent of memory and dtype.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import prod
from typing import Literal, SupportsInt

from ..errors import DTypeError, IndexOutOfRange, ShapeError
from .merged_axes import merged

LARGEST = 2**63 - 1
# the most elements whose indices are listed to find out if two of them are the same
EXACT_LIMIT = 100_000

Ints = tuple[int, ...]
_index: Callable[[object], int] = operator.index  # type: ignore[assignment]  # or it raises


def signed(number: SupportsInt) -> int:
    """Return the lowest 64 bits of `number` as a signed integer, as C code takes it."""
    return (int(number) + (1 << 63)) % (1 << 64) - (1 << 63)


def integer(value: object, what: str) -> int:
    """Return `value` as an int; raise `ShapeError` unless it is an integer."""
    if type(value) is int:
        return value
    try:
        return _index(value)
    except TypeError:
        raise ShapeError(f"{what} must be an integer, got {value!r}") from None


def as_shape(shape: object) -> Ints:
    """Return `shape`, an integer or a sequence of integers, as a tuple of lengths."""
    items = tuple(shape) if isinstance(shape, Iterable) and not isinstance(shape, str) else (shape,)
    lengths = tuple(integer(n, "a length in a shape") for n in items)
    if any(n < 0 for n in lengths):
        raise ShapeError(f"a shape has no negative lengths, got {lengths}")
    if prod(n or 1 for n in lengths) > LARGEST:
        raise ShapeError(f"shape {lengths} has more elements than 64 bits can count")
    return lengths


def as_axis(axis: object, ndim: int) -> int:
    """Return `axis` counted from the front; raise `ShapeError` if there is no such axis."""
    k = integer(axis, "an axis")
    if not -ndim <= k < ndim:
        raise ShapeError(f"axis {k} is out of range for {ndim} dimensions")
    return k % ndim


def as_axes(axes: object, ndim: int) -> Ints:
    """Return `axes`, one or several, counted from the front; raise `ShapeError` for repeats."""
    items = tuple(axes) if isinstance(axes, Iterable) else (axes,)
    found = tuple(as_axis(a, ndim) for a in items)
    if len(set(found)) != len(found):
        raise ShapeError(f"axes {items} name one axis twice")
    return found


def packed_strides(shape: Ints) -> Ints:
    """Return the strides of `shape` in row-major order without gaps."""
    strides, step = [0] * len(shape), 1
    for k in range(len(shape) - 1, -1, -1):
        strides[k] = step
        step *= shape[k] or 1
    return tuple(strides)


def packed(shape: Ints, displacement: int = 0) -> Layout:
    """Return the row-major layout of `shape` that begins at `displacement`."""
    return Layout(shape, packed_strides(shape), displacement)


def broadcast_shapes(shapes: Iterable[Ints]) -> Ints:
    """Return the shape to which all `shapes` broadcast, by NumPy's rule."""
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


class Layout:
    """Displacement, shape and strides; every method returns a new `Layout` of the same storage."""

    __slots__ = ("_injective", "_matrix", "_vector", "contiguous", "displacement", "shape", "size",
                 "strides")

    def __init__(self, shape: Ints, strides: Ints, displacement: int) -> None:
        self.shape = shape
        self.strides = strides
        self.displacement = displacement
        self.size = prod(shape)
        self.contiguous = self._steps_like_packed()
        self._injective: bool | None = True if self.contiguous else None
        # False: not computed yet
        self._vector: tuple[int, int] | Literal[False] | None = False
        self._matrix: tuple[int, bool] | Literal[False] | None = False

    def _steps_like_packed(self) -> bool:
        step, shape, strides = 1, self.shape, self.strides
        for k in range(len(shape) - 1, -1, -1):
            n = shape[k]
            if n != 1 and strides[k] != step:
                return self.size == 0
            step *= n
        return True

    def __repr__(self) -> str:
        return (f"Layout(shape={self.shape}, strides={self.strides}, "
                f"displacement={self.displacement})")

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def bounds(self) -> tuple[int, int]:
        """The half-open range of storage indices from the lowest to the highest visible element."""
        if self.size == 0:
            return self.displacement, self.displacement
        reach = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        return (self.displacement + sum(r for r in reach if r < 0),
                self.displacement + sum(r for r in reach if r > 0) + 1)

    def check_within(self, storage_size: int) -> Layout:
        """Return self; raise `ShapeError` unless a storage of `storage_size` has all elements."""
        low, high = self.bounds
        if low < 0 or high > storage_size or not 0 <= self.displacement <= storage_size:
            raise ShapeError(f"shape {self.shape} at displacement {self.displacement} does not fit "
                             f"in a storage of {storage_size} elements; max_size= makes a larger "
                             "one, adjust_ grows it")
        return self

    # The forms that BLAS and kernels take

    @property
    def injective(self) -> bool:
        """True if no two indices see the same element, so that writing is well defined."""
        if self._injective is None:
            self._injective = self._is_injective()
        return self._injective

    def _is_injective(self) -> bool:
        axes = sorted((abs(s), n) for n, s in zip(self.shape, self.strides, strict=True) if n > 1)
        reach = 0
        for step, n in axes:
            if step <= reach:
                return self.size <= EXACT_LIMIT and len(set(self.indices())) == self.size
            reach += step * (n - 1)
        return True

    def indices(self) -> Iterator[int]:
        """Yield the storage index of every visible element, in row-major order."""
        for index in product(*map(range, self.shape)):
            yield self.displacement + sum(i * s for i, s in zip(index, self.strides, strict=True))

    def storage_index(self, k: int) -> int:
        """Return the storage index of the element with row-major index `k`, possibly negative."""
        k %= self.size
        found = self.displacement
        for n, s in zip(reversed(self.shape), reversed(self.strides), strict=True):
            k, i = divmod(k, n)
            found += i * s
        return found

    def spans(self, edge: int) -> list[tuple[int, int]]:
        """Return storage ranges that cover what a printer shows.

        It shows all items of short axes, and `edge` items at both ends of long ones.
        """
        chosen = [range(n) if n <= 4 * edge else (*range(edge), *range(n - edge, n))
                  for n in self.shape]
        steps = [[i * s for i in items] for items, s in zip(chosen, self.strides, strict=True)]
        found: list[tuple[int, int]] = []
        for k in sorted({self.displacement + sum(offsets) for offsets in product(*steps)}):
            if found and found[-1][1] == k:
                found[-1] = found[-1][0], k + 1
            else:
                found.append((k, k + 1))
        return found

    @property
    def vector(self) -> tuple[int, int] | None:
        """``(lowest index, increment)`` of the elements in row-major order as a BLAS vector.

        None if they are not one. BLAS takes the lowest address also if the increment is negative.
        """
        found = self._vector
        if found is False:
            found = self._vector = self._as_vector()
        return found

    def _as_vector(self) -> tuple[int, int] | None:
        axes = [(n, s) for n, s in zip(self.shape, self.strides, strict=True) if n != 1]
        if not axes or self.size == 0:
            return self.displacement, 1
        step = axes[-1][1]
        expected = step
        for n, s in reversed(axes):
            if s != expected:
                return None
            expected = s * n
        if step == 0:
            return None
        return self.displacement + min(0, (self.size - 1) * step), step

    @property
    def matrix(self) -> tuple[int, bool] | None:
        """``(leading dimension, transposed)`` of a 2-d layout as a row-major BLAS matrix.

        None if it is not one. If not transposed, the leading dimension is the stride of the rows,
        and the elements of a row are adjacent.
        """
        found = self._matrix
        if found is False:
            found = self._matrix = self._as_matrix()
        return found

    def _as_matrix(self) -> tuple[int, bool] | None:
        if self.ndim != 2:
            return None
        (rows, columns), (down, across) = self.shape, self.strides
        if self.size == 0:
            return max(1, columns), False
        if (across == 1 or columns == 1) and (rows == 1 or down >= max(1, columns)):
            return (max(1, columns) if rows == 1 else down), False
        if (down == 1 or rows == 1) and (columns == 1 or across >= max(1, rows)):
            return (max(1, rows) if columns == 1 else across), True
        return None

    # Views

    def reshape(self, shape: Ints) -> Layout:
        """Return the same elements in another shape; raise `ShapeError` if that needs a copy."""
        if prod(shape) != self.size:
            raise ShapeError(f"cannot reshape {self.shape} ({self.size} elements) to {shape} "
                             f"({prod(shape)}); view(shape, displacement) may change the size")
        if self.contiguous:
            return packed(shape, self.displacement)
        strides = self._split(shape)
        if strides is None:
            raise ShapeError(f"shape {self.shape} with strides {self.strides} has no view as "
                             f"{shape}; copy it first: x.contiguous().reshape({shape})")
        return Layout(shape, strides, self.displacement)

    def _split(self, shape: Ints) -> Ints | None:
        """Return strides for `shape` over the merged axes of self, or None if there are none."""
        axes = merged(zip(self.shape, self.strides, strict=True))
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

    def permute(self, axes: object) -> Layout:
        """Return self with its axes in the order `axes`."""
        order = as_axes(axes, self.ndim)
        if len(order) != self.ndim:
            raise ShapeError(f"permute takes each of {self.ndim} axes once, got {axes}")
        return Layout(tuple(self.shape[a] for a in order), tuple(self.strides[a] for a in order),
                      self.displacement)

    def broadcast_to(self, shape: Ints) -> Layout:
        """Return self broadcast to `shape`, by NumPy's rule."""
        new = len(shape) - self.ndim
        fits = new >= 0 and all(n in (1, m) for n, m in zip(self.shape, shape[max(new, 0):],
                                                            strict=False))
        if not fits:
            raise ShapeError(f"shape {self.shape} does not broadcast to {shape}")
        strides = tuple(0 if n == 1 else s for n, s in zip(self.shape, self.strides, strict=True))
        return Layout(shape, (0,) * new + strides, self.displacement)

    def squeeze(self, axis: object = None) -> Layout:
        """Return self without the axes `axis`, or without all axes of length 1."""
        axes = (tuple(k for k, n in enumerate(self.shape) if n == 1) if axis is None
                else as_axes(axis, self.ndim))
        if any(self.shape[k] != 1 for k in axes):
            raise ShapeError(f"squeeze drops axes of length 1 only, got axis {axis} of shape "
                             f"{self.shape}")
        keep = [k for k in range(self.ndim) if k not in axes]
        return Layout(tuple(self.shape[k] for k in keep), tuple(self.strides[k] for k in keep),
                      self.displacement)

    def expand_dims(self, axis: object) -> Layout:
        """Return self with a new axis of length 1 at the position `axis`."""
        k = as_axis(axis, self.ndim + 1)
        shape = (*self.shape[:k], 1, *self.shape[k:])
        return Layout(shape, (*self.strides[:k], 0, *self.strides[k:]), self.displacement)

    def diagonal(self, offset: object, axis1: object, axis2: object) -> Layout:
        """Return the diagonal of two axes as the last axis."""
        if self.ndim < 2:
            raise ShapeError(f"diagonal needs at least two dimensions, got shape {self.shape}")
        shift = integer(offset, "the offset of a diagonal")
        a, b = as_axes((axis1, axis2), self.ndim)
        down, right = max(0, -shift), max(0, shift)
        length = max(0, min(self.shape[a] - down, self.shape[b] - right))
        start = self.displacement + (down * self.strides[a] + right * self.strides[b] if length
                                     else 0)
        keep = [k for k in range(self.ndim) if k not in (a, b)]
        return Layout((*(self.shape[k] for k in keep), length),
                      (*(self.strides[k] for k in keep), self.strides[a] + self.strides[b]), start)

    # Indexing

    def __getitem__(self, index: object) -> Layout:
        """Return the view of NumPy's basic indexing: integers, slices, ``...`` and None."""
        items = self._expand(index if isinstance(index, tuple) else (index,))
        shape: list[int] = []
        strides: list[int] = []
        start, axis = self.displacement, 0
        for item in items:
            if item is None:
                shape.append(1)
                strides.append(0)
                continue
            n, s = self.shape[axis], self.strides[axis]
            if isinstance(item, slice):
                first, length, step = _resolve(item, n)
                shape.append(length)
                strides.append(s * step)
                start += first * s if length else 0
            else:
                start += position(item, axis, n) * s
            axis += 1
        return Layout(tuple(shape), tuple(strides), start)

    def rows(self, item: slice) -> Layout:
        """Return ``self[item]`` for a slice of the first axis, the most frequent index."""
        if not self.shape:
            raise IndexOutOfRange(f"too many indices for shape (): {item}")
        first, length, step = _resolve(item, self.shape[0])
        s = self.strides[0]
        start = self.displacement + first * s if length else self.displacement
        return Layout((length, *self.shape[1:]), (s * step, *self.strides[1:]), start)

    def _expand(self, items: tuple[object, ...]) -> list[object]:
        """Return `items` with slices in place of ``...``, one item for each axis."""
        dots = [k for k, item in enumerate(items) if item is Ellipsis]
        used = sum(1 for item in items if item is not None and item is not Ellipsis)
        if len(dots) > 1 or used > self.ndim:
            raise IndexOutOfRange(f"too many indices for shape {self.shape}: {items}")
        at = dots[0] if dots else len(items)
        rest = [slice(None)] * (self.ndim - used)
        return [*items[:at], *rest, *items[at + 1:]]


def position(item: object, axis: int, n: int) -> int:
    """Return the index `item` on an axis of length `n`, counted from the front."""
    try:
        i = _index(item)
    except TypeError:
        raise DTypeError("an index is an integer, a slice, ..., None or an array, got "
                         f"{item!r}") from None
    if not -n <= i < n:
        raise IndexOutOfRange(f"index {i} is out of range for axis {axis} of length {n}")
    return i + n if i < 0 else i


def _resolve(item: slice, n: int) -> tuple[int, int, int]:
    """Return first index, length and step of a slice of an axis of length `n`."""
    try:
        span = range(n)[item]
    except (TypeError, ValueError) as error:
        raise IndexOutOfRange(f"bad slice {item}: {error}") from None
    return span.start, len(span), span.step
