"""Rules of NumPy that are easily missed: 16-bit sums, 64-bit integers, axes of length 1, errors."""

import operator

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import DTypeError, ShapeError

from ..support.functions import MATHEMATICS


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_of_16_bit_floats_are_those_of_32_bit_ones(dtype):
    for shape, axis in (((4000,), None), ((2, 4000), 1), ((4000, 2), 0), ((2, 3), (0, 1))):
        x = mat.ones(*shape, dtype=dtype)
        x += mat.array(np.arange(x.size).reshape(shape) % 3)
        wide = x.to_numpy().astype("float32")
        for name in ("sum", "mean"):
            found = getattr(x, name)(axis)
            assert found.dtype == x.dtype
            wanted = getattr(np, name)(wide, axis=axis).astype(x.dtype)
            assert_array_equal(found.to_numpy(), wanted)
    assert float(mat.full(1000, 100.0, dtype=dtype).mean()) == 100


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_products_of_16_bit_floats(dtype):
    x = mat.array([3, 1, 0.5, 1.25], dtype)
    assert float(x.prod()) == 1.875
    assert float(mat.array([300, 300, 0.01, 0.01], "float16").prod()) == pytest.approx(9, rel=1e-2)


@pytest.mark.parametrize("values", [[0, 2**64 - 1, np.uint64(2**64 - 1)], [2**63, 1],
                                    [[2**63 + 1], [np.int8(3)]], [2**53 + 1, 0.0]], ids=str)
def test_integers_of_64_bits_are_exact(values):
    x = mat.array(values, "uint64")
    assert_array_equal(x.to_numpy(), np.array(values, "uint64"))
    with pytest.raises(DTypeError):
        mat.array([*values, 2**64] if not isinstance(values[0], list) else [[2**64]], "uint64")


@pytest.mark.parametrize("shape", [(1, 3), (1, 2, 3), (1, 1, 2, 3), (1, 1)])
def test_first_axes_of_length_1_can_be_assigned(shape):
    value = np.arange(np.prod(shape)).reshape(shape)
    for index in (..., slice(None), (slice(None), slice(0, 3))):
        a, x = np.zeros((2, 3)), mat.zeros(2, 3)
        a[index] = value
        x[index] = value
        assert_array_equal(x.to_numpy(), a)
    with pytest.raises(ShapeError):
        mat.zeros(2, 3)[...] = np.zeros((2, 2, 3))


def test_full_of_arrays():
    for value in (np.array(1.5), np.arange(3.0), mat.arange(3.0), [1.0, 2.0, 3.0]):
        plain = value.to_numpy() if isinstance(value, mat.Mat) else value
        x = mat.full((2, 3), value)
        wanted = np.full((2, 3), plain)
        assert x.dtype == wanted.dtype
        assert_array_equal(x.to_numpy(), wanted)
    assert mat.full((2, 3), np.arange(3), "float32").dtype == "float32"
    with pytest.raises(ShapeError):
        mat.full((2, 3), np.zeros(4))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("value", "dtype"), [
    (300.7, "u1"), (-2.5, "u1"), (np.int64(300), "i1"), (np.float64(1e300), "f4"), (np.nan, "i4"),
    (1 + 2j, "f4"), (np.complex64(3j), "i2"), (2.5, "?"), ([300, 1], "u1"), ([2.7, -1.5], "i8")])
def test_fills_are_converted_as_by_numpy(value, dtype):
    for f in (lambda m: m.full((3, 2), value, dtype),
              lambda m: m.full_like(m.zeros((3, 2), dtype), value)):
        assert_array_equal(f(mat), f(np), strict=True)
    with pytest.raises(OverflowError):
        mat.full(2, 300, "u1")


def test_joining_converts_to_what_can_hold_the_elements_only():
    x, out = mat.array([1.5, 2]), mat.zeros(4, dtype="int64")
    with pytest.raises(DTypeError, match=r"float64.*int64"):
        mat.concat([x, x], out=out)
    assert out.tolist() == [0] * 4
    assert mat.concat([x, x], out=mat.zeros(4, dtype="float32")).tolist() == [1.5, 2, 1.5, 2]


