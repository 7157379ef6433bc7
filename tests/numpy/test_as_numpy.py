"""Calls that once differed from NumPy's, each over many dtypes: results, dtypes, shapes, and errors
where NumPy has errors.
"""

import numpy as np
import pytest

import mat

from ..support.layouts import numbers

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning",
                                        "ignore::numpy.exceptions.ComplexWarning")
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]
BEYOND = [300, -2, 70000, -2**31 - 1, 2**63, 2**64, 2**70, 7]


class Both:
    """The namespace and the arrays of NumPy, or ours: calls are made with either."""

    def __init__(self, space, array):
        self.space, self.array = space, array

    def __getattr__(self, name):
        return getattr(self.space, name)

    def new(self, shape, dtype):
        return self.array(np.zeros(shape, dtype))


NUMPYS = Both(np, np.array)
OURS = Both(mat, mat.array)


def outcome(call, space, *arrays):
    try:
        return call(space, *(space.array(a) for a in arrays))
    except Exception as error:
        return error


def check(call, *arrays):
    """Compare the outcomes of a call with NumPy's namespace and with ours."""
    wanted = outcome(call, NUMPYS, *arrays)
    got = outcome(call, OURS, *arrays)
    if isinstance(wanted, Exception):
        assert isinstance(got, Exception), f"{got!r}; NumPy: {wanted!r}"
        assert isinstance(got, mat.MatError | type(wanted)), repr(got)
        return
    if isinstance(got, Exception):
        raise got
    compare(got, wanted)


def compare(got, wanted):
    if isinstance(wanted, tuple | list):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            compare(one, other)
        return
    if isinstance(wanted, np.ndarray | np.generic):
        assert isinstance(got, mat.Mat | np.generic), type(got)
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        exact = wanted.dtype.kind in "biu"
        np.testing.assert_allclose(
            np.asarray(got, copy=True).astype(wanted.dtype), wanted,
            rtol=0 if exact else 4 * float(np.finfo(wanted.dtype).eps))
        return
    assert got == wanted


# Integers beyond the range of a dtype


COMPARISONS = [lambda x, v: x < v, lambda x, v: x <= v, lambda x, v: x > v, lambda x, v: x >= v,
               lambda x, v: x == v, lambda x, v: x != v, lambda x, v: v < x, lambda x, v: v == x]


