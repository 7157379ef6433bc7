"""Modules that are imported at their first use, and forks meanwhile."""

import os
import sys
import threading

import pytest

from mat.support import plugins
from mat.support.plugins import imported

from ..stress.children import outcome_of

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
SLOW = "import sys, time\nsys.mat_test_begun.set()\ntime.sleep(0.3)\nx = 1\n"
FORKING = "import os\npid = os.fork()\nif not pid:\n    os._exit(0)\nx = os.waitpid(pid, 0)[1]\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function that makes a module with a text, and returns its name."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "mat_test_begun", threading.Event(), raising=False)
    monkeypatch.setattr(plugins, "PATIENCE", 1e9)
    made = []

    def make(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        made.append(name)
        sys.path_importer_cache.clear()
        return name

    yield make
    for name in made:
        sys.modules.pop(name, None)
        plugins._done.discard(name)


@needs_fork
def test_a_fork_waits_for_an_import_of_another_thread(module):
    name = module("mat_test_slow", SLOW)
    thread = threading.Thread(target=imported, args=(name,))
    thread.start()
    assert sys.mat_test_begun.wait(10)
    wrong = outcome_of(lambda: str(imported(name).x - 1 or ""), seconds=20)
    thread.join()
    assert not wrong, wrong


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_an_import_that_forks_does_not_wait_for_itself(module):
    name = module("mat_test_forking", FORKING)
    wrong = outcome_of(lambda: str(imported(name).x or ""), seconds=20)
    assert not wrong, wrong


@needs_fork
def test_no_fork_waits_for_an_import_that_failed(module):
    with pytest.raises(ModuleNotFoundError):
        imported("mat_test_missing")
    wrong = outcome_of(lambda: None, seconds=20)
    assert not wrong, wrong
    assert imported(module("mat_test_missing", "x = 2\n")).x == 2
