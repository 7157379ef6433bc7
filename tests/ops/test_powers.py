"""``x ** y`` and `mat.pow`, of which some are computed by other operations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import DTypeError

from ..support.layouts import tolerance


def agree(got, wanted):
    """Fail unless the Mat has the dtype, the shape and the elements of the array."""
    wanted = np.asarray(wanted)
    assert isinstance(got, mat.Mat)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    assert_allclose(got.to_numpy(), wanted, **tolerance(wanted.dtype))


def test_powers_of_integers():
    x = np.array([1, 2, 3])
    agree(mat.array(x) ** 2, x ** 2)
    agree(2 ** mat.array(x), 2 ** x)
    agree(mat.array(x) ** -1.0, x ** -1.0)
    with pytest.raises(DTypeError, match="-1"):
        mat.array(x) ** -1
    with pytest.raises(DTypeError, match="-1"):
        mat.pow(2, mat.array(-x)[:1])


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                                   "uint64"])
def test_powers_of_many_integers_by_one(dtype):
    a = np.arange(-600, 600).astype(dtype).reshape(3, 400)
    for x, y in ((a, mat.array(a)), (a.T, mat.array(a).T), (a[:, ::3], mat.array(a)[:, ::3])):
        for power in (0, 1, 2, 3, 7, 64, 127):
            assert_array_equal((y ** power).to_numpy(), x ** power)
        assert_array_equal((y ** (y[:1] & 7)).to_numpy(), x ** (x[:1] & 7))
        made = y.copy()
        made **= 5
        assert_array_equal(made.to_numpy(), x ** 5)
        assert_array_equal((y[:, :1] ** mat.array([5], dtype)).to_numpy(), x[:, :1] ** 5)


def test_negative_powers_are_found_at_every_call():
    x = mat.array([1, 2], "int64")
    for _ in range(2):
        assert_array_equal((x ** x).to_numpy(), [1, 4])
        with pytest.raises(DTypeError, match="-2"):
            x ** mat.array([1, -2], "int64")
        y = x.copy()
        with pytest.raises(DTypeError, match="-2"):
            y.pow_(mat.array([1, -2], "int64"))
        assert_array_equal(y.to_numpy(), [1, 2])


SQUARES = {
    "mat.pow(x, p)": lambda x, p: mat.pow(x, p), "np.power(x, p)": lambda x, p: np.power(x, p),
    "x ** p": lambda x, p: x ** p, "out=": lambda x, p: mat.pow(x, p, out=mat.empty_like(x)),
    "pow_": lambda x, p: x.copy().pow_(p)}


@pytest.mark.host
@pytest.mark.parametrize("call", SQUARES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "uint8", "float16"])
def test_squares_are_computed_as_such(dtype, call):
    a = np.array([[1, 3, 7], [9, 11, 0]], dtype)
    for x, p in ((mat.array(a), 2), (mat.array(a).T, 2), (mat.array(a), 2.0)):
        if p == 2.0 and type(p) is float and a.dtype.kind in "iu" and call in ("out=", "pow_"):
            continue  # integers do not take floats
        with mat.debug.trace() as t:
            got = SQUARES[call](x, p)
        agree(got, x.to_numpy() ** p)
        assert "square" in {e.mat for e in t.operations}


@pytest.mark.parametrize("p", [3, True, np.float64(2)])
def test_other_powers_are_none(p):
    a = np.array([1.5, 2, 0], "float32")
    agree(mat.pow(mat.array(a), p), np.power(a, p))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex64", "int64"])
@pytest.mark.parametrize("call", SQUARES)
def test_roots_of_infinity_and_zero_are_numpys(dtype, call):
    a = np.array([4, 1, 9] if dtype == "int64" else [-np.inf, -0.0, 0, np.inf, 4]).astype(dtype)
    if dtype == "int64" and call in ("out=", "pow_"):
        return  # integers do not take floats
    if call == "x ** p" or a.dtype.kind == "f":  # of complex infinity NumPy's power has no root
        with np.errstate(all="ignore"):
            wanted = a ** 0.5 if call == "x ** p" else np.power(a, 0.5)
        found = SQUARES[call](mat.array(a), 0.5).to_numpy()
        assert_array_equal(found, wanted)
        assert_array_equal(np.signbit(found.real), np.signbit(wanted.real))
