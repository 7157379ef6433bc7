"""``python -m mat run``: its options, the files that see `mat`, and its report."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import mat
import mat.numpy
from mat.errors import SettingError
from mat.running.report import LineCost, Profile, Report, advice
from mat.running.stand_in import ProgramFiles, package_place

from .running import PROGRAMS, by_mat, run

pytestmark = pytest.mark.host


@pytest.fixture
def program(tmp_path):
    def write(text, name="program.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


KIND = "import numpy as np\nkind = type(np.ones(2)).__module__\n"


def test_arguments_and_status_are_those_of_the_program(program, tmp_path):
    path = program("import sys, numpy as np\n"
                   "print(sys.argv, __name__, type(np.ones(1)).__name__, __file__)\nsys.exit(3)\n")
    done = run(path, "--device", "-m", "x")
    assert done.stdout == f"[{str(path)!r}, '--device', '-m', 'x'] __main__ Mat {path}\n".replace(
        '"', "'")
    assert done.returncode == 3
    assert "program.py: " in done.stderr


def test_an_error_has_the_traceback_of_the_program(program):
    done = run(program("import numpy as np\nnp.ones(3).reshape(2)\n"))
    assert done.returncode == 1
    first, second, *_ = done.stderr.splitlines()
    assert first == "Traceback (most recent call last):"
    assert "program.py\", line 2" in second


def test_what_lies_beside_sees_mat_and_libraries_see_numpy(program, tmp_path, monkeypatch):
    program(KIND, "beside.py")
    program(KIND, "elsewhere/library.py")
    program(KIND, "elsewhere/other.py")
    inner = tmp_path / "site-packages"
    inner.mkdir()
    (inner / "installed.py").write_text(KIND)
    path = program("import sys\n"
                   f"sys.path[1:1] = [{str(inner)!r}]\n"
                   "import beside, installed\nprint(beside.kind, installed.kind)\n")
    assert run(path).stdout == "mat.matrix.mat numpy\n"
    path = program("import library, other\nprint(library.kind, other.kind)\n", "again/program.py")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([
        str(tmp_path / "elsewhere"), *filter(None, [os.environ.get("PYTHONPATH")])]))
    assert run("--also", "library", path).stdout == "mat.matrix.mat numpy\n"


def test_a_module(program, tmp_path):
    program("import sys\nfrom .inner import kind\nprint(kind, sys.argv[1:], __name__)\n",
            "package/__main__.py")
    program("", "package/__init__.py")
    program(KIND, "package/inner.py")
    done = run("--device", "cpu", "-m", "package", "-x", "1", cwd=tmp_path)
    assert done.stdout == "mat.matrix.mat ['-x', '1'] __main__\n", done.stderr


@pytest.mark.parametrize(("arguments", "text"), [
    ([], "a program is missing"), (["--device", "gpu", __file__], "gpu"),
    (["no-such-file.py"], "no-such-file.py"), ([str(PROGRAMS)], "no __main__.py"),
    (["-m", "no_such_module"], "no_such_module"),
    (["--also", "no_such_package", __file__], "no_such_package"),
    (["--pool", "many", "x.py"], "many")])
def test_wrong_options_are_errors(arguments, text):
    done = run(*arguments)
    assert done.returncode == 2
    assert text in done.stderr


def test_the_report_on_a_device(program, tmp_path):
    path = program("import numpy as np\n"
                   "x = np.ones((20, 20))\n"
                   "for k in range(60):\n"
                   "    x = x @ x / 20\n"
                   "    if x.sum() > 1e9:\n"
                   "        break\n"
                   "    y = np.i0(x[:2])\n"
                   "print(np.array(['a']))\n")
    page = tmp_path / "report.html"
    done = run("--device", "emulated", "--pool", 10 ** 8, path)
    rows = {line.split()[0].rpartition(":")[2]: line.split() for line in done.stderr.splitlines()
            if "program.py:" in line}
    assert rows["5"][3] == "60"  # waits
    assert "60" in rows["7"]  # fallbacks
    assert "What would gain most:" in done.stderr
    assert run("--device", "emulated", "--fused", path).stdout == "['a']\n"
    assert run("--device", "emulated", "--report", page, path).returncode == 0
    text = page.read_text()
    assert "x = x @ x / 20" in text
    assert "<table>" in text


def cost(**facts):
    found = LineCost()
    for name, value in facts.items():
        getattr(found, name).update(value) if isinstance(value, dict) else setattr(found, name,
                                                                                   value)
    return found


def test_what_to_write_instead(program):
    path = str(program("import numpy as np\n"
                       "for i in range(9):\n"
                       "    a[i] = b[i] + 1\n"
                       "    y = np.append(y, 3)\n"
                       "    if x.sum() > 1: pass\n"
                       "    z = a * b + c - d\n"))
    profile = Profile(ProgramFiles([path]))
    profile.seconds = 10.0
    profile.lines = {(path, 3): cost(seconds=4.0),
                     (path, 4): cost(seconds=2.0, fallbacks={"append": 9}, reasons={"append": ""}),
                     (path, 5): cost(seconds=1.0, moving=0.9, waits={"an element": 9}),
                     (path, 6): cost(seconds=0.5)}
    found = {a.line[1]: a for a in advice(profile)}
    assert list(found) == [3, 4, 5]
    assert "slices" in found[3].instead
    assert "np.concatenate(parts)" in found[4].instead
    assert "mat.where" in found[5].instead
    assert "a[i] = b[i] + 1" in str(Report(profile, "p", "emulated"))
    del profile.lines[path, 3]
    assert {a.line[1]: a for a in advice(profile)}[6].instead.startswith("run it with --fused")


def test_counts_by_line(program):
    path = program("import numpy as np\nx = np.ones(100) + 1\ny = x.copy()\n"
                   "print(float(x[3]))\nnp.sort(np.array(['b', 'a']))\n")
    with mat.use_device("emulated"):
        _, profile = by_mat(path)
    by_line = {line[1]: cost for line, cost in profile.lines.items() if line[0] == str(path)}
    assert by_line[4].waits.total() == 1
    assert by_line[5].kept == {"array": 1, "sort": 1}


def test_nothing_is_left_of_a_run():
    before = str, mat.Mat.__repr__, mat.Mat.sum, __import__
    by_mat(PROGRAMS / "life.py")
    assert before == (str, mat.Mat.__repr__, mat.Mat.sum, __import__)
    assert repr(mat.zeros(2)) == "<Mat 2 - [0. 0.]>"
    with pytest.raises(mat.DTypeError):
        mat.array(["a"])
    x = mat.ones(3).sum()
    y = x
    x += 1
    assert y is x


def test_no_package_of_that_name():
    with pytest.raises(SettingError, match="no_such_package"):
        package_place("no_such_package")


class Shell:
    """What the extension uses of IPython's shell."""

    def __init__(self):
        self.user_ns = {"np": np, "__name__": "__main__"}
        self.magics = {}

    def register_magic_function(self, function, kind, name):
        self.magics[name] = function


