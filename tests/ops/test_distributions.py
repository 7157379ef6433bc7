"""Random numbers are distributed as they should be, and exact where no statistic would notice.

Seeds are fixed, so a test of a distribution that passes passes always; limits are those of a chance
of about one in 10,000.
"""

import numpy as np
import pytest
import scipy  # what it has is imported at its first use
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.ops.primitives import philox

from ..support.drawing import REAL, N, normal, real, uniform

# Uniform


@real
@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_uniform(seed, dtype):
    u = uniform(seed, dtype=dtype)
    assert u.min() >= 0
    assert u.max() < 1
    assert scipy.stats.kstest(u.astype(np.float64), "uniform").pvalue > 1e-4
    assert scipy.stats.chisquare(np.bincount((u * 1000).astype(int), minlength=1000)).pvalue > 1e-4
    assert abs(u.mean(dtype=np.float64) - 0.5) < 4 / np.sqrt(12 * N)


@real
def test_uniform_in_several_dimensions(dtype):
    """Neighbours, words of a block and the same words of neighbouring blocks are independent."""
    u = uniform(6, 4 * N, dtype)
    for lag in (1, 2, 3, 4, 8, 64, 256):
        cells = (u[lag::lag + 1][:N]
                 * 16).astype(int) * 16 + (u[::lag + 1][:len(u[lag::lag + 1])][:N] * 16).astype(int)
        assert scipy.stats.chisquare(np.bincount(cells, minlength=256)).pvalue > 1e-4


@real
def test_every_bit_is_set_half_of_the_time(dtype):
    bits = 24 if dtype == "float32" else 53
    words = (uniform(7, dtype=dtype).astype(np.float64) * 2**bits).astype(np.uint64)
    assert_array_equal(words / 2.0**bits, uniform(7, dtype=dtype))
    for k in range(bits):
        ones = int((words >> np.uint64(k) & np.uint64(1)).sum())
        assert abs(ones - N / 2) < 4.5 * np.sqrt(N) / 2


@real
@pytest.mark.parametrize("limit", [1e-30, 0.1, 3, 1e30])
def test_limits(limit, dtype):
    u = uniform(8, dtype=dtype, limit=limit)
    assert_array_equal(u, uniform(8, dtype=dtype) * np.dtype(dtype).type(limit))
    assert u.max() < np.dtype(dtype).type(limit)


@real
def test_a_limit_that_rounding_could_reach(dtype):
    smallest = np.nextafter(np.zeros((), dtype), np.ones((), dtype))
    assert uniform(9, 1000, dtype, float(smallest)).max() == 0
    assert set(uniform(9, 1000, dtype,
                       float(3 * smallest)).tolist()) == {0, float(smallest), float(2 * smallest)}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("limit", [1, 3, 0.3])
def test_uniform_in_16_bits(dtype, limit):
    pytest.importorskip("ml_dtypes")
    x = mat.empty(N, dtype=dtype).uniform_(limit, rng=mat.Rng(10))
    found, draws = x.to_numpy().astype(np.float32), uniform(10, dtype="float32", limit=limit)
    assert found.min() >= 0
    assert found.max() < limit
    below = found == found.max()
    assert_array_equal(found[~below], draws.astype(x.dtype).astype(np.float32)[~below])
    assert draws[below].min() > limit * (1 - 2**-6)


@pytest.mark.parametrize(("dtype", "part"), [("complex64", "float32"), ("complex128", "float64")])
def test_complex_elements_have_two_parts(dtype, part):
    z = mat.empty((5, 7), dtype=dtype).uniform_(2, rng=mat.Rng(11)).to_numpy()
    assert_array_equal(z.reshape(-1).view(part), uniform(11, 70, part, 2))
    z = mat.empty((5, 7), dtype=dtype).normal_(1 - 2j, 3, rng=mat.Rng(11)).to_numpy()
    assert_allclose(z.reshape(-1).view(part).reshape(-1, 2) - [1, -2],
                    normal(11, 70, part).reshape(-1, 2) * 3 * np.sqrt(0.5),
                    rtol=0, atol=1e-5)


