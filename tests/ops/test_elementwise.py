"""Element-wise functions, their methods and operators against NumPy: promotion, broadcasting, in
place, specials.
"""

import math
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import AliasError, DTypeError, ShapeError

from ..support import selection
from ..support.functions import FUNCTIONS, PUBLIC
from ..support.layouts import (
    FLOATS,
    INTEGERS,
    NUMPY_DTYPES,
    check_hidden,
    numbers,
    place,
    tolerance,
)

ARITHMETIC = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
              "divide": operator.truediv,
              "pow": operator.pow}
COMPARISONS = {"equal": operator.eq, "not_equal": operator.ne, "less": operator.lt,
               "less_equal": operator.le,
               "greater": operator.gt, "greater_equal": operator.ge}
BINARY = {**ARITHMETIC, **COMPARISONS, "maximum": None, "minimum": None}
IN_PLACE = {"add": operator.iadd, "subtract": operator.isub, "multiply": operator.imul,
            "divide": operator.itruediv,
            "pow": operator.ipow}


def reference(function, *operands):
    """What NumPy gives, or the class of its refusal."""
    with np.errstate(all="ignore"):
        try:
            return function(*operands)
        except (TypeError, ValueError, OverflowError) as error:
            return type(error)


def agree(got, wanted, times=1):
    """Fail unless the Mat has the dtype, the shape and the elements of the array, to so many times
    the usual tolerance.
    """
    wanted = np.asarray(wanted)
    assert isinstance(got, mat.Mat)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    allowed = {name: times * most for name, most in tolerance(wanted.dtype).items()}
    assert_allclose(got.to_numpy(), wanted, **allowed)


# One operand


@pytest.mark.parametrize("name", PUBLIC)
@pytest.mark.sample(2)
def test_functions_methods_and_in_place(rng, name, numpy_dtype):
    x = numbers(rng, (3, 4), numpy_dtype)
    x = np.abs(x) + 1 if name in ("sqrt", "log",
                                  "reciprocal") and np.dtype(numpy_dtype).kind not in "b" else x
    x = x.astype(numpy_dtype)
    numpys = np.cbrt if name in ("logistic", "erf") else FUNCTIONS[name].reference
    kind = reference(numpys, x)
    if isinstance(kind, type):
        with pytest.raises(DTypeError, match=numpy_dtype):
            getattr(mat, name)(mat.array(x))
        return
    wanted = reference(FUNCTIONS[name].reference, x).astype(kind.dtype)
    near = tolerance(kind.dtype)
    for given_ in (mat.array(x), place(x, "strided"), x):
        got = getattr(mat, name)(given_)
        assert (got.dtype, got.shape) == (kind.dtype, x.shape)
        assert_allclose(got.to_numpy(), wanted, **near)
    assert_allclose(getattr(mat.array(x), name)().to_numpy(), wanted, **near)
    out = place(np.zeros_like(wanted), "block")
    assert getattr(mat, name)(mat.array(x), out=out) is out
    assert_allclose(out.to_numpy(), wanted, **near)
    check_hidden(out)
    y = place(x, "negative")
    if np.can_cast(kind.dtype, x.dtype, "same_kind"):
        assert getattr(y, name + "_")() is y
        assert_allclose(y.to_numpy(), wanted.astype(x.dtype), **near)
    else:
        with pytest.raises(DTypeError, match=str(kind.dtype)):
            getattr(y, name + "_")()
        assert_array_equal(y.to_numpy(), x)
    assert y.dtype == x.dtype
    check_hidden(y)


