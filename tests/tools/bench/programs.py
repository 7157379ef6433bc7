"""Sixteen NumPy programs, under NumPy and under `mat` by one changed import line: four of
``examples/``, the others in ``numpy_programs/``. Processor time in one thread.

A program is measured in its first run after the import, with what `mat` does at the first call of
everything, in a new process for each measurement; and in later runs of one process for each
package. Those of ``examples/`` are measured as whole processes, too.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from .row import Goal, Row
from .timing import Pace, Thunk

ROOT = Path(__file__).parents[3]
EXAMPLES = [ROOT / "examples" / f"{name}.py"
            for name in ("kmeans", "logistic_regression", "small_cnn", "image_pipeline")]
OTHERS = sorted(Path(__file__).with_name("numpy_programs").glob("*.py"))
LIMIT = 1.3
WHOLE, FIRST, LATER = "whole process", "first run", "later runs"
GOALS = tuple(Goal(f"programs, {how}", "numpy", mean)
              for how, mean in ((WHOLE, 1.0), (FIRST, 1.0), (LATER, 0.9)))


def rows() -> Iterator[Row]:
    """All programs run for the first time, and run again; four of them as whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        for program in (*EXAMPLES, *OTHERS):
            paths = {package: written(program, package, Path(folder))
                     for package in ("mat", "numpy")}
            if program in EXAMPLES:
                yield _row(program.stem, WHOLE, {package: partial(_whole, path) for package, path in
                                                 paths.items()}, _of_children)
            yield from (_first(program.stem, paths), _later(program.stem, paths))


def _first(name: str, paths: dict[str, Path]) -> Row:
    spent = Spent()
    return _row(name, FIRST, {package: partial(spent.first, path, package)
                              for package, path in paths.items()}, spent.clock)


def _later(name: str, paths: dict[str, Path]) -> Row:
    spent = Spent()
    kept = {package: Process(path, package) for package, path in paths.items()}
    for process in kept.values():
        process.run()
    return _row(name, LATER, {package: partial(spent.run, process)
                              for package, process in kept.items()}, spent.clock)


def _row(name: str, how: str, competitors: dict[str, Thunk], clock: Callable[[], float]) -> Row:
    return Row(f"{name}, {how}", dict(competitors), limit=LIMIT, group=f"programs, {how}",
               pace=Pace(0, 0, 1, clock))


def written(program: Path, package: str, folder: Path) -> Path:
    """The program as a file of `folder` that imports `package`."""
    text = program.read_text(encoding="utf-8")
    path = folder / f"{program.stem}_with_{package}.py"
    for other in ("mat", "numpy"):
        text = text.replace(f"import {other} as np\n", f"import {package} as np\n")
    path.write_text(text, encoding="utf-8")
    return path


class Process:
    """A process that has imported the package, and runs the program whenever it is told to."""

    def __init__(self, path: Path, package: str) -> None:
        script = str(Path(__file__).with_name("program.py"))
        self.process = _started(path.parent, script, str(path), package)

    def run(self) -> float:
        """The processor time of a run."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def __del__(self) -> None:
        self.process.communicate()


class Spent:
    """A clock of the processor time that programs report."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def clock(self) -> float:
        return self.seconds

    def run(self, process: Process) -> None:
        """Have a process run its program."""
        self.seconds += process.run()

    def first(self, path: Path, package: str) -> None:
        """Have a new process import the package and run the program."""
        self.run(Process(path, package))


def _of_children() -> float:
    """The processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _whole(path: Path) -> None:
    process = _started(path.parent, str(path))
    process.communicate()
    assert process.returncode == 0, path


def _started(folder: Path, *command: str) -> subprocess.Popen[str]:
    """A new process of Python, which has one thread, and modules compiled before."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT),
                   "PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
    # -P: the folder of the script has a random.py, too
    return subprocess.Popen([sys.executable, "-P", *command], env=environment, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            preexec_fn=_on_one_core)


def _on_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
