"""Files are replaced whole or not at all: errors, crashes, modes, links, and what is no regular
file.
"""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mat
from mat.support import cache_dir

pytestmark = pytest.mark.host

ROOT = Path(__file__).parents[2]
WAYS = ("nameless", "named")


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Both ways to make a file that is not there yet: without a name, and with one of its own."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without names")
    return request.param


def put(path, text):
    with cache_dir.replacing(path) as file:
        file.write(text)


def test_new_and_replaced(tmp_path, way):
    path = tmp_path / "x"
    put(path, b"one")
    put(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["x"]


def test_it_is_not_seen_before_it_is_whole(tmp_path, way):
    path = tmp_path / "x"
    put(path, b"old")
    with cache_dir.replacing(path) as file:
        file.write(b"new" * 10_000)
        file.flush()
        assert path.read_bytes() == b"old"
        assert len(os.listdir(tmp_path)) == (1 if way == "nameless" else 2)
    assert path.read_bytes() == b"new" * 10_000
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("old", [b"old", None])
def test_an_error_in_the_block_leaves_all_as_it_was(tmp_path, way, error, old):
    path = tmp_path / "x"
    if old:
        put(path, old)

    def half():
        with cache_dir.replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        half()
    assert os.listdir(tmp_path) == (["x"] if old else [])
    assert not old or path.read_bytes() == old


@pytest.mark.parametrize("name", ["fsync", "replace", "link", "fchmod"])
def test_an_error_of_the_system_leaves_all_as_it_was(tmp_path, way, name, monkeypatch):
    if name == "link" and way == "named":
        pytest.skip("it links nothing")
    path = tmp_path / "x"
    put(path, b"old")

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, name, full)
    numbers = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with pytest.raises(OSError, match="no space"):
        put(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]
    assert not numbers or len(os.listdir("/proc/self/fd")) == numbers


def test_where_files_without_names_are_not_known(tmp_path, monkeypatch):
    """As on file systems that refuse the flag."""
    given = os.open

    def refusing(path, flags, *args, **kwargs):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "not supported")
        return given(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", refusing)
    put(tmp_path / "x", b"one")
    assert (tmp_path / "x").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["x"]


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_files_mode_is_as_the_umask_says(tmp_path, way, mask):
    before = os.umask(mask)
    try:
        put(tmp_path / "x", b"")
    finally:
        os.umask(before)
    assert mode(tmp_path / "x") == 0o666 & ~mask


@pytest.mark.parametrize("given", [0o600, 0o640, 0o777, 0o666])
def test_the_mode_of_a_replaced_file_is_kept(tmp_path, way, given):
    path = tmp_path / "x"
    put(path, b"old")
    path.chmod(given)
    put(path, b"new")
    assert mode(path) == given
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0,
                    reason="only root gives files to others")
def test_the_owner_of_a_replaced_file_is_kept(tmp_path, way):
    path = tmp_path / "x"
    put(path, b"old")
    os.chown(path, 12345, 54321)
    put(path, b"new")
    assert (os.stat(path).st_uid, os.stat(path).st_gid) == (12345, 54321)


def test_a_file_that_must_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "x"
    put(path, b"old")
    path.chmod(0o444)
    if os.access(path, os.W_OK):  # as root may
        monkeypatch.setattr(os, "access", lambda *args: False)
    with pytest.raises(PermissionError, match=r"x'"):
        put(path, b"new")
    assert path.read_bytes() == b"old"


def test_links_are_followed(tmp_path, way):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "x", tmp_path / "link"
    link.symlink_to(target)
    put(link, b"one")  # to where there is nothing yet
    put(link, b"two")
    assert link.is_symlink()
    assert target.read_bytes() == b"two"
    assert os.listdir(tmp_path / "there") == ["x"]
    (tmp_path / "relative").symlink_to("there/x")
    put(tmp_path / "relative", b"three")
    assert target.read_bytes() == b"three"
    assert sorted(os.listdir(tmp_path)) == ["link", "relative", "there"]


