"""Products of float32 in TF32 or bfloat16, if the setting allows it: what cuBLAS is called for,
values, and that each setting has plans of its own.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import SettingError

from ..support.layouts import numbers

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

BITS = {"ieee": 23, "tf32": 10, "bfloat16": 7}


@pytest.fixture(autouse=True)
def device(cuda):
    with mat.use_device("cuda", required=True):
        yield cuda


def within_bits(found, a, b, bits):
    """Whether a product is that of factors of so many bits, rounded in any way: GPUs truncate."""
    a, b = a.astype("f8"), b.astype("f8")
    return (abs(found - a @ b) <= 2.01 * 2.0**-bits * (abs(a) @ abs(b))).all()


def rounded(a, bits):
    """Round fractions to so many bits, ties to even."""
    size = np.exp2(np.floor(np.log2(np.abs(a.astype("f8")))) - bits)
    return np.round(a.astype("f8") / size) * size


PRODUCTS = {
    "matrices": (((5, 7), (7, 3)), mat.matmul),
    "stacks": (((2, 5, 7), (2, 7, 3)), mat.matmul),
    "operators": (((5, 7), (7, 3)), lambda x, y: x @ y),
    "gemm": (((5, 7), (7, 3)), lambda x, y: mat.gemm(1, x, y, 0, mat.empty(5, 3, dtype="f4"))),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_each_setting_computes_what_it_allows(rng, name, device):
    shapes, function = PRODUCTS[name]
    a, b = (numbers(rng, shape, "float32") for shape in shapes)
    x, y = mat.array(a), mat.array(b)
    for _ in range(3):  # with new plans, and with those that are kept
        for setting, bits in BITS.items():
            with mat.settings(float32_products=setting), mat.debug.list_calls() as made:
                found = function(x, y)
            assert found.dtype == np.float32
            assert within_bits(found.to_numpy(), a, b, bits)
            if device.is_mock:
                assert_allclose(found.to_numpy(), rounded(a, bits) @ rounded(b, bits), rtol=2e-6,
                                atol=1e-6)
            assert all(call.routine.endswith("Ex") == (setting != "ieee") for call in made.calls)
            assert made.calls


def test_nothing_else_changes(rng):
    for dtype, shapes in (("float64", ((4, 5), (5, 3))), ("complex64", ((4, 5), (5, 3))),
                          ("float32", ((4, 5), (5,)))):
        a, b = (numbers(rng, shape, dtype) for shape in shapes)
        with mat.settings(float32_products="tf32"):
            found = mat.matmul(mat.array(a), mat.array(b)).to_numpy()
        assert_array_equal(found, mat.matmul(mat.array(a), mat.array(b)).to_numpy())


@pytest.mark.parametrize("where", ["cpu", "emulated"])
def test_other_devices_compute_in_float32(rng, where):
    a = numbers(rng, (6, 6), "float32")
    with mat.use_device(where, required=True):
        wanted = mat.matmul(mat.array(a), mat.array(a)).to_numpy()
        with mat.settings(float32_products="bfloat16"):
            assert_array_equal(mat.matmul(mat.array(a), mat.array(a)).to_numpy(), wanted)


def test_empty_sums(rng):
    with mat.settings(float32_products="tf32"):
        found = mat.matmul(mat.ones(3, 0, dtype="f4"), mat.ones(0, 2, dtype="f4"))
    assert_array_equal(found.to_numpy(), np.zeros((3, 2), "f4"))


def test_the_setting():
    assert mat.settings.float32_products == "ieee"
    with pytest.raises(SettingError, match="float32_products is one of 'ieee', 'tf32', 'bfloat16'"):
        mat.configure(float32_products="fp8")
    with mat.settings(float32_products="tf32"):
        assert mat.settings.float32_products == "tf32"
