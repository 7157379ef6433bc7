"""Products, inverses, solutions and factors, compared with NumPy's: ranks, stacks, dtypes, singular
matrices, the order of many products.
"""

import math

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import DTypeError, LinAlgError, ShapeError

from ..conftest import DEVICE
from ..support import needs, selection
from ..support.layouts import (
    BLAS_DTYPES,
    MIXES,
    NUMPY_DTYPES,
    check_hidden,
    numbers,
    place,
    tolerance,
)

RANKS = (((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)), ((5, 3, 4), (4, 2)),
         ((4,), (5, 4, 2)),
         ((5, 3, 4), (4,)), ((2, 1, 3, 4), (5, 4, 2)), ((3, 0), (0, 2)), ((0, 3), (3, 2)),
         ((0, 3, 4), (4, 2)), ((0,), (0,)))


def agree(got, wanted):
    wanted = np.asarray(wanted)
    assert isinstance(got, mat.Mat)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    assert_allclose(got.to_numpy(), wanted, **tolerance(wanted.dtype))


# matmul


@pytest.mark.parametrize(("one", "other"), RANKS, ids=str)
def test_matmul_of_all_ranks(rng, one, other):
    a, b = rng.standard_normal(one), rng.standard_normal(other)
    wanted = np.matmul(a, b)
    for layout in MIXES:
        x, y = place(a, MIXES[layout][0]), place(b, MIXES[layout][-1])
        agree(x @ y, wanted)
        agree(mat.matmul(x, y), wanted)
        agree(x @ b, wanted)
        agree(a @ y, wanted)
        out = place(np.full_like(wanted, np.nan), "block")
        assert mat.matmul(x, y, out=out) is out
        assert_allclose(out.to_numpy(), wanted, rtol=1e-12)
        check_hidden(out)


@pytest.mark.parametrize(("one", "other"), [((4, 3), (2, 4)), ((5, 4, 3), (2, 4)), ((4,), (2, 4))],
                         ids=str)
def test_matmul_of_transposed_operands(rng, one, other):
    a, b = rng.standard_normal(one), rng.standard_normal(other)
    left = a.swapaxes(-1, -2) if a.ndim > 1 else a
    agree(mat.matmul(mat.array(a), mat.array(b), transpose_a=True, transpose_b=True), left @ b.T)
    out = mat.full((left @ b.T).shape, np.nan)
    assert mat.matmul(mat.array(a), mat.array(b), out, transpose_a=True, transpose_b=True) is out
    agree(out, left @ b.T)
    agree(mat.matmul(mat.array(left), mat.array(b), transpose_b=True), left @ b.T)
    agree(mat.matmul(mat.array(a), mat.array(b.T), transpose_a=True), left @ b.T)
    agree(mat.matmul(mat.array(left), mat.array(b.T), transpose_a=np.bool_(False)), left @ b.T)


@pytest.mark.parametrize("one", NUMPY_DTYPES)
def test_matmul_promotes_as_numpy(rng, one):
    for other in NUMPY_DTYPES:
        a, b = numbers(rng, (2, 3), one), numbers(rng, (3, 2), other)
        with np.errstate(all="ignore"):
            wanted = a @ b
        got = mat.array(a) @ mat.array(b)
        assert got.dtype == wanted.dtype
        assert_allclose(got.to_numpy(), wanted,
                        **tolerance(min(wanted.dtype, a.dtype, b.dtype, key=lambda d: -eps(d))))


def eps(dtype):
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


@pytest.mark.parametrize(("one", "other"),
                         [((3, 4), (3, 4)), ((3,), (4,)), ((2, 3, 4), (3, 4, 2)), ((3, 4), ()),
                          ((), (3, 3))], ids=str)
def test_matmul_of_what_does_not_fit(one, other):
    with pytest.raises(ShapeError, match="matmul"):
        mat.zeros(one) @ mat.zeros(other)


