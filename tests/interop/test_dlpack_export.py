"""DLPack exports on the host: their contents, how long they last, and how they end."""

import ctypes
import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.support.dlpack_abi import compiled

from ..support.dlpack import (
    COPIED,
    HOST,
    LAYOUTS,
    READ_ONLY,
    Exporter,
    address,
    contents,
    facts,
    own_address,
    probe,
    sample,
)
from ..support.layouts import NUMPY_DTYPES
from ..support.needs import native

pytestmark = pytest.mark.host


DTYPES = [*NUMPY_DTYPES, "bfloat16"]


# Exporter


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.sample(3)
def test_numpy_takes_every_dtype_and_layout(dtype, layout):
    reference = LAYOUTS[layout](sample(dtype))
    x = LAYOUTS[layout](mat.array(sample(dtype)))
    a = np.from_dlpack(x)
    assert (a.dtype, a.shape) == (reference.dtype, reference.shape)
    assert_array_equal(a, reference)
    copied = layout == "reversed"
    assert a.flags.writeable == copied
    assert a.size == 0 or (address(a) == own_address(x)) != copied


@native
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.sample(3)
def test_the_contents_of_capsules(dtype, layout):
    x = LAYOUTS[layout](mat.array(sample(dtype)))
    holder, found = contents(x.__dlpack__(max_version=(1, 0)))
    where, shape, strides, device, kind, flags = found
    code = {"i": 0, "u": 1, "f": 2, "V": 4, "c": 5, "b": 6}[x.dtype.kind]
    assert (shape, device, kind) == (x.shape, HOST, (code, 8 * x.itemsize, 1))
    copied = layout == "reversed"
    assert flags == (COPIED if copied else READ_ONLY)
    if not copied:
        # while it is exported, the address is that of the capsule
        assert (where, strides) == (own_address(x), x.element_strides)
    del holder
    assert x.storage.accesses == []


@native
def test_a_broadcast_is_exported_with_its_strides():
    x = mat.array([1.0, 2, 3]).broadcast_to(2, 3)
    assert facts(x)[2] == (0, 1)
    assert_array_equal(np.from_dlpack(x), [[1, 2, 3], [1, 2, 3]])


def test_an_exported_mat_cannot_be_written_until_the_export_ends():
    x = mat.array([1.0, 2, 3])
    a = np.from_dlpack(x)
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 7
    part = a[1:]
    del a
    with pytest.raises(mat.ConflictError, match=r"test_dlpack_export.py:\d+"):
        x.fill_(0)
    assert mat.sum(x).item() == 6
    del part
    assert x.fill_(0).tolist() == [0, 0, 0]
    assert x.storage.accesses == []


def test_the_line_is_that_of_the_user_not_of_a_library():
    library = {}
    source = "def keep(x):\n    return [x.__dlpack__(max_version=(1, 0))]"
    exec(compile(source, "/lib/site-packages/keeping.py", "exec"), library)
    x = mat.zeros(2)
    kept, line = library["keep"](x), sys._getframe().f_lineno
    with pytest.raises(mat.ConflictError, match=rf"test_dlpack_export.py:{line}\b"):
        x.fill_(0)
    assert kept


def test_the_memory_outlives_the_mat():
    x = mat.array([1.0, 2, 3])
    gone = weakref.ref(x.storage)
    a = np.from_dlpack(x)
    del x
    gc.collect()
    assert a.tolist() == [1, 2, 3]
    del a
    gc.collect()
    assert gone() is None


def test_a_copy_is_the_consumers_own():
    x = mat.array([[1.0, 2], [3, 4]])
    a = np.from_dlpack(x.T, copy=True)
    assert x.storage.accesses == []
    a[0, 0] = 7
    assert (a.tolist(), x.tolist()) == ([[7, 3], [2, 4]], [[1, 2], [3, 4]])
    if compiled:
        assert facts(x, copy=True)[5] == COPIED


def test_a_consumer_that_knows_nothing_of_read_only_memory_gets_a_copy():
    x = mat.array([1.0, 2, 3])
    for wanted in ({}, {"max_version": None}, {"max_version": (0, 8)}):
        capsule = x.__dlpack__(**wanted)
        assert '"dltensor"' in repr(capsule)
        a = np.from_dlpack(Exporter(capsule))
        x.fill_(0)
        assert a.tolist() == [1, 2, 3]
        x.replace_([1, 2, 3])
        with pytest.raises(mat.ExchangeError, match=r"1\.0"):
            x.__dlpack__(copy=False, **wanted)


