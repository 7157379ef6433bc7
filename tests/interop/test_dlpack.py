"""DLPack on the host, both ways: what NumPy, torch and JAX see, who owns what and for how long, and
how all of it ends.
"""

import ctypes
import gc
import inspect
import os
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

import mat
from mat.support.dlpack_abi import compiled

from ..matrix.test_views import pairs
from ..support.layouts import NUMPY_DTYPES
from ..support.needs import native

pytestmark = pytest.mark.host

ROOT = Path(__file__).parents[2]
DTYPES = [*NUMPY_DTYPES, "bfloat16"]
LAYOUTS = {
    "whole": lambda a: a, "transposed": lambda a: a.T, "strided": lambda a: a[::2, 1::2],
    "displaced": lambda a: a[1:],
    "block": lambda a: a[1:3, 2:4], "reversed": lambda a: a[::-1],
    "element": lambda a: a[1, 2, ...], "empty": lambda a: a[:0],
    "column": lambda a: a[:, 2],
}
READ_ONLY, COPIED = 1, 2
HOST = (1, 0)


def sample(dtype="float64"):
    """4 x 5 elements as an array."""
    return (np.arange(20) % 2 if dtype == "bool"
            else np.arange(20)).reshape(4, 5).astype(mat.Mat(0, dtype).dtype)


def address(a):
    return a.__array_interface__["data"][0]


def own_address(x):
    with x.facet("foreign", "input") as p:
        return p.address


def told(capsule):
    """What a capsule says, and what keeps it: whoever has that, has the memory."""
    return pytest.importorskip("mat._core").take(capsule)


def facts(x, **wanted):
    """(address, shape, strides, device, type, flags) of what `x` lends, which is given back at
    once.
    """
    return told(x.__dlpack__(**{"max_version": (1, 0), **wanted}))[1]


class Lending:
    """What another library has, with a capsule of its own choice."""

    def __init__(self, capsule, device=HOST):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **wanted):
        self.wanted = wanted
        return self.capsule() if callable(self.capsule) else self.capsule

    def __dlpack_device__(self):
        return self.device


# Lending


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
def test_what_is_told_is_right(dtype, layout):
    x = LAYOUTS[layout](mat.array(sample(dtype)))
    holder, (where, shape, strides, device, kind, flags) = told(x.__dlpack__(max_version=(1, 0)))
    code = {"i": 0, "u": 1, "f": 2, "V": 4, "c": 5, "b": 6}[x.dtype.kind]
    assert (shape, device, kind) == (x.shape, HOST, (code, 8 * x.itemsize, 1))
    copied = layout == "reversed"
    assert flags == (COPIED if copied else READ_ONLY)
    if not copied:
        # while it is lent, it is where it was told to be
        assert (where, strides) == (own_address(x), x.strides)
    del holder
    assert x.storage.accesses == []


@native
def test_a_broadcast_is_lent_as_it_is():
    x = mat.array([1, 2, 3]).broadcast_to(2, 3)
    assert facts(x)[2] == (0, 1)
    assert_array_equal(np.from_dlpack(x), [[1, 2, 3], [1, 2, 3]])


def test_what_is_lent_cannot_be_written_until_it_is_given_back():
    x = mat.array([1, 2, 3])
    a = np.from_dlpack(x)
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 7
    part = a[1:]
    del a
    with pytest.raises(mat.ConflictError, match=r"test_dlpack.py:\d+"):
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
    with pytest.raises(mat.ConflictError, match=rf"test_dlpack.py:{line}\b"):
        x.fill_(0)
    assert kept


def test_the_memory_outlives_the_mat():
    x = mat.array([1, 2, 3])
    gone = weakref.ref(x.storage)
    a = np.from_dlpack(x)
    del x
    gc.collect()
    assert a.tolist() == [1, 2, 3]
    del a
    gc.collect()
    assert gone() is None


