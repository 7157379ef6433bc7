"""Processes of one run share bytecode, and write none beside the sources if that is unwanted."""

import sys

import pytest

from . import bytecode

IMPORTED = []  # names of modules, by themselves
MODULES = {"test_a": "", "test_b": "raise OSError", "test_c": "",
           "test_d": "import pytest; pytest.skip('without it', allow_module_level=True)",
           "test_e": "", "helper": ""}


def test_bytecode_is_not_written_beside_the_sources(monkeypatch):
    environ = bytecode.os.environ
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "before")
    monkeypatch.setenv(bytecode.BYTECODE, "")
    monkeypatch.delenv(bytecode.BYTECODE)
    folder = bytecode.share_bytecode(distributes=True)
    assert environ["PYTHONPYCACHEPREFIX"] == "before"
    assert bytecode.share_bytecode(distributes=False) is None  # in another process
    assert environ["PYTHONPYCACHEPREFIX"] == environ[bytecode.BYTECODE] == folder.name
    assert "PYTHONDONTWRITEBYTECODE" not in environ
    folder.cleanup()
    assert bytecode.share_bytecode(distributes=False) is None


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder of modules that note their import; two of them cannot be imported."""
    folder = tmp_path / "mat_sample"
    folder.mkdir()
    for name, text in MODULES.items():
        note = f"import {__name__} as here; here.IMPORTED.append(__name__[11:])\n"
        (folder / f"{name}.py").write_text(note + text, encoding="utf-8")
    monkeypatch.setattr(bytecode, "ROOT", tmp_path.resolve())
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    forget()


def forget():
    IMPORTED.clear()
    for name in [name for name in sys.modules if name.startswith("mat_sample")]:
        del sys.modules[name]


@pytest.mark.parametrize(("worker", "first"), [(0, "a"), (1, "b"), (2, "d")])
def test_each_process_begins_with_its_part_of_the_modules(package, worker, first):
    bytecode.import_tests([str(package)], worker, workers=3)
    names = "abcdeabcde"
    start = names.index(first)
    assert [name.removeprefix("test_") for name in IMPORTED] == [*names[start:start + 5]]


def test_files_and_what_is_elsewhere_are_left_to_pytest(package, tmp_path, monkeypatch):
    monkeypatch.setattr(bytecode, "ROOT", package / "inner")
    bytecode.import_tests([str(package), f"{package / 'test_a.py'}::test_it", "nowhere"], 0, 2)
    assert IMPORTED == []
