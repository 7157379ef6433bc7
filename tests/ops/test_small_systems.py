"""Inverses and solutions of stacks of small matrices, several of which are computed at once,
against NumPy's in double precision.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import LinAlgError
from mat.ops.linear import linalg
from mat.support.native import lib

from ..support.layouts import MIXES, check_hidden, place
from .test_linalg import well_conditioned

DTYPES = ("float32", "float64")
SIDES = (1, 2, 3, 4, 5, 8, 15, 16, 17)  # the last one is left to LAPACK
LENGTHS = (1, 3, 4, 5, 9)  # of stacks: below and above the lanes of vectors


def near(found, wanted, dtype):
    eps = float(np.finfo(dtype).eps)
    assert found.dtype == dtype
    assert_allclose(found.to_numpy(), wanted, rtol=1000 * eps, atol=100 * eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIDES)
def test_sides_and_lengths_of_stacks(rng, dtype, n):
    for length in LENGTHS:
        a = well_conditioned(rng, (length, n, n), dtype)[:, rng.permutation(n)]
        near(mat.inv(mat.array(a)), np.linalg.inv(a.astype("float64")), dtype)
        for columns in (0, 1, 2, 16, 17):
            b = rng.standard_normal((length, n, columns)).astype(dtype)
            wanted = np.linalg.solve(a.astype("float64"), b)
            near(mat.solve(mat.array(a), mat.array(b)), wanted, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mix", MIXES)
def test_layouts(rng, dtype, mix):
    a, b = well_conditioned(rng, (2, 3, 4, 4), dtype), rng.random((2, 3, 4, 2)).astype(dtype)
    x, y = place(a, MIXES[mix][0]), place(b, MIXES[mix][-1])
    outs = [place(np.full_like(v, np.nan), MIXES[mix][-1]) for v in (a, b)]
    linalg.inverse(x, outs[0])
    linalg.solution(x, y, outs[1])
    near(mat.inv(x), np.linalg.inv(a.astype("float64")), dtype)
    for out, wanted in zip(outs, (mat.inv(x), mat.solve(x, y)), strict=True):
        assert_array_equal(out.to_numpy(), wanted.to_numpy())
        check_hidden(out)


@pytest.mark.parametrize(("one", "other"), [
    ((3, 3), (5, 3, 2)), ((5, 3, 3), (3, 2)), ((5, 3, 3), (3,)), ((4, 1, 3, 3), (5, 3, 1)),
    ((1, 3, 3), (2, 1, 3, 4)), ((3, 3), (3,)), ((0, 3, 3), (3, 2)), ((2, 0, 3, 3), (0, 3, 1)),
    ((2, 0, 0), (2, 0, 3)), ((1,) * 9 + (2, 2), (2, 1))], ids=str)
def test_broadcasting(rng, one, other):
    a, b = well_conditioned(rng, one, "float64"), rng.standard_normal(other)
    near(mat.solve(mat.array(a), mat.array(b)), np.linalg.solve(a, b), "float64")
    wide = mat.broadcast_to(mat.array(a), (2, *one))
    near(mat.inv(wide), np.linalg.inv(np.broadcast_to(a, (2, *one))), "float64")


@pytest.mark.host
def test_errors_are_those_of_double_precision():
    n = np.arange(1, 8)
    hilbert = np.stack([1 / (n[:, None] + n - 1)] * 3)
    wanted = np.linalg.inv(hilbert)
    assert_allclose(mat.inv(mat.array(hilbert)).to_numpy(), wanted, rtol=1e-6)
    single = hilbert.astype("float32")
    assert_allclose(mat.inv(mat.array(single)).to_numpy(), np.linalg.inv(single), rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_numbers_of_any_size(rng, scale):
    a = well_conditioned(rng, (5, 4, 4), "float64")
    assert_allclose(mat.inv(mat.array(scale * a)).to_numpy() * scale, np.linalg.inv(a), rtol=1e-12)


def test_pivots_are_the_largest_elements():
    a = np.array([[1e-20, 1], [1, 1]])
    assert_allclose(mat.solve(mat.array(a), mat.array([1.0, 2])).to_numpy(), [1, 1])
    swaps = np.stack([np.eye(6)[order] for order in ([5, 4, 3, 2, 1, 0], [1, 2, 3, 4, 5, 0],
                                                     [0, 1, 2, 3, 5, 4], [2, 0, 1, 5, 3, 4])])
    assert_array_equal(mat.inv(mat.array(swaps)).to_numpy(), swaps.swapaxes(-1, -2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", LENGTHS)
def test_any_singular_matrix_of_a_stack(rng, dtype, length):
    for at in range(length):
        a = well_conditioned(rng, (length, 3, 3), dtype)
        a[at] = [[1, 2, 0], [0, 0, 0], [2, 5, 1]]
        x, out = mat.array(a), mat.ones(length, 3, 3, dtype=dtype)
        with pytest.raises(LinAlgError, match="inv: the matrix is singular"):
            mat.inv(x)
        with pytest.raises(LinAlgError, match="solve: the matrix is singular"):
            mat.solve(x, mat.ones(3, 1, dtype=dtype))
        with pytest.raises(LinAlgError, match="inv: the matrix is singular"):
            linalg.inverse(x, out)
        assert_array_equal(x.to_numpy(), a)


def test_what_is_no_number_stays_in_its_matrix(rng):
    a = well_conditioned(rng, (6, 3, 3), "float64")
    good = np.linalg.inv(a)
    for bad in (np.nan, -np.nan):
        for i, j in np.ndindex(3, 3):
            spoiled = a.copy()
            spoiled[2, i, j] = bad
            found = mat.inv(mat.array(spoiled)).to_numpy()
            assert np.isnan(found[2]).any()
            assert_allclose(np.delete(found, 2, 0), np.delete(good, 2, 0), rtol=1e-12)
    infinite = mat.inv(mat.array([[np.inf, 0.0], [0.0, 2.0]])).to_numpy()
    assert_array_equal(infinite[1, 1], 0.5)
    b = np.ones((6, 3, 1))
    b[4] = np.nan
    found = mat.solve(mat.array(a), mat.array(b)).to_numpy()
    assert_array_equal(np.isnan(found).all((1, 2)), np.arange(6) == 4)


@pytest.mark.host
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_do_not_depend_on_threads_neighbours_or_the_device(rng, dtype):
    a = well_conditioned(rng, (5001, 8, 8), dtype)
    b = rng.standard_normal((5001, 8, 2)).astype(dtype)
    x, y = mat.array(a), mat.array(b)
    wanted = [f.to_numpy() for f in (mat.inv(x), mat.solve(x, y))]
    for threads in (1, 2, 3):
        with mat.settings(threads=threads):
            found = [f.to_numpy() for f in (mat.inv(x), mat.solve(x, y))]
        for one, other in zip(found, wanted, strict=True):
            assert_array_equal(one, other)
    assert_array_equal(mat.inv(x[::-7]).to_numpy(), wanted[0][::-7])
    with mat.use_device("emulated"):
        assert_array_equal(mat.inv(x).to_numpy(), wanted[0])
        assert_array_equal(mat.solve(x, y).to_numpy(), wanted[1])


@pytest.mark.skipif(lib is None, reason="NumPy computes")
def test_observed_calls_are_those_of_the_kernel():
    x = mat.array([[[2.0, 0], [0, 4]], [[1, 1], [0, 1]]])
    wanted = mat.inv(x).to_numpy()
    with mat.debug.trace():
        assert_array_equal(mat.inv(x).to_numpy(), wanted)
        with pytest.raises(LinAlgError, match="singular"):
            mat.inv(mat.zeros(3, 2, 2))
