"""Interrupts at any line, as by Ctrl-C, leave no temporary files and no open descriptors."""

import gc
import os

import numpy as np
import pytest

import mat
from mat.memories import file_pages
from mat.support import cache_dir

from ..support.nth_line import interrupted

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
              pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="about Linux")]
FILES = ("support/cache_dir.py", "io/streams.py", "io/memmap.py", "io/api.py", "io/npy.py",
         "memories/file_pages.py")


def save():
    mat.save("x.npy", mat.ones(3000))


def save_all():
    mat.save_all("x.npz", {"x": mat.ones(3000)})


def memmap():
    x = mat.open_memmap("y.npy", "w+", shape=3000)
    x += 1


def spilled():
    with mat.settings(spill_dir=".", spill_above=1000):
        x = mat.ones(3000)
        x += 1


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("call", [save, save_all, memmap, spilled])
def test_nothing_is_left(folder, monkeypatch, call, named):
    if named:
        monkeypatch.setattr(cache_dir, "nameless", lambda *_: None)
        monkeypatch.setattr(file_pages, "nameless", lambda *_: None)
    call()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for k in range(1, 400):
        place = interrupted(call, k, FILES)
        if not place:
            break
        assert [name for name in os.listdir() if name.startswith(".mat-")] == [], place
        assert len(os.listdir("/proc/self/fd")) <= before, place
    assert 10 < k < 399
    call()


def test_accesses_to_files_end(folder):
    np.save("x.npy", np.zeros(1000))
    x, y = mat.open_memmap("x.npy"), mat.ones(1000)

    def use():
        mat.axpy(1.0, y, x)
        with x.facet("array", "io"):
            pass

    for k in range(1, 200):
        if not interrupted(use, k, ("matrix/f", "memories/f")):
            break
        assert not x.storage.accesses
    assert k > 5
