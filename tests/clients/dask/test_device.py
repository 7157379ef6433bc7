"""`mat.dask.Device`: the workers of a cluster compute on a device."""

import time
from itertools import pairwise

import numpy as np
import pytest

import mat

distributed = pytest.importorskip("distributed")
import mat.dask  # noqa: E402

pytestmark = pytest.mark.host


@pytest.fixture
def client():
    """A worker with several threads in this process."""
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=3,
                            dashboard_address=":0") as client:
        yield client
    assert mat.set_device("cpu") == "cpu"


def fresh(x):
    return sorted((x + 1).fresh)


def test_tasks_compute_on_the_device(client):
    x = mat.ones(4)
    assert client.submit(fresh, x, pure=False).result() == ["host"]
    client.register_plugin(mat.dask.Device("emulated", pool_bytes=10**6))
    assert client.submit(fresh, x, pure=False).result() == ["emulated"]
    client.unregister_worker_plugin(mat.dask.Device.name)
    assert client.submit(fresh, x, pure=False).result() == ["host"]


def test_results_stay_on_the_device_between_tasks(client):
    client.register_plugin(mat.dask.Device("emulated"))
    x = client.submit(lambda: mat.ones(100) + 1)
    y = client.submit(lambda x: x * 2, x)
    assert client.submit(lambda x, y: (x.fresh, y.fresh), x, y).result() == ({"emulated"},) * 2
    np.testing.assert_array_equal(y.result().to_numpy(), np.full(100, 4.0))


def test_one_task_at_a_time(client):
    client.register_plugin(mat.dask.Device("emulated"))
    spans = client.gather(client.map(span, range(6), pure=False))
    spans.sort()
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    client.unregister_worker_plugin(mat.dask.Device.name)
    worker = next(iter(client.cluster.workers.values()))
    assert worker.state.nthreads == 3


def span(_):
    start = time.perf_counter()
    time.sleep(0.01)
    return start, time.perf_counter()


def test_another_device_replaces_the_first(client):
    client.register_plugin(mat.dask.Device("emulated", pool_bytes=10**6))
    client.register_plugin(mat.dask.Device("emulated:1"))
    assert client.submit(fresh, mat.ones(4), pure=False).result() == ["emulated:1"]


def test_data_of_several_pools(client):
    """Eight times the room on the device."""
    da = pytest.importorskip("dask.array")
    a = np.random.default_rng(1).normal(size=(800, 250))
    client.register_plugin(mat.dask.Device("emulated", pool_bytes=a.nbytes // 8))
    x = da.from_array(mat.array(a), chunks=(100, 50), asarray=False).persist()
    np.testing.assert_allclose((x.T @ x).compute().to_numpy(), a.T @ a)
    np.testing.assert_allclose(((x - x.mean(axis=0)) ** 2).sum(axis=0).compute().to_numpy(),
                               ((a - a.mean(axis=0)) ** 2).sum(axis=0))


def test_workers_of_one_process_share_the_device():
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1,
                            dashboard_address=":0") as client:
        client.register_plugin(mat.dask.Device("emulated"))
        one, other = client.scheduler_info()["workers"]
        client.retire_workers([one])
        assert client.submit(fresh, mat.ones(4), workers=[other]).result() == ["emulated"]


def test_a_worker_without_the_device(client):
    if mat.cuda_available():
        pytest.skip("there is one")
    with pytest.raises(mat.DeviceError, match="no device 'cuda'"):
        client.register_plugin(mat.dask.Device("cuda"))
    client.register_plugin(mat.dask.Device("cuda", required=False))
    assert client.submit(fresh, mat.ones(4), pure=False).result() == ["host"]


def test_errors_come_before_the_cluster():
    with pytest.raises(mat.FacetError, match="'gpus'"):
        mat.dask.Device("gpus")
    with pytest.raises(mat.SettingError, match="pool_bytes"):
        mat.dask.Device("emulated", pool_bytes=0)


def test_the_plugin_travels():
    plugin = mat.dask.Device("cuda:1", pool_bytes=7, required=False)
    header, frames = distributed.protocol.serialize(plugin)
    found = distributed.protocol.deserialize(header, frames)
    assert (found.device, found.pool_bytes, found.required) == ("cuda:1", 7, False)
