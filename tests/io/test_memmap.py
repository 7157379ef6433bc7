"""Mats whose host memory is a .npy file: against NumPy's memmap, over dtypes, orders, modes and
devices; damaged files, forks and pickles.
"""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.io import memmap
from mat.memories import file_pages
from mat.memories.host import HOST

from ..support.filing import (
    NOT_READ_BY_NUMPY,
    SHAPES,
    contents,
    devices,
    dtypes,
    made,
    same,
    values,
)

orders = pytest.mark.parametrize("order", ["C", "F"])
NUMPY_FILE = "numpy.npy"

pytestmark = pytest.mark.host


def pages(x):
    return file_pages.pages_of(x.storage.handles[HOST])


# Modes


@dtypes
@orders
def test_new_files_are_those_of_numpy(folder, dtype, order):
    for shape in SHAPES:
        a = np.array(values(shape, dtype), order=order)
        x = mat.open_memmap("x.npy", "w+", dtype, shape, fortran_order=order == "F")
        same(x, np.zeros(shape, a.dtype))
        x.assign_(mat.array(a))
        theirs = np.lib.format.open_memmap(NUMPY_FILE, "w+", a.dtype, shape, order == "F")
        theirs[...] = a
        theirs.flush()
        assert contents("x.npy") == contents(NUMPY_FILE)
        same(mat.load("x.npy"), a)


