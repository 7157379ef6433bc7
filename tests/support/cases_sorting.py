"""Cases of sorting, searching and counting."""

import numpy as np

from .case import REAL, case
from .layouts import NUMPY_DTYPES, numbers

SHAPES = ((5,), (1,), (3, 4), (2, 3, 2), (0, 3), (3, 0), (0,))


def with_ties(rng, shape, dtype):
    """Elements many of which are equal, or equal but for a sign; some are not numbers."""
    x = np.asarray(numbers(rng, shape, dtype))
    if x.dtype.kind in "fc":
        x = np.asarray(x.round()).astype(dtype)
        x[rng.random(shape) < 0.2] = np.nan
        x[rng.random(shape) < 0.2] = -0.0
    return x


def in_order(x, axis, descending, indices):
    """The elements, or their indices, in stable order; NaN is last, if descending too."""
    if not descending:
        return (np.argsort if indices else np.sort)(x, axis, kind="stable")
    order = np.empty(x.shape, np.int64)
    if x.size:
        order[...] = np.apply_along_axis(_descending, axis, x)
    return order if indices else np.take_along_axis(x, order, axis)


def _descending(line):
    """The indices of a line's elements in descending order, by Python's stable sort."""
    def key(i):
        parts = (float(line[i].real), float(line[i].imag)) if line.dtype.kind == "c" else (
            line[i].item(),)
        return ([part != part for part in parts],
                [0 if part != part else -part for part in parts])

    return sorted(range(len(line)), key=key)


def sorting(name, indices):
    def make(rng, dtype):
        for shape in SHAPES:
            for axis in (*range(len(shape)), -1):
                x = with_ties(rng, shape, dtype)
                out = np.empty(shape, np.int64 if indices else dtype)
                yield (x, out, axis, bool(rng.integers(2)), True), {}
    case(f"sorting.{name}", lambda x, out, axis, descending, stable: in_order(
        x, axis, descending, indices), NUMPY_DTYPES)(make)


sorting("sort", False)
sorting("argsort", True)


@case("sorting.search", lambda a, v, out, right: np.searchsorted(
    a, v, "right" if right else "left"), NUMPY_DTYPES)
def _(rng, dtype):
    for length, shape in ((7, (5,)), (0, (3,)), (9, (2, 3)), (4, ())):
        a = np.sort(with_ties(rng, (length,), dtype))
        for right in (False, True):
            yield (a, with_ties(rng, shape, dtype), np.empty(shape, np.int64), right), {}


LINES = ((5,), (6,), (1,), (3, 4), (2, 3, 5))


@case("sorting.median_of_sorted", lambda x, out: np.median(x, -1).astype(out.dtype),
      [d for d in NUMPY_DTYPES if np.dtype(d).kind in "iuf"])
def _(rng, dtype):
    for shape in LINES:
        x = np.sort(with_ties(rng, shape, dtype))
        yield (x, np.empty(shape[:-1], dtype if x.dtype.kind == "f" else float)), {}


def between(x, low, high, share, out):
    a, b, last = x[..., int(low)], x[..., int(high)], x[..., -1]
    found = np.where(share >= 0.5, b - (b - a) * x.dtype.type(1 - share),
                     a + (b - a) * x.dtype.type(share))
    return np.where(np.isnan(last), last, found)


@case("sorting.between_sorted", between, ("float32", "float64"))
def _(rng, dtype):
    for shape in LINES:
        last = shape[-1] - 1
        for low, share in ((0, 0.0), (last // 2, 0.25), (last // 2, 0.75), (last, 0.5)):
            yield (np.sort(with_ties(rng, shape, dtype)), float(low), float(min(low + 1, last)),
                   share, np.empty(shape[:-1], dtype)), {}


def lengths(rng):
    return [rng.integers(0, 6, n) for n in (1, 7, 40)]


@case("sorting.count_bins", lambda x, out: np.bincount(x, minlength=len(out)), ("int64",))
def _(rng, dtype):
    for x in lengths(rng):
        yield (x, np.empty(9, np.int64)), {}


@case("sorting.extent", lambda x, out: np.array([x.min(), x.max()]), ("int64",))
def _(rng, dtype):
    for n in (1, 7, 1000):
        yield (rng.integers(-99, 99, n).astype(dtype), np.empty(2, np.int64)), {}


@case("sorting.count_weights", lambda x, order, weights, out: np.bincount(
    x, weights, minlength=len(out)), ("int64",))
def _(rng, dtype):
    for x in lengths(rng):
        weights = rng.standard_normal(x.size)
        yield (x, np.argsort(x, kind="stable"), weights, np.empty(9)), {}


def firsts(x, out, equal_nan):
    _, start = np.unique(x, return_index=True, equal_nan=equal_nan)
    found = np.zeros(x.shape, np.int64)
    found[start] = 1
    return found


@case("sorting.firsts", firsts, REAL)
def _(rng, dtype):
    for length in (1, 7, 30):
        x = np.sort(with_ties(rng, (length,), dtype), kind="stable")
        for equal_nan in (False, True):
            yield (x, np.empty(length, np.int64), equal_nan), {}


def ranked(rng, length):
    return np.cumsum(np.concatenate([[1], rng.integers(0, 2, length - 1)]))


@case("sorting.place", lambda x, ranks, out: x[np.unique(ranks, return_index=True)[1]],
      NUMPY_DTYPES)
def _(rng, dtype):
    for length in (1, 7, 30):
        ranks = ranked(rng, length)
        yield (numbers(rng, (length,), dtype), ranks, np.empty(ranks[-1], dtype)), {}


@case("sorting.unsort", lambda order, ranks, out: (ranks - 1)[np.argsort(order)], ("int64",))
def _(rng, dtype):
    for length in (1, 7, 30):
        yield (rng.permutation(length), ranked(rng, length), np.empty(length, np.int64)), {}
