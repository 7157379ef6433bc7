"""Fourier transforms on the device: by cuFFT, with which layouts, plans and errors, and on the host
where there is no cuFFT.
"""

import gc
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat
from mat import DeviceError, OutOfDeviceMemory

from ..support.layouts import LAYOUTS, check_hidden, numbers, place

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.libraries import cufft
from mat.cuda.libraries.cublas import Kept
from mat.cuda.libraries.cublas_table import fft_functions
from mat.ops.linear.fourier import fourier

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
OF_REAL = {"rfft", "ihfft", "rfft2", "rfftn"}
DTYPES = ("float32", "float64", "complex64", "complex128", "int8", "uint64", "bool")
LINES = [{}, {"n": 5}, {"n": 24, "norm": "ortho"}, {"axis": 0, "norm": "forward"}, {"axis": 1},
         {"n": 2, "axis": 0}, {"norm": "backward", "axis": -2, "n": 1}]
BLOCKS = [{}, {"axes": (0, 1)}, {"axes": (-1,), "norm": "ortho"}, {"axes": (2, 0)},
          {"s": (4, 9), "axes": (1, 0), "norm": "forward"}]


@pytest.fixture(autouse=True)
def device(cuda):
    with mat.use_device("cuda", required=True):
        yield cuda


def check(name, a, x=None, **options):
    """Compare with NumPy; nothing goes to the host, and the operand is as it was."""
    wanted = getattr(np.fft, name)(a, **options)
    x = mat.array(a) if x is None else x
    for module in (np.fft, mat.fft):
        with mat.debug.count_copies() as copies:
            found = getattr(module, name)(x, **options)
        assert (copies.fallbacks, copies.d2h) == (0, 0)
        assert found.fresh == {"cuda:0"}
        near(found, wanted)
    np.testing.assert_array_equal(x.to_numpy(), a)


def near(found, wanted):
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    scale = float(np.max(np.abs(wanted), initial=1.0))
    assert_allclose(found.to_numpy(), wanted, rtol=0,
                    atol=(1e-5 if wanted.dtype.char in "fF" else 1e-13) * scale)


@pytest.mark.parametrize("options", LINES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE)
@pytest.mark.sample(8)
def test_along_an_axis(rng, name, dtype, options):
    if name in OF_REAL and dtype.startswith("complex"):
        pytest.skip("of real numbers only")
    check(name, numbers(rng, (3, 4, 13), dtype), **options)


@pytest.mark.parametrize("options", BLOCKS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.sample(8)
def test_along_several_axes(rng, name, dtype, options):
    if name in OF_REAL and dtype.startswith("complex"):
        pytest.skip("of real numbers only")
    check(name, numbers(rng, (4, 6, 7), dtype), **options)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", [*ONE, *SEVERAL])
@pytest.mark.sample(8)
def test_layouts(rng, name, layout):
    for dtype in ("float32", "complex128"):
        if name not in OF_REAL or dtype == "float32":
            a = numbers(rng, (5, 6), dtype)
            check(name, a, place(a, layout))
            check(name, a, place(a, layout), **({"axis": 0} if name in ONE else {"axes": (1, 0)}))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 17, 60, 97, 1001])
def test_lengths(rng, n):
    for name in ONE[:-2]:
        check(name, numbers(rng, (2, n), "float64"), n=n)


@pytest.mark.parametrize("shape", [(2, 3, 2, 3, 2), (2, 1, 1, 5), (1, 1), (3, 2, 1, 4, 2, 2)])
def test_more_axes_than_a_plan_has(rng, shape):
    for name in SEVERAL[4:]:
        if name != "irfftn" or shape[-1] > 1:
            check(name, numbers(rng, shape, "float32"))
    check("rfftn", numbers(rng, shape, "float64"), axes=tuple(range(len(shape)))[::-1])


def test_numbers_that_no_real_signal_has_are_ignored_as_by_numpy(rng):
    for shape in ((5,), (4, 5), (2, 3, 5)):
        a = numbers(rng, shape, "complex128")
        for name in ("irfft", "irfftn"):
            check(name, a)
        check("irfft", a, n=9)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.sample(4)
def test_results_are_written_where_they_shall_be(rng, layout):
    a = numbers(rng, (4, 6), "float64")
    for name, dtype, shape in (("fft", "complex128", (4, 6)), ("rfft2", "complex128", (4, 4)),
                               ("irfft", "float64", (4, 10)), ("ihfft", "complex128", (4, 4)),
                               ("ifftn", "complex128", (4, 6))):
        out = place(np.zeros(shape, dtype), layout)
        with mat.debug.count_copies() as copies:
            assert getattr(mat.fft, name)(mat.array(a), out=out) is out
        assert (copies.fallbacks, copies.d2h) == (0, 0)
        near(out, getattr(np.fft, name)(a))
        check_hidden(out)


def test_a_result_may_replace_its_operand(rng):
    a = numbers(rng, (4, 4), "complex64")
    for view in (lambda x: x, lambda x: x.T, lambda x: x[::-1]):
        x = mat.array(a)
        assert mat.fft.fft2(view(x), out=x) is x
        near(x, np.fft.fft2(view(a)))


def test_of_nothing():
    x = mat.zeros(0, 4)
    found = mat.fft.fft(x)
    assert (found.shape, found.dtype) == ((0, 4), np.complex128)
    with pytest.raises(ValueError, match="data points"):
        mat.fft.fft(mat.zeros(3, 0))


