"""NumPy's functions give the same results and errors on the host and on a device, also for empty
axes and lists, slices as indices, numbers among arrays, and arguments that NumPy refuses.
"""

from __future__ import annotations

import builtins

import numpy
import pytest

import mat

CASES = {
    "averaged": lambda np, a: np.quantile(a([10, 11, 12]), [0, 1], method="averaged_inverted_cdf"),
    "averaged more": lambda np, a: np.quantile(a([1, 5, 9, 2]), [0, 1, 1],
                                               method="averaged_inverted_cdf"),
    **{f"quantile {method} {q}": lambda np, a, method=method, q=q: np.quantile(
        a([1, 5, 9, 2]), q, method=method)
       for method in ("midpoint", "nearest", "weibull", "interpolated_inverted_cdf")
       for q in (0, [0, 1], 0.5)},
    "insert at slice": lambda np, a: np.insert(a([1, 2, 3, 4]), slice(1, 3), [7, 8]),
    "insert at steps": lambda np, a: np.insert(a([[1, 2], [3, 4]]), slice(None, None, 2), 9, 1),
    "insert at floats": lambda np, a: np.insert(a([1, 2, 3]), [1.5], 9),
    "insert at a mask": lambda np, a: np.insert(a([1, 2, 3]), [True, False, True], 9),
    "trim unknown sides": lambda np, a: np.trim_zeros(a([0, 1, 0]), "x"),
    **{f"repeat a number {times} {axis}": lambda np, a, times=times, axis=axis: np.repeat(
        a(2), times, axis=axis)
       for times in (3, 0, [2]) for axis in (None, 0, -1, 1)},
    "repeat Python's number": lambda np, a: np.repeat(2, 3, axis=0),
    "averaged at 0": lambda np, a: np.quantile(a([3, 1, 2]), 0, method="averaged_inverted_cdf"),
    "delete ()": lambda np, a: np.delete(a([1, 2, 3]), ()),
    "delete []": lambda np, a: np.delete(a([1, 2, 3]), []),
    "delete floats": lambda np, a: np.delete(a([1, 2, 3]), [1.5]),
    "packbits of nothing": lambda np, a: np.packbits(a(numpy.zeros((20, 0, 10), "u1")), axis=2),
    "packbits along nothing": lambda np, a: np.packbits(a(numpy.zeros((2, 0), "u1")), axis=1),
    **{f"pad {mode} {length}": lambda np, a, mode=mode, length=length: np.pad(
        a(numpy.arange(30.0).reshape(6, 5)), (2, 3), mode=mode, stat_length=length)
       for mode in ("mean", "maximum", "minimum", "median")
       for length in (-3, 0, 2, 2.5, (1, 9), ((1, 2), (-1, 2)))},
    **{f"{name} {axis}": lambda np, a, name=name, axis=axis: getattr(np, name)(
        a(numpy.arange(60.0).reshape(3, 4, 5)), *([50] if "percentile" in name else []), axis=axis)
       for name in ("median", "nanmedian", "percentile", "nanpercentile", "sum", "nanmax", "any")
       for axis in ((1, 1), (0, -3), (0, 1), (0, 7))},
    "block of numbers": lambda np, a: np.block([[np.zeros((2, 2)), np.ones((2, 1))], [0, 0, 5]]),
    "block of ranks": lambda np, a: np.block([1.0, 2 * np.ones((1, 2)), 3 * np.ones((1, 1, 3))]),
    "block of truth": lambda np, a: np.block([[a([1]), True]]),
    "block of tuples": lambda np, a: np.block([a([1]), (1, 2)]),
    "select numbers": lambda np, a: np.select(
        [a([True, False]), a([False, True])], [a(numpy.array([1, 2], "f4")), 3]),
    "select halves": lambda np, a: np.select(
        [a([True, False]), a([False, True])], [0.5, a(numpy.array([1, 2], "f2"))], 1),
    "select truth": lambda np, a: np.select(
        [a([True, False]), a([False, True])], [True, a(numpy.array([1, 2], "u1"))]),
    "choose numbers": lambda np, a: np.choose(a([0, 1, 2]), [a(numpy.ones(3, "f4")), 2, 3]),
    "choose only numbers": lambda np, a: np.choose(a([0, 1, 2]), [1, 2.5, 3]),
    **{f"{name} {mode} {len(one)}": lambda np, a, name=name, mode=mode, one=one, other=other: (
        getattr(np, name)(a(one), a(other), mode))
       for name in ("convolve", "correlate") for mode in ("full", "same", "valid")
       for one, other in (([1.0, 2, 3], [1.0, numpy.nan, 2]), ([1.0, numpy.inf], [1.0, 2, 3, 4]),
                          ([1.0, 2, 3, 4, 5], [numpy.nan]), ([numpy.nan, 1, 2, 3, 4], [1.0, 0]))},
    **{f"{name} {dtype} {value}": lambda np, a, name=name, dtype=dtype, value=value: (
        getattr(np, name)(a(numpy.array([1, 2, 3], dtype)), value))
       for name in ("copysign", "hypot", "arctan2", "nextafter", "logaddexp", "heaviside", "divide")
       for dtype in ("uint8", "uint16", "uint32", "uint64", "int8") for value in (-1, 300, 1000)},
    "-1 first": lambda np, a: np.arctan2(-1, a(numpy.array([1, 2, 3], "uint8"))),
    **{f"histogram2d {dtype} {bins} {limits} {density}": (
        lambda np, a, dtype=dtype, bins=bins, limits=limits, density=density: numpy.concatenate([
            numpy.ravel(v).astype(float) for v in np.histogram2d(
                a(numpy.linspace(0, 8, 20).astype(dtype)), a(numpy.linspace(1, 7, 20)), bins,
                limits, density)]))
       for dtype in ("float32", "float16", "int32") for density in (False, True)
       for bins in (3, [3, 4], [0, 3, 6, 9], [[0, 3, 9], [0, 1, 2]], [[3, 1], 2], 0)
       for limits in (None, [[0, 9], [0, 5]], [[0, 9], None])},
}