def test_no_copy_where_there_has_to_be_one_is_an_error():
    x = mat.array([1.0, 2, 3])
    with pytest.raises(BufferError, match="negative"):
        x[::-1].__dlpack__(max_version=(1, 0), copy=False)
    with mat.use_device("emulated"):
        y = x + x
        with pytest.raises(mat.ExchangeError, match=r"emulated.*host.*copy=None"):
            y.__dlpack__(max_version=(1, 0), copy=False)
        assert y.fresh == {"emulated"}
        assert np.from_dlpack(y).tolist() == [2, 4, 6]
        assert y.fresh == {"emulated", "host"}
        np.from_dlpack(y, copy=False)
    # a Mat that was never written has no other memory
    assert np.from_dlpack(mat.zeros(2), copy=False).tolist() == [0, 0]


@pytest.mark.parametrize("device", [(2, 0), (1, 1), (10, 0)])
def test_other_devices_are_an_error(device):
    x = mat.zeros(2)
    with pytest.raises(BufferError, match=rf"\({device[0]}, {device[1]}\).*use_device"):
        x.__dlpack__(max_version=(1, 0), dl_device=device)
    assert x.fresh == set()


@pytest.mark.parametrize("stream", [0, 1, -1, 2, 12345])
def test_the_host_has_no_streams(stream):
    x = mat.zeros(2)
    with pytest.raises(BufferError, match=f"stream.*{stream}"):
        x.__dlpack__(max_version=(1, 0), stream=stream)
    assert x.fresh == set()


def test_the_device_of_exports():
    x = mat.zeros(2)
    assert x.__dlpack_device__() == HOST
    with mat.use_device("emulated"):
        assert x.__dlpack_device__() == HOST
    assert np.from_dlpack(x, device="cpu").tolist() == [0, 0]
    assert np.from_dlpack(mat.empty(0, 3)).shape == (0, 3)


def test_torn_data_is_not_exported():
    x = mat.array([1.0, 2])
    with pytest.raises(ZeroDivisionError), x.facet("array", "io"):
        raise ZeroDivisionError
    with pytest.raises(mat.TornError):
        x.__dlpack__(max_version=(1, 0))
    with x.facet("array", "output") as a:
        a[:] = 3
        with pytest.raises(mat.ConflictError):
            x.__dlpack__(max_version=(1, 0))
    assert np.from_dlpack(x).tolist() == [3, 3]


# Capsules and what consumers do to them


def test_a_capsule_that_nobody_takes_ends_the_export():
    x = mat.zeros(2)
    capsule = x.__dlpack__(max_version=(1, 0))
    assert len(x.storage.accesses) == 1
    del capsule
    assert x.storage.accesses == []


@native
def test_a_capsule_is_taken_once():
    x = mat.array([1.0, 2])
    exporter = Exporter(x.__dlpack__(max_version=(1, 0)))
    y = mat.from_dlpack(exporter)
    with pytest.raises(BufferError, match="taken already"):
        mat.from_dlpack(exporter)
    with pytest.raises((ValueError, RuntimeError, BufferError)):
        np.from_dlpack(exporter)
    assert y.tolist() == [1, 2]
    del y
    assert x.storage.accesses == []


@pytest.mark.parametrize("thrown", [ValueError, KeyboardInterrupt, MemoryError])
def test_a_consumer_that_fails_ends_the_export(thrown):
    x = mat.zeros(2)

    def consume():
        capsule = x.__dlpack__(max_version=(1, 0))
        assert capsule
        raise thrown("in the middle")

    with pytest.raises(thrown, match="in the middle"):
        consume()
    gc.collect()
    assert x.storage.accesses == []


@native
def test_the_error_of_a_consumer_survives_the_end_of_the_export():
    """A consumer in C drops the capsule while an error of its own is set."""
    x = mat.zeros(2)
    kept = []

    class Late:
        def __del__(self):
            try:
                raise LookupError("inner")
            except LookupError:
                kept.append(1)

    core = pytest.importorskip("mat._core")
    for flags in (0, -1):
        with pytest.raises(TypeError, match="int"):
            int(core.make_capsule(Late(), 0, (1,), (1,), HOST, (2, 64), flags))
    assert kept == [1, 1]
    with pytest.raises(TypeError, match="int"):
        int(x.__dlpack__(max_version=(1, 0)))
    assert x.storage.accesses == []


