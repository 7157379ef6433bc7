"""Users' kernels of all element types, beside NumPy: on the host and on devices."""

import shutil

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import DTypeError, RangeError

from ..support.in_tiles import in_tiles
from ..support.layouts import LAYOUTS, NUMPY_DTYPES, check_hidden, place
from ..support.needs import native

pytestmark = [native, pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")),
                                         reason="there is no C compiler")]
SHAPES = ((3, 4), (700,), (), (0, 3), (2, 3, 65))
axpby = mat.kernel("y = 2 * x + y", x="input", y="io")


def numbers(shape, dtype, seed=1):
    """Return small numbers, of which sums and products are exact in all types."""
    found = np.random.default_rng(seed).integers(0, 5, shape)
    if np.dtype(dtype).kind == "c":
        return np.asarray(found + 1j * (4 - found)).astype(dtype)
    return np.asarray(found).astype(dtype)


@pytest.mark.sample(12)
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_types_and_layouts(dtype, layout):
    for shape in SHAPES:
        x, y = numbers(shape, dtype), numbers(shape, dtype, 2)
        one, other = place(x, layout), place(y, layout)
        assert axpby(one, other) is other
        assert_array_equal(other.to_numpy(), np.asarray(2 * x + y).astype(dtype))
        check_hidden(other)


MIXED = mat.kernel("y = x * z; below = x < z; steps += below", x="input", z="input", y="output",
                   below="output", steps="io")


@pytest.mark.sample(8)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("x", "z", "y"), [
    ("float32", "float64", "float64"), ("float16", "int8", "float32"), ("bool", "int64", "int64"),
    ("uint8", "int16", "int32"), ("float64", "float16", "float16"), ("uint32", "float32", "int64")])
def test_operands_of_different_types(layout, x, z, y):
    for shape in SHAPES:
        a, b = numbers(shape, x), numbers(shape, z, 2)
        made, below = place(np.zeros(shape, y), layout), place(np.zeros(shape, "bool"), layout)
        steps = place(np.ones(shape, "uint16"), layout)
        MIXED(place(a, layout), place(b, layout), made, below, steps)
        assert_array_equal(made.to_numpy(), np.asarray(a * b).astype(y))
        assert_array_equal(below.to_numpy(), a < b)
        assert_array_equal(steps.to_numpy(), 1 + (a < b))
        check_hidden(made)


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_floats_of_8_bits_are_float_in_the_source(dtype, layout):
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), dtype))
    k = mat.kernel("y = a * x * x + z; w = x(1) / 3", a="number", z="input float32",
                   x="input window(1) 2", y="output", w="output")
    for shape in ((3, 4), (700,)):
        x = np.random.default_rng(2).integers(0, 100, shape, "u1").view(dtype)
        z, out = place(numbers(shape, "float32"), layout), place(np.zeros(shape, dtype), layout)
        y, w = k(0.5, z, place(x, layout), w=out), out.to_numpy()
        f = x.astype("f")
        assert y.dtype == "float32"
        assert_array_equal(y.to_numpy(), np.float32(0.5) * f * f + z.to_numpy())
        right = np.concatenate([f[..., 1:], np.full((*shape[:-1], 1), 2, "f")], axis=-1)
        assert_array_equal(w.astype("f"), (right / 3).astype(dtype).astype("f"))
        check_hidden(out)
    alone = mat.kernel("y = x + x; if (x < 0) return; y = sqrt(x)", x="input", y="output")
    found = alone(mat.array(x))
    assert found.dtype == dtype
    wanted = np.where(f < 0, f + f, np.sqrt(np.abs(f))).astype(dtype)
    assert_array_equal(found.to_numpy().view("u1"), wanted.view("u1"))
    to_half = mat.kernel("y = x", x="input", y="output float16")  # NumPy has no type for both
    assert_array_equal(to_half(mat.array(x)).to_numpy(), f.astype("float16"))


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_functions(dtype):
    k = mat.kernel("""
        T w = a * exp(z) + conj(z) / 2 - 3 * I;
        size = abs(w); angle = imag(w); y = w; y *= real(z);
    """, a="number", z="input", size="output", angle="output", y="output")
    z = (np.linspace(-1, 1, 301) + 1j * np.linspace(2, -1, 301)).astype(dtype)
    real = "float32" if dtype == "complex64" else "float64"
    size, angle = mat.empty(301, dtype=real), mat.empty(301, dtype=real)
    y = k(1 - 2j, mat.array(z), size, angle, mat.empty(301, dtype=dtype))
    w = (1 - 2j) * np.exp(z) + np.conj(z) / 2 - 3j
    tolerance = {"rtol": 1e-5 if real == "float32" else 1e-13, "atol": 1e-6}
    assert_allclose(size.to_numpy(), abs(w), **tolerance)
    assert_allclose(angle.to_numpy(), w.imag, **tolerance)
    assert_allclose(y.to_numpy(), w * z.real, **tolerance)