@dtypes
@orders
@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_files_of_numpy_are_mapped(folder, dtype, order, mode):
    for shape in SHAPES:
        a = np.array(values(shape, dtype), order=order)
        np.save("x.npy", a)
        x = mat.open_memmap("x.npy", mode)
        same(x, a)
        assert pages(x) is not None
        assert x.element_strides == tuple(s // a.itemsize for s in a.strides) or not a.size


@dtypes
def test_only_r_plus_writes_the_file(folder, dtype):
    a, b = values((3, 4), dtype), values((3, 4), dtype, seed=1)
    for mode in ("r", "r+", "c"):
        np.save("x.npy", a)
        x = mat.open_memmap("x.npy", mode)
        if mode == "r":
            with pytest.raises(mat.DirectionError, match="read-only"):
                x.assign_(mat.array(b))
        else:
            x[1:].assign_(mat.array(b)[1:])
            same(x, np.concatenate([a[:1], b[1:]]))
        found = mat.load("x.npy").to_numpy()
        assert_array_equal(found[1:], b[1:] if mode == "r+" else a[1:])


def test_readers_see_what_is_written_at_once(folder):
    x = made()
    y, z = mat.open_memmap("x.npy", "r"), np.load("x.npy", mmap_mode="r")
    x.fill_(3)
    assert y.sum() == z.sum() == 36
    x.flush()
    assert np.load("x.npy").sum() == 36


def test_a_file_remains_mapped_when_it_is_deleted_or_replaced(folder):
    x = made()
    before = x.to_numpy()
    mat.open_memmap("x.npy", "w+", "int8", 5)
    same(x, before)
    os.remove("x.npy")
    same(x, before)
    x += 1
    same(x, before + 1)


def test_the_arguments_must_fit_the_file(folder):
    made()
    before = contents("x.npy")
    for mode in ("r", "r+", "c"):
        same(mat.open_memmap("x.npy", mode, "float64", (3, 4)), values((3, 4), "float64"))
        with pytest.raises(mat.DTypeError, match=r"holds float64, not int8; leave dtype out"):
            mat.open_memmap("x.npy", mode, "int8")
        with pytest.raises(mat.FormatError, match=r"the shape \(3, 4\), not \(4, 3\)"):
            mat.open_memmap("x.npy", mode, shape=(4, 3))
    for arguments, error, text in [
            (("x.npy", "w"), mat.FormatError, "mode is one of 'r', .*got 'w'"),
            (("x.npy", "w+"), mat.ShapeError, "shape="),
            (("x.npy", "w+", "int8", -1), mat.ShapeError, "-1"),
            (("x.npy", "w+", "object", 2), mat.DTypeError, "object"),
            (("x.npy", "w+", "int8", (1 << 62, 8)), mat.ShapeError, "more elements"),
            ((3,), mat.DTypeError, "path of a file, got 3")]:
        with pytest.raises(error, match=text):
            mat.open_memmap(*arguments)
    assert contents("x.npy") == before


def test_files_that_are_not_what_they_should_be(folder):
    made()
    whole = contents("x.npy")
    for data, text in [(b"", "it is empty"), (b"PK\x03\x04", "archive"), (whole[:100], "cut off"),
                       (whole[:-1], "cut off"), (whole.replace(b"<f8", b">f8"), "byte order"),
                       (whole.replace(b"<f8", b"|O1"), "Python objects")]:
        with open("y.npy", "wb") as file:
            file.write(data)
        for mode in ("r", "r+", "c"):
            with pytest.raises(mat.FormatError, match=text):
                mat.open_memmap("y.npy", mode)
        assert contents("y.npy") == data
    for mode in ("r", "r+", "c"):
        with pytest.raises(FileNotFoundError):
            mat.open_memmap("none.npy", mode)
        with pytest.raises(IsADirectoryError):
            mat.open_memmap(".", mode)
    with pytest.raises(FileNotFoundError):
        mat.open_memmap("none/x.npy", "w+", shape=3)
    for path in (".", os.devnull):
        with pytest.raises(mat.FormatError, match="no ordinary file"):
            mat.open_memmap(path, "w+", shape=3)


# Devices


@devices
def test_what_a_device_computes_reaches_the_file(folder, device):
    x = made().fill_(1)
    with mat.use_device(device):
        x += 1
        x.flush()
    assert np.load("x.npy").sum() == 24
    with mat.use_device(device):
        x *= 2
        x.close()
    assert np.load("x.npy").sum() == 48
    x = mat.open_memmap("x.npy")
    with mat.use_device(device):
        x += 1
        del x
        gc.collect()
    assert np.load("x.npy").sum() == 60


@pytest.mark.parametrize("end", ["flush", "close", "del", "read"])
def test_what_a_device_computes_of_a_part_reaches_the_file(folder, end):
    x = mat.open_memmap("x.npy", "w+", "int32", (1000, 100))
    with mat.use_device("emulated"):
        x[10:20] += 1
        x[500] -= 3
        if end == "read":
            assert x.sum() == 700
            assert x[:300].tolist()[15][3] == 1
        elif end == "del":
            del x
            gc.collect()
        else:
            getattr(x, end)()
    expected = np.zeros((1000, 100), int)
    expected[10:20], expected[500] = 1, -3
    if end == "read":
        assert_array_equal(np.load("x.npy")[:300], expected[:300])
        x.flush()
    assert_array_equal(np.load("x.npy"), expected)


@devices
@pytest.mark.parametrize("end", ["flush", "close"])
def test_updates_that_wait_in_a_block_reach_the_file(folder, device, end):
    x = mat.open_memmap("x.npy", "w+", shape=20_000)
    with mat.use_device(device), mat.fused():
        x += 1
        x *= 3
        getattr(x, end)()
        assert (np.load("x.npy") == 3).all()


@devices
@pytest.mark.parametrize("read", [lambda x: x[0], lambda x: x.item(0), lambda x: x[[0]].sum(),
                                  lambda x: x.tolist()[0], lambda x: x[:1].item()])
def test_elements_are_read_after_updates_that_wait(folder, device, read):
    x = mat.open_memmap("x.npy", "w+", shape=20_000)
    with mat.use_device(device), mat.fused():
        x *= 1
        x[2] = 5  # this has x computed, on the device
        x += 1
        assert read(x) == 1


@devices
@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_a_second_map_begins_with_what_a_device_has_computed(folder, device, mode):
    x = mat.open_memmap("x.npy", "w+", shape=(200, 100))
    with mat.use_device(device):
        x[3:5] += 1
        x[7] = 2
        assert mat.open_memmap("x.npy", mode).sum() == 400
        assert x.sum() == 400


def test_what_a_device_computes_reaches_the_file_at_exit(folder):
    program = ("import mat\n"
               "x = mat.open_memmap('x.npy', 'w+', 'int32', 5)\n"
               "mat.set_device('emulated')\n"
               "x += 7\n"
               "assert x.fresh == {'emulated'}")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert np.load("x.npy").tolist() == [7] * 5


def test_what_a_device_computes_on_a_copy_does_not(folder):
    made().fill_(1)
    x = mat.open_memmap("x.npy", "c")
    with mat.use_device("emulated"):
        x += 1
    del x
    assert np.load("x.npy").sum() == 12


def test_the_file_cannot_be_dropped(folder):
    x = made()
    with mat.use_device("emulated"):
        _ = x + 1
        with pytest.raises(mat.ConflictError, match=r"or a file; close\(\)"):
            x.drop("host")
        with mat.barrier(drop="emulated"):
            x += 1
    assert x.fresh == {"host"}
    assert pages(x) is not None


def test_a_failed_block_tears_as_with_other_memory(folder):
    x = made()
    with pytest.raises(ZeroDivisionError), x.facet("array", "io") as a:
        a[0] = 1 / 0
    with pytest.raises(mat.TornError):
        x.sum()
    x.fill_(1)
    assert np.load("x.npy").sum() == 12


def test_flush_is_for_files(folder):
    with pytest.raises(mat.DTypeError, match=r"open_memmap makes; mat\.save"):
        mat.ones(3).flush()
    made()
    for mode in ("r", "c", "r+"):
        mat.open_memmap("x.npy", mode).flush()


def test_flush_reports_what_the_system_cannot_write(folder, monkeypatch):
    x = made()

    def fail(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(file_pages.FilePages, "flush", fail)
    with pytest.raises(mat.DiskError, match=r"'x.npy' cannot be written: Input/output") as found:
        x.flush()
    assert found.value.errno == 5


# Forks, pickles, threads, tools


def test_a_child_shares_the_file(folder):
    x, c = made().fill_(1), mat.open_memmap("x.npy", "c")
    child = os.fork()
    if child == 0:
        try:
            well = x.sum().item() == 12 == c.sum().item()
            x[0] = 5
            c[1] = 9
        finally:
            os._exit(0 if well else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert x.sum() == 12 + 16
    assert c[1].sum() == 4


def test_a_child_does_not_write_what_a_device_of_its_parent_has(folder):
    x = made().fill_(1)
    with mat.use_device("emulated"):
        x += 1
        child = os.fork()
        if child == 0:
            try:
                x.storage.save()
                well = not x.storage.fresh & HOST.bit
            finally:
                os._exit(0 if well else 1)
        assert os.waitpid(child, 0)[1] == 0
    x.flush()
    assert np.load("x.npy").sum() == 24


@pytest.mark.parametrize("protocol", range(2, 6))
def test_pickles_have_the_elements(folder, protocol):
    x = made()
    y = pickle.loads(pickle.dumps(x, protocol))
    same(y, x.to_numpy())
    assert pages(y) is None
    y.fill_(0)
    assert pages(copy.deepcopy(x)) is None
    same(x, values((3, 4), "float64"))


def test_threads_write_parts(folder):
    x = made((8, 1000), "int64").fill_(0)

    def write(k):
        for _ in range(50):
            try:
                x[k] += 1
            except mat.ConflictError:
                continue

    threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert_array_equal(np.load("x.npy"), x.to_numpy())


def test_tools_leave_the_file_where_it_is(folder):
    x = made()
    with mat.debug.check_directions():
        x += 1
        with x.facet("array", "io") as a:
            a[0] = 7
        _ = x.sum()
    assert pages(x) is not None
    same(x, np.load("x.npy"))
    found = mat.memory_report().by_memory["host"]
    assert found["in_files"] >= os.stat("x.npy").st_size
    assert "in files" in repr(mat.memory_report())


def test_a_file_is_closed_with_its_last_array(folder):
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    x = made()
    a = np.asarray(x[1])
    row = a.copy()
    del x
    assert_array_equal(a, row)
    del a
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_saving_and_loading_report_progress(folder, small_chunks):
    x, seen = made(), []
    mat.save("y.npy", x, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(32, 96), (64, 96), (96, 96)]
    same(mat.load("y.npy"), x.to_numpy())
    x.load_("y.npy")
    same(x, np.load("y.npy"))


def test_numpy_cannot_read_float8_e5m2_but_maps_it_here(folder):
    made(dtype=NOT_READ_BY_NUMPY)
    same(mat.open_memmap("x.npy", "r"), values((3, 4), NOT_READ_BY_NUMPY))
    assert memmap.MODES == ("r", "r+", "w+", "c")