@pytest.mark.parametrize("call", [lambda x: x.sum(axis=5), lambda x: mat.max(x, axis=-3),
                                  lambda x: x.swapaxes(0, 2), lambda x: mat.concat([x, x], axis=2),
                                  lambda x: x.argmax(axis=2), lambda x: x.squeeze(3)])
def test_wrong_axes_are_errors_of_numpys_class(call):
    with pytest.raises(np.exceptions.AxisError, match="out of bounds") as caught:
        call(mat.zeros(2, 3))
    assert isinstance(caught.value, IndexError)
    assert isinstance(caught.value, ShapeError)


def test_a_step_of_zero_is_a_value_error():
    with pytest.raises(ValueError, match="zero"):
        mat.zeros(3)[::0]


def test_reductions_of_numbers_have_an_axis():
    for name in ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "count_nonzero"):
        for axis in (0, -1, np.int64(0)):
            wanted = getattr(np, name)(3.0, axis=axis)
            for x in (3.0, mat.array(3.0)):
                found = getattr(mat, name)(x, axis=axis)
                assert isinstance(found, np.generic if type(x) is float else mat.Mat)
                assert_array_equal(np.asarray(found), wanted, strict=True)
        for x in (3.0, mat.array(3.0)):
            with pytest.raises(np.exceptions.AxisError):
                getattr(mat, name)(x, axis=1)


def test_mats_without_axes_are_lengths_and_axes():
    n, axis = mat.array(3), mat.array(1)
    assert mat.ones(n).shape == mat.zeros((n,)).shape == mat.ones(np.array(3)).shape == (3,)
    assert mat.arange(3.0).reshape(n).shape == (3,)
    assert mat.ones(2, 3).sum(axis).tolist() == [3, 3]
    assert mat.ones(2, 3).transpose((axis, 0)).shape == (3, 2)


def test_choices_are_several_arguments_or_one_sequence():
    indices = [[0, 1], [2, 0]]
    choices = [[1, 2], [3, 4]], [[5, 6], [7, 8]], 9
    wanted = np.array(indices).choose(*choices)
    x = mat.array(indices)
    for given in (choices, (list(map(np.array, choices)),), tuple(map(mat.array, choices))):
        assert_array_equal(x.choose(*given).to_numpy(), wanted)
    out = mat.zeros(2, 2, dtype="int64")
    assert x.choose(*choices, out=out, mode="clip") is out


def test_bounds_under_both_of_their_names_are_refused():
    for given in ({"max": 7}, {"min": 3}, {"min": 2, "max": 10}):
        with pytest.raises(TypeError, match="multiple values for argument 'm"):
            mat.clip([1.0, 5.0], 2, 3, **given)
        with pytest.raises(ValueError, match="two bounds, m"):
            mat.clip([1.0, 5.0], a_min=2, a_max=3, **given)


class WithUfuncs:
    """A class that says what ufuncs do with it."""

    def __array_ufunc__(self, ufunc, method, *operands, **others):
        return ufunc.__name__, method, [x is self for x in operands], sorted(others)