def test_operators_of_one_operand():
    x = np.array([1.0, -2, 0])
    agree(-mat.array(x), -x)
    agree(abs(mat.array(x)), abs(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_specials_follow_ieee_and_warn_of_nothing(dtype):
    inf, nan = math.inf, math.nan

    def f(function, *values):
        return function(mat.array(np.array(values, dtype))).to_numpy()
    assert_array_equal(f(mat.log, 0, -1, inf), [-inf, nan, inf])
    assert_array_equal(f(mat.log1p, -1, -2), [-inf, nan])
    assert_array_equal(f(mat.sqrt, -1, inf), [nan, inf])
    assert_array_equal(f(mat.exp, -inf, inf, 1e4 if dtype != "float16" else 100), [0, inf, inf])
    assert_array_equal(f(mat.reciprocal, 0.0, -0.0, inf), [inf, -inf, 0])
    assert_array_equal(f(mat.sin, inf, nan), [nan, nan])
    assert_array_equal(f(mat.logistic, -inf, inf, nan), [0, 1, nan])
    assert_array_equal(f(mat.erf, -inf, inf), [-1, 1])
    assert_array_equal(f(mat.sign, nan, -0.0, -inf), [nan, 0, -1])
    assert_array_equal(f(lambda x: x / 0, 1, -1, 0, nan), [inf, -inf, nan, nan])
    assert_array_equal(f(lambda x: x * x, float(np.finfo(dtype).max)), [inf])
    assert_array_equal(f(lambda x: x ** 0.5, -1), [nan])
    assert_array_equal(f(lambda x: x ** -1, 0), [inf])
    assert_array_equal(f(lambda x: mat.maximum(x, 1), nan, 0), [nan, 1])
    assert_array_equal(f(lambda x: x - inf, inf), [nan])
    assert_array_equal(f(lambda x: x == x, nan, 1), [False, True])


def test_no_warning_even_if_numpy_is_told_to_raise():
    with np.errstate(all="raise"):
        assert mat.log(mat.zeros(1)).item() == -math.inf
        with pytest.raises(FloatingPointError):  # and NumPy's own state is back afterwards
            np.log(np.zeros(1))


def test_integers_wrap_around_as_numpys():
    x = np.array([127, -128], "int8")
    agree(mat.array(x) + mat.array(x), x + x)
    agree(mat.negative(mat.array(x)), -x)


# Two operands


def operands(rng, dtype):
    """Positive elements, so that every power exists."""
    return (np.abs(numbers(rng, 5, dtype)) + (0 if dtype == "bool" else 1)).astype(dtype)


@pytest.mark.parametrize("name", BINARY)
def test_promotion_over_all_pairs_of_dtypes(rng, name):
    function = getattr(np, name)
    for one in NUMPY_DTYPES:
        for other in NUMPY_DTYPES:
            x, y = operands(rng, one), operands(rng, other)
            wanted = reference(function, x, y)
            if isinstance(wanted, type):
                with pytest.raises(DTypeError, match=f"{one} and {other}"):
                    getattr(mat, name)(mat.array(x), mat.array(y))
                continue
            agree(getattr(mat, name)(mat.array(x), mat.array(y)), wanted)


SCALARS = (2, 0, 1.5, True, 2 + 1j, np.float64(2), np.float32(1.5), np.float16(1), np.int64(3),
           np.int8(2), np.uint8(200),
           np.bool_(True), np.complex64(1j), 300, 128)


@pytest.mark.parametrize("name", [*ARITHMETIC, *COMPARISONS])
@pytest.mark.parametrize("scalar", SCALARS, ids=lambda v: f"{type(v).__name__} {v}")
@pytest.mark.sample(3)
def test_operators_with_scalars_in_both_orders(rng, name, scalar):
    symbol = BINARY[name]
    for dtype in NUMPY_DTYPES:
        x = operands(rng, dtype)
        for first in (True, False):
            # NumPy's operator squares booleans to int8, and its function to int64
            function = symbol if name == "pow" and dtype == "bool" else getattr(np, name)
            wanted = reference(function, *((x, scalar) if first else (scalar, x)))
            if isinstance(wanted, type):
                with pytest.raises(DTypeError):
                    symbol(mat.array(x), scalar) if first else symbol(scalar, mat.array(x))
            elif not out_of_range(scalar, dtype):
                # the error of a complex power is that of a logarithm, times the exponent
                agree(symbol(mat.array(x), scalar) if first else symbol(scalar, mat.array(x)),
                      wanted, 4 if name == "pow" and wanted.dtype.kind == "c" else 1)


def out_of_range(scalar, dtype):
    """NumPy compares with Python integers that its dtype cannot represent; mat refuses these, by
    the array API's rule.
    """
    if type(scalar) is not int or dtype not in INTEGERS:
        return False
    return not np.iinfo(dtype).min <= scalar <= np.iinfo(dtype).max


@pytest.mark.parametrize("name", [*ARITHMETIC, *COMPARISONS])
def test_operators_with_arrays_in_both_orders(rng, name):
    symbol = BINARY[name]
    x, y = operands(rng, "float32"), operands(rng, "float64")
    agree(symbol(mat.array(x), y), symbol(x, y))
    agree(symbol(x, mat.array(y)), symbol(x, y))
    agree(symbol(mat.array(x), y[::-1]), symbol(x, y[::-1]))
    agree(symbol(mat.array(x), np.asarray(2.5)), symbol(x, np.asarray(2.5)))


@pytest.mark.parametrize("name", BINARY)
def test_functions_take_arrays_numbers_and_out(rng, name):
    function, numpys = getattr(mat, name), getattr(np, name)
    x, y = operands(rng, "float64"), operands(rng, "float64")
    wanted = numpys(x, y)
    agree(function(x, y), wanted)
    agree(function(mat.array(x), y), wanted)
    agree(function(2, mat.array(y)), numpys(2, y))
    agree(function(x, 2.5), numpys(x, 2.5))
    for layout in ("packed", "strided", "transposed"):
        out = place(np.full(5, np.nan), layout)
        assert function(mat.array(x), mat.array(y), out=out) is out
        assert_array_equal(out.to_numpy(), wanted.astype("float64"))
        check_hidden(out)


@pytest.mark.parametrize("name", BINARY)
def test_in_place_never_changes_the_dtype(rng, name):
    numpys = getattr(np, name)
    for one in NUMPY_DTYPES:
        for other in NUMPY_DTYPES:
            x, y = operands(rng, one), operands(rng, other)
            kind = reference(numpys, x, y)
            got = place(x, "block")
            if isinstance(kind, type) or not np.can_cast(kind.dtype, x.dtype, "same_kind"):
                with pytest.raises(DTypeError):
                    getattr(got, name + "_")(mat.array(y))
                assert_array_equal(got.to_numpy(), x)
            else:
                assert getattr(got, name + "_")(mat.array(y)) is got
                assert_allclose(got.to_numpy(), kind.astype(one),
                                **tolerance(min(one, other, key=rank)))
            assert got.dtype == x.dtype
            check_hidden(got)


def rank(dtype):
    """Exact dtypes last, so that the smallest rank is the coarsest."""
    dtype = np.dtype(dtype)
    return -float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


@pytest.mark.parametrize("name", IN_PLACE)
def test_augmented_operators(rng, name):
    symbol = IN_PLACE[name]
    x, y = operands(rng, "float64"), operands(rng, "float64")
    for other in (y, mat.array(y), 2, 2.5, np.float32(2), y.astype("float32")):
        wanted = x.copy()
        wanted = symbol(wanted, np.asarray(other))
        before = got = mat.array(x)
        got = symbol(got, other)
        assert got is before
        # every library rounds powers its own way
        assert_allclose(got.to_numpy(), wanted, rtol=2e-16 if name == "pow" else 0)


def test_augmented_assignment_to_a_part():
    a, b = np.arange(12.0).reshape(3, 4), mat.arange(12.0).reshape(3, 4)
    a[1:, ::2] += 10
    b[1:, ::2] += 10
    a[0] *= a[1]
    b[0] *= b[1]
    a.T[1] -= 1
    b.T[1] -= 1
    assert_array_equal(b.to_numpy(), a)


def test_comparisons_write_ones_and_zeros_in_place():
    y = mat.array([1, 5, 3], "float32")
    assert y.greater_(mat.array([2, 2, 3], "float32")) is y
    assert_array_equal(y.to_numpy(), np.array([0, 1, 0], "float32"))
    assert_array_equal(mat.array([1, 5], "int8").less_equal_(1).to_numpy(),
                       np.array([1, 0], "int8"))


def test_overlapping_operands_are_right():
    a = np.arange(10.0)
    x = mat.array(a)
    mat.add(x[:-1], x[1:], out=x[:-1])
    a[:-1] = a[:-1] + a[1:].copy()
    assert_array_equal(x.to_numpy(), a)
    x[1:].multiply_(x[:-1])
    a[1:] *= a[:-1].copy()
    assert_array_equal(x.to_numpy(), a)
    mat.square(x[::-1], out=x)
    assert_array_equal(x.to_numpy(), a[::-1] ** 2)


@pytest.mark.parametrize(("one", "other"),
                         [((3, 1), (4,)), ((2, 1, 3), (4, 1)), ((), (2, 3)), ((1,), (0,)),
                          ((0, 3), (1, 3)), ((5,), ())])
def test_broadcasting(rng, one, other):
    x, y = rng.standard_normal(one), rng.standard_normal(other)
    agree(mat.array(x) + mat.array(y), np.asarray(x + y))
    agree(mat.array(x).broadcast_to(np.broadcast_shapes(one, other)) * mat.array(y),
          np.asarray(x * y))


def test_in_place_broadcasts_the_operand_only():
    x = mat.zeros(3, 4)
    x += mat.arange(4.0)
    assert_array_equal(x.to_numpy(), np.tile(np.arange(4.0), (3, 1)))
    with pytest.raises(ShapeError, match=r"\(3, 4\).*\(4,\)"):
        mat.arange(4.0).add_(x)
    with pytest.raises(AliasError):
        mat.zeros(1).broadcast_to(4).add_(1)


# Writing


def test_fill(numpy_dtype):
    for layout in ("packed", "strided", "negative", "displaced"):
        x = place(np.zeros((2, 3), numpy_dtype), layout)
        assert x.fill_(1) is x
        assert_array_equal(x.to_numpy(), np.ones((2, 3), numpy_dtype))
        check_hidden(x)


def test_fill_refuses_what_the_dtype_cannot_hold():
    for value in (float("nan"), float("inf"), 1j, 2**31, "1"):
        x = mat.zeros(2, dtype="int32").fill_(1)
        with pytest.raises(DTypeError, match=str(value).strip("()")):
            x.fill_(value)
        assert_array_equal(x.to_numpy(), [1, 1])


def test_chaining():
    assert_array_equal(mat.zeros(3, 4).fill_(2).scal_(3).add_(1).sqrt_().to_numpy(),
                       np.full((3, 4), np.sqrt(7)))


# MGL-MAT's fused forms


@pytest.mark.parametrize("layout", ["packed", "strided", "negative", "transposed"])
def test_fused_forms(rng, layout):
    a, b, c, x = (rng.standard_normal(s) for s in ((3, 4), (3, 4), (3, 4), 4))
    pa, pb, pc, px = (place(v, layout) for v in (a, b, c, x))
    assert mat.geem(2, pa, pb, -1, pc) is pc
    assert_allclose(pc.to_numpy(), 2 * a * b - c)
    pc = place(c, layout)
    assert_allclose(mat.geerv(2, pa, px, 3, pc).to_numpy(), 2 * a * x + 3 * c)
    pc = place(c, layout)
    assert_allclose(mat.add_sign(2, pa, 1, pc).to_numpy(), 2 * np.sign(a) + c)
    assert_allclose(place(c, layout).geem_(2, pa, pb, 1).to_numpy(), 2 * a * b + c)
    assert_allclose(pa.geem_(1, pa, pa, 1).to_numpy(), a * a + a)
    check_hidden(pc)


# Any shape, any values


SOME_FLOATS = st.floats(-1e6, 1e6, width=32)
ARRAYS = hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
                    elements=SOME_FLOATS)


@settings(max_examples=selection.examples(60))
@given(ARRAYS, st.sampled_from(["square", "sqrt", "exp", "log", "tanh", "abs", "negative", "sign",
                                "floor", "rint"]))
def test_any_array(x, name):
    agree(getattr(mat, name)(mat.array(x)), reference(getattr(np, name), x))


@settings(max_examples=selection.examples(60))
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3, min_side=0),
       st.sampled_from(sorted(BINARY)),
       st.integers(0, 2**32 - 1))
