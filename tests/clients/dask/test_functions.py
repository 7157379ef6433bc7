"""Functions of dask.array on chunks that are Mats, on the host and on a device: elements and dtypes
are those for chunks of NumPy.
"""

import importlib
import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import mat
from mat.interop.dask import enable

from .functions import FUNCTIONS, arrays, blocked

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
enable()

pytestmark = pytest.mark.host
CHUNKS = (30, 20)
CODES = [code for codes in FUNCTIONS.values() for code in codes]
INDICES = np.array([3, 1, 5])


def computed(code, made):
    """The arrays that an expression results in, of chunks that `made` makes."""
    names = blocked(arrays(80, 60, CHUNKS), CHUNKS, da, made)
    found = eval(code, {"da": da, "np": np, "idx": INDICES, **names})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of logarithms of 0, say, as with NumPy
        found = dask.compute(found, scheduler="synchronous")[0]
    return found if isinstance(found, tuple | list) else (found,)


@pytest.mark.sample(12)
@pytest.mark.parametrize("device", ["host", "emulated"])
@pytest.mark.parametrize("code", CODES)
def test_functions(code, device):
    wanted = computed(code, np.asarray)
    with nullcontext() if device == "host" else mat.use_device(device):
        got = computed(code, mat.array)
        kinds = {type(x) for x in got}
        got = [np.array(x) for x in got]
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted, strict=True):
        w = np.asarray(w)
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        np.testing.assert_allclose(g, w, rtol=1e-10, atol=1e-12)
    assert kinds == {mat.Mat}


def test_there_are_many():
    assert len(set(CODES)) == len(CODES) > 150


def test_places_stay_on_the_device():
    x = da.from_array(mat.array(np.random.default_rng(1).normal(size=(60, 40))), chunks=20,
                      asarray=False)
    with mat.use_device("emulated"):
        found = x.argmax(axis=0).compute(scheduler="synchronous")
        assert found.fresh == {"emulated"}


@pytest.mark.parametrize("code", ["x.T @ x", "x @ x.T", "x.mean(axis=0)", "x - x.mean(axis=0)",
                                  "da.einsum('ij,kj->ik', x, x)", "(x ** 2).sum(axis=1)"])
def test_nothing_goes_to_the_host(code):
    """Neither fallbacks nor copies: chunks are on the device before, and results remain there."""
    a = np.random.default_rng(1).normal(size=(60, 40))
    with mat.use_device("emulated"), dask.config.set(scheduler="synchronous"):
        x = da.from_array(mat.array(a), chunks=20, asarray=False).map_blocks(lambda b: b + 0)
        x = x.persist()
        y = eval(code, {"da": da, "x": x})
        with mat.debug.count_copies() as n:
            found = y.compute()
        assert (n.d2h, n.h2d, n.fallbacks) == (0, 0, 0)
        assert found.fresh == {"emulated"}
        np.testing.assert_allclose(found.to_numpy(), eval(code, {"da": np, "x": a}), rtol=1e-9)


@pytest.mark.parametrize("call", [
    lambda m, x: m.trace(x), lambda m, x: m.trace(x, 1), lambda m, x: m.dot(x, x),
    lambda m, x: m.matmul(x, [1.0, 2, 3]), lambda m, x: m.matmul([1.0, 2, 3], x),
    lambda m, x: m.zeros_like(x), lambda m, x: m.ones_like(x, dtype="int8"),
    lambda m, x: m.full_like(x, 4), lambda m, x: m.empty_like(x, shape=(0, 2))])
def test_arrays_of_dask_stay_what_they_are(call):
    x = da.from_array(np.arange(9.0).reshape(3, 3), chunks=2)
    found, wanted = call(mat, x), call(np, x)
    assert isinstance(found, da.Array)
    np.testing.assert_array_equal(found.compute(), wanted.compute(), strict=True)


def test_a_copy_of_an_array_of_dask_is_computed():
    found = mat.copy(da.ones((2, 2)))
    assert isinstance(found, mat.Mat)
    assert found.tolist() == [[1, 1], [1, 1]]


def test_one_chunk_is_not_copied_where_chunks_are_joined():
    join = importlib.import_module("dask.array.core")._concatenate2
    x, y = mat.arange(6.0).reshape(2, 3), mat.ones(2, 3)
    assert join([[x]], axes=[0, 1]) is x
    with mat.debug.count_allocations() as n:
        found = join([[x, y]], axes=[0, 1])
    assert (type(found), n.count) == (mat.Mat, 1)
    assert found.tolist() == np.concatenate([x.to_numpy(), y.to_numpy()], axis=1).tolist()
    assert join([[x], [y]], axes=[0, 1]).tolist() == x.tolist() + y.tolist()
    found = da.from_array(x, chunks=(1, 2), asarray=False).rechunk((2, 3)).reshape(-1).compute()
    assert found.tolist() == list(range(6))
