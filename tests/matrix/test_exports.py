"""Exports: arrays that share the memory of a Mat keep it from being written, and they end
when the array is gone.
"""

import gc
import sys
import threading
import weakref
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import mat
from mat.core import cube
from mat.core.compiled import BLOCKS
from mat.core.export import KEPT_BY_EXPORTS
from mat.core.registry import facet_named
from mat.matrix.exports import Export

from ..support.layouts import NUMPY_DTYPES

DTYPES = [*NUMPY_DTYPES, "bfloat16"]
LAYOUTS = {
    "whole": lambda x: x, "transposed": lambda x: x.T, "strided": lambda x: x[::2, 1:],
    "reversed": lambda x: x[::-1],
    "displaced": lambda x: x[1:], "broadcast": lambda x: x[1].broadcast_to(3, 5),
    "element": lambda x: x[1, 2, ...],
    "empty": lambda x: x[:0],
}
buffers = pytest.mark.skipif(not BLOCKS.enabled and sys.version_info < (3, 12),
                             reason="Python asks classes for buffers from 3.12 on")


def sample(dtype):
    """A 4 x 5 Mat and the same as an array."""
    a = (np.arange(20) % 2 if dtype == "bool"
         else np.arange(20)).reshape(4, 5).astype(mat.Mat(0, dtype).dtype)
    return mat.array(a), a


def like(layout, a):
    return LAYOUTS[layout](a) if layout != "broadcast" else np.broadcast_to(a[1], (3, 5))