class WithArray:
    """A class that can be converted to an array."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2, 4], dtype)


def test_a_class_of_others_says_what_functions_of_elements_do_with_it():
    w, x = WithUfuncs(), mat.ones(3)
    assert mat.exp(w) == ("exp", "__call__", [True], [])
    assert mat.add(x, w) == ("add", "__call__", [False, True], [])
    assert mat.add(w, 2.0, out=x) == ("add", "__call__", [True, False], ["out"])
    assert mat.power(w, 2, where=True) == ("power", "__call__", [True, False], ["where"])
    assert x.tolist() == [1, 1, 1]
    assert mat.sum(w) == np.sum(w)


def test_what_converts_to_an_array_is_an_operand():
    w, x = WithArray(), mat.ones(3)
    assert mat.sum(w) == 7
    assert mat.dot(x, w) == 7
    assert mat.multiply(w, x).tolist() == mat.concat([w]).tolist() == [1, 2, 4]
    assert mat.exp(w).dtype == np.float64
    x[:] = w
    assert x.add_(w).tolist() == [2, 4, 8]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*MATHEMATICS, "sqrt"])
def test_functions_of_any_nan_are_nan(name, dtype):
    """Also of those with other bits than NumPy's, as GPUs make them."""
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    ones = np.arange(1, 1 << 12, 7).astype(bits)
    low = np.array(np.inf, dtype).view(bits)
    x = np.concatenate([low | ones, low | ~(~bits.type(0) >> bits.type(1)) | ones,
                        [~bits.type(0), ~bits.type(0) >> bits.type(1)]]).astype(bits).view(dtype)
    assert np.isnan(x).all()
    with np.errstate(all="ignore"):
        assert np.isnan(getattr(mat, name)(mat.array(x)).to_numpy()).all()


FOREIGN = [lambda m: m.add(np.float32(1.5), 1), lambda m: m.maximum(np.float32(1), 0),
           lambda m: m.multiply(np.int8(3), 2), lambda m: m.exp(3.0), lambda m: m.power(2, 3),
           lambda m: m.hypot(np.float32(3), 4.0), lambda m: m.sum(3.0),
           lambda m: m.mean(np.int8(3)),
           lambda m: m.median(2), lambda m: m.round(2.6), lambda m: m.isnan(1.0),
           lambda m: m.cumsum(np.float32(2)), lambda m: m.sum(np.ma.masked_array([1, 2], [0, 1])),
           lambda m: m.exp(np.ma.masked_array([1.0, 2], [0, 1])), lambda m: m.sum(3, axis=0),
           lambda m: m.sort(np.ma.masked_array([3.0, 2, 1], [0, 1, 0])),
           lambda m: m.add.reduce(np.ma.masked_array([3.0, 2, 1], [0, 1, 0])),
           *(lambda m, call=call: call(m, np.ma.masked_array([3.0, 2, 1], [0, 1, 0])) for call in (
               lambda m, x: m.add(x, [1, 1, 1]), lambda m, x: m.subtract([1, 1, 1], x),
               lambda m, x: m.multiply(m.ones(3), x), lambda m, x: m.less(x, m.ones(3)),
               lambda m, x: m.copy(x), lambda m, x: m.convolve(x, [1, 1]),
               lambda m, x: m.dot(x, [1, 1, 1]), lambda m, x: m.take(x, [0, 1]),
               lambda m, x: m.zeros_like(x), lambda m, x: m.ones_like(x, dtype="int8"),
               lambda m, x: m.full_like(x, 4), lambda m, x: m.empty_like(x, shape=(2, 0)))),
           lambda m: m.zeros_like(np.matrix([[1.0, 2]])),
           lambda m: m.full_like(np.matrix([[1]]), 4),
           lambda m: m.zeros_like(np.matrix([[1.0, 2]]), subok=False),
           *(lambda m, rule=rule, turned=turned: rule(
               *(m.array([[1.0, 2], [3, 4]]), np.matrix([[1, 2], [3, 5]]))[::turned])
             for rule in (operator.mul, operator.matmul, operator.sub, operator.lt, operator.eq)
             for turned in (1, -1)),
           *(lambda m, call=call: call(m, Kept([[1.0, 2], [3, 5]])) for call in (
               lambda m, x: x, lambda m, x: m.sum(x, 0), lambda m, x: m.sqrt(x),
               lambda m, x: m.delete(x, 0, 0), lambda m, x: m.median(x, 0),
               lambda m, x: m.array([1, 2]) + x, lambda m, x: x - m.array([1, 2]),
               lambda m, x: x < m.array([1, 2]), lambda m, x: m.array([1, 2]) @ x,
               lambda m, x: m.zeros_like(x), lambda m, x: m.roll(x, 1), lambda m, x: m.diff(x),
               lambda m, x: m.linalg.inv(x), lambda m, x: m.clip(x, 2, 3), lambda m, x: m.sort(x),
               lambda m, x: m.linspace(x[0], x[1], 3), lambda m, x: m.concatenate([x, x]),
               lambda m, x: m.cumsum(x, 0), lambda m, x: m.outer(x, x),
               lambda m, x: m.insert(x, 0, [0, 1], 0), lambda m, x: m.append(x, [[1, 2]], 0),
               lambda m, x: m.piecewise(x, [np.asarray(x) > 2], [1, 2])))]


