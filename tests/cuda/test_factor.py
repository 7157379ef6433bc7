"""Inverses, solutions, Cholesky factors and determinants on the device: small matrices and panels,
stacks, what is refused.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat
from mat import LinAlgError

from ..support.layouts import BLAS_DTYPES, check_hidden, numbers, place, tolerance

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda import factor


@pytest.fixture(autouse=True)
def device(cuda):
    with mat.use_device("cuda", required=True):
        yield cuda


@pytest.fixture(params=["whole", "panels"])
def sides(request, monkeypatch):
    """Sides of matrices that are factored at once, or by panels, of which the last is narrower."""
    if request.param == "panels":
        monkeypatch.setattr(factor, "SMALL", 4)
        monkeypatch.setattr(factor, "PANEL", 4)
        for op in (mat.ops.linalg.inverse, mat.ops.linalg.solution, mat.ops.linalg.cholesky_factor,
                   mat.ops.linalg.slogdet):
            op.forget()
    yield (1, 2, 7, 21)
    for op in (mat.ops.linalg.inverse, mat.ops.linalg.solution, mat.ops.linalg.cholesky_factor,
               mat.ops.linalg.slogdet):
        op.forget()


def near(dtype):
    return {"rtol": 3e3 * tolerance(dtype)["rtol"] / 64,
            "atol": 3e3 * tolerance(dtype)["rtol"] / 64}


def mixed(rng, shape, dtype):
    """Matrices with small diagonals, so that rows have to be exchanged."""
    n = shape[-1]
    return (numbers(rng, shape, dtype) + 3 * np.roll(np.eye(n), 1, 0) - 0.0).astype(dtype)


def positive(rng, shape, dtype):
    a = numbers(rng, shape, dtype)
    return a @ a.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1], dtype=dtype)


@pytest.mark.parametrize("dtype", BLAS_DTYPES)
@pytest.mark.sample(4)
def test_inverses(rng, dtype, sides):
    for n in sides:
        a = mixed(rng, (n, n), dtype)
        with mat.debug.count_copies() as moved:
            x = mat.inv(mat.array(a))
        assert (moved.fallbacks, moved.d2h) == (0, 0)
        assert x.fresh == {"cuda:0"}
        assert_allclose(x.to_numpy() @ a, np.eye(n), **near(dtype))
    a = mixed(rng, (2, 3, 6, 6), dtype)
    assert_allclose(mat.inv(mat.array(a)).to_numpy() @ a, np.broadcast_to(np.eye(6), a.shape),
                    **near(dtype))
    x = mat.inv(mat.array(a).swapaxes(-1, -2)[::-1, 1])
    assert_allclose(x.to_numpy() @ a.swapaxes(-1, -2)[::-1, 1],
                    np.broadcast_to(np.eye(6), (2, 6, 6)), **near(dtype))


@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_solutions(rng, dtype, sides):
    for n in sides:
        a, b, v = mixed(rng, (n, n), dtype), numbers(rng, (n, 5), dtype), numbers(rng, (n,), dtype)
        with mat.debug.count_copies() as moved:
            x, y = mat.solve(mat.array(a), mat.array(b)), mat.solve(mat.array(a), mat.array(v))
        assert (moved.fallbacks, moved.d2h) == (0, 0)
        assert_allclose(a @ x.to_numpy(), b, **near(dtype))
        assert_allclose(a @ y.to_numpy(), v, **near(dtype))
    for left, right in (((3, 6, 6), (3, 6, 2)), ((3, 6, 6), (6,)), ((3, 6, 6), (6, 4)),
                        ((6, 6), (3, 6, 4)),
                        ((2, 1, 6, 6), (3, 6, 4))):
        a, b = mixed(rng, left, dtype), numbers(rng, right, dtype)
        x = mat.solve(mat.array(a), mat.array(b)).to_numpy()
        wanted = np.linalg.solve(a, b[:, None])[..., 0] if b.ndim == 1 else np.linalg.solve(a, b)
        assert_allclose(x, wanted, **near(dtype))


@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_cholesky_factors(rng, dtype, sides):
    for n in sides:
        a = positive(rng, (n, n), dtype)
        lower = np.tril(a) + np.triu(np.full_like(a, np.nan), 1)
        found = mat.cholesky(mat.array(lower)).to_numpy()
        assert_allclose(found, np.linalg.cholesky(a), **near(dtype))
        assert (np.triu(found, 1) == 0).all()
    a = positive(rng, (3, 6, 6), dtype)
    assert_allclose(mat.cholesky(mat.array(a)).to_numpy(), np.linalg.cholesky(a), **near(dtype))


@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_determinants(rng, dtype, sides):
    for n in sides:
        for a in (mixed(rng, (n, n), dtype), mixed(rng, (n, n), dtype)[::-1].copy()):
            sign, size = mat.slogdet(mat.array(a))
            wanted = np.linalg.slogdet(a)
            assert type(sign) is (complex if dtype.startswith("c") else float)
            assert type(size) is float
            assert_allclose((sign, size), wanted, **near(dtype))
    assert mat.slogdet(mat.zeros(3, 3, dtype=dtype)) == (0, -np.inf)


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_integers_are_converted_there(dtype):
    a = np.array([[2, 0, 0], [0, 0, 1], [0, 1, 0]]).astype(dtype)
    assert_allclose(mat.inv(mat.array(a)).to_numpy(), np.linalg.inv(a))
    assert_allclose(mat.solve(mat.array(a), mat.ones(3)).to_numpy(), np.linalg.solve(a, np.ones(3)))


def test_what_cannot_be_factored(sides):
    for n in sides:
        a = np.eye(n)
        a[-1] = 0
        x = mat.array(a)
        with pytest.raises(LinAlgError, match="inv: the matrix is singular"):
            mat.inv(x)
        with pytest.raises(LinAlgError, match="solve: the matrix is singular"):
            mat.solve(x, mat.ones(n))
        for bad in (0, -1, np.nan):
            a[-1, -1] = bad
            with pytest.raises(LinAlgError, match="cholesky: the matrix is not positive definite"):
                mat.cholesky(mat.array(a))
        many = np.stack([np.eye(n), np.zeros((n, n)), np.eye(n)])
        with pytest.raises(LinAlgError):
            mat.inv(mat.array(many))
    assert np.isnan(mat.inv(mat.full((2, 2), np.nan)).to_numpy()).all()


def test_large_numbers_do_not_overflow():
    a = np.array([[1e200 + 1e200j, 1], [1, 1e-200]])
    assert_allclose(mat.inv(mat.array(a)).to_numpy() @ a, np.eye(2), atol=1e-12)


def test_results_may_lie_anyhow(rng):
    a = mixed(rng, (2, 5, 5), "float64")
    for layout in ("strided", "transposed", "block", "negative"):
        out = place(np.full((2, 5, 5), np.nan), layout)
        mat.ops.linalg.inverse(mat.array(a), out)
        assert_allclose(out.to_numpy(), np.linalg.inv(a), rtol=1e-9)
        check_hidden(out)


def test_the_order_of_threads_does_not_matter(rng, device, sides):
    if not device.is_mock:
        pytest.skip("about the mock driver")
    a = mixed(rng, (21, 21), "float64")
    first = mat.inv(mat.array(a)).to_numpy()
    for seed in (1, 2):
        device.seed(seed)
        assert (mat.inv(mat.array(a)).to_numpy() == first).all()
    device.seed(0)


def test_large_ones_as_they_are(rng):
    n = factor.SMALL + factor.PANEL + 3
    a = mixed(rng, (n, n), "float64")
    assert_allclose(mat.solve(mat.array(a), mat.array(a)).to_numpy(), np.eye(n), atol=1e-9)