def test_names_without_a_folder(tmp_path, way, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put("x", b"one")
    put(Path("x"), b"two")
    assert Path("x").read_bytes() == b"two"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
def test_devices_are_written_as_they_are():
    with pytest.raises(OSError, match="No space"):
        put("/dev/full", b"text")
    put("/dev/null", b"text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_folder_that_is_not_there_or_cannot_be_written(tmp_path, way, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"none/x'"):
        put(tmp_path / "none" / "x", b"")
    put(tmp_path / "x", b"old")

    def refusing(*args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(PermissionError, match=r"x'") as caught:
        put(tmp_path / "x", b"new")
    assert "pass the open file" in caught.value.__notes__[0]


def test_what_is_kept_for_later_is_whole(tmp_path):
    cache_dir.write_whole(tmp_path / "x", b"text")
    assert (tmp_path / "x").read_bytes() == b"text"
    assert os.listdir(tmp_path) == ["x"]


# Crashes


KILLED = """import os, signal, sys, numpy as np, mat
if {named}:
    del os.O_TMPFILE
x = mat.from_numpy(np.full(4 << 20, 7.0))
def stop(done, total):
    if done > total // 2:
        os.kill(os.getpid(), signal.SIGKILL)
mat.{save}
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("save", ["save(sys.argv[1], x, progress=stop)",
                                  "save_all(sys.argv[1], {'x': x}, format='npz', progress=stop)",
                                  "save_all(sys.argv[1], {'x': x}, format='safetensors', "
                                  "progress=stop)"])
def test_a_process_that_is_killed_leaves_the_old_file(tmp_path, way, save):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    code = KILLED.format(named=way == "named", save=save)
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False,
                          timeout=120, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert path.read_bytes() == b"old"
    if way == "nameless":
        assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("save", [lambda path, x, stop: mat.save(path, x, progress=stop),
                                  lambda path, x, stop: x.write(path, progress=stop),
                                  lambda path, x,
                                  stop: mat.save_all(path, {"x": x}, format="npz", progress=stop),
                                  lambda path, x,
                                  stop: mat.save_all(path, {"x": x}, format="safetensors",
                                                     progress=stop)])
@pytest.mark.parametrize("error", [ValueError, RuntimeError, KeyboardInterrupt])
def test_saving_that_fails_in_the_middle(tmp_path, way, save, error):
    path, x = tmp_path / "x", mat.ones(3_000_000)

    def stop(done, total):
        if done > total // 3:
            raise error

    path.write_bytes(b"old")
    with pytest.raises(error):
        save(path, x, stop)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]
    assert not x.storage.accesses
    x.fill_(2)  # it is not accessed any more


def test_a_mat_that_cannot_be_read_touches_no_file(tmp_path):
    path, x = tmp_path / "x", mat.ones(3)
    path.write_bytes(b"old")
    with x.facet("array",
                 "io"), ThreadPoolExecutor(1) as pool, pytest.raises(mat.ConflictError,
                                                                     match="test_cache_dir"):
        pool.submit(mat.save, path, x).result()
    with pytest.raises(ZeroDivisionError), x.facet("array", "io"):
        raise ZeroDivisionError
    with pytest.raises(mat.TornError):
        mat.save(path, x)
    assert path.read_bytes() == b"old"


def test_a_reader_sees_a_whole_file(tmp_path):
    path = tmp_path / "x.npy"
    mats = [mat.full(50_000, k) for k in range(4)]
    mat.save(path, mats[0])
    stop = threading.Event()

    def write(x):
        while not stop.is_set():
            mat.save(path, x)

    threads = [threading.Thread(target=write, args=(x,)) for x in mats[1:]]
    for thread in threads:
        thread.start()
    try:
        for _ in range(50):
            seen = mat.load(path).to_numpy()
            assert seen.shape == (50_000,)
            assert np.ptp(seen) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert os.listdir(tmp_path) == ["x.npy"]


# Files with digests


@pytest.mark.parametrize("damage", [lambda d: b"", lambda d: d[:40], lambda d: d[:-1],
                                    lambda d: d + b"x", lambda d: bytes(len(d)),
                                    lambda d: d[:3] + b"?" + d[4:]])
def test_what_is_damaged_is_not_given(tmp_path, damage):
    path = tmp_path / "x"
    assert cache_dir.cached(path) is None
    cache_dir.cache(path, b"data" * 10)
    assert cache_dir.cached(path) == b"data" * 10
    path.write_bytes(damage(path.read_bytes()))
    assert cache_dir.cached(path) is None


def test_what_is_cached_is_on_disk_before_it_is_seen(tmp_path, monkeypatch):
    path, done = tmp_path / "x", []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda *args: (done.append("fsync"), fsync(*args)))
    monkeypatch.setattr(os, "replace", lambda *args: (done.append("replace"), replace(*args)))
    cache_dir.cache(path, b"data")
    assert done == ["fsync", "replace"]