def test_any_shapes_that_broadcast(shapes, name, seed):
    rng = np.random.default_rng(seed)
    x, y = (rng.uniform(0.5, 2, shape) for shape in shapes.input_shapes)
    agree(getattr(mat, name)(mat.array(x), mat.array(y)), getattr(np, name)(x, y))


@settings(max_examples=selection.examples(60))
@given(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0),
       hnp.array_shapes(min_dims=0, max_dims=4, min_side=0))
def test_shapes_that_do_not_broadcast_are_refused(one, other):
    try:
        wanted = np.broadcast_shapes(one, other)
    except ValueError:
        with pytest.raises(ShapeError):
            mat.zeros(one) + mat.zeros(other)
    else:
        assert (mat.zeros(one) + mat.zeros(other)).shape == wanted


def test_a_planned_call_still_looks_at_integers():
    small, large = mat.zeros(3, dtype="int8"), mat.zeros(3)
    small.less_(0.5)
    large.add_(0.5)
    with pytest.raises(mat.DTypeError):
        small.add_(300)
    with pytest.raises(mat.DTypeError):
        large.add_(10**400)
    assert_array_equal(small.to_numpy(), [1, 1, 1])
    assert_array_equal(large.to_numpy(), [0.5, 0.5, 0.5])


def test_signed_zeros_are_told_apart():
    x = mat.array([1.0, -1])
    for _ in range(2):  # the second time as planned, with the number made an array
        assert_array_equal(np.signbit(x.copy().multiply_(0.0).to_numpy()), [False, True])
        assert_array_equal(np.signbit(x.copy().multiply_(-0.0).to_numpy()), [True, False])
        assert_array_equal(np.signbit(mat.scal(-0.0, x.copy()).to_numpy()), [True, False])
        assert_array_equal(np.signbit(mat.scal(0.0, x.copy()).to_numpy()), [False, True])
