"""Random numbers, convolution and pooling on a device in use, called as users call them: what the
host gives, and where.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat

SHAPE, TAPS = (4, 13, 18), (3, 3)
DRAWS = {"uniform": lambda x, rng: x.uniform_(2.5, rng=rng), "normal": lambda x,
         rng: x.normal_(3, 0.3, rng=rng),
         "bernoulli": lambda x, rng: x.bernoulli_(0.3, rng=rng)}
pytestmark = pytest.mark.usefixtures("cuda")


def step(dtype):
    """Every operation of a small net with one channel, forward and back; what it leaves."""
    rng = mat.Rng(7)
    x, w, y = (mat.zeros(s, dtype=dtype).normal_(rng=rng) for s in (SHAPE, TAPS, SHAPE))
    mat.nn.convolve(x, w, y, anchor=1, batched=True)
    small = mat.nn.max_pool(y, mat.empty(4, 7, 9, dtype=dtype), pool_shape=2, stride=2,
                            batched=True)
    yd = mat.nn.derive_max_pool(y, mat.zeros(SHAPE, dtype=dtype), small, small, pool_shape=2,
                                stride=2, batched=True)
    xd, wd = mat.nn.derive_convolve(x, mat.zeros(SHAPE, dtype=dtype), w,
                                    mat.zeros(TAPS, dtype=dtype), yd, anchor=1, batched=True)
    return x, w, y, small, yd, xd, wd


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.sample(3)
def test_a_step(dtype):
    wanted = [m.to_numpy() for m in step(dtype)]
    with mat.use_device("cuda", required=True):
        found = step(dtype)
        assert all("host" not in m.fresh for m in found[2:]), "nothing of it was done on the host"
        arrays = [m.to_numpy() for m in found]
    scale = np.abs(wanted[-1]).max()
    for a, b in zip(arrays, wanted, strict=True):
        rtol = {"float32": 1e-5, "float64": 1e-13, "float16": 1e-2}[dtype]
        assert_allclose(a.astype(float), b.astype(float), rtol=rtol, atol=rtol * float(scale))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "float16",
                                   "bfloat16", "int8"])
@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.sample(4)
def test_draws(name, dtype):
    if name != "bernoulli" and dtype == "int8":
        pytest.skip("integers hold no real numbers")
    for make in (lambda: mat.zeros(7, 9, dtype=dtype), lambda: mat.zeros(20, dtype=dtype)[3:],
                 lambda: mat.zeros(9, 14, dtype=dtype).T[::2]):
        wanted = DRAWS[name](make(), mat.Rng(3))
        with mat.use_device("cuda", required=True):
            found = DRAWS[name](make(), mat.Rng(3))
            assert "host" not in found.fresh
            assert_array_equal(found.to_numpy(), wanted.to_numpy())


def test_what_needs_lapack_falls_back():
    """In part: factors are made on the host, and the numbers are the same."""
    def draw():
        return (mat.zeros(5, 3).orthogonal_(2, rng=mat.Rng(1)),
                mat.multivariate_normal(mat.zeros(2), covariances, rng=mat.Rng(1)))

    covariances = mat.array([[2.0, 1.0], [1.0, 2.0]])
    wanted = draw()
    with mat.use_device("cuda", required=True):
        found = draw()
        for a, b in zip(found, wanted, strict=True):
            assert_allclose(a.to_numpy(), b.to_numpy(), rtol=1e-13)


def test_what_has_too_many_axes_falls_back():
    x, w = mat.ones((1,) * 8 + (3,)), mat.ones((1,) * 8 + (2,))
    with mat.use_device("cuda", required=True):
        y = mat.nn.convolve(x, w, mat.zeros(x.shape))
        assert_array_equal(y.to_numpy().ravel(), [2, 2, 1])
