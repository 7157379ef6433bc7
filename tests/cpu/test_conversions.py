"""Conversions by compiled kernels, by themselves and of the operands of other kernels, against
NumPy; and that it is they that compute.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from ..support.layouts import INTEGERS, LAYOUTS, check_hidden, numbers, place
from ..support.needs import native
from .test_elementwise import facet_for

pytestmark = native
CONVERTED = (*INTEGERS, "bool", "float32", "float64")
EDGES = np.array([0, 1, -1, 0.5, -0.5, 2.7, -2.7, 127, 128, -128, -129, 255, 256, 300, -300,
                  32767, 40000, 2.0**31 - 1, -2.0**31, 2.0**32, 2.0**53, -2.0**63, np.inf, -np.inf,
                  np.nan])


@pytest.mark.parametrize("source", CONVERTED)
@pytest.mark.parametrize("target", CONVERTED)
def test_conversions_are_numpys(source, target):
    with np.errstate(invalid="ignore"):
        a = np.tile(EDGES, (40, 1)).astype(source)
        if np.dtype(source).kind == "f" and target == "uint32":
            a = np.abs(a[:, :18])  # what is too large becomes what the layout makes of it in NumPy
        for layout in LAYOUTS:
            x = place(a, layout)
            got = x.astype(target)
            assert facet_for("assign", x, got) == "foreign" or source == target
            assert_array_equal(got.to_numpy(), a.astype(target))
            out = place(np.zeros(a.shape, target), layout)
            assert_array_equal(out.assign_(x).to_numpy(), a.astype(target))
            check_hidden(out)


@pytest.mark.parametrize("n", [5, 37, 1000])
@pytest.mark.parametrize("source", ["float32", "float64"])
@np.errstate(all="ignore")
def test_halves_are_rounded_once_and_have_one_nan(rng, source, n):
    """Also where the processor has instructions, which round the same, but keep a part of a NaN."""
    exact = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(source)
    between = (exact[1:] + exact[:-1]) / 2
    near = np.concatenate([between, np.nextafter(between, 0), np.nextafter(between, 1e9)])
    for _ in range(20):
        a = (rng.choice(near, n) * rng.choice((-1, 1), n)).astype(source)
        found, wanted = mat.array(a).astype("float16").to_numpy(), a.astype("float16")
        assert_array_equal(found.view(np.uint16), wanted.view(np.uint16))
    bits = {"float32": (np.uint32, 0x7FA12345), "float64": (np.uint64, 0x7FF4000012345678)}[source]
    nans = np.full(n, bits[1], bits[0]).view(source)
    nans[::2] = np.copysign(nans[::2], -1)
    found = mat.array(nans).astype("float16").to_numpy().view(np.uint16)
    assert_array_equal(found, np.where(np.arange(n) % 2, 0x7E00, 0xFE00))
    mixed = np.where(rng.random(n) < 0.1, nans, np.linspace(-9, 9, n).astype(source))
    found = mat.array(mixed).astype("float16").to_numpy()
    assert_array_equal(found, mixed.astype("float16"))
    assert set(found[np.isnan(mixed)].view(np.uint16)) <= {0x7E00, 0xFE00}


@pytest.mark.parametrize("halves", ["float16", "bfloat16"])
@np.errstate(all="ignore")
def test_conversions_of_halves(halves):
    every = mat.from_numpy(np.arange(2**16, dtype="uint16")).view(halves)
    wanted = every.to_numpy().astype("float32")
    got = every.astype("float32")
    assert facet_for("assign", every, got) == facet_for("assign", got, every.copy()) == "foreign"
    assert_array_equal(got.to_numpy(), wanted)
    back = got.astype(halves).to_numpy()
    assert_array_equal(back.astype("float32"), wanted)
    for steps in (0.25, 0.5, 0.75):  # between two of them: to nearest, ties to even
        a = (wanted + steps * (np.roll(wanted, -1) - wanted)).astype("float32")
        a = a[np.isfinite(a)]
        assert_array_equal(mat.from_numpy(a).astype(halves).to_numpy(),
                           a.astype(every.dtype))


@pytest.mark.parametrize("one", CONVERTED)
@pytest.mark.parametrize("other", CONVERTED)
@pytest.mark.sample(4)
def test_operands_of_two_dtypes(rng, one, other):
    """In every layout, in place too, and more elements than fit a piece."""
    for shape in ((7, 300), (2100,)):
        a, b = numbers(rng, shape, one), numbers(rng, shape[-1:], other)
        for layout in LAYOUTS:
            x, y = place(a, layout), place(b, layout)
            for f in (np.add, np.multiply, np.maximum, np.less, np.equal):
                assert_array_equal(f(x, y).to_numpy(), f(a, b))
            if np.can_cast(np.result_type(a, b), a.dtype, "same_kind"):
                x += y
                assert_array_equal(x.to_numpy(), np.add(a, b).astype(one))
                check_hidden(x)


def test_float64_is_rounded_to_halves_once():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float64)
    halves = np.unique(halves[np.isfinite(halves)])
    between = (halves[1:] + halves[:-1]) / 2
    a = np.concatenate([halves, between, np.nextafter(between, np.inf),
                        np.nextafter(between, -np.inf), [65520.0, 65519.999999, 1e300, -np.inf]])
    with np.errstate(all="ignore"):
        wanted = a.astype(np.float16)
    assert_array_equal(np.asarray(mat.array(a).astype("float16")).view(np.uint16),
                       wanted.view(np.uint16))


@pytest.mark.parametrize("number", [0.1, 2, -3.7, 1 + 2**-11 + 2**-40, 65519.99, 1e-8, 70000.0,
                                    np.inf, np.nan, -0.0, np.float16(0.3)], ids=repr)
def test_numbers_are_rounded_to_halves_once(number):
    """Kernels of 16-bit floats get numbers as NumPy does, on either side, and as bounds."""
    every = mat.from_numpy(np.arange(2**16, dtype=np.uint16)).view("float16")
    a = every.to_numpy()
    with np.errstate(all="ignore"):
        for f in (np.add, np.multiply, np.divide, np.maximum, np.minimum):
            for given, wanted in (((every, number), f(a, number)), ((number, every), f(number, a))):
                found = f(*given)
                assert facet_for(f.__name__, *given, found) == "foreign"
                assert_same_halves(found, wanted)
        for low, high in ((number, 3), (-2.5, number), (number, number)):
            found = np.clip(every, low, high)
            assert facet_for("clip", every, low, high, found) == "foreign"
            assert_same_halves(found, np.clip(a, low, high))
            assert_same_halves(mat.clip(every[::-3], low, high), np.clip(a[::-3], low, high))


def assert_same_halves(found, wanted):
    """The same bits, but for those of NaNs."""
    assert found.dtype == wanted.dtype == np.float16
    assert_array_equal(np.isnan(found.to_numpy()), np.isnan(wanted))
    numbers = ~np.isnan(wanted)
    assert_array_equal(found.to_numpy().view(np.uint16)[numbers], wanted.view(np.uint16)[numbers])
