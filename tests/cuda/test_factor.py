"""Inverses, solutions, Cholesky factors and determinants on the device: by cuSOLVER, stacks by
cuBLAS, what is refused, and the host where there is no cuSOLVER.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat
from mat import DeviceError, LinAlgError

from ..support.layouts import BLAS_DTYPES, check_hidden, numbers, place, tolerance

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.libraries import cusolver, factor
from mat.cuda.libraries.cublas_table import solver_functions
from mat.ops.linear import linalg

OPERATIONS = linalg.inverse, linalg.solution, linalg.cholesky_factor, linalg.slogdet


@pytest.fixture(autouse=True)
def device(cuda):
    with mat.use_device("cuda", required=True):
        yield cuda


def forget():
    for operation in OPERATIONS:
        operation.forget()


@pytest.fixture(params=["at once", "one by one"])
def sides(request, monkeypatch):
    """Sides of matrices; stacks are factored at once by cuBLAS, or one by one by cuSOLVER."""
    if request.param == "one by one":
        monkeypatch.setattr(factor, "SIDE", 0)
    forget()
    yield (1, 2, 7, 21)
    forget()


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
        many = mat.array(np.stack([np.eye(n), np.zeros((n, n)), np.eye(n)]))
        for refused in (mat.inv, mat.cholesky, lambda a: mat.solve(a, mat.ones(3, a.shape[-1], 2))):
            with pytest.raises(LinAlgError):
                refused(many)
    assert np.isnan(mat.inv(mat.full((2, 2), np.nan)).to_numpy()).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("bad", [-1, 0, np.nan])
@pytest.mark.parametrize("place", [0, 1, -1])
def test_no_cholesky_factor_is_found_of_what_has_none(dtype, bad, place, sides):
    for n in sides:
        a = np.eye(max(n, 3), dtype=dtype)
        a[place, place] = bad
        for x in (a, np.stack([np.eye(len(a), dtype=dtype), a])):
            with pytest.raises(LinAlgError, match="cholesky: the matrix is not positive definite"):
                mat.cholesky(mat.array(x))


def test_large_numbers_do_not_overflow():
    a = np.array([[1e200 + 1e200j, 1], [1, 1e-200]])
    assert_allclose(mat.inv(mat.array(a)).to_numpy() @ a, np.eye(2), atol=1e-12)


def test_results_may_lie_anyhow(rng):
    a = mixed(rng, (2, 5, 5), "float64")
    for layout in ("strided", "transposed", "block", "negative"):
        out = place(np.full((2, 5, 5), np.nan), layout)
        mat.ops.linear.linalg.inverse(mat.array(a), out)
        assert_allclose(out.to_numpy(), np.linalg.inv(a), rtol=1e-9)
        check_hidden(out)


@pytest.mark.parametrize("name", ["inverse", "cholesky_factor", "solution"])
def test_nothing_is_written_if_a_matrix_is_refused(name, sides, rng):
    a, b = mixed(rng, (3, 4, 4), "float64"), mat.ones(3, 4, 4)
    a[1, :2] = 0
    x, out = mat.array(a), mat.full((3, 4, 4), 7.0) + 1.0
    assert out.fresh == {"cuda:0"}
    operands = (x, b, out) if name == "solution" else (x, out)
    with pytest.raises(LinAlgError):
        getattr(linalg, name)(*operands)
    out.accept_torn()
    assert (out.to_numpy() == 8).all()
    assert (x.to_numpy() == a).all()


def test_large_ones_as_they_are(rng):
    n = factor.SIDE + 3
    a = mixed(rng, (n, n), "float64")
    assert_allclose(mat.solve(mat.array(a), mat.array(a)).to_numpy(), np.eye(n), atol=1e-9)


def test_what_the_libraries_are_called_for(rng):
    a, many = mat.array(mixed(rng, (4, 4), "float64")), mat.array(mixed(rng, (5, 4, 4), "float32"))
    for compute, names in (
            (lambda: mat.inv(a), ["cusolverDnXgetrf", "cusolverDnXgetrs"]),
            (lambda: mat.solve(a, a), ["cusolverDnXgetrf", "cusolverDnXgetrs"]),
            (lambda: mat.cholesky(mat.eye(4)), ["cusolverDnXpotrf"]),
            (lambda: mat.cholesky(mat.ones(5, 1, 1)), ["cusolverDnDpotrfBatched"]),
            (lambda: mat.slogdet(a), ["cusolverDnXgetrf"]),
            (lambda: mat.inv(many), ["cublasSgetrfBatched", "cublasSgetriBatched"]),
            (lambda: mat.solve(many, many), ["cublasSgetrfBatched", "cublasSgetrsBatched"])):
        with mat.debug.list_calls() as made:
            compute()
        assert [call.routine for call in made.calls] == names


def test_without_cusolver_the_host_computes_and_the_trace_says_why(monkeypatch, rng):
    a = mixed(rng, (3, 3), "float64")
    monkeypatch.setenv("MAT_CUSOLVER", "/nowhere/libcusolver.so")
    cusolver.library.forget()
    forget()
    try:
        with mat.debug.trace() as trace, mat.debug.count_copies() as counted:
            x, (sign, _) = mat.inv(mat.array(a)), mat.slogdet(mat.array(a))
        assert_allclose(x.to_numpy(), np.linalg.inv(a))
        assert sign == np.linalg.slogdet(a)[0]
        assert counted.fallbacks == trace.fallbacks == 2
        assert "inv was carried out on the host, since cuSOLVER cannot be loaded" in repr(trace)
        assert "MAT_CUSOLVER in the environment" in repr(trace)
    finally:
        monkeypatch.undo()
        cusolver.library.forget()
        forget()


def test_every_function_of_the_table_is_there():
    for function in solver_functions():
        assert getattr(cusolver.library(), function.symbol)


def test_errors_of_cusolver(device, rng):
    a = mat.array(mixed(rng, (3, 3), "float64"))
    device.fail("cusolverDnXgetrf", times=99, status=7)  # also where it is tried again
    with pytest.raises(DeviceError, match=r"CUSOLVER_STATUS_[A-Z_]+ \(7\)"):
        mat.inv(a)
    for times in (1, 99):  # there is more memory the second time, or it is inverted by blocks
        device.fail("cusolverDnXgetrf", times=times, status=2)
        assert_allclose(mat.inv(a).to_numpy() @ a.to_numpy(), np.eye(3), atol=1e-9)
