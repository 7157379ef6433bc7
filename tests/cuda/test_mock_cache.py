"""The cache of compiled kernels: found again by content, by several threads, and bounded."""

import os
import threading
from pathlib import Path

import pytest

from ..tools.mock_driver import cache

pytestmark = pytest.mark.host


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    return tmp_path


def make(text):
    return lambda entry: (entry / "made").write_text(text, encoding="utf-8")


def entries(folder):
    return sorted((entry / "made").read_text(encoding="utf-8") for entry in folder.iterdir()
                  if entry.is_dir())


def test_what_was_made_is_found_again(folder):
    first = cache.cached("a key", make("one"))
    assert cache.cached("a key", make("two")) == first
    assert cache.cached("another key", make("three")) != first
    assert entries(folder) == ["one", "three"]


def test_nothing_is_left_of_what_fails(folder):
    with pytest.raises(ZeroDivisionError):
        cache.cached("a key", lambda entry: 1 / 0)
    assert entries(folder) == []
    assert cache.cached("a key", make("one")).is_dir()


def test_one_thread_makes_what_many_ask_for(folder):
    made = []
    threads = [threading.Thread(target=cache.cached, args=("a key", made.append))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_the_least_recently_used_go_first(folder):
    for k, key in enumerate("abc"):
        os.utime(cache.cached(key, make(key * 1000)), (1000 + k, 1000 + k))
    cache.cached("a", make("not made"))
    os.utime(cache.cached("a", make("not made")), (2000, 2000))
    cache.prune(folder, limit=2500)
    assert entries(folder) == ["a" * 1000, "c" * 1000]
    cache.cached("c", make("not made"))
    cache.prune(folder, limit=0)  # used now
    assert entries(folder) == ["c" * 1000]


def test_it_is_outside_of_the_checkout(monkeypatch, tmp_path):
    find = cache.folder.__wrapped__
    monkeypatch.delenv("MAT_TEST_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert find() == tmp_path / "x" / "mat-tests"
    monkeypatch.setenv("MAT_TEST_CACHE", str(tmp_path / "y"))
    assert find() == tmp_path / "y"
    monkeypatch.delenv("MAT_TEST_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert Path(__file__).parents[2] not in find().parents


def test_without_a_folder_that_can_be_written_it_is_temporary(monkeypatch):
    monkeypatch.setenv("MAT_TEST_CACHE", "/dev/null/nowhere")
    assert cache.folder.__wrapped__() == cache.scratch() / "compiled"
