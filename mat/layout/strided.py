"""`Layout`: the elements of a flat storage that a matrix sees, as displacement, shape and strides.

Lengths and strides count elements, so ``element(i, j) = storage[displacement + i*s0 + j*s1]``.
Layouts are immutable, and independent of memory and dtype.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from ..errors import IndexOutOfRange, IndexTypeError, ShapeError
from .attributes import begin_as_nothing
from .merged_axes import merged
from .shapes import (
    MOST_AXES,
    MOST_ELEMENTS,
    Ints,
    as_axes,
    as_axis,
    check_extent,
    index_of,
    integer,
    is_written_as,
    lengths_for,
    split,
    with_inferred,
)

# the most elements whose indices are listed to find out if two of them are the same
EXACT_LIMIT = 100_000
_ONE = (1,)  # strides of a vector
_FAR = 2**31  # steps are not longer: with them there is one element at most
_FARTHEST = 2**62  # beyond all indices


# Items of a basic index


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


# Layouts


def packed_strides(shape: Ints) -> Ints:
    """Return the strides of `shape` in row-major order without gaps."""
    if len(shape) == 1:
        return _ONE
    strides, step = [0] * len(shape), 1
    for k in range(len(shape) - 1, -1, -1):
        strides[k] = step
        step *= shape[k] or 1
    return tuple(strides)


def packed(shape: Ints, displacement: int = 0) -> Layout:
    """Return the row-major layout of `shape` that begins at `displacement`."""
    return Layout(shape, packed_strides(shape), displacement)


class Known:
    """Facts and views of a layout, made when they are first needed: most layouts need none."""

    def __init__(self) -> None:
        # None before that is found out; () if it is not one
        self.vector: tuple[int, int] | tuple[()] | None = None
        self.matrix: tuple[int, bool] | tuple[()] | None = None
        self.transposed: Layout | None = None
        self.diagonal: Layout | None = None  # the main one of the first two axes
        # the last index without slices, and its view: the index may be a constant of a program
        self.items: tuple[object, ...] | None = None
        self.selected: Layout | None = None
        # the last views of these kinds: the next ones likely have their shapes and strides
        self.row: Layout | None = None
        self.part: Layout | None = None
        self.parts: Layout | None = None
        self.reshaped: Layout | None = None


class _Axes:
    """The axes of a view while they are found: the first ones of `like`, or in lists."""

    like: Layout
    count: int
    shape: Any  # a list, or None
    strides: Any

    def add(self, length: int, step: int) -> bool:
        """Add an axis; return True."""
        if self.shape is None:
            k, shape, strides = self.count, self.like.shape, self.like.strides
            if k < len(shape):
                n, s = shape[k], strides[k]
                if n == length and s == step:
                    self.count = k + 1
                    return True
            self._differ()
        self.shape.append(length)
        self.strides.append(step)
        return True

    def add_slice(self, item: slice, n: int, s: int) -> int:
        """Add the axis of a slice (see `bound`); return its additional displacement."""
        times = step_of(item)
        if times:
            first = first_of(item, n, times)
            length = length_of(item, n, times, first)
        else:
            first, length, times = resolve(item, n)
        self.add(length, s * times)
        return first * s if length else 0

    def _differ(self) -> None:
        """Keep the axes in lists from now on."""
        self.shape = list(self.like.shape[:self.count])
        self.strides = list(self.like.strides[:self.count])

    def at(self, start: int) -> Layout:
        """Return the layout with these axes from `start` on, like a known one if possible."""
        if self.shape is None:
            if self.count == len(self.like.shape):
                return self.like.moved_to(start)
            self._differ()
        return _made(tuple(self.shape), tuple(self.strides), start)


class Layout:
    """Displacement, shape and strides; every method returns a new `Layout` of the same storage."""

    shape: Ints
    strides: Ints
    displacement: int
    size: int
    contiguous: bool
    _injective: int  # whether it is: 1, -1 if it is not; 0 before that is found out
    _known: Known | None
    # that from which this one differs in displacement only; None if it is not known
    like: Layout | None
    form: Any  # what those who check operations know of Mats of this layout, and of those like it

    def __init__(self, shape: Ints, strides: Ints, displacement: int) -> None:
        self.fill_in(shape, strides, displacement)

    def fill_in(self, shape: Ints, strides: Ints, displacement: int) -> None:
        """Be that layout."""
        self.shape = shape
        self.strides = strides
        self.displacement = displacement
        step, packed_so_far = 1, True
        for k in range(len(shape) - 1, -1, -1):
            n = shape[k]
            if n != 1 and strides[k] != step:
                packed_so_far = False
            step *= n
        self.size = step
        if len(shape) > MOST_AXES or not 0 < step <= MOST_ELEMENTS:
            check_extent(shape)
        self.contiguous = packed_so_far or step == 0

    def moved_to(self, displacement: int) -> Layout:
        """Return the layout of the same shape and strides that begins at `displacement`."""
        if displacement == self.displacement:
            return self
        found = Layout.__new__(Layout)
        found.shape = self.shape
        found.strides = self.strides
        found.displacement = displacement
        found.size = self.size
        found.contiguous = self.contiguous
        found._injective = self._injective
        found.like = self if self.like is None else self.like
        return found

    def __repr__(self) -> str:
        return (f"Layout(shape={self.shape}, strides={self.strides}, "
                f"displacement={self.displacement})")

    def _facts(self) -> Known:
        """Return the object with the known facts about self."""
        if self._known is None:
            self._known = Known()
        return self._known

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def bounds(self) -> tuple[int, int]:
        """The half-open range of storage indices from the lowest to the highest visible element."""
        if self.size == 0:
            return self.displacement, self.displacement
        return self.lowest(), self.highest() + 1

    def lowest(self) -> int:
        """Return the lowest storage index of an element."""
        shape, strides, found = self.shape, self.strides, self.displacement
        for k in range(len(shape)):
            step = strides[k]
            if step < 0:
                found += (shape[k] - 1) * step
        return found

    def highest(self) -> int:
        """Return the highest storage index of an element."""
        shape, strides, found = self.shape, self.strides, self.displacement
        for k in range(len(shape)):
            step = strides[k]
            if step > 0:
                found += (shape[k] - 1) * step
        return found

    def check_within(self, storage_size: int) -> Layout:
        """Return self; raise `ShapeError` unless a storage of `storage_size` has all elements."""
        low, high = self.bounds
        if low < 0 or high > storage_size or not 0 <= self.displacement <= storage_size:
            raise ShapeError(f"shape {self.shape} at displacement {self.displacement} does not fit "
                             f"in a storage of {storage_size} elements; max_size= makes a larger "
                             "one, adjust_ grows it")
        return self

    def index_at(self, k: int) -> int:
        """Return the storage index of the element with row-major index `k`, not negative."""
        shape, strides, found = self.shape, self.strides, self.displacement
        if self.contiguous:
            return found + k
        for axis in range(len(shape) - 1, -1, -1):
            n = shape[axis]
            found += k % n * strides[axis]
            k //= n
        return found

    def is_by_columns(self) -> bool:
        """Return whether the elements are stored by columns without gaps."""
        shape, strides, step = self.shape, self.strides, 1
        for k in range(len(shape)):
            n = shape[k]
            if n != 1 and strides[k] != step and self.size:
                return False
            step *= n
        return True

    def descends(self) -> bool:
        """Return whether no step is longer than the one before: in memory, rows are in order."""
        for k in range(1, len(self.strides)):
            step, before = self.strides[k], self.strides[k - 1]
            if abs(step) > abs(before):
                return False
        return True

    # The forms that BLAS and kernels take

    @property
    def injective(self) -> bool:
        """True if no two indices see the same element, so that writing is well defined."""
        if self.contiguous:
            return True
        if not self._injective:
            self._injective = 1 if self._is_injective() else -1
        return self._injective > 0

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

    @property
    def vector(self) -> tuple[int, int] | None:
        """``(lowest index, increment)`` of the elements in row-major order as a BLAS vector.

        None if they are not one. BLAS takes the lowest address also if the increment is negative.
        """
        known = self._facts()
        if known.vector is None:
            known.vector = self._as_vector() or ()
        return known.vector or None

    def _as_vector(self) -> tuple[int, int] | None:
        axes = [(n, s) for n, s in zip(self.shape, self.strides, strict=True) if n != 1]
        if not axes or self.size == 0:
            return self.displacement, 1
        axes.reverse()
        step = expected = axes[0][1]
        for n, s in axes:
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
        known = self._facts()
        if known.matrix is None:
            known.matrix = self._as_matrix() or ()
        return known.matrix or None

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

    def transposed(self) -> Layout:
        """Return self with all axes in reverse order."""
        known = self._facts()
        if known.transposed is None:
            known.transposed = _made(self.shape[::-1], self.strides[::-1], self.displacement)
        return known.transposed

    def reshaped(self, shape: object) -> Layout:
        """Return the same elements in another shape, one of whose lengths may be -1: inferred."""
        if not self.contiguous or not isinstance(shape, tuple | int):
            return self.reshape(shape)
        if type(shape) is int and shape == -1:
            return self.flat()
        lengths = shape if isinstance(shape, tuple) else (shape,)
        known = self._facts()
        found = known.reshaped
        if found is not None and is_written_as(found.shape, lengths):
            return found
        if not self._has_size_of(lengths):
            lengths = with_inferred(lengths, self.size)
            if not self._has_size_of(lengths):
                return self.reshape(shape)
        found = known.reshaped = packed(lengths, self.displacement)
        return found

    def flat(self) -> Layout:
        """Return the elements of a packed layout as a vector."""
        known = self._facts()
        found = known.reshaped
        if found is None or len(found.shape) != 1:
            found = known.reshaped = packed((self.size,), self.displacement)
        return found

    def _has_size_of(self, shape: Ints) -> bool:
        """Return whether `shape` is of so many elements as self, all lengths positive `int`."""
        size = 1
        for n in shape:
            if type(n) is not int or not 0 < n <= self.size:
                return False
            length = n
            if length > self.size // size:
                return False
            size *= length
        return size == self.size and len(shape) <= MOST_AXES

    def reshape(self, shape: object) -> Layout:
        """Return the same elements in another shape; raise `ShapeError` if that needs a copy."""
        found = self.viewed_as(lengths_for(shape, self.shape))
        if found is None:
            raise ShapeError(f"shape {self.shape} with strides {self.strides} has no view as "
                             f"{shape}; x.reshape(...) copies")
        return found

    def viewed_as(self, shape: Ints) -> Layout | None:
        """Return the same elements in another shape of the same size; None if that needs a copy."""
        if self.contiguous:
            return packed(shape, self.displacement)
        if len(shape) == 1:
            return self._at_equal_steps()
        strides = split(merged(zip(self.shape, self.strides, strict=True)), shape)
        return None if strides is None else Layout(shape, strides, self.displacement)

    def _at_equal_steps(self) -> Layout | None:
        """Return the elements as a vector; None if the steps from one to the next differ."""
        shape, strides, step, count = self.shape, self.strides, 0, 1
        for k in range(len(shape) - 1, -1, -1):
            n = shape[k]
            step = strides[k] if n != 1 and count == 1 else step
            if n != 1 and strides[k] != count * step:
                return None
            count *= n
        return self if len(shape) == 1 else _made((count,), (step,), self.displacement)

    def permute(self, axes: object) -> Layout:
        """Return self with its axes in the order `axes`."""
        if type(axes) is tuple and len(axes) == len(self.shape) == 2:
            a, b = axes
            if type(a) is type(b) is int and a == 1 and b == 0:
                return self.transposed()
        order = as_axes(axes, self.ndim)
        if len(order) != self.ndim:
            raise ShapeError(f"permute takes each of {self.ndim} axes once, got {axes}")
        made = self._axes()
        for k in order:
            made.add(self.shape[k], self.strides[k])
        return self._with(made, self.displacement)

    def swapped(self, i: object, j: object) -> Layout:
        """Return self with two axes exchanged."""
        rank = len(self.shape)
        a, b = as_axis(i, rank), as_axis(j, rank)
        if a == b:
            return self
        if rank == 2:
            return self.transposed()
        made = self._axes()
        for k in range(rank):
            from_ = b if k == a else a if k == b else k
            made.add(self.shape[from_], self.strides[from_])
        return self._with(made, self.displacement)

    def broadcast_to(self, shape: Ints) -> Layout:
        """Return self broadcast to `shape`, by NumPy's rule."""
        new = len(shape) - self.ndim
        fits = new >= 0 and all(n in (1, m) for n, m in zip(self.shape, shape[max(new, 0):],
                                                            strict=False))
        if not fits:
            raise ShapeError(f"shape {self.shape} does not broadcast to {shape}")
        strides = tuple(0 if n == 1 else s for n, s in zip(self.shape, self.strides, strict=True))
        return Layout(shape, (0,) * new + strides, self.displacement)

    def has_axes_of_1(self) -> bool:
        """Return whether a length is 1."""
        for k in range(len(self.shape)):
            n = self.shape[k]  # compiled, quicker than `in`
            if n == 1:
                return True
        return False

    def squeeze(self, axis: object = None) -> Layout:
        """Return self without the axes `axis`, or without all axes of length 1."""
        if axis is None and not self.has_axes_of_1():
            return self
        if axis is None or (not self.shape and axis in (0, -1)):  # as NumPy has it
            axes: Ints = tuple([k for k, n in enumerate(self.shape) if n == 1])
        else:
            axes = as_axes(axis, self.ndim)
        if any([self.shape[k] != 1 for k in axes]):  # noqa: C419  # compiled, a generator is none
            raise ShapeError(f"squeeze drops axes of length 1 only, got axis {axis} of shape "
                             f"{self.shape}")
        made = self._axes()
        for k in range(len(self.shape)):
            if k not in axes:
                made.add(self.shape[k], self.strides[k])
        return self._with(made, self.displacement)

    def expand_dims(self, axis: object) -> Layout:
        """Return self with a new axis of length 1 at the position `axis`."""
        k = as_axis(axis, self.ndim + 1)
        return self.part((*[slice(None)] * k, None))

    def diagonal(self, offset: object, axis1: object, axis2: object) -> Layout:
        """Return the diagonal of two axes as the last axis."""
        if type(offset) is not int or type(axis1) is not int or type(axis2) is not int or (
                offset != 0 or axis1 != 0 or axis2 != 1):
            return self._diagonal(offset, axis1, axis2)
        known = self._facts()
        if known.diagonal is None:
            known.diagonal = self._diagonal(0, 0, 1)
        return known.diagonal

    def _diagonal(self, offset: object, axis1: object, axis2: object) -> Layout:
        rank = len(self.shape)
        if rank < 2:
            raise ShapeError(f"diagonal needs at least two dimensions, got shape {self.shape}")
        shift = integer(offset, "the offset of a diagonal")
        a, b = as_axis(axis1, rank), as_axis(axis2, rank)
        if a == b:
            raise ShapeError(f"axes {(axis1, axis2)} name one axis twice")
        rows, columns, s, t = self.shape[a], self.shape[b], self.strides[a], self.strides[b]
        rows, columns = rows + min(0, shift), columns - max(0, shift)  # from its begin on
        length = max(0, min(rows, columns))
        start = self.displacement
        if length:
            start += max(0, shift) * t - min(0, shift) * s
        made = self._axes()
        for k in range(rank):
            if k != a and k != b:
                made.add(self.shape[k], self.strides[k])
        made.add(length, s + t)
        return self._with(made, start)

    def in_units(self, size: int, of: int) -> Layout | None:
        """Return the same bytes as elements of `of` instead of `size` bytes; None if not whole."""
        shape, strides, made = self.shape, self.strides, self._axes()
        last, start = len(shape) - 1, self.displacement * size
        length = shape[last]
        if length * size % of:
            return None
        if not self.size:
            return packed((*shape[:last], length * size // of), start // of)
        for k in range(last):
            step = strides[k]
            if step * size % of:
                return None
            made.add(shape[k], step * size // of)
        if start % of:
            return None
        made.add(length * size // of, 1)
        return self._with(made, start // of)

    # Indexing

    def __getitem__(self, index: object) -> Layout:
        """Return the view of NumPy's basic indexing: integers, slices, ``...`` and None."""
        items = index if isinstance(index, tuple) else (index,)
        try:
            if type(index) is slice and self.shape:
                return self.rows(index)
            if type(index) is int and len(self.shape) > 1:
                return self.row(index)
            return self.part(items)
        except OverflowError:  # see `rows`
            return self.part(tuple([near(item) for item in items]))

    def part(self, items: tuple[object, ...]) -> Layout:
        """Return ``self[items]``; compiled, raise OverflowError for bounds beyond C's integers."""
        return self.selected(items, False)

    def selected(self, items: tuple[object, ...], plain: bool) -> Any:
        """Return the same; with `plain`, None for other items than slices, `int`, ``...``, None."""
        known, constant = self._facts(), plain
        if known.items is items:
            return known.selected
        shape, strides, made = self.shape, self.strides, self._axes()
        start, axis, rest, step = self.displacement, 0, 0, 0
        if len(items) > len(shape):
            if plain and not _are_plain(items):
                return None
            self._unnamed(items)  # which raises an error if they are too many
        for item in items:
            if type(item) is slice:
                constant = False
                start += made.add_slice(item, shape[axis], strides[axis])
                axis += 1
            elif item is None:
                made.add(1, 0)
            elif item is Ellipsis:
                rest = axis + self._unnamed(items)
                while axis < rest:
                    made.add(shape[axis], strides[axis])
                    axis += 1
            elif plain and type(item) is not int:
                return None
            else:
                step = strides[axis]  # a number of C
                start += position(item, axis, shape[axis]) * step
                axis += 1
        while axis < len(shape):
            made.add(shape[axis], strides[axis])
            axis += 1
        found = self._with(made, start)
        if constant and found is not self:  # which would keep itself
            known.items, known.selected = items, found
        return found

    def _axes(self) -> _Axes:
        """Return an object that finds the axes of a view."""
        known, made = self._facts(), _Axes.__new__(_Axes)
        made.like = self if known.parts is None else known.parts
        return made

    def _with(self, axes: _Axes, start: int) -> Layout:
        """Return the view with these axes that begins at `start`."""
        found = axes.at(start)
        if axes.shape is not None:  # it is new, and not like another one
            self._facts().parts = found
        return found

    def _unnamed(self, items: tuple[object, ...]) -> int:
        """Return the number of axes without an item."""
        dots = used = 0
        for item in items:
            if item is Ellipsis:
                dots += 1
            elif item is not None:
                used += 1
        if dots > 1 or used > len(self.shape):
            raise IndexOutOfRange(f"too many indices for shape {self.shape}: {items}")
        return len(self.shape) - used

    def rows(self, item: slice) -> Layout:
        """Return ``self[item]`` for a slice of the first axis; it raises as `part` does."""
        shape, strides = self.shape, self.strides
        if not shape:
            raise IndexOutOfRange(f"too many indices for shape (): {item}")
        n = shape[0]
        s, times = strides[0], step_of(item)
        if times:
            first = first_of(item, n, times)
            length = length_of(item, n, times, first)
        else:
            first, length, times = resolve(item, n)
        step = s * times
        start = self.displacement + first * s if length else self.displacement
        known = self._facts()
        like = known.part
        if like is None or like.shape[0] != length or like.strides[0] != step:
            like = known.part = _made((length, *shape[1:]), (step, *strides[1:]), start)
        return like.moved_to(start)

    def row(self, index: int) -> Layout:
        """Return ``self[index]``, without the first axis."""
        i, n = index, self.shape[0]
        if not -n <= i < n:
            position(index, 0, n)  # which raises an error
        return self.row_at(i if i >= 0 else i + n)

    def row_at(self, k: int) -> Layout:
        """Return row `k`, counted from the front."""
        known = self._facts()
        like, start = known.row, self.displacement + k * self.strides[0]
        if like is None:
            like = known.row = _made(self.shape[1:], self.strides[1:], start)
        return like.moved_to(start)

    def element(self, index: int | tuple[object, ...]) -> int:
        """Return the storage index of an element by one `int` per axis in range; else -1."""
        shape, strides, found = self.shape, self.strides, self.displacement
        if type(index) is int and len(shape) == 1:
            i, n, step = index, shape[0], strides[0]
            return found + (i + n if i < 0 else i) * step if -n <= i < n else -1
        items: tuple[Any, ...] = index if type(index) is tuple else (index,)
        if len(items) != len(shape):
            return -1
        for k in range(len(items)):
            if type(items[k]) is not int:
                return -1
            i, n, step = items[k], shape[k], strides[k]
            if not -n <= i < n:
                return -1
            found += (i + n if i < 0 else i) * step
        return found


def _are_plain(items: tuple[object, ...]) -> bool:
    """Return whether all items are slices, `int`, ``...`` and None."""
    for item in items:
        if type(item) is not slice and type(item) is not int and (
                item is not None and item is not Ellipsis):
            return False
    return True


def _made(shape: Ints, strides: Ints, displacement: int) -> Layout:
    """Return a layout, as `Layout` does."""
    found = Layout.__new__(Layout)
    found.fill_in(shape, strides, displacement)
    return found


begin_as_nothing(_Axes)
begin_as_nothing(Layout)
