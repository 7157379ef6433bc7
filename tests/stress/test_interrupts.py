"""Interrupts at every line of the package's Python code: nothing is left behind."""

import os
import re
import threading
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest

import mat

from ..support import selection
from . import interrupts
from .block_scenarios import SCENARIOS
from .children import outcome_of
from .interrupts import Lines, chosen, ends_of_blocks, storm, sweep

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
              pytest.mark.unchecked("interrupts, each in a process of its own")]
LINES = selection.most(100, 8)  # of a scenario; `python -m tests.stress --only lines` tries all


@pytest.mark.skipif(os.environ.get("MAT_NATIVE") == "0", reason="only a compiled core is atomic")
@pytest.mark.sample(20)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_interrupts_leave_nothing_behind(scenario):
    text = outcome_of(lambda: sweep(scenario, LINES), 60)
    assert not text, text


@pytest.mark.skipif(os.environ.get("MAT_NATIVE") == "0", reason="only a compiled core is atomic")
def test_signals_leave_nothing_behind():
    def run():
        text, runs = storm(SCENARIOS, Random(5), time.monotonic() + selection.most(4, 0.7))
        assert runs
        return text

    text = outcome_of(run, 60)
    assert not text, text


def blocks():
    """Yield the names of what returns a context manager."""
    for holder in (mat, mat.debug, mat.extend, mat.Mat):
        for name in dir(holder):
            found = getattr(holder, name, None)
            doc = getattr(found, "__doc__", None) or ""
            if (not name.startswith("_") and "context manager" in doc.lower()
                    and found is not getattr(np, name, None)):
                yield name


def test_every_public_block_is_interrupted():
    there = Path(__file__).parent
    text = "".join((there / f"{kind}scenarios.py").read_text(encoding="utf-8")
                   for kind in ("", "device_", "block_"))
    names = {*blocks()}
    assert {"facet", "keep", "window", "trace", "guard", "prefetch", "scratch"} <= names
    # the first needs CUDA, the second a package; both are made like the others. The third traces
    # lines, as the interrupts of these tests do
    assert {n for n in names if not re.search(rf"\b{n}\b", text)} == {
        "use_cuda", "nvtx_ranges", "watch"}


# The tests of the tests

def with_lock(lock, a):
    with lock:
        a.append(1)
    with lock:
        return a.pop()


def with_error(lock, a):
    with lock:
        return a[9]


def with_try(lock, a):
    with lock:
        try:
            a.append(1)
        finally:
            a.pop()


def test_ends_of_blocks_are_found():
    assert len(ends_of_blocks(with_lock.__code__)) >= 6
    assert len(ends_of_blocks(with_try.__code__)) >= 4
    assert not ends_of_blocks(chosen.__code__)


@pytest.mark.parametrize("function", [with_lock, with_try, with_error])
def test_locks_of_with_blocks_are_released_wherever_lines_are_interrupted(function, monkeypatch):
    monkeypatch.setattr(interrupts, "FOLDER", __file__)
    total = 0
    for k in range(1, 20):
        lines, lock = Lines(k), threading.Lock()
        try:
            total += lines.run(lambda lock=lock: function(lock, [1, 2]))
        except IndexError:
            pass
        assert not lock.locked(), lines.where
    assert total > 1


def test_lines_of_the_package_are_counted_and_interrupted():
    def run():
        return mat.settings.dtype

    lines = Lines()
    assert not lines.run(run)
    assert lines.count > 1
    assert Lines(lines.count).run(run)
    assert not Lines(lines.count + 1).run(run)


def test_chosen_lines():
    assert chosen(5, 0) == [1, 2, 3, 4, 5]
    assert chosen(0, 12) == []
    assert chosen(100, 4) == [1, 34, 67, 100]


def test_names_are_unique():
    names = [s.name for s in SCENARIOS]
    assert len({*names}) == len(names)