def test_the_extension_of_notebooks(tmp_path):
    shell = Shell()
    mat.numpy.load_ipython_extension(shell)
    mat.numpy.load_ipython_extension(shell)
    try:
        exec("import numpy\nx = np.ones(3)\ny = numpy.ones(2)", shell.user_ns)
        assert type(shell.user_ns["x"]) is type(shell.user_ns["y"]) is mat.Mat
        assert repr(shell.user_ns["x"]) == "array([1., 1., 1.])"
        report = shell.magics["mat_report"](str(tmp_path / "r.html"))
        assert "<table>" in report._repr_html_()
        assert "notebook" in (tmp_path / "r.html").read_text()
    finally:
        mat.numpy.unload_ipython_extension(shell)
    assert shell.user_ns["np"] is np
    exec("import numpy\nx = numpy.ones(3)", shell.user_ns)
    assert type(shell.user_ns["x"]) is np.ndarray


def test_lines_of_cells(monkeypatch):
    names = {"<a cell>": ("Cell", "In[8]")}
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=names.get))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    program = ProgramFiles([])
    assert program.has("<a cell>")
    profile = Profile(program)
    profile.lines["<a cell>", 2] = cost(seconds=1.0)
    assert "In [8]:2" in str(Report(profile, "notebook", "cpu"))


def test_advice_on_masks_in_a_loop(program):
    path = program("import numpy as np\n"
                   "x, label = np.ones((40, 3)), np.arange(40) % 4\n"
                   "c = np.zeros((4, 3))\n"
                   "for step in range(9):\n"
                   "    for j in range(4):\n"
                   "        some = x[label == j]\n"
                   "        c[j] = some.mean(axis=0)\n")
    with mat.use_device("emulated"):
        _, profile = by_mat(path)
    cost = profile.lines[str(path), 6]
    assert cost.waits == {"a size that depends on data": 36}
    cost.seconds = profile.cost((str(path), 7)).seconds = profile.seconds = 1.0
    found = {a.line[1]: a for a in advice(profile)}
    assert "a size that depends on data 36 times" in found[6].why
    assert "zeros and ones" in found[6].instead
    assert 7 not in found  # which only writes by the variable of the loop
