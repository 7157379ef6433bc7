"""DLPack on a device: imports, with other libraries themselves, and how processes end."""

import gc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from ..support.dlpack import (
    HOST,
    READ_ONLY,
    Exporter,
    never_called,
)
from ..support.needs import native
from ..tools.mock_driver.fixtures import cuda_is_real
from .computing import DTYPES, add, only_there
from .foreign import THERE, Foreign, at
from .test_process import script

pytestmark = [pytest.mark.host, native]

__all__ = ["script"]


# Taking


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_taken_stays_where_it_is(cuda, dev, dtype):
    theirs = Foreign(dev, dtype)
    before = dev.memory.used, cuda.blocks()
    with mat.debug.count_copies() as n:
        x = mat.from_dlpack(theirs)
        assert x.fresh == {"cuda:0"}
        assert (x.dtype.name, x.shape, at(x)) == (dtype, (3, 4), theirs.block.address)
    assert (n.h2d, n.d2h) == (0, 0)
    assert theirs.wanted["stream"] == int(dev.gpu.stream)
    assert_array_equal(x.to_numpy(), theirs.elements[:12].reshape(3, 4))
    x.fill_(1)
    assert x.fresh == {"cuda:0"}
    assert_array_equal(theirs.now(), [1] * 12 + theirs.elements[12:].tolist())
    assert dev.memory.used == before[0]
    assert "C" in repr(x)


def test_strides_of_what_is_taken(dev):
    theirs = Foreign(dev, strides=(-4, 2), skip=8)
    x = mat.from_dlpack(theirs)
    reference = np.lib.stride_tricks.as_strided(theirs.elements[8:], (3, 4), (-32, 16))
    assert_array_equal(x.to_numpy(), reference)
    assert_array_equal((x + 1).to_numpy(), reference + 1)
    assert mat.from_dlpack(Foreign(dev, shape=(0, 3), strides=(3, 1))).shape == (0, 3)
    assert mat.from_dlpack(Foreign(dev, shape=(), strides=(), skip=5)).item() == 5


def test_read_only_there(dev):
    theirs = Foreign(dev, flags=READ_ONLY)
    x = mat.from_dlpack(theirs)
    with pytest.raises(mat.DirectionError, match="read-only"):
        x.fill_(0)
    y = mat.from_dlpack(theirs, copy=True).fill_(0)
    assert_array_equal(theirs.now(), theirs.elements)
    assert y.fresh == {"cuda:0"}


def test_it_is_given_back_with_the_mat_and_never_freed_by_us(cuda, dev):
    theirs = Foreign(dev)
    x = mat.from_dlpack(theirs)
    view, gone = x[1:], theirs.leave()
    del x
    gc.collect()
    assert gone() is not None
    assert view.tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]
    del view
    gc.collect()
    dev.memory.held()
    assert gone() is None


@pytest.mark.unchecked("the check waits for the device at the end of each look")
def test_it_is_not_given_back_while_work_on_it_is_queued(cuda, dev):
    theirs = Foreign(dev)
    x = mat.from_dlpack(theirs)
    gone = theirs.leave()
    cuda.delay()
    for _ in range(50):  # more than the mock driver does while it is asked
        add(x)
    del x
    gc.collect()
    assert cuda.pending() > 0
    assert gone() is not None
    dev.synchronize()
    dev.memory.held()
    assert gone() is None


def test_it_is_neither_evicted_nor_dropped(dev):
    theirs = Foreign(dev)
    x = mat.from_dlpack(theirs)
    with pytest.raises(mat.ConflictError, match="from_dlpack"):
        x.drop("cuda", force=True)
    with mat.use_device("cuda", pool_bytes=8000):
        for _ in range(3):
            only_there(mat.zeros(1000))
    assert x.fresh == {"cuda:0"}
    gone = theirs.leave()
    x.close()
    gc.collect()
    dev.synchronize()  # its memory is given back in the order of the stream
    dev.memory.held()
    assert gone() is None


def test_it_stays_after_the_block(cuda):
    with mat.use_device("cuda", required=True) as dev:
        theirs = Foreign(dev)
        x = mat.from_dlpack(theirs)
        add(x)
    assert x.fresh == {"cuda:0"}
    assert x.tolist()[0] == [1, 2, 3, 4]
    x.fill_(9)
    assert x.fresh == {"host"}
    with mat.use_device("cuda"):
        add(x)
        assert theirs.now()[:13].tolist() == [10] * 12 + [12]
    gone = theirs.leave()
    del x
    gc.collect()
    with mat.use_device("cuda"):
        dev.memory.held()
    assert gone() is None


