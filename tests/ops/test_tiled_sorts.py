"""Sorts, searches, gathers, scatters and convolutions in tiles: the same bits as at once, whatever
the room.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.ops.engine.operation import REGISTRY
from mat.ops.indexing.accumulate_at import accumulate_at
from mat.ops.indexing.gathering import (
    gather,
    gather_along,
    mask_positions,
    mask_starts,
    scatter,
    within,
)
from mat.ops.indexing.sorting import (
    argsort,
    count_bins,
    count_weights,
    firsts,
    place,
    search,
    unsort,
)
from mat.ops.nn.conv import channels, correlation, correlation_to_w, correlation_to_x

from ..support.in_tiles import in_tiles, same_bits

pytestmark = pytest.mark.host
SORT, ARGSORT = REGISTRY["sorting.sort"], REGISTRY["sorting.argsort"]
BUDGETS = st.integers(60, 3000)
DTYPES = st.sampled_from(["float64", "float32", "float16", "int8", "int64", "uint16", "bool",
                          "complex64", "bfloat16"])


@st.composite
def lines(draw, longest=300):
    """A Mat of one to three axes with many ties, some zeros of both signs, and some NaN."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    n = draw(st.integers(1, longest))
    shape = draw(st.sampled_from([(n,), (n, 2), (2, n), (2, n, 2)]))
    x = rng.integers(-5, 6, shape).astype("float64") * rng.choice([0.0, -0.0, 1, 1, 2], shape)
    dtype = draw(DTYPES)
    if dtype.startswith("float"):
        x[rng.random(shape) < draw(st.sampled_from([0, 0.1, 1]))] = np.nan
    found = mat.array(x if dtype[0] in "fb" else np.abs(x)).astype(dtype)
    return found[::-1] if draw(st.booleans()) else found


@given(lines(), st.data(), st.booleans(), BUDGETS)
def test_sort(x, data, descending, budget):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    wanted = mat.empty(*x.shape, dtype=x.dtype)
    SORT(x, wanted, axis, descending, True)
    out = mat.empty(*x.shape, dtype=x.dtype)
    assert in_tiles(SORT, (x, out, axis, descending, True), {}, budget) is not None
    assert_array_equal(out.to_numpy().view("u1"), wanted.to_numpy().view("u1"))  # -0.0 is not 0.0


@given(lines(), BUDGETS)
def test_sort_in_place(x, budget):
    wanted = np.sort(x.to_numpy(), axis=0, kind="stable")
    assert in_tiles(SORT, (x, x, 0, False, True), {}, budget) is not None
    assert same_bits(x.to_numpy(), wanted)


@given(lines(), st.data(), st.booleans(), BUDGETS)
def test_argsort_is_stable(x, data, descending, budget):
    axis = data.draw(st.integers(0, x.ndim - 1))
    wanted, out = (mat.empty(*x.shape, dtype="int64") for _ in range(2))
    ARGSORT(x, wanted, axis, descending, True)
    assert in_tiles(ARGSORT, (x, out, axis, descending, True), {}, budget) is not None
    assert_array_equal(out.to_numpy(), wanted.to_numpy())


def test_a_long_line_in_many_runs(rng):
    x = mat.array(rng.integers(0, 1000, 50_000))
    out = mat.empty(50_000, dtype="int64")
    _, count = in_tiles(ARGSORT, (x, out, 0, False, True), {}, 30_000)
    assert 80 < count < 400
    assert_array_equal(out.to_numpy(), np.argsort(x.to_numpy(), kind="stable"))


@given(lines(100), st.integers(0, 60), st.booleans(), BUDGETS)
def test_search(x, n, right, budget):
    a = mat.sort(x.reshape(-1))
    v = x.reshape(-1)[:n].copy()
    out = mat.empty(len(v), dtype="int64")
    assert in_tiles(search, (a, v, out, right), {}, budget) is not None
    assert_array_equal(out.to_numpy(), np.searchsorted(
        a.to_numpy(), v.to_numpy(), "right" if right else "left"))


