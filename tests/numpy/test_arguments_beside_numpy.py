"""Arguments of all kinds beside NumPy: the same results, and errors where NumPy has errors."""

import warnings

import numpy as np
import pytest

import mat

from ..support.numpy_outcomes import outcome

ARRAYS = {
    "number": np.array(2.0), "vector": np.arange(5.0) - 1, "integers": np.array([2, 0, 1]),
    "flags": np.array([True, False, True]), "matrix": np.arange(6.0).reshape(2, 3),
    "empty": np.zeros(0), "no rows": np.zeros((0, 3)), "tensor": np.arange(24.0).reshape(2, 3, 4),
    "complex": np.array([1 + 1j, 2]), "nan": np.array([[1, np.nan], [np.nan, np.nan]]),
    "bytes": np.array([1, 2, 255], "u1"), "one": np.array([7.0]), "flag": np.array(True)}
AXES = (0, 1, -1, 2, -2, -3, (), (0,), (0, 1), (0, 0), (0, -1), (0, 5), 1.0, "a", None, True,
        np.int8(0), (0, 1.5), (True,))
REDUCING = ["sum", "prod", "max", "min", "mean", "std", "var", "any", "all", "argmax", "argmin",
            "ptp", "median", "average", "nansum", "nanprod", "nanmax", "nanmin", "nanmean",
            "nanstd", "nanvar", "nanmedian", "nanargmax", "nanargmin", "cumsum", "cumprod",
            "nancumsum", "sort", "argsort", "count_nonzero", "flip", "unique", "cumulative_sum",
            "squeeze", "expand_dims", "add.reduce", "maximum.reduce", "add.accumulate", "diff",
            "linalg.norm", "linalg.vector_norm"]
INDICES = (0, -1, 5, -6, [0], [[0, 1]], [5], [], 1.0, [-1])
# by the name of the function, what is called with an array and each index
INDEXED = {
    "take": [lambda m, a, k: m.take(a, k), lambda m, a, k: m.take(a, k, axis=0),
             lambda m, a, k: m.take(a, k, axis=-1), lambda m, a, k: m.take(a, k, mode="wrap"),
             lambda m, a, k: m.take(a, k, 1, mode="clip")],
    "delete": [lambda m, a, k: m.delete(a, k, 0), lambda m, a, k: m.delete(a, k, None)],
    "insert": [lambda m, a, k: m.insert(a, k, 9, 0), lambda m, a, k: m.insert(a, k, 9, 1)],
    "repeat": [lambda m, a, k: m.repeat(a, k, 0), lambda m, a, k: m.repeat(a, k, None)],
    "compress": [lambda m, a, k: m.compress(k, a, 0)],
    "split": [lambda m, a, k: m.split(a, k, 0), lambda m, a, k: m.array_split(a, k, -1)],
    "roll": [lambda m, a, k: m.roll(a, k, 0), lambda m, a, k: m.roll(a, k)],
    "transpose": [lambda m, a, k: m.transpose(a, k), lambda m, a, k: m.permute_dims(a, k)],
    "dot": [lambda m, a, k: m.dot(a, k), lambda m, a, k: m.convolve(a, k)],
    "select": [lambda m, a, k: m.select([a > 1], [k]), lambda m, a, k: m.choose(k, a)],
    "piecewise": [lambda m, a, k: m.piecewise(a, [a > 1], [k])],
    "bincount": [lambda m, a, k: m.bincount(k, a), lambda m, a, k: m.bincount(a, minlength=k)],
    "interp": [lambda m, a, k: m.interp(a, k, k), lambda m, a, k: m.interp(k, a, a)]}