@native
def test_arguments_of_compiled_code_are_checked():
    core = pytest.importorskip("mat._core")
    x = mat.zeros(2)
    before = sys.getrefcount(x)
    for shape, error in ((("no number",), TypeError), ((1 << 70,), OverflowError),
                         ([3], TypeError)):
        with pytest.raises(error):
            core.make_capsule(x, 0, shape, (1,), HOST, (2, 64), 0)
    assert sys.getrefcount(x) == before


def test_an_export_ends_in_another_thread():
    x = mat.zeros(1000)
    held = [np.from_dlpack(x) for _ in range(50)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert x.storage.accesses == []


@native
@pytest.mark.skipif(sys.platform != "linux", reason="by the C library's threads")
@pytest.mark.parametrize(("name", "at", "flags"),
                         [(b"dltensor_versioned", 16, READ_ONLY), (b"dltensor", 56, -1)])
def test_an_export_ends_in_a_thread_that_python_does_not_know(name, at, flags):
    """A library's own threads call the deleter of the struct, whose position DLPack defines."""
    x = mat.zeros(2)
    capsule = pytest.importorskip("mat._core").make_capsule(np.from_dlpack(x), 8, (2,), (1,), HOST,
                                                          (2, 64), flags)
    api, threads = ctypes.pythonapi, ctypes.CDLL(None)
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    managed = api.PyCapsule_GetPointer(ctypes.py_object(capsule), name)
    api.PyCapsule_SetName(ctypes.py_object(capsule), b"used")
    deleter = ctypes.c_void_p.from_address(managed + at).value
    thread = ctypes.c_ulong()
    assert len(x.storage.accesses) == 1
    assert threads.pthread_create(ctypes.byref(thread), None, ctypes.c_void_p(deleter),
                                  ctypes.c_void_p(managed)) == 0
    assert threads.pthread_join(thread, None) == 0
    assert x.storage.accesses == []


def test_many_threads_at_once():
    x, b = mat.arange(1000.0), np.arange(1000.0)
    wrong = []

    def work():
        wrong.extend(k for k in range(300) if np.from_dlpack(x)[-1] != 999
                     or mat.from_dlpack(b).item(999) != 999)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert x.storage.accesses == []
    x.fill_(0)


def test_ten_thousand_of_each_leave_nothing():
    x, b = mat.zeros(3), np.zeros(3)
    before = sys.getrefcount(b)
    for _ in range(10_000):
        np.from_dlpack(x)
        mat.from_dlpack(b)
        x.__dlpack__(max_version=(1, 0))
        x.__dlpack__()
    gc.collect()
    assert x.storage.accesses == []
    assert sys.getrefcount(b) == before
    kept = [mat.from_dlpack(b) for _ in range(100)]
    gone = [weakref.ref(y.storage) for y in kept]
    del kept
    gc.collect()
    assert [ref() for ref in gone] == [None] * 100
    assert sys.getrefcount(b) == before


# Probes of attributes


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_probing_attributes_copies_nothing(device):
    with mat.use_device(device):
        for x in (mat.zeros(3), mat.ones(2, 2).fill_(3), mat.ones(2, 2) + 1, mat.arange(4.0) + 1,
                  mat.zeros(0)):
            before, version, held = x.fresh, x.storage.version, set(x.storage.handles)
            with mat.debug.count_copies() as n, mat.debug.count_allocations() as made:
                probe(x)
                probe(x)
            assert (n.h2d, n.d2h, n.packs, n.bytes) == (0, 0, 0, 0)
            assert (x.fresh, x.storage.version, set(x.storage.handles),
                    x.storage.accesses) == (before, version, held, [])
            assert made.count <= 4  # views, which take no memory


def test_without_a_gpu_there_is_no_cuda_array_interface():
    x = mat.ones(3).fill_(2)
    assert not hasattr(x, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="use_device"):
        x.__cuda_array_interface__  # noqa: B018
