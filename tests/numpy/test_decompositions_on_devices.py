"""Singular values, eigenvalues, QR factors, and what is made of them, on devices: NumPy's values,
shapes, dtypes and errors, and nothing goes to the host but numbers that decide.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat

from ..support.layouts import BLAS_DTYPES, LAYOUTS, numbers, place

pytestmark = pytest.mark.host
SHAPES = [(4, 4), (5, 3), (3, 5), (2, 3, 4, 4), (2, 6, 3), (3, 2, 5), (1, 1), (1, 4), (4, 1),
          (40, 36), (2, 34, 3), (2, 3, 34)]
SQUARE = [shape for shape in SHAPES if shape[-1] == shape[-2]]
NORMS = (2, -2, "nuc")


@pytest.fixture(params=["emulated", "cuda"], autouse=True)
def device(request):
    if request.param == "cuda":
        pytest.importorskip("cuda.core", reason="cuda-python is not installed")
        request.getfixturevalue("cuda")
    with mat.use_device(request.param, required=True) as found:
        yield found


def adjoint(a):
    return a.conj().swapaxes(-1, -2)


def tolerance(dtype):
    rough = 1e-4 if np.dtype(dtype).char in "fF" else 1e-11
    return {"rtol": rough, "atol": rough}


def computed(name, *operands, reads=0, **options):
    """Return the results as arrays, of the forms that NumPy's have; check the copies."""
    mats = [mat.array(x) if isinstance(x, np.ndarray) else x for x in operands]
    with mat.debug.count_copies() as copies:
        found = getattr(mat.linalg, name)(*mats, **options)
    assert copies.fallbacks == 0
    assert copies.d2h <= reads
    arrays = [np.asarray(x.to_numpy()) if isinstance(x, mat.Mat) else x for x in operands]
    wanted = getattr(np.linalg, name)(*arrays, **options)
    assert type(found).__name__ in ("Mat", type(wanted).__name__)
    several = found if isinstance(found, tuple) else (found,)
    known = wanted if isinstance(wanted, tuple) else (wanted,)
    for one, other in zip(several, known, strict=True):
        assert (one.shape, one.dtype) == (np.shape(other), np.asarray(other).dtype)
    return [x.to_numpy() for x in several], list(map(np.asarray, known))


def check_equal(name, *operands, dtype, **options):
    for one, other in zip(*computed(name, *operands, **options), strict=True):
        assert_allclose(one, other, **tolerance(dtype))


