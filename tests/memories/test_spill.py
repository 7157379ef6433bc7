"""Host copies in unnamed files: which ones, their contents, full disks, forks, threads, and that
they are gone afterwards.
"""

import gc
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.core.compiled import BLOCKS
from mat.memories import file_pages
from mat.memories.host import HOST

from ..support.filing import dtypes, same, values

pytestmark = pytest.mark.host
ABOVE = 1000  # bytes
N = 500  # elements, of which even int8 ones take more when there are three times as many


@pytest.fixture
def folder(tmp_path):
    """Have larger copies be files in a folder that has no other files."""
    with mat.settings(spill_dir=tmp_path, spill_above=ABOVE):
        yield tmp_path
    assert os.listdir(tmp_path) == []


def pages(x):
    return file_pages.pages_of(x.storage.handles[HOST])


def is_spilled(x):
    return isinstance(pages(x), file_pages.SpillPages)


def in_files():
    gc.collect()
    return mat.memory_report().by_memory["host"]["in_files"]


# Which copies


MAKERS = {
    "zeros": lambda: mat.zeros(N), "ones": lambda: mat.ones(N), "full": lambda: mat.full((N,), 7),
    "empty": lambda: mat.empty(N).fill_(3), "array": lambda: mat.array(np.ones(N)),
    "list": lambda: mat.array([1.5] * N), "arange": lambda: mat.arange(N),
    "eye": lambda: mat.eye(40), "linspace": lambda: mat.linspace(0, 1, N),
    "sum": lambda: mat.ones(N) + 1, "ufunc": lambda: np.exp(mat.ones(N)),
    "product": lambda: mat.ones(40, 40) @ mat.ones(40, 40), "copy": lambda: mat.ones(N).copy(),
    "concat": lambda: mat.concat([mat.ones(N), mat.ones(N)]), "sort": lambda: mat.sort(mat.ones(N)),
    "random": lambda: mat.random.normal(size=N), "cumsum": lambda: mat.ones(N).cumsum(),
    "where": lambda: mat.where(mat.ones(N) > 0, 1.0, 2.0), "inv": lambda: mat.inv(mat.eye(40))}


@pytest.mark.parametrize("maker", MAKERS)
def test_large_mats_are_in_files(folder, maker):
    mat.random.seed(1)
    with mat.settings(spill_above=None):
        expected = MAKERS[maker]().to_numpy()
    mat.random.seed(1)
    x = MAKERS[maker]()
    same(x, expected)
    assert is_spilled(x)


@dtypes
def test_their_elements_are_right(folder, dtype):
    a = values((3, N), dtype)
    x = mat.array(a)
    same(x, a)
    assert is_spilled(x)
    same(x[1:, ::2], a[1:, ::2])
    y = mat.empty_like(x).assign_(x)
    same(y, a)
    assert is_spilled(y)
    z = mat.zeros(3, N, dtype=dtype)
    same(z, np.zeros((3, N), a.dtype))
    x[:] = 0
    same(x, z.to_numpy())


