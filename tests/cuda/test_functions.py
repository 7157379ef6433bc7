"""Element-wise kernels of the device where numbers are special: infinities, NaN, large angles,
wrapping integers, complex.
"""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat

from ..tools.mock_driver.harness import compiler
from .test_elementwise import (
    BINARY,
    COMPARISONS,
    COMPLEX,
    FLOATS,
    INTEGERS,
    LINES,
    UNARY,
    allowed,
    compare,
    device,
    dtype_of,
    on_cpu,
    place_for,
    reference,
    run,
    wide,
)

SPECIALS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-40, -1e-40, 1e30, -1e30, 88.0,
            -104.0, 710.0, -746.0, 3e5, 1e7,
            np.inf, -np.inf, np.nan)


@on_cpu
@pytest.mark.parametrize("name", [n for n in UNARY if LINES[n].computes("f32")])
def test_functions_of_specials(name):
    for dtype in map(dtype_of, FLOATS):
        with np.errstate(all="ignore"):
            values = np.array(SPECIALS).astype(dtype)
        wanted = reference(name, values)
        out = place_for(wanted)
        run(name, mat.array(values), out)
        compare(name, out.to_numpy(), wanted)
        # of which bfloat16's keeps the sign of 0
        signed = ~np.isnan(wide(wanted)) & ((name != "sign") | (dtype.char != "E"))
        assert_array_equal(np.signbit(wide(out.to_numpy()))[signed],
                           np.signbit(wide(wanted))[signed])


@on_cpu
@pytest.mark.parametrize("name", [n for n in (*BINARY, *COMPARISONS)
                                  if LINES[n].computes("f32")])
def test_two_operands_with_specials(name):
    for dtype in map(dtype_of, FLOATS):
        if name == "nextafter" and dtype.itemsize == 2:
            continue  # whose neighbours are not those of the float32 numbers that devices compute
        with np.errstate(all="ignore"):
            values = np.array(SPECIALS).astype(dtype)
        x, y = np.repeat(values, len(values)), np.tile(values, len(values))
        wanted = reference(name, x, y)
        out = place_for(wanted)
        run(name, mat.array(x), mat.array(y), out)
        compare(name, out.to_numpy(), wanted)


@on_cpu
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_large_angles(rng, name):
    """Against mpmath: the C library's own results are some ULP off at the hardest places."""
    x = np.ldexp(rng.uniform(0.5, 1, 1000),
                 rng.integers(-40, 1024, 1000)) * rng.choice([-1, 1], 1000)
    nearest = np.arange(1, 1500) * (np.pi / 2) * 2.0**(np.arange(1, 1500) % 60)
    x = np.concatenate([x, nearest, [6381956970095103 * 2.0**797, 2.0**19, -(2.0**19),
                                     2.0**1023 * 1.9, 5e-324, -0.0, np.inf]])
    out = mat.zeros(len(x))
    run(name, mat.array(x), out)
    with mpmath.workprec(1300):
        wanted = [float(getattr(mpmath, name)(mpmath.mpf(v))) if np.isfinite(v) else np.nan
                  for v in x]
    assert_allclose(out.to_numpy(), wanted, rtol=4e-16, atol=0)


@on_cpu
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_around(rng, dtype):
    ends = np.iinfo(dtype)
    values = np.array([ends.min, ends.min + 1, 0, 1, 2, 3, 7, ends.max // 2, ends.max - 1,
                       ends.max], dtype)
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))
    for name in (n for n in (*BINARY, *COMPARISONS) if LINES[n].computes("i8")):
        other = np.abs(y.astype(object) % 70).astype(dtype) if name == "pow" else y
        wanted = reference(name, x, other)
        out = place_for(wanted)
        run(name, mat.array(x), mat.array(other), out)
        assert_array_equal(out.to_numpy(), wanted, err_msg=name)
    for name in (n for n in UNARY if LINES[n].computes("i8")):
        with np.errstate(all="ignore"):
            wanted = reference(name, values)
        out = place_for(wanted)
        run(name, mat.array(values), out)
        assert_array_equal(out.to_numpy(), wanted, err_msg=name)


def test_long_integers_as_numbers_are_exact():
    for dtype, number in (("int64", 2**62 + 1), ("int64", -(2**61) - 3), ("uint64", 2**64 - 5)):
        halves = device.halves(number)
        assert (int(halves.imag) << 32 | int(halves.real)) == number % 2**64
        if compiler():
            out = mat.zeros(3, dtype=dtype)
            run("add", mat.array([0, 1, 2], dtype=dtype), number, out)
            assert_array_equal(out.to_numpy(),
                               np.array([number, number + 1, number + 2]).astype(dtype))


@on_cpu
@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", [n for n in UNARY if LINES[n].computes("c64")])
def test_complex_functions(rng, name, dtype):
    """Where they are large, small, and special; but not the signs of zeros beside NaN, which are
    left open.
    """
    parts = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 1e-20, 30.0, -45.0, 720.0, 1e300, -1e300, 1e-310,
                      np.inf, -np.inf, np.nan])
    z = np.empty(len(parts)**2, dtype)
    with np.errstate(all="ignore"):
        z.real, z.imag = np.repeat(parts, len(parts)), np.tile(parts, len(parts))
    wanted = reference(name, z)
    out = place_for(wanted)
    run(name, mat.array(z), out)
    found = out.to_numpy()
    if wanted.dtype.kind != "c":
        assert_allclose(found, wanted, **allowed("exp", wanted.dtype))
        return
    same = np.isfinite(z) & np.isfinite(wanted) & (np.abs(z) < 1e4)
    if name == "log1p":  # NumPy's loses what is small
        same &= np.abs(z) > 1e-3
    scale = np.maximum(np.abs(wanted[same]), np.finfo(dtype).tiny)
    assert np.all(np.abs(found[same] - wanted[same]) <= 64 * np.finfo(dtype).eps * scale)
    easy = np.isfinite(z) & (np.abs(z) < 1e4)
    assert_array_equal(np.isnan(found)[easy], np.isnan(wanted)[easy])


@on_cpu
@pytest.mark.parametrize("power", [-3, -1, 0, 1, 2, 3, 4, 50])
def test_small_whole_powers_of_complex_specials(power):
    """NumPy's products: a first power is the number itself, also where a part is infinite."""
    parts = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e200]
    x = np.array([complex(re, im) for re in parts for im in parts])
    y = np.full(x.size, power, "complex128")
    out = mat.zeros(x.size, dtype="complex128")
    run("pow", mat.array(x), mat.array(y), out)
    assert_array_equal(out.to_numpy().view("float64"), reference("pow", x, y).view("float64"))
