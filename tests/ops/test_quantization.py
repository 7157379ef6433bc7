"""Quantizing, and products that take scales along, against NumPy in float64."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.errors import AliasError, DTypeError, ShapeError
from mat.ops.nn import quantization

from ..support.layouts import LAYOUTS, check_hidden, place

ml_dtypes = pytest.importorskip("ml_dtypes")

# the largest number of a dtype, and how far a rounded one is off: half a unit, or relative
KINDS = {"int8": (127, 0.5, 0), "float8_e4m3fn": (448, 2.0**-10, 2.0**-4),
         "float8_e5m2": (57344, 2.0**-17, 2.0**-3)}
kinds = pytest.mark.parametrize("kind", KINDS)
devices = pytest.mark.parametrize("device", ["cpu", "emulated"])
SIZES = ((1, 5, 7), (3, 70, 2), (65, 64, 66), (100, 3000, 33), (5, 0, 4), (300, 17, 1))


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


@kinds
@devices
@pytest.mark.parametrize("axis", [None, -1, 0, (0, 1), (0, 2)])
def test_quantized_numbers_are_near(rng, kind, axis, device):
    largest, unit, relative = KINDS[kind]
    a = rng.standard_normal((4, 5, 6)) * 10
    a[1] = 0
    with mat.use_device(device):
        values, scales = mat.quantize(mat.array(a), kind, axis)
        back = mat.dequantize(values, scales)
    keepdims = axis is not None
    top = abs(a).max(axis=axis, keepdims=keepdims)
    assert values.dtype == dtype_of(kind)
    assert_allclose(scales.to_numpy(), np.where(top == 0, 1, top / largest), rtol=1e-15)
    wide = values.to_numpy().astype(float)
    assert_array_equal(abs(wide).max(axis=axis, keepdims=keepdims),
                       np.where(top == 0, 0, largest))
    assert back.dtype == a.dtype
    bound = np.maximum(unit * scales.to_numpy(), relative * abs(a)) * (1 + 1e-12)
    assert (abs(back.to_numpy() - a) <= bound).all()


@kinds
@pytest.mark.parametrize("layout", LAYOUTS)
def test_quantizing_any_layout(rng, kind, layout):
    a = rng.standard_normal((3, 4)).astype("float32")
    x = place(a, layout)
    wanted, scales = mat.quantize(mat.array(a), kind, -1)
    found = mat.quantize(x, kind, -1)
    assert found.values.equals(wanted)
    assert found.scales.equals(scales)
    check_hidden(x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int16", "bool", "float32", "float64"])
def test_scales_are_float32_unless_float64(dtype):
    x = mat.array([0, 1, 1], dtype)
    values, scales = mat.quantize(x, "int8")
    assert values.tolist() == [0, 127, 127]
    assert scales.dtype == ("float64" if dtype == "float64" else "float32")


def test_what_is_small_or_empty():
    assert [x.shape for x in mat.quantize(mat.zeros(0, 4), "int8", -1)] == [(0, 4), (0, 1)]
    assert mat.quantize(mat.zeros(3, 0), "int8").scales.item() == 1
    values, _ = mat.quantize(mat.array([1e-45, 0, 2.7e-43], "float32"), "int8")
    assert 64 < values.tolist()[2] <= 127  # of a scale that is no normal number


@np.errstate(all="ignore")
def test_what_is_not_finite_is_not_hidden():
    for bad in (np.inf, -np.inf, np.nan):
        x = mat.array([[1, bad], [1, 2]])
        for kind in ("float8_e4m3fn", "float8_e5m2", "int8"):
            back = mat.dequantize(*mat.quantize(x, kind, -1)).to_numpy()
            assert not np.isfinite(back[0]).any()
            assert np.isfinite(back[1]).all()


@devices
@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("int8", "uint8"), ("uint8", "int8"),
                                    ("float8_e4m3fn", "float8_e4m3fn"),
                                    ("float8_e5m2", "float8_e5m2"),
                                    ("float8_e4m3fn", "float8_e5m2"), ("bfloat16", "bfloat16")])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.sample(3)
def test_products_with_scales(rng, dtypes, turned, device):
    for m, k, n in SIZES:
        a, b = (rng.integers(0 if name[0] == "u" else -100, 100, shape).astype("float32").astype(
            dtype_of(name)) for name, shape in zip(dtypes, ((m, k), (k, n)), strict=True))
        sums = a.astype(float) @ b.astype(float)
        size = abs(a.astype(float)) @ abs(b.astype(float))
        for left, right in (((), ()), ((m, 1), ()), ((), (1, n)), ((m, 1), (1, n))):
            u, v = (np.asarray(rng.random(shape) + 0.5, "float32") for shape in (left, right))
            with mat.use_device(device):
                x, y = (mat.array(c.T.copy()).T if turned else mat.array(c) for c in (a, b))
                found = mat.scaled_matmul(x, mat.array(u), y, mat.array(v))
            assert found.dtype == "float32"
            error = 0 if dtypes[0][-4:] == "int8" else max(k, 1) * 2.0**-24 * size
            assert (abs(found.to_numpy() - sums * u * v)
                    <= (error + abs(sums) * 2.0**-22) * u * v).all()


def test_products_of_integers_are_exact_however_long():
    n = (1 << 17) + 2
    a, b = mat.full((1, n), -128, "int8"), mat.full((n, 1), -128, "int8")
    one = mat.array(1, "float32")
    assert mat.scaled_matmul(a, one, b, one).item() == n * 2.0**14


def test_stacks_and_out(rng):
    a, b = rng.integers(-9, 9, (2, 3, 4)), rng.integers(-9, 9, (4, 5))
    one, out = mat.array(0.5, "float32"), place(np.zeros((2, 3, 5), "float32"), "strided")
    x, y = mat.array(a.astype("int8")), mat.array(b.astype("int8"))
    rows = mat.array(np.arange(6, dtype="float32").reshape(2, 3, 1))
    assert mat.scaled_matmul(x, rows, y, one, out) is out
    assert_array_equal(out.to_numpy(), (a @ b) * rows.to_numpy() * np.float32(0.5))
    check_hidden(out)


@pytest.mark.parametrize("kind", ["float8_e4m3fn", "bfloat16"])
def test_large_products_by_blas(rng, kind, monkeypatch):
    monkeypatch.setattr(quantization, "FOR_BLAS", 8)
    a, b = rng.standard_normal((9, 10)), rng.standard_normal((10, 11))
    x, y = mat.array(a.astype("float32")).astype(kind), mat.array(b.astype("float32")).astype(kind)
    u = mat.array(rng.random((9, 1)).astype("float32"))
    wanted = x.astype("float64").to_numpy() @ y.astype("float64").to_numpy() * u.to_numpy() * 2
    found = mat.scaled_matmul(x, u, y, mat.array(2, "float32"))
    assert_allclose(found.to_numpy(), wanted, rtol=1e-4, atol=1e-5)


def test_products_of_one_dtype_are_summed_in_float32(rng):
    for kind in ("float8_e4m3fn", "float8_e5m2"):
        a = rng.standard_normal((33, 70)).astype("float32").astype(dtype_of(kind))
        x, out = mat.array(a), mat.empty(33, 33, dtype="float32")
        mat.matmul(x, x.T, out=out)
        wide = a.astype(float)
        assert_allclose(out.to_numpy(), wide @ wide.T, rtol=1e-4, atol=1e-4)
        assert_array_equal((x @ x.T).to_numpy().astype("float32"),
                           out.to_numpy().astype(dtype_of(kind)).astype("float32"))


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda q, s: mat.quantize(q, "int16"), DTypeError, "int16"),
    (lambda q, s: mat.quantize(mat.ones(2, dtype="complex64"), "int8"), DTypeError, "complex64"),
    (lambda q, s: mat.quantize(q, "int8", 5), ShapeError, "5"),
    (lambda q, s: mat.dequantize([1], s), DTypeError, "list"),
    (lambda q, s: mat.dequantize(q, q), DTypeError, "int8"),
    (lambda q, s: mat.dequantize(q, mat.ones(3)), ShapeError, "3"),
    (lambda q, s: mat.scaled_matmul(q, s, s, s), DTypeError, "float32"),
    (lambda q, s: mat.scaled_matmul(q, s, 3, s), DTypeError, "int"),
    (lambda q, s: mat.scaled_matmul(q, s, q[0], s), ShapeError, "matrices"),
    (lambda q, s: mat.scaled_matmul(q, s, mat.ones(3, 2, dtype="int8"), s), ShapeError, "differ"),
    (lambda q, s: mat.scaled_matmul(q, mat.ones(1, 2, dtype="float32"), q, s), ShapeError,
     "axis=-1"),
    (lambda q, s: mat.scaled_matmul(q, s, q, mat.ones(2, 1, dtype="float32")), ShapeError,
     "axis=-2"),
    (lambda q, s: mat.scaled_matmul(q, mat.ones(()), q, s), DTypeError, "float64"),
    (lambda q, s: mat.scaled_matmul(q, s, q, s, mat.ones(2, 2)), DTypeError, "float64"),
    (lambda q, s: mat.scaled_matmul(q, s, q, s, mat.ones(2, 3, dtype="float32")), ShapeError,
     r"\(2, 3\)"),
    (lambda q, s: mat.scaled_matmul(q, s.reshape(1, 1).broadcast_to(2, 1), q, s, s), ShapeError,
     "shape"),
])
def test_bad_input(call, kind, text):
    q, s = mat.ones(2, 2, dtype="int8"), mat.array(0.5, "float32")
    with pytest.raises(kind, match=text):
        call(q, s)
    assert q.tolist() == [[1, 1], [1, 1]]
    assert s.item() == 0.5


def test_out_is_apart_from_operands():
    q, both = mat.ones(2, 2, dtype="int8"), mat.ones(2, 2, dtype="float32")
    with pytest.raises(AliasError):
        mat.scaled_matmul(q, both[:, :1], q, mat.array(1, "float32"), both)
    assert both.tolist() == [[1, 1], [1, 1]]
