"""Compiled reductions: against NumPy and exact sums, over layouts and sizes that take each of their
ways; any threads.
"""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.cpu import reduce as kernels
from mat.layout.merged_axes import ReductionAxis, form_of

from ..support import needs

pytestmark = needs.native

KINDS = ("float32", "float64")
FOLDS = ("max", "min", "argmax", "argmin")


def eps(dtype):
    return float(np.finfo(dtype).eps)


def exact(x, axes):
    """Sums over `axes` as exact as doubles are, and those of the absolute values."""
    kept = [k for k in range(x.ndim) if k not in axes]
    lines = x.astype(np.float64).transpose([*kept, *axes]).reshape([*(x.shape[k] for k in kept),
                                                                    -1])
    shape = lines.shape[:-1]
    flat = lines.reshape(-1, lines.shape[-1])
    sums = [math.fsum(line.tolist()) for line in flat]
    return np.reshape(sums, shape), np.reshape(np.abs(flat).sum(1), shape)


def check_sum(x, view, axis):
    """Within the bound that native/cpu/reduce_sum_inline.h gives; means too."""
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
    wanted, size = exact(x, axes)
    bound = 21 * eps(x.dtype) / 2 * size + eps(x.dtype) * np.abs(wanted)
    got = mat.sum(view, axis)
    assert "foreign" in got.facets
    assert np.all(np.abs(got.to_numpy() - wanted) <= bound)
    count = x.size // max(wanted.size, 1)
    assert np.all(np.abs(mat.mean(view, axis).to_numpy() * count - wanted) <= bound + 2
                  * eps(x.dtype) * np.abs(wanted))


def views(rng, shape, dtype):
    """Matrices of this shape and type, with the same elements as arrays: packed, transposed, with
    gaps, backwards, repeated.
    """
    a = rng.standard_normal(shape).astype(dtype)
    yield a, mat.array(a)
    b = rng.standard_normal(shape[::-1]).astype(dtype)
    yield b.T, mat.array(b).T
    c = rng.standard_normal([2 * n + 3 for n in shape]).astype(dtype)
    cut = tuple(slice(1, 1 + 2 * n, 2) for n in shape)
    yield c[cut], mat.array(c)[cut]
    back = (slice(None, None, -1), *[slice(None)] * (len(shape) - 1))
    yield a[back], mat.array(a)[back]
    back = (*[slice(None)] * (len(shape) - 1), slice(None, None, -1))
    yield a[back], mat.array(a)[back]
    one = rng.standard_normal((*shape[:-1], 1)).astype(dtype)
    yield np.broadcast_to(one, shape), mat.array(one).broadcast_to(shape)
    row = rng.standard_normal(shape[-1:]).astype(dtype)
    yield np.broadcast_to(row, shape), mat.array(row).broadcast_to(shape)


SHAPES = [(1,), (7,), (31,), (32,), (33,), (127,), (5000,), (100_003,), (3, 5), (70, 65), (5, 1100),
          (1100, 5), (700, 130),
          (2, 30_011), (30_011, 2), (3, 4, 5), (40, 3, 70), (3, 70, 9, 11), (2, 1, 3, 1, 2)]


@pytest.mark.host
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.sample(7)
def test_any_axes_of_any_layout(rng, shape, dtype):
    every = [None, *(t for k in range(len(shape) + 1)
                     for t in itertools.combinations(range(len(shape)), k))]
    for a, view in views(rng, shape, dtype):
        assert_array_equal(view.to_numpy(), a)
        for axis in every:
            check_sum(a, view, axis)
            for name in ("max", "min"):
                assert_array_equal(getattr(mat, name)(view, axis).to_numpy(),
                                   getattr(np, name)(a, axis=axis))
        for axis in (None, *range(len(shape))):
            for name in ("argmax", "argmin"):
                assert_array_equal(getattr(mat, name)(view, axis).to_numpy(),
                                   getattr(np, name)(a, axis=axis))


@pytest.mark.host
@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999, 1])
@pytest.mark.parametrize("shape", [(1,), (63,), (64,), (5000,), (100_003,), (70, 65), (5, 1100),
                                   (2, 30_011), (30_011, 2), (3, 70, 9, 11)], ids=str)
def test_places_of_bools(rng, shape, share):
    a = rng.random(shape) < share
    x = mat.array(a)
    for array, view in ((a, x), (a.T, x.T), (a[::-1], x[::-1]), (a[..., ::-1], x[..., ::-1])):
        for axis in (None, *range(a.ndim)):
            for name in ("argmax", "argmin"):
                found = getattr(view, name)(axis)
                assert_array_equal(found.to_numpy(), getattr(np, name)(array, axis=axis))
                assert "foreign" in found.facets


