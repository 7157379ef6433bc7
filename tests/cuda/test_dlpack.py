"""DLPack and the CUDA array interface on a device: what is lent and taken there, streams, and who
frees what, and when.
"""

import gc
import os
import weakref
from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from ..mock_driver.fixtures import cuda_is_real
from ..support.dlpack import (
    COPIED,
    HOST,
    LAYOUTS,
    READ_ONLY,
    Exporter,
    contents,
    facts,
    never_called,
    probe,
    sample,
)
from ..support.needs import native
from .computing import DTYPES, add, only_there, times
from .test_process import script

pytestmark = [pytest.mark.host, native]

THERE = (2, 0)
__all__ = ["script"]


def at(x):
    """The address of `x` on the device, brought there."""
    with x.facet("cuda", "input") as a:
        return a.address


class Owner:
    """What keeps memory of another library."""


def release(block):
    """Give back memory; a forked child has none."""
    if block.gpu.process == os.getpid():
        block.gpu.release(block)


class Foreign(Exporter):
    """Memory of another library on the device, with the numbers 0, 1, ... in it, that it lends as 3
    x 4 elements.
    """

    def __init__(self, dev, dtype="float64", flags=0, shape=(3, 4), strides=(4, 1), skip=0,
                 device=THERE):
        core = pytest.importorskip("mat._core")
        self.elements = np.arange(40).astype(mat.Mat(0, dtype).dtype)
        self.owner = Owner()
        self.block = self.owner.block = dev.gpu.allocate(self.elements.nbytes)
        self.gpu, self.memory = dev.gpu, dev.memory
        self.memory.copy_in(None, self.block, self.elements)
        kind = core.take(mat.Mat(1, dtype).__dlpack__(max_version=(1, 0)))[1][4][:2]
        weakref.finalize(self.owner, release, self.block)
        first = self.block.address + skip * self.elements.itemsize
        super().__init__(lambda: core.make_capsule(self.owner, first, shape, strides, device, kind,
                                                 flags), device)

    def now(self):
        """What is in it."""
        dev_array = np.empty_like(self.elements)
        self.memory.copy_out(None, self.block, dev_array)
        return dev_array

    def leave(self):
        """Have nothing of it any more; give what tells whether it is freed."""
        gone = weakref.ref(self.owner)
        self.capsule = self.owner = None
        return gone


# Exporting


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.sample(4)
def test_what_is_lent_there(dev, dtype, layout):
    reference = LAYOUTS[layout](sample(dtype))
    x = LAYOUTS[layout](only_there(mat.array(sample(dtype))))
    assert x.__dlpack_device__() == THERE
    with mat.debug.count_copies() as n:
        holder, (address, shape, strides, device, kind,
                 flags) = contents(x.__dlpack__(max_version=(1, 0), stream=1))
    assert (n.h2d, n.d2h) == (0, 0)
    assert (shape, device, kind[1]) == (x.shape, THERE, 8 * x.itemsize)
    copied = layout == "reversed"
    assert flags == (COPIED if copied else READ_ONLY)
    if not copied:
        assert (address, strides) == (at(x), x.strides)
    assert_array_equal(x.to_numpy(), reference)
    assert x.size == 0 or address
    del holder
    x.fill_(0)


def test_a_lease_there_keeps_it_from_being_written_anywhere(dev):
    x = only_there(mat.arange(4))
    capsule = x.__dlpack__(max_version=(1, 0), stream=1)
    for write in (lambda: add(x), lambda: x.fill_(0), lambda: x.facet("array", "io").__enter__(),
                  lambda: x.drop("cuda")):
        with pytest.raises(mat.ConflictError, match=r"test_dlpack.py:\d+"):
            write()
    assert x.tolist() == [0, 1, 2, 3]
    assert times(x, 2).tolist() == [0, 2, 4, 6]
    del capsule
    add(x)
    assert x.tolist() == [1, 2, 3, 4]


def test_leaving_the_block_leaves_it_to_who_has_it(cuda):
    with mat.use_device("cuda", required=True) as dev:
        x = only_there(mat.arange(1000))
        holder, tensor = contents(x.__dlpack__(max_version=(1, 0), stream=1))
    assert x.fresh == {"host"}
    assert dev.memory.used == 8000
    x.fill_(7)  # what is lent is apart from it now
    with mat.use_device("cuda"):
        others = [only_there(mat.zeros(1000)) for _ in range(3)]
        assert tensor[0] not in [at(y) for y in others]
        again = mat.from_dlpack(Exporter(lambda: recast(dev, holder, tensor), THERE))
        assert_array_equal(again.to_numpy(), np.arange(1000))
        del again
    holder = None
    gc.collect()
    with mat.use_device("cuda"):
        assert dev.memory.held() == []
        assert dev.memory.used == 0


