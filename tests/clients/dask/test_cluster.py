"""A cluster of processes: chunks go from worker to worker, and a worker that is killed loses
nothing.
"""

import os
import signal
import time

import numpy as np
import pytest

import mat

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.host, pytest.mark.slow, pytest.mark.once]


@pytest.fixture(scope="module")
def client():
    with (distributed.LocalCluster(n_workers=2, threads_per_worker=1,
                                   dashboard_address=":0") as cluster,
          distributed.Client(cluster) as client):
        yield client


def drawn(shape=(600, 200), chunks=100):
    with dask.config.set({"array.backend": "mat"}):
        return da.random.default_rng(1).normal(size=shape, chunks=chunks)


def test_chunks_go_from_worker_to_worker(client):
    x = drawn()
    a = x.compute(scheduler="synchronous").to_numpy()
    found = (x.T @ x + x.T.rechunk((100, 60))[:, :200]).compute()
    assert type(found) is mat.Mat
    np.testing.assert_allclose(found.to_numpy(), a.T @ a + a.T[:, :200])


def test_what_arrives_is_aligned_and_writable(client):
    one, other = client.scheduler_info()["workers"]
    for rows in (1, 100, 9000):  # the last one is longer than what dask sends at once
        x = client.submit(made, rows, workers=[one])
        assert client.submit(state, x, workers=[other]).result() == (0, True, rows * 1000.0)
        assert state(x.result()) == (0, True, rows * 1000.0)


def made(rows):
    return (mat.ones(1000, rows) + 0).T


def state(x):
    with x.facet("array", "input") as a:
        address, total = a.ctypes.data, float(a.sum())
    return address % 8, bool(x.storage.writable), total


def slow(chunk):
    time.sleep(0.05)
    return chunk * 2


def test_a_worker_that_is_killed_loses_nothing():
    with (distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0",
                                   silence_logs=50) as cluster,
          distributed.Client(cluster) as client):
        x = drawn()
        wanted = (2 * x).sum(axis=0).compute(scheduler="synchronous").to_numpy()
        doubled = x.map_blocks(slow, dtype="float64").persist()
        future = client.compute(doubled.sum(axis=0))
        while sum(map(len, client.has_what().values())) < 4:
            time.sleep(0.01)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        np.testing.assert_allclose(future.result().to_numpy(), wanted)


def test_results_of_functions_on_workers(client):
    x = drawn(shape=(200, 200)) + 100 * da.eye(200, chunks=100)
    a = x.compute(scheduler="synchronous").to_numpy()
    inverse, found = dask.compute(da.linalg.inv(x), da.unique(x > 0, return_counts=True))
    assert [type(y) for y in (inverse, *found)] == [mat.Mat] * 3
    np.testing.assert_allclose(inverse.to_numpy(), np.linalg.inv(a), atol=1e-12)
    assert found[1].tolist() == np.unique(a > 0, return_counts=True)[1].tolist()


def test_a_worker_imports_dask_first():
    def on_the_worker():  # which takes nothing from this module, and so does not import it
        import sys

        import dask.array as da
        assert "mat" not in sys.modules
        import mat
        x = da.from_array(mat.array([3, 1, 3]), chunks=2, asarray=False)
        return type(da.unique(x).compute(scheduler="synchronous")).__name__

    with (distributed.LocalCluster(n_workers=1, threads_per_worker=1,
                                   dashboard_address=":0") as cluster,
          distributed.Client(cluster) as client):
        assert client.submit(on_the_worker).result() == "Mat"


def test_data_of_eight_pools_on_each_worker(client):
    plugin = mat.dask.Device("emulated", pool_bytes=drawn().nbytes // 8)
    client.register_plugin(plugin)
    try:
        x = drawn(chunks=(100, 50)).persist()
        a = drawn(chunks=(100, 50)).compute(scheduler="synchronous").to_numpy()
        np.testing.assert_allclose((x.T @ x).compute().to_numpy(), a.T @ a)
        np.testing.assert_allclose(x.std(axis=0).compute().to_numpy(), a.std(axis=0))
    finally:
        client.unregister_worker_plugin(plugin.name)
