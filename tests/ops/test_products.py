"""Products of vectors, matrices and stacks by BLAS: which calls are made, without any copy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.ops.linear.matmul import product
from mat.support import blas_library
from mat.support.native import lib

from ..support.layouts import LAYOUTS, check_hidden, numbers, place
from .test_blas_calls import calls_of

pytestmark = pytest.mark.host
SHAPES = [((5,), (5, 4)), ((4, 5), (5,)), ((5,), (5,)), ((1, 5), (5, 4)), ((4, 5), (5, 1)),
          ((1, 5), (5, 1)), ((3, 4, 5), (5, 2)), ((3, 4, 5), (3, 5, 2)), ((3, 4, 5), (5,)),
          ((5,), (3, 5, 2)), ((2, 1, 4, 5), (3, 5, 2)), ((3, 1, 5), (3, 5, 1))]


@pytest.mark.parametrize(("one", "other"), SHAPES, ids=str)
def test_products_of_all_layouts(rng, blas_dtype, one, other):
    a, b = numbers(rng, one, blas_dtype), numbers(rng, other, blas_dtype)
    wanted = a @ b
    near = {"rtol": 1e-4, "atol": 1e-4} if wanted.dtype.char in "fF" else {"rtol": 1e-11}
    for left in LAYOUTS:
        for right in LAYOUTS:
            x, y = place(a, left), place(b, right)
            out = place(np.full_like(wanted, np.nan), left)
            for _ in range(2):  # checked, and by the plan
                assert_allclose((x @ y).to_numpy(), wanted, **near)
                mat.matmul(x, y, out=out)
                assert_allclose(out.to_numpy(), wanted, **near)
                check_hidden(out)
                out.fill_(np.nan)


@pytest.mark.parametrize(("left", "right", "call"), [
    (lambda x, a, s: x, lambda x, a, s: a, "dgemv(trans=N, m=6, n=6, lda=6, incx=1, incy=1)"),
    (lambda x, a, s: a, lambda x, a, s: x, "dgemv(trans=T, m=6, n=6, lda=6, incx=1, incy=1)"),
    (lambda x, a, s: x[::-1], lambda x, a, s: a.T,
     "dgemv(trans=T, m=6, n=6, lda=6, incx=-1, incy=1)"),
    (lambda x, a, s: a[:, 1], lambda x, a, s: x, "ddot(n=6, incx=6, incy=1)"),
    (lambda x, a, s: x[::-1], lambda x, a, s: x, "ddot(n=6, incx=-1, incy=1)"),
    (lambda x, a, s: a[1:3], lambda x, a, s: a[:, :1],
     "dgemv(trans=T, m=6, n=2, lda=6, incx=6, incy=1)"),
    # a stack and one matrix are one product of more rows
    (lambda x, a, s: s, lambda x, a, s: a,
     "dgemm(trans=NN, m=6, n=18, k=6, lda=6, ldb=6, ldc=6)"),
    (lambda x, a, s: s, lambda x, a, s: x, "dgemv(trans=T, m=6, n=18, lda=6, incx=1, incy=1)"),
    (lambda x, a, s: s, lambda x, a, s: s[::-1],
     "dgemm(trans=NN, m=6, n=6, k=6, lda=6, ldb=6, ldc=6, count=3)"),
    (lambda x, a, s: a, lambda x, a, s: s.swapaxes(1, 2),
     "dgemm(trans=TN, m=6, n=6, k=6, lda=6, ldb=6, ldc=6, count=3)"),
])
@pytest.mark.host
@pytest.mark.skipif(lib is None, reason="one call for each matrix of a stack")
def test_one_call_without_packing(rng, left, right, call):
    given = [rng.standard_normal(shape) for shape in ((6,), (6, 6), (3, 6, 6))]
    mats = [mat.array(g) for g in given]
    made, packs, found = calls_of(lambda: left(*mats) @ right(*mats))
    assert made == [call]
    assert packs == 0
    assert_allclose(found.to_numpy(), left(*given) @ right(*given), rtol=1e-11)


@pytest.mark.skipif(lib is None, reason="kernels are compiled")
@pytest.mark.parametrize(("one", "other"), SHAPES, ids=str)
def test_later_calls_are_kernels(one, other):
    a, b = mat.ones(one), mat.ones(other)
    out = a @ b
    product(a, b, out)
    assert product.walk(product.root, (a, b, out), {}, False).plan.armed
    assert product.walk(product.new_root, (a, b, None), None, False).plan.armed


@pytest.mark.parametrize(("one", "other"), [((2, 3), (3,)), ((3,), (3, 2)), ((3,), (3,)),
                                            ((2, 3), (3, 2)), ((4, 2, 3), (4, 3, 2))], ids=str)
def test_what_is_not_finite_stays_so(one, other):
    for value in (np.nan, np.inf, -np.inf):
        a, b = np.zeros(one), np.ones(other)
        a[..., 0] = value
        with np.errstate(invalid="ignore"):
            assert_array_equal((mat.array(a) @ mat.array(b)).to_numpy(), a @ b)
            b[...] = 0
            assert_array_equal((mat.array(a) @ mat.array(b)).to_numpy(), a @ b)


@pytest.mark.parametrize(("one", "other"), [((2, 0), (0,)), ((0,), (0, 2)), ((0,), (0,)),
                                            ((2, 0), (0, 2)), ((4, 2, 0), (4, 0, 2)),
                                            ((4, 2, 0), (0,))], ids=str)
def test_an_empty_sum_is_0(blas_dtype, one, other):
    a, b = mat.zeros(one, dtype=blas_dtype), mat.zeros(other, dtype=blas_dtype)
    for _ in range(2):
        wanted = np.matmul(np.zeros(one, blas_dtype), np.zeros(other, blas_dtype))
        out = mat.full(wanted.shape, np.nan, dtype=blas_dtype)
        assert_array_equal(mat.matmul(a, b, out=out).to_numpy(), wanted)


def test_stacks_that_threads_share(rng):
    a, b = rng.standard_normal((5000, 8, 9)), rng.standard_normal((5000, 9, 7))
    x, y = mat.array(a), mat.array(b)
    for _ in range(3):
        assert_allclose((x @ y).to_numpy(), a @ b, rtol=1e-11)
        assert_allclose((x[::-3] @ y[::3][:1667]).to_numpy(), a[::-3] @ b[::3][:1667], rtol=1e-11)


@pytest.mark.parametrize(("one", "other"), [((7,), (7, 7)), ((7,), (7,)), ((3, 4, 7), (7,)),
                                            ((3, 4, 4), (3, 4, 4))], ids=str)
def test_what_blas_cannot_count_is_left_to_numpy(monkeypatch, rng, one, other):
    monkeypatch.setattr(blas_library, "LIMIT", 6)
    a, b = rng.standard_normal(one), rng.standard_normal(other)
    made, packs, found = calls_of(lambda: mat.array(a) @ mat.array(b))
    assert (made, packs) == ([], 0)
    assert_allclose(found.to_numpy(), a @ b, rtol=1e-11)


def test_the_same_mat_twice(rng):
    a, x = rng.standard_normal((4, 4)), rng.standard_normal(4)
    square, vector = mat.array(a), mat.array(x)
    for _ in range(2):
        assert_allclose((square @ square).to_numpy(), a @ a)
        assert_allclose((square @ square.T).to_numpy(), a @ a.T)
        assert_allclose((vector @ vector).item(), x @ x)
