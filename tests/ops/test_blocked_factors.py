"""Factors, solutions and determinants of matrices for which a device has no room."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.memories import file_pages
from mat.ops.tiles import file_tiles

from ..support import selection

pytestmark = pytest.mark.host
DTYPES = "fdFD"
POOLS = 1000, 2500, 7000


def normal(*shape, dtype="d", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if dtype in "FD":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def positive(*shape, dtype="d", seed=0):
    x = normal(*shape, dtype=dtype, seed=seed).astype(np.result_type(dtype, "d"))
    return (x @ x.conj().swapaxes(-1, -2) + np.eye(shape[-1])).astype(dtype)


def ill_conditioned(n, dtype="d"):
    """Return a matrix whose singular values go down to the resolution of the dtype."""
    q, r = (np.linalg.qr(normal(n, n, dtype=dtype, seed=k).astype(
        np.result_type(dtype, "d")))[0] for k in (1, 2))
    return (q * np.geomspace(1, np.finfo(dtype).eps, n) @ r).astype(dtype)


def bound(a, factor=30):
    """Return a bound of the backward error of `a`, by the largest norm of rows."""
    return factor * len(a) * np.finfo(a.dtype).eps * np.abs(a).sum(axis=-1).max()


def device(pool):
    return mat.use_device("emulated", pool_bytes=pool)


# Cholesky


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(dtype, pool):
    a = positive(24, 24, dtype=dtype)
    x = mat.array(a)
    with device(pool), mat.debug.count_copies() as copies:
        f = mat.linalg.cholesky(x).to_numpy()  # which a plan counts
    planned = mat.debug.plan(mat.linalg.cholesky, x, pool_bytes=pool)
    assert f.dtype == a.dtype
    assert_array_equal(f, np.tril(f))
    assert_allclose(f @ f.conj().T, a, rtol=0, atol=bound(a))
    assert copies.bytes == planned.moved
    if pool < a.nbytes:
        assert planned.calls[0].tiles > 1


@given(st.integers(1, 30), st.integers(60, 4000), st.sampled_from(DTYPES),
       st.sampled_from((1, -1)))
@settings(deadline=None, max_examples=selection.examples(25))
def test_cholesky_of_any_size(n, pool, dtype, step):
    a = positive(n, n, dtype=dtype)
    x = mat.array(a[:, ::step])[:, ::step]
    with device(max(pool, 100)):
        f = mat.linalg.cholesky(x).to_numpy()
    assert_allclose(f @ f.conj().T, a, rtol=0, atol=bound(a))


def test_only_the_lower_triangle_is_read():
    a = positive(40, 40)
    wanted = np.linalg.cholesky(a)
    a[np.triu_indices(40, 1)] = np.nan
    with device(3000):
        assert_allclose(mat.linalg.cholesky(mat.array(a)).to_numpy(), wanted, atol=1e-11)


def test_cholesky_of_stacks_integers_and_the_upper_one():
    a = positive(3, 2, 20, 20)
    with device(1800):
        assert_allclose(mat.linalg.cholesky(mat.array(a)).to_numpy(), np.linalg.cholesky(a),
                        atol=1e-11)
        whole = mat.array(a[0, 0].round().astype("i4"))
        assert_allclose(mat.linalg.cholesky(whole).to_numpy(),
                        np.linalg.cholesky(a[0, 0].round()), atol=1e-11)
        upper = np.linalg.cholesky(mat.array(a), upper=True)
    assert_allclose(upper.to_numpy(), np.linalg.cholesky(a).swapaxes(-1, -2), atol=1e-11)


@pytest.mark.parametrize("at", [0, 30, 59])
def test_a_matrix_that_is_not_positive_definite(at):
    a = positive(60, 60)
    a[at, at] = -1
    x = mat.array(a)
    with device(6000), pytest.raises(mat.LinAlgError, match=r"cholesky: .* not positive definite"):
        mat.linalg.cholesky(x)
    assert_array_equal(x.to_numpy(), a)


@pytest.mark.parametrize("at", [1, 5, 20])
def test_an_interrupt_leaves_nothing(at):
    x, calls = mat.array(positive(60, 60)), []

    def stop(done, total):
        calls.append(done)
        if len(calls) == at:
            raise KeyboardInterrupt

    before, count = x.to_numpy(), len(mat.memory_report().by_mat)
    with mat.settings(progress=stop), device(6000), pytest.raises(KeyboardInterrupt):
        mat.linalg.cholesky(x)
    assert len(calls) == at
    assert_array_equal(x.to_numpy(), before)
    gc.collect()  # the error's frames
    assert len(mat.memory_report().by_mat) <= count
    with device(6000):
        assert_allclose(mat.linalg.cholesky(x).to_numpy(), np.linalg.cholesky(before), atol=1e-11)


def test_what_is_seen_of_it():
    seen = []
    with mat.debug.trace() as t, mat.settings(progress=lambda *found: seen.append(found)), \
            device(6000):
        mat.linalg.cholesky(mat.array(positive(60, 60)))
    (cut,) = t.tiled
    assert cut.operation == "cholesky"
    assert seen[-1] == (cut.nbytes, cut.nbytes)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_what_does_not_fit_says_what_would():
    with device(40), pytest.raises(mat.OutOfDeviceMemory, match=r"pool_bytes = \d+ or more"):
        mat.linalg.cholesky(mat.array(positive(60, 60)))


@pytest.fixture
def small_files(monkeypatch):
    monkeypatch.setattr(file_pages, "LEAST_LARGE", 10_000)
    monkeypatch.setattr(file_tiles, "TILE", 8000)


def in_file(path, a):
    found = mat.open_memmap(path / "a.npy", "w+", a.dtype, shape=a.shape)
    found.assign_(mat.array(a))
    return found


@pytest.mark.parametrize("pool", [None, 6000])
@pytest.mark.usefixtures("small_files")
def test_a_file(tmp_path, pool):
    a = positive(60, 60)
    x, seen = in_file(tmp_path, a), []
    with mat.settings(progress=lambda *found: seen.append(found)), \
            device(pool) if pool else mat.use_device("cpu"):
        found = mat.linalg.cholesky(x)
    assert len(seen) > 5
    assert_allclose(found.to_numpy(), np.linalg.cholesky(a), atol=1e-11)


# LU with partial pivoting


def check_solution(a, b, x):
    """Compare the residual with the norms of `a` and of the solution."""
    eps = np.finfo(x.dtype).eps
    scale = np.abs(a).sum(axis=-1).max() * np.abs(x).max() + np.abs(b).max()
    assert_allclose(a @ x, b, rtol=0, atol=30 * len(a) * eps * scale)


@pytest.mark.parametrize("pool", [1000, 2400, 8000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_solutions_inverses_and_determinants(dtype, pool):
    a, b = normal(16, 16, dtype=dtype), normal(16, 5, dtype=dtype, seed=1)
    x, y = mat.array(a), mat.array(b)
    with device(pool):
        found = [mat.linalg.solve(x, y), mat.linalg.solve(x, y[:, 0]), mat.linalg.inv(x)]
        sign, logarithm = mat.linalg.slogdet(x)
        number, log = mat.slogdet(x)
        det = mat.linalg.det(x)
    for result, sides in zip(found, (b, b[:, 0], np.eye(16)), strict=True):
        assert result.dtype == a.dtype
        check_solution(a, sides, result.to_numpy())
    near = 1e-10 if dtype in "dD" else 1e-3
    wanted = np.linalg.slogdet(a)
    for s, g in (sign.item(), logarithm.item()), (number, log):
        assert_allclose(s, wanted[0], rtol=near)
        assert_allclose(g, wanted[1], rtol=near)
    assert_allclose(det.item(), np.linalg.det(a), rtol=near)
    assert_array_equal(x.to_numpy(), a)


@given(st.integers(1, 20), st.integers(0, 3000), st.sampled_from(DTYPES), st.integers(1, 9))
@settings(deadline=None, max_examples=selection.examples(25))
def test_solutions_of_any_size(n, more, dtype, count):
    a, b = normal(n, n, dtype=dtype), normal(n, count, dtype=dtype, seed=n)
    with device(5 * n * a.itemsize + more):  # from where a panel fits
        found = mat.linalg.solve(mat.array(a.T).T, mat.array(b)).to_numpy()
    check_solution(a, b, found)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_solution_that_is_ill_conditioned(dtype):
    a, b = ill_conditioned(40, dtype), normal(40, 3, dtype=dtype)
    with device(4000):
        found = mat.linalg.solve(mat.array(a), mat.array(b)).to_numpy()
    check_solution(a, b, found)


def test_a_cholesky_factor_that_is_ill_conditioned():
    f = ill_conditioned(40)
    a = f @ f.T + 1e-12 * np.eye(40)
    with device(3000):
        f = mat.linalg.cholesky(mat.array(a)).to_numpy()
    assert_allclose(f @ f.T, a, rtol=0, atol=bound(a))


def test_solutions_of_stacks():
    a, b = normal(3, 1, 10, 10), normal(2, 10, 4, seed=1)
    with device(800):
        found = mat.linalg.solve(mat.array(a), mat.array(b)).to_numpy()
        inverses = mat.linalg.inv(mat.array(a)).to_numpy()
        signs, logarithms = mat.linalg.slogdet(mat.array(a))
    assert_allclose(found, np.linalg.solve(a, b), atol=1e-9)
    assert_allclose(inverses, np.linalg.inv(a), atol=1e-9)
    assert_allclose(signs.to_numpy(), np.linalg.slogdet(a)[0])
    assert_allclose(logarithms.to_numpy(), np.linalg.slogdet(a)[1])


@pytest.mark.parametrize("at", [0, 20, 39])
def test_a_singular_matrix(at):
    a = normal(40, 40)
    a[:, at] = 0
    x = mat.array(a)
    with device(5000):
        for function in mat.linalg.inv, lambda x: mat.linalg.solve(x, x):
            with pytest.raises(mat.LinAlgError, match="the matrix is singular"):
                function(x)
        assert mat.linalg.det(x).item() == 0
        assert mat.slogdet(x) == (0, -np.inf)


def test_what_is_planned_for_an_inverse():
    x = mat.array(normal(40, 40))
    found = mat.debug.plan(mat.linalg.inv, x, pool_bytes=6000)
    with device(6000), mat.debug.count_copies() as copies:
        mat.linalg.inv(x)
    assert found.calls[0].tiles > 10
    assert_allclose(copies.bytes, found.moved, rtol=0.1)


def test_an_interrupt_of_an_inverse_leaves_nothing():
    x, calls = mat.array(normal(60, 60)), []

    def stop(done, total):
        calls.append(done)
        if len(calls) == 15:
            raise KeyboardInterrupt

    before, count = x.to_numpy(), len(mat.memory_report().by_mat)
    with mat.settings(progress=stop), device(10_000), pytest.raises(KeyboardInterrupt):
        mat.linalg.inv(x)
    gc.collect()
    assert len(mat.memory_report().by_mat) <= count
    assert_array_equal(x.to_numpy(), before)


def test_a_panel_that_does_not_fit_says_why():
    a = normal(16, 16)
    with device(300), pytest.raises(mat.OutOfDeviceMemory, match=r"a panel of some columns") as e:
        mat.linalg.inv(mat.array(a))
    least = int(str(e.value).rpartition("pool_bytes = ")[2].split()[0])
    with device(least):
        check_solution(a, np.eye(16), mat.linalg.inv(mat.array(a)).to_numpy())


@pytest.mark.usefixtures("small_files")
def test_an_inverse_and_a_determinant_of_a_file(tmp_path):
    a = normal(60, 60)
    x = in_file(tmp_path, a)
    check_solution(a, np.eye(60), mat.linalg.inv(x).to_numpy())
    assert_allclose(mat.slogdet(x), np.linalg.slogdet(a))


# QR


def check_qr(a, q, r, wanted):
    """Compare with the matrix, and with NumPy's factors where these are well determined."""
    eps = 30 * max(a.shape) * np.finfo(a.dtype).eps
    assert q.dtype == r.dtype == a.dtype
    assert_array_equal(r, np.triu(r))
    assert_allclose(q @ r, a, rtol=0, atol=eps * np.abs(a).max())
    assert_allclose(q.conj().T @ q, np.eye(q.shape[1]), rtol=0, atol=eps)
    if wanted is not None:
        near = 1e-9 if a.dtype.char in "dD" else 2e-3
        for found, by_numpy in zip((q, r), wanted, strict=True):
            assert_allclose(found, by_numpy, rtol=0, atol=near)


