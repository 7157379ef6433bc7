"""``python -m mat``, and what IPython gets of us."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mat
from mat.__main__ import complete, main
from mat.core import source_line
from mat.debug.show import complete as complete_names
from mat.support import compiled_modules

from ..support import needs

pytestmark = pytest.mark.host


def run(*arguments, text=""):
    return subprocess.run([sys.executable, "-m", "mat", *arguments], input=text,
                          capture_output=True, text=True, timeout=120,
                          check=False)


def test_info_says_what_computes_here(capsys):
    assert main(["info"]) == 0
    assert capsys.readouterr().out == f"{mat.show_config()!r}\n"


@needs.native
def test_the_version_and_the_build(capsys):
    assert main(["--version"]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    facts = dict(line.split(": ", 1) for line in others)
    assert first == f"mat {mat.__version__}"
    assert list(facts) == ["kernels", "core", "Python", "NumPy", "BLAS"]
    assert facts["NumPy"] == np.__version__
    assert platform.python_version() in facts["Python"]
    assert re.fullmatch(r"compiled by (gcc|\w*clang|Apple).*, running those for .+",
                        facts["kernels"], re.IGNORECASE)
    found = re.fullmatch(r"(\d+) modules compiled by Cython [\w.]*, build [0-9a-f]{8}",
                         facts["core"])
    assert int(found[1]) == len(list(Path(mat.__file__).parent.rglob("*.pxd")))


def test_the_version_says_why_nothing_is_compiled():
    done = subprocess.run([sys.executable, "-m", "mat", "--version"], capture_output=True,
                          text=True, timeout=120, check=True,
                          env={**os.environ, "MAT_NATIVE": "0"})
    _, kernels, core, *_ = done.stdout.splitlines()
    assert (kernels, core) == ("kernels: none, NumPy does their work: MAT_NATIVE is 0",
                               "core: not compiled, Python files do its work: MAT_NATIVE is 0")


def test_the_build_of_other_sources_has_another_identifier(monkeypatch):
    record = {"mat.a": "01", "mat.b": "02", "how": "03", "by": "Cython 3.9"}
    monkeypatch.setattr(compiled_modules, "recorded", lambda: record)
    first = compiled_modules.build()
    assert first.startswith("2 modules compiled by Cython 3.9, build ")
    record["mat.a"] = "11"
    assert compiled_modules.build() != first


def test_a_prompt_with_mat_on_a_device():
    done = run("--device", "emulated", "--dtype", "float32",
               text="x = mat.ones(2) + 1\nprint(x.fresh, x.dtype, np.pi)\n")
    assert done.returncode == 0, done.stderr
    assert "{'emulated'} float32 3.14" in done.stdout


def test_a_plain_prompt_where_ipython_is_missing(tmp_path):
    (tmp_path / "IPython.py").write_text("raise ImportError('no IPython')")
    code = (f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['mat']; "
            "from mat.__main__ import main; main()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          input="1/0\nprint(mat.ones(2).sum())\n", timeout=120, check=False)
    assert "2.0" in done.stdout, done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "IPython" not in done.stderr  # no error at the prompt is one during another


def test_the_plain_prompt_completes_names():
    readline = pytest.importorskip("readline")
    before = readline.get_completer()
    try:
        complete({"matrix_of_mine": mat.ones(2)})
        assert readline.get_completer()("matrix_of", 0) == "matrix_of_mine"
        assert readline.get_completer()("matrix_of_mine.fre", 0) == "matrix_of_mine.fresh"
    finally:
        readline.set_completer(before)


@pytest.mark.parametrize("wrong", [["--device", "gpu"], ["--device", "emulated:1000"],
                                   ["--dtype", "float99"], ["fly"]])
def test_wrong_options_are_errors(wrong, capsys):
    with pytest.raises(SystemExit) as caught:
        main(wrong)
    mat.set_device("cpu")
    assert caught.value.code == 2
    assert wrong[-1] in capsys.readouterr().err


@pytest.mark.parametrize(("text", "wanted"), [
    ('x.facet("', {"array", "backing", "foreign", "emulated"}), ('x.facet("arr', {"array"}),
    ("x.facet('b", {"backing"}),
    ('x.drop("emu', {"emulated"}), ('with mat.use_device("', {"cpu", "cuda", "emulated"}),
    ("x.facet(", set()),
    ("x.sum(", set()),
])
def test_names_are_completed(text, wanted):
    found = set(complete_names(text))
    assert wanted <= found
    assert bool(wanted) == bool(found)


@pytest.fixture
def shell():
    testing = pytest.importorskip("IPython.core.interactiveshell",
                                  reason="IPython is not installed")
    shell = testing.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "mat")
    yield shell
    testing.InteractiveShell.clear_instance()


def test_a_traced_cell(shell, tmp_path):
    path = tmp_path / "t.html"
    cell = "import mat\nwith mat.use_device('emulated'):\n    y = mat.ones(3) + 1\n"
    found = shell.run_cell_magic("mat_trace", str(path), cell)
    assert found.d2h == 1
    assert "<svg" in path.read_text()


CELL = """import mat
x = mat.ones(100)
with mat.debug.trace() as t, mat.use_device("emulated"):
    x += 1
"""


def test_lines_of_cells_have_their_number(shell):
    shell.execution_count = 8
    assert shell.run_cell(CELL, store_history=True).success
    assert {e.line for e in shell.user_ns["t"].operations} == {"In [8]:4"}


def test_lines_of_a_traced_cell_are_those_of_the_cell(shell):
    shell.execution_count = 8
    body = CELL.replace("mat.debug.trace() as t, ", "")
    assert shell.run_cell(f"%%mat_trace\n{body}", store_history=True).success
    assert {e.line for e in shell.user_ns["_"].operations} == {"In [8]:5"}
    assert shell.execution_count == 9


def test_lines_of_cells_without_ipython(monkeypatch):
    """By an object that has what IPython's shell has."""
    names = {"<a cell>": ("Cell", "In[8]")}
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=names.get))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    found = {"mat": mat}
    exec(compile(CELL, "<a cell>", "exec"), found)
    assert {e.line for e in found["t"].operations} == {"In [8]:4"}
    assert source_line.cell_of(__file__) is None


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_completion_in_ipython(shell):
    _, matches = shell.complete(None, 'x.facet("ba', 11)
    assert any("backing" in m for m in matches)


def test_loading_twice_changes_nothing(shell):
    before = len(shell.Completer.custom_matchers)
    shell.run_line_magic("reload_ext", "mat")
    assert len(shell.Completer.custom_matchers) == before
