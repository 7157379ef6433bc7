"""The programs of ``examples/`` that run under NumPy and under `mat` by one changed import line:
processor time in one thread, in a new process for each measurement.

A program is measured in three ways: as a whole process; its first run after the import, with what
`mat` does at the first call of everything; and several runs after the import.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .row import Goal, Row
from .timing import Pace, Thunk

ROOT = Path(__file__).parents[3]
PROGRAMS = {"kmeans": 30, "logistic_regression": 12, "small_cnn": 3, "image_pipeline": 15}  # runs
LIMIT = 1.3
WHOLE, FIRST, SEVERAL = "whole process", "first run", "several runs"
GOALS = tuple(Goal(f"programs, {how}", "numpy", 1.0) for how in (WHOLE, FIRST, SEVERAL))


def rows() -> Iterator[Row]:
    """Four programs as whole processes, run for the first time, and run several times."""
    with tempfile.TemporaryDirectory() as folder:
        for name, times in PROGRAMS.items():
            paths = {package: written(name, package, Path(folder)) for package in ("mat", "numpy")}
            yield _row(name, WHOLE, {package: partial(_run, path) for package, path in
                                     paths.items()}, Pace(0, 0, 1, _of_children))
            for how, n in ((FIRST, 1), (SEVERAL, times)):
                spent = Spent()
                yield _row(name, how, {package: partial(spent.run, path, package, n)
                                       for package, path in paths.items()},
                           Pace(0, 0, 1, spent.clock), n)


def _row(name: str, how: str, competitors: dict[str, Thunk], pace: Pace, times: int = 1) -> Row:
    return Row(f"{name}, {how}", dict(competitors), limit=LIMIT, times=times,
               group=f"programs, {how}", pace=pace)


def written(name: str, package: str, folder: Path) -> Path:
    """The program as a file of `folder` that imports `package`."""
    text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    path = folder / f"{name}_with_{package}.py"
    path.write_text(text.replace("import mat as np\n", f"import {package} as np\n"),
                    encoding="utf-8")
    return path


class Spent:
    """A clock of the processor time that programs report."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def clock(self) -> float:
        return self.seconds

    def run(self, path: Path, package: str, times: int) -> None:
        """Have a new process import the package, run the program so often, and report."""
        script = Path(__file__).with_name("program.py")
        self.seconds += float(_run(script, str(path), package, str(times)))


def _of_children() -> float:
    """The processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(script: Path, *arguments: str) -> str:
    """What a new process prints, which has one thread, and modules compiled before."""
    folder = str(script.parent) if not arguments else str(Path(arguments[0]).parent)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT),
                   "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
    # -P: the folder of the script has a random.py, too
    return subprocess.run([sys.executable, "-P", str(script), *arguments], env=environment,
                          text=True, check=True, stdout=subprocess.PIPE,
                          preexec_fn=_on_one_core).stdout


def _on_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