def test_small_and_foreign_ones_are_not(folder):
    assert not is_spilled(mat.ones(ABOVE // 8) + 1)
    a = np.ones(N)
    x = mat.from_numpy(a)
    x += 1
    assert pages(x) is None
    assert_array_equal(a, 2)
    with mat.settings(spill_above=1 << 40):
        assert not is_spilled(mat.ones(N) + 1)
    with mat.settings(spill_above=None):
        assert not is_spilled(mat.ones(N) + 1)


def test_a_block_concerns_its_thread_only(folder):
    found = []
    thread = threading.Thread(target=lambda: found.append(is_spilled(mat.ones(N) + 1)))
    thread.start()
    thread.join()
    assert found == [False]


def test_settings_for_good(tmp_path):
    assert sys.maxsize == BLOCKS.largest
    mat.configure(spill_dir=tmp_path, spill_above=ABOVE)
    try:
        x = mat.ones(N) + 1
        assert is_spilled(x)
        assert mat.settings.spill_dir == str(tmp_path)
        with mat.settings(spill_above=10):
            assert BLOCKS.largest == 10
        assert BLOCKS.largest == ABOVE
    finally:
        mat.configure(spill_dir=None, spill_above=None)
    assert sys.maxsize == BLOCKS.largest
    assert not is_spilled(mat.ones(N) + 1)
    assert x.sum() == 2 * N


@pytest.mark.parametrize(("name", "value"), [
    ("spill_dir", 3), ("spill_dir", "/no/such/folder"), ("spill_dir", __file__),
    ("spill_above", -1), ("spill_above", 1.5), ("spill_above", True), ("spill_above", "1 GB")])
def test_settings_that_cannot_be(name, value):
    for change in (mat.configure, lambda **k: mat.settings(**k).__enter__()):
        with pytest.raises(mat.SettingError, match=f"{name} is .*, got "):
            change(**{name: value})


def test_without_a_directory_it_is_the_systems(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []
    whole = tempfile.TemporaryFile

    def noted(*args, **kwargs):
        seen.append(kwargs["dir"])
        return whole(*args, **kwargs)

    monkeypatch.setattr(tempfile, "TemporaryFile", noted)
    monkeypatch.setattr(file_pages, "nameless", lambda folder, _: seen.append(folder))
    with mat.settings(spill_above=ABOVE):
        assert is_spilled(mat.ones(N) + 1)
    assert set(seen) == {str(tmp_path)}


# Devices, exports, files


def test_devices_and_prefetch(folder):
    x = mat.arange(N)
    with mat.use_device("emulated"):
        x = x * 2
        assert x.fresh == {"emulated"}
        with mat.prefetch(to_host=[x]):
            pass
    assert is_spilled(x)
    same(x, np.arange(N) * 2)
    with mat.use_device("emulated"):
        _ = x + 1
        x.drop("host")
        assert x.fresh == {"emulated"}
    same(x, np.arange(N) * 2)


def test_exports_keep_the_file(folder):
    x = mat.arange(N)
    a, b = np.asarray(x), memoryview(x.facet("array", "input").__enter__()[::2])
    before = in_files()
    del x
    assert in_files() == before > 0
    assert_array_equal(a, np.arange(N))
    del a, b


def test_loading_reads_into_files(folder):
    file = io.BytesIO()
    a = np.arange(3 * N).reshape(3, N)
    mat.save(file, mat.array(a))
    x = mat.load(io.BytesIO(file.getvalue()))
    assert is_spilled(x)
    same(x, a)
    file = io.BytesIO()
    mat.save_all(file, {"x": x})
    x = mat.load_all(io.BytesIO(file.getvalue()))["x"]
    assert is_spilled(x)
    same(x, a)


def test_under_the_direction_check(folder):
    with mat.debug.check_directions():
        x = mat.ones(N)
        x += 1
        with x.facet("array", "io") as a:
            a[0] = 7
    assert is_spilled(x)
    assert x.sum() == 2 * N + 5


def test_scratch_is_given_back(folder):
    before = in_files()
    with mat.scratch(N) as t:
        assert is_spilled(t.fill_(1))
    mat.scratch.clear()
    assert in_files() == before


# Zeros


def test_zeros_are_not_written(folder):
    x = mat.zeros(1 << 18)
    assert x[5].item() == 0
    handle = x.storage.handles[HOST]
    if not hasattr(os, "SEEK_DATA"):
        pytest.skip("the system does not say what was written")
    blank = file_pages.spilled_array(1 << 18, np.dtype(float))
    if not blank.base.is_blank():
        pytest.skip("this file system does not say what was written")
    blank[7] = 1
    assert not blank.base.is_blank()
    assert handle.sum() == 0


def fill_and_fail(a):
    a[:] = 5
    raise ValueError("half way")


@pytest.mark.parametrize("value", [0, 1])
def test_zeros_after_a_block_that_failed(folder, value):
    x = mat.full((N,), value, dtype="float64")
    with pytest.raises(ValueError, match="half"), x.facet("array", "output") as a:
        fill_and_fail(a)
    assert_array_equal(x.to_numpy(), np.full(N, value))


def test_negative_zero_is_written(folder):
    x = mat.full((N,), -0.0)
    assert np.signbit(x.to_numpy()).all()


def test_filling_in_parts(folder, monkeypatch):
    monkeypatch.setattr(file_pages, "PART", 4096)
    assert_array_equal(mat.full((3 * N,), 7.5).to_numpy(), np.full(3 * N, 7.5))


def test_released_pages_keep_what_was_written(folder):
    x = mat.zeros(1 << 16)
    x += np.arange(1 << 16)
    pages(x).release(0, len(pages(x)))
    pages(x).release(4000, 9000)
    pages(x).release(5, 5)
    pages(x).announce(5, 1 << 30)
    if pages(x).populate(5, 1 << 30):  # the system knows that
        assert pages(x).is_cached(5, 1 << 30)
    file_pages.release(np.empty(3))
    same(x, np.arange(1 << 16) * 1.0)


# No room


def limited(bytes_of_file):
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_of_file, old[1]))
    return old


def test_no_room(folder):
    x = mat.ones(N) + 1
    old = limited(4096)
    try:
        for use in (lambda: x @ mat.ones(N, N), lambda: mat.zeros(3 * N).sum(),
                    lambda: mat.tile(x, 9), lambda: mat.array(np.ones(3 * N)),
                    lambda: mat.eye(99)):
            with pytest.raises(mat.DiskError, match=r"no room for .*: it takes \d+ bytes in "
                                                    r"'.*', .*RLIMIT_FSIZE.*spill_dir=.*spill_a"):
                use()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert x.sum() == 2 * N


def test_a_full_disk_loses_nothing(folder, monkeypatch):
    x, y = mat.ones(N) + 1, mat.empty(N)

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", fail)
        with pytest.raises(mat.DiskError, match=r"where \d+ bytes are free; free some") as found:
            mat.add(x, x, out=y)
        assert found.value.errno == 28
        with pytest.raises(mat.DiskError):
            y.fill_(3)
        x += 1
    assert x.sum() == 3 * N
    assert mat.add(x, x, out=y).sum() == 6 * N


def test_a_full_disk_when_results_of_a_device_come_home(folder, monkeypatch):
    with mat.use_device("emulated"):
        x = mat.zeros(N) + 1
        assert x.fresh == {"emulated"}
        monkeypatch.setattr(os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(
            OSError(28, "No space left on device")))
        with pytest.raises(mat.DiskError):
            x.tolist()
        assert x.fresh == {"emulated"}
        monkeypatch.undo()
        assert x.sum() == N


def test_the_directory_was_removed(tmp_path):
    where = tmp_path / "spill"
    where.mkdir()
    with mat.settings(spill_dir=where, spill_above=ABOVE):
        x = mat.ones(N) + 1
        where.rmdir()
        with pytest.raises(mat.DiskError, match=r"cannot make .*spill', the directory of the "
                                                r"setting spill_dir: No such file"):
            mat.zeros(N).sum()
        assert x.sum() == 2 * N


def test_too_many_files(folder, monkeypatch):
    def fail(*_, **__):
        raise OSError(24, "Too many open files")

    x = mat.ones(N) + 1
    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(mat.DiskError, match="Too many open files"):
        _ = x + 1
    assert x.sum() == 2 * N


# Files are gone


def test_files_and_descriptors_are_gone_with_their_mats(folder):
    bytes_before, before = in_files(), len(os.listdir("/proc/self/fd"))
    found = [mat.ones(N) + k for k in range(5)]
    assert in_files() - bytes_before == 5 * 8 * N
    assert len(os.listdir("/proc/self/fd")) > before
    del found
    assert in_files() == bytes_before
    mat.trim()
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_interrupted_process_leaves_nothing(tmp_path):
    program = (f"import os, mat\n"
               f"mat.configure(spill_dir={str(tmp_path)!r}, spill_above=1000)\n"
               f"x = mat.ones(5000) + 1\n"
               f"assert mat.memory_report().by_memory['host']['in_files'] == 40000\n"
               f"os.kill(os.getpid(), {int(signal.SIGKILL)})")
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=60,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert ended.returncode == -signal.SIGKILL
    assert os.listdir(tmp_path) == []


# Forks


def child_is_well(work):
    child = os.fork()
    if child == 0:
        well = False
        try:
            well = work()
        finally:
            os._exit(0 if well else 1)
    return os.waitpid(child, 0)[1] == 0


def test_parent_and_child_do_not_see_each_others_writes(folder):
    x, untouched = mat.arange(N), mat.arange(N)
    to_child, to_parent = os.pipe(), os.pipe()

    def in_child():
        os.read(to_child[0], 1)  # the parent has written
        well = x.sum().item() == sum(range(N)) == untouched.sum().item()
        x.fill_(7)
        y = x + 1  # a new file
        return well and y.sum().item() == 8 * N and is_spilled(y)

    child = os.fork()
    if child == 0:
        well = False
        try:
            well = in_child()
            os.write(to_parent[1], b"x")
        finally:
            os._exit(0 if well else 1)
    x += 1
    os.write(to_child[1], b"x")
    os.read(to_parent[0], 1)
    assert os.waitpid(child, 0)[1] == 0
    same(x, np.arange(N) + 1)
    same(untouched, np.arange(N))
    for number in (*to_child, *to_parent):
        os.close(number)


def test_pages_are_not_released_after_a_fork(folder):
    x = mat.arange(1 << 14)
    assert child_is_well(lambda: True)
    x += 1  # in memory of this process only
    pages(x).release(0, len(pages(x)))
    same(x, np.arange(1 << 14) + 1)
    y = x + 1
    assert pages(y).shared
    assert child_is_well(lambda: child_is_well(lambda: y.sum() == (x + 1).sum()))


@pytest.mark.unchecked("another thread may have a lock of the check when it is forked")
def test_children_of_threads(folder):
    x = mat.arange(N)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            y = x + 1
            assert y[3].item() == 4

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    try:
        assert all(child_is_well(lambda: (x + 1).sum().item() == sum(range(N + 1)))
                   for _ in range(10))
    finally:
        stop.set()
        for t in threads:
            t.join()
