"""Products with one row or one column, which BLAS computes by ?GEMV, alone and in stacks."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat

pytestmark = pytest.mark.host
SHAPES = [(a, b) for a, b in itertools.product([(5, 7), (1, 7), (5, 1), (1, 1)],
                                               [(7, 3), (7, 1), (1, 3), (1, 1)])
          if a[1] == b[0] and 1 in (a[0], b[1])]


def matrix(shape, dtype, transposed):
    """Return a random array, and a Mat of it, or a view of the Mat of its transpose."""
    rng = np.random.default_rng(7)
    a = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return a, mat.array(a.T.copy()).T if transposed else mat.array(a)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("transposed", list(itertools.product([False, True], repeat=3)))
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_products_with_a_row_or_a_column(left, right, transposed, dtype):
    (a, x), (b, y) = (matrix(s, dtype, t) for s, t in zip((left, right), transposed, strict=False))
    out = mat.full((right[1], left[0]) if transposed[2] else (left[0], right[1]), np.nan,
                   dtype=dtype)
    out = out.T if transposed[2] else out
    assert_allclose(mat.matmul(x, y, out=out).to_numpy(), a @ b, rtol=1e-4)
    out.fill_(2)
    assert_allclose(mat.gemm(3.0, x, y, 0.5, out).to_numpy(), 3 * (a @ b) + 1, rtol=1e-4)


@pytest.mark.parametrize("part", [np.s_[:, 2:7, 3:8], np.s_[:, :, 3:8], np.s_[1:4, ::2, :5]])
def test_stacks_times_vectors(part):
    a, v = np.random.default_rng(1).standard_normal((6, 9, 11)), np.arange(5.0)
    x, y = mat.array(a), mat.array(v)
    assert_allclose((x[part] @ y).to_numpy(), a[part] @ v, rtol=1e-12)
    one, other = np.swapaxes(a[part], 1, 2), x[part].swapaxes(1, 2)
    assert_allclose((y @ other).to_numpy(), v @ one, rtol=1e-12)


def test_windows_along_the_first_axis_times_weights():
    a, w = np.random.default_rng(2).standard_normal((30, 20)), np.arange(5.0)
    windows = np.lib.stride_tricks.sliding_window_view
    found = mat.lib.stride_tricks.sliding_window_view(mat.array(a), 5, axis=0) @ mat.array(w)
    assert_allclose(found.to_numpy(), windows(a, 5, axis=0) @ w, rtol=1e-12)