def recast(dev, holder, tensor):
    """A capsule over what another one told."""
    core = pytest.importorskip("mat._core")
    address, shape, strides, device, kind, flags = tensor
    return core.make_capsule(holder, address, shape, strides, device, kind[:2], flags)


def test_the_memory_outlives_the_mat(dev):
    x = only_there(mat.arange(1000))
    gone = weakref.ref(x.storage)
    holder, tensor = contents(x.__dlpack__(max_version=(1, 0)))
    del x
    gc.collect()
    assert tensor[0] not in [at(mat.zeros(1000)) for _ in range(3)]
    del holder
    gc.collect()
    assert gone() is None
    assert tensor[0] in [at(y) for y in [only_there(mat.zeros(1000)) for _ in range(3)]]


def test_what_is_lent_is_not_evicted(dev):
    with mat.use_device("cuda", pool_bytes=2 * 8000):
        x, y, z = (only_there(mat.zeros(1000)) for _ in range(2)), mat.zeros(1000), mat.zeros(1000)
        x = next(x)
        holder = contents(x.__dlpack__(max_version=(1, 0)))
        for other in (y, z, y, z):
            add(other)
            assert x.fresh == {"cuda:0"}
        w = mat.zeros(2000)
        with pytest.raises(mat.OutOfDeviceMemory):
            only_there(w)
        del holder
        only_there(w)
        assert x.fresh == {"host"}


def test_copies_there_belong_to_the_consumer(dev):
    x = only_there(mat.arange(12).reshape(3, 4))
    with mat.debug.count_copies() as n:
        holder, (address, shape, strides, _, _,
                 flags) = contents(x.T.__dlpack__(max_version=(1, 0), copy=True, stream=1))
        assert (shape, strides, flags) == ((4, 3), (3, 1), COPIED)
        old, (other, shape, strides, device, _, _) = contents(x.T.__dlpack__())
    assert (n.h2d, n.d2h) == (0, 0)
    assert (shape, strides, device) == ((4, 3), (3, 1), THERE)
    assert len({address, other, at(x)}) == 3
    add(x)
    with pytest.raises(BufferError, match=r"1\.0"):
        x.__dlpack__(copy=False)
    del holder, old
    gc.collect()
    dev.memory.held()
    assert dev.memory.used == 12 * 8


def test_to_the_host_from_there(dev):
    x = only_there(mat.arange(4))
    with pytest.raises(mat.ExchangeError, match=r"cuda:0.*host"):
        x.__dlpack__(max_version=(1, 0), dl_device=HOST, copy=False)
    a = np.from_dlpack(x, device="cpu")
    assert a.tolist() == [0, 1, 2, 3]
    assert x.fresh == {"cuda:0", "host"}
    # torch gives a stream of the device it comes from
    assert facts(x, dl_device=HOST, stream=7)[3] == HOST
    assert x.__dlpack__(max_version=(1, 0), dl_device=HOST, copy=False)
    del a
    with pytest.raises(mat.ExchangeError, match=r"\(2, 1\)"):
        x.__dlpack__(max_version=(1, 0), dl_device=(2, 1))


def test_where_computing_is_not_allowed_there_it_is_lent_on_the_host(dev):
    with mat.settings(device_enabled=False):
        x = mat.arange(4)
    assert x.__dlpack_device__() == HOST
    assert np.from_dlpack(x).tolist() == [0, 1, 2, 3]
    with mat.use_device("cuda:1"):
        assert mat.zeros(3).__dlpack_device__() == (2, 1)
        assert facts(mat.zeros(3))[3] == (2, 1)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "reversed"])
@pytest.mark.parametrize("way", ["from_dlpack", "from_cuda_array_interface"])
@pytest.mark.sample(4)
def test_cuda_core_takes_it_either_way(dev, way, layout):
    """Somebody else's reading of both protocols."""
    views = pytest.importorskip("cuda.core.utils").StridedMemoryView
    x = LAYOUTS[layout](only_there(mat.array(sample("float32"))))
    with dev.gpu.current():
        seen = getattr(views, way)(x, stream_ptr=1)
    assert (tuple(seen.shape), seen.dtype, seen.readonly,
            seen.device_id) == (x.shape, x.dtype, True, 0)
    assert x.size == 0 or seen.ptr == at(x)
    assert x.size == 0 or (x.strides if seen.strides is None else tuple(seen.strides)) == x.strides
    assert seen.is_device_accessible
    lent = len(x.storage.accesses)
    del seen
    gc.collect()
    assert (lent, x.storage.accesses) == (1 if way == "from_dlpack" else 0, [])


