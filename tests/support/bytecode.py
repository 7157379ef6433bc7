"""Bytecode that the processes of one run share: of interpreters that tests start, and of tests."""

import importlib
import os
import tempfile
from pathlib import Path

import pytest

BYTECODE = "MAT_TEST_BYTECODE"  # the variable with the folder of `share_bytecode`
ROOT = Path(__file__).resolve().parents[2]


def share_bytecode(distributes):
    """Keep the bytecode of the interpreters that tests start in a folder for this run.

    This is done where none is to be written beside the sources, since each of some two hundred
    interpreters compiled all of `mat` otherwise. A process that `distributes` tests to others makes
    the folder, and these use it. Return the folder, or None if this process has not made it.
    """
    if not os.environ.get("PYTHONDONTWRITEBYTECODE"):
        return None
    folder = None
    if BYTECODE not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="mat-bytecode-", ignore_cleanup_errors=True)
        os.environ[BYTECODE] = folder.name
    if not distributes:  # the others read the bytecode beside the libraries
        del os.environ["PYTHONDONTWRITEBYTECODE"]
        os.environ["PYTHONPYCACHEPREFIX"] = os.environ[BYTECODE]
    return folder


def import_tests(arguments, worker, workers):
    """Import the modules of tests in the folders among `arguments`, before they are collected.

    Each process begins elsewhere, so that it compiles its part, and finds the bytecode of the rest:
    what pytest makes of the assertions takes as long as all other collecting. What cannot be
    imported is left to pytest, which says why.
    """
    paths = sorted(path.resolve() for argument in arguments
                   for path in Path(argument).rglob("test_*.py"))
    start = len(paths) * worker // workers
    for path in paths[start:] + paths[:start]:
        if ROOT in path.parents:
            _import(".".join(path.relative_to(ROOT).with_suffix("").parts))


def _import(name):
    try:
        importlib.import_module(name)
    except (Exception, pytest.skip.Exception):
        pass
