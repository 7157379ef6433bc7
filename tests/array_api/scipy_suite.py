"""Run SciPy's own tests of array API support with `mat` as another backend:

    python -m tests.array_api.scipy_suite [MODULE ...] [-- arguments of pytest]

MODULE is a part of SciPy, such as ``stats``; by default, all that have such tests are run. It needs
pytest, hypothesis and array_api_strict, which is run beside `mat`: a test that fails for both does
not count. Tests in which SciPy writes into a Mat (`output=`, `overwrite_data=True`) are counted
apart, since a Mat is exported read-only (docs/interop.md). The installed SciPy is not changed: the
tests run in a folder of links to it, with a `conftest.py` that has one backend more.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import scipy

MODULES = ("cluster", "constants", "differentiate", "fft", "integrate", "interpolate", "linalg",
           "ndimage", "optimize", "signal", "spatial", "special", "stats", "_lib")
KNOWN = "'dask.array'}"  # the end of the names of backends, in SciPy's conftest
SELECTED = "    xp_available_backend_ids = {p.id"
ADDED = """    import mat
    mat.configure(scalars=False)
    xp_available_backends.append(pytest.param(mat, id='mat', marks=pytest.mark.array_api_backends))
    xp_available_backends = [p for p in xp_available_backends
                             if p.id in ('mat', 'array_api_strict')]

"""
READ_ONLY = ("output array is read-only", "assignment destination is read-only")
OUTCOME = re.compile(r"^(?:FAILED|ERROR) (\S+?)\[(.*?)\](?: - (.*))?$", re.MULTILINE)


def make_folder(folder: Path) -> None:
    """Fill a folder with links to the parts of SciPy, and a conftest with `mat` as a backend."""
    there, here = Path(scipy.__file__).parent, folder / "scipy"
    here.mkdir()
    for entry in there.iterdir():
        if entry.name not in ("conftest.py", "__pycache__"):
            (here / entry.name).symlink_to(entry)
    text = (there / "conftest.py").read_text()
    for old, new in ((KNOWN, KNOWN.replace("}", ", 'mat'}")), (SELECTED, ADDED + SELECTED)):
        if old not in text:
            raise SystemExit(f"the conftest.py of SciPy {scipy.__version__} is without {old!r}")
        text = text.replace(old, new, 1)
    (here / "conftest.py").write_text(text)


def run(module: str, folder: Path, more: list[str]) -> str:
    """Run the tests of a part of SciPy; return what pytest prints."""
    paths = [str(folder), str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rfE", "--tb=line", "-m",
         "array_api_backends and not slow and not xslow", f"scipy/{module}", *more],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "SCIPY_ARRAY_API": "1", "COLUMNS": "400",
             "PYTHONPATH": os.pathsep.join(filter(None, paths))})
    return found.stdout


def failures(text: str) -> dict[str, dict[tuple[str, str], str]]:
    """Return the failures of each backend: errors by test and its other parameters."""
    found: dict[str, dict[tuple[str, str], str]] = {"mat": {}, "array_api_strict": {}}
    for test, parameters, error in OUTCOME.findall(text):
        for backend, those in found.items():
            parts = parameters.split("-")
            if backend in parts:
                parts.remove(backend)
                those[test, "-".join(parts)] = error
    return found


def report(module: str, text: str) -> tuple[int, int]:
    """Print the failures of `mat` alone; return their number, and that of writes into a Mat."""
    found = failures(text)
    own = {test: error for test, error in found["mat"].items()
           if test not in found["array_api_strict"]}
    listed = [f"    {test}[{parameters}] {error}" for (test, parameters), error in own.items()
              if not any(words in error for words in READ_ONLY)]
    writes = len(own) - len(listed)
    print(f"{module}: {len(listed)} failures of mat alone, {writes} by writes into a Mat; "
          f"{text.strip().splitlines()[-1]}", *listed, sep="\n", flush=True)
    return len(listed), writes


def main() -> int:
    given = sys.argv[1:]
    split = given.index("--") if "--" in given else len(given)
    with tempfile.TemporaryDirectory() as name:
        make_folder(Path(name))
        counts = [report(module, run(module, Path(name), given[split + 1:]))
                  for module in given[:split] or MODULES]
    total, writes = (sum(column) for column in zip(*counts, strict=True))
    print(f"{total} failures of mat alone, and {writes} by writes into a Mat")
    return 0


if __name__ == "__main__":
    sys.exit(main())
