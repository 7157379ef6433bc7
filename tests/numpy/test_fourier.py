"""Discrete Fourier transforms of Mats: they are NumPy's, also where SciPy or ducc0 computes them.

Where ducc0 is not installed, functions with its signatures stand in for it.
"""

import importlib.util
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.ops.linear import fourier as library

from ..support.layouts import LAYOUTS, numbers, place

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
OF_REAL = {"rfft", "ihfft", "rfft2", "rfftn"}
DTYPES = ("float32", "float64", "complex64", "complex128", "int8", "int64", "uint16", "bool",
          "float16")
LINES = [{}, {"n": 1024}, {"n": 1500, "norm": "ortho"}, {"axis": 0, "norm": "forward"},
         {"n": 3, "axis": 0}, {"norm": "backward", "axis": -2}]
BLOCKS = [{}, {"axes": (0, 1)}, {"axes": (-1,), "norm": "ortho"},
          {"s": (40, 32), "axes": (1, 0), "norm": "forward"}]


def c2c(a, axes=None, forward=True, inorm=0):
    """Transform as ducc0 does, by NumPy."""
    assert a.dtype.char in "fdFD"
    return stand_in("fftn" if forward else "ifftn", a, axes, forward, inorm)


def r2c(a, axes=None, forward=True, inorm=0):
    assert a.dtype.char in "fd"
    assert forward
    return stand_in("rfftn", a, axes, forward, inorm)


def stand_in(name, a, axes, forward, inorm):
    norms = ("backward", "ortho", "forward")
    return getattr(np.fft, name)(a, axes=axes, norm=norms[inorm if forward else 2 - inorm])


@pytest.fixture(params=["scipy", "ducc0"], autouse=True)
def by_library(request, monkeypatch):
    """The names of the transforms that the library computed."""
    if request.param == "scipy":
        monkeypatch.setitem(sys.modules, "ducc0.fft", None)
    elif importlib.util.find_spec("ducc0") is None:
        monkeypatch.setitem(sys.modules, "ducc0", SimpleNamespace())
        monkeypatch.setitem(sys.modules, "ducc0.fft", SimpleNamespace(c2c=c2c, r2c=r2c))
    called, transform = [], library.transform
    transform.cache_clear()

    def noted(name):
        called.append(name)
        return transform(name)

    monkeypatch.setattr(library, "transform", noted)
    yield called
    transform.cache_clear()


def check(name, a, x, **options):
    """Compare values, dtypes and shapes with NumPy's."""
    wanted = getattr(np.fft, name)(a, **options)
    for found in (getattr(np.fft, name)(x, **options), getattr(mat.fft, name)(x, **options)):
        assert isinstance(found, mat.Mat)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        rough = wanted.dtype.char in "fF" or a.dtype == np.float16
        scale = float(np.max(np.abs(wanted), initial=1.0))
        assert_allclose(found.to_numpy(), wanted, rtol=0, atol=(1e-5 if rough else 1e-12) * scale)


@pytest.mark.parametrize("options", LINES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE)
@pytest.mark.sample(6)
def test_transforms_along_an_axis(rng, by_library, name, dtype, options):
    if name in OF_REAL and dtype.startswith("complex"):
        pytest.skip("of real numbers only")
    a = numbers(rng, (3, 1100), dtype)
    check(name, a, mat.array(a), **options)
    length = options.get("n", a.shape[options.get("axis", -1)])
    if mat.zeros(1).device == "cpu":
        assert bool(by_library) == (length >= 1024 and dtype != "float16")


