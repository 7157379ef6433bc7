"""Type checkers know the types of ordinary uses, and find mistakes; the stubs are current."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mat

from . import stubs

pytestmark = [pytest.mark.host, pytest.mark.once]

HERE = Path(__file__).parent
COMPLETE = 0.96  # of all names, those of internal modules included
REPOSITORY = HERE.parents[1]
MISTAKES, USES = HERE / "mistakes.py", HERE / "uses.py"
WITH_PYRIGHT = pytest.mark.skipif(importlib.util.find_spec("pyright") is None,
                                  reason="pyright is not installed")


def expected():
    """The lines of mistakes."""
    lines = MISTAKES.read_text(encoding="utf-8").splitlines()
    return {k for k, line in enumerate(lines, 1) if line.endswith("# error")}


def run(*command):
    return subprocess.run([sys.executable, "-m", *command], cwd=REPOSITORY, text=True, check=False,
                          capture_output=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": str(REPOSITORY)}).stdout


def lines_of_mypy(path, tmp_path):
    """The lines for which mypy reports an error."""
    out = run("mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path), str(MISTAKES),
              str(USES))
    found = re.findall(rf"^.*{path.name}:(\d+): error: (.*)$", out, re.M)
    return {int(line): text for line, text in found}, out


def lines_of_pyright(path):
    """The lines for which pyright reports an error."""
    out = run("pyright", "--outputjson", "--pythonpath", sys.executable, str(path))
    found = json.loads(out)["generalDiagnostics"]
    return {d["range"]["start"]["line"] + 1: d["message"] for d in found
            if d["severity"] == "error"}


@pytest.mark.slow
def test_mypy_knows_the_types_of_uses_and_finds_mistakes(tmp_path):
    found, out = lines_of_mypy(MISTAKES, tmp_path)
    assert set(found) == expected(), found
    assert "uses.py" not in out, out


@pytest.mark.slow
@WITH_PYRIGHT
def test_pyright_knows_the_types_of_uses():
    assert lines_of_pyright(USES) == {}


@pytest.mark.slow
@WITH_PYRIGHT
def test_pyright_finds_mistakes():
    found = lines_of_pyright(MISTAKES)
    assert set(found) == expected(), found


@pytest.mark.slow
@WITH_PYRIGHT
def test_nearly_all_public_names_have_types():
    out = run("pyright", "--verifytypes", "mat", "--ignoreexternal", "--outputjson",
              "--pythonpath", sys.executable)
    assert json.loads(out)["typeCompleteness"]["completenessScore"] >= COMPLETE


@pytest.mark.slow
def test_stubs_are_current():
    texts = stubs.stubs()
    there = {file: (stubs.ROOT / f"{file}.pyi").read_text(encoding="utf-8") for file in texts}
    version = re.search(r"with NumPy (\S+):", there["__init__"])[1]
    if version != np.__version__:
        pytest.skip(f"the stubs are written with NumPy {version}")
    stale = [file for file, text in texts.items() if there[file] != text]
    assert stale == [], "run python -m tests.types.stubs"


def members(kind):
    """The names in a class that only checkers know."""
    tree = ast.parse((stubs.ROOT / "support" / "types.py").read_text(encoding="utf-8"))
    found, = (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == kind)
    return sorted({node.name for node in found.body if isinstance(node, ast.FunctionDef)})


@pytest.mark.parametrize("name", members("Entry"))
def test_what_an_element_may_be_has_the_members_that_checkers_accept(name):
    """It is a number of NumPy, or a Mat."""
    assert hasattr(mat.zeros(3, 4, 5)[0, 0], name)
    numbers = [mat.zeros(3, 4, dtype=dtype)[0, 0] for dtype in ("int64", "float64")]
    of_some = name == "__index__"
    assert (any if of_some else all)(hasattr(number, name) for number in numbers)


@pytest.mark.parametrize("name", sorted(mat.__all__))
def test_every_name_is_in_the_stub(name):
    text = (stubs.ROOT / "__init__.pyi").read_text(encoding="utf-8")
    assert re.search(rf"\b(def|as|class) {re.escape(name)}\b|^{re.escape(name)}: ", text, re.M)
