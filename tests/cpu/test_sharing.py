"""What several threads share has the bits that one thread gives, in all families of kernels, and
what NumPy gives where that is exact; and an error in one of the pieces.
"""

import threading

import numpy as np
import pytest

import mat
from mat.errors import IndexOutOfRange
from mat.layout.merged_axes import CHUNK

from ..support import needs, selection
from ..support.layouts import LAYOUTS, place

THREADS = selection.most((1, 2, 3, 5), (1, 3))
DTYPES = ("float32", "float64", "int64", "int16", "bool", "complex64")
LONG = 150_001  # elements that are worth several threads, of every kernel
SHAPE = (317, 403)
SIZES = ((LONG,), SHAPE)


def by_threads(compute):
    """Return what `compute` gives, which must not depend on the number of threads, whoever has set
    it: for all contexts, or for this one.
    """
    found = []
    try:
        for count in THREADS:
            mat.configure(threads=count)
            found += [compute(), compute()]  # by Python, which starts threads, and without it
    finally:
        mat.configure(threads=None)
    for count in THREADS:
        with mat.settings(threads=count):
            found.append(compute())
    bits = {(one.dtype, one.shape, one.to_numpy().tobytes()) for one in found}
    assert len(bits) == 1
    return found[0]


def same(found, wanted):
    assert found.dtype == wanted.dtype
    assert found.to_numpy().tobytes() == np.ascontiguousarray(wanted).tobytes()


def elements(rng, shape, dtype):
    return (100 * rng.standard_normal(shape)).astype(dtype)


def into(x, write):
    """Return a copy of `x` after `write` has written to it."""
    copy = x.copy()
    write(copy)
    return copy


@pytest.fixture(params=SIZES, ids=["vector", "matrix"])
def shape(request):
    return request.param


