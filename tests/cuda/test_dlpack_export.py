"""Exports on a device by DLPack and the CUDA array interface: values, streams, lifetimes."""

import gc
import weakref
from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from ..support.dlpack import (
    COPIED,
    HOST,
    LAYOUTS,
    READ_ONLY,
    Exporter,
    contents,
    facts,
    probe,
    sample,
)
from ..support.needs import native
from .computing import DTYPES, add, only_there, times
from .foreign import THERE, at

pytestmark = [pytest.mark.host, native]


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
        assert (address, strides) == (at(x), x.element_strides)
    assert_array_equal(x.to_numpy(), reference)
    assert x.size == 0 or address
    del holder
    x.fill_(0)


def test_a_lease_there_keeps_it_from_being_written_anywhere(dev):
    x = only_there(mat.arange(4.0))
    capsule = x.__dlpack__(max_version=(1, 0), stream=1)
    for write in (lambda: add(x), lambda: x.fill_(0), lambda: x.facet("array", "io").__enter__(),
                  lambda: x.drop("cuda")):
        with pytest.raises(mat.ConflictError, match=r"test_dlpack_export.py:\d+"):
            write()
    assert x.tolist() == [0, 1, 2, 3]
    assert times(x, 2).tolist() == [0, 2, 4, 6]
    del capsule
    add(x)
    assert x.tolist() == [1, 2, 3, 4]


def test_leaving_the_block_leaves_it_to_who_has_it(cuda):
    with mat.use_device("cuda", required=True) as dev:
        x = only_there(mat.arange(1000.0))
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
    x = only_there(mat.arange(1000.0))
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
    x = only_there(mat.arange(12.0).reshape(3, 4))
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
    x = only_there(mat.arange(4.0))
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


def test_where_computing_is_not_allowed_there_it_is_lent_on_the_host(dev, two_devices):
    with mat.settings(device_enabled=False):
        x = mat.arange(4.0)
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
    steps = x.element_strides
    assert x.size == 0 or (steps if seen.strides is None else tuple(seen.strides)) == steps
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
    with dev.gpu.current():
        driver.cuStreamDestroy(stream)


@pytest.mark.unchecked("the check waits for the device at the end of each look")
@pytest.mark.parametrize(("stream", "waits"), [(None, 0), (1, 0), (2, 1), (-1, 0), ("own", 0)])
def test_streams_that_wait(cuda, dev, stream, waits):
    driver = pytest.importorskip("cuda.bindings.driver")
    x = only_there(mat.zeros(1000))
    stream = int(dev.gpu.stream) if stream == "own" else stream
    cuda.delay()
    x += 7
    before = cuda.calls("cuStreamWaitEvent")
    capsule = x.__dlpack__(max_version=(1, 0), stream=stream)
    assert cuda.calls("cuStreamWaitEvent") == before + waits
    if stream != -1:  # then the consumer's stream, the legacy one by default, finds the result
        found = np.empty(1000)
        with x.facet("cuda", "input") as a, dev.gpu.current():
            driver.cuMemcpyDtoHAsync(found.ctypes.data, a.address, found.nbytes,
                                     driver.CUstream(stream or 1))
            driver.cuStreamSynchronize(driver.CUstream(stream or 1))
        assert (found == 7).all()
    del capsule


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
    x = only_there(mat.arange(4.0))
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
    x = mat.arange(6.0).reshape(2, 3).astype("float32")
    with pytest.raises(AttributeError, match="no fresh copy on a GPU"):
        mat.zeros(2).__cuda_array_interface__  # noqa: B018
    only_there(x)
    with mat.debug.count_copies() as n:
        seen = x.__cuda_array_interface__
        turned = x.T.__cuda_array_interface__
    assert (n.h2d, n.d2h) == (0, 0)
    assert seen == {"shape": (2, 3), "typestr": "<f4", "data": (at(x), True), "strides": None,
                    "version": 3,
                    "stream": int(dev.gpu.stream)}
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
    for x in (mat.zeros(3), only_there(mat.arange(4.0)), add(mat.arange(6.0))[::2],
              mat.arange(3.0).fill_(2),
              only_there(mat.zeros(0))):
        before, version, held = x.fresh, x.storage.version, set(x.storage.handles)
        waits = "cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize", "cuMemAllocAsync"
        repr(x)  # which takes a temporary copy of what it shows
        counted = [cuda.calls(f) for f in waits]
        with mat.debug.count_copies() as n:
            for name in set(dir(x)) - {"ctypes", "data"}:  # which export the host's copy
                with suppress(mat.ShapeError):  # x.mT of fewer than two axes
                    getattr(x, name, None)
            x.__dlpack_device__()
        assert [cuda.calls(f) for f in waits] == counted
        probe(x)
        assert (n.h2d, n.d2h, n.packs) == (0, 0, 0)
        assert (x.fresh, x.storage.version, set(x.storage.handles),
                x.storage.accesses) == (before, version, held, [])