class Kept(np.ndarray):
    """A program's own class of arrays."""

    def __new__(cls, data):
        return np.array(data).view(cls)


def test_a_programs_own_arrays_are_operands_in_place():
    x, kept = mat.ones(2, 2), Kept([[1.0, 2], [3, 5]])
    same = x
    x += kept
    assert same is x
    assert x.tolist() == [[2, 3], [4, 6]]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("call", FOREIGN)
def test_numbers_and_objects_of_others_give_what_numpys_functions_give(call):
    found, wanted = call(mat), call(np)
    if type(wanted) is np.ndarray:
        assert isinstance(found, mat.Mat)
        found = found.to_numpy()
    assert (type(found), found.dtype) == (type(wanted), wanted.dtype)
    assert_array_equal(found, wanted, strict=True)
    assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(wanted))


def test_python_floats_have_the_default_dtype():
    with mat.settings(dtype="float32"):
        for found in (mat.exp(3.0), mat.add(1.0, 2), mat.sum(2.0), mat.hypot(3.0, 4.0)):
            assert type(found) is np.float32
        assert type(mat.exp(np.float64(3))) is np.float64
        for found in (mat.exp([3.0]), mat.sum([1.0, 2]), mat.concatenate([[1.0], [2.0]]),
                      mat.add(mat.ones(2), [1.0, 2.0]), mat.median([1.0])):
            assert found.dtype == np.float32
        assert mat.exp([np.float64(3)]).dtype == np.float64


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "complex128", "bool"])
def test_results_without_axes_hash_and_repeat_as_numbers(dtype):
    x = mat.array([1, 0], dtype)
    k, wanted = x.max() if dtype != "complex128" else x.sum(), np.array([1], dtype)[0]
    assert hash(k) == hash(wanted)
    assert {1: "one"}[k] == "one"
    assert len({k, x.min(), x[:1].sum(), 1}) == 2
    for sequence in ([0, 1], (0,), "ab", b"ab"):
        if dtype in ("int64", "uint8"):
            assert sequence * k == k * sequence == sequence
            assert type(sequence * k) is type(sequence)
    with pytest.raises(TypeError):
        hash(x)


@pytest.mark.parametrize("numbers", [(np.float32(1), 1.0), (np.int8(1), 2), (1, 2.5), (True, 2)])
def test_python_numbers_adapt_where_operands_are_joined(numbers):
    for join in ("concatenate", "concat"):
        found = getattr(mat, join)(list(numbers), axis=None)
        wanted = np.concatenate(list(numbers), axis=None)
        assert_array_equal(found.to_numpy(), wanted, strict=True)


def test_close_numbers_are_compared_in_the_dtype_of_the_other():
    near = 0.9999999999999998
    for x in (mat.array(near, "f4"), mat.array([near], "f4"), mat.array([near])):
        for f in ("isclose", "allclose"):
            found, wanted = (getattr(m, f)(a, near, atol=0, rtol=0)
                             for m, a in ((mat, x), (np, x.to_numpy())))
            assert_array_equal(np.asarray(found), wanted)


def test_elements_are_mats_where_scalars_are_not_wanted():
    x = mat.array([[1.0, 2], [3, 4]])
    with mat.settings(scalars=False):
        for found in (x[0, 1], x[0][1], x[np.int64(0), -1], *x[0]):
            assert isinstance(found, mat.Mat)
            assert found.shape == ()
    assert type(x[0, 1]) is np.float64
    s = x.sum()
    assert s[()] is s