@pytest.mark.parametrize("dtype", DTYPES)
def test_comparisons_with_any_integer(rng, dtype):
    a = numbers(rng, (2, 3), dtype)
    for value in BEYOND:
        for compared in COMPARISONS:
            check(lambda m, x, c=compared, v=value: c(x, v), a)
        for name in ("less", "greater_equal", "equal", "not_equal"):
            check(lambda m, x, n=name, v=value: getattr(m, n)(x, v), a)
            check(lambda m, x, n=name, v=value: getattr(m, n)(v, x), a)
            check(lambda m, x, n=name, v=value: getattr(m, n)(x, v, out=m.new((2, 3), "bool")), a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_division_by_any_integer(rng, dtype):
    a = numbers(rng, (2, 3), dtype)
    for value in BEYOND:
        if abs(value) >= 70000 and np.dtype(dtype).itemsize == 2:
            continue  # more than float16 holds, of which NumPy warns
        check(lambda m, x, v=value: x / v, a)
        check(lambda m, x, v=value: v / x, a)
        check(lambda m, x, v=value: m.divide(x, v), a)
    assert isinstance(outcome(lambda m, x: x / 10**400, OURS, a), mat.MatError)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_what_numpy_refuses_is_an_error_of_ours(rng, dtype):
    a = numbers(rng, (2, 3), dtype)
    for call in (lambda m, x: x + 2**70, lambda m, x: x * -2**70, lambda m, x: m.maximum(x, 2**70),
                 lambda m, x: x - 2**64, lambda m, x: x // 2**65):
        assert isinstance(outcome(call, NUMPYS, a), OverflowError)
        found = outcome(call, OURS, a)
        assert isinstance(found, mat.DTypeError)
        assert "out of the range" in str(found)


# Joining


@pytest.mark.parametrize("dtype", DTYPES)
def test_joining_with_a_dtype(rng, dtype):
    a = numbers(rng, (2, 3), "float32")
    b = numbers(rng, (2, 3), "int16")
    for casting in ("same_kind", "unsafe", "safe", "no"):
        for name in ("concat", "stack", "concatenate", "vstack", "hstack"):
            check(lambda m, x, y, n=name, c=casting: getattr(m, n)([x, y], dtype=dtype, casting=c),
                  a, b)
        for name, shape in (("concat", (4, 3)), ("stack", (2, 2, 3))):
            check(lambda m, x, y, n=name, s=shape, c=casting: getattr(m, n)(
                [x, y], 0, m.new(s, dtype), casting=c), a, b)


JOINED = [lambda m, x: m.concat([x, x[0]], axis=None), lambda m, x: m.concat([x.T, x], None),
          lambda m, x: m.concat([x, x], axis=1), lambda m, x: m.concat((x, x, x), -1),
          lambda m, x: m.concat([x, [[1, 0, 1]]]), lambda m, x: m.concat(x),
          lambda m, x: m.concat([x[0], [1, 1]]), lambda m, x: m.stack([x, x], -1),
          lambda m, x: m.stack(x, 1), lambda m, x: m.stack([x, x], axis=3),
          lambda m, x: m.stack([x, x[0]]), lambda m, x: m.concat([x, x[0]]),
          lambda m, x: m.concat([x, x], 5), lambda m, x: m.concat([]), lambda m, x: m.stack([]),
          lambda m, x: m.concat([x, 1]), lambda m, x: m.stack([x, x], 0, m.new((2, 2, 3), x.dtype)),
          lambda m, x: m.concat([x, x], dtype="int8", out=m.new((4, 3), "int8"))]


@pytest.mark.parametrize("dtype", DTYPES)
def test_joining(rng, dtype):
    a = numbers(rng, (2, 3), dtype)
    for call in JOINED:
        check(call, a)


# Arguments of other functions


CALLS = [
    lambda m, x: m.any(x, out=m.new((), "bool")), lambda m, x: m.all(x, 0, m.new(3, "bool")),
    lambda m, x: m.any(x, 1, m.new(2, "float64")), lambda m, x: x.all(out=m.new((), "int8")),
    lambda m, x: m.any(x, where=x > 0), lambda m, x: x.any(1, keepdims=True),
    lambda m, x: m.sum(x, out=m.new((), "bool")), lambda m, x: x.prod(1, None, m.new(2, "bool")),
    lambda m, x: m.sum(x.real, dtype="bool"),
    lambda m, x: m.einsum("ij,kj->ik", x, x, optimize=True),
    lambda m, x: m.einsum("ij,ij", x, x, optimize="greedy", dtype="complex128"),
    lambda m, x: m.einsum("ij->ji", x, dtype="complex128", casting="safe"),
    lambda m, x: m.argsort(x, kind="stable"), lambda m, x: m.argsort(x, 0, "mergesort"),
    lambda m, x: m.argsort(x, axis=None, stable=True), lambda m, x: m.sort(x, kind="heapsort"),
    lambda m, x: m.sort(x, axis=None), lambda m, x: x[None].squeeze(0),
    lambda m, x: m.squeeze(x[None, :, None], axis=(0, 2)), lambda m, x: m.squeeze(x, 0),
    lambda m, x: m.copy(x.T).flags.f_contiguous, lambda m, x: m.copy(x.T, "C"),
    lambda m, x: m.copy(x, "F"), lambda m, x: x.conj(), lambda m, x: m.conj(x),
    lambda m, x: m.select([x > 0, x < 0], [x, -x if x.dtype.kind != "b" else x], 0),
    lambda m, x: m.select([x == 1], [x]), lambda m, x: m.where(x > 0, x, 0),
    lambda m, x: m.lib.stride_tricks.sliding_window_view(x, 2, 1),
    lambda m, x: m.clip(x, 0, 1), lambda m, x: m.cumsum(x, 1, "complex128"),
    lambda m, x: m.mean(x, 0), lambda m, x: m.mean(x, dtype="complex128"),
    lambda m, x: m.add(x, x, dtype="complex128"), lambda m, x: m.add(x, x, casting="no"),
    lambda m, x: m.add(x, 1, where=x > 0, out=m.new((2, 3), "complex128")),
    lambda m, x: m.multiply(x, x, out=m.new((2, 3), "int8"), casting="unsafe"),
    lambda m, x: m.multiply(x, x, out=m.new((2, 3), "int8")),
    lambda m, x: m.exp(x, dtype="float64"), lambda m, x: m.exp(x, where=x > 9, out=m.new(
        (2, 3), "complex128")), lambda m, x: m.sqrt(abs(x), casting="safe", dtype="float32"),
    lambda m, x: m.add(x, x, order="F"), lambda m, x: m.add(x, x, subok=False),
    lambda m, x: m.add(x, x, nonsense=1),
    lambda m, x: m.matmul(x, x, axes=[(1, 0), (0, 1), (0, 1)]),
    lambda m, x: m.matmul(x, x.T, dtype="complex128"), lambda m, x: m.vecdot(x, x, axis=0),
    lambda m, x: m.matmul(x, x.T, m.new((2, 2), "complex128")),
    lambda m, x: m.matmul(x, x.T, out=m.new((2, 2), x.dtype), casting="no"),
    lambda m, x: m.matmul(x, x.T, nonsense=1), lambda m, x: m.matmul(x, 2)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arguments_that_numpy_takes(rng, dtype):
    a = numbers(rng, (2, 3), dtype)
    for call in CALLS:
        check(call, a)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_singular_values(rng, dtype):
    a = numbers(rng, (3, 2), dtype)
    check(lambda m, x: m.linalg.svd(x, compute_uv=False), a)
    check(lambda m, x: [v.shape for v in m.linalg.svd(x, full_matrices=False)], a)


WITH_AXIS = {
    **{name: (lambda m, x, axis, n=name: getattr(m, n)(x, axis=axis)) for name in (
        "sum", "prod", "mean", "max", "min", "argmax", "argmin", "any", "all", "cumsum", "cumprod",
        "std", "var", "sort", "argsort", "median", "ptp", "flip", "count_nonzero", "nansum",
        "expand_dims", "squeeze")},
    "roll": lambda m, x, axis: m.roll(x, 1, axis),
    "repeat": lambda m, x, axis: m.repeat(x, 2, axis),
    "diff": lambda m, x, axis: m.diff(x, 1, axis), "take": lambda m, x, axis: m.take(x, 0, axis),
    "concat": lambda m, x, axis: m.concat([x, x], axis),
    "stack": lambda m, x, axis: m.stack([x, x], axis),
    "swapaxes": lambda m, x, axis: m.swapaxes(x, 0, axis),
    "moveaxis": lambda m, x, axis: m.moveaxis(x, 0, axis)}
METHODS = ["sum", "prod", "mean", "max", "min", "argmax", "argmin", "any", "all", "cumsum",
           "cumprod", "std", "var", "argsort", "repeat", "take", "sort", "squeeze", "argpartition",
           "compress"]
MORE = {"repeat": (2,), "take": (0,), "argpartition": (1,), "compress": ([1],)}


@pytest.mark.parametrize("axis", [4, -5, 99])
def test_a_bad_axis_is_an_axis_error_everywhere(axis):
    x = mat.ones(2, 3)
    for name, call in WITH_AXIS.items():
        with pytest.raises(np.exceptions.AxisError):
            call(np, np.ones((2, 3)), axis)
        for kind in (np.exceptions.AxisError, ValueError, IndexError):
            with pytest.raises(kind):
                pytest.fail(f"{name} gave {call(mat, x, axis)}")
    for name in METHODS:
        with pytest.raises(mat.AxisError):
            pytest.fail(f"{name} gave {getattr(x, name)(*MORE.get(name, ()), axis=axis)}")


@pytest.mark.parametrize("name", ["fabs", "positive", "frexp", "divmod", "spacing", "add", "exp"])
def test_too_many_arguments_are_counted(name):
    count = getattr(np, name).nargs + 1
    with pytest.raises(mat.DTypeError, match=rf"{name}\(.*position.* {count}"):
        getattr(mat, name)(*[mat.ones(3)] * count)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("value", [300, -1, 7, True, 2.5, 1j])
def test_numbers_joined_to_integers(value, device):
    a = np.arange(3, dtype="uint8")
    with mat.use_device(device):
        found = mat.concatenate([mat.array(a), value], axis=None)
    np.testing.assert_array_equal(found.to_numpy(), np.concatenate([a, value], axis=None),
                                  strict=True)
    if value in (300, -1):
        with pytest.raises(mat.RangeError, match="out of the range of uint8"):
            mat.concat([mat.array(a), value], axis=None)
