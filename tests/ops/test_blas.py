"""BLAS through Mats: increments and explicit dimensions, factors, empty axes, batches, long vectors
in pieces.

Products over all layouts are in ``test_implementations.py``, the calls that are made, and operands
that overlap, in ``test_blas_calls.py``.
"""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import ShapeError
from mat.support import blas_library
from mat.support.native import lib

from ..support import needs
from ..support.layouts import check_hidden, numbers, place, tolerance

# Increments and explicit dimensions


@pytest.mark.parametrize("incx", [1, 2, -1, -3])
@pytest.mark.parametrize("incy", [1, 3, -2])
def test_axpy_walks_as_blas_does(rng, blas_dtype, incx, incy):
    n = 4
    x, y = numbers(rng, 12, blas_dtype), numbers(rng, 12, blas_dtype)
    wanted = y.copy()
    for k in range(n):  # the definition in BLAS's own documentation
        i = k * incx if incx > 0 else (k - n + 1) * incx
        j = k * incy if incy > 0 else (k - n + 1) * incy
        wanted[j] += 2 * x[i]
    out = mat.array(y)
    assert mat.axpy(2, mat.array(x), out, n=n, incx=incx, incy=incy) is out
    assert_allclose(out.to_numpy(), wanted, **tolerance(blas_dtype))


@pytest.mark.parametrize(("size", "inc", "most"),
                         [(7, 2, 4), (7, 3, 3), (1, 5, 1), (0, 2, 0), (6, -2, 3)])
def test_n_goes_as_far_as_the_elements_do(size, inc, most):
    x = mat.ones(size)
    assert mat.asum(x, incx=inc) == most
    assert mat.asum(x, n=most, incx=inc) == most
    with pytest.raises(ShapeError, match=f"n = {most + 1} "):
        mat.asum(x, n=most + 1, incx=inc)