def test_what_cannot_be_taken_there(dev, two_devices):
    with pytest.raises(mat.DeviceError, match=r"cuda:1.*not in use"):
        mat.from_dlpack(Exporter(never_called, (2, 1)))
    x = mat.from_dlpack(np.arange(3.0), device="cuda")  # it computes there
    assert (x.device, x.exp().fresh) == (dev, {"cuda:0"})
    with pytest.raises(mat.ExchangeError, match="copy=None"):
        mat.from_dlpack(Exporter(never_called, THERE), device="cpu", copy=False)
    assert mat.from_dlpack(Foreign(dev), device="cuda", copy=False).shape == (3, 4)
    with pytest.raises(mat.DeviceError, match=r"cuda:1.*not in use"):
        mat.from_dlpack(Foreign(dev), device="cuda:1")
    with mat.use_device("cuda:1"), pytest.raises(mat.ExchangeError, match=r"\(2, 0\).*cuda:1"):
        mat.from_dlpack(Foreign(dev), device="cuda:1")


def test_to_the_host_on_the_way_in(dev):
    x = only_there(mat.arange(4.0))

    class Theirs:
        """Somebody's array there, who copies to the host when asked."""

        def __dlpack_device__(self):
            return THERE

        def __dlpack__(self, **wanted):
            assert wanted == {"max_version": (1, 0), "dl_device": HOST}
            return x.__dlpack__(**wanted)

    y = mat.from_dlpack(Theirs(), device="cpu")
    assert y.fresh == {"host"}
    assert y.tolist() == [0, 1, 2, 3]
    del y
    z = mat.from_dlpack(Theirs(), device="cpu", copy=True).fill_(1)
    assert (z.tolist(), x.tolist()) == ([1, 1, 1, 1], [0, 1, 2, 3])


def test_ten_thousand_there_leave_nothing(cuda, dev):
    x, theirs = only_there(mat.arange(4.0)), Foreign(dev)
    gc.collect()
    dev.memory.trim()
    used, blocks = dev.memory.used, cuda.blocks()
    for _ in range(10_000):
        x.__dlpack__(max_version=(1, 0), stream=1)
        mat.from_dlpack(theirs)
    gc.collect()
    dev.memory.trim()
    assert (dev.memory.used, cuda.blocks(), x.storage.accesses) == (used, blocks, [])
    gone = theirs.leave()
    assert gone() is None


# With the other libraries themselves


@pytest.fixture
def real(dev):
    """A real GPU (MAT_TEST_CUDA=1), in use."""
    if not cuda_is_real():
        pytest.skip("torch and CuPy see real GPUs only")
    return dev


def test_torch_on_a_gpu(real):
    torch = pytest.importorskip("torch")
    x = only_there(mat.arange(6.0).reshape(2, 3))
    t = torch.from_dlpack(x)
    assert (t.is_cuda, t.data_ptr(), t.tolist()) == (True, at(x), [[0, 1, 2], [3, 4, 5]])
    with pytest.raises(TypeError, match="read only"):  # torch takes nothing that is
        torch.as_tensor(x, device="cuda")
    del t
    gc.collect()
    add(x)
    theirs = torch.arange(6.0, device="cuda").reshape(2, 3).T
    y = mat.from_dlpack(theirs)
    assert (at(y), y.element_strides) == (theirs.data_ptr(), (1, 3))
    y.fill_(7)
    assert theirs.tolist() == [[7, 7]] * 3
    with torch.cuda.stream(torch.cuda.Stream()):
        assert torch.from_dlpack(add(x)).tolist() == [[2, 3, 4], [5, 6, 7]]


def test_cupy_on_a_gpu(real):
    cupy = pytest.importorskip("cupy")
    x = only_there(mat.arange(6.0).reshape(2, 3))
    assert cupy.asarray(x).data.ptr == at(x)
    assert cupy.from_dlpack(x).tolist() == [[0, 1, 2], [3, 4, 5]]
    theirs = cupy.arange(6.0)
    assert mat.from_dlpack(theirs).tolist() == [0, 1, 2, 3, 4, 5]


# How processes end


CAPSULE = """
lent = x.__dlpack__(max_version=(1, 0), stream=1)
sys.lent = (x * 2).__dlpack__(max_version=(1, 0))
"""
TAKEN = """
from tests.cuda.foreign import Foreign
taken = mat.from_dlpack(Foreign(dev))
sys.taken = add(mat.from_dlpack(Foreign(dev)))
"""
FORK = """
child = os.fork()
if not child:
    del lent, taken, sys.lent, sys.taken
    import gc
    gc.collect()
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize("leave", ["", "block.__exit__(None, None, None)\n"],
                         ids=["within the block", "after it"])
@pytest.mark.sample(2)
def test_the_interpreter_ends_well(script, leave):
    assert script(CAPSULE + TAKEN + leave) == "done\n"


def test_a_forked_child_lets_go_of_what_it_has_of_a_device(script):
    assert script(CAPSULE + TAKEN + FORK) == "0\ndone\n"
