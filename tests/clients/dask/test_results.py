"""Functions of dask.array whose tasks make arrays of NumPy's, whatever the chunks are: after
``mat.dask.enable()``, of Mats the results have Mats as chunks, of others they are what dask makes.
"""

import collections
import os
import shutil
import subprocess
import sys
import types
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import mat
from mat.interop.dask import REPLACED, enable, replace_functions

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
scipy_linalg = pytest.importorskip("scipy.linalg")

pytestmark = pytest.mark.host
enable()

RNG = np.random.default_rng(5)
ARRAYS = {
    "x": RNG.normal(size=(20, 6)),  # chunks of 10 x 6
    "v": RNG.normal(size=30),  # chunks of 10
    "w": RNG.uniform(size=30),
    "i": RNG.integers(0, 8, 30),
    "i2": RNG.integers(-2, 3, (20, 6)),
    "f": RNG.integers(0, 8, 30).astype("float32"),
    "c": RNG.integers(0, 3, 30) * (1 + 2j),
    # LU exchanges no rows of it, so that its factors are the same with blocks as without
    "s": RNG.normal(size=(30, 30)) + 40 * np.eye(30),
}
ARRAYS["b"] = ARRAYS["v"] > 0.5
ARRAYS["s32"] = ARRAYS["s"].astype("float32")
CHUNKS = {"x": (10, 6), "i2": (10, 4)}
META = (np.ndarray, mat.Mat)  # without axes dask has an array, as for the sum of an array of Mats
BINS = [np.linspace(-3, 3, 4)] * 2

# What dask computes, and what NumPy or SciPy computes of the whole arrays
CALLS = {
    "da.linalg.solve(s, v)": "np.linalg.solve(s, v)",
    "da.linalg.solve(s, s[:, :10])": "np.linalg.solve(s, s[:, :10])",
    "da.linalg.solve(s @ s.T, v, assume_a='pos')": "np.linalg.solve(s @ s.T, v)",
    "da.linalg.solve(a=s32, b=s32)": "np.eye(30, dtype='float32')",
    "da.linalg.solve_triangular(s, v, lower=True)": "linalg.solve_triangular(s, v, lower=True)",
    "da.linalg.inv(s)": "np.linalg.inv(s)",
    "da.linalg.lu(s)": "linalg.lu(s)",
    "da.linalg.cholesky(s @ s.T, lower=True)": "np.linalg.cholesky(s @ s.T)",
    "da.linalg.lstsq(x, v[:20])": "np.linalg.lstsq(x, v[:20])",
    "da.unique(i)": "np.unique(i)",
    "da.unique(i2)": "np.unique(i2)",
    "da.unique(f)": "np.unique(f)",
    "da.unique(c)": "np.unique(c)",
    "da.unique(b, return_counts=True)": "np.unique(b, return_counts=True)",
    "da.unique(f, return_index=True)": "np.unique(f, return_index=True)",
    "da.unique(i2, return_inverse=True)": "np.unique(i2, return_inverse=True)",
    "da.unique(i, True, True, True)": "np.unique(i, True, True, True)",
    "np.unique(i, return_counts=True)": "np.unique(i, return_counts=True)",
    "da.nonzero(v > 1)": "np.nonzero(v > 1)",
    "da.nonzero(i2)": "np.nonzero(i2)",
    "i2.nonzero()": "i2.nonzero()",
    "da.where(i2)": "np.where(i2)",
    "da.argwhere(i2)": "np.argwhere(i2)",
    "da.argwhere(b)": "np.argwhere(b)",
    "da.flatnonzero(i2)": "np.flatnonzero(i2)",
    "da.histogramdd((v, w), bins)": "np.histogramdd((v, w), bins)",
    "da.histogramdd(x[:, :2], bins=bins, weights=v[:20])":
        "np.histogramdd(x[:, :2], bins=bins, weights=v[:20])",
    "da.histogramdd(sample=[v, w], bins=3, range=((-3, 3),) * 2)":
        "np.histogramdd([v, w], bins=3, range=((-3, 3),) * 2)",
    "da.histogram2d(v, w, bins=bins)": "np.histogram2d(v, w, bins=bins)",
}


def blocked(made):
    return {name: da.from_array(made(a), chunks=CHUNKS.get(name, 10), asarray=False)
            for name, a in ARRAYS.items()}


def called(code, made):
    """The arrays of dask's that an expression results in, of chunks that `made` makes."""
    found = eval(code, {"da": da, "np": np, "bins": BINS, **blocked(made)})
    return flat(found)


def flat(found):
    return [y for x in found for y in flat(x)] if isinstance(found, list | tuple) else [found]


def parts(x):
    return dask.compute(*x.to_delayed().ravel(), scheduler="synchronous")