def test_n_may_be_a_numpy_integer():
    assert mat.asum(mat.ones(9), n=np.int64(3), incx=np.int32(2)) == 3.0
    c = mat.gemm(1, mat.ones(3, 3), mat.ones(3, 3), 0, mat.zeros(3, 3), m=np.int64(2),
                 n=np.int64(1), k=np.int64(3))
    assert_array_equal(c.to_numpy(), [[3, 0, 0], [3, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("beta", [0, 2])
def test_gemm_on_flat_storage(rng, blas_dtype, transpose_a, transpose_b, beta):
    m, n, k, lda, ldb, ldc = 2, 3, 4, 6, 5, 7
    rows_a, rows_b = (k, n) if transpose_a and transpose_b else (k if transpose_a else m,
                                                                 n if transpose_b else k)
    a, b = numbers(rng, rows_a * lda, blas_dtype), numbers(rng, rows_b * ldb, blas_dtype)
    c = numbers(rng, m * ldc, blas_dtype)
    left = a.reshape(rows_a, lda)[:, :m if transpose_a else k]
    right = b.reshape(rows_b, ldb)[:, :k if transpose_b else n]
    wanted = c.reshape(m, ldc).copy()
    wanted[:, :n] = 1.5 * (left.T if transpose_a else left) @ (right.T if transpose_b
                                                               else right) + beta * wanted[:, :n]
    if not beta:
        c.reshape(m, ldc)[:, :n] = np.nan
    out = mat.array(c)
    mat.gemm(1.5, mat.array(a), mat.array(b), beta, out, transpose_a=transpose_a,
             transpose_b=transpose_b,
             m=m, n=n, k=k, lda=lda, ldb=ldb, ldc=ldc)
    assert_allclose(out.to_numpy(), wanted.ravel(), **tolerance(blas_dtype))


def test_gemm_takes_the_upper_left_part():
    a, b, c = np.arange(20.0).reshape(4, 5), np.arange(30.0).reshape(5, 6), np.full((4, 6), 7.0)
    got = mat.gemm(1, mat.array(a), mat.array(b), 1, mat.array(c), m=2, n=3, k=4)
    c[:2, :3] += a[:2, :4] @ b[:4, :3]
    assert_array_equal(got.to_numpy(), c)


def test_gemm_takes_the_upper_left_part_of_a_transposed_view():
    a, b = np.arange(12.0).reshape(6, 2), np.arange(8.0).reshape(4, 2)
    got = mat.gemm(1, mat.array(a).T, mat.array(b), 0, mat.zeros(2, 2), k=4)
    assert_array_equal(got.to_numpy(), a.T[:, :4] @ b)
    with pytest.raises(ShapeError, match="3 rows"):
        mat.gemm(1, mat.array(a).T, mat.array(b), 0, mat.zeros(3, 2), m=3, k=4)


def test_gemm_takes_a_block_with_its_own_leading_dimension():
    a = np.arange(24.0).reshape(4, 6)
    got = mat.gemm(1, mat.array(a)[1:, 2:5], mat.eye(3), 0, mat.empty(3, 3), lda=6)
    assert_array_equal(got.to_numpy(), a[1:, 2:5])
    with pytest.raises(ShapeError, match="strides"):
        mat.gemm(1, mat.array(a)[1:, 2:5], mat.eye(3), 0, mat.empty(3, 3), lda=5)


# Factors


@pytest.mark.parametrize("alpha", [2, -1.5, True, 0, -0.0, np.float32(3), np.float64(-2),
                                   np.int8(2), np.bool_(True)])
def test_factors_of_all_kinds(blas_dtype, alpha):
    x, y = np.arange(1, 5).astype(blas_dtype), np.arange(4).astype(blas_dtype)
    wanted = (float(alpha) * x + y).astype(blas_dtype)
    assert_array_equal(mat.axpy(alpha, mat.array(x), mat.array(y)).to_numpy(), wanted)
    assert_array_equal(mat.scal(alpha, mat.array(x)).to_numpy(),
                       (float(alpha) * x).astype(blas_dtype))
    a = np.outer(x, x)
    got = mat.gemm(alpha, mat.array(a), mat.eye(4, dtype=blas_dtype), alpha, mat.array(a))
    assert_array_equal(got.to_numpy(), (2 * float(alpha) * a).astype(blas_dtype))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("alpha", [1j, 2 - 3j, np.complex64(1 + 1j), np.complex128(-1j)])
def test_complex_factors(rng, dtype, alpha):
    x, y, a = numbers(rng, 4, dtype), numbers(rng, 4, dtype), numbers(rng, (4, 4), dtype)
    near = tolerance(dtype)
    assert_allclose(mat.axpy(alpha, mat.array(x), mat.array(y)).to_numpy(), alpha * x + y, **near)
    assert_allclose(mat.scal(alpha, mat.array(x)).to_numpy(), alpha * x, **near)
    got = mat.gemv(alpha, mat.array(a), mat.array(x), alpha, mat.array(y))
    assert_allclose(got.to_numpy(), alpha * (a @ x) + alpha * y, **near)
    assert_allclose(mat.ger(alpha, mat.array(x), mat.array(y), mat.array(a)).to_numpy(),
                    alpha * np.outer(x, y) + a, **near)


def test_minus_zero_keeps_its_sign():
    for factor in (0.0, -0.0, 0.0):
        got = mat.scal(factor, mat.ones(3)).to_numpy()
        assert_array_equal(np.signbit(got), [np.signbit(factor)] * 3)


def test_nan_and_infinite_factors():
    assert_array_equal(mat.scal(float("inf"), mat.array([1.0, -1])).to_numpy(), [np.inf, -np.inf])
    for _ in range(3):
        assert_array_equal(mat.axpy(float("nan"), mat.ones(2), mat.ones(2)).to_numpy(),
                           [np.nan, np.nan])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_dot_is_not_conjugated_and_vdot_conjugates_the_first(dtype):
    x, y = np.array([1 + 2j, 3j], dtype), np.array([2 - 1j, 1 + 1j], dtype)
    assert mat.blas.dot(mat.array(x), mat.array(y)) == (1 + 2j) * (2 - 1j) + 3j * (1 + 1j)
    assert mat.blas.vdot(mat.array(x), mat.array(y)) == (1 - 2j) * (2 - 1j) - 3j * (1 + 1j)
    assert type(mat.blas.dot(mat.array(x), mat.array(y))) is complex


def test_reductions_give_python_numbers(blas_dtype):
    x = mat.array(np.array([3, -4], blas_dtype))
    kind = complex if blas_dtype.startswith("complex") else float
    found = mat.blas.dot(x, x), mat.blas.vdot(x, x), mat.nrm2(x), mat.asum(x), mat.iamax(x)
    assert [type(v) for v in found] == [kind, kind, float, float, int]
    assert found == (25, 25, 5, 7, 1)


@pytest.mark.parametrize(("dtype", "huge"),
                         [("float64", 1e300), ("float32", 1e30), ("complex128", 1e300)])
def test_nrm2_does_not_overflow(dtype, huge):
    x = mat.full(4, huge, dtype)
    assert_allclose(mat.nrm2(x), 2 * huge, rtol=1e-6)
    assert_allclose(mat.nrm2(mat.full(4, 1 / huge, dtype)), 2 / huge, rtol=1e-6)


# beta == 0 never reads, an empty axis leaves beta * y


@pytest.mark.parametrize("n", [1, 2, 7, 64, 200])
@pytest.mark.parametrize("beta", [0, 0.0, -0.0, False, np.float64(0)])
def test_beta_zero_overwrites_nan(rng, n, beta):
    for dtype in ("float32", "complex128"):
        a, b, x = numbers(rng, (n, n), dtype), numbers(rng, (n, n), dtype), numbers(rng, n, dtype)
        near = {"rtol": 1e-3, "atol": 1e-3}
        one, other, vector = mat.array(a), mat.array(b), mat.array(x)

        def nan(*shape, dtype=dtype):
            return mat.full(shape, np.nan, dtype)
        assert_allclose(mat.gemm(1, one, other, beta, nan(n, n)).to_numpy(), a @ b, **near)
        assert_allclose(mat.gemm_batched(1, one[None], other[None], beta, nan(1, n, n)).to_numpy(),
                        (a @ b)[None], **near)
        assert_allclose(mat.gemv(1, one, vector, beta, nan(n)).to_numpy(), a @ x, **near)
        assert_allclose(np.tril(mat.syrk(1, one, beta, nan(n, n)).to_numpy()), np.tril(a @ a.T),
                        **near)
        assert_allclose(mat.geem(1, one, other, beta, nan(n, n)).to_numpy(), a * b, **near)
        assert_allclose(mat.geerv(1, one, vector, beta, nan(n, n)).to_numpy(), a * x, **near)
        assert_allclose(nan(n).sum_(one, 1, 1, beta).to_numpy(), a.sum(1), **near)
    assert_array_equal(mat.add_sign(2, mat.array([-1.0, 3]), beta, mat.full(2, np.nan)).to_numpy(),
                       [-2, 2])


def test_beta_zero_leaves_the_other_triangle():
    c = mat.array([[np.nan, 5.0], [np.nan, np.nan]])
    assert_array_equal(mat.syrk(1, mat.ones(2, 2), 0, c).to_numpy(), [[2, 5], [2, 2]])


@pytest.mark.parametrize("beta", [0, 1, 3])
@pytest.mark.parametrize("layout", ["packed", "strided", "transposed", "negative", "block"])
def test_a_sum_of_nothing(blas_dtype, beta, layout):
    old = np.full((2, 3), np.nan if beta == 0 else 2, blas_dtype)
    wanted = np.full((2, 3), 2 * beta, blas_dtype)
    empty, other = mat.zeros(2, 0, dtype=blas_dtype), mat.zeros(0, 3, dtype=blas_dtype)
    c = place(old, layout)
    assert_array_equal(mat.gemm(1, empty, other, beta, c).to_numpy(), wanted)
    check_hidden(c)
    c = place(old, layout)
    assert_array_equal(mat.gemm(1, empty.T, other.T, beta, c, transpose_a=True,
                                transpose_b=True).to_numpy(), wanted)
    y = place(old[:, 0], layout)
    assert_array_equal(mat.gemv(1, empty, mat.zeros(0, dtype=blas_dtype), beta, y).to_numpy(),
                       wanted[:, 0])
    check_hidden(y)


def test_products_over_an_empty_axis_are_zero():
    assert_array_equal((mat.zeros(2, 0) @ mat.zeros(0, 3)).to_numpy(), np.zeros((2, 3)))
    assert (mat.zeros(0, 2) @ mat.zeros(2, 3)).shape == (0, 3)
    assert (mat.blas.dot(mat.zeros(0), mat.zeros(0)), mat.nrm2(mat.zeros(0)),
            mat.asum(mat.zeros(0))) == (0.0, 0.0, 0.0)


# Elements that were never written are the fill value, also where an operation writes a part


def test_a_partial_write_lets_the_rest_be_what_it_was():
    """Check that the rest is kept where the memory is not allocated yet.

    Access for output that does not overwrite all of it would leave arbitrary elements.
    """
    size = 4096
    rest = np.full(size - 2, 7.0)
    y = mat.blas.copy(mat.ones(2 * size), mat.full(size, 7.0), n=2)
    assert_array_equal(y.to_numpy()[2:], rest)
    y = mat.blas.copy(mat.ones(2), mat.full(size, 7.0), incy=size - 1)
    assert_array_equal(y.to_numpy()[1:-1], rest)
    c = mat.gemm(1, mat.ones(1, 1), mat.ones(1, 2), 0, mat.full((2, size // 2), 7.0), m=1, n=2, k=1)
    assert_array_equal(c.to_numpy().ravel()[2:], rest)
    c = mat.gemm(1, mat.ones(1), mat.ones(2), 0, mat.full(size, 7.0), m=1, n=2, k=1, lda=1, ldb=2,
                 ldc=2)
    assert_array_equal(c.to_numpy()[2:], rest)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_copies_of_what_is_no_vector(dtype, device, rng):
    """Elements keep their places in the shape, by the kernel of permutes; or some are used."""
    for rows, columns in ((3, 5), (300, 520)):
        a = rng.standard_normal((rows, columns)).astype(dtype)
        with mat.use_device(device):
            x = mat.array(a)
            assert_array_equal(mat.blas.copy(x.T, mat.zeros(columns, rows, dtype=dtype)), a.T)
            y = mat.zeros(rows, columns, dtype=dtype)
            assert_array_equal(mat.blas.copy(mat.array(a.T), y.T).T, a)
            y = mat.zeros(columns, rows, dtype=dtype)
            mat.blas.copy(x.T, y, n=5, incx=-2, incy=3)
        wanted = np.zeros(rows * columns, dtype)
        wanted[:13:3] = a.T.reshape(-1)[:9:2][::-1]
        assert_array_equal(y.to_numpy().reshape(-1), wanted)


def test_an_operand_that_is_input_and_output_is_read():
    x = mat.full(4096, 7.0)
    assert_array_equal(mat.blas.copy(x, x.reshape(64, 64)).to_numpy(), np.full((64, 64), 7.0))
    x = mat.full(4096, 7.0)
    assert_array_equal(mat.blas.copy(x, x).to_numpy(), np.full(4096, 7.0))
    x = mat.full(4096, 7.0)
    assert_array_equal(x.square_().to_numpy(), np.full(4096, 49.0))
    x = mat.full(4096, 7.0)
    assert_array_equal(mat.geem(1, x, x, 0, x).to_numpy(), np.full(4096, 49.0))


# Triangles


@pytest.mark.parametrize("kwargs", [{"side": s, "lower": lo, "transpose": t, "unit": u}
                                    for s in ("left", "right")
                                    for lo in (True, False) for t in (True, False)
                                    for u in (True, False)], ids=str)
def test_trsm_solves(rng, blas_dtype, kwargs):
    m, n = 4, 3
    order = m if kwargs["side"] == "left" else n
    a, b = numbers(rng, (order, order), blas_dtype), numbers(rng, (m, n), blas_dtype)
    a = (a / 3 + 2 * np.eye(order, dtype=blas_dtype)).astype(blas_dtype)
    triangle = np.tril(a) if kwargs["lower"] else np.triu(a)
    if kwargs["unit"]:
        np.fill_diagonal(triangle, 1)
    triangle = triangle.T if kwargs["transpose"] else triangle
    x = mat.trsm(2, mat.array(a), mat.array(b), **kwargs).to_numpy()
    assert_allclose(triangle @ x if kwargs["side"] == "left" else x @ triangle, 2 * b,
                    **tolerance(blas_dtype))


# Batches


def test_batches_may_be_strided_and_broadcast(rng, blas_dtype):
    a, b = numbers(rng, (5, 3, 4), blas_dtype), numbers(rng, (4, 2), blas_dtype)
    stacked = mat.array(a)[::2]
    many = mat.array(b).broadcast_to(3, 4, 2)
    c = place(np.full((2, 3, 3), np.nan, blas_dtype), "strided").permute(1, 2, 0)
    with mat.debug.count_copies() as n:
        mat.gemm_batched(1, stacked, many, 0, c)
    assert_allclose(c.to_numpy(), a[::2] @ b, **tolerance(blas_dtype))
    check_hidden(c)
    # NumPy, which multiplies where nothing is compiled, packs nothing
    assert n.packs == (lib is not None), "only c has no adjacent elements"


def test_a_batch_of_nothing():
    assert mat.gemm_batched(1, mat.ones(2, 4, 4)[0:0, ::2, ::2], mat.ones(0, 2, 2), 0,
                            mat.zeros(0, 2, 2)).shape == (0, 2, 2)


# Long vectors in pieces


@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize(("inc", "step"), [(1, 1), (2, 1), (-2, 1), (1, -1), (3, -1), (-1, -1)])
def test_vectors_that_blas_cannot_count(monkeypatch, rng, blas_dtype, limit, inc, step):
    monkeypatch.setattr(blas_library, "LIMIT", limit)
    x, y = numbers(rng, 23, blas_dtype), numbers(rng, 23, blas_dtype)
    near = tolerance(blas_dtype)

    def vector(values):
        return mat.array(values[::step].copy())[::step]
    places = np.arange(0, 23, abs(inc))[::1 if inc > 0 else -1]
    wanted = y.copy()
    wanted[places] += 2 * x[places]
    assert_allclose(mat.axpy(2, vector(x), vector(y), incx=inc, incy=inc).to_numpy(), wanted,
                    **near)
    one, other = vector(x), vector(y)
    mat.swap(one, other, incx=inc, incy=-inc)
    wanted = x.copy()
    wanted[places] = y[places[::-1]]
    assert_array_equal(one.to_numpy(), wanted)
    wanted[:] = y
    wanted[places] = x[places[::-1]]
    assert_array_equal(other.to_numpy(), wanted)
    wanted[:] = y
    wanted[places] = x[places]
    assert_array_equal(mat.blas.copy(vector(x), vector(y), incx=inc, incy=inc).to_numpy(), wanted)
    wanted[:] = x
    wanted[places] *= 3
    assert_allclose(mat.scal(3, vector(x), incx=inc).to_numpy(), wanted, **near)
    near = {"rtol": 1e-4, "atol": 1e-4}
    assert_allclose(mat.blas.dot(vector(x), vector(y), incx=inc, incy=-inc),
                    (x[places] * y[places[::-1]]).sum(), **near)
    assert_allclose(mat.blas.vdot(vector(x), vector(y), incx=inc, incy=inc),
                    (x[places].conj() * y[places]).sum(), **near)
    assert_allclose(mat.nrm2(vector(x), incx=inc), np.linalg.norm(x[places]), **near)
    assert_allclose(mat.asum(vector(x), incx=inc),
                    (np.abs(x[places].real) + np.abs(x[places].imag)).sum(), **near)
    if inc > 0:
        size = np.abs(x[places].real) + np.abs(x[places].imag)
        assert mat.iamax(vector(x), incx=inc) == size.argmax()


@pytest.mark.host
def test_products_of_nothing_scale(blas_dtype):
    y = mat.array([1, 2, np.nan], blas_dtype)
    mat.gemv(1, mat.empty(3, 0, dtype=blas_dtype), mat.empty(0, dtype=blas_dtype), 2, y)
    assert_array_equal(y.to_numpy(), [2, 4, np.nan])
    mat.gemv(1, mat.empty(3, 0, dtype=blas_dtype), mat.empty(0, dtype=blas_dtype), 0, y)
    assert_array_equal(y.to_numpy(), 0)


def test_against_scipy(rng):
    a, b, c = (np.asfortranarray(rng.standard_normal((5, 5))) for _ in range(3))
    wanted = scipy.linalg.blas.dgemm(1.5, a, b, -2, c)
    assert_allclose(mat.gemm(1.5, mat.from_numpy(a), mat.from_numpy(b), -2,
                             mat.array(c)).to_numpy(), wanted)


@needs.native
@pytest.mark.host
def test_steps_that_blas_cannot_count_are_packed_or_left_to_numpy(monkeypatch, rng):
    a = rng.standard_normal((3, 211))
    x = mat.array(a)
    monkeypatch.setattr(blas_library, "LIMIT", 200)
    with mat.debug.count_copies() as copies:
        assert_allclose(mat.matmul(x[:, :2], x[:, 5:7], transpose_a=True).to_numpy(),
                        a[:, :2].T @ a[:, 5:7])
        assert copies.packs == 2
        assert_allclose(mat.blas.dot(x[:, 3], x[:, 4]), a[:, 3] @ a[:, 4])
        assert_allclose(mat.axpy(2, x[:, 3], mat.ones(3)).to_numpy(), 2 * a[:, 3] + 1)
        assert mat.iamax(x[:, 9]) == np.argmax(abs(a[:, 9]))
        assert_allclose(mat.gemv(1, x[:, :2], x[0, :2], 0, mat.empty(3)).to_numpy(),
                        a[:, :2] @ a[0, :2])
        batch = x[:, :4].reshape(1, 3, 4)
        assert_allclose(mat.gemm_batched(1, batch, batch, 0, mat.empty(1, 4, 4),
                                         transpose_a=True).to_numpy()[0],
                        a[:, :4].T @ a[:, :4])
    assert copies.packs == 5