@pytest.mark.parametrize("name", ["exp", "sqrt", "negative", "square"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions(rng, name, dtype, shape):
    x = mat.array(abs(elements(rng, shape, dtype)) / 10)
    by_threads(lambda: getattr(mat, name)(x))
    by_threads(lambda: into(x, lambda out: getattr(mat, name)(x, out=out)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arithmetic_comparisons_and_choices(rng, dtype, layout, shape):
    a, b = elements(rng, shape, dtype), elements(rng, shape, dtype)
    x, y, c = place(a, layout), mat.array(b), mat.array(a != b)
    same(by_threads(lambda: x + y), a + b)
    same(by_threads(lambda: x == y), a == b)
    same(by_threads(lambda: mat.where(c, x, y)), np.where(a != b, a, b))
    same(by_threads(lambda: x[..., ::2] + y[..., ::2]), a[..., ::2] + b[..., ::2])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_conversions_and_joins(rng, dtype, layout, shape):
    a = elements(rng, shape, dtype)
    x = place(a, layout)
    same(by_threads(lambda: x.T.copy()), a.T)
    same(by_threads(x.copy), a)
    same(by_threads(lambda: x.astype("complex128")), a.astype("complex128"))
    same(by_threads(lambda: mat.concat([x, x, x[:5]])), np.concatenate([a, a, a[:5]]))
    if a.ndim > 1:
        same(by_threads(lambda: mat.concat([x, x[:, :0], x[:, 3:]], axis=1)),
             np.concatenate([a, a[:, :0], a[:, 3:]], axis=1))
    wanted = a.copy()
    wanted[1:] = a[:-1]
    same(by_threads(lambda: into(mat.array(a), lambda z: z.__setitem__(slice(1, None), x[:-1]))),
         wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_conversions_to_halves(rng, dtype):
    a = elements(rng, LONG, dtype) * np.exp(rng.uniform(-20, 10, LONG)).astype(dtype)
    a[::1000] = np.inf
    with np.errstate(all="ignore"):
        same(by_threads(lambda: mat.array(a).astype("float16")), a.astype("float16"))


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_reductions(rng, dtype, axis):
    for shape in ((317, 1203), (3, 100_003), (100_003, 3)):
        a = elements(rng, shape, dtype)
        for layout in ("packed", "transposed"):
            x = mat.array(a) if layout == "packed" else mat.array(a.T.copy()).T
            for name in ("sum", "max", "argmax"):
                found = by_threads(lambda x=x, name=name: mat.array(getattr(x, name)(axis)))
                if name != "sum" or dtype == "int64":
                    same(found, np.asarray(getattr(a, name)(axis)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16", "uint8", "bool"])
def test_running_totals(rng, dtype, layout):
    for shape in ((LONG,), (3, 50_001), (50_001, 3), SHAPE):
        a = elements(rng, shape, dtype)
        if a.dtype.kind == "f":
            a[..., rng.integers(0, shape[-1], 3)] = np.nan
        x = place(a, layout)
        for name, rule in (("cumsum", np.add), ("cumprod", np.multiply), ("cummax", np.maximum)):
            if (dtype, name) == ("bool", "cummax"):
                continue
            for axis in range(a.ndim):
                with np.errstate(all="ignore"):
                    wanted = rule.accumulate(a, axis, *(
                        [getattr(np, name)(a[:1]).dtype] if name != "cummax" else []))
                found = by_threads(lambda x=x, axis=axis, name=name: _running(x, name, axis))
                if a.dtype.kind == "f" and name != "cummax" and a.shape[axis] > CHUNK:
                    largest = np.nanmax(np.where(np.isfinite(wanted), abs(wanted), 0))
                    np.testing.assert_allclose(found, wanted, 1e-5, 1e-5 * largest)
                else:
                    same(found, wanted)


def _running(x, name, axis):
    return np.maximum.accumulate(x, axis) if name == "cummax" else getattr(np, name)(x, axis)


def test_running_totals_in_place():
    a = np.arange(LONG)
    same(by_threads(lambda: into(mat.array(a), lambda x: np.cumsum(x, out=x))), np.cumsum(a))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_masks(rng, dtype, layout, shape):
    a = elements(rng, shape, dtype)
    x = place(a, layout)
    for axes in range(1, a.ndim + 1):
        for share in (0.0, 0.01, 0.6, 1.0):
            mask = rng.random(shape[:axes]) < share
            b = mat.array(mask)
            same(by_threads(lambda b=b: x[b]), a[mask])
            values = elements(rng, a[mask].shape, dtype)
            for value, given in ((values, mat.array(values)), (1, 1)):
                wanted = a.copy()
                wanted[mask] = value
                same(by_threads(lambda b=b, given=given: _overwritten(a, layout, b, given)), wanted)


def _overwritten(a, layout, index, value):
    x = place(a, layout)
    x[index] = value
    return x.copy()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_integers(rng, dtype, layout, shape):
    """Of several values for one place, the last one is there."""
    a = elements(rng, shape, dtype)
    x = place(a, layout)
    for axis, n in enumerate(shape):
        before = (slice(None),) * axis
        k = rng.integers(-n, n, 20_001 if a.ndim == 1 else 701)
        i = (*before, mat.array(k))
        same(by_threads(lambda i=i: x[i]), a[(*before, k)])
        values = elements(rng, a[(*before, k)].shape, dtype)
        for value, given in ((values, mat.array(values)), (1, 1)):
            wanted = a.copy()
            wanted[(*before, k)] = value
            same(by_threads(lambda i=i, given=given: _overwritten(a, layout, i, given)), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_with_vectors(rng, dtype):
    a, v = elements(rng, (1000, 700), dtype), elements(rng, 700, dtype)
    x, y = mat.array(a), mat.array(v)
    by_threads(lambda: x @ y)


@pytest.mark.parametrize("where", [0, 99_999, 199_999])
@pytest.mark.parametrize("bad", [200_000, -200_001])
def test_an_integer_out_of_range_in_one_of_the_pieces(rng, where, bad):
    """Nothing has been written then."""
    a = np.arange(200_000.0)
    k = rng.permutation(200_000)
    k[where] = bad
    x, i, before = mat.array(a), mat.array(k), threading.active_count()
    for count in THREADS:
        with mat.settings(threads=count):
            with pytest.raises(IndexOutOfRange):
                x[i]
            for value in (mat.array(a), 1.0):
                with pytest.raises(IndexOutOfRange):
                    x[i] = value
    same(x, a)
    assert threading.active_count() <= before + max(THREADS)


@needs.native
def test_short_calls_share_under_the_gil_and_long_ones_without(monkeypatch):
    from mat.cpu.elementwise import GRAIN, prepare_elementwise

    def how(n):
        x = mat.zeros(n)
        return prepare_elementwise("add", x, x, x).how

    assert [how(n) for n in (GRAIN, 2 * GRAIN, 8 * GRAIN, 8 * GRAIN + 1)] == [1, 3, 3, 2]