@pytest.mark.parametrize("device", ["host", "emulated"])
@pytest.mark.parametrize("code", CALLS)
def test_results_are_mats(code, device):
    wanted = flat(eval(CALLS[code], {"np": np, "linalg": scipy_linalg, "bins": BINS, **ARRAYS}))
    with nullcontext() if device == "host" else mat.use_device(device):
        got = called(code, mat.array)
        assert len(got) == len(wanted)
        for g, w in zip(got, wanted, strict=True):
            w = np.asarray(w)
            assert type(g._meta) in (META[w.ndim > 0], mat.Mat)
            assert g.ndim == w.ndim
            assert {(type(p), p.dtype) for p in parts(g)} == {(mat.Mat, g.dtype)}
            found = g.compute(scheduler="synchronous")
            assert (type(found), found.shape) == (mat.Mat, w.shape)
            np.testing.assert_allclose(found.to_numpy(), w, rtol=1e-4 if "32" in code else 1e-8,
                                       atol=1e-6 if "32" in code else 1e-10)


@pytest.mark.parametrize("code", CALLS)
def test_the_backend_of_mats(code):
    """With which some of the functions make Mats themselves."""
    wanted = called(code, mat.array)
    with dask.config.set({"array.backend": "mat", "scheduler": "synchronous"}):
        for g, w in zip(called(code, mat.array), wanted, strict=True):
            assert {(type(p), p.dtype) for p in parts(g)} == {(mat.Mat, w.dtype)}
            np.testing.assert_array_equal(g.compute().to_numpy(), w.compute().to_numpy())


def test_records_of_arrays_with_the_backend_of_mats():
    """`unique` makes arrays of indices and of ones, and reduces parts of them into its records."""
    with dask.config.set({"array.backend": "mat", "scheduler": "synchronous"}):
        found = dask.compute(da.unique(da.from_array(ARRAYS["f"], chunks=10), True, True, True))[0]
        assert type(da.ones(3)._meta) is type(da.arange(3)._meta) is mat.Mat
    wanted = np.unique(ARRAYS["f"], True, True, True)
    for g, w in zip(found, wanted, strict=True):
        assert type(g) is np.ndarray
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("code", CALLS)
def test_dtypes_and_chunks_are_those_of_arrays(code):
    for mats, arrays in zip(called(code, mat.array), called(code, np.asarray), strict=True):
        assert mats.dtype == arrays.dtype
        assert str(mats.chunks) == str(arrays.chunks)  # numbers that are unknown are NaN


@pytest.mark.parametrize("code", CALLS)
def test_arrays_stay_arrays(code):
    for x in called(code, np.asarray):
        assert type(x._meta) is np.ndarray
        assert {type(p) for p in parts(x)} <= {np.ndarray, np.int64}  # a rank is a number


def test_other_chunks_have_the_tasks_of_dask():
    x = da.from_array(ARRAYS["s"], chunks=10)
    for name, function in (("lu", da.linalg.lu), ("unique", da.unique), ("nonzero", da.nonzero)):
        assert function.__name__ == name
        for ours, dasks in zip(flat(function(x)), flat(function.__wrapped__(x)), strict=True):
            assert ours.name == dasks.name
            assert list(ours.dask.layers) == list(dasks.dask.layers)


def test_one_layer_of_tasks_is_added():
    """Although `inv` calls `solve`, and that `lu` and `solve_triangular`."""
    layers = da.linalg.inv(blocked(mat.array)["s"]).dask.layers
    assert sum("asarray" in name for name in layers) == 1


def test_names_are_repeatable():
    x = blocked(mat.array)["i"]
    assert da.unique(x).name == da.unique(x).name


def test_nothing_is_computed_before():
    def fails(chunk):
        raise ZeroDivisionError

    x = da.from_array(mat.array(ARRAYS["i"]), chunks=10, asarray=False)
    x = x.map_blocks(fails, meta=mat.empty(0, dtype=int))
    for found in (da.unique(x), *da.nonzero(x), *da.linalg.lu(x[:, None] * x[None, :])):
        with pytest.raises(ZeroDivisionError):
            found.compute(scheduler="synchronous")


def test_numbers_of_elements_become_known():
    x = da.unique(blocked(mat.array)["i"])
    assert np.isnan(x.shape[0])
    with dask.config.set(scheduler="synchronous"):
        assert x.compute_chunk_sizes().shape == np.unique(ARRAYS["i"]).shape


def test_one_operand_of_several():
    mats, arrays = blocked(mat.array), blocked(np.asarray)
    for a, b in ((mats["s"], arrays["v"]), (arrays["s"], mats["v"])):
        found = da.linalg.solve(a, b).compute(scheduler="synchronous")
        assert type(found) is mat.Mat
        np.testing.assert_allclose(found.to_numpy(), np.linalg.solve(ARRAYS["s"], ARRAYS["v"]))


def test_a_mat_itself():
    (found,) = da.nonzero(mat.array([0, 3, 0, 4]))
    assert type(found.compute(scheduler="synchronous")) is mat.Mat
    assert found.compute(scheduler="synchronous").tolist() == [1, 3]


