"""Sequences and numbers as operands of operators and element-wise functions, against NumPy."""

import array
import operator
from collections import deque

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import DTypeError, ShapeError


class Three:
    """A sequence of a class of its own."""

    def __len__(self):
        return 3

    def __getitem__(self, k):
        return (1.5, 2.0, 3.0)[k]


class Exported:
    """An array by its interface."""

    def __init__(self):
        self.array = np.array([1.5, 2, 3])
        self.__array_interface__ = self.array.__array_interface__


class Converted:
    """An object that becomes an array."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2, 3])


ARRAY_LIKES = [range(1, 4), array.array("d", [1, 2, 3]), deque([1, 2, 3]), Three(), Exported(),
               Converted(), memoryview(np.array([1.0, 2, 3])), bytearray(b"\1\2\3")]
VALUES = [[1, 2, 3], (1.5, 2, 3), [[1], [2]], [True, False, True], [], [2], ((1, 2, 3), (4, 5, 6))]
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
             operator.mod, operator.pow, operator.lt, operator.le, operator.gt, operator.ge,
             operator.eq, operator.ne]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
AUGMENTED = [operator.iadd, operator.isub, operator.imul]


def agree(call, *operands):
    """Fail unless `call` gives Mats what it gives arrays, or the same kind of error."""
    arrays = [x.to_numpy() if isinstance(x, mat.Mat) else x for x in operands]
    with np.errstate(all="ignore"):
        try:
            wanted = np.asarray(call(*arrays))
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                call(*operands)
            return
        found = call(*operands)
    assert isinstance(found, mat.Mat)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert_array_equal(found.to_numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("call", OPERATORS, ids=lambda f: f.__name__)
def test_operators(call, dtype):
    for value in VALUES:
        x = mat.array([[1, 2, 3], [0, 1, 5]], dtype)
        agree(call, x, value)
        agree(call, value, x)


@pytest.mark.parametrize("call", BITS, ids=lambda f: f.__name__)
def test_operators_of_bits(call):
    for value in ([1, 2, 3], (7,), [[1], [2]]):
        x = mat.array([[1, 2, 3], [0, 1, 5]], "int64")
        agree(call, x, value)
        agree(call, value, x)


@pytest.mark.parametrize("call", AUGMENTED, ids=lambda f: f.__name__)
def test_augmented_operators(call):
    for value in ([1, 2, 3], (1.5, 2, 3), [[1], [2]]):
        x = mat.array([[1.0, 2, 3], [0, 1, 5]])
        agree(lambda x, value: call(x.copy(), value), x, value)


def test_products():
    x = mat.arange(6.0).reshape(2, 3)
    agree(operator.matmul, x, [1, 2, 3])
    agree(operator.matmul, [1.5, 2], x)


@pytest.mark.parametrize("name", ["exp", "sqrt", "abs", "negative", "floor", "sign"])
def test_functions_of_one(name):
    for value in (3.0, [1, 4], (0.5, 2.5), [[1.0], [4.0]], np.float32(4), []):
        wanted = np.asarray(getattr(np, name)(value))
        found = getattr(mat, name)(value)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert isinstance(found, mat.Mat) == isinstance(value, list | tuple)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6)


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "maximum", "less", "greater"])
def test_functions_of_two(name):
    for x, y in ((1, 2.5), ([1, 2], 3), ([1, 2], [3.0, 4]), ((1, 2), [[1], [2]])):
        wanted = np.asarray(getattr(np, name)(x, y))
        for operands in ((x, y), (mat.array(x, np.asarray(x).dtype), y)):
            found = getattr(mat, name)(*operands)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            assert isinstance(found, mat.Mat) == any(not isinstance(v, int | float)
                                                     for v in operands)
            assert_array_equal(np.asarray(found), wanted)


def test_output():
    out = mat.zeros(3)
    assert mat.add([1, 2, 3], 0.5, out=out) is out
    assert out.tolist() == [1.5, 2.5, 3.5]
    assert mat.exp([0, 0, 0], out=out).tolist() == [1, 1, 1]


def test_none_equals_no_element():
    x = mat.zeros(2, 3)
    assert (x == None).tolist() == [[False] * 3] * 2  # noqa: E711
    assert (x != None).tolist() == [[True] * 3] * 2  # noqa: E711
    for y in (x, x.astype("int8"), x.astype("bool"), x.astype("complex64")):
        for a, b in ((y, None), (None, y)):
            assert mat.equal(a, b).tolist() == [[False] * 3] * 2
            out = mat.zeros(2, 3, dtype="bool")
            assert mat.not_equal(a, b, out=out).tolist() == [[True] * 3] * 2
            with pytest.raises(mat.DTypeError):
                mat.less(a, b)
    with pytest.raises(TypeError):
        x < None  # noqa: B015


@pytest.mark.parametrize(("value", "error", "words"), [
    ([[1, 2], [3]], ShapeError, "different lengths"), (["a", "b"], DTypeError, "not numbers"),
    ([None, 1], DTypeError, "not numbers"), ([1, 2], ShapeError, r"\(2,\)")])
def test_bad_sequences_touch_nothing(value, error, words):
    x = mat.arange(3.0)
    for call in (lambda: x + value, lambda: value + x, lambda: mat.add(x, value)):
        with pytest.raises(error, match=words):
            call()
    with pytest.raises(error, match=words):
        x += value
    assert x.tolist() == [0, 1, 2]


@pytest.mark.parametrize("value", ARRAY_LIKES, ids=lambda v: type(v).__name__)
def test_what_numpy_takes_as_an_array(value):
    for call in (*OPERATORS, operator.matmul):
        agree(call, mat.array([2.0, 3.0, 4.0]), value)
    for name in ("add", "maximum", "dot", "outer", "matmul", "isclose", "convolve"):
        wanted = getattr(np, name)(value, [1, 2, 3])
        assert_array_equal(mat.asarray(getattr(mat, name)(value, [1, 2, 3])).to_numpy(), wanted)
    for name in ("sum", "mean", "max", "argmax", "exp", "sort", "cumsum", "copy", "transpose",
                 "any", "std"):
        wanted = getattr(np, name)(value)
        assert_array_equal(np.asarray(getattr(mat, name)(value)), wanted)
    x = mat.zeros(2, 3)
    x[1] = value
    x += value
    assert_array_equal(x.to_numpy(), np.asarray(value) * np.array([[1.0], [2.0]]))
    assert_array_equal(mat.full((2, 3), value).to_numpy(), np.full((2, 3), value))
    assert_array_equal(mat.linspace(value, 9, 3).to_numpy(), np.linspace(value, 9, 3))
    assert_array_equal(mat.stack([value, value]).to_numpy(), np.stack([value, value]))