def test_every_byte_but_0_is_true():
    a = np.array([0, 2, 1, 255, 0], np.uint8)
    for b in (a, np.tile(a, 30), np.tile(a[1:4], 40)):
        x, b = mat.from_numpy(b.view(bool)), b.view(bool)
        assert [x.argmax().item(), x.argmin().item()] == [b.argmax(), b.argmin()]


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(5,), (1000,), (100_000,), (3, 40), (40, 3), (500, 70)], ids=str)
def test_products(rng, shape, dtype):
    for a, view in views(rng, shape, dtype):
        view = mat.exp(view / a.size)
        a = view.to_numpy()
        for axis in (None, *range(len(shape))):
            wanted = np.prod(a.astype(np.longdouble), axis=axis)
            count = a.size // wanted.size
            assert np.all(np.abs(mat.prod(view, axis).to_numpy() - wanted) <= count * 2 * eps(dtype)
                          * wanted)


@pytest.mark.parametrize("shape", [(9,), (3000,), (200_000,), (40, 30), (30, 1500), (2000, 30)],
                         ids=str)
def test_largest_and_smallest_of_integers(rng, shape):
    for high in (3, 2**62):
        a = rng.integers(-high, high, shape)
        for name in FOLDS:
            for axis in (None, *range(len(shape))):
                assert_array_equal(getattr(mat, name)(mat.array(a), axis).to_numpy(),
                                   getattr(np, name)(a, axis=axis))


# Accuracy


@pytest.mark.host
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(300_000,), (60_000, 7), (7, 60_000), (20_000, 40)], ids=str)
@pytest.mark.sample(4)
def test_sums_of_what_nearly_cancels(rng, shape, dtype):
    """Numbers of all sizes, and then the same with other signs, so that nearly nothing is left."""
    half = rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 7, shape)
    a = np.concatenate([half, -half[::-1] * (1 + rng.standard_normal(shape) * 1e-3)]).astype(dtype)
    for axis in (None, *range(a.ndim)):
        check_sum(a, mat.array(a), axis)


@pytest.mark.parametrize("dtype", KINDS)
def test_long_sums_lose_nothing(dtype):
    """Where adding one after the other stands still, or drifts away: 0.1 a million times, along
    either axis.
    """
    for shape, axis in (((1_000_000,), 0), ((1_000_000, 3), 0), ((3, 1_000_000), 1),
                        ((500_000, 2, 2), (0, 2))):
        a = np.full(shape, 0.1, dtype)
        wanted = float(np.asarray(0.1, dtype)) * a.size / mat.sum(mat.array(a), axis).size
        assert np.all(np.abs(mat.sum(mat.array(a), axis).to_numpy() / wanted - 1) <= 12
                      * eps(dtype))


def test_as_good_as_pairwise(rng):
    """NumPy's sums of rows are pairwise; those of columns, which it adds one after the other, are
    worse.
    """
    a = rng.random((1000, 4000)).astype("float32")
    wanted = a.astype(np.float64).sum(1), a.astype(np.float64).sum(0)
    for axis, w in zip((1, 0), wanted, strict=True):
        ours = np.abs(mat.sum(mat.array(a), axis).to_numpy() - w).max()
        assert ours <= np.abs(a.sum(axis) - w).max()


@pytest.mark.parametrize("dtype", KINDS)
def test_adjacent_elements_are_added_in_the_order_of_others(rng, dtype):
    """The former have functions of their own on some processors; the bits are the same."""
    for n in (15, 16, 17, 31, 33, 63, 64, 100, 511, 512, 543, 544, 1023, 1024, 1087, 1088, 5000,
              70_001):
        a = (rng.standard_normal((3, n)) * 10.0 ** rng.integers(-9, 10, (3, n))).astype(dtype)
        a[2, rng.integers(n)] = np.inf
        apart = mat.array(np.repeat(a, 2, axis=1))[:, ::2]
        assert mat.array(a).sum(1).to_numpy().tobytes() == apart.sum(1).to_numpy().tobytes()


# What is not a number, infinite, or a signed zero


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(3,), (70,), (3000,), (200_000,), (5, 6), (90, 80), (5000, 4),
                                   (4, 5000)], ids=str)