# Normal


@real
@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_normal(seed, dtype):
    z = normal(seed, dtype=dtype).astype(np.float64)
    assert scipy.stats.kstest(z, "norm").pvalue > 1e-4
    cells = np.searchsorted(scipy.stats.norm.ppf(np.arange(1, 500) / 500), z)
    assert scipy.stats.chisquare(np.bincount(cells, minlength=500)).pvalue > 1e-4
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3), (6, 15)):
        assert abs((z**power).mean() - moment) < 4 * (z**power).std() / np.sqrt(N)


@real
def test_normal_tails(dtype):
    z = np.abs(normal(12, 4_000_000, dtype))
    for far in (3, 4, 4.5, 5):
        wanted = z.size * 2 * scipy.stats.norm.sf(far)
        assert scipy.stats.poisson.cdf((z > far).sum(), wanted) > 1e-4
        assert scipy.stats.poisson.sf((z > far).sum() - 1, wanted) > 1e-4


@real
def test_the_two_of_a_pair_are_independent(dtype):
    z = normal(13, 2 * N, dtype).reshape(-1, 2).astype(np.float64)
    angle = np.arctan2(z[:, 0], z[:, 1]) / (2 * np.pi) + 0.5
    assert scipy.stats.kstest(angle, "uniform").pvalue > 1e-4
    assert scipy.stats.kstest((z**2).sum(1) / 2, "expon").pvalue > 1e-4
    assert abs(np.corrcoef(z.T)[0, 1]) < 4 / np.sqrt(N)
    assert abs(np.corrcoef((z**2).T)[0, 1]) < 4 / np.sqrt(N)


@pytest.mark.parametrize(("dtype", "limit"), [("float32", 3e-7), ("float64", 6e-16)])
@pytest.mark.parametrize("first", [0, 1, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 1_257_966_796,
                                   3_037_000_499])
def test_extreme_words(first, dtype, limit):
    """Words that no test of a distribution meets: the farthest and the nearest, around 1/2, and
    where exponents change.
    """
    for second in (0, 1, 2**29 - 1, 2**29, 2**30 - 1, 2**30, 2**31, 3 * 2**30, 2**32 - 1):
        found, bits = (_pair(first, second),
                       32) if dtype == "float32" else (_pair_d(first, second), 64)
        one, other = (first, second) if bits == 32 else (first << 32 | first, second << 32 | second)
        assert_allclose(found, exact_pair(one, other, bits), rtol=limit)


def _pair(first, second):
    return [v.item() for v in philox._pairs_f(np.array([[first, second]], np.uint64))]


def _pair_d(first, second):
    return [v.item()
            for v in philox._pairs_d(np.array([[first, first, second, second]], np.uint64))]


def exact_pair(first, second, bits):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        radius = mpmath.sqrt(-2 * mpmath.log((first + mpmath.mpf(0.5)) / 2**bits))
        inside = second % 2**(bits - 2)
        inside -= 2**(bits - 2) if inside >= 2**(bits - 3) else 0
        angle = (inside + mpmath.mpf(0.5)) / 2**(bits - 2) * mpmath.pi / 2
        pair = [mpmath.cos(angle), mpmath.sin(angle)]
        sign = -1 if second >> (bits - 1) else 1
        return [float(sign * radius * v)
                for v in (pair[::-1] if second >> (bits - 2) & 1 else pair)]


