"""Cases of what integers and conditions select."""

import numpy as np

from .case import case
from .layouts import NUMPY_DTYPES, numbers


def copied(x):
    return np.array(x, copy=True)


def gathered(x, at, out, place, chosen):
    """The items at positions along the chosen axes, which are leading ones here."""
    lengths = [x.shape[k] for k in chosen]
    items = x.reshape(int(np.prod(lengths)), *x.shape[len(chosen):])
    return np.moveaxis(items[at], range(at.ndim), range(place, place + at.ndim))


@case("gathering.gather", gathered, NUMPY_DTYPES)
def gather_samples(rng, dtype):
    for shape, chosen, place in (((5,), (0,), 0), ((4, 3), (0,), 0), ((4, 3), (0,), 1),
                                 ((4, 3, 2), (0, 1), 0), ((3, 2), (0, 1), 0)):
        most = int(np.prod([shape[k] for k in chosen]))
        for of_at in ((3,), (2, 2), (0,)):
            # of several axes the caller makes no position negative
            low = -most if len(chosen) == 1 else 0
            x, at = numbers(rng, shape, dtype), rng.integers(low, most, of_at)
            out = np.empty(gathered(x, at, None, place, chosen).shape, dtype)
            yield (x, at, out, place, chosen), {}


@case("gathering.gather_along", lambda x, at, out, axis: np.take_along_axis(x, at, axis),
      NUMPY_DTYPES)
def gather_along_samples(rng, dtype):
    for shape, of_at, axis in (((5,), (3,), 0), ((4, 3), (2, 3), 0), ((4, 3), (4, 5), 1)):
        x, at = numbers(rng, shape, dtype), rng.integers(0, shape[axis], of_at)
        yield (x, at, np.empty(of_at, dtype), axis), {}


@case("gathering.pick", lambda mask, starts, x, out: x[mask], NUMPY_DTYPES)
def pick_samples(rng, dtype):
    for shape, rank in (((5,), 1), ((5000,), 1), ((4, 3), 1), ((4, 3), 2), ((3, 2, 2), 1)):
        x, mask = numbers(rng, shape, dtype), rng.random(shape[:rank]) < 0.5
        tiles = np.add.reduceat(mask.reshape(-1), np.arange(0, mask.size, 4096), dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(tiles)])
        yield (mask, starts, x, np.empty(x[mask].shape, dtype)), {}


@case("joining.join_two", lambda a, b, out, axis: np.concatenate([a, b], axis), NUMPY_DTYPES)
def join_two_samples(rng, dtype):
    for shape, other, axis in (((5,), (3,), 0), ((4, 3), (1, 3), 0), ((4, 3), (4, 5), 1),
                               ((2, 3, 4), (2, 0, 4), 1)):
        a, b = numbers(rng, shape, dtype), numbers(rng, other, dtype)
        yield (a, b, np.empty(np.concatenate([a, b], axis).shape, dtype), axis), {}


def scattered(at, source, x, place, chosen, unique):
    found = copied(x)
    lengths = [x.shape[k] for k in chosen]
    items = found.reshape(int(np.prod(lengths)), *x.shape[len(chosen):])
    values = np.moveaxis(source, range(place, place + at.ndim), range(at.ndim))
    for index in np.ndindex(at.shape):
        items[at[index]] = values[index]
    return found


@case("gathering.scatter", scattered, NUMPY_DTYPES)
def scatter_samples(rng, dtype):
    for shape, chosen, place in (((5,), (0,), 0), ((4, 3), (0,), 1), ((3, 2), (0, 1), 0)):
        most = int(np.prod([shape[k] for k in chosen]))
        for unique in (True, False):
            x = numbers(rng, shape, dtype)
            at = rng.permutation(most)[:3] if unique else rng.integers(0, most, 6)
            source = numbers(rng, gathered(x, at, None, place, chosen).shape, dtype)
            yield (at, source, x, place, chosen, unique), {}


def accumulated(at, order, source, x, rule, chosen):
    """The items with others added, or the greatest of both, one after another."""
    found = copied(x)
    items = found.reshape(-1, *x.shape[len(chosen):])  # a view, as the chosen axes are leading ones
    for k, position in enumerate(at):
        items[position] = getattr(np, rule)(items[position], source[k])
    return found


@case("accumulate_at.accumulate_at", accumulated, NUMPY_DTYPES)
def accumulate_samples(rng, dtype):
    for shape, chosen in (((5,), (0,)), ((4, 3), (0,)), ((3, 2, 2), (0, 1))):
        at = rng.integers(0, np.prod(shape[:len(chosen)]), 9)
        source = numbers(rng, (9, *shape[len(chosen):]), dtype)
        for rule in ("add", "maximum"):
            x = numbers(rng, shape, dtype)
            yield (at, np.argsort(at, kind="stable"), source, x, rule, chosen), {}


@case("selecting.select", lambda condition, a, b, out: np.where(condition, a, b), NUMPY_DTYPES)
def select_samples(rng, dtype):
    for shape in ((5,), (3, 4), (0,), ()):
        a, b = numbers(rng, shape, dtype), numbers(rng, shape, dtype)
        yield (np.asarray(rng.random(shape) < 0.5), a, b, np.empty(shape, dtype)), {}
    a, b = numbers(rng, (3, 1), dtype), numbers(rng, (4,), dtype)
    yield (rng.random((3, 4)) < 0.5, a, b, np.empty((3, 4), dtype)), {}