@given(st.lists(st.integers(0, 20), min_size=1, max_size=200), BUDGETS)
def test_counts_and_weights(bins, budget):
    x, weights = mat.array(bins), mat.array(np.random.default_rng(1).standard_normal(len(bins)))
    counts, sums = mat.empty(21, dtype="int64"), mat.empty(21)
    assert in_tiles(count_bins, (x, counts), {}, budget) is not None
    assert_array_equal(counts.to_numpy(), np.bincount(bins, minlength=21))
    assert in_tiles(count_weights, (x, argsort(x), weights, sums), {}, budget) is not None
    assert same_bits(sums.to_numpy(), np.bincount(bins, weights.to_numpy(), minlength=21))


@given(lines(200), BUDGETS, st.booleans())
def test_different_elements(x, budget, equal_nan):
    flat = x.reshape(-1)
    order = argsort(flat)
    ordered = mat.sort(flat)
    wanted, out = (mat.empty(x.size, dtype="int64") for _ in range(2))
    firsts(ordered, wanted, equal_nan)
    assert in_tiles(firsts, (ordered, out, equal_nan), {}, budget) is not None
    assert_array_equal(out.to_numpy(), wanted.to_numpy())
    ranks = mat.cumsum(out)
    values, inverse = mat.empty(int(ranks[-1]), dtype=x.dtype), mat.empty(x.size, dtype="int64")
    assert in_tiles(place, (ordered, ranks, values), {}, budget) is not None
    assert same_bits(values.to_numpy(), ordered.to_numpy()[out.to_numpy() == 1])
    assert in_tiles(unsort, (order, ranks, inverse), {}, budget) is not None
    assert same_bits(values.to_numpy()[inverse.to_numpy()], flat.to_numpy())


# What positions select