def test_a_copy_is_the_consumers_own():
    x = mat.array([[1, 2], [3, 4]])
    a = np.from_dlpack(x.T, copy=True)
    assert x.storage.accesses == []
    a[0, 0] = 7
    assert (a.tolist(), x.tolist()) == ([[7, 3], [2, 4]], [[1, 2], [3, 4]])
    if compiled:
        assert facts(x, copy=True)[5] == COPIED


def test_a_consumer_that_knows_nothing_of_read_only_memory_gets_a_copy():
    x = mat.array([1, 2, 3])
    for wanted in ({}, {"max_version": None}, {"max_version": (0, 8)}):
        capsule = x.__dlpack__(**wanted)
        assert '"dltensor"' in repr(capsule)
        a = np.from_dlpack(Lending(capsule))
        x.fill_(0)
        assert a.tolist() == [1, 2, 3]
        x.replace_([1, 2, 3])
        with pytest.raises(mat.ExchangeError, match=r"1\.0"):
            x.__dlpack__(copy=False, **wanted)


def test_no_copy_where_there_has_to_be_one_is_an_error():
    x = mat.array([1, 2, 3])
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
    # what was never written is nowhere else
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


def test_where_it_is_lent():
    x = mat.zeros(2)
    assert x.__dlpack_device__() == HOST
    with mat.use_device("emulated"):
        assert x.__dlpack_device__() == HOST
    assert np.from_dlpack(x, device="cpu").tolist() == [0, 0]
    assert np.from_dlpack(mat.empty(0, 3)).shape == (0, 3)


def test_torn_data_is_not_lent():
    x = mat.array([1, 2])
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


def test_a_capsule_that_nobody_takes_gives_back():
    x = mat.zeros(2)
    capsule = x.__dlpack__(max_version=(1, 0))
    assert len(x.storage.accesses) == 1
    del capsule
    assert x.storage.accesses == []


@native
def test_a_capsule_is_taken_once():
    x = mat.array([1, 2])
    lending = Lending(x.__dlpack__(max_version=(1, 0)))
    y = mat.from_dlpack(lending)
    with pytest.raises(BufferError, match="taken already"):
        mat.from_dlpack(lending)
    with pytest.raises((ValueError, RuntimeError, BufferError)):
        np.from_dlpack(lending)
    assert y.tolist() == [1, 2]
    del y
    assert x.storage.accesses == []


@pytest.mark.parametrize("thrown", [ValueError, KeyboardInterrupt, MemoryError])
def test_a_consumer_that_fails_gives_back(thrown):
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
def test_the_error_of_a_consumer_survives_giving_back():
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
def test_what_compiled_code_is_given_is_checked():
    core = pytest.importorskip("mat._core")
    x = mat.zeros(2)
    before = sys.getrefcount(x)
    for shape, error in ((("no number",), TypeError), ((1 << 70,), OverflowError),
                         ([3], TypeError)):
        with pytest.raises(error):
            core.make_capsule(x, 0, shape, (1,), HOST, (2, 64), 0)
    assert sys.getrefcount(x) == before


def test_giving_back_in_another_thread():
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
def test_giving_back_in_a_thread_that_python_does_not_know(name, at, flags):
    """As a library's own threads do: by the deleter of the struct, whose place DLPack lays down."""
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
    x, b = mat.arange(1000), np.arange(1000.0)
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


# Taking


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.sample(3)
def test_every_dtype_and_layout_of_numpy_is_taken(dtype, layout):
    a = LAYOUTS[layout](sample(dtype))
    x = mat.from_dlpack(a)
    assert (x.dtype, x.shape) == (a.dtype, a.shape)
    assert_array_equal(x.to_numpy(), a)
    x.fill_(1)
    assert_array_equal(a, np.ones_like(a))
    assert x.size == 0 or own_address(x) == address(a)


@given(pairs())
def test_any_chain_of_views_goes_both_ways(pair):
    x, a, _ = pair
    assert_array_equal(np.from_dlpack(x), a, strict=True)
    y = mat.from_dlpack(a)
    assert_array_equal(y.to_numpy(), a, strict=True)
    assert y.size == 0 or own_address(y) == address(a)


