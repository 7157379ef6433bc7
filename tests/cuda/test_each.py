"""Element-wise operations where a device is in use: they compute there, and nothing falls back to
the host.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.core.observers import Observer, observe

from ..support.layouts import place

pytest.importorskip("cuda.core", reason="cuda-python is not installed")


class Fallbacks(Observer):
    """Raise for operations that the device has no implementation of."""

    def fell_back(self, name, device):
        raise AssertionError(f"{name} fell back to the host")


@pytest.fixture
def there(cuda):
    """The device in use, on which everything must happen."""
    with mat.use_device("cuda", required=True), observe(Fallbacks()):
        yield cuda


def test_results_stay_there(there):
    a = np.arange(1.0, 11)
    x = mat.array(a)
    y = x + x
    assert y.fresh == {"cuda:0"}
    y.multiply_(3).add_(x)
    y -= 0.5
    assert y.fresh == {"cuda:0"}
    assert_array_equal(y.to_numpy(), a * 7 - 0.5)
    assert_allclose(mat.exp(x).to_numpy(), np.exp(a), rtol=1e-15)
    assert_allclose((1 / x).sqrt_().to_numpy(), np.sqrt(1 / a), rtol=1e-15)


@pytest.mark.slow
def test_numbers_of_all_kinds(there):
    a = np.arange(-3, 4)
    for dtype in ("int64", "float32", "complex64"):
        x = mat.array(a.astype(dtype))
        for number in (2, True, 1.5, 1 - 1j, np.float32(0.25), np.int16(3)):
            assert_array_equal((x * number).to_numpy(), a.astype(dtype) * number)
            assert_array_equal((number - x).to_numpy(), number - a.astype(dtype))
            assert_array_equal((x == number).to_numpy(), a == number)
    big = mat.array([1, 2], dtype="int64")
    assert_array_equal((big + (2**62 + 1)).to_numpy(), [2**62 + 2, 2**62 + 3])


def test_dtypes_together(there):
    a, flags = np.linspace(-2, 2, 50, dtype="float32"), np.arange(50) % 3 == 0
    x, chosen = mat.array(a), mat.array(flags)
    assert_array_equal((x * chosen).to_numpy(), a * flags)
    assert_array_equal((x * (x > 0)).to_numpy(), a * (a > 0))
    assert_array_equal(mat.add(x, x, out=mat.empty(50)).to_numpy(), a + a)
    x.greater_(0.5)
    assert_array_equal(x.to_numpy(), (a > 0.5).astype("float32"))


def test_beta_0_reads_nothing(there):
    a, b = mat.full((3, 5), 2.0), mat.full((3, 5), 3.0)
    for old, beta in ((np.nan, 0), (1, 2)):
        wanted = 6 * 2 + (2 if beta else 0)
        assert_array_equal(mat.geem(2, a, b, beta, mat.full((3, 5), float(old))).to_numpy(),
                           np.full((3, 5), wanted))
        assert_array_equal(mat.geerv(2, a, b[0], beta, mat.full((3, 5), float(old))).to_numpy(),
                           np.full((3, 5), wanted))
        assert_array_equal(mat.add_sign(12, a, beta, mat.full((3, 5), float(old))).to_numpy(),
                           np.full((3, 5), wanted))


def test_fill_and_assign(there):
    for dtype in ("float32", "int64", "bool", "bfloat16", "complex128"):
        x = mat.zeros(6, 7, dtype=dtype)
        x[1:, ::2].fill_(1)
        x[0] = True
        x.T[3:5].assign_(1)
        wanted = np.zeros((6, 7), x.dtype)
        wanted[1:, ::2] = wanted[0] = wanted.T[3:5] = 1
        assert_array_equal(x.to_numpy(), wanted)


def test_what_meets_is_done_by_the_host(cuda):
    with mat.use_device("cuda", required=True):
        x = mat.arange(6.0)
        mat.add(x[:5], 1, out=x[1:])
        assert_array_equal(x.to_numpy(), [0, 1, 2, 3, 4, 5])


def test_logic_of_other_dtypes_stays_there(there):
    """Devices convert to no lower kind: operands are compared with 0 before."""
    x, y = mat.array([0.0, 1, np.nan, -0.0]), mat.array([0, 0, 3, 4])
    with mat.debug.count_copies() as n:
        found = [f(x, y) for f in (mat.logical_and, mat.logical_or, mat.logical_xor)]
        some = mat.logical_and(x, 2)
        assert n.fallbacks == 0
    a, b = x.to_numpy(), y.to_numpy()
    for z, f in zip(found, (np.logical_and, np.logical_or, np.logical_xor), strict=True):
        assert_array_equal(z.to_numpy(), f(a, b))
    assert some.tolist() == [False, True, True, False]


def test_operands_without_elements_have_the_address_of_their_block(cuda):
    """The mock driver checks addresses; the first call plans, the others launch at once, unless
    somebody observes them.
    """
    with mat.use_device("cuda", required=True):
        a, x = place(np.ones((3, 0)), "column"), place(np.ones(0), "column")
        for _ in range(3):
            y = mat.ones(3)
            assert_array_equal(mat.gemv(1, a, x, 2, y).to_numpy(), [2, 2, 2])
            assert_array_equal(y.sum_(a, 1, beta=1).to_numpy(), [2, 2, 2])