@pytest.mark.parametrize("shape", [(11, 11), (17, 8), (8, 15)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr(dtype, shape):
    a = normal(*shape, dtype=dtype)
    x, pool = mat.array(a), 12 * shape[0] * a.itemsize
    for mode in "reduced", "complete":
        with device(pool), mat.debug.count_copies() as copies:
            q, r = mat.linalg.qr(x, mode)
        planned = mat.debug.plan(mat.linalg.qr, x, mode, pool_bytes=pool)
        check_qr(a, q.to_numpy(), r.to_numpy(), np.linalg.qr(a, mode))
        assert copies.bytes == planned.moved
        assert planned.calls[0].tiles > 1
    with device(pool):
        r = mat.linalg.qr(x, "r").to_numpy()
    assert_allclose(r, np.linalg.qr(a, "r"), rtol=0, atol=1e-9 if dtype in "dD" else 2e-3)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 3000), st.sampled_from(DTYPES),
       st.sampled_from(("reduced", "complete")))
@settings(deadline=None, max_examples=selection.examples(25))
def test_qr_of_any_size(m, n, more, dtype, mode):
    a = normal(m, n, dtype=dtype)
    with device(12 * m * a.itemsize + more):  # from where a panel fits
        q, r = mat.linalg.qr(mat.array(a.T).T, mode)
    check_qr(a, q.to_numpy(), r.to_numpy(), None)


