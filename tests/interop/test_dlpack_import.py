"""DLPack imports on the host: what Mats see of other libraries' memory, and how long it lives."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

import mat
from mat.support.dlpack_abi import compiled

from ..matrix.test_views import pairs
from ..support.dlpack import (
    HOST,
    LAYOUTS,
    Exporter,
    address,
    never_called,
    own_address,
    sample,
)
from ..support.layouts import NUMPY_DTYPES
from ..support.needs import native

pytestmark = pytest.mark.host


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.sample(3)
def test_every_dtype_and_layout_of_numpy_is_imported(dtype, layout):
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


def test_a_broadcast_is_imported_and_not_written():
    a = np.zeros((3, 1))
    wide = np.lib.stride_tricks.as_strided(a, (3, 4), (8, 0))
    x = mat.from_dlpack(wide)
    assert x.element_strides == (1, 0)
    with pytest.raises(mat.AliasError):
        x.fill_(1)


def test_read_only_arrays_give_read_only_mats():
    a = np.arange(3.0)
    a.flags.writeable = False
    x = mat.from_dlpack(a)
    with pytest.raises(mat.DirectionError, match="read-only"):
        x.fill_(0)
    y = mat.from_dlpack(a, copy=True).fill_(7)
    assert (a.tolist(), y.tolist()) == ([0, 1, 2], [7, 7, 7])


@native
def test_exporters_that_cannot_say_are_read_only():
    a = np.arange(3.0)
    x = mat.from_dlpack(Exporter(lambda: a.__dlpack__()))
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


def test_close_releases_it():
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
            mat.from_dlpack(Exporter(lambda: never_called(), (2, 0)), device="cpu", copy=False)


def test_of_a_mat_it_is_a_view():
    x = mat.arange(4.0)
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


def test_errors_of_imports():
    a = np.arange(3.0)
    for wrong in ([1, 2], 3.0, None, "text"):
        with pytest.raises(mat.DTypeError, match=r"__dlpack__.*mat.array"):
            mat.from_dlpack(wrong)
    with pytest.raises(mat.DeviceError, match="not in use"):
        mat.from_dlpack(Exporter(never_called, (2, 0)))
    with pytest.raises(mat.ExchangeError, match=r"\(10, 0\).*device='cpu'"):
        mat.from_dlpack(Exporter(never_called, (10, 0)))
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
def test_odd_capsules_are_refused_and_released(kind, shape, text):
    core = pytest.importorskip("mat._core")

    class Owner:
        data = np.zeros(8)

    owner = Owner()
    gone = weakref.ref(owner)
    capsule = core.make_capsule(owner, address(owner.data), shape, (1,) * len(shape), HOST, kind, 0)
    with pytest.raises(mat.MatError, match=text):
        mat.from_dlpack(Exporter(capsule))
    del capsule, owner
    gc.collect()
    assert gone() is None


@native
def test_capsules_of_another_device_or_address_are_refused():
    core = pytest.importorskip("mat._core")
    a = np.zeros(4)
    for where, device in ((address(a) + 1, HOST), (0, HOST), (address(a), (2, 0))):
        with pytest.raises(mat.MatError, match=r"address|device"):
            mat.from_dlpack(Exporter(core.make_capsule(a, where, (3,), (1,), device, (2, 64), 0)))
    for nothing in (None, 3, a):
        with pytest.raises(BufferError, match="not a DLPack capsule"):
            core.take(nothing)
    assert mat.from_dlpack(Exporter(core.make_capsule(a, 0, (0, 3), (3, 1), HOST, (2, 64),
                                                   0))).shape == (0, 3)


def test_page_locked_memory_is_host_memory():
    a = np.arange(3.0)
    if not compiled:
        pytest.skip("NumPy's capsules")
    core = pytest.importorskip("mat._core")
    x = mat.from_dlpack(Exporter(core.make_capsule(a, address(a), (3,), (1,), (3, 0), (2, 64), 0),
                                (3, 0)))
    assert x.scal_(2).tolist() == a.tolist() == [0, 2, 4]
