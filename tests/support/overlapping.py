"""Pairs of views of one storage, and operations that read one of them and write the other.

What is right is what NumPy computes from copies of both.
"""

from math import prod
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

import mat

SIZE = 120  # elements of the storage
MOST = {1: 12, 2: 5, 3: 3}  # of the lengths of axes


class Sight(NamedTuple):
    """A view: where it begins, the lengths of its axes in the order of the storage, the steps along
    them, and the order in which they are seen.
    """

    start: int
    lengths: tuple
    steps: tuple
    order: tuple

    def of(self, storage):
        """Return the view of a Mat or an array with one axis."""
        window = [n * abs(step) for n, step in zip(self.lengths, self.steps, strict=True)]
        seen = storage[self.start:self.start + prod(window)].reshape(window)
        seen = seen[(*(slice(None, None, step) for step in self.steps), ...)]  # never an element
        return (seen.permute if isinstance(seen, mat.Mat) else seen.transpose)(self.order)

    def places(self):
        """Return the indices of the elements in the storage."""
        return self.of(np.arange(SIZE))


@st.composite
def sights(draw, shape):
    """Draw a view of that shape."""
    order = draw(st.permutations(range(len(shape))))
    lengths = [0] * len(shape)
    for n, k in zip(shape, order, strict=True):
        lengths[k] = n
    steps, room = [], SIZE // max(1, prod(shape))
    for _ in shape:
        step = draw(st.integers(1, min(room, 8)))
        room //= step
        steps.append(step * draw(st.sampled_from([1, 1, -1])))
    window = prod(n * abs(step) for n, step in zip(lengths, steps, strict=True))
    # most of them in the middle, where they meet
    start = draw(st.integers(0, SIZE - window) | st.just((SIZE - window) // 2))
    return Sight(start, tuple(lengths), tuple(steps), tuple(order))


@st.composite
def pairs(draw, broadcast=True):
    """Draw a view to write, and one to read that broadcasts to its shape, most often equal to
    it.
    """
    ndim = draw(st.sampled_from([1, 1, 2, 2, 3]))
    shape = tuple(draw(st.lists(st.integers(1, MOST[ndim]), min_size=ndim, max_size=ndim)))
    source = shape
    if broadcast and draw(st.integers(0, 3)) == 0:
        source = tuple(draw(st.sampled_from([1, n])) for n in shape[draw(st.integers(0, ndim)):])
    return draw(sights(shape)), draw(sights(source))


def _set(out, x):
    out[...] = x


def _add_in_place(out, x):
    out += x


def _subtract_in_place(out, x):
    out -= x


def _set_in_reverse(out, x):
    out[np.arange(len(out))[::-1]] = x


def _set_where_true(out, x):
    out[np.ones(len(out), bool)] = x


# what is called with the written view and the other one, and what the written one is then
OPERATIONS = {
    "assign_": (lambda out, x: out.assign_(x), lambda out, x: x),
    "x[...] =": (_set, lambda out, x: x),
    "copyto": (np.copyto, lambda out, x: x),
    "assign_ of a view": (lambda out, x: out.T.assign_(x.broadcast_to(out.shape).T),
                          lambda out, x: x),
    "+=": (_add_in_place, lambda out, x: out + x),
    "-=": (_subtract_in_place, lambda out, x: out - x),
    "add": (lambda out, x: mat.add(x, 2, out=out), lambda out, x: x + 2),
    "subtract": (lambda out, x: mat.subtract(x, out, out=out), lambda out, x: x - out),
    "multiply": (lambda out, x: mat.multiply(x, x, out=out), lambda out, x: x * x),
    "np.subtract": (lambda out, x: np.subtract(out, x, out=out), lambda out, x: out - x),
    "negative": (lambda out, x: mat.negative(x, out=out), lambda out, x: -x),
    "square": (lambda out, x: mat.square(x, out=out), lambda out, x: x * x),
    "less_": (lambda out, x: out.less_(x), lambda out, x: out < x),
    "maximum": (lambda out, x: mat.maximum(x, out, out=out), np.maximum),
    "clip": (lambda out, x: np.clip(x, 20, 50, out=out), lambda out, x: np.clip(x, 20, 50)),
    "clip by Mats": (lambda out, x: np.clip(out, x, 90, out=out),
                     lambda out, x: np.clip(out, x, 90)),
    "x[integers] =": (_set_in_reverse,
                      lambda out, x: np.broadcast_to(x, out.shape)[::-1]),
    "x[bools] =": (_set_where_true, lambda out, x: x),
    "cumsum": (lambda out, x: np.cumsum(x.broadcast_to(out.shape), 0, out=out),
               lambda out, x: np.cumsum(np.broadcast_to(x, out.shape), 0)),
}
# the same of operands of one shape
OF_ONE_SHAPE = {
    "geem": (lambda out, x: mat.geem(2, x, out, 3, out), lambda out, x: 2 * x * out + 3 * out),
    "add_sign": (lambda out, x: mat.add_sign(2, x, 1, out), lambda out, x: 2 * np.sign(x) + out),
    "sum": (lambda out, x: mat.sum(x.expand_dims(0), 0, out=out), lambda out, x: x),
    "concat": (lambda out, x: mat.concat([x], out=out), lambda out, x: x),
    "concat of parts": (lambda out, x: np.concatenate([x[1:], x[:1]], out=out),
                        lambda out, x: np.roll(x, -1, 0)),
    "stack": (lambda out, x: np.stack([x[k, ...] for k in range(len(x))][::-1], out=out),
              lambda out, x: x[::-1]),
    "replace_": (lambda out, x: out.replace_(x), lambda out, x: x),
    "map_into": (lambda out, x: mat.map_into(out, lambda a: a + 1, x), lambda out, x: x + 1),
}
# these are refused where the views share elements
REFUSED = {
    "transpose": (lambda out, x: mat.transpose(x.T, out=out), lambda out, x: x),
    "axpy": (lambda out, x: mat.axpy(2, x, out), lambda out, x: 2 * x + out),
    "copy_": (lambda out, x: out.copy_(x), lambda out, x: x),
}


def numbers(rng, dtype):
    """Return the elements of a storage, all of them different."""
    return (rng.permutation(SIZE) + 1).astype(dtype)


def wanted(before, out, x, reference):
    """Return the storage after an operation, computed from copies."""
    after = before.copy()
    view = out.of(after)
    view[...] = reference(out.of(before).copy(), x.of(before).copy())
    return after


def share(out, x):
    """Return whether both views see an element."""
    return bool(np.intersect1d(out.places(), x.places()).size)


def same(out, x):
    """Return whether both views see the same elements one by one."""
    return np.array_equal(out.places(), x.places())


def check(out, x, dtype, rng):
    """Compare each operation on both views of one Mat with NumPy's on copies."""
    operations = OPERATIONS | (OF_ONE_SHAPE if out.places().shape == x.places().shape else {})
    for name, (call, reference) in operations.items():
        before = numbers(rng, dtype)
        storage = mat.array(before, dtype=dtype)
        call(out.of(storage), x.of(storage))
        np.testing.assert_array_equal(storage.to_numpy(), wanted(before, out, x, reference), name)
