"""Short copies to a GPU: through slots in page-locked memory, and without them."""

import numpy as np
import pytest

import mat

from ..support.threads import in_threads
from .computing import add

transfers = pytest.importorskip("mat.cuda.runtime.transfers")
pytestmark = [pytest.mark.host, pytest.mark.skipif(
    transfers.CudaSend is None, reason="without compiled calls nothing has slots")]


@pytest.fixture
def no_sends(monkeypatch):
    monkeypatch.setattr(transfers, "_sends", transfers._Sends())


def sent(values):
    """A Mat whose elements a copy to the device has, and which are other ones on the host then."""
    x = mat.from_numpy(values, exclusive=True)
    with x.facet("cuda", "io"):
        pass
    values[...] = 0
    return x


@pytest.mark.parametrize("nbytes", [1, 63, 4096, (64 << 10) - 1, 64 << 10, (64 << 10) + 1])
def test_each_length_with_a_slow_device(cuda, dev, rng, nbytes):
    cuda.delay()
    wanted = rng.integers(0, 256, nbytes).astype(np.uint8)
    np.testing.assert_array_equal(sent(wanted.copy()).to_numpy(), wanted)


def test_slots_are_used_again_when_their_copies_are_over(cuda, dev, rng):
    cuda.delay()
    given = rng.standard_normal((3 * transfers.MANY, 100))
    found = [add(sent(row.copy())) for row in given]
    np.testing.assert_array_equal([x.to_numpy() for x in found], given + 1)


@pytest.mark.sample(2)
def test_more_threads_than_slots(cuda, dev):
    count, found = 3 * transfers.MANY, {}

    def send(k):
        with mat.use_device("cuda"):
            found[k] = [sent(np.full(10, float(k + i))) for i in range(5)]

    in_threads(count, send)
    for k in range(count):
        np.testing.assert_array_equal([x.to_numpy() for x in found[k]],
                                      [[float(k + i)] * 10 for i in range(5)])


@pytest.mark.parametrize("name", ["cuMemcpyHtoDAsync", "cuEventRecord", "cuEventSynchronize"])
def test_a_slot_is_not_used_again_after_a_failure(mock, dev, no_sends, name):
    sent(np.ones(10))
    free = len(transfers._sends[dev.gpu].free)
    mock.fail(name, times=1, status=1)
    x = mat.from_numpy(np.ones(10))
    with pytest.raises(mat.DeviceError, match="copying 80 bytes to device 0"):
        x.facet("cuda", "input").__enter__()
    assert len(transfers._sends[dev.gpu].free) == free - 1
    assert x.fresh == {"host"}
    np.testing.assert_array_equal(sent(np.full(10, 3.0)).to_numpy(), np.full(10, 3.0))


def test_no_pages_can_be_locked(cuda, dev, no_sends, monkeypatch):
    class Nothing:
        def take(self, nbytes, user):
            raise mat.OutOfDeviceMemory(f"{nbytes} bytes of page-locked memory")

    monkeypatch.setattr(transfers, "POOL", Nothing())
    np.testing.assert_array_equal(sent(np.full(10, 3.0)).to_numpy(), np.full(10, 3.0))
    assert not transfers._sends[dev.gpu].free