def test_bfloat16():
    pytest.importorskip("ml_dtypes")
    x = mat.array([1.0, -2.5, 3]).astype("bfloat16")
    y = mat.empty(3, dtype="bfloat16")
    mat.kernel("y = x * x + 0.5", x="input", y="output")(x, y)
    assert_array_equal(y.astype("float32").to_numpy(), [1.5, 6.75, 9.5])


@pytest.mark.parametrize(("dtype", "unset"), [
    ("float16", np.nan), ("int8", 127), ("uint64", 2**64 - 1), ("int64", 2**63 - 1), ("bool", True),
    ("complex64", np.nan)])
@pytest.mark.sample(3)
def test_what_is_not_assigned_shows(dtype, unset):
    y = mat.zeros(3, dtype=dtype)
    mat.kernel("if (x > 1) y = 0", x="input", y="output")(mat.arange(3.0), y)
    assert_array_equal(y.to_numpy(), np.array([unset, unset, 0], dtype))


def test_integers_wrap_around():
    x = mat.array([2**31 - 1, -2**31], dtype="int32")
    y = mat.kernel("y = x + x * 3", x="input", y="output")(x, mat.empty(2, dtype="int32"))
    assert_array_equal(y.to_numpy(), [-4, 0])


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
@pytest.mark.sample(3)
def test_checked_division(dtype):
    ends = np.iinfo(dtype)
    values = np.array([ends.min, ends.min + 1, 0, 1, 7, ends.max // 2, ends.max], dtype)
    if ends.min:
        values = np.concatenate([values, np.array([-1, -7], dtype)])
    a, b = (x.copy() for x in np.broadcast_arrays(values[:, None], values))
    k = mat.kernel("q = div(a, b); r = mod(a, b); s = abs(a)", a="input", b="input", q="output",
                   r="output", s="output")
    with np.errstate(all="ignore"):
        wanted = a // b, a % b, np.abs(a)
    for found, want in zip(k(mat.array(a), mat.array(b)), wanted, strict=True):
        assert_array_equal(found.to_numpy(), want)


def test_absolute_values_of_integers_are_exact():
    x = [2**53 + 1, -2**62 - 1, -2**63]
    k = mat.kernel("y = abs(x) == 9007199254740993 || abs(x - 1) == 4611686018427387906", x="input",
                   y="output bool")
    assert k(mat.array(x)).tolist() == [True, True, False]
    assert mat.kernel("y = abs(x)", x="input", y="output")(mat.array(x)).tolist() == [
        2**53 + 1, 2**62 + 1, -2**63]
    assert mat.kernel("y = 2 * abs(x / 4.0)", x="input", y="output float32")(
        mat.array([-1])).tolist() == [0.5]


@pytest.mark.parametrize("text", ["T t = x * z; y = t", "y = x * z ? 1 : 0", "if (x * z) y = 1; "
                                  "else y = 0"])
@pytest.mark.sample(1)
def test_products_of_bools(text):
    k = mat.kernel(text, x="input", z="input", y="output")
    assert k(mat.array([True, True]), mat.array([True, False])).tolist() == [True, False]


def test_numbers_are_of_the_common_type():
    scale = mat.kernel("y = a * x", a="number", x="input", y="output")
    x, y = mat.arange(3, dtype="int32"), mat.empty(3, dtype="float64")
    for _ in range(2):
        assert scale(0.5, x, y).tolist() == [0, 0.5, 1]
        assert scale(2, x, mat.empty(3, dtype="int64")).tolist() == [0, 2, 4]
        with pytest.raises(DTypeError, match="a "):
            scale(0.5, x, mat.empty(3, dtype="int64"))
        with pytest.raises(RangeError, match="without axes"):
            scale(2**60 + 1, x, mat.empty(3, dtype="int64"))


def test_in_tiles():
    x, z = numbers((40, 30), "float16"), numbers((40, 30), "int8", 2)
    made, below = mat.empty(40, 30, dtype="float32"), mat.empty(40, 30, dtype="bool")
    steps = mat.ones(40, 30, dtype="uint16")
    assert in_tiles(MIXED, (mat.array(x), mat.array(z), made, below, steps), {}, 1000)[1] > 1
    assert_array_equal(made.to_numpy(), (x * z).astype("float32"))
    assert_array_equal(steps.to_numpy(), 1 + (x < z))
