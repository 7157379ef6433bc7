"""Mats on a GPU: what goes there and comes back, in which order, how much room it takes, and what happens when it fails."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat


@pytest.fixture
def dev(cuda):
    """The first device, in use."""
    with mat.use_device("cuda", required=True) as device:
        yield device


DTYPES = ["float32", "float64", "complex64", "complex128", "float16", "bfloat16", "int8", "uint16", "int32", "int64", "bool"]


def there(x):
    """`x`, brought to the device; gives what its facet presents."""
    with x.facet("cuda", "input") as a:
        return a


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 3, 1000, 100_003])
def test_there_and_back(dev, rng, dtype, n):
    values = rng.integers(0, 2, n).astype(mat.zeros(1, dtype=dtype).dtype)
    x = mat.from_numpy(values.copy())
    there(x)
    assert x.fresh == {"host", "cuda:0"}
    with x.facet("cuda", "io"):
        pass
    assert x.fresh == {"cuda:0"}
    assert_array_equal(x.to_numpy(), values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [0, 1, 3.7, -1])
def test_what_was_never_written_is_made_there(cuda, dev, dtype, value):
    if dtype in ("bool", "uint16") and value != 1:
        value = 0
    if "int" in dtype:
        value = int(value)
    x, before = mat.full(1001, value, dtype=dtype), cuda.copies("h2d")
    there(x)
    assert cuda.copies("h2d") == before
    assert_array_equal(x.to_numpy(), np.full(1001, value).astype(x.dtype))


def test_the_facet(dev):
    x = mat.zeros(3, 4, dtype="float32")
    a = there(x[1:, ::2])
    assert (a.shape, a.strides, a.size, a.dtype, a.device) == ((2, 2), (4, 2), 4, np.float32, dev)
    assert a.pointer == a.address == a.handle.address + 16
    assert x.fresh == {"cuda:0"}
    assert "C" in repr(x)