@real
def test_mean_and_stddev(dtype):
    z, kind = normal(14, dtype=dtype), np.dtype(dtype).type
    assert_array_equal(normal(14, dtype=dtype, mean=100, stddev=0.3), z * kind(0.3) + kind(100))
    assert_array_equal(normal(14, 10, dtype, mean=2.5, stddev=0), np.full(10, 2.5, dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_normal_in_16_bits(dtype):
    pytest.importorskip("ml_dtypes")
    x = mat.empty(1000, dtype=dtype).normal_(1, 2, rng=mat.Rng(15))
    assert_array_equal(x.to_numpy(), normal(15, 1000, "float32", mean=1, stddev=2).astype(x.dtype))


def test_complex_normal():
    z = mat.empty(N, dtype="complex128").normal_(1j, 2, rng=mat.Rng(16)).to_numpy() - 1j
    assert scipy.stats.kstest(np.abs(z) ** 2 / 4, "expon").pvalue > 1e-4
    assert scipy.stats.kstest(np.angle(z) / (2 * np.pi) + 0.5, "uniform").pvalue > 1e-4


# Bernoulli


@pytest.mark.parametrize("p", [0.5, 0.01, 0.999, 1 / 3])
def test_bernoulli(p):
    found = mat.empty(N, dtype="float32").bernoulli_(p, rng=mat.Rng(17)).to_numpy()
    assert set(found.tolist()) == {0, 1}
    assert abs(found.mean(dtype=np.float64) - p) < 4 * np.sqrt(p * (1 - p) / N)
    words = philox.blocks(0, N // 4, (17, 0)).reshape(-1)
    assert_array_equal(found, words / 2**32 < p)


@pytest.mark.parametrize("dtype",
                         ["bool", "int8", "uint64", "float16", *REAL, "complex64", "complex128"])
def test_bernoulli_is_the_same_in_all_dtypes(dtype):
    wanted = mat.empty(999).bernoulli_(0.2, rng=mat.Rng(18)).to_numpy()
    assert_array_equal(mat.empty(999, dtype=dtype).bernoulli_(0.2, rng=mat.Rng(18)).to_numpy(),
                       wanted)
    assert_array_equal(mat.ones(9, dtype=dtype).bernoulli_(0).to_numpy(), np.zeros(9))
    assert_array_equal(mat.zeros(9, dtype=dtype).bernoulli_(1).to_numpy(), np.ones(9))


# Orthogonal


@pytest.mark.parametrize("shape",
                         [(5, 5), (7, 3), (3, 7), (1, 1), (1, 4), (2, 4, 3), (0, 3), (3, 0)])
def test_orthogonal(shape, blas_dtype):
    x = mat.empty(shape, dtype=blas_dtype)
    assert x.orthogonal_(0.5, rng=mat.Rng(19)) is x
    q = x.to_numpy() / 0.5
    q = q if shape[-2] >= shape[-1] else q.swapaxes(-1, -2)
    eye = np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], *2 * q.shape[-1:]))
    assert_allclose(q.conj().swapaxes(-1, -2) @ q, eye, atol=20 * np.finfo(blas_dtype).eps)


def matrices(n, count, dtype, seed=20):
    return mat.empty(count, n, n, dtype=dtype).orthogonal_(rng=mat.Rng(seed)).to_numpy()


def test_orthogonal_is_haar_distributed():
    q = matrices(3, 20_000, "float64")
    assert abs((np.linalg.det(q) > 0).mean() - 0.5) < 4 / np.sqrt(4 * len(q))
    # a coordinate of a point on the sphere is uniform, as Archimedes knew
    for i, j in np.ndindex(3, 3):
        assert scipy.stats.kstest(q[:, i, j], "uniform", (-1, 2)).pvalue > 1e-4
    rotation = scipy.stats.special_ortho_group.rvs(3, random_state=1)
    assert scipy.stats.ks_2samp(np.trace(q, axis1=1, axis2=2),
                                np.trace(rotation @ matrices(3, 20_000, "float64", 21), axis1=1,
                                         axis2=2)).pvalue > 1e-4


