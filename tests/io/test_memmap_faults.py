"""Mats whose host memory is a .npy file, when files are cut off and disks are full."""

import os
import pickle
import resource
from types import SimpleNamespace

import numpy as np
import pytest

import mat
from mat.memories import file_pages

from ..support.filing import contents, made, same

pytestmark = pytest.mark.host


# Files that become shorter


USES = {
    "operation": lambda x: x + 1, "in place": lambda x: x.scal_(2), "sum": lambda x: x.sum(),
    "item": lambda x: x[2, 3].item(), "first": lambda x: x[0, 0].item(), "array": np.asarray,
    "pickle": lambda x: pickle.dumps(x, 5), "list": lambda x: x.tolist(),
    "copy": lambda x: x.copy(), "product": lambda x: x @ x.T, "save": lambda x: mat.save("y", x),
    "write": lambda x: x.fill_(3), "set": lambda x: x.__setitem__((0, 0), 1),
    "view": lambda x: x[:1].sum(), "facet": lambda x: x.facet("foreign", "input").__enter__()}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("mode", ["r+", "c"])
@pytest.mark.parametrize("seen", [False, True])
def test_a_file_that_was_cut_off(folder, use, mode, seen):
    made()
    x = mat.open_memmap("x.npy", mode)
    if seen:  # then what facets presented is known
        _ = x + 1, x.sum(), x.tolist(), x.scal_(1)
    whole = contents("x.npy")
    os.truncate("x.npy", 150)
    with pytest.raises(mat.DiskError, match=r"'x.npy' was cut off .* 150 bytes, .* byte 224"):
        USES[use](x)
    assert repr(x).endswith("in a file that was cut off>")
    with open("x.npy", "r+b") as file:
        file.write(whole)
    same(x, np.load("x.npy"))


def test_of_a_file_that_was_cut_off_a_device_has_its_copy(folder):
    x = made()
    with mat.use_device("emulated"):
        assert (x + 1).fresh
        os.truncate("x.npy", 150)
        assert (x + 1).shape == (3, 4)
        y = mat.open_memmap("x.npy", "w+", "int8", 3)
        os.truncate("x.npy", 0)
        with pytest.raises(mat.DiskError):
            _ = y + 1


def test_mapped_archives_that_were_cut_off(folder):
    for name in ("x.npz", "x.safetensors"):
        mat.save_all(name, {"x": mat.ones(3), "y": mat.ones(5)})
        found = mat.load_all(name, mapped=True)
        os.truncate(name, 8)
        for x in found.values():
            with pytest.raises(mat.DiskError, match="cut off"):
                x.sum()


# Full disks


@pytest.fixture
def full(monkeypatch):
    """Have the system find no room."""
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", fail)


def test_no_room_for_a_new_file(folder, full):
    with pytest.raises(mat.DiskError, match=r"no room for 'x.npy': it takes 224 bytes in '.*', "
                                            r"where \d+ bytes are free; free some") as found:
        mat.open_memmap("x.npy", "w+", shape=(3, 4))
    assert found.value.errno == 28
    assert os.listdir() == []


def test_no_room_leaves_the_old_file(folder, monkeypatch):
    made()
    before = contents("x.npy")
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, old[1]))
    try:
        with pytest.raises(mat.DiskError, match="RLIMIT_FSIZE"):
            mat.open_memmap("x.npy", "w+", shape=(30, 400))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert contents("x.npy") == before
    assert os.listdir() == ["x.npy"]


def test_holes_get_their_room_when_a_file_is_opened(folder):
    np.lib.format.open_memmap("x.npy", "w+", "int64", (1 << 18,))
    before = os.stat("x.npy")
    if before.st_blocks * 512 >= before.st_size:
        pytest.skip("files have no holes here")
    mat.open_memmap("x.npy", "r")
    assert os.stat("x.npy").st_blocks == before.st_blocks
    x = mat.open_memmap("x.npy", "r+")
    assert os.stat("x.npy").st_blocks * 512 >= before.st_size
    assert not x.any().item()


def test_no_room_for_holes(folder, full):
    np.lib.format.open_memmap("x.npy", "w+", "int64", (1 << 18,))
    if os.stat("x.npy").st_blocks * 512 >= os.stat("x.npy").st_size:
        pytest.skip("files have no holes here")
    with pytest.raises(mat.DiskError, match=r"no room for 'x.npy'.*a file that was there is as"):
        mat.open_memmap("x.npy")
    assert not mat.open_memmap("x.npy", "r").any().item()


def test_a_disk_that_lacks_room_for_holes_is_not_filled(folder, monkeypatch):
    """As ext4 is by a call that reserves what there is, and then fails."""
    np.lib.format.open_memmap("x.npy", "w+", "int64", (1 << 18,))
    before = os.stat("x.npy").st_blocks
    if before * 512 >= os.stat("x.npy").st_size:
        pytest.skip("files have no holes here")
    monkeypatch.setattr(os, "fstatvfs", lambda _: SimpleNamespace(f_bavail=500, f_frsize=4096))
    with pytest.raises(mat.DiskError, match=r"no room for 'x.npy'.*a file that was there is as"):
        mat.open_memmap("x.npy")
    assert os.stat("x.npy").st_blocks == before
    np.lib.format.open_memmap("y.npy", "w+", "int64", (1 << 17,))  # half of it, for which there is
    assert not mat.open_memmap("y.npy").any().item()


@pytest.mark.parametrize("number", [95, 22, 38])
def test_where_no_room_can_be_reserved_files_are_made_all_the_same(folder, monkeypatch, number):
    def fail(*_):
        raise OSError(number, "not here")

    monkeypatch.setattr(os, "posix_fallocate", fail)
    x = made()
    same(x, np.load("x.npy"))


def test_other_errors_of_the_system_come_through(folder, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "posix_fallocate", fail)
    with pytest.raises(OSError, match="Input/output"):
        mat.open_memmap("x.npy", "w+", shape=3)
    assert os.listdir() == []


def test_a_file_that_cannot_be_mapped(folder, monkeypatch):
    made()

    def fail(_):
        return {"access": 17}

    monkeypatch.setattr(file_pages, "_way", fail)
    for mode in ("r", "c", "r+"):
        with pytest.raises(mat.FormatError, match="cannot be mapped"):
            mat.open_memmap("x.npy", mode)