def _outcome(np, array, case):
    try:
        found = case(np, array)
    except Exception as error:  # whatever NumPy raises
        return next(c for c in type(error).__mro__ if hasattr(builtins, c.__name__))
    return numpy.asarray(found)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", CASES)
def test_results_and_errors_are_numpys(name, device):
    wanted = _outcome(numpy, numpy.array, CASES[name])
    with mat.use_device(device):
        found = _outcome(mat, mat.array, CASES[name])
    if isinstance(wanted, type):
        assert isinstance(found, type), found
        assert issubclass(found, wanted) or issubclass(wanted, found)
    else:
        assert not isinstance(found, type), found
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        # angles differ in a bit
        rtol = {2: 1e-3, 4: 1e-6}.get(wanted.dtype.itemsize, 1e-14)
        numpy.testing.assert_allclose(found, wanted, rtol=rtol)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_block_of_one_array_is_a_copy(device):
    with mat.use_device(device):
        a = mat.array([[1.0, 2], [3, 4]])
        numpy.block(a)[0, 0] = 99
        assert a[0, 0] == 1


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", ["putmask", "place"])
@pytest.mark.parametrize(("dtype", "values"), [
    ("int64", [2.7]), ("uint8", [300]), ("bool", [2]), ("float32", [1e300]), ("int8", [1000]),
    ("int64", [0.5, 1.5, 2.5]), ("float64", [1 + 2j]), ("float64", [1, 2, 3]), ("int64", [True])])
def test_masked_elements_take_what_is_cast_safely(name, dtype, values, device):
    def f(np, array):
        x = np.zeros(3, dtype=dtype)
        getattr(np, name)(x, array([True, False, True]), array(values))
        return x

    wanted = _outcome(numpy, numpy.array, f)
    with mat.use_device(device):
        found = _outcome(mat, mat.array, f)
    if isinstance(wanted, type):
        assert found is wanted
    else:
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64", "int64"])
@pytest.mark.parametrize("value", [-1, 300, 1 << 70, -(1 << 70)])
@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater",
                                  "greater_equal"])
def test_comparisons_with_numbers_out_of_range_take_where(name, value, dtype, device):
    # NumPy 2.4 itself ends the process here
    a = numpy.ones((6, 5), dtype)
    mask = numpy.arange(30).reshape(6, 5) % 2 == 0
    with mat.use_device(device):
        for x in (mat.array(a), a):
            for first in (False, True):
                operands = (value, x) if first else (x, value)
                found = getattr(mat, name)(*operands, where=mat.array(mask),
                                           out=mat.zeros((6, 5), dtype=bool))
                plain = getattr(numpy, name)(*((value, 1) if first else (1, value)))
                assert found.tolist() == (mask & plain).tolist()


@pytest.mark.filterwarnings("ignore:Install `pyyaml`")  # NumPy's, where that is not
def test_show_config_takes_numpys_modes(capsys):
    assert mat.show_config(mode="dicts") == dict(mat.show_config())
    assert mat.show_config(mode="stdout") is None
    assert "NumPy" in capsys.readouterr().out
    with pytest.raises(mat.errors.SettingError, match="'yaml'"):
        mat.show_config(mode="yaml")


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_numbers_out_of_range(device):
    with mat.use_device(device):
        x = mat.array([1, 2, 250], "uint8")
        for write in (lambda v: mat.put(x, 0, v), lambda v: mat.put(x, [0, 1], [1, v]),
                      lambda v: mat.put_along_axis(x, mat.array([0]), v, 0)):
            for value in (300, -1):
                with pytest.raises(OverflowError):
                    write(value)
        assert x.tolist() == [1, 2, 250]
        mat.put(x, [0, 1], [2.7, 8])
        assert x.tolist() == [2, 8, 250]
        for value in (300, -1):
            assert not mat.allclose(x, value)
            assert not mat.allclose(value, x)
            assert not numpy.allclose(x, value)
        for value, error in ((numpy.nan, ValueError), (numpy.inf, OverflowError)):
            with pytest.raises(error):
                x[0] = value
            with pytest.raises(error):
                x.fill(value)
            with pytest.raises(error):
                mat.array([value], "int32")
