"""The modules that Cython compiles are all used, if they were built of these sources, or none is;
then Python's have their place.
"""

import ast
import os
import runpy
import shutil
import sys
from pathlib import Path

import pytest

from mat.support import compiled_modules as modules

from .needs import native
from .packing import COMPUTE, ROOT, python

pytestmark = pytest.mark.host
COPIED = Path(modules.__file__)
PACKAGE = COPIED.parents[1]
# the files that the modules of mat were loaded from
FILES = """
import mat
from importlib import import_module
names = [name for name in NAMES if name != "mat._core"]
print(*sorted({import_module(name).__file__.rpartition(".")[2] for name in names}))
"""


# What is found out, with a package of two modules


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Files as after a build; the functions that judge them."""
    monkeypatch.delenv("MAT_NATIVE", raising=False)
    folder = tmp_path / "mat"
    (folder / "support").mkdir(parents=True)
    shutil.copy2(COPIED, folder / "support")
    for name in ("_core.pyx", "_core.pxd", "cube.py", "cube.pxd"):
        (folder / name).write_text(f"# {name}\n")
    found = runpy.run_path(str(folder / "support" / COPIED.name))
    for name in ("_core", "cube"):
        (folder / f"{name}{found['SUFFIX']}").touch()
    record(folder, found["digests"](["mat._core", "mat.cube"]))
    return folder, found["fault"]


def record(folder, digests):
    text = "".join(f"{name} {digest}\n" for name, digest in digests.items())
    (folder / modules.RECORD).write_text(text + "how 123\n")


def test_a_whole_build_of_these_sources_is_used(package):
    assert package[1]() == ""


@pytest.mark.parametrize("name", ["_core.pyx", "_core.pxd", "cube.py", "cube.pxd"])
def test_a_changed_source_is_found_whatever_its_time(package, name):
    folder, fault = package
    before = (folder / name).stat()
    (folder / name).write_text("# changed\n")
    os.utime(folder / name, (0, 0))
    assert fault().endswith("has changed since it was compiled")
    (folder / name).write_text(f"# {name}\n")
    os.utime(folder / name, (before.st_atime + 1e6, before.st_mtime + 1e6))
    assert fault() == ""


def stamped(folder, found):
    names = ["mat._core", "mat.cube"]
    record(folder, {**found["digests"](names), "stamp": found["stamp"](names)})


@pytest.mark.parametrize("name", ["_core.pyx", "_core.pxd", "cube.py", "cube.pxd"])
def test_sources_that_nobody_touched_are_not_read(package, name, monkeypatch):
    folder, fault = package
    found = runpy.run_path(str(folder / "support" / COPIED.name))
    stamped(folder, found)
    read = []
    monkeypatch.setitem(fault.__globals__, "digests", lambda names: read.append(1) or found[
        "digests"](names))
    assert fault() == ""
    assert read == []
    before = (folder / name).stat()
    (folder / name).write_text(f"#!{name}\n")  # as long, and said to be as old
    os.utime(folder / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert fault().endswith("has changed since it was compiled")
    (folder / name).write_text(f"# {name}\n")
    assert fault() == ""
    assert read == [1, 1]


@pytest.mark.parametrize("name", ["_core", "cube"])
def test_a_missing_module_is_found(package, name):
    folder, fault = package
    (folder / f"{name}{modules.SUFFIX}").unlink()
    assert fault() == f"mat.{name} is missing"


def test_without_a_record_nothing_is_used(package):
    folder, fault = package
    (folder / modules.RECORD).unlink()
    assert fault() == "they were not built for this Python"


def test_modules_that_come_without_sources_are_used(package):
    folder, fault = package
    for path in [*folder.glob("*.py*"), *folder.glob("*.pxd")]:
        path.unlink()
    assert fault() == ""


def test_what_the_environment_says_comes_first(package, monkeypatch):
    monkeypatch.setenv("MAT_NATIVE", "0")
    assert package[1]() == "MAT_NATIVE is 0"


# The package


def declared():
    return sorted(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
                  for path in PACKAGE.rglob("*.pxd"))


def files(**environment):
    return python(FILES.replace("NAMES", repr(declared())), PACKAGE.parent, **environment)


def turned(tree):
    """Return the expressions that Cython 3.3 turns wrongly: of ``not (a is b is c)`` it makes ``a
    is not b and b is c``.
    """
    negated = [n.operand for n in ast.walk(tree)
               if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not)]
    return [ast.unparse(n) for n in negated if isinstance(n, ast.Compare) and len(n.ops) > 1
            and isinstance(n.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn)]


def test_no_chain_of_identities_is_negated_where_cython_compiles_it():
    assert turned(ast.parse("x = not (a is b is c)")) == ["a is b is c"]
    sources = [modules.source_of(name) for name in declared() if name != "mat._core"]
    assert {name: found for name in sources if (
        found := turned(ast.parse(Path(name).read_text(encoding="utf-8"))))} == {}


def test_every_compiled_module_has_a_source():
    assert "mat._core" in declared()
    assert [name for name in declared() if not Path(modules.source_of(name)).is_file()] == []


def test_the_headers_that_are_judged_are_those_there_are():
    folder = PACKAGE / "native" / "python"
    assert {f"native/python/{path.name}" for path in folder.iterdir()} < set(modules.PARTS)
    assert [part for part in modules.PARTS if not (PACKAGE / part).is_file()] == []


@native
def test_every_module_with_declarations_is_compiled():
    assert sorted(name for name in modules.recorded()
                  if name not in ("how", "by", "stamp")) == declared()
    assert files() == [modules.SUFFIX.rpartition(".")[2]]


def test_without_compiled_code_python_files_are_imported():
    assert files(MAT_NATIVE="0") == ["py"]


def test_without_compiled_code_the_extensions_are_refused():
    code = """import mat
