"""NumPy's own tests, run with `mat` in place of `numpy`: ``python -m tests.numpy.numpys_own``.

Each file of NumPy's installed test suite runs in a process of its own, twice: as it is, and after
its names of `numpy` were replaced by those of `mat`. What passes with NumPy is counted, and what
fails with `mat` is listed by the kind of its error. Arguments are names of files, such as
``test_numeric``; ``--failures`` shows the errors, ``-k`` selects tests as in pytest. With ``--run``
a copy of the file is a program that runs under ``python -m mat run``.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import mat
from mat.support.dtypes import SUPPORTED
from mat.support.types import Function

ROOT = Path(__file__).parents[2]
NUMPY = Path(np.__file__).parent
FILES = {  # by folder, with what of `numpy` the folder tests
    "_core": ("test_multiarray test_numeric test_umath test_shape_base test_indexing test_einsum "
              "test_item_selection test_function_base"),
    "lib": ("test_function_base test_arraysetops test_twodim_base test_stride_tricks "
            "test_nanfunctions test_shape_base test_index_tricks test_arraypad test_histograms "
            "test_ufunclike test_type_check"),
    "linalg": "test_linalg test_regression", "fft": "test_pocketfft test_helper",
}
COMPARING = {name for name in np.testing.__all__ if name.startswith("assert_")} - {
    "assert_raises", "assert_raises_regex", "assert_warns", "assert_no_warnings", "assert_"}
# what is otherwise by design, as errors say it, in this order
BY_DESIGN = {
    "other dtypes": (
        r"unsupported dtype|is not supported; there are|elements that are not numbers|elements "
        r"must be numbers|which a Mat cannot have|ragged nesting|one shape is meant, got .*\[\(|"
        r"DTypeError.*(object|void|longdouble|datetime|timedelta)"),
    "no warnings": r"FloatingPointError|DID NOT WARN|RuntimeWarning|did not raise fpe error",
    "flags, memory, resize": (
        r"strides|flags|the flag|__array_interface__|__array_struct__|ctypes|resize|bytes-like"),
    "subclasses and other classes": (
        r"subok|subclass|MaskedArray|MyArray|got <test_|__array_ufunc__|object __array__ method"),
    "another message": r"does not match|Regex pattern did not match",
}
# they give Mats to C functions that take them for arrays, and take long in any namespace
LEFT_OUT = "not elide and not sort_degraded"


class Namespace(ModuleType):
    """A module that has the names of one of `mat`, and beside them what only NumPy's has."""

    def __init__(self, ours: object, numpys: ModuleType) -> None:
        super().__init__(numpys.__name__)
        self.__dict__.update(_ours=ours, _numpys=numpys)

    def __getattr__(self, name: str) -> object:
        if not name.startswith("_") and name not in ("core", "version"):
            found = getattr(self._ours, name, self)
            if found is not self:
                return found
        return getattr(self._numpys, name)


def replace_names(module: ModuleType) -> None:
    """Replace NumPy's modules and functions among the names of a module by those of `mat`."""
    for name, value in tuple(vars(module).items()):
        if isinstance(value, ModuleType):
            found = NAMESPACES.get(value.__name__, value)
        elif isinstance(value, type) and value.__module__ == module.__name__:
            found = _of_class(value)
        else:
            found = _counterpart(name, value)
        setattr(module, name, found)


def _of_class(value: type) -> type:
    """Replace NumPy's functions among the attributes of a class of tests, and return it.

    A string of dtype characters loses those of the dtypes that Mats do not have.
    """
    for name, attribute in tuple(vars(value).items()):
        if name in ("types", "dtypes") and isinstance(attribute, str):
            setattr(value, name, "".join(c for c in attribute if np.dtype(c).name in SUPPORTED))
        elif isinstance(attribute, np.ufunc):
            setattr(value, name, staticmethod(_counterpart(attribute.__name__, attribute)))
        elif isinstance(attribute, list | tuple):  # of functions to test
            setattr(value, name, type(attribute)(
                _counterpart(getattr(f, "__name__", ""), f) for f in attribute))
    return value


def as_arrays(value: object) -> object:
    """Return a value with arrays, and scalars, for Mats."""
    if isinstance(value, mat.Mat):
        return value.to_numpy()[()]
    if type(value) in (list, tuple):
        return type(value)(map(as_arrays, value))
    return value


def _of_arrays(function: Function) -> Function:
    """Return a function of NumPy's that compares arrays, for Mats."""
    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        return function(*map(as_arrays, args), **kwargs)

    return call


NAMESPACES = {module.__name__: Namespace(ours, module) for ours, module in (
    (mat, np), (mat.linalg, np.linalg), (mat.fft, np.fft), (mat.random, np.random))}
NAMESPACES["numpy"].testing = types.SimpleNamespace(**{
    name: _of_arrays(value) if name in COMPARING else value
    for name, value in vars(np.testing).items()})


def _counterpart(name: str, value: object) -> object:
    """Return what `mat` has for a public object of NumPy's of that name."""
    if name in COMPARING and getattr(np.testing, name) is value:
        return _of_arrays(value)
    for namespace in NAMESPACES.values():
        if vars(namespace._numpys).get(name) is value and name in dir(namespace._ours):
            return getattr(namespace, name)
    return value


