"""Sorting along an axis, and its uses: searching, counting, and distinct elements.

On the host NumPy computes, and so it does on devices that run what the host does. Sorting on other
devices is stable, whether that is wanted or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np

from ...devices.in_use import computes_elsewhere, has_kernels
from ...errors import ShapeError
from ...layout.orders import only_by_columns
from ...layout.shapes import Ints, as_axis
from ...layout.strided import Layout
from ...matrix.creation import adopted
from ...matrix.joined import new_transposed
from ...matrix.mat import Mat, new_like
from ...support.dtypes import EXTENSIONS
from ...support.native import compiled
from ...support.plugins import at_first_use, plugin
from ...support.types import Arguments, Array, DType, Engine, Function, Keywords
from ..engine.operation import Input, MatOp, Output, Scalar, op
from ..primitives import reduce
from ..primitives.copying import sorted_along
from ..primitives.declare_reduce import DEVICE_RANK, ON_DEVICE
from ..primitives.elementwise import add, assign, fill, less, negative, not_equal, subtract
from ..primitives.joining import concat
from ..primitives.selecting import select
from ..tiles.overlap import check_disjoint, overlap
from ..tiles.tile import Cutter, Tile, TileTooLarge, made_later, or_by_host, over
from .gathering import gather, gather_along, positions_of, scatter

cut_sorts = at_first_use("ops.tiles.cut_sorts")
scan = at_first_use("ops.primitives.scan")
ufuncs = at_first_use("ops.primitives.ufuncs")
_INDICES, _FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)
_LONGEST = 1 << 32  # indices on a device have 32 bits
_COMPILED = compiled(_INDICES.char)


# Sorting


def _in_order(a: Array, axis: int, descending: bool, stable: bool, indices: bool) -> Array:
    """Return `a` in descending order, stable and NaN last, or the indices for either order."""
    kind: Literal["stable"] | None = "stable" if stable else None
    if not descending:
        return np.argsort(a, axis, kind)
    opposite: Function = np.invert if a.dtype.kind in "biu" else np.negative
    turned = opposite(a)
    if indices:
        return np.argsort(turned, axis, kind)
    sort_array(turned, axis, stable)
    return opposite(turned)


def sort_array(a: Array, axis: int, stable: bool) -> None:
    """Sort `a` in place, NaN last.

    Where NumPy 2.4 sorts float16 by AVX-512, a few of some 3,000 elements and more are left out of
    order; integers are not.
    """
    if stable or a.dtype != np.float16:
        a.sort(axis, "stable" if stable else None)
        return
    a[np.isnan(a)] = np.nan  # without a sign
    bits = a.view(np.int16)
    bits ^= bits >> 15 & 0x7fff  # the order of integers is now that of the numbers
    bits.sort(axis)
    bits ^= bits >> 15 & 0x7fff


def _declare(name: str, doc: str, indices: bool) -> MatOp:
    """Declare the operation that sorts; with `indices` it finds the order only."""
    def check(x: Input, out: Output, axis: int, descending: bool, stable: bool) -> None:
        wanted = _INDICES if indices else x.dtype
        if out.layout.shape != x.layout.shape or out.dtype != wanted:
            raise ShapeError(f"{name} gives shape {x.shape} and {wanted}, out has {out.shape} and "
                             f"{out.dtype}")
        as_axis(axis, x.ndim)

    def sort_by_numpy(x: Array, out: Array, axis: int, descending: bool, stable: bool) -> None:
        if indices or descending:
            out[...] = _in_order(x, axis, descending, stable, indices)
            return
        if x is not out:
            out[...] = x
        sort_array(out, axis, stable)

    def prepare(cuda: Engine, x: Mat, out: Mat, axis: int, descending: bool,
                stable: bool) -> Function:
        return cuda.prepare_sort(x, out, as_axis(axis, x.ndim), descending, indices)

    check.__name__, check.__doc__, check.__module__ = name, doc, __name__
    kernel = op(check, method="", by_form=True)
    kernel.result_of = lambda x, out, axis, descending, stable: (
        x.layout.shape, _INDICES if indices else x.dtype)
    kernel.on("array", bare=True)(sort_by_numpy)
    kernel.prepare("cuda", dtypes=ON_DEVICE, when=lambda x, out: (
        x.ndim <= DEVICE_RANK and max(x.shape, default=0) < _LONGEST and not overlap(x, out)))(
            prepare)
    return kernel


_sort = _declare("sort", "Write the elements of x in ascending or descending order along `axis`.",
                 False)
_argsort = _declare("argsort", "Write the indices that sort the elements of x along `axis`.", True)


def _in_tiles(operation: MatOp, by_runs: Function) -> Cutter:
    """Return the cutter of sorts, or sorted indices, which sorts runs of long lines `by_runs`."""
    sorting = cut_sorts.Sorting(
        sort=lambda x, out: _sort(x, out, 0, False, True),
        argsort=lambda x, out: _argsort(x, out, 0, False, True),
        # whose ascending order is the descending one
        opposite=lambda x: (ufuncs.invert if x.dtype.kind in "biu" else negative)(x),
        take=lambda x, indices, out: gather(x, indices, out, 0, (0,)), add=add)
    return cut_sorts.by_sorted_lines(operation, sorting, by_runs)


_sort.cut_by(made_later(lambda: _in_tiles(_sort, cut_sorts.sort_runs)))
_argsort.cut_by(made_later(lambda: _in_tiles(_argsort, cut_sorts.argsort_runs)))


def sort(x: Mat, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Mat:
    """Return the elements in order along `axis`; NaN is last."""
    if x.dtype.char in EXTENSIONS:
        wide = sort(x.astype(np.float32), axis, descending=descending, stable=stable)
        return wide.astype(x.dtype)
    if only_by_columns(x.layout):
        return new_transposed(sort(x.T, x.ndim - 1 - as_axis(axis, x.ndim), descending=descending,
                                   stable=stable))
    found: Mat | None = None if descending else sorted_along(x, axis, stable)
    return _sort.new((x, None, axis, descending, stable)) if found is None else found


def argsort(x: Mat, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Mat:
    """Return the indices that sort the elements along `axis`; those of NaN are last."""
    if x.dtype.char in EXTENSIONS:
        x = x.astype(np.float32)
    return _argsort.new((x, None, axis, descending, stable))


def sort_in_place(x: Mat, axis: int = -1, *, descending: bool = False,
                  stable: bool = False) -> Mat:
    """Sort the elements of `x` along `axis`; return x."""
    if has_kernels() or x.dtype.char in EXTENSIONS:
        return x.assign_(sort(x, axis, descending=descending))
    return _sort(x, x, axis, descending, stable)


# Searching


def _packed_vector(layout: Layout) -> bool:
    return layout.contiguous


def _on_device(operation: MatOp, prepare: Function) -> None:
    """Register the kernel of devices, which takes packed vectors."""
    operation.prepare("cuda", dtypes=ON_DEVICE, fits=_packed_vector, pack=True)(prepare)


@op(method="", by_form=True)
def search(a: Input, v: Input, out: Output, right: bool) -> None:
    """Write, for each element of v, how many elements of the sorted vector a come before it."""
    if a.ndim != 1 or a.dtype != v.dtype:
        raise ShapeError(f"searching requires a vector and elements of its dtype, got {a.label()} "
                         f"and {v.label()}")
    if out.layout.shape != v.layout.shape or out.dtype != _INDICES:
        raise ShapeError(f"searching gives shape {v.shape} and int64, out has {out.shape} and "
                         f"{out.dtype}")
    check_disjoint("searching", out, a, v)


# without room for the sorted vector, of which few elements are read, the host searches
search.cut_by(over(search, "_,...,...", or_by_host(search)))
search.result_of = lambda a, v, out, right: (v.layout.shape, _INDICES)


@search.on("array", bare=True)
def _search_by_numpy(a: Array, v: Array, out: Array, right: bool) -> None:
    out[...] = np.searchsorted(a, v, "right" if right else "left")


search.prepare("cuda", dtypes=ON_DEVICE, when=lambda a, v, out: v.ndim <= DEVICE_RANK)(
    lambda cuda, a, v, out, right: cuda.prepare_searchsorted(a, v, out, right))


def lexical_order(keys: Sequence[Mat], axis: int) -> Mat:
    """Return the indices that sort by the last key, then by the one before it, and so on."""
    order = argsort(keys[0], axis)
    for key in keys[1:]:
        by_key = argsort(_along(key, order, axis), axis)
        order = _along(order, by_key, axis)
    return order


def _along(x: Mat, indices: Mat, axis: int) -> Mat:
    """Return the elements of each line of `x` at indices, all in range."""
    out = new_like(x, indices.shape, x.dtype)
    return gather_along(x, indices, out, as_axis(axis, x.ndim)) if out.size else out


def searchsorted(a: Mat, v: Mat, *, right: bool = False) -> Mat:
    """Return the insertion points in the sorted vector `a` for the elements of `v`."""
    dtype = a.dtype if a.dtype == v.dtype else np.result_type(a.dtype, v.dtype)
    return search.new((a.astype(dtype, copy=False), v.astype(dtype, copy=False), None, right))


# Medians and quantiles of sorted lines


@op(method="", by_form=True)
def median_of_sorted(x: Input, out: Output) -> None:
    """Write the median of each sorted line along the last axis; NaN, which is last, of those that
    have one.
    """


median_of_sorted.result_of = lambda x, out: (
    x.layout.shape[:-1], x.dtype if x.dtype.kind == "f" else _FLOAT64)


@median_of_sorted.on("array")
def median_of_sorted_numpy(np: Engine, x: Array, out: Array) -> None:
    middle, length = x.shape[-1] // 2, x.shape[-1]
    found = high = x[..., middle]
    if length % 2 == 0:
        wide = np.float32 if x.dtype.char == "e" else out.dtype
        found = (x[..., middle - 1].astype(wide) + high.astype(wide)) / 2
    out[...] = np.where(x[..., -1] != x[..., -1], x[..., -1], found)


@op(method="", by_form=True)
def between_sorted(x: Input, low: Scalar, high: Scalar, share: Scalar, out: Output) -> None:
    """Write, for each sorted line along the last axis, the value at a share of the way from the
    element at `low` to that at `high`, computed from the nearer one; or NaN, as for medians.
    """


between_sorted.result_of = lambda x, low, high, share, out: (x.layout.shape[:-1], x.dtype)


@between_sorted.on("array")
def between_sorted_numpy(np: Engine, x: Array, low: float, high: float, share: float,
                         out: Array) -> None:
    a, b = x[..., int(low)], x[..., int(high)]
    found = a + (b - a) * share if share < 0.5 else b - (b - a) * (1 - share)
    out[...] = np.where(x[..., -1] != x[..., -1], x[..., -1], found)


median_of_sorted.cut_by(over(median_of_sorted, "..._,...", or_by_host(median_of_sorted)))
between_sorted.cut_by(over(between_sorted, "..._,...", or_by_host(between_sorted)))
median_of_sorted.prepare("cuda", dtypes=ON_DEVICE, when=lambda x, out: x.ndim <= DEVICE_RANK)(
    lambda cuda, x, out: cuda.prepare_between(x, out, True))
between_sorted.prepare("cuda", dtypes="fd", when=lambda x, out: x.ndim <= DEVICE_RANK)(
    lambda cuda, x, out: cuda.prepare_between(x, out, False))


# Counting


@op(method="", by_form=True)
def extent(x: Input, out: Output) -> None:
    """Write the least and the largest of the integers in the nonempty vector x."""
    _check_vectors("bincount", x, out)


extent.result_of = lambda x, out: ((2,), _INDICES)


@extent.on("array", bare=True)
def _extent_by_numpy(x: Array, out: Array) -> None:
    out[0], out[1] = x.min(), x.max()


extent.prepare("foreign", dtypes=_COMPILED, fits=_packed_vector, pack=True)(
    lambda cpu, x, out: cpu.prepare_extent(x))


extent.is_computed_whole("devices take the least and the largest of integers by reductions")


def limits_of(*columns: Mat) -> Array:
    """Return the least and the largest element of each Mat, which a device is waited for once."""
    found = [f(x).reshape(1) for x in columns for f in (reduce.min, reduce.max)]
    return concat(found).to_numpy().reshape(-1, 2)


def _extent_of(x: Mat) -> tuple[int, int]:
    """Return the least and the largest of integers; this waits for a device."""
    if computes_elsewhere(x):
        low, high = limits_of(x)[0].tolist()
    else:
        low, high = extent.new((x, None)).to_numpy().tolist()
    return low, high


def _bins_of(x: Mat, most: int) -> int:
    """Return the bins that integers need, `most` if that suffices; negative if one of them is."""
    largest_of_all = 1 if x.dtype.kind == "b" else np.iinfo(x.dtype).max
    if x.dtype.kind in "bu" and most > largest_of_all:
        return most
    if not computes_elsewhere(x):
        low, high = _extent_of(x.astype(_INDICES, copy=False))
    elif x.dtype.kind in "bu":
        low, high = 0, reduce.max(x).astype(_INDICES, copy=False)._size_at(0)
    else:
        least, largest = reduce.min(x), reduce.max(x)
        low = high = select.new((less(least, 0), least, largest, None))._size_at(0)
    return low if low < 0 else high + 1


@op(method="", by_form=True)
def count_bins(x: Input, out: Output) -> None:
    """Write how often each integer occurs in the vector x; all are below the length of out."""
    _check_vectors("bincount", x, out)


def _parts(size: int, per_element: int, budget: int) -> Iterator[slice]:
    """Yield parts of a vector that need at most `budget` bytes each."""
    if budget < per_element:
        raise TileTooLarge(per_element)
    length = budget // per_element
    for start in range(0, size, length):
        yield slice(start, min(start + length, size))


@count_bins.cut_by
def cut_count_bins(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut x; without room for the counts the host counts."""
    x, out = args
    rest = budget - 2 * out.nbytes
    if rest < x.element_size:
        yield plugin("ops.tiles.signatures").by_host(count_bins, args, kwargs)
        return
    for part in _parts(x.size, x.element_size, rest):
        yield Tile(partial(_count_part, x[part], out, part.start > 0), (x[part],), (out,))