def test_a_broadcast_is_taken_and_not_written():
    a = np.zeros((3, 1))
    wide = np.lib.stride_tricks.as_strided(a, (3, 4), (8, 0))
    x = mat.from_dlpack(wide)
    assert x.strides == (1, 0)
    with pytest.raises(mat.AliasError):
        x.fill_(1)


def test_what_is_read_only_stays_so():
    a = np.arange(3.0)
    a.flags.writeable = False
    x = mat.from_dlpack(a)
    with pytest.raises(mat.DirectionError, match="read-only"):
        x.fill_(0)
    y = mat.from_dlpack(a, copy=True).fill_(7)
    assert (a.tolist(), y.tolist()) == ([0, 1, 2], [7, 7, 7])


@native
def test_who_cannot_say_may_not_be_written():
    a = np.arange(3.0)
    x = mat.from_dlpack(Lending(lambda: a.__dlpack__()))
    assert own_address(x) == address(a)
    with pytest.raises(mat.DirectionError):
        x.fill_(0)


def test_the_other_librarys_memory_lives_as_long_as_the_mat():
    class Array(np.ndarray):
        pass

    a = np.arange(4.0).view(Array)
    gone = weakref.ref(a)
    x = mat.from_dlpack(a)
    view = x[1:]
    del a, x
    gc.collect()
    assert gone() is not None
    assert view.tolist() == [1, 2, 3]
    del view
    gc.collect()
    assert gone() is None


def test_close_gives_it_back():
    class Array(np.ndarray):
        pass

    a = np.arange(4.0).view(Array)
    gone = weakref.ref(a)
    x = mat.from_dlpack(a)
    del a
    with pytest.raises(mat.ConflictError, match="from_dlpack"):
        x.drop("host", force=True)
    x.close()
    gc.collect()
    assert gone() is None
    assert x.tolist() == [0, 0, 0, 0]


def test_copies_when_asked():
    a = np.arange(4.0)
    x = mat.from_dlpack(a, copy=True)
    assert x.fill_(9).tolist() == [9, 9, 9, 9]
    assert a.tolist() == [0, 1, 2, 3]
    y = mat.from_dlpack(a, copy=False, device="cpu").fill_(1)
    assert a.tolist() == y.tolist() == [1, 1, 1, 1]
    if compiled:
        with pytest.raises(BufferError):  # what NumPy says to that
            mat.from_dlpack(Lending(lambda: told_never(), (2, 0)), device="cpu", copy=False)


def told_never():
    raise AssertionError("must not be asked")


def test_of_a_mat_it_is_a_view():
    x = mat.arange(4)
    y = mat.from_dlpack(x, device="cpu")
    assert y.storage is x.storage
    assert y is not x
    z = mat.from_dlpack(x, copy=True).fill_(7)
    assert (x.tolist(), z.tolist()) == ([0, 1, 2, 3], [7, 7, 7, 7])


def test_a_library_from_before_1_0():
    a = np.arange(3.0)

    class Old:
        def __dlpack__(self, stream=None):
            assert stream is None
            return a.__dlpack__()

        def __dlpack_device__(self):
            return HOST

    assert mat.from_dlpack(Old()).tolist() == [0, 1, 2]

    class There(Old):
        def __dlpack_device__(self):
            return (10, 0)

    with pytest.raises(mat.ExchangeError, match=r"\(10, 0\)"):
        mat.from_dlpack(There(), device="cpu")