# As a plugin of pytest, in a process of its own

LIMIT = 10  # seconds for a test


def _interrupt(*_: object) -> None:
    raise TimeoutError(f"the test takes more than {LIMIT} seconds")


class Recorder:
    """Records how each test ends, line by line: a test can end the process."""

    def __init__(self, path: str, replaces: bool) -> None:
        self.path = Path(path)
        self.replaces = replaces

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for module in {item.module for item in items} if self.replaces else ():
            replace_names(module)

    def pytest_runtest_setup(self, item: Any) -> None:
        self.write(item.nodeid, "ends the process")
        signal.alarm(LIMIT)

    def pytest_runtest_teardown(self) -> None:
        signal.alarm(0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            self.write(report.nodeid, (str(report.longrepr) if crash is None
                                       else crash.message).strip())
        elif report.when == "call" or report.outcome == "skipped":
            self.write(report.nodeid, "" if report.outcome == "passed" else "skipped")

    def write(self, test: str, message: str) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps([test, message]) + "\n")


def pytest_configure(config: object) -> None:
    """Have pytest record, and replace names where the environment asks for it."""
    signal.signal(signal.SIGALRM, _interrupt)
    path, replaces = os.environ["NUMPYS_OWN"].split("|")
    config.pluginmanager.register(Recorder(path, replaces == "mat"))


def run(path: Path, whose: str, tests: str, limit: int = 1800) -> dict[str, str]:
    """Return the message of the error of each test in a file, "" for those that pass."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        environment = {**os.environ, "NUMPYS_OWN": f"{results}|{whose}", "PYTHONPATH": str(ROOT)}
        start, root = ["-m", "pytest"], NUMPY
        if whose == "run":
            start, root, path = _as_program(path, Path(folder) / "numpy")
        command = [sys.executable, *start, "-q", "-p", "tests.numpy.numpys_own", "-p",
                   "no:cacheprovider", "-p", "no:randomly", "--tb=short", "-c", os.devnull,
                   f"--rootdir={root}", "-W", "ignore", "-m", "not slow",
                   "-k", f"({LEFT_OUT}) and ({tests})", str(path)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=limit, check=False)
        if not results.exists():
            raise RuntimeError(f"{path}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return dict(map(json.loads, results.read_text().splitlines()))


def _as_program(path: Path, root: Path) -> tuple[list[str], Path, Path]:
    """Copy a folder of tests to one of the same name in `root`, beside a program that runs them;
    return the arguments that run it by `mat`, `root`, and the path of the copied file.
    """
    folder = root / path.parent.relative_to(NUMPY)
    shutil.copytree(path.parent, folder, ignore=shutil.ignore_patterns("__pycache__", "test_*.py"))
    shutil.copy(path, folder)
    (folder / "__init__.py").unlink(missing_ok=True)
    program = folder / "program.py"
    program.write_text("import sys\nimport pytest\n"
                       "options = ['--import-mode=importlib', *sys.argv[1:]]\n"
                       "sys.exit(pytest.main(options))\n", "utf-8")
    return ["-m", "mat", "run", "--numpy-random", str(program)], root, folder / path.name


def kind_of(message: str) -> str:
    """Return what kind of a difference the message of an error is."""
    line = message.split("\n")[0]
    return next((kind for kind, pattern in BY_DESIGN.items() if re.search(pattern, message)),
                re.sub(r"^mat\.errors\.", "", line.split(":")[0])[:40])


def compare(path: Path, tests: str, whose: str) -> tuple[int, dict[str, str]]:
    """Return how many tests of a file pass with NumPy, and the errors of those with `mat`."""
    numpys, ours = run(path, "numpy", tests), run(path, whose, tests)
    passing = [test for test, message in numpys.items() if not message]
    return len(passing), {test: ours[test] for test in passing if ours.get(test)}


def paths(names: list[str]) -> list[Path]:
    """Return the files of those names, by default all."""
    every = [NUMPY / folder / "tests" / f"{name}.py" for folder, files in FILES.items()
             for name in files.split()]
    return [path for path in every if path.exists()
            and (not names or path.stem in names or f"{path.parts[-3]}/{path.stem}" in names)]


def main() -> None:
    """Run the files, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--run", action="store_const", const="run", default="mat")
    parser.add_argument("-k", default="Test or test")
    given = parser.parse_args()
    print("| file | pass with NumPy | of these with `mat` | | others, by kind |\n"
          "|---|---|---|---|---|")
    for path in paths(given.names):
        count, failed = compare(path, given.k, given.run)
        kinds = collections.Counter(map(kind_of, failed.values()))
        listed = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common(8))
        share = 100 * (count - len(failed)) / max(count, 1)
        print(f"| `{path.parts[-3]}/{path.stem}` | {count} | {count - len(failed)} | {share:.0f} % "
              f"| {listed} |", flush=True)
        for test, message in failed.items() if given.failures else ():
            print(f"  {test.split('::', 1)[-1]}: {' '.join(message.split())[:300]}")


if __name__ == "__main__":
    main()