@st.composite
def choices(draw):
    """Operands of `gather`: any axes are chosen, the others come around those of positions."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    first = draw(st.integers(0, len(shape) - 1))
    chosen = tuple(range(first, draw(st.integers(first + 1, len(shape)))))
    at_shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=2)))
    most = int(np.prod([shape[k] for k in chosen]))
    at = rng.integers(-most, most, at_shape)
    rest = [n for k, n in enumerate(shape) if k not in chosen]
    at_place = draw(st.integers(0, len(rest)))
    return (mat.array(rng.standard_normal(shape)), mat.array(at),
            (*rest[:at_place], *at_shape, *rest[at_place:]), at_place, chosen)


@given(choices(), BUDGETS)
def test_gather(operands, budget):
    x, at, shape, at_place, chosen = operands
    wanted, out = mat.empty(*shape), mat.empty(*shape)
    gather(x, at, wanted, at_place, chosen)
    assert in_tiles(gather, (x, at, out, at_place, chosen), {}, budget) is not None
    assert same_bits(out.to_numpy(), wanted.to_numpy())


@given(choices(), BUDGETS)
def test_the_last_of_several_is_scattered(operands, budget):
    x, at, shape, at_place, chosen = operands
    source = mat.array(np.random.default_rng(1).standard_normal(shape))
    wanted, out = x.copy(), x.copy()
    scatter(at, source, wanted, at_place, chosen, False)
    assert in_tiles(scatter, (at, source, out, at_place, chosen, False), {}, budget) is not None
    assert same_bits(out.to_numpy(), wanted.to_numpy())


@given(choices(), st.sampled_from(["add", "subtract", "multiply", "maximum"]), BUDGETS)
def test_accumulation_in_the_order_of_the_index(operands, rule, budget):
    x, at, _, _, chosen = operands
    at = at.reshape(-1)
    rest = [n for k, n in enumerate(x.shape) if k not in chosen]
    at = mat.remainder(at, int(np.prod([x.shape[k] for k in chosen])))
    source = mat.array(np.random.default_rng(1).standard_normal((at.size, *rest)))
    wanted, out = x.copy(), x.copy()
    accumulate_at(at, argsort(at), source, wanted, rule, chosen)
    args = at, argsort(at), source, out, rule, chosen
    assert in_tiles(accumulate_at, args, {}, budget) is not None
    assert same_bits(out.to_numpy(), wanted.to_numpy())


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 5), st.integers(0, 1), BUDGETS)
def test_gather_along(n, m, other, axis, budget):
    rng = np.random.default_rng(n)
    x = rng.standard_normal((n, other) if axis == 0 else (other, n))
    at = rng.integers(0, n, (m, other) if axis == 0 else (1, m))
    wanted = np.take_along_axis(x, at, axis)
    out = mat.empty(*wanted.shape)
    args = mat.array(x), mat.array(at), out, axis
    assert in_tiles(gather_along, args, {}, budget) is not None
    assert same_bits(out.to_numpy(), wanted)


@given(st.integers(1, 12_000), st.sampled_from([0.01, 0.5, 1]), st.integers(60, 20_000))
def test_positions_of_a_mask(n, share, budget):
    a = np.random.default_rng(n).random(n) < share
    mask, starts = mat.array(a), mat.empty(1 + -(-n // 4096), dtype="int64")
    wanted = starts.copy()
    mask_starts(mask, wanted)
    assert in_tiles(mask_starts, (mask, starts), {}, budget) is not None
    assert_array_equal(starts.to_numpy(), wanted.to_numpy())
    out = mat.empty(int(a.sum()), dtype="int64")
    if out.size:
        assert in_tiles(mask_positions, (mask, starts, out), {}, budget) is not None
        assert_array_equal(out.to_numpy(), np.flatnonzero(a))


def test_within():
    x = mat.arange(100)
    assert in_tiles(within, (x, 0, 100), {}, 80) == (True, 11)
    assert in_tiles(within, (x, 0, 99), {}, 80) == (False, 11)


# Convolutions of images with channels


@st.composite
def convolutions(draw):
    """The shapes of x and w, and settings that fit."""
    spatial = draw(st.integers(1, 2))
    groups, inner, outer = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    window = tuple(draw(st.integers(1, 4)) for _ in range(spatial))
    settings = {name: tuple(draw(st.integers(low, 3)) for _ in range(spatial))
                for name, low in (("stride", 1), ("padding", 0), ("dilation", 1))}
    least = [max(1, (k - 1) * d + 1 - 2 * p) for k, d, p in zip(
        window, settings["dilation"], settings["padding"], strict=True)]
    lengths = tuple(draw(st.integers(n, n + 20)) for n in least)
    x = (draw(st.integers(1, 3)), groups * inner, *lengths)
    return x, (groups * outer, inner, *window), {**settings, "groups": groups}


@given(convolutions(), st.integers(100, 10_000))
def test_convolution_with_halos(case, budget):
    of_x, of_w, settings = case
    rng = np.random.default_rng(1)
    x, w = mat.array(rng.standard_normal(of_x)), mat.array(rng.standard_normal(of_w))
    w[(0,) * w.ndim] = np.inf  # elements outside of x are not multiplied
    wanted = mat.nn.conv(x, w, **settings)
    out = mat.full(wanted.shape, np.nan)
    sizes = channels("conv", of_x, of_w, **settings)
    done = in_tiles(correlation, (x, w, out), {"sizes": sizes}, budget)
    if done is not None:
        assert_allclose(out.to_numpy(), wanted.to_numpy(), rtol=1e-12, atol=1e-12)
    else:
        assert budget < 8 * (4 * x.size + w.size + 6 * out.size)


@given(convolutions(), st.integers(100, 10_000))
def test_derivatives_of_convolution(case, budget):
    of_x, of_w, settings = case
    rng = np.random.default_rng(1)
    x, w = mat.array(rng.standard_normal(of_x)), mat.array(rng.standard_normal(of_w))
    yd = mat.array(rng.standard_normal(mat.nn.conv(x, w, **settings).shape))
    xd, wd = mat.array(x.to_numpy()), mat.array(w.to_numpy())
    found_x, found_w = xd.copy(), wd.copy()
    mat.nn.derive_conv(x, xd, w, wd, yd, **settings)
    sizes = {"sizes": channels("conv", of_x, of_w, **settings)}
    if in_tiles(correlation_to_x, (yd, w, found_x), sizes, budget) is not None:
        assert_allclose(found_x.to_numpy(), xd.to_numpy(), rtol=1e-11, atol=1e-11)
    if in_tiles(correlation_to_w, (x, yd, found_w), sizes, budget) is not None:
        assert_allclose(found_w.to_numpy(), wd.to_numpy(), rtol=1e-11, atol=1e-11)