for name in ("_core", "_native"):
    try:
        __import__(f"mat.{name}")
    except ModuleNotFoundError as error:
        print(error)"""
    assert python(code, PACKAGE.parent, MAT_NATIVE="0") == [
        "mat._core is not used: MAT_NATIVE is 0", "mat._native is not used: MAT_NATIVE is 0"]


def change(package):
    with (package / "core" / "cube.py").open("a") as file:
        file.write("# changed\n")


def remove(package):
    (package / "core" / f"cube{modules.SUFFIX}").unlink()


def remove_core(package):
    (package / f"_core{modules.SUFFIX}").unlink()


def break_core(package):
    (package / f"_core{modules.SUFFIX}").write_bytes(b"\x7fELF")


def remove_kernels(package):
    next(package.glob("_native.*")).unlink()


@native
@pytest.mark.slow
@pytest.mark.parametrize("damage", [change, remove, remove_core, break_core, remove_kernels],
                         ids=lambda f: f.__name__)
def test_a_build_that_is_not_whole_is_not_used_at_all(damage, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "mat", ignore=shutil.ignore_patterns("__pycache__"))
    damage(tmp_path / "mat")
    numbers, kernels, *said = python(COMPUTE, tmp_path)
    assert numbers == "132.0 144.0"
    assert kernels.startswith("none, NumPy does their work: ")
    assert len(said) == 1, said
    assert said[0].startswith("RuntimeWarning mat computes without its compiled kernels")
    code = "import warnings\nwarnings.simplefilter('ignore')\n" + FILES
    assert python(code.replace("NAMES", repr(declared())), tmp_path) == ["py"]
    refused = "try:\n    import mat\nexcept ImportError as error:\n    print(error)"
    assert python(refused, tmp_path, MAT_NATIVE="required")[0].startswith("MAT_NATIVE is required")


def test_other_packages_are_not_looked_for():
    finder = modules.SourceFinder("a reason")
    assert finder.find_spec("numpy.core", []) is None
    assert finder.find_spec("matplotlib", None) is None
    assert finder.find_spec("mat.core.nothing", [str(ROOT / "mat" / "core")]) is None
    assert not any(isinstance(f, modules.SourceFinder) for f in sys.meta_path) or modules.fault()
