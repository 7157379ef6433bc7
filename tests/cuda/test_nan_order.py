"""NaN in what orders elements, and in interpolation, on the device: the bits of the host."""

import warnings

import numpy as np
import pytest

import mat

RNG = np.random.default_rng(5)
MANY = np.round(RNG.standard_normal(3000), 1) + 0.0  # no negative zeros, which equal others
MANY[::7] = np.nan
VALUES = {"mixed": np.array([1, np.nan, 2, -3, np.nan, 0, 7, -8, np.inf, -np.inf, 2, 5]),
          "all": np.full(6, np.nan), "none": np.array([3.0, 1, 2, 1, 0, 5]),
          "first": np.array([np.nan, 1, 0, 4]), "last": np.array([0, 5, 1, np.nan]),
          "one": np.array([np.nan, np.nan]), "many": MANY}
DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


def rows(v):
    return v[:v.size // 2 * 2].reshape(2, -1)


CALLS = {
    "sort": lambda v: mat.sort(v), "sort backwards": lambda v: mat.sort(v[::-1]),
    "sort columns": lambda v: mat.sort(rows(v), axis=0),
    "sort rows": lambda v: mat.sort(rows(v), axis=1),
    "argsort": lambda v: mat.argsort(v, stable=True),
    "argsort columns": lambda v: mat.argsort(rows(v).T, axis=0, stable=True),
    "sort in place": lambda v: in_place(v),
    "median": lambda v: mat.median(v), "median of rows": lambda v: mat.median(rows(v), axis=1),
    "nanmedian": lambda v: mat.nanmedian(v),
    "percentile": lambda v: mat.percentile(v, [0, 30, 100]),
    "quantile": lambda v: mat.quantile(rows(v), 0.5, axis=0),
    "unique": lambda v: mat.unique(v),
    "unique with more": lambda v: mat.unique(v, return_inverse=True, return_counts=True),
    "unique as they are": lambda v: mat.unique(v, equal_nan=False),
    "searchsorted": lambda v: mat.searchsorted(mat.sort(v), v),
    "searchsorted right": lambda v: mat.searchsorted(mat.sort(v), v, side="right"),
    "searchsorted by a sorter": lambda v: mat.searchsorted(
        v, v[:3], sorter=mat.argsort(v, stable=True)),
    "partition": lambda v: mat.partition(v, v.size // 2)[v.size // 2],
    "partition below": lambda v: mat.sort(mat.partition(v, v.size // 2)[:v.size // 2]),
    "argpartition": lambda v: v[mat.argpartition(v, v.size // 2)[v.size // 2]],
    "lexsort": lambda v: mat.lexsort((v,)),
    "lexsort of two": lambda v: mat.lexsort((v[::-1].copy(), v)),
    "union1d": lambda v: mat.union1d(v[:3], v[3:]), "isin": lambda v: mat.isin(v, v[:4]),
    "setdiff1d": lambda v: mat.setdiff1d(v, v[:4]),
    "max": lambda v: mat.max(v), "argmin": lambda v: mat.argmin(v),
    "nanargmax": lambda v: mat.nanargmax(v), "nanmin": lambda v: mat.nanmin(v),
    "fmax": lambda v: mat.fmax.reduce(v), "maximum": lambda v: mat.maximum.accumulate(v),
    "digitize": lambda v: mat.digitize(v, mat.sort(v[:2])),
    "sort_complex": lambda v: mat.sort_complex(v)}


def in_place(v):
    y = v.copy()
    y.sort()
    return y


def bits(found):
    """Return dtype, shape and bytes of results; all NaN are one, and so are both zeros."""
    if isinstance(found, list | tuple):
        return [*map(bits, found)]
    a = found.to_numpy() if isinstance(found, mat.Mat) else np.asarray(found)
    shown = a.astype("f4") if a.dtype.name == "bfloat16" else a
    if shown.dtype.kind in "fc":
        parts = shown.reshape(-1).view(shown.real.dtype)
        shown = np.where(np.isnan(parts), np.array(np.nan, parts.dtype), parts) + 0.0
    return a.dtype.name, a.shape, shown.tobytes()


def outcome(call, v):
    try:
        return bits(call(v))
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_nan_is_where_it_is_on_the_host(dev, name, dtype):
    call = CALLS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key, values in VALUES.items():
            a = values + 0j * np.nan_to_num(values, posinf=0, neginf=0) if dtype[0] == "c" else (
                values)
            with mat.use_device("cpu"):
                wanted = outcome(call, mat.array(a).astype(dtype))
            x = mat.array(a).astype(dtype)
            y = mat.zeros(x.shape, dtype=dtype)
            mat.copyto(y, x)  # which the device has
            assert outcome(call, y) == wanted, key


POINTS = {"one": ([1.0], [7.0]), "one that is NaN": ([1.0], [np.nan]),
          "three": ([0.0, 1, 3], [5.0, 7, 6]), "NaN at a point": ([0.0, 1, 3], [5.0, np.nan, 6]),
          "infinite": ([0.0, 1, 3], [5.0, np.inf, -np.inf]),
          "steps": ([0.0, 1, 1, 2], [1.0, 2, 3, 4])}


@pytest.mark.parametrize("more", [{}, {"left": -9.0}, {"right": np.nan}, {"period": 4.0}],
                         ids=str)
@pytest.mark.parametrize("points", POINTS)
def test_interpolation(dev, points, more):
    xp, fp = (mat.array(v) for v in POINTS[points])
    for values in (VALUES["mixed"], VALUES["one"], np.linspace(-1, 4, 23)):
        found = mat.interp(mat.array(values), xp, fp, **more)
        with np.errstate(invalid="ignore"):
            wanted = np.interp(values, *POINTS[points], **more)
        np.testing.assert_array_equal(found.to_numpy(), wanted)


def test_nan_is_true(dev):
    x = mat.zeros(6, dtype=bool) | False  # which the device has
    x[0], x[2:4] = np.nan, np.inf
    x[mat.array([5])] = np.nan
    assert x.tolist() == [True, False, True, True, False, True]
    assert mat.full(3, np.nan, dtype=bool).all()