def test_unitary_is_haar_distributed():
    """Without its signs settled, the QR of LAPACK gives phases that are not uniform, and spaces
    them wrongly.
    """
    phases = np.sort(np.angle(np.linalg.eigvals(matrices(5, 4000, "complex128"))), axis=1)
    assert scipy.stats.kstest(phases.reshape(-1) / (2 * np.pi) + 0.5, "uniform").pvalue > 1e-4
    unitary = scipy.stats.unitary_group.rvs(5, 4000, random_state=2)
    theirs = np.sort(np.angle(np.linalg.eigvals(unitary)), axis=1)
    assert scipy.stats.ks_2samp(np.diff(phases).reshape(-1),
                                np.diff(theirs).reshape(-1)).pvalue > 1e-4
    traces = np.abs(np.trace(matrices(5, 4000, "complex128"), axis1=1, axis2=2)) ** 2
    assert abs(traces.mean() - 1) < 4 * traces.std() / np.sqrt(4000)


def test_orthogonal_in_16_bits():
    x = mat.empty(4, 4, dtype="float16").orthogonal_(rng=mat.Rng(22))
    single = mat.empty(4, 4, dtype="float32").orthogonal_(rng=mat.Rng(22))
    assert_array_equal(x.to_numpy(), single.to_numpy().astype("float16"))


# Vectors with covariances


@real
@pytest.mark.parametrize("column", [False, True])
@pytest.mark.sample(2)
def test_multivariate_normal(dtype, column, rng):
    a = rng.standard_normal((3, 3))
    covariances, means = (a @ a.T + np.eye(3)).astype(dtype), np.array([1, -2, 3], dtype)
    m = mat.array(means[:, None] if column else means)
    generator, c = mat.Rng(23), mat.array(covariances)
    found = np.array([mat.multivariate_normal(m, c, rng=generator).to_numpy() for _ in range(2000)])
    assert found.shape == (2000, *m.shape)
    assert found.dtype == dtype
    assert_array_equal(m.to_numpy().ravel(), means)
    flat = found.reshape(2000, 3).astype(np.float64)
    whitened = np.linalg.solve(np.linalg.cholesky(covariances.astype(np.float64)), (flat - means).T)
    assert scipy.stats.kstest((whitened**2).sum(0), "chi2", (3,)).pvalue > 1e-4
    assert_allclose(np.cov(flat.T), covariances, atol=0.1 * np.abs(covariances).max())
    assert_allclose(flat.mean(0), means, atol=4 * np.sqrt(np.diag(covariances).max() / 2000))


def test_multivariate_normal_of_nothing():
    assert mat.multivariate_normal(mat.zeros(0), mat.zeros(0, 0)).shape == (0,)


@pytest.mark.parametrize(("means", "covariances", "error", "text"), [
    (mat.zeros(2), mat.array([[1.0, 2], [2, 1]]), mat.LinAlgError, "not positive definite"),
    (mat.zeros(2), mat.zeros(2, 2), mat.LinAlgError, "not positive definite"),
    (mat.zeros(2), mat.eye(3), mat.ShapeError, r"\(3, 3\)"),
    (mat.zeros(1, 2), mat.eye(2), mat.ShapeError, r"\(1, 2\)"),
    (mat.zeros(2), mat.zeros(2), mat.ShapeError, r"\(2,\)"),
    ([0, 0], mat.eye(2), mat.DTypeError, "means.*list"),
    (mat.zeros(2), np.eye(2), mat.DTypeError, "covariances.*ndarray"),
    (mat.zeros(2, dtype="float32"), mat.eye(2), mat.DTypeError, "float32"),
    (mat.zeros(2, dtype="complex64"), mat.eye(2, dtype="complex64"), mat.DTypeError, "complex64"),
    (mat.zeros(2, dtype="int32"), mat.eye(2, dtype="int32"), mat.DTypeError, "int32")])
def test_bad_means_and_covariances(means, covariances, error, text):
    rng = mat.Rng(1)
    with pytest.raises(error, match=text):
        mat.multivariate_normal(means, covariances, rng=rng)
    assert rng.counter == 0