# calls with two arrays, some of which change the first one
PAIRS = {
    "select": lambda m, x, y: m.select([x > 1, x < 0], [y, x], -1),
    "select of numbers": lambda m, x, y: m.select([x > 1, y > 1], [300, x], 7),
    "where": lambda m, x, y: m.where(x > 1, x, y), "choose": lambda m, x, y: m.choose(x, [y, y]),
    "copyto": lambda m, x, y: written(m.copyto(x, y), x),
    "copyto of more axes": lambda m, x, y: written(m.copyto(x, y[None, None]), x),
    "putmask": lambda m, x, y: written(m.putmask(x, x > 0, y), x),
    "place": lambda m, x, y: written(m.place(x, x > 0, y), x),
    "put": lambda m, x, y: written(m.put(x, [0], y), x),
    "concatenate": lambda m, x, y: m.concatenate([x, y]), "stack": lambda m, x, y: m.stack([x, y]),
    "matmul": lambda m, x, y: m.matmul(x, y), "cross": lambda m, x, y: m.cross(x, y),
    "searchsorted": lambda m, x, y: m.searchsorted(x, y),
    "average": lambda m, x, y: m.average(x, weights=y),
    "average along an axis": lambda m, x, y: m.average(x, 0, weights=y),
    "cov": lambda m, x, y: m.cov(x, y), "interp": lambda m, x, y: m.interp(x, y, y),
    "isin": lambda m, x, y: m.isin(x, y), "lexsort": lambda m, x, y: m.lexsort((x, y)),
    "clip": lambda m, x, y: x.clip(y), "add": lambda m, x, y: m.add(x, y),
    "add in place": lambda m, x, y: written(x.__iadd__(y) is x, x),
    "sum where": lambda m, x, y: m.sum(x, where=y), "insert": lambda m, x, y: m.insert(x, 0, y),
    "append": lambda m, x, y: m.append(x, y, axis=0), "gcd": lambda m, x, y: m.gcd(x, y),
    "left_shift": lambda m, x, y: m.left_shift(x, y), "compress": lambda m, x, y: m.compress(x, y),
    "histogram": lambda m, x, y: m.histogram(x, y), "bincount": lambda m, x, y: m.bincount(x, y)}


def written(_, x):
    """Return what a call has written."""
    return x


WIDTHS = (1, (1, 2), ((1, 2),), ((1, 2), (3, 4)), -1, 1.5, None, "a", (1, 2, 3), 0)
MODES = ({}, {"mode": "edge"}, {"mode": "reflect"}, {"mode": "wrap"}, {"mode": "mean"},
         {"mode": "bad"}, {"constant_values": (1, 2)}, {"mode": "edge", "constant_values": 1},
         {"mode": "mean", "stat_length": 0}, {"mode": "minimum", "stat_length": -1})
DEVICES = ["cpu", "emulated"]


def attribute(module, dotted):
    for name in dotted.split("."):
        module = getattr(module, name)
    return module


def parts(found):
    """Return the arrays of a result, which may be a list or a tuple of several."""
    return [np.asarray(x) for x in found] if isinstance(found, list | tuple) else [
        np.asarray(found)]


def compare(call, array, either):
    """Fail unless `mat` gives what NumPy gives, or an error of NumPy's kind; with `either`, of
    shapes and dtypes that are both wrong either may be.
    """
    wanted = outcome(call, np, array.copy())
    got = outcome(call, mat, mat.array(array))
    if isinstance(wanted, Exception):
        kinds = [k for k in type(wanted).__mro__ if k.__module__ == "builtins"]
        both = (TypeError, ValueError)
        alike = both if either and kinds[0] in both else kinds[0]
        assert isinstance(got, alike), (got, wanted)
        return
    if isinstance(got, mat.DTypeError) and "which a Mat cannot have" in str(got):
        return
    assert not isinstance(got, Exception), (got, wanted)
    for one, other in zip(parts(got), parts(wanted), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=1e-12, equal_nan=True)


