"""Mats over memory of others: what a device has fresh of it comes home before its Mat goes, and
several Mats over one memory agree.
"""

import array
import gc
import os
import subprocess
import sys
import weakref
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.matrix import foreign_storage

pytestmark = pytest.mark.host  # these use devices of their own

SIZES = [6, 30_000]  # copied whole, and in parts


@pytest.fixture(params=["host", "emulated", "tiles", "set", "cuda"])
def place(request):
    """A block in which a device is in use."""
    if request.param == "cuda":
        request.getfixturevalue("cuda")

    @contextmanager
    def block():
        if request.param == "host":
            yield
        elif request.param == "set":
            mat.set_device("emulated")
            try:
                yield
            finally:
                mat.set_device("cpu")
        elif request.param == "tiles":
            with mat.use_device("emulated", pool_bytes=60_000):
                yield
        else:
            with mat.use_device(request.param, required=True):
                yield

    return block


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _memmap(a):
    np.save("x.npy", a)
    return np.load("x.npy", mmap_mode="r+")


WAYS = {"asarray": lambda a: (a, mat.asarray), "from_numpy": lambda a: (a, mat.from_numpy),
        "from_dlpack": lambda a: (a, mat.from_dlpack),
        "buffer": lambda a: (array.array("d", a), lambda b: mat.Mat(len(b), "float64", buffer=b)),
        "bytearray": lambda a: (bytearray(a.tobytes()),
                                lambda b: mat.Mat(len(b) // 8, "float64", buffer=b)),
        "strided": lambda a: (np.repeat(a, 2), lambda b: mat.from_numpy(b[::2])),
        "memmap": lambda a: (_memmap(a), mat.from_numpy),
        "open_memmap": lambda a: (_memmap(a), lambda _: mat.open_memmap("x.npy"))}


def elements(owner, way):
    if way == "strided":
        return owner[::2]
    return np.frombuffer(owner, "float64") if way == "bytearray" else np.asarray(owner)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_written_is_there_when_the_mat_is_gone(place, way, size, folder):
    owner, mat_of = WAYS[way](np.arange(size, dtype="float64"))

    def add():
        x = mat_of(owner)
        x += 1

    with place():
        add()
        assert_array_equal(elements(owner, way), np.arange(size) + 1.)
        add()
        x = mat_of(owner)
        x[2:size // 2] *= 2
        x.close()
        wanted = np.arange(size) + 2.
        wanted[2:size // 2] *= 2
        assert_array_equal(elements(owner, way), wanted)
    if way == "strided":
        assert_array_equal(owner[1::2], np.arange(size))


def test_what_a_view_has_written_is_there(place):
    a = np.zeros((50, 300))

    def add():
        mat.from_numpy(a)[:, 10:20].add_(1)

    with place():
        add()
    wanted = np.zeros((50, 300))
    wanted[:, 10:20] = 1
    assert_array_equal(a, wanted)


def test_what_is_in_a_cycle_is_written(place):
    a = np.zeros(5)

    class Holder:
        pass

    with place():
        holder = Holder()
        holder.itself, holder.x = holder, mat.from_numpy(a)
        holder.x += 3
        gone = weakref.ref(holder)
        del holder
        gc.collect()
        assert gone() is None
        assert_array_equal(a, 3)


def test_the_mean_is_subtracted(place):
    a = np.arange(4.)

    def centre(a):
        x = mat.asarray(a)
        x -= x.mean()

    with place():
        centre(a)
    assert_array_equal(a, [-1.5, -.5, .5, 1.5])


def test_a_failed_block_leaves_the_array(place):
    a = np.arange(4.)
    with place():
        x = mat.from_numpy(a)
        with pytest.raises(KeyError), x.facet("array", "input"):
            raise KeyError
        x.fill_(2)
        del x
    assert_array_equal(a, 2)


def test_nothing_is_copied_home_that_was_only_read():
    a = np.zeros(10)
    with mat.use_device("emulated"), mat.debug.count_copies() as n:
        x = mat.from_numpy(a)
        x.sum()
        del x
        assert (n.h2d, n.d2h) == (1, 0)


@pytest.mark.parametrize("code", [
    "a = numpy.memmap('x', 'f8', 'r+', shape=4); mat.set_device('emulated'); "
    "x = mat.from_numpy(a); x += 1",
    "x = mat.open_memmap('y.npy'); mat.set_device('emulated'); x += 1"])
@pytest.mark.sample(2)
def test_at_exit(code, folder):
    np.zeros(4).tofile("x")
    np.save("y.npy", np.zeros(4))
    subprocess.run([sys.executable, "-c", f"import numpy, mat; {code}"], check=True,
                   env={**os.environ, "PYTHONPATH": str(Path(mat.__file__).parents[1])})
    assert_array_equal(np.load("y.npy") if "open" in code else np.fromfile("x"), 1)


def test_a_mat_that_outlives_all_modules_is_freed_silently():
    code = ("import sys, numpy, mat; mat.set_device('emulated'); "
            "x = mat.from_numpy(numpy.ones(4)); x += 1; sys.kept_until_the_end = x")
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(Path(mat.__file__).parents[1])})
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("writer", ["child", "parent"])
def test_after_a_fork_the_process_that_wrote_saves(writer, folder):
    np.save("x.npy", np.zeros(4))
    x = mat.open_memmap("x.npy")
    with mat.use_device("emulated"):
        if writer == "parent":
            x += 5
        pid = os.fork()
        if not pid:
            code = 1
            try:
                if writer == "child":
                    x += 11
                del x
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
        assert_array_equal(np.load("x.npy"), 11 if writer == "child" else 0)


# Several Mats over one memory


@pytest.fixture
def block(place, request):
    """The same, which leaves nothing on a device."""
    if "set" in request.node.callspec.params.values():
        pytest.skip("what is there comes home when the Mat is accessed")
    return place



def test_overlapping_arrays(block):
    a = np.zeros(6)
    x, y = mat.from_numpy(a), mat.from_numpy(a[2:])
    with block():
        x += 10
        y += 1
        x[3:] *= 2
        z = mat.from_numpy(a[::-1])
        z -= 1
        assert x.tolist() == [9, 9, 10, 21, 21, 21]
        assert y.tolist() == x.tolist()[2:]
    assert a.tolist() == [9, 9, 10, 21, 21, 21]


def test_large_overlapping_arrays(block):
    a = np.zeros(40_000)
    x, y = mat.from_numpy(a), mat.from_numpy(a[20_000:])
    wanted = a.copy()
    with block():
        for k in range(1, 4):
            x[k * 5000:30_000] += k
            wanted[k * 5000:30_000] += k
            y[k:9_000] *= 3
            wanted[20_000 + k:29_000] *= 3
    assert_array_equal(a, wanted)


def test_random_programs_over_one_memory(block, rng):
    a, wanted = np.zeros(300), np.zeros(300)
    views = [np.s_[:], np.s_[40:], np.s_[:200], np.s_[::2], np.s_[1::2], np.s_[::-1]]
    mats = [mat.from_numpy(a[v]) for v in views]
    for _ in range(60):
        with block():
            for _ in range(4):
                k, j = rng.integers(len(mats), size=2)
                start, stop = sorted(rng.integers(100, size=2))
                if rng.integers(3):
                    mats[k][start:stop] += 1
                    wanted[views[k]][start:stop] += 1
                else:
                    mats[k].fill_(7)
                    wanted[views[k]] = 7
                assert_array_equal(mats[j].to_numpy(), wanted[views[j]])
        assert_array_equal(a, wanted)


def test_of_other_dtypes(block):
    a = np.zeros(8)
    x, y = mat.from_numpy(a), mat.from_numpy(a.view("int64"))
    with block():
        x.fill_(1)
        y += 1
        assert x[0] == np.nextafter(1, 2)
        x.fill_(2)
        assert y[3] == np.float64(2).view("int64")


def test_one_file_opened_twice(block, folder):
    np.save("x.npy", np.zeros(6))
    x, y = mat.open_memmap("x.npy"), mat.open_memmap("x.npy")
    z = mat.from_numpy(np.load("x.npy", mmap_mode="r+"))
    with block():
        x += 10
        y[2:] += 1
        z *= 2
        x -= 1
    assert_array_equal(np.load("x.npy"), [19, 19, 21, 21, 21, 21])


def test_what_is_closed_is_no_neighbour(block):
    a = np.zeros(6)
    x, y = mat.from_numpy(a), mat.from_numpy(a)
    with block():
        x += 1
        x.close()
        y += 1
        assert x.tolist() == [0] * 6
    assert_array_equal(a, 2)


def test_the_same_memory_in_one_operation():
    a = np.arange(6.)
    x, y = mat.from_numpy(a), mat.from_numpy(a[::-1])
    with mat.use_device("emulated"):
        assert_array_equal((x + y).to_numpy(), 5)
        with pytest.raises(mat.ConflictError, match=r"same memory.*views of one Mat"):
            x += y
        assert_array_equal(a, np.arange(6))
        even, odd = mat.from_numpy(a[::2]), mat.from_numpy(a[1::2])
        even += odd
    assert_array_equal(a, [1, 1, 5, 3, 9, 5])


def test_a_tensor_twice(block):
    torch = pytest.importorskip("torch")
    t = torch.zeros(6, dtype=torch.float64)
    x, y = mat.from_dlpack(t), mat.from_dlpack(t[2:])
    with block():
        x += 10
        y += 1
    assert t.tolist() == [10, 10, 11, 11, 11, 11]


def test_without_devices_nothing_is_remembered():
    a = np.zeros(6)
    x, y = mat.from_numpy(a), mat.from_numpy(a)
    with mat.use_device("emulated"):
        x += 1
        assert x.storage.guarded
        assert y.storage.guarded
    assert x.tolist() == y.tolist()
    assert not x.storage.guarded
    assert not y.storage.guarded


def test_memory_of_each_array_is_found_once(monkeypatch):
    calls = []
    monkeypatch.setattr(foreign_storage, "file_of",
                        lambda handle, found=foreign_storage.file_of: calls.append(1)
                        or found(handle))
    arrays = [np.full(3, k, float) for k in range(200)]
    with mat.use_device("emulated"):
        mats = [mat.asarray(a) for a in arrays]
        assert_array_equal(mat.concat(mats).to_numpy(), np.concatenate(arrays))
        whole = mat.asarray(arrays[0])
        whole += 1
        assert mats[0].tolist() == [1, 1, 1]  # another Mat over that memory
    assert len(calls) <= len(mats) + 1
