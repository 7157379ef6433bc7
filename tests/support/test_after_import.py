"""Functions that are called after the import of a library."""

import subprocess
import sys
import threading
from importlib.machinery import ModuleSpec

import pytest

from mat.support.plugins import after_import


def module(folder, name, text="x = 1\n"):
    (folder / f"{name}.py").write_text(text)
    return name


@pytest.fixture
def folder(tmp_path, monkeypatch):
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_function_waits_for_the_import(folder):
    found = []
    name = module(folder, "mat_test_later")
    after_import(name, lambda m: found.append(m.x))
    after_import(name, lambda m: found.append(m.x + 1))
    assert found == []
    __import__(name)
    assert found == [1, 2]
    assert sys.modules[name].__spec__.loader.get_source(name) == "x = 1\n"


def test_a_module_that_is_there_is_not_waited_for(folder):
    found = []
    __import__(module(folder, "mat_test_before"))
    after_import("mat_test_before", lambda m: found.append(m.x))
    assert found == [1]


def test_a_module_that_another_thread_is_importing_is_waited_for(folder, monkeypatch):
    found = []
    begun, go = events = threading.Event(), threading.Event()
    monkeypatch.setattr(sys, "mat_test_events", events, raising=False)
    name = module(folder, "mat_test_slow", "import sys\nbegun, go = sys.mat_test_events\n"
                                           "begun.set()\ngo.wait(60)\nx = 1\n")
    other = threading.Thread(target=__import__, args=(name,))
    other.start()
    begun.wait()
    threading.Timer(0.05, go.set).start()
    after_import(name, lambda m: found.append(m.x))
    assert found == [1]
    other.join()


def test_an_import_that_fails_is_repeated(folder):
    found = []
    name = module(folder, "mat_test_failing", "1 / 0\n")
    after_import(name, lambda m: found.append(m.x))
    with pytest.raises(ZeroDivisionError):
        __import__(name)
    module(folder, name, "x = 3  # now\n")
    __import__(name)
    assert found == [3]


def test_an_error_is_a_warning(folder):
    name = module(folder, "mat_test_changed")
    after_import(name, lambda m: m.gone)
    with pytest.warns(RuntimeWarning, match="mat_test_changed.*gone"):
        __import__(name)
    assert sys.modules[name].x == 1


@pytest.mark.filterwarnings("ignore::ImportWarning")
def test_loaders_of_another_kind_are_left_alone(folder, monkeypatch):
    class Loader:
        """Of the kind that has no ``exec_module``: nothing can be called at its end."""

        def create_module(self, spec):
            return None

        def load_module(self, name):
            raise ImportError(name)

    class Finder:
        def find_spec(self, name, path, target=None):
            return ModuleSpec(name, Loader()) if name == "mat_test_loaded" else None

    found = []
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    after_import("mat_test_loaded", found.append)
    with pytest.raises(ImportError, match="mat_test_loaded"):
        __import__("mat_test_loaded")
    assert found == []


def test_modules_that_are_absent_stay_absent():
    after_import("mat_test_absent", print)
    with pytest.raises(ModuleNotFoundError):
        __import__("mat_test_absent")


@pytest.mark.slow
def test_mat_imports_no_library_for_that():
    code = ("import sys, mat; print(sorted({n.partition('.')[0] for n in sys.modules} & "
            "{'dask', 'distributed', 'pandas'}))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
