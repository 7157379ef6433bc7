"""The order in memory of results of functions of elements, beside NumPy's: that of the operands."""

import itertools
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mat

from ..support.needs import native

WHERE = {"host": nullcontext, "fused": mat.fused,
         "emulated": lambda: mat.use_device("emulated")}
FUNCTIONS = {
    "negative": lambda m, x, y: -x, "number": lambda m, x, y: x * 2, "add": lambda m, x, y: x + y,
    "compare": lambda m, x, y: x > y, "exp": lambda m, x, y: m.exp(x),
    "where": lambda m, x, y: m.where(x > y, x, y), "clip": lambda m, x, y: m.clip(x, 0, y),
    "cast": lambda m, x, y: x.astype("f4") + y, "chain": lambda m, x, y: (x + 1) * y - x,
}


def steps(x):
    """Return the strides of axes with several elements: no other one is walked along."""
    return [s for n, s in zip(x.shape, x.strides, strict=True) if n > 1]


@st.composite
def operands(draw):
    """Draw two arrays that broadcast, with any order of axes, gaps and negative steps."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    return [draw(views(shape)), draw(views(shape))]


@st.composite
def views(draw, shape):
    """Draw a view of an array that broadcasts to `shape`."""
    own = [n if draw(st.booleans()) or n == 1 else draw(st.sampled_from([1, n])) for n in shape]
    own = own[draw(st.integers(0, len(own) - 1)):]
    axes = draw(st.permutations(range(len(own))))
    gaps = draw(st.lists(st.sampled_from([1, 1, -1, 2]), min_size=len(own), max_size=len(own)))
    whole = [own[k] * abs(gaps[k]) for k in axes]
    a = np.arange(1.0, np.prod(whole) + 1).reshape(whole)
    a = a.transpose([axes.index(k) for k in range(len(own))])
    return a[tuple(slice(None, None, g) for g in gaps)]


COMPOSED = {
    "plus": lambda m, x, i: +x, "positive": lambda m, x, i: m.positive(x),
    "round": lambda m, x, i: m.round(x, 2), "round integers": lambda m, x, i: m.round(i),
    "nan_to_num": lambda m, x, i: m.nan_to_num(x), "of integers": lambda m, x, i: m.nan_to_num(i),
    "isreal": lambda m, x, i: m.isreal(x), "angle": lambda m, x, i: m.angle(x),
    "of complex": lambda m, x, i: m.angle(x * 1j), "sinc": lambda m, x, i: m.sinc(x),
    "fabs": lambda m, x, i: m.fabs(x), "frexp": lambda m, x, i: m.frexp(x)[1],
    "float_power": lambda m, x, i: m.float_power(x, 2), "isclose": lambda m, x, i: m.isclose(x, i),
}


@pytest.mark.parametrize("where", [*WHERE, "small pool"])
@pytest.mark.parametrize("name", COMPOSED)
def test_composed_functions_have_the_order_of_the_operands(name, where):
    a = np.random.default_rng(2).random((20, 3, 15)) * 9 - 4
    wanted = COMPOSED[name](np, a.T, a.astype(int).T)
    operands = mat.array(a).T, mat.array(a.astype(int)).T
    with WHERE[where]() if where in WHERE else mat.use_device("emulated", pool_bytes=a.nbytes):
        found = COMPOSED[name](mat, *operands)
    assert steps(found) == steps(wanted)
    np.testing.assert_allclose(found.to_numpy(), wanted)


def as_view(a):
    """Return a Mat of equal elements in the same places."""
    return mat.from_numpy(a.copy("K") if a.flags.forc else a)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("name", FUNCTIONS)
@given(arrays=operands())
def test_results_have_the_order_of_the_operands(name, where, arrays):
    wanted = FUNCTIONS[name](np, *arrays)
    mats = [as_view(a) for a in arrays]
    with WHERE[where]():
        found = FUNCTIONS[name](mat, *mats)
    assert steps(found) == steps(wanted)
    assert not found.is_view
    np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_large_results(where, axes):
    """They are pending in a fused block; views of them, reductions and updates are right."""
    a = np.arange(60.0 * 50 * 40).reshape(60, 50, 40)
    x = mat.array(a).transpose(axes)
    b = a.transpose(axes)
    with WHERE[where]():
        y = x * 0.5 + 1
        z = y - x  # of the same order
        w = y + mat.ones(y.shape)  # by rows
        total, top = z.sum(axis=1), (w * 2).max()
        part = y[::2, 1:].T * 3
        y += 1
    one = b * 0.5 + 1
    for found, wanted in [(z, one - b), (w, one + np.ones(one.shape)), (y, one + 1),
                          (part, one[::2, 1:].T * 3)]:
        assert steps(found) == steps(wanted)
        np.testing.assert_allclose(found.to_numpy(), wanted)
    np.testing.assert_allclose(total.to_numpy(), (one - b).sum(axis=1))
    assert float(top) == ((one + 1) * 2).max()


BY_COLUMNS = {
    "concatenate": lambda m, x, axis: m.concatenate([x.T, x.T * 2], axis=axis),
    "concatenate parts": lambda m, x, axis: m.concatenate([x.T[1:, 1:], x.T[1:, 1:]], axis=axis),
    "delete": lambda m, x, axis: m.delete(x.T, 1, axis=axis),
    "delete several": lambda m, x, axis: m.delete(x.T, slice(0, 2), axis=axis),
    "insert": lambda m, x, axis: m.insert(x.T, 1, 7, axis=axis),
    "insert at places": lambda m, x, axis: m.insert(x.T, [1, 2], 7, axis=axis),
    "sort": lambda m, x, axis: m.sort(x.T, axis=axis),
    "roll": lambda m, x, axis: m.roll(x.T, 2, axis=axis),
    "roll twice": lambda m, x, axis: m.roll(x.T, (1, -1), axis=(axis, 0)),
    "pad": lambda m, x, axis: m.pad(x.T, ((1, 2), (0, 3)), constant_values=axis),
    "edge": lambda m, x, axis: m.pad(x.T, ((0, 2), (3, axis + 1)), mode="edge"),
    "cumsum": lambda m, x, axis: m.cumsum((x * 8).T // 1, axis=axis),
    "cumprod": lambda m, x, axis: m.cumprod(x.T > 0.1, axis=axis),
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("size", [3, 200])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", BY_COLUMNS)
def test_operands_that_are_stored_by_columns(name, axis, size, where):
    a = np.random.default_rng(size).random((size, size + 1))
    wanted = BY_COLUMNS[name](np, a, axis)
    with WHERE[where]():
        found = BY_COLUMNS[name](mat, mat.array(a), axis)
    assert steps(found) == steps(wanted)
    assert not found.is_view
    np.testing.assert_array_equal(found.to_numpy(), wanted)


def test_joins_of_two_orders():
    x = mat.ones(3, 4)
    found = mat.concatenate([x.T, x.T.copy()])
    np.testing.assert_array_equal(found.to_numpy(), np.ones((8, 3)))


def test_joins_by_columns_name_the_shapes_that_were_given():
    x, y = mat.ones(2, 3).T * 2, mat.ones(4, 5).T * 2
    with pytest.raises(mat.ShapeError, match=r"3.*2.*5.*4"):
        mat.concat([x, y])


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "std", "argmax", "any"])
def test_reductions_of_pending_results_by_columns(name, axis):
    """They have the bits of what is computed first, and nothing is kept for them."""
    if name == "argmax" and isinstance(axis, tuple):
        pytest.skip("it has one axis")
    a = np.random.default_rng(3).random((90, 120))

    def compute(x):
        y = x.T * 2 + 1
        return getattr(y - 1, name)(axis=axis), getattr(y * y, name)(axis=axis)

    expected = compute(mat.array(a))
    for where in (nullcontext, WHERE["emulated"]):
        with where(), mat.fused():
            found = compute(mat.array(a))
        for x, y in zip(found, expected, strict=True):
            assert x.shape == y.shape
            np.testing.assert_array_equal(x.to_numpy(), y.to_numpy())


@native  # programs are
def test_a_sum_of_a_pending_result_by_columns_copies_its_operand_once():
    x = mat.ones(300, 400)
    with mat.use_device("emulated", pool_bytes=x.nbytes // 3), mat.debug.trace() as trace:
        with mat.fused():
            total = (x.T * 2 + 1).sum(axis=0)
        assert total.to_numpy().tolist() == [1200.0] * 300
    assert trace.bytes < 1.02 * x.nbytes


def test_an_update_of_a_file_waits_while_a_result_by_columns_is_reduced(tmp_path):
    row, a = np.arange(20_000.0)[None], np.random.default_rng(5).random((20_000, 8))
    np.save(tmp_path / "row.npy", row)
    x, z = mat.open_memmap(tmp_path / "row.npy", "r+"), mat.array(a)
    with mat.fused():
        y = z.T * x
        x += 1
        total, more = y.sum(axis=0), x * 2
        part = (y + 1).max(axis=1)
    np.testing.assert_allclose(total.to_numpy(), (a.T * row).sum(0))
    np.testing.assert_array_equal(part.to_numpy(), (a.T * row + 1).max(1))
    np.testing.assert_array_equal(more.to_numpy(), (row + 1) * 2)
    x.flush()
    np.testing.assert_array_equal(np.load(tmp_path / "row.npy"), row + 1)