def test_operands_of_matmul_may_overlap_its_output(rng):
    def products(m, a):
        x = m.array(a)
        found = [m.matmul(x, x, out=x), m.matmul(x[:2, :2], x[2:, 2:], x[1:3, 1:3]),
                 m.matmul(x[0], x, out=x[1]), m.matmul(x.T, x, out=x.T),
                 m.matmul(x.reshape(1, 4, 4), x, out=x.reshape(1, 4, 4)), m.dot(x, x, out=x)]
        return [np.array(found[k]) for k in range(len(found))]

    for a in (rng.random((4, 4)), rng.integers(0, 9, (4, 4)).astype("int16")):
        for found, wanted in zip(products(mat, a), products(np, a), strict=True):
            np.testing.assert_allclose(found, wanted, 1e-12)
    x = np.ones((2, 2))
    assert mat.matmul(x, [[1, 2], [3, 4]], out=mat.from_numpy(x)).tolist() == [[4, 6], [4, 6]]


def test_matmul_with_out_that_does_not_fit():
    a = mat.ones(2, 2)
    with pytest.raises(ShapeError, match=r"\(3, 2\)"):
        mat.matmul(a, a, out=mat.zeros(3, 2))
    with pytest.raises(DTypeError, match="int32"):
        mat.matmul(a, a, out=mat.zeros(2, 2, dtype="int32"))
    assert_array_equal(mat.matmul(a, a, out=mat.zeros(2, 2, dtype="float32")).to_numpy(),
                       [[2, 2], [2, 2]])
    assert_array_equal(a.to_numpy(), np.ones((2, 2)))


@settings(max_examples=selection.examples(60))
@given(st.tuples(*[st.integers(0, 6)] * 3), st.booleans(), st.booleans(), st.integers(1, 3),
       st.integers(1, 3),
       st.integers(0, 99))
def test_any_product_of_views(sizes, turn_a, turn_b, down, across, seed):
    m, n, k = sizes
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-9, 9,
                        (m * down,
                         k * across)).astype(float), rng.integers(-9, 9,
                                                                  (k * across,
                                                                   n * down)).astype(float)
    one, other = mat.array(a.T if turn_a else a), mat.array(b.T if turn_b else b)
    one, other = (one.T if turn_a else one), (other.T if turn_b else other)
    agree(one[::down, ::across] @ other[::across, ::down],
          a[::down, ::across] @ b[::across, ::down])


# multi_dot


@pytest.mark.parametrize("shapes", [
    [(2, 3), (3, 4)], [(10, 2), (2, 30), (30, 1), (1, 5)], [(3,), (3, 4), (4, 2)],
    [(2, 3), (3, 4), (4,)],
    [(3,), (3, 3), (3,)], [(3,), (3,)], [(1, 1), (1, 1), (1, 1)], [(2, 0), (0, 3), (3, 2)]],
                         ids=str)
def test_multi_dot(rng, shapes):
    arrays = [rng.standard_normal(s) for s in shapes]
    wanted = arrays[0]
    for a in arrays[1:]:
        wanted = wanted @ a
    agree(mat.multi_dot([mat.array(a) for a in arrays]), wanted)
    agree(mat.multi_dot(mat.array(a) for a in arrays), wanted)


@needs.native
def test_multi_dot_multiplies_in_the_best_order():
    chain = [mat.ones(*shape) for shape in ((30, 1), (1, 40), (40, 10), (10, 25))]
    with mat.debug.list_calls() as made:
        mat.multi_dot(chain)
    # a row times a matrix is a gemv, whose inner axis is one of its two
    done = [call.arguments["m"] * call.arguments["n"] * call.arguments.get("k", 1)
            for call in made.calls]
    assert sum(done) == 1 * 40 * 10 + 1 * 10 * 25 + 30 * 1 * 25


@pytest.mark.parametrize("shapes", [[], [(2, 2)], [(2, 3), (2, 3)], [(2, 2), (2,), (2, 2)],
                                    [(2, 2, 2), (2, 2)],
                                    [(), (2,)]], ids=str)