def is_unitary(q):
    assert_allclose(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2],
                    q.shape[-1], q.shape[-1])), **tolerance(q.dtype))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_singular_values(rng, dtype, shape):
    a, k = numbers(rng, shape, dtype), min(shape[-2:])
    for full in (True, False):
        (u, s, vh), wanted = computed("svd", a, full_matrices=full)
        assert_allclose(s, wanted[1], **tolerance(dtype))
        assert_allclose(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a, **tolerance(dtype))
        is_unitary(u)
        is_unitary(adjoint(vh))
    check_equal("svd", a, compute_uv=False, dtype=dtype)
    check_equal("svdvals", a, dtype=dtype)
    for order in NORMS:
        check_equal("norm", a, order, axis=(-1, -2), dtype=dtype)
        check_equal("matrix_norm", a, ord=order, keepdims=True, dtype=dtype)
        check_equal("norm", a, order, axis=(0, 1), keepdims=True, dtype=dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_what_singular_values_are_used_for(rng, dtype, shape):
    a = numbers(rng, shape, dtype)
    a[..., -1, :] = a[..., 0, :]
    check_equal("matrix_rank", a, dtype=dtype)
    check_equal("matrix_rank", a, 0.5, dtype=dtype)
    check_equal("matrix_rank", a, rtol=0.3, dtype=dtype)
    check_equal("pinv", a, 1e-3, dtype=dtype)
    check_equal("pinv", a, rtol=0.5, dtype=dtype)
    whole = numbers(rng, shape, dtype)
    for p in (None, 2, -2):
        check_equal("cond", whole, p, dtype=dtype)
    check_equal("pinv", whole, rtol=None, dtype=dtype)


@pytest.mark.parametrize("shape", [s for s in SHAPES if len(s) == 2])
@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_least_squares(rng, dtype, shape):
    a = numbers(rng, shape, dtype)
    for b in (numbers(rng, shape[:1], dtype), numbers(rng, (shape[0], 3), dtype),
              np.arange(shape[0])):
        check_equal("lstsq", a, b, dtype=dtype, reads=1)
        check_equal("lstsq", a, b, rcond=0.5, dtype=dtype, reads=1)
        check_equal("lstsq", a, b, rcond=-1, dtype=dtype, reads=1)


def test_least_squares_of_elements_that_are_not_finite_do_not_converge():
    for value in (np.nan, np.inf):
        a = np.array([[value]], "float32")
        for f, x in ((np, a), (mat, mat.array(a))):
            with mat.use_device("emulated"), pytest.raises(np.linalg.LinAlgError, match=(
                    "SVD did not converge")):
                f.linalg.lstsq(x, x[0], rcond=None)


@pytest.mark.parametrize("shape", SQUARE)
@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_hermitian_matrices(rng, dtype, shape):
    a = numbers(rng, shape, dtype)
    for uplo in ("L", "u"):
        (w, v), wanted = computed("eigh", a, UPLO=uplo)
        assert_allclose(w, wanted[0], **tolerance(dtype))
        half = np.tril(a, -1) if uplo == "L" else np.triu(a, 1)
        whole = half + adjoint(half) + a * np.eye(shape[-1])
        if dtype.startswith("complex"):
            whole -= 1j * np.eye(shape[-1]) * a.imag
        assert_allclose(whole @ v, v * w[..., None, :], **tolerance(dtype))
        is_unitary(v)
        check_equal("eigvalsh", a, UPLO=uplo, dtype=dtype)
    a = a + adjoint(a)
    (u, s, vh), wanted = computed("svd", a, hermitian=True)
    assert_allclose(s, wanted[1], **tolerance(dtype))
    assert_allclose(u * s[..., None, :] @ vh, a, **tolerance(dtype))
    check_equal("svd", a, compute_uv=False, hermitian=True, dtype=dtype)
    check_equal("matrix_rank", a, hermitian=True, dtype=dtype)
    check_equal("pinv", a, hermitian=True, rcond=1e-3, dtype=dtype)


@pytest.mark.parametrize("shape", SQUARE)
@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_eigenvalues(rng, dtype, shape):
    a = numbers(rng, shape, dtype)
    for x in (a, a + adjoint(a), np.triu(a)):
        (w, v), wanted = computed("eig", x, reads=2)
        assert_allclose(x @ v, v * w[..., None, :], **tolerance(dtype))
        assert_allclose(np.linalg.norm(v, axis=-2), np.ones(shape[:-1]), **tolerance(dtype))
        found, _ = computed("eigvals", x, reads=2)
        for values in (w, found[0]):
            assert_allclose(np.sort(abs(values)), np.sort(abs(wanted[0])), **tolerance(dtype))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_qr(rng, dtype, shape):
    a = numbers(rng, shape, dtype)
    for mode in ("reduced", "complete"):
        (q, r), _ = computed("qr", a, mode=mode)
        assert_allclose(q @ r, a, **tolerance(dtype))
        is_unitary(q)
        assert (np.tril(r, -1) == 0).all()
    (r,), (wanted,) = computed("qr", a, mode="r")
    assert_allclose(abs(r), abs(wanted), **tolerance(dtype))


@pytest.mark.parametrize("shape", SQUARE)
@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_determinants_of_stacks(rng, dtype, shape):
    a = numbers(rng, shape, dtype) + np.eye(shape[-1], dtype=dtype)
    for x in (a, a[..., ::-1, :].copy(), np.zeros_like(a)):
        check_equal("slogdet", x, dtype=dtype)
        if shape[-1] < 10:
            check_equal("det", x, dtype=dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(rng, layout):
    for shape in ((4, 4), (6, 3), (2, 5)):
        a = numbers(rng, shape, "complex64")
        x = place(a, layout)
        for name in ("svdvals", "pinv", "cond"):
            check_equal(name, x, dtype="complex64")
        (q, r), _ = computed("qr", x)
        assert_allclose(q @ r, a, **tolerance("complex64"))
        if shape == (4, 4):
            for name in ("eigvalsh", "det"):
                check_equal(name, x, dtype="complex64")


def test_integers_are_converted_there():
    a = np.array([[2, 1], [1, 3]])
    for name in ("svdvals", "eigvalsh", "pinv", "cond", "matrix_rank", "det", "inv", "cholesky"):
        check_equal(name, a, dtype="float64")
    check_equal("solve", a, np.array([1, 2]), dtype="float64")


@pytest.mark.parametrize("shape", SQUARE)
@pytest.mark.parametrize("dtype", BLAS_DTYPES)
def test_conditions_and_upper_factors(rng, dtype, shape):
    a = numbers(rng, shape, dtype) + 9 * np.eye(shape[-1], dtype=dtype)
    for p in (1, -1, np.inf, -np.inf, "fro", "nuc"):
        check_equal("cond", a, p, dtype=dtype)
    positive = a @ adjoint(a)
    check_equal("cholesky", np.triu(positive), upper=True, dtype=dtype)
    check_equal("cholesky", np.tril(positive), upper=False, dtype=dtype)


def test_conditions_of_singular_matrices_are_infinite():
    for p in (1, np.inf, "fro"):
        assert mat.linalg.cond(mat.zeros(2, 2), p) == np.inf == np.linalg.cond(np.zeros((2, 2)), p)


@pytest.mark.parametrize("name", ["svd", "svdvals", "eigh", "eigvalsh", "pinv", "matrix_rank",
                                  "cond", "eig", "eigvals"])
def test_what_does_not_converge_is_numpys_error(name):
    a = np.full((2, 4, 4), np.nan)
    with pytest.raises(np.linalg.LinAlgError) as wanted:
        getattr(np.linalg, name)(a)
    with pytest.raises(np.linalg.LinAlgError, match=str(wanted.value)):
        getattr(mat.linalg, name)(mat.array(a))


@pytest.mark.parametrize("call", [
    lambda f, x: f.svd(x[0]), lambda f, x: f.eigh(x), lambda f, x: f.eigh(x[:, :3], "A"),
    lambda f, x: f.qr(x, "no"), lambda f, x: f.eig(x), lambda f, x: f.lstsq(x, x[:2]),
    lambda f, x: f.matrix_rank(x, 1, rtol=1), lambda f, x: f.pinv(x, 1, rtol=1),
    lambda f, x: f.det(x), lambda f, x: f.cond(x[:0]), lambda f, x: f.svd(x.astype("float16"))])
def test_errors_are_numpys(call):
    with pytest.raises((ValueError, TypeError, np.linalg.LinAlgError)) as wanted:
        call(np.linalg, np.ones((3, 4)))
    with pytest.raises(type(wanted.value)):
        call(mat.linalg, mat.ones(3, 4))


def test_determinants_that_do_not_fit_are_computed_in_tiles(rng, device):
    a = numbers(rng, (12, 5, 8, 8), "float64")
    for x, b in ((mat.array(a), a), (mat.array(a).swapaxes(0, 1), a.swapaxes(0, 1))):
        with mat.use_device(device.name, required=True, pool_bytes=20_000):
            found = [part.to_numpy() for part in mat.linalg.slogdet(x)]
        for one, other in zip(found, np.linalg.slogdet(b), strict=True):
            assert_allclose(one, other, rtol=1e-10)


@pytest.mark.parametrize("name", ["svd", "eigh", "qr"])
def test_stacks_that_do_not_fit_are_computed_in_tiles(rng, name, request, device):
    a = numbers(rng, (60, 8, 8), "float64")
    with mat.use_device(device.name, required=True, pool_bytes=60_000):
        found = [x.to_numpy() for x in getattr(mat.linalg, name)(mat.array(a))]
    assert_allclose(found[0] * found[1][..., None, :] @ found[2] if name == "svd" else
                    found[1] * found[0][..., None, :] @ adjoint(found[1]) if name == "eigh" else
                    found[0] @ found[1],
                    np.tril(a) + adjoint(np.tril(a, -1)) if name == "eigh" else a, atol=1e-10)