def test_not_a_number_wins(rng, shape, dtype):
    for _ in range(6):
        a = rng.standard_normal(shape).astype(dtype)
        for at in rng.integers(0, a.size, rng.integers(1, 4)):
            a.flat[at] = np.nan if rng.random() < 0.7 else np.inf
        view = mat.array(a)
        for axis in (None, *range(a.ndim)):
            for name in FOLDS:
                assert_array_equal(getattr(mat, name)(view, axis).to_numpy(),
                                   getattr(np, name)(a, axis=axis))
            finite = np.isfinite(np.sum(a, axis=axis))
            with np.errstate(invalid="ignore"):
                assert_array_equal(np.isfinite(mat.sum(view, axis).to_numpy()), finite)
            assert_array_equal(np.isnan(mat.sum(view, axis).to_numpy()),
                               np.isnan(np.sum(a, axis=axis)))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("n", [1, 5, 64, 1000, 100_000])
def test_infinities_and_zeros(dtype, n):
    inf, top = np.inf, np.finfo(dtype).max
    for shape in ((n,), (n, 3), (3, n)):
        axis = 1 if shape == (3, n) else 0
        assert np.all(mat.full(shape, inf, dtype=dtype).sum(axis).to_numpy() == inf)
        assert np.all(mat.full(shape, -inf, dtype=dtype).max(axis).to_numpy() == -inf)
        assert np.all(mat.full(shape, inf, dtype=dtype).min(axis).to_numpy() == inf)
        assert np.all(mat.full(shape, -inf, dtype=dtype).argmax(axis).to_numpy() == 0)
        if n > 1:
            assert np.all(mat.full(shape, top, dtype=dtype).sum(axis).to_numpy() == inf)
        assert not np.any(np.signbit(mat.full(shape, -0.0, dtype=dtype).sum(axis).to_numpy()))
        zeros = np.zeros(shape, dtype)
        zeros[(-1,) if axis == 0 else (slice(None), -1)] = -0.0
        assert_array_equal(mat.array(zeros).argmin(axis).to_numpy(), zeros.argmin(axis))
        assert_array_equal(mat.array(-zeros).argmax(axis).to_numpy(), zeros.argmin(axis))


def test_the_first_of_equals_is_found(rng):
    for shape in ((50,), (5000,), (300_000,), (3000, 20), (20, 3000)):
        a = rng.integers(0, 3, shape).astype("float32")
        for axis in (None, *range(a.ndim)):
            for name in ("argmax", "argmin"):
                assert_array_equal(getattr(mat, name)(mat.array(a), axis).to_numpy(),
                                   getattr(np, name)(a, axis=axis))