def test_multi_dot_of_what_does_not_fit(shapes):
    with pytest.raises(ShapeError):
        mat.multi_dot([mat.zeros(s) for s in shapes])


# LAPACK


def well_conditioned(rng, shape, dtype):
    return (numbers(rng, shape, dtype) / 4 + 2 * np.eye(shape[-1])).astype(dtype)


def positive(rng, shape, dtype):
    a = numbers(rng, shape, dtype)
    return a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype)


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (3, 2, 2), (2, 1, 3, 3), (0, 0), (0, 2, 2)],
                         ids=str)
@pytest.mark.parametrize("layout", ["packed", "strided", "transposed"])
def test_inverses_and_factors(rng, blas_dtype, shape, layout):
    near = tolerance(blas_dtype)
    a, unit = well_conditioned(rng, shape, blas_dtype), np.broadcast_to(np.eye(shape[-1]), shape)
    x = place(a, layout)
    got = mat.inv(x)
    assert got.dtype == blas_dtype
    assert_allclose(got.to_numpy() @ a, unit, **near)
    agree(x.inv(), got.to_numpy())
    b = positive(rng, shape, blas_dtype)
    lower = mat.cholesky(place(b, layout))
    assert lower.dtype == blas_dtype
    assert_array_equal(lower.to_numpy(), np.tril(lower.to_numpy()))
    assert_allclose(lower.to_numpy() @ lower.to_numpy().conj().swapaxes(-1, -2), b, **near)
    agree(place(b, layout).cholesky(), lower.to_numpy())


def test_cholesky_reads_the_lower_triangle_only(rng, blas_dtype):
    a = positive(rng, (4, 4), blas_dtype)
    spoiled = np.where(np.tri(4, dtype=bool), a, np.nan).astype(blas_dtype)
    assert_array_equal(mat.cholesky(mat.array(spoiled)).to_numpy(),
                       mat.cholesky(mat.array(a)).to_numpy())


@pytest.mark.parametrize(("shape", "right", "wanted"), [
    ((3, 3), (3,), (3,)), ((3, 3), (3, 2), (3, 2)), ((3, 3), (3, 0), (3, 0)),
    ((2, 3, 3), (2, 3, 4), (2, 3, 4)),
    ((2, 3, 3), (3, 4), (2, 3, 4)), ((3, 3), (2, 3, 1), (2, 3, 1)), ((2, 3, 3), (3,), (2, 3)),
    ((0, 0), (0,), (0,))], ids=str)
def test_solve(rng, blas_dtype, shape, right, wanted):
    a, b = well_conditioned(rng, shape, blas_dtype), numbers(rng, right, blas_dtype)
    for layout in ("packed", "strided", "transposed"):
        x = mat.solve(place(a, layout), place(b, layout))
        assert (x.shape, x.dtype) == (wanted, blas_dtype)
        found = x.to_numpy()
        product = a @ found if b.ndim > 1 else (a @ found[..., None])[..., 0]
        assert_allclose(product, np.broadcast_to(b, wanted), **tolerance(blas_dtype))


@pytest.mark.parametrize("dtype", [*BLAS_DTYPES, "int32", "bool"])
def test_slogdet(rng, dtype):
    for n in (0, 1, 2, 5):
        a = numbers(rng, (n, n), dtype) + (np.eye(n) * 3).astype(dtype)
        sign, logabsdet = mat.slogdet(mat.array(a))
        determinant = scipy.linalg.det(a + 0.0) if n else 1.0
        near = tolerance(np.result_type(dtype, "float32"))
        assert_allclose(sign * math.exp(logabsdet), determinant, **near)
        assert_allclose(abs(sign), float(determinant != 0), **near)
        assert isinstance(logabsdet, float)
        assert type(sign) is (complex if dtype.startswith("complex") else float)
        assert mat.array(a).slogdet() == (sign, logabsdet)