def test_what_cannot_be_taken():
    a = np.arange(3.0)
    for wrong in ([1, 2], 3.0, None, "text"):
        with pytest.raises(mat.DTypeError, match=r"__dlpack__.*mat.array"):
            mat.from_dlpack(wrong)
    with pytest.raises(mat.DeviceError, match="not in use"):
        mat.from_dlpack(Lending(told_never, (2, 0)))
    with pytest.raises(mat.ExchangeError, match=r"\(10, 0\).*device='cpu'"):
        mat.from_dlpack(Lending(told_never, (10, 0)))
    with pytest.raises(mat.FacetError, match="nowhere"):
        mat.from_dlpack(a, device="nowhere")
    for text in (np.array(["a"]), np.zeros(2, "f8, i4"), np.array([None])):
        with pytest.raises((BufferError, TypeError)):
            mat.from_dlpack(text)


@native
@pytest.mark.parametrize(("kind", "shape", "text"), [
    ((2, 128), (3,), "code 2, 128 bits"), ((6, 1), (3,), "code 6"), ((3, 64), (3,), "code 3"),
    ((17, 8), (3,), "code 17"),
    ((2, 64), (-3,), "-3"), ((2, 64), (1 << 40, 1 << 40), "64 bits"),
])
@pytest.mark.sample(3)
def test_odd_capsules_are_refused_and_given_back(kind, shape, text):
    core = pytest.importorskip("mat._core")

    class Owner:
        data = np.zeros(8)

    owner = Owner()
    gone = weakref.ref(owner)
    capsule = core.make_capsule(owner, address(owner.data), shape, (1,) * len(shape), HOST, kind, 0)
    with pytest.raises(mat.MatError, match=text):
        mat.from_dlpack(Lending(capsule))
    del capsule, owner
    gc.collect()
    assert gone() is None


@native
def test_capsules_of_another_device_or_address_are_refused():
    core = pytest.importorskip("mat._core")
    a = np.zeros(4)
    for where, device in ((address(a) + 1, HOST), (0, HOST), (address(a), (2, 0))):
        with pytest.raises(mat.MatError, match=r"address|device"):
            mat.from_dlpack(Lending(core.make_capsule(a, where, (3,), (1,), device, (2, 64), 0)))
    for nothing in (None, 3, a):
        with pytest.raises(BufferError, match="not a DLPack capsule"):
            core.take(nothing)
    assert mat.from_dlpack(Lending(core.make_capsule(a, 0, (0, 3), (3, 1), HOST, (2, 64),
                                                   0))).shape == (0, 3)


def test_page_locked_memory_of_others_is_the_hosts():
    a = np.arange(3.0)
    if not compiled:
        pytest.skip("NumPy's capsules")
    core = pytest.importorskip("mat._core")
    x = mat.from_dlpack(Lending(core.make_capsule(a, address(a), (3,), (1,), (3, 0), (2, 64), 0),
                                (3, 0)))
    assert x.scal_(2).tolist() == a.tolist() == [0, 2, 4]


# torch and JAX


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


TORCH = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "float32", "float64",
         "complex64", "complex128", "bfloat16"]


@native
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TORCH)
@pytest.mark.sample(3)
def test_torch_both_ways(torch, dtype, layout):
    x = LAYOUTS[layout](mat.array(sample(dtype)))
    reference = x.astype("float32").to_numpy() if dtype == "bfloat16" else x.to_numpy()
    t = torch.from_dlpack(x)
    assert (str(t.dtype), tuple(t.shape)) == (f"torch.{dtype}", x.shape)
    assert_array_equal((t.float() if dtype == "bfloat16" else t).numpy(), reference)
    assert t.numel() == 0 or (t.data_ptr() == own_address(x)) == (layout != "reversed")
    if layout != "reversed":
        t = LAYOUTS[layout](torch.arange(20).reshape(4, 5).to(t.dtype))
    y = mat.from_dlpack(t)
    assert (y.dtype, y.shape, y.strides) == (x.dtype, x.shape, tuple(t.stride()))
    y.fill_(1)
    assert t.float().sum() == t.numel() if not dtype.startswith("complex") else True
    assert t.numel() == 0 or own_address(y) == t.data_ptr()


