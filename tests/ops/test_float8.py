"""The floats of 8 bits: their values by the definition of the formats, and all else as ml_dtypes
has it.
"""

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import DTypeError
from mat.support.dtypes import as_dtype

from ..conftest import DEVICE
from ..support.layouts import LAYOUTS, check_hidden, place

ml_dtypes = pytest.importorskip("ml_dtypes")

NAMES = ("float8_e4m3fn", "float8_e5m2")
names = pytest.mark.parametrize("name", NAMES)
FLOATING = ("float16", "bfloat16", "float32", "float64", *NAMES)
COMPARISONS = (np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal)


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def every(name):
    """All values, as ml_dtypes has them."""
    dtype = dtype_of(name)
    return np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)


def decoded(byte, name):
    """The value of a byte by the definition of the format."""
    bits, bias = (3, 7) if name == "float8_e4m3fn" else (2, 15)
    exponent, fraction = byte >> bits & 2**(7 - bits) - 1, byte & 2**bits - 1
    top, sign = 2**(7 - bits) - 1, -1.0 if byte & 0x80 else 1.0
    if name == "float8_e5m2" and exponent == top:
        return sign * (float("nan") if fraction else float("inf"))
    if name == "float8_e4m3fn" and exponent == top and fraction == 7:
        return float("nan")
    if not exponent:
        return sign * fraction * 2.0**(1 - bias - bits)
    return sign * (1 + fraction / 2**bits) * 2.0**(exponent - bias)


def same_bits(got, wanted):
    assert got.dtype == wanted.dtype
    if DEVICE == "cuda" and got.dtype.kind not in "biu":  # a GPU has another NaN
        got = np.where(np.isnan(got) & np.isnan(wanted), wanted, got)
    assert_array_equal(got.view(np.uint8), wanted.view(np.uint8))


@names
def test_values_are_those_of_the_format(name):
    found = mat.from_numpy(np.arange(256, dtype="uint8")).view(name).astype("float64")
    assert_array_equal(found.to_numpy(), [decoded(byte, name) for byte in range(256)])


@names
@np.errstate(all="ignore")
def test_conversions_of_all_values(name):
    wanted = every(name)
    x = mat.from_numpy(wanted)
    for target in (*FLOATING, "bool", "int8", "int32", "uint64", "complex64"):
        same_bits(x.astype(target).to_numpy(), wanted.astype(dtype_of(target)))
    for source in ("float16", "bfloat16", *NAMES):
        a = every(source)
        same_bits(mat.from_numpy(a).astype(name).to_numpy(), a.astype(dtype_of(name)))


@names
@pytest.mark.parametrize("source", ["float32", "float64", "int64", "int32", "int8", "uint16",
                                    "bool"])
@np.errstate(all="ignore")
def test_conversions_to_it(name, source, rng):
    """Numbers of all magnitudes, those between two values, and their neighbours: to even."""
    exact = every(name).astype("float32")
    exact = np.sort(exact[np.isfinite(exact)])
    between = (exact[1:] + exact[:-1]) / 2
    a = np.concatenate([
        rng.integers(0, 2**32, 20000, dtype="uint32").view("float32"), between,
        np.nextafter(between, 0), np.nextafter(between, np.inf),
        np.array([464, 465, 479, 480, 61439, 61440, np.inf, -np.inf, np.nan, -0.0], "float32")])
    a = a.astype(source) if source != "int8" else rng.integers(-128, 128, 500).astype(source)
    same_bits(mat.from_numpy(a).astype(name).to_numpy(), a.astype(dtype_of(name)))


@names
@pytest.mark.parametrize("layout", LAYOUTS)
@np.errstate(all="ignore")
def test_every_layout(name, layout, rng):
    a = rng.standard_normal((5, 7)).astype("float32")
    b = a.astype(dtype_of(name))
    for given, made in ((a, b), (b, b.astype("float32"))):
        out = place(np.zeros_like(made), layout)
        out.assign_(place(given, layout))
        same_bits(out.to_numpy(), made)
        check_hidden(out)


@names
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_comparisons(name, device):
    with mat.use_device(device), np.errstate(all="ignore"):
        check_comparisons(name)


def check_comparisons(name):
    a, b = np.meshgrid(every(name), every(name))
    x, y = mat.array(a), mat.array(b)
    wide = b.astype("float32") * np.float32(1.01)
    for f in COMPARISONS:
        assert_array_equal(f(x, y).to_numpy(), f(a, b))
        assert_array_equal(f(x, mat.array(wide)).to_numpy(), f(a, wide))
        for number in (1.3, 1, True, np.float32(1.3)):
            assert_array_equal(f(x, number).to_numpy(), f(a, number))
    for f in (np.isnan, np.isinf, np.isfinite, np.signbit):
        assert_array_equal(f(x).to_numpy(), f(a))
    assert x.equals(y) is False
    assert x[:, :100].equals(x[:, :100].copy())


@names
@np.errstate(all="ignore")
def test_arithmetic_is_that_of_ml_dtypes(name):
    a = every(name)
    x = mat.array(a)
    for other in (a[::-1].copy(), a.astype("float32")):
        for f in (np.add, np.multiply, np.maximum):
            got, wanted = f(x, mat.array(other)), f(a, other)
            assert got.dtype == wanted.dtype
            assert_array_equal(got.to_numpy().astype("float32"), wanted.astype("float32"))
    ones = mat.ones(1000, dtype=name)  # in float32, and rounded once
    assert float(ones.sum()) == dtype_of(name).type(1000) or np.isnan(float(ones.sum()))
    assert float(ones.mean()) == 1


@names
def test_elements_and_printing(name):
    x = mat.array([[1.1, 2], [3.3, -4]], name)
    assert x.tolist() == np.array([[1.1, 2], [3.3, -4]], dtype_of(name)).tolist()
    assert type(x.item(0)) is float
    x[0, 0] = 5
    x[1] = [0.5, 0.25]
    assert x.tolist() == [[5, 2], [0.5, 0.25]]
    x = mat.array([[1.5, 2], [0.5, -4]], name)
    assert repr(x) == f"<Mat 2x2 {name} A [[1.5 2] [0.5 -4]]>"
    assert repr(x.T) == f"<Mat 2x2 strides (1, 2) {name} A [[1.5 0.5] [2 -4]]>"
    assert mat.full((2,), 1.5, name).dtype == mat.zeros(2, dtype=name).dtype == dtype_of(name)
    assert (x.itemsize, x.nbytes) == (1, 4)


@names
def test_files(name, tmp_path):
    a = every(name).reshape(2, 128)
    x = mat.from_numpy(a)
    file = io.BytesIO()
    mat.save(file, x)
    file.seek(0)
    same_bits(mat.load(file).to_numpy(), a)
    for kind in ("npz", "safetensors"):
        mat.save_all(tmp_path / f"x.{kind}", {"x": x, "y": x.T})
        found = mat.load_all(tmp_path / f"x.{kind}")
        same_bits(found["x"].to_numpy(), a)
        same_bits(found["y"].to_numpy(), np.ascontiguousarray(a.T))
    code = b"F8_E4M3" if name == "float8_e4m3fn" else b"F8_E5M2"
    assert b'"dtype":"' + code + b'"' in (tmp_path / "x.safetensors").read_bytes()


@names
def test_without_ml_dtypes_the_error_says_what_is_missing(name, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    monkeypatch.setattr("mat.support.dtypes.NAMED", {})
    with pytest.raises(DTypeError, match=f"{name} needs the package ml_dtypes"):
        as_dtype(name)