def test_qr_that_is_ill_conditioned_and_of_stacks():
    a = np.stack([ill_conditioned(14), normal(14, 14)])
    with device(1400):
        q, r = mat.linalg.qr(mat.array(a))
    for k in range(2):
        check_qr(a[k], q[k].to_numpy(), r[k].to_numpy(), None)


def test_qr_of_columns_of_zeros():
    a = normal(20, 15)
    a[:, ::3] = 0
    with device(2500):
        q, r = mat.linalg.qr(mat.array(a))
    check_qr(a, q.to_numpy(), r.to_numpy(), None)


def test_an_interrupt_of_qr_leaves_nothing():
    x, calls = mat.array(normal(60, 60)), []

    def stop(done, total):
        calls.append(done)
        if len(calls) == 12:
            raise KeyboardInterrupt

    before, count = x.to_numpy(), len(mat.memory_report().by_mat)
    with mat.settings(progress=stop), device(8000), pytest.raises(KeyboardInterrupt):
        mat.linalg.qr(x)
    gc.collect()
    assert len(mat.memory_report().by_mat) <= count
    assert_array_equal(x.to_numpy(), before)


def test_a_panel_of_qr_that_does_not_fit_says_why():
    with device(900), pytest.raises(mat.OutOfDeviceMemory, match=r"a panel of some columns"):
        mat.linalg.qr(mat.array(normal(60, 60)))