@native
def test_torchs_other_ways_in(torch):
    x = mat.array([[1, 2], [3, 4]])
    for t in (torch.as_tensor(x), torch.asarray(x), torch.from_dlpack(x, device="cpu"),
              torch.utils.dlpack.from_dlpack(x)):
        assert t.tolist() == [[1, 2], [3, 4]]
        assert t.data_ptr() == own_address(x)
    del t
    gc.collect()
    t = torch.from_dlpack(x, copy=True)
    assert t.data_ptr() != own_address(x)
    assert x.storage.accesses == []


@native
def test_torch_keeps_the_lease_with_its_graph(torch):
    x = mat.array([1.0, 2.0])
    w = torch.ones(2, dtype=torch.float64, requires_grad=True)
    loss = (w * torch.from_dlpack(x)).sum()
    with pytest.raises(mat.ConflictError):
        x.fill_(0)
    loss.backward()
    del loss
    gc.collect()
    assert w.grad.tolist() == [1, 2]
    x.fill_(0)
    with pytest.raises((BufferError, RuntimeError), match=r"gradient|require"):
        mat.from_dlpack(w)
    assert mat.from_dlpack(w.detach()).tolist() == [1, 1]


@native
def test_jax_both_ways():
    jax = pytest.importorskip("jax")
    x = mat.array([[1, 2, 3], [4, 5, 6]], dtype="float32")
    for y in (x, x.T, x[::-1], x[:, 1], x[0, 1, ...], x.astype("bfloat16"), x.astype("int8")):
        a = jax.numpy.from_dlpack(y)
        assert_array_equal(np.asarray(a, np.float32), y.astype("float32").to_numpy())
        del a
        b = mat.from_dlpack(jax.numpy.asarray(y.to_numpy()))
        assert b.equals(y)
        with pytest.raises(mat.DirectionError, match="read-only"):  # JAX's arrays do not change
            b.fill_(0)
    gc.collect()
    x.fill_(0)


# How processes end


def run(body, rc=0):
    """Run a script that must end well, and in silence."""
    setup = "import gc, os, sys, threading\nimport numpy as np\nimport mat\nx = mat.arange(1000)\n"
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", setup + body],
                          capture_output=True, text=True,
                          timeout=300, cwd=ROOT, check=False, env=environment)
    assert (done.returncode, done.stderr) == (rc, "")
    return done.stdout


LIBRARIES = {
    "numpy": ("", "np.from_dlpack({})", "np.arange(3.0)"),
    "torch": ("import torch\n", "torch.from_dlpack({})", "torch.arange(3.0)"),
    "jax": ("import jax.numpy as jnp\n", "jnp.from_dlpack({})", "jnp.arange(3.0)"),
}
ENDINGS = {
    "a live export": "held = {take}\n",
    "one in a cycle": "cycle = [{take}]\ncycle.append(cycle)\n",
    "one on a module that is cleared last": "sys.held = {take}\n",
    "a live import": "taken = mat.from_dlpack({make})\nsys.other = taken.T\n",
    "there and back": "back = mat.from_dlpack({take})\nsys.more = np.from_dlpack(back)\n",
    "capsules that nobody took": "capsule = x.__dlpack__(max_version=(1, 0))\nsys.old = "
                                 "x.__dlpack__()\n",
    "an export in a thread that never ends": "def work():\n    own = {take}\n    ready.set()\n    "
                                             "threading.Event().wait()\n"
                                             "ready = threading.Event()\n"
                                             "threading.Thread(target=work, "
                                             "daemon=True).start()\nready.wait()\n",
    "an export given up in another thread": "many = [{take} for _ in range(20)]\nt = "
                                            "threading.Thread(target=many.clear)\n"
                                            "t.start()\nt.join()\n",
    "an error with it in its frames": "def fail():\n    last = {take}\n    raise "
                                      "SystemExit(3)\nfail()\n",
}
CASES = {name: ("numpy", (name,)) for name in ENDINGS} | {f"all, {who}": (who, tuple(ENDINGS))
                                                          for who in ("torch", "jax")}


