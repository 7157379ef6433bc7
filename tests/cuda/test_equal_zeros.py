"""Of equal operands, such as zeros of both signs, every device selects the same one: `minimum`,
`maximum`, `fmin`, `fmax`, `clip`, `where`, `copysign`. Which one that is, NumPy decides where its
own loops agree. NaN are at the same places; instructions of GPUs leave their bits open. And
distances that are the tolerance are near on all devices.
"""

import numpy as np
import pytest

import mat
from mat.ops.primitives import elementwise

from ..support.needs import native

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

pytestmark = native
FLOATS = ("float16", "bfloat16", "float32", "float64")
DEVICES = ("cpu", "emulated", "cuda")
REAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan]


def dtype_of(name):
    return mat.zeros(1, dtype=name).dtype


def numbers(dtype):
    dtype = dtype_of(dtype)
    if dtype.kind != "c":
        return np.array(REAL, "float32").astype(dtype)
    parts = np.array([0.0, -0.0, 1.0, np.inf, np.nan], np.finfo(dtype).dtype)
    found = np.empty((parts.size, parts.size), dtype)
    found.real, found.imag = parts[:, None], parts
    return found.ravel()


def words(a):
    """The bytes of each element, of which each NaN has the same."""
    a = np.ascontiguousarray(a)
    parts = a.view(a.real.dtype) if a.dtype.kind == "c" else a.copy()
    parts = np.where(np.isnan(parts.astype("float64")), np.array(np.nan, parts.dtype), parts)
    return parts.view(np.uint8).reshape(*a.shape, a.itemsize)


def computed(function, device, *args):
    mats = [mat.array(a) if isinstance(a, np.ndarray) else a for a in args]
    with mat.debug.count_copies() as n, mat.use_device(device, required=device != "cpu"):
        found = function(*mats)
    assert device == "emulated" or not n.fallbacks  # there NumPy may have no loop, as of bfloat16
    return found.to_numpy()


def check(function, *args, like=None):
    """Compare all bits but those of NaN of all devices with `like`, without it with the host's."""
    with np.errstate(all="ignore"):
        wanted = computed(function, "cpu", *args) if like is None else like
        for device in DEVICES:
            found = computed(function, device, *args)
            assert found.dtype == wanted.dtype
            at = np.argwhere((words(found) != words(wanted)).any(-1))
            assert not at.size, (device, args, at[:5].tolist())


def without_nan(a):
    return a[~np.isnan(a.astype("complex128"))]


def combined(values, count):
    """All combinations of so many values."""
    return [g.ravel().copy() for g in np.meshgrid(*[values] * count, indexing="ij")]


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128"])
def test_larger_and_smaller(cuda, dtype):
    for name in ("minimum", "maximum"):
        function = getattr(np, name)
        pairs = combined(without_nan(numbers(dtype)), 2)
        check(function, *pairs, like=function(*pairs))
        pairs = combined(numbers(dtype), 2)
        check(function, *pairs)
        check(function, np.tile(pairs[0], (3, 2))[:, ::2], np.tile(pairs[1], (3, 1)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_larger_and_smaller_than_a_number(cuda, dtype):
    for name in ("minimum", "maximum", "fmin", "fmax"):
        for value in (0.0, -0.0, np.nan):
            x = numbers(dtype)
            x = x if value == value else without_nan(x)  # two NaN: the signs are the loops'
            check(getattr(np, name), x, value)
            check(getattr(np, name), value, x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_numbers_before_nan_and_signs(cuda, dtype):
    pairs = combined(numbers(dtype), 2)
    for name in ("fmin", "fmax", "copysign"):
        check(getattr(np, name), *pairs)
    for value in (0.0, -0.0):
        check(np.copysign, pairs[0], value)
    chosen = np.arange(pairs[0].size) % 3 == 0
    check(np.where, chosen, *pairs, like=np.where(chosen, *pairs))
    if dtype != "bfloat16":  # with numbers NumPy promotes it
        zero = pairs[0].dtype.type(-0.0)
        check(np.where, chosen, pairs[0], -0.0, like=np.where(chosen, pairs[0], zero))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_clipped_by_numbers(cuda, dtype):
    x = numbers(dtype)
    for layout in (x, np.tile(x, 40), np.tile(x, (3, 2))[:, ::2]):
        for low in (0.0, -0.0, -1.0, np.nan):
            for high in (0.0, -0.0, 1.0, -np.nan):
                check(elementwise.clip, layout, low, high, like=np.clip(layout, low, high))


@pytest.mark.parametrize("dtype", FLOATS)
def test_clipped_by_arrays(cuda, dtype):
    x = numbers(dtype)
    triple = combined(x, 3)
    check(elementwise.clip, *triple, like=None if dtype == "bfloat16" else np.clip(*triple))
    for low in x:
        check(elementwise.clip, x, np.array([low]), x[1:2])
        check(elementwise.clip, x, np.full_like(x, low), x[1:2])
        check(elementwise.clip, x, x[:1], np.full_like(x, low))
        if dtype != "bfloat16":
            check(elementwise.clip, x, np.full_like(x, low), -0.0)
            check(elementwise.clip, x, 0.0, np.full_like(x, low))
    each = np.tile(x, (x.size, 1))
    check(elementwise.clip, each, x[:, None].copy(), x[::-1, None].copy())
    check(elementwise.clip, each.T, x[:, None].copy(), x[::-1].copy())
    for k in range(x.size):
        check(elementwise.clip, x[k:k + 1], x[:1], x[1:2])


@pytest.mark.parametrize("dtype", ["float16", "complex64", "complex128"])
def test_accumulated_at(cuda, dtype):
    """The first one of equal ones, as in NumPy."""
    pairs = combined(without_nan(numbers(dtype)), 2)

    def accumulated(rule):
        def function(x, values):
            rule.at(x, np.arange(x.shape[0]), values)
            return x
        return function

    for rule in (np.maximum, np.minimum):
        check(accumulated(rule), *pairs, like=rule(*pairs))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_near_is_up_to_the_tolerance(cuda, dtype, rng):
    """As the modulus that the host computes, and not below it."""
    real = np.finfo(dtype).dtype.type
    for _ in range(200):
        a, b = (np.array([complex(*rng.standard_normal(2))], dtype) for _ in "ab")
        apart = mat.abs(mat.array(a - b)).item()
        below = float(np.nextafter(real(apart), real(0)))
        with mat.use_device("cuda", required=True):
            x, y = mat.array(a), mat.array(b)
            assert mat.allclose(x, y, 0, apart)
            assert not mat.allclose(x, y, 0, below)