@pytest.mark.parametrize("call", [
    lambda f, x: f.fft(x, n=0), lambda f, x: f.fft(x, norm="no"), lambda f, x: f.fft2(x, s=(2,)),
    lambda f, x: f.fftn(x, axes=(0, 5)), lambda f, x: f.irfft(x, 0), lambda f, x: f.rfft(x + 1j),
    lambda f, x: f.fft(x[0, 0]), lambda f, x: f.irfft(x[:, :1])])
def test_errors_are_numpys(call):
    with pytest.raises((ValueError, TypeError, IndexError)) as wanted:
        call(np.fft, np.ones((3, 4)))
    with pytest.raises(type(wanted.value), match=re.escape(str(wanted.value))):
        call(mat.fft, mat.ones(3, 4))


def calls_of(compute):
    with mat.debug.list_calls() as made:
        compute()
    return [call.routine for call in made.calls]


def test_what_cufft_is_called_for(rng):
    for name, shape, count in (("fft", (3, 8), 1), ("fftn", (3, 4, 5), 1), ("irfft", (8,), 1),
                               ("irfftn", (3, 4, 5), 2), ("fftn", (2, 2, 2, 2), 2)):
        x = mat.array(numbers(rng, shape, "complex64"))
        assert calls_of(lambda x=x, name=name: getattr(mat.fft, name)(x)) == ["cufftXtExec"] * count


@pytest.fixture
def plans(monkeypatch):
    """The plans that are kept: at first, none."""
    monkeypatch.setattr(cufft, "_plans", Kept(cufft.MOST))
    return cufft._plans


def test_operands_that_cufft_can_read_are_not_copied(rng, device, plans):
    def launched(compute):
        compute()
        before = device.calls("cuLaunchKernel")
        compute()
        return device.calls("cuLaunchKernel") - before
    x = mat.array(numbers(rng, (6, 8, 4), "complex64"))
    for compute, kernels in (
            (lambda: mat.fft.fft(x), 0), (lambda: mat.fft.fft(x, axis=0), 0),
            (lambda: mat.fft.fft2(x), 0), (lambda: mat.fft.fftn(x), 0),
            (lambda: mat.fft.fft(x[0].T), 0), (lambda: mat.fft.fft(x[:, 1:3]), 1),
            (lambda: mat.fft.fft(x, axis=1), 2), (lambda: mat.fft.ifft(x), 1)):
        assert launched(compute) == kernels
    real = mat.array(numbers(rng, 9, "float32"))
    assert launched(lambda: mat.fft.rfft(real[:8])) == 0
    assert launched(lambda: mat.fft.rfft(real[1:])) == 1  # pairs of numbers are not aligned


def test_plans_are_kept_but_not_all(rng, device, plans):
    plans.most = 3
    for _ in range(2):
        for n in (4, 5, 6):
            mat.fft.fft(mat.array(numbers(rng, n, "complex64")))
    assert device.calls("cufftXtMakePlanMany") == 3
    mat.fft.fft(mat.array(numbers(rng, 4, "complex64")))  # used last from now on
    mat.fft.fft(mat.array(numbers(rng, 7, "complex64")))
    assert [form.lengths for _, _, form in plans] == [(6,), (4,), (7,)]
    gc.collect()
    mat.fft.fft(mat.array(numbers(rng, 9, "complex64")))  # destroys those that are garbage
    assert device.calls("cufftDestroy") >= 1


def test_in_graphs(rng):
    a = numbers(rng, (4, 8), "complex128")
    x, y = mat.array(a), mat.zeros(4, 8, dtype="complex128")
    step = mat.graph(lambda x, y: mat.fft.ifft(x, out=y))
    for k in range(4):
        x.assign_(mat.array(a * (k + 1)))
        step(x, y)
        near(y, np.fft.ifft(a * (k + 1)))


def test_without_cufft_the_host_computes_and_the_trace_says_why(monkeypatch, rng):
    a = numbers(rng, (4, 6), "float32")
    monkeypatch.setenv("MAT_CUFFT", "/nowhere/libcufft.so")
    forget()
    try:
        with mat.debug.trace() as trace, mat.debug.count_copies() as counted:
            x, y = mat.fft.rfft(mat.array(a)), mat.fft.ifft2(mat.array(a))
        near(x, np.fft.rfft(a))
        near(y, np.fft.ifft2(a))
        assert counted.fallbacks == trace.fallbacks == 2
        assert "fourier was carried out on the host, since cuFFT cannot be loaded" in repr(trace)
        assert "MAT_CUFFT in the environment" in repr(trace)
    finally:
        monkeypatch.undo()
        forget()


def forget():
    cufft.library.forget()
    fourier.forget()


def test_every_function_of_the_table_is_there():
    for function in fft_functions():
        assert getattr(cufft.library(), function.symbol)


@pytest.mark.parametrize(("status", "error"), [(2, OutOfDeviceMemory), (5, DeviceError)])
@pytest.mark.parametrize("function", ["cufftXtMakePlanMany", "cufftXtExec"])
def test_errors_of_cufft(device, rng, plans, function, status, error):
    a = numbers(rng, 6, "complex64")
    device.fail(function, times=99, status=status)
    with pytest.raises(error, match=rf"CUFFT_[A-Z_]+ \({status}\)"):
        mat.fft.fft(mat.array(a))
    device.forget()
    device.fail("cufftXtMakePlanMany", times=1, status=2)  # there is more memory the second time
    near(mat.fft.fft(mat.array(a)), np.fft.fft(a))