def test_what_cuda_core_lends_is_taken(dev):
    core = pytest.importorskip("cuda.core")
    with dev.gpu.current():
        device = core.Device(0)
        device.set_current()
        buffer = device.allocate(24, stream=core.Stream.from_handle(1))
        x = mat.from_dlpack(buffer)
        assert (x.shape, x.dtype.name, at(x)) == ((24,), "int8", int(buffer.handle))
        x.fill_(3)
        assert x.tolist() == [3] * 24
        del x
        gc.collect()
        dev.memory.held()
        buffer.close(core.Stream.from_handle(1))


# Streams


@pytest.mark.unchecked("the check waits for the device at the end of each look")
@pytest.mark.parametrize(("stream", "events"), [(None, 0), (1, 0), (-1, 0), (2, 1)])
def test_the_consumers_stream_waits_and_nobody_else_does(cuda, dev, stream, events):
    x = only_there(mat.zeros(1000))
    cuda.delay()
    add(x)
    before = {f: cuda.calls(f) for f in ("cuStreamWaitEvent", "cuStreamSynchronize",
                                         "cuCtxSynchronize", "cuEventSynchronize")}
    capsule = x.__dlpack__(max_version=(1, 0), stream=stream)
    after = {f: cuda.calls(f) - n for f, n in before.items()}
    assert after == {"cuStreamWaitEvent": events, "cuStreamSynchronize": 0, "cuCtxSynchronize": 0,
                     "cuEventSynchronize": 0}
    assert cuda.pending() > 0
    del capsule


@pytest.mark.unchecked("the check waits for the device at the end of each look")
def test_a_stream_of_the_consumers_own(cuda, dev):
    driver = pytest.importorskip("cuda.bindings.driver")
    with dev.gpu.current():
        stream = driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)[1]
    x = only_there(mat.zeros(1000))
    before = cuda.calls("cuStreamWaitEvent")
    assert contents(x.__dlpack__(max_version=(1, 0), stream=int(stream)))
    assert cuda.calls("cuStreamWaitEvent") == before + 1
    driver.cuStreamDestroy(stream)


@pytest.mark.parametrize("stream", [0, -2, 1.5, True, "1"])
def test_streams_that_there_cannot_be(dev, stream):
    x = mat.zeros(3)
    with pytest.raises(BufferError, match="stream must be"):
        x.__dlpack__(max_version=(1, 0), stream=stream)
    assert x.fresh == set()
    with x.facet("cuda", "input") as a, pytest.raises(BufferError, match="stream must be"):
        a.__dlpack__(max_version=(1, 0), stream=stream)


# In blocks


@pytest.mark.unchecked("promises to overwrite what it does not touch")
def test_in_blocks_for_writing_it_may_be_written(dev):
    x = only_there(mat.arange(4))
    for direction, flags in (("io", 0), ("output", 0), ("input", READ_ONLY)):
        with x.facet("cuda", direction) as a:
            assert a.__dlpack_device__() == THERE
            assert contents(a.__dlpack__(max_version=(1, 0)))[1][5] == flags
            assert a.__cuda_array_interface__["data"] == (a.address, direction == "input")
            if direction != "input":
                assert contents(a.__dlpack__())[1][0] == a.address
            else:
                with pytest.raises(BufferError, match=r"1\.0"):
                    a.__dlpack__()
    with x[::-1].facet("cuda", "input") as a, pytest.raises(BufferError, match="contiguous"):
        a.__dlpack__(max_version=(1, 0))


# The CUDA array interface


def test_the_interface_tells_where_a_fresh_copy_is(dev):
    x = mat.arange(6).reshape(2, 3).astype("float32")
    with pytest.raises(AttributeError, match="no fresh copy on a GPU"):
        mat.ones(2).fill_(1).facet("array", "input") and mat.zeros(2).__cuda_array_interface__
    only_there(x)
    with mat.debug.count_copies() as n:
        seen = x.__cuda_array_interface__
        turned = x.T.__cuda_array_interface__
    assert (n.h2d, n.d2h) == (0, 0)
    assert seen == {"shape": (2, 3), "typestr": "<f4", "data": (at(x), True), "strides": None,
                    "version": 3,
                    "stream": 1}
    assert (turned["shape"], turned["strides"]) == ((3, 2), (4, 12))
    assert x[1:, 1:].__cuda_array_interface__["data"][0] == at(x) + 4 * 4
    assert only_there(mat.zeros(0, 3)).__cuda_array_interface__["data"] == (0, True)
    assert not hasattr(only_there(mat.zeros(3, dtype="bfloat16")), "__cuda_array_interface__")
    with x.facet("array", "io"):
        pass
    assert not hasattr(x, "__cuda_array_interface__")


