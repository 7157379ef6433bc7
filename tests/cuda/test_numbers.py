"""Numbers that the host reads of a GPU: through slots in page-locked memory, and without them."""

import threading

import numpy as np
import pytest

import mat

from ..support.threads import in_threads
from .computing import add, only_there

transfers = pytest.importorskip("mat.cuda.runtime.transfers")
pytestmark = [pytest.mark.host, pytest.mark.skipif(
    transfers.CudaFetch is None, reason="without compiled calls nothing has slots")]
WAITS = "cuEventSynchronize", "cuStreamSynchronize", "cuCtxSynchronize"


@pytest.fixture
def no_fetches(monkeypatch):
    monkeypatch.setattr(transfers, "_fetches", transfers._Fetches())


@pytest.mark.unchecked("the check waits for the device at the end of each access")
def test_the_result_of_a_reduction_waits_for_one_event(mock, dev):
    x = only_there(mat.arange(1000.0))
    assert float(x.sum()) == 499500.0
    before = [mock.calls(name) for name in WAITS]
    assert float(x.max()) == 999.0
    assert [mock.calls(name) - n for name, n in zip(WAITS, before, strict=True)] == [1, 0, 0]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64", "complex128"])
@pytest.mark.parametrize("n", [1, 4, 5, 64, 65])
def test_few_elements(cuda, dev, rng, dtype, n):
    cuda.delay()
    values = rng.integers(0, 2, n).astype(dtype)
    np.testing.assert_array_equal(only_there(mat.array(values)).to_numpy(), values)


@pytest.mark.sample(2)
def test_more_threads_than_slots(cuda, dev):
    count, found = 3 * transfers.SLOTS, {}
    start = threading.Barrier(count)

    def read(k):
        with mat.use_device("cuda"):
            x = only_there(mat.full(10, float(k)))
            start.wait()
            found[k] = [float(x[i]) for i in range(10)]

    in_threads(count, read)
    assert found == {k: [float(k)] * 10 for k in range(count)}


def test_a_slot_is_not_used_again_after_a_failure(mock, dev, no_fetches):
    x = mat.zeros(10)
    add(x)
    assert float(x[0]) == 1.0
    free = len(transfers._fetches[dev.gpu].free)
    mock.fail("cuEventRecord", times=1, status=1)
    assert float(x[1]) == 1.0  # by the usual way
    assert len(transfers._fetches[dev.gpu].free) == free - 1


def test_no_pages_can_be_locked(cuda, dev, no_fetches, monkeypatch):
    class Nothing:
        def take(self, nbytes, user):
            raise mat.OutOfDeviceMemory(f"{nbytes} bytes of page-locked memory")

    monkeypatch.setattr(transfers, "POOL", Nothing())
    x = add(mat.zeros(10))
    assert float(x[0]) == 1.0
    assert not transfers._fetches[dev.gpu].free