@pytest.mark.parametrize("known", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("integers", ["bool", "uint8", "int64"])
def test_integers_beside_others_are_float64(known, integers):
    a, b = np.array([[2, 0], [1, 1]]), np.ones((2, 1))
    for p, q in ((known, integers), (integers, known)):
        wanted = np.linalg.solve(a.astype(p), b.astype(q))
        for solve in mat.solve, mat.linalg.solve:
            found = solve(mat.array(a, p), mat.array(b, q))
            assert found.dtype == wanted.dtype
            assert_allclose(found.to_numpy(), wanted)


def test_integers_give_float64():
    a = mat.array([[2, 0], [0, 4]], "int32")
    agree(mat.inv(a), np.diag([0.5, 0.25]))
    agree(mat.solve(a, mat.array([2, 4], "int8")), np.ones(2))
    agree(mat.cholesky(mat.array([[4, 0], [0, 9]], "uint8")), np.diag([2.0, 3.0]))
    many = (4 * np.eye(130)).astype("int16")
    agree(mat.cholesky(mat.array(many)), 2.0 * np.eye(130))
    agree(mat.solve(a, mat.array([2, 4], "float32")), np.ones(2))


@pytest.mark.parametrize("a", [[[1, 2], [2, 4]], [[0, 0], [0, 0]],
                               [[[1, 0], [0, 1]], [[1, 2], [2, 4]]]], ids=str)
def test_singular_matrices(blas_dtype, a):
    x = mat.array(a, blas_dtype)
    before = x.to_numpy()
    with pytest.raises(LinAlgError, match="singular"):
        mat.inv(x)
    with pytest.raises(LinAlgError, match="singular"):
        mat.solve(x, mat.ones(2, dtype=blas_dtype))
    with pytest.raises(LinAlgError, match="positive definite"):
        mat.cholesky(x - mat.eye(2, dtype=blas_dtype))
    assert_array_equal(x.to_numpy(), before)
    assert mat.slogdet(mat.zeros(2, 2)) == (0.0, -math.inf)


@pytest.mark.parametrize("n", [127, 128, 200])
@pytest.mark.parametrize("layout", ["packed", "strided", "transposed"])
def test_cholesky_of_large_matrices(rng, blas_dtype, layout, n):
    a = positive(rng, (n, n), blas_dtype)
    wanted = np.linalg.cholesky(a.astype(np.result_type(blas_dtype, "float64")))
    spoiled = np.where(np.tri(n, dtype=bool), a, np.nan).astype(blas_dtype)
    # on the host single precision is computed in double
    same = a.dtype.char in "dD" or DEVICE.startswith("cuda")
    scale = float(np.finfo(blas_dtype).eps) * (np.sqrt(n) if same else 1)
    for one in (a, spoiled):
        found = mat.cholesky(place(one, layout))
        assert found.dtype == blas_dtype
        assert_allclose(found.to_numpy(), wanted, rtol=0, atol=4 * scale * abs(wanted).max())
        assert_array_equal(found.to_numpy(), np.tril(found.to_numpy()))
    a[-1, -1] = -1
    with pytest.raises(LinAlgError, match="cholesky: the matrix is not positive definite"):
        mat.cholesky(place(a, layout))


def test_trsm_with_a_zero_on_the_diagonal_gives_inf():
    got = mat.trsm(1, mat.array([[0.0, 0], [0, 1]]), mat.array([[1.0], [2.0]]))
    assert_array_equal(got.to_numpy(), [[math.inf], [math.nan]])


def test_symmetric_positive_definite_system_by_parts(rng):
    a, b = positive(rng, (5, 5), "float64"), rng.standard_normal((5, 2))
    lower = mat.cholesky(mat.array(a))
    x = mat.trsm(1, lower, mat.trsm(1, lower, mat.array(b)), transpose=True)
    assert_allclose(x.to_numpy(), scipy.linalg.solve(a, b, assume_a="pos"))