def test_edges_that_dask_computes_at_once_are_arrays():
    names = blocked(mat.array)
    found, edges = da.histogramdd((names["v"], names["w"]), BINS, density=True)
    assert type(found.compute(scheduler="synchronous")) is mat.Mat
    wanted, _ = np.histogramdd((ARRAYS["v"], ARRAYS["w"]), BINS, density=True)
    np.testing.assert_allclose(found.compute(scheduler="synchronous").to_numpy(), wanted)
    assert [type(e) for e in edges] == [np.ndarray] * 2


def test_after_an_error():
    x = blocked(mat.array)["x"]
    with pytest.raises(ValueError, match="square"):
        da.linalg.lu(x)
    assert type(da.unique(x).compute(scheduler="synchronous")) is mat.Mat


def test_a_dask_with_other_functions(monkeypatch):
    """Some are missing, and one returns a named tuple and is in another module, too."""
    Found = collections.namedtuple("Found", "p x")
    module, other = types.ModuleType("dask.array.linalg"), types.ModuleType("dask.array.other")
    module.lu = other.factors = lambda x: Found("no array", x)
    monkeypatch.setitem(sys.modules, "dask.array.linalg", module)
    monkeypatch.setitem(sys.modules, "dask.array.other", other)
    replace_functions(module)
    assert other.factors is module.lu
    assert set(vars(module)) & set(REPLACED["dask.array.linalg"]) == {"lu"}
    found = module.lu(blocked(mat.array)["s"])
    assert isinstance(found, Found)
    assert found.p == "no array"
    assert type(found.x._meta) is mat.Mat


DASK_FIRST = """
import numpy as np
import dask.array as da
import dask.array.ma
before = da.unique, da.ma._nonzero
import mat
assert (da.unique, da.ma._nonzero) == before
import mat.dask
mat.dask.enable()
mat.dask.enable()
from dask.array.linalg import inv
from dask.array.routines import unique
assert unique is da.unique is not before[0]
assert unique.__wrapped__.__wrapped__ is before[0]
assert da.ma._nonzero is da.nonzero is not before[1]
assert inv is da.linalg.inv
x = da.from_array(mat.array([3, 1, 3]), chunks=2, asarray=False)
assert type(unique(x).compute(scheduler="synchronous")) is mat.Mat
assert type(before[0](x).compute(scheduler="synchronous")) is np.ndarray
"""
MAT_FIRST = """
import mat, mat.dask
import dask.array as da
assert not hasattr(da.linalg.lu, "__wrapped__")
mat.dask.enable()
assert hasattr(da.linalg.lu, "__wrapped__")
"""


@pytest.mark.slow
@pytest.mark.parametrize("text", [DASK_FIRST, MAT_FIRST])
def test_functions_are_replaced_by_enable_only(text):
    subprocess.run([sys.executable, "-c", text], check=True)


# The patch for dask itself


PATCH = Path(__file__).parents[3] / "docs" / "upstream" / "dask.patch"
PATCHED = """
import dask.array as da, numpy as np, mat
x = da.from_array(mat.array([3.0, 1, 3, 4]), chunks=2, asarray=False)
a = da.from_array(mat.array([[4.0, 1], [1, 3]]), chunks=1, asarray=False)
v = da.from_array(mat.array([3.0, 1]), chunks=1, asarray=False)
found = [da.unique(x), *da.nonzero(x > 1), da.argwhere(x > 1), da.flatnonzero(x > 1),
         da.linalg.inv(a), *da.linalg.lu(a), da.linalg.cholesky(a), da.linalg.solve(a, v),
         da.linalg.solve_triangular(a, v, lower=True),
         da.linalg.lstsq(a.rechunk((1, 2)), x[:2])[0],
         da.histogramdd((x, x), 2, range=((0, 5), (0, 5)))[0]]
for each in found:
    assert type(each.compute(scheduler="synchronous")) is mat.Mat, each
n = da.from_array(np.array([3.0, 1, 3, 4]), chunks=2)
assert type(da.unique(n).compute()) is np.ndarray
assert not any("like" in name for name in da.unique(n).dask.layers)
assert (da.unique.__module__, da.linalg.inv.__module__) == (
    "dask.array.routines", "dask.array.linalg")
"""


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.skipif(shutil.which("patch") is None, reason="`patch` is not installed")
def test_a_dask_with_the_patch_needs_no_replacement(tmp_path):
    if dask.__version__ not in PATCH.read_text(encoding="utf-8"):
        pytest.skip("the patch is for another version of dask")
    shutil.copytree(Path(dask.__file__).parent, tmp_path / "dask",
                    ignore=shutil.ignore_patterns("tests", "__pycache__"))
    subprocess.run(["patch", "-p1", "-i", PATCH], cwd=tmp_path, check=True)
    paths = [str(tmp_path), str(PATCH.parents[2])]
    subprocess.run([sys.executable, "-c", PATCHED], check=True, cwd=tmp_path,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