@pytest.mark.parametrize("options", BLOCKS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.sample(6)
def test_transforms_along_several_axes(rng, by_library, name, dtype, options):
    if name in OF_REAL and dtype.startswith("complex"):
        pytest.skip("of real numbers only")
    a = numbers(rng, (2, 33, 40), dtype)
    check(name, a, mat.array(a), **options)
    if dtype != "float16" and (not options or "s" in options) and mat.zeros(1).device == "cpu":
        assert by_library


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", [*ONE, *SEVERAL])
@pytest.mark.sample(4)
def test_layouts(rng, name, layout):
    a = numbers(rng, (40, 1030), "float64")
    check(name, a, place(a, layout))


def test_short_ones_are_numpys(rng, by_library):
    a = numbers(rng, (100, 8), "float32")
    for name in (*ONE, *SEVERAL[:4]):
        check(name, a, mat.array(a), norm="ortho")
    assert not by_library


def test_out_is_written(rng):
    a = numbers(rng, (2, 2048), "complex128")
    x, out = mat.array(a), mat.zeros(2, 2048, dtype="complex128")
    assert np.fft.fft(x, out=out) is out
    assert_allclose(out.to_numpy(), np.fft.fft(a), rtol=1e-12)


@pytest.mark.parametrize("call", [
    lambda f, x: f.fft(x, n=0), lambda f, x: f.fft(x, axis=3), lambda f, x: f.fft(x, norm="other"),
    lambda f, x: f.fftn(x, axes=(0, 5)), lambda f, x: f.fft2(x[0]), lambda f, x: f.rfft(x, n=-1),
    lambda f, x: f.rfft(x * 1j), lambda f, x: f.fftn(x, s=(2, 0), axes=(0, 1)),
    lambda f, x: f.fft(x[:0], axis=0)])
def test_refusals_are_numpys(call):
    a = np.ones((2, 2048))
    with pytest.raises(Exception) as wanted:  # noqa: PT011  # whatever NumPy raises
        call(np.fft, a)
    with pytest.raises(wanted.type):
        call(np.fft, mat.array(a))


def test_axes_may_occur_twice(rng):
    a = numbers(rng, (32, 64), "float64")
    check("fftn", a, mat.array(a), axes=(0, 0))


@pytest.mark.host
def test_a_device_computes_them(rng):
    a = numbers(rng, (2048,), "float64")
    with mat.use_device("emulated", required=True), mat.debug.count_copies() as copies:
        found = np.fft.rfft(mat.array(a) * 1)
        inverse = mat.fft.irfft2(found[None], axes=(0, 1))
    assert (copies.fallbacks, copies.d2h) == (0, 0)
    assert_allclose(found.to_numpy(), np.fft.rfft(a), rtol=1e-10, atol=1e-10)
    assert_allclose(inverse.to_numpy()[0], a, atol=1e-12)
    with mat.use_device("emulated", required=True), mat.debug.count_copies() as copies:
        mat.fft.fft(mat.array(a, "float16"))
    assert copies.fallbacks == 1


@pytest.mark.host
@pytest.mark.parametrize("device", ["emulated", "cuda"])
def test_transforms_that_do_not_fit_are_computed_in_tiles_of_whole_lines(rng, device, request):
    if device == "cuda":
        request.getfixturevalue("cuda")
    a = numbers(rng, (64, 5, 16), "complex64")
    for name, options in (("fft", {"axis": 1}), ("irfft", {}), ("fft2", {})):
        with mat.use_device(device, required=True, pool_bytes=60_000):
            found = getattr(mat.fft, name)(mat.array(a), **options)
        assert_allclose(found.to_numpy(), getattr(np.fft, name)(a, **options), rtol=0, atol=1e-4)
    with (mat.use_device(device, required=True, pool_bytes=10_000),
          pytest.raises(mat.OutOfDeviceMemory, match="a transform is not cut")):
        mat.fft.fftn(mat.array(a))


@pytest.mark.host
def test_short_transforms_are_numpys(rng):
    a = rng.random((4, 6))
    for name in ("fft", "rfft", "ifft", "ihfft", "fft2", "rfftn", "irfft"):
        function = getattr(np.fft, name)
        for x in (a, a.astype("float32")):
            for _ in range(2):  # the first one imports
                found = function(mat.array(x))
                assert_array_equal(found.to_numpy(), function(x))
                assert found.dtype == function(x).dtype
    assert_allclose(np.fft.fft(mat.array(a), 5000).to_numpy(), np.fft.fft(a, 5000), 1e-9, 1e-12)
