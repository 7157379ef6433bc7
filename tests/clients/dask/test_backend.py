"""The backend "mat" of dask.array: new arrays have Mats as chunks."""

import importlib.metadata

import numpy as np
import pytest

import mat

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.host


@pytest.fixture(autouse=True)
def backend():
    with dask.config.set({"array.backend": "mat", "scheduler": "synchronous"}):
        yield


MADE = {
    "da.ones((4, 5), chunks=2)": np.ones((4, 5)),
    "da.ones(5, chunks=2, dtype='int32')": np.ones(5, "int32"),
    "da.zeros((4, 5), chunks=2)": np.zeros((4, 5)),
    "da.full((3, 3), 7, chunks=2)": np.full((3, 3), 7),
    "da.full((3, 3), 1 + 2j, chunks=2)": np.full((3, 3), 1 + 2j),
    "da.arange(10, chunks=3)": np.arange(10),
    "da.arange(1, 3.5, 0.25, chunks=3)": np.arange(1, 3.5, 0.25),
    "da.ones_like(da.zeros((3, 3), chunks=2))": np.ones((3, 3)),
    "da.full_like(da.zeros((3, 3), chunks=2), 4)": np.full((3, 3), 4.0),
    "da.from_array(np.eye(3), chunks=2).to_backend()": np.eye(3),
    "da.zeros(3, chunks=2).to_backend()": np.zeros(3),
}


@pytest.mark.parametrize("code", MADE)
def test_created_arrays(code):
    x = eval(code)
    assert type(x._meta) is mat.Mat
    found = x.compute()
    assert type(found) is mat.Mat
    assert found.dtype == x.dtype == MADE[code].dtype
    np.testing.assert_array_equal(found.to_numpy(), MADE[code])


def test_empty():
    assert type(da.empty((4, 5), chunks=2).compute()) is mat.Mat


def test_chunks_of_equal_elements_take_no_memory():
    x = da.ones((20, 10), chunks=10).map_blocks(copies, dtype="float64")
    assert x.compute().sum() == 0


def copies(chunk):
    """The number of memories with a copy of a chunk, for each of its elements."""
    return mat.full(chunk.shape, float(len(chunk.storage.handles)))


@pytest.mark.parametrize("code", [
    "da.random.default_rng(seed).normal(size=(40, 50), chunks=20)",
    "da.random.default_rng(seed).uniform(size=(40, 50), chunks=20)",
    "da.random.default_rng(seed).integers(0, 10, size=(40, 50), chunks=20)",
    "da.random.default_rng(seed).exponential(size=(40, 50), chunks=20)",
    "da.random.RandomState(seed).normal(size=(40, 50), chunks=20)",
    "da.random.RandomState(seed).randint(0, 10, size=(40, 50), chunks=20)",
])
def test_random_numbers_are_repeatable(code):
    x, y, z = (eval(code, {"da": da, "seed": seed}) for seed in (1, 1, 2))
    assert type(x._meta) is mat.Mat
    a, b, c = (m.compute() for m in (x, y, z))
    assert type(a) is mat.Mat
    np.testing.assert_array_equal(a.to_numpy(), b.to_numpy())
    blocks = [a.to_numpy()[i:i + 20, j:j + 20] for i in (0, 20) for j in (0, 20)]
    assert len({block.tobytes() for block in blocks}) == 4
    assert not np.array_equal(a.to_numpy(), c.to_numpy())


def test_a_permutation():
    found = da.random.default_rng(1).permutation(20).compute()
    assert type(found) is mat.Mat
    assert sorted(found.tolist()) == list(range(20))


def test_back_to_numpy():
    x = da.arange(10, chunks=3).to_backend("numpy")
    assert type(x._meta) is np.ndarray
    found = x.compute()
    assert type(found) is np.ndarray
    assert found.tolist() == list(range(10))


def test_mats_beside_dask_arrays():
    m, x = mat.arange(5.0), da.ones(5, chunks=2)
    for both in (m * x, x * m, np.multiply(m, x)):
        assert isinstance(both, da.Array)
        assert both.compute().tolist() == m.tolist()


def test_the_metadata_names_the_backend():
    found = importlib.metadata.entry_points(group="dask.array.backends", name="mat")
    if not found:
        pytest.skip("mat is not installed with the metadata of these sources")
    (entry,) = found
    assert issubclass(entry.load(), da.backends.ArrayBackendEntrypoint)