def each(calls, device, either=False):
    failed = []
    with warnings.catch_warnings(), mat.use_device(device):
        warnings.simplefilter("ignore")
        for name, array in ARRAYS.items():
            for text, call in calls:
                try:
                    compare(call, array, either)
                except AssertionError as error:
                    failed.append((name, text, str(error)[:200]))
    assert not failed


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", REDUCING)
def test_axes(name, device):
    calls = [(repr(axis), lambda m, a, axis=axis:
              attribute(m, name)(a, axis=axis)) for axis in AXES]
    if name in ("sum", "mean", "std", "max", "argmax", "median", "nanmax", "average"):
        calls += [(f"{axis!r}, keepdims", lambda m, a, axis=axis:
                   attribute(m, name)(a, axis=axis, keepdims=True)) for axis in AXES]
    each(calls, device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", INDEXED)
def test_indices(name, device):
    # NumPy's BLAS makes 0 of NaN times the number 0
    indices = [k for k in INDICES if name != "dot" or k not in (0, [])]
    each([(f"{k}: {index!r}", lambda m, a, call=call, index=index: call(m, a, index))
          for k, call in enumerate(INDEXED[name]) for index in indices], device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", PAIRS)
def test_two_arrays(name, device):
    each([(other, lambda m, a, other=other: PAIRS[name](m, a, m.array(ARRAYS[other])))
          for other in ARRAYS], device, either=True)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("width", WIDTHS, ids=repr)
def test_borders(width, device):
    each([(repr(mode), lambda m, a, mode=mode: m.pad(a, width, **mode)) for mode in MODES], device)


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_of_the_other_byte_order(device):
    x, a = mat.arange(3.0), np.arange(3).astype(">i4")
    with mat.use_device(device):
        for got in (x + a, a + x, mat.add(x, a), mat.add(a, x)):
            np.testing.assert_array_equal(got.to_numpy(), x.to_numpy() + a)


@pytest.mark.parametrize("device", DEVICES)
def test_histograms_without_bins(device):
    a = np.ones(3)
    with mat.use_device(device):
        for weights in (None, a):
            got = mat.histogram(mat.array(a), [], weights=None if weights is None else mat.array(a))
            for found, wanted in zip(got, np.histogram(a, [], weights=weights), strict=True):
                np.testing.assert_array_equal(found.to_numpy(), wanted, strict=True)


OUTS = {"larger": np.zeros((2, 6)), "longer": np.zeros(7), "without axes": np.zeros(()),
        "of other floats": np.zeros(6, "float32"), "of the result": np.zeros(6)}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", OUTS)
def test_ranges_into_out(name, device):
    a = (np.arange(24).reshape(4, 6) * 11 - 128).astype("int8")  # ranges that int8 has not
    each([(text, lambda m, _, b=b: m.ptp(m.array(b), axis=0, out=m.array(OUTS[name])))
          for text, b in (("int8", a), ("float64", a * 1.5))], device, either=True)


@pytest.mark.parametrize("device", DEVICES)
def test_running_totals_have_one_axis(device):
    each([(name, lambda m, a, name=name: attribute(m, name).accumulate(a, axis=None))
          for name in ("add", "multiply", "maximum")], device)


@pytest.mark.parametrize("device", DEVICES)
def test_updates_of_what_is_no_array(device):
    index = np.array([1, 0])
    each([(repr(first), lambda m, _, first=first: m.add.at(first, m.array(index), 3))
          for first in ([1, 2], 5, (1, 2))], device)


@pytest.mark.parametrize("device", DEVICES)
def test_whether_arrays_share_memory(device):
    a = np.arange(6.0)
    with mat.use_device(device):
        for function in mat.shares_memory, mat.may_share_memory:
            assert function(a, a[1:])
            assert not function(a[:2], a[2:])
            assert not function(a, a.tolist())
            assert function(mat.from_numpy(a), a)
            assert function(a[2:], mat.from_numpy(a))
            assert not function(mat.array(a), a)


@pytest.mark.parametrize("device", DEVICES)
def test_a_copy_by_an_operator_is_stored_as_its_operand(device):
    with mat.use_device(device):
        x, a = (m.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1) for m in (mat, np))
        y = +x
        assert y.strides == (+a).strides
        assert not mat.shares_memory(x, y)
        np.testing.assert_array_equal(y.to_numpy(), a)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["add", "multiply", "logical_and", "logical_or", "maximum"])
def test_reductions_without_an_initial_value(name, device):
    def call(m, a):
        return getattr(np, name).reduce(a, initial=None)

    each([("numpy's", call), ("mat's", lambda m, a: getattr(m, name).reduce(a, initial=None))],
         device)