def address(a):
    return a.__array_interface__["data"][0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.sample(3)
def test_asarray_shows_the_memory_itself_read_only(dtype, layout):
    whole, reference = sample(dtype)
    x = LAYOUTS[layout](whole)
    a = np.asarray(x)
    assert (type(a), a.dtype, a.shape) == (np.ndarray, x.dtype, x.shape)
    assert_array_equal(a, like(layout, reference))
    with x.facet("foreign", "input") as p:
        assert a.size == 0 or address(a) == p.address
    assert a.size == 0 or a.strides == tuple(s * x.itemsize for s in x.element_strides)
    with pytest.raises(ValueError, match="read-only"):
        a[...] = 0
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        a.flags.writeable = True


WRITES = {
    "an operation": lambda x: x.fill_(7), "an operator": lambda x: x.__iadd__(1),
    "out": lambda x: mat.exp(x, out=x),
    "a verb": lambda x: mat.axpy(2, x, x), "random numbers": lambda x: x.uniform_(),
    "an element": lambda x: x.__setitem__((0, 0), 7), "a slice": lambda x: x.__setitem__(0, 7),
    "indices": lambda x: x.__setitem__([0, 1], 7), "replace_": lambda x: x.replace_(x.tolist()),
    "a block": lambda x: x.facet("backing", "io").__enter__(),
    "an output block": lambda x: x.facet("array", "output").__enter__(),
    "close": lambda x: x.close(), "drop": lambda x: x.drop("host", force=True),
}


@pytest.mark.host
@pytest.mark.parametrize("write", WRITES)
def test_while_it_lives_writing_is_a_conflict_that_names_its_line(write):
    x = mat.array([[1.0, 2], [3, 4]])
    a, line = np.asarray(x), sys._getframe().f_lineno
    part = a[1:].T  # whatever shares the memory shares the export
    del a
    with pytest.raises(mat.ConflictError, match=rf"test_exports.py:{line}\b.*copy"):
        WRITES[write](x)
    assert x.tolist() == [[1, 2], [3, 4]]
    del part
    WRITES[write](x)


@pytest.mark.host
def test_any_view_of_the_elements_is_protected_in_any_thread():
    x = mat.zeros(4, 4).fill_(1)
    a = np.asarray(x[1])
    found = []

    def write():
        try:
            x[3].fill_(2)  # other elements
            x[:, 2].fill_(3)
        except mat.ConflictError as error:
            found.append(str(error))

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert "exported as facet 'array'" in found[0]
    assert a.tolist() == [1, 1, 1, 1]
    assert x[3].to_numpy().tolist() == [2, 2, 2, 2]


@pytest.mark.host
def test_reading_goes_on_and_further_exports_share_the_memory():
    x = mat.arange(4.0)
    a, b = np.asarray(x), np.asarray(x)
    assert np.shares_memory(a, b)
    assert (mat.sum(x).item(), (x + 1).tolist(), x[2],
            x.T.tolist()) == (6, [1, 2, 3, 4], 2, [0, 1, 2, 3])
    del a
    with pytest.raises(mat.ConflictError):
        x.fill_(0)
    del b
    assert x.fill_(0).tolist() == [0, 0, 0, 0]


@pytest.mark.host
def test_nothing_is_lent_while_somebody_writes():
    x = mat.zeros(3)
    with x.facet("array", "io"), pytest.raises(mat.ConflictError, match="test_exports"):
        np.asarray(x)
    assert np.asarray(x).tolist() == [0, 0, 0]
    assert x.storage.accesses == []


def test_the_memory_outlives_the_mat():
    x = mat.array([1.0, 2, 3])
    gone = weakref.ref(x.storage)
    a = np.asarray(x)
    del x
    gc.collect()
    assert a.tolist() == [1, 2, 3]
    del a
    gc.collect()
    assert gone() is None


@pytest.mark.host
def test_ten_thousand_exports_leave_nothing():
    x = mat.zeros(3)
    for _ in range(10_000):
        np.asarray(x)
    assert x.storage.accesses == []
    kept = [np.asarray(x) for _ in range(100)]
    assert len(x.storage.accesses) == 100
    del kept
    assert x.storage.accesses == []


def test_a_copy_by_numpy_keeps_no_export():
    x = mat.array([1.5, 2.5])
    copies = [np.array(x), np.asarray(x, dtype="float32"), np.array(x, dtype="int64"),
              np.asarray(x).copy(), x.to_numpy(),
              np.array([x, x]), np.asarray(x) + 1]
    x.fill_(0)
    assert [a.ravel()[0] for a in copies] == [1.5, 1.5, 1, 1.5, 1.5, 1.5, 2.5]
    assert all(a.flags.writeable for a in copies)


def test_a_copy_that_was_forbidden_is_refused():
    x = mat.array([1.5])
    assert np.array(x, copy=False).tolist() == [1.5]
    with pytest.raises(ValueError, match="float32"):
        x.__array__("float32", copy=False)
    with pytest.raises(ValueError, match="copy"):
        np.array(x, dtype="float32", copy=False)


@pytest.mark.host
def test_torn_data_is_not_lent():
    x = mat.zeros(2).fill_(1)
    with pytest.raises(ZeroDivisionError), x.facet("array", "io"):
        1 / 0  # noqa: B018
    with pytest.raises(mat.TornError):
        np.asarray(x)
    assert x.storage.accesses == []


# Buffers


@buffers
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.sample(3)
def test_memoryview_is_read_only_and_an_export(dtype, layout):
    whole, reference = sample(dtype)
    x = LAYOUTS[layout](whole)
    view = memoryview(x)
    assert view.readonly
    assert_array_equal(np.asarray(view), like(layout, reference))
    if x.size:  # else they share no element
        with pytest.raises(mat.ConflictError):
            whole.fill_(0)
    view.release()
    whole.fill_(0)


@buffers
def test_writable_buffers_are_refused():
    x = mat.zeros(4)
    with pytest.raises(TypeError):
        memoryview(x)[0] = 1
    with pytest.raises(BufferError, match="'io'"):
        x.__buffer__(1)
    with pytest.raises(BufferError, match="uint16"):
        memoryview(mat.zeros(4, dtype="bfloat16"))
    assert bytes(mat.array([1, 2], "uint8")) == b"\1\2"


def test_an_export_that_ends_while_a_write_looks_at_it_is_no_conflict(monkeypatch):
    x = mat.zeros(4)
    held = [np.asarray(x)]

    def collected(*_):  # as garbage may be, wherever an object is allocated
        held.clear()
        return False

    monkeypatch.setattr(cube, "end_late", collected)
    x.fill_(1)
    assert x.tolist() == [1] * 4


def test_an_export_that_ends_while_a_write_leaves_it_its_memory_is_no_conflict():
    x = mat.zeros(4)
    held = [np.asarray(x)]
    KEPT_BY_EXPORTS.append(held.clear)  # as garbage may be collected there
    try:
        x.fill_(1)
    finally:
        KEPT_BY_EXPORTS.remove(held.clear)
    assert x.tolist() == [1] * 4


@buffers
@pytest.mark.parametrize("layout", ["whole", "part"])
def test_frombuffer_makes_an_export_that_lasts_as_long_as_its_array(layout):
    x = mat.array(np.arange(6.0))
    seen = np.frombuffer(x if layout == "whole" else x[2:])
    with pytest.raises(mat.ConflictError, match="exported"):
        x.fill_(7)
    seen = seen[3:]
    with pytest.raises(mat.ConflictError, match="exported"):
        x.adjust_((3, 4))
    del seen
    x.fill_(7)


@pytest.mark.host
def test_testing_for_protocols_copies_and_exports_nothing():
    x = mat.zeros(4)
    for name in ("__array__", "__buffer__", "__array_interface__", "__array_struct__", "facet"):
        getattr(x, name, None)
    assert (x.fresh, x.storage.accesses) == (set(), [])


# Devices


@pytest.mark.host
def test_an_export_copies_from_the_device_once_and_keeps_it_from_writing():
    with mat.use_device("emulated"):
        x = mat.zeros(3).fill_(2)
        assert x.fresh == {"emulated"}
        with mat.debug.count_copies() as n:
            a, b = np.asarray(x), np.asarray(x)
        assert (n.d2h, x.fresh, b.tolist()) == (1, {"host", "emulated"}, [2, 2, 2])
        with pytest.raises(mat.ConflictError):
            x.scal_(3)
        assert mat.sum(x).item() == 6
        del a, b
        assert x.scal_(3).tolist() == [6, 6, 6]


@pytest.mark.host
def test_an_export_of_a_device_outlives_its_block_and_frees_the_memory_last():
    with mat.use_device("emulated") as device:
        x = mat.zeros(3).fill_(2)
        exports = [Export(x, facet_named("emulated")) for _ in range(2)]
        handle = exports[0].record.handle
        with pytest.raises(mat.ConflictError):
            x.drop("emulated")
    assert x.fresh == {"host"}
    assert x.fill_(5).tolist() == [5, 5, 5]  # the exported memory is no longer that of x
    assert device.memory.used >= handle.nbytes
    exports.pop()
    assert handle.alive
    assert handle.bytes[:24].view("float64").tolist() == [2, 2, 2]
    exports.pop()
    assert not handle.alive


@pytest.mark.host
def test_what_is_lent_is_not_evicted():
    with mat.use_device("emulated", pool_bytes=4096):
        x = mat.zeros(256).fill_(2)
        export = Export(x, facet_named("emulated"))
        y = mat.zeros(512).fill_(1)  # in tiles, beside it
        assert x.fresh == {"emulated"}
        with pytest.raises(mat.OutOfDeviceMemory), y.facet("emulated", "input"):
            pass
        del export
        with y.facet("emulated", "input"):
            assert x.fresh == {"host"}


# Reports


@pytest.mark.host
def test_printers_and_reports_list_exports(capsys):
    x = mat.zeros(12_345)
    a = np.asarray(x)
    mat.show(x)
    assert "exported as facet 'array' at" in capsys.readouterr().out
    (found,) = [row for row in mat.memory_report().lent if row.label == x.label()]
    assert (found.nbytes, found.memory) == (x.nbytes, "host")
    assert "test_exports.py:" in found.line
    assert "exported" in repr(mat.memory_report())
    assert x.facets["array"].watchers[0][:2] == ("of an export", "input")
    del a
    assert [row for row in mat.memory_report().lent if row.label == x.label()] == []


@given(st.lists(st.sampled_from(["export", "release", "write", "read"]), max_size=25))
def test_writing_is_refused_exactly_while_something_is_exported(steps):
    x, arrays, value = mat.zeros(3).fill_(0), [], 0.0
    for step in steps:
        if step == "export":
            arrays.append(np.asarray(x))
        elif step == "release" and arrays:
            arrays.pop(0)
        elif step == "write":
            with pytest.raises(mat.ConflictError) if arrays else nullcontext():
                x += 1
            value += not arrays
        assert x.tolist() == [value] * 3
        assert all(a[1] == value for a in arrays)