def _count_part(x: Mat, out: Mat, adds: bool) -> None:
    found = new_like(out, out.shape, out.dtype) if adds else out
    count_bins(x, found)
    if adds:
        add(out, found, out)


@count_bins.on("array", bare=True)
def _count_by_numpy(x: Array, out: Array) -> None:
    out[...] = np.bincount(x, minlength=len(out))


count_bins.prepare("foreign", dtypes=_COMPILED, fits=_packed_vector, pack=True)(
    lambda cpu, x, out: cpu.prepare_count_bins(x, out))


_on_device(count_bins, lambda cuda, x, out: cuda.prepare_bincount(x, out))


@op(method="", by_form=True)
def count_weights(x: Input, order: Input, weights: Input, out: Output) -> None:
    """Write the sum of the weights of each integer in x, sorted by `order`, in their order."""
    _check_vectors("bincount", x, out, order, weights)


@count_weights.on("array", bare=True)
def _weights_by_numpy(x: Array, order: Array, weights: Array, out: Array) -> None:
    out[...] = np.bincount(x, weights, minlength=len(out))


_on_device(count_weights,
           lambda cuda, x, order, weights, out: cuda.prepare_weighted(x, weights, out))


def _check_vectors(name: str, *vectors: Mat) -> None:
    for x in vectors:
        if x.ndim != 1:
            raise ShapeError(f"{name} requires vectors, got {x.label()}")


