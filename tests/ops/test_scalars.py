"""Numbers of all kinds beside Mats, Python's and NumPy's: what later calls do with a number is what
NumPy does, whichever number of that kind came first.
"""

import operator
from itertools import product

import numpy as np
import pytest

import mat

from ..conftest import DEVICE

NUMBERS = [True, False, np.True_, np.False_, 1, -1, 127, 128, 300, -129, 2**40, -2**40, 2**62,
           2**63, 1.5, -2.5, float("inf"), float("nan"), 1j, np.float16(1.5), np.float32(1e30),
           np.float32(-2), np.float64(0.1), np.float64(1e300), np.float64(-0.5),
           np.int8(-3), np.int8(5), np.uint8(200), np.int16(-300), np.int32(2**30), np.int64(2**60),
           np.int64(-2**60), np.int64(3), np.int64(-3), np.uint64(2**63 + 5), np.uint64(7),
           np.complex64(1j), np.complex128(2 + 1j)]
DTYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]
OPERATORS = {name: getattr(operator, name) for name in (
    "add", "sub", "mul", "truediv", "eq", "lt", "ge", "and_", "floordiv", "mod", "pow")}
# relative; the error of a complex power, also NumPy's, is that of a logarithm, times the exponent
CLOSE = {"e": 1e-3, "f": 1e-6, "F": 1e-6, "D": 1e-14}
if DEVICE.startswith("cuda"):
    CLOSE |= {"F": 1e-4, "D": 1e-13}


def outcome(call, *operands):
    """Return what comes out as an array, or None for an error."""
    with np.errstate(all="ignore"):
        try:
            return np.asarray(call(*operands))
        except (TypeError, ValueError, OverflowError):
            return None


def differ(found, wanted):
    """Return whether one is an error, or dtypes or elements are others."""
    if found is None or wanted is None:
        return found is not wanted
    tolerance = CLOSE.get(wanted.dtype.char, 1e-14) if wanted.dtype.kind in "fc" else 0
    if found.dtype == "complex64" and DEVICE.startswith("cuda"):
        # a power that is too large, which is computed in double, may be NaN on the host
        wanted = np.where(np.isfinite(wanted) | np.isfinite(found), wanted, found)
    return found.dtype != wanted.dtype or not np.allclose(found, wanted, tolerance, 0, True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_of_all_kinds(dtype, name):
    a = np.array([0, 1, 2, 3, 100, 0.1][:2 if dtype == "bool" else 6]).astype(dtype)
    call, x, wrong = OPERATORS[name], mat.array(a), []
    for number in (*NUMBERS, *reversed(NUMBERS)):
        for (p, q), (b, c) in (((a, number), (x, number)), ((number, a), (number, x))):
            if differ(outcome(call, b, c), outcome(call, p, q)):
                wrong.append((b, c))
    assert not wrong


@pytest.mark.parametrize("dtype", DTYPES[1:-2])
def test_bounds_of_all_kinds(dtype):
    a = np.array([0, 1, 2, 3, 100]).astype(dtype)
    x = mat.array(a)
    real = [number for number in NUMBERS if not isinstance(number, complex | np.complexfloating)]
    for low, high in product(real, (*real[::5], None)):
        wanted = outcome(a.clip, low, high)
        assert not differ(outcome(x.clip, low, high), wanted), (low, high)


@pytest.mark.parametrize("numbers", [
    [True, False], [[True], [False]], [True, 2], [True, 2.5], [2, True], [1j, 2], [2, 1j, True],
    [[1, 2.5], [1j, -0.0]], [1j, 2**60 + 1], [False, 2**70], [[True, False], [1, 0]], [1.5, 2j]])
def test_lists_of_numbers_of_several_types(numbers):
    wanted = np.array(numbers)
    if wanted.dtype == object:
        with pytest.raises(mat.errors.DTypeError):
            mat.array(numbers)
        return
    found = mat.array(numbers)
    assert found.dtype == wanted.dtype
    assert found.to_numpy().tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", ["float16", "complex64", "complex128", "bool", "uint16"])
def test_numbers_for_elements_and_selections(dtype):
    a = np.arange(6).astype(dtype)
    x, at = mat.array(a), [0, 3, 5]
    for value in (True, 1, 0, a[4], a[5], *((2.5, 1e4, 1e5) if dtype == "complex128" else ())):
        for index in (2, at, a > 3 if a.dtype.kind != "c" else a.real > 3, slice(1, 4)):
            a[index] = value
            x[mat.array(index) if isinstance(index, np.ndarray) else index] = value
            assert x.to_numpy().tobytes() == a.tobytes()
        assert x.item(2) == a.item(2)
        assert type(x.item(2)) is type(a.item(2))
        x.fill(value)
        a.fill(value)
        assert x.to_numpy().tobytes() == a.tobytes()