@pytest.mark.parametrize("dtype", [*KINDS, "int64"])
@pytest.mark.parametrize("n", [63, 2047, 2049, 5000, 70_001])
def test_places_in_every_block_and_part(dtype, n):
    values = (100, -100) if dtype == "int64" else (100, -100, np.nan, -np.inf)
    for at in range(0, n, n // 37):
        for sign in (1, -1, 0):
            a = (sign * np.arange(n) // (1 + n / 60)).astype(dtype)
            for value in values:
                a[at] = a[at // 2] = value
                for name in ("argmax", "argmin"):
                    assert getattr(mat, name)(mat.array(a)) == getattr(np, name)(a)


@pytest.mark.parametrize("dtype", [*KINDS, "int64"])
@pytest.mark.parametrize("n", [1023, 1024, 1025, 1087, 5000])
def test_extremes_of_many(rng, dtype, n):
    """They are found as if all were numbers, and again if the sum of all is not one."""
    a = (1000 * rng.standard_normal(n)).astype(dtype)
    specials = (5000, -5000) if dtype == "int64" else (np.inf, -np.inf, np.nan, 5000, -5000)
    for at in (0, 1, 63, n // 2, n - 64, n - 2, n - 1):
        for pair in itertools.product(specials, repeat=2):
            b = a.copy()
            b[[at, n // 3]] = pair
            for name in FOLDS:
                found, wanted = getattr(mat, name)(mat.array(b)), getattr(np, name)(b)
                assert_array_equal(found.to_numpy(), wanted)


# Places for results


@pytest.mark.parametrize("dtype", KINDS)
def test_places_of_any_strides(rng, dtype):
    for shape in ((6, 5, 4), (300, 40, 5), (5, 40, 300), (64, 1500, 2)):
        a = rng.standard_normal(shape).astype(dtype)
        for k in range(3):
            wanted = a.max(k)
            for keep in (False, True):
                full = a.max(k, keepdims=keep).shape
                store = mat.full([2 * n + 1 for n in full], 7, dtype=dtype)
                for step in (2, -2):
                    cut = tuple(slice(1, None, 2) if step > 0 else slice(2 * n - 1, None, -2)
                                for n in full)
                    out = store[cut]
                    assert out.shape == full
                    assert mat.max(mat.array(a), k, keepdims=keep, out=out) is out
                    assert_array_equal(out.to_numpy().reshape(wanted.shape), wanted)
                    assert (store.to_numpy() == 7).sum() == store.size - out.size


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize(("shape", "axis"),
                         [((200, 30), 0), ((200, 30), 1), ((200_000,), 0), ((30_000, 9), 0)])
@pytest.mark.parametrize(("alpha", "beta"), [(1, 0), (-1.5, 0), (2, 1), (0.5, -2.25)])
def test_sums_into_what_is_there(rng, dtype, shape, axis, alpha, beta):
    a = rng.standard_normal(shape).astype(dtype)
    y = rng.standard_normal(np.sum(a, axis).size).astype(dtype)
    wanted = alpha * a.astype(np.float64).sum(axis) + beta * y.astype(np.float64)
    got = mat.array(y if beta else np.full_like(y, np.nan)).sum_(mat.array(a), axis, alpha, beta)
    size = abs(alpha) * np.abs(a.astype(np.float64)).sum(axis) + abs(beta * y)
    assert np.all(np.abs(got.to_numpy() - np.ravel(wanted)) <= 24 * eps(dtype) * np.ravel(size))


# Threads


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(1_000_003,), (1500, 700), (700, 1500), (200_000, 5),
                                   (5, 200_000), (60, 50, 400),
                                   (3, 90_000, 3)], ids=str)
def test_results_do_not_depend_on_threads(rng, shape, dtype):
    a = mat.array((rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(dtype))
    for name in ("sum", "mean", "prod", "max", "argmin"):
        for axis in (None, *range(len(shape))):
            found = []
            for threads in range(1, 6):
                with mat.settings(threads=threads):
                    found.append(getattr(mat, name)(a, axis).to_numpy().tobytes())
            assert len(set(found)) == 1, (name, axis)


def test_long_ones_have_parts_and_short_ones_have_none():
    def kernel(shape, axes):
        strides = np.zeros(shape, "int8").strides
        axis = [ReductionAxis(n, s, 0 if k in axes else 1) for k,
                (n, s) in enumerate(zip(shape, strides, strict=True))]
        kept = [a for k, a in enumerate(axis) if k not in axes]
        return kernels.reduction("mat_sum_d", form_of(kept, [axis[k] for k in axes], False),
                                 8)

    assert kernel((1000, 1000), (0, 1)).finish
    assert kernel((100_000, 4), (0,)).finish
    assert not kernel((1000, 1000), (1,)).finish
    assert not kernel((100, 100), (0, 1)).finish


INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.host
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("shape", [(9,), (300,), (40_000,), (200_000,), (40, 30), (300, 1100),
                                   (2000, 30), (3, 70, 9)], ids=str)
def test_integers_are_reduced_as_by_numpy(rng, shape, dtype):
    """By kernels: with every bit of 64 for sums and products, and means of exact sums."""
    limits = np.iinfo(dtype)
    for low, high in ((0, 3), (limits.min, limits.max)):
        a = rng.integers(low, high, shape, dtype, endpoint=True)
        for x, array in ((mat.array(a), a), (mat.array(a)[::-1], a[::-1]), (mat.array(a).T, a.T)):
            for axis in (None, *range(a.ndim)):
                for name in (*FOLDS, "sum", "prod"):
                    got = getattr(mat, name)(x, axis)
                    wanted = getattr(np, name)(array, axis=axis)
                    assert got.dtype == wanted.dtype
                    assert "foreign" in got.facets
                    assert_array_equal(got.to_numpy(), wanted)
                check_mean(x, array, axis)


def check_mean(x, a, axis):
    """Of the exact sum, which NumPy rounds on its way."""
    count = a.size if axis is None else a.shape[axis]
    sums = np.sum(a.astype(object), axis=axis)
    wanted = np.asarray(sums).astype(np.float64) / count
    assert_array_equal(mat.mean(x, axis).to_numpy(), wanted)


@pytest.mark.host
def test_bools_are_reduced_by_kernels(rng):
    for a in (rng.random((40, 50)) > 0.5, np.zeros((3, 4), bool), np.ones((3, 4), bool)):
        for name in ("sum", "max", "min"):
            for axis in (None, 0, 1):
                got = getattr(mat, name)(mat.array(a), axis)
                wanted = getattr(np, name)(a, axis=axis)
                assert got.dtype == wanted.dtype
                assert "foreign" in got.facets
                assert_array_equal(got.to_numpy(), wanted)