def test_an_address_told_stays_while_the_mat_does(cuda):
    with mat.use_device("cuda", required=True) as dev:
        x = only_there(mat.zeros(1000))
        address = x.__cuda_array_interface__["data"][0]
        x.tolist()
        x.drop("cuda")
        assert address not in [at(mat.zeros(1000)) for _ in range(3)]
        only_there(x)
    with mat.use_device("cuda"):
        assert address not in [at(mat.zeros(1000)) for _ in range(3)]
        for _ in range(5):  # one is kept, not one for each time
            only_there(x)
            assert x.__cuda_array_interface__["data"][0]
            x.tolist()
            x.drop("cuda")
        dev.memory.held()
        assert dev.memory.used == 8000
        del x
        gc.collect()
        dev.memory.held()
        assert dev.memory.used == 0
    assert pytest.importorskip("mat.interop.dlpack")._kept == {}


def test_looking_at_what_there_is_moves_nothing(cuda, dev):
    for x in (mat.zeros(3), only_there(mat.arange(4)), add(mat.arange(6))[::2],
              mat.arange(3).fill_(2),
              only_there(mat.zeros(0))):
        before, version, held = x.fresh, x.storage.version, set(x.storage.handles)
        waits = "cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize", "cuMemAllocAsync"
        repr(x)  # which takes a temporary copy of what it shows
        counted = [cuda.calls(f) for f in waits]
        with mat.debug.count_copies() as n:
            for name in dir(x):
                with suppress(mat.ShapeError):  # x.mT of fewer than two axes
                    getattr(x, name, None)
            x.__dlpack_device__()
        assert [cuda.calls(f) for f in waits] == counted
        probe(x)
        assert (n.h2d, n.d2h, n.packs) == (0, 0, 0)
        assert (x.fresh, x.storage.version, set(x.storage.handles),
                x.storage.accesses) == (before, version, held, [])


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
    assert theirs.wanted["stream"] == 1
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


def test_what_cannot_be_taken_there(dev):
    with pytest.raises(mat.DeviceError, match=r"cuda:1.*not in use"):
        mat.from_dlpack(Exporter(never_called, (2, 1)))
    with pytest.raises(mat.ExchangeError, match=r"\(1, 0\).*cuda:0"):
        mat.from_dlpack(np.arange(3.0), device="cuda")
    with pytest.raises(mat.ExchangeError, match="copy=None"):
        mat.from_dlpack(Exporter(never_called, THERE), device="cpu", copy=False)
    assert mat.from_dlpack(Foreign(dev), device="cuda", copy=False).shape == (3, 4)
    with pytest.raises(mat.ExchangeError, match=r"\(2, 0\).*cuda:1"):
        mat.from_dlpack(Foreign(dev), device="cuda:1")


def test_to_the_host_on_the_way_in(dev):
    x = only_there(mat.arange(4))

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
    x, theirs = only_there(mat.arange(4)), Foreign(dev)
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
    x = only_there(mat.arange(6).reshape(2, 3))
    for t in (torch.from_dlpack(x), torch.as_tensor(x, device="cuda")):
        assert (t.is_cuda, t.data_ptr(), t.tolist()) == (True, at(x), [[0, 1, 2], [3, 4, 5]])
    del t
    gc.collect()
    add(x)
    theirs = torch.arange(6.0, device="cuda").reshape(2, 3).T
    y = mat.from_dlpack(theirs)
    assert (at(y), y.strides) == (theirs.data_ptr(), (1, 3))
    y.fill_(7)
    assert theirs.tolist() == [[7, 7]] * 3
    with torch.cuda.stream(torch.cuda.Stream()):
        assert torch.from_dlpack(add(x)).tolist() == [[2, 3, 4], [5, 6, 7]]


def test_cupy_on_a_gpu(real):
    cupy = pytest.importorskip("cupy")
    x = only_there(mat.arange(6).reshape(2, 3))
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
from tests.cuda.test_dlpack import Foreign
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