def bincount(x: Mat, weights: Mat | None, minlength: int) -> Mat | None:
    """Return the counts of 0, 1, ..., or sums of their weights; None if some are negative."""
    bins = _bins_of(x, minlength) if x.size else 0
    if bins < 0:
        return None
    length, x = max(bins, minlength), x.astype(_INDICES, copy=False)
    return sums_of_bins(x, weights, length)


def sums_of_bins(x: Mat, weights: Mat | None, length: int) -> Mat:
    """Return the counts of so many integers, all there are, or the sums of their weights."""
    if weights is None:
        return count_bins(x, new_like(x, (length,), _INDICES))
    out = new_like(x, (length,), np.dtype(np.float64))
    return count_weights(x, argsort(x), weights.astype(out.dtype, copy=False), out)


# Different elements


@op(method="", by_form=True)
def firsts(x: Input, out: Output, equal_nan: bool) -> None:
    """Write 1 where the sorted vector x has another element than before, 0 else."""
    _check_vectors("unique", x, out)


firsts.result_of = lambda x, out, equal_nan: (x.layout.shape, _INDICES)


@firsts.cut_by
def cut_firsts(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut x; each part sees the element before it."""
    x, out, equal_nan = args
    item = x.element_size + 2 * out.element_size
    for part in _parts(x.size, 2 * item, budget):
        seen = x[max(0, part.start - 1):part.stop]
        yield Tile(partial(_firsts_of_part, seen, out[part], equal_nan), (seen,), (out[part],))


def _firsts_of_part(seen: Mat, out: Mat, equal_nan: bool) -> None:
    if seen.size == out.size:
        firsts(seen, out, equal_nan)
    else:
        assign(firsts.new((seen, None, equal_nan))[1:], out)


@firsts.on("array", bare=True)
def _firsts_by_numpy(x: Array, out: Array, equal_nan: bool) -> None:
    out[:1] = 1
    differs = x[1:] != x[:-1]
    if equal_nan and x.dtype.kind not in "biu":
        differs &= (x[1:] == x[1:]) | (x[:-1] == x[:-1])
    out[1:] = differs


_on_device(firsts, lambda cuda, x, out, equal_nan: cuda.prepare_firsts(x, equal_nan))


@op(method="", by_form=True)
def place(x: Input, ranks: Input, out: Output) -> None:
    """Write the first element of each rank above 0; ranks never decrease, and begin with 0 or 1."""
    _check_vectors("unique", x, ranks, out)


@place.cut_by
def cut_place(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut x; each part has the ranks that follow."""
    x, ranks, out = args
    for part in _parts(x.size, 2 * x.element_size + 2 * ranks.element_size, budget):
        yield Tile(partial(_place_part, x, ranks, out, part), (x[part], ranks[part]))


def _place_part(x: Mat, ranks: Mat, out: Mat, part: slice) -> None:
    before = ranks._size_at(part.start - 1) if part.start else 0
    count = ranks._size_at(part.stop - 1) - before
    if count:
        seen = new_like(ranks, (part.stop - part.start,), ranks.dtype)
        subtract(ranks[part], before, seen)
        place(x[part], seen, out[before:before + count])


@place.on("array", bare=True)
def _place_by_numpy(x: Array, ranks: Array, out: Array) -> None:
    out[...] = x[np.diff(ranks, prepend=0) != 0]


_on_device(place, lambda cuda, x, ranks, out: cuda.prepare_placed(x, out))


@op(method="", by_form=True)
def unsort(order: Input, ranks: Input, out: Output) -> None:
    """Write the ranks, counted from 0, where elements were before `order` sorted them."""
    _check_vectors("unique", order, ranks, out)


unsort.result_of = lambda order, ranks, out: (order.layout.shape, _INDICES)


@unsort.cut_by
def cut_unsort(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Scatter parts of the ranks; the scatters have tiles of their own."""
    order, ranks, out = args
    yield Tile(lambda: fill(0, out))
    for part in _parts(order.size, 3 * _INDICES.itemsize, budget):
        yield Tile(partial(_unsort_part, order[part], ranks[part], out),
                   (order[part], ranks[part]))


def _unsort_part(order: Mat, ranks: Mat, out: Mat) -> None:
    scatter(order, subtract(ranks, 1), out, 0, (0,), True)


@unsort.on("array", bare=True)
def _unsort_by_numpy(order: Array, ranks: Array, out: Array) -> None:
    out[order] = ranks - 1


_on_device(unsort, lambda cuda, order, ranks, out: cuda.prepare_inverse_order(order, out))


class Different:
    """The different elements of a vector, computed on its device but for their number."""

    def __init__(self, x: Mat, equal_nan: bool, ordered: bool) -> None:
        self.length = x.size
        self.sorted: Mat = sort(x)
        self.order: Mat | None = argsort(x) if ordered else None
        self.ranks: Mat = scan.cumsum(firsts.new((self.sorted, None, equal_nan)))
        self.count: int = self.ranks._size_at(-1) if x.size else 0

    def _placed(self, x: Mat) -> Mat:
        return place(x, self.ranks, new_like(x, (self.count,), x.dtype))

    def values(self) -> Mat:
        """Return them in ascending order."""
        return self._placed(self.sorted)

    def indices(self) -> Mat:
        """Return where each occurs first."""
        assert self.order is not None
        return self._placed(self.order)

    def inverse(self, shape: Ints) -> Mat:
        """Return the index of each element among the values, in this shape."""
        found: Mat = unsort.new((self.order, self.ranks, None))
        return found.reshape(shape)

    def counts(self) -> Mat:
        """Return how often each occurs."""
        found: Mat = count_bins(self.ranks, new_like(self.ranks, (self.count + 1,), _INDICES))
        return found[1:].copy()


class Counted:
    """The different integers of a vector, close together, with their counts."""

    def __init__(self, x: Mat, low: int, counts: Mat, dtype: DType) -> None:
        self.x = x  # from which `low` is subtracted
        self.dtype = dtype
        self.low = low
        self._every = counts
        self._found: Mat = not_equal(counts, 0)
        self._at: Mat = positions_of(self._found)

    @classmethod
    def of(cls, x: Mat) -> Counted | None:
        """Return those of a nonempty `x`; None if their range exceeds its size."""
        moved = x.astype(_INDICES, copy=False)
        low, high = _extent_of(moved)
        if high - low >= x.size:
            return None
        if low < 0 or high >= x.size:
            moved, high = subtract(moved, low), high - low
        else:
            low = 0
        counts: Mat = count_bins(moved, new_like(x, (high + 1,), _INDICES))
        return cls(moved, low, counts, x.dtype)

    def values(self) -> Mat:
        """Return them in ascending order."""
        found: Mat = add(self._at, self.low) if self.low else self._at
        return found.astype(self.dtype, copy=False)

    def inverse(self, shape: Ints) -> Mat:
        """Return the index of each element among the values, in this shape."""
        ranks = subtract(scan.cumsum(self._found.astype(_INDICES, copy=False)), 1)
        return ranks[self.x].reshape(shape)

    def counts(self) -> Mat:
        """Return how often each occurs."""
        return self._every[self._at]


def histogram_of(x: Mat, edges: Sequence[float] | Array) -> Mat:
    """Return how many elements are in each bin; the last one contains its upper edge."""
    at = adopted(np.asarray(edges))
    flat = sort(x.contiguous().reshape(-1))
    starts, end = searchsorted(flat, at[:-1]), searchsorted(flat, at[-1:], right=True)
    return scan.differences([starts, end], 1, 0)