@native
@pytest.mark.parametrize(("library", "endings"), CASES.values(), ids=CASES)
@pytest.mark.sample(3)
def test_the_interpreter_ends_well_with(library, endings):
    if library != "numpy":
        pytest.importorskip(library)
    setup, take, make = LIBRARIES[library]
    take = take.format("x.astype('float32')" if library == "jax" else "x")
    body = "".join(ENDINGS[name].format(take=take, make=make) for name in endings)
    run(setup + body, rc=3 if "SystemExit" in body else 0)


FORK = """
held, taken = np.from_dlpack(x), mat.from_dlpack(np.ones(3))
child = os.fork()
if not child:
    assert held.sum() == 499500
    try:
        x.fill_(0)
        os._exit(1)
    except mat.ConflictError:
        pass
    del held, taken
    gc.collect()
    x.fill_(0)
    y = np.from_dlpack(x)
    sys.exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert held.sum() == 499500
del held
x.fill_(1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_leases_of_its_own():
    run(FORK)


# What is read by those who only look


PROTOCOLS = ["__array_interface__", "__array_struct__", "__cuda_array_interface__", "__dlpack__",
             "__dlpack_device__",
             "__array__", "__buffer__", "__cupy_get_ndarray__", "__cuda_stream__",
             "__arrow_array__", "__arrow_c_array__",
             "__dataframe__", "__torch_function__", "__jax_array__", "_repr_html_",
             "_ipython_canary_method_should_not_exist_"]


def look_everywhere(x):
    """What inspectors, completion and protocol probes do."""
    if x.ndim > 1:  # x.mT of fewer axes is an error that inspect does not take, as with NumPy
        inspect.getmembers(x)
    for name in {*dir(x), *PROTOCOLS}:
        with suppress(mat.ShapeError):
            getattr(x, name, None)
    repr(x)
    format(x)
    x.__dlpack_device__()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_looking_at_what_there_is_moves_nothing(device):
    with mat.use_device(device):
        for x in (mat.zeros(3), mat.ones(2, 2).fill_(3), mat.ones(2, 2) + 1, mat.arange(4) + 1,
                  mat.zeros(0)):
            before, version, held = x.fresh, x.storage.version, set(x.storage.handles)
            with mat.debug.count_copies() as n, mat.debug.count_allocations() as made:
                look_everywhere(x)
                look_everywhere(x)
            assert (n.h2d, n.d2h, n.packs, n.bytes) == (0, 0, 0, 0)
            assert (x.fresh, x.storage.version, set(x.storage.handles),
                    x.storage.accesses) == (before, version, held, [])
            assert made.count <= 4  # views, which take no memory


def test_without_a_gpu_there_is_no_cuda_array_interface():
    x = mat.ones(3).fill_(2)
    assert not hasattr(x, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="use_device"):
        x.__cuda_array_interface__  # noqa: B018


# Without compiled kernels


def test_without_compiled_kernels_numpy_makes_the_capsules():
    done = subprocess.run([sys.executable, "-c", """
import numpy as np, mat
x = mat.arange(4)
a = np.from_dlpack(x)
try:
    x.fill_(0)
    raise SystemExit(1)
except mat.ConflictError:
    pass
assert not a.flags.writeable and a.tolist() == [0, 1, 2, 3]
del a
x.fill_(0)
assert np.from_dlpack(x[::-1], copy=True).flags.writeable
b = np.arange(3.0)
assert mat.from_dlpack(b).scal_(2).tolist() == b.tolist()
try:
    x.astype("bfloat16").__dlpack__(max_version=(1, 0))
    raise SystemExit(2)
except BufferError as error:
    assert "bfloat16" in str(error)
"""], capture_output=True, text=True, timeout=120, cwd=ROOT, check=False, env={**os.environ, "MAT_NATIVE": "0"})
    assert (done.returncode, done.stderr) == (0, "")
