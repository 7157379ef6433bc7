"""Run the tests on a GPU, then the benchmarks, and write a report; with ``--mock`` on the mock
driver, measuring nothing.

``python -m tests.gpu [--report docs/benchmarks/gpu.md] [--only TEXT] [--tests PATH ...]
[--no-tests] [--no-benchmarks] [--mock]``
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mat

from . import computing, moves
from .measuring import Found, run
from .report import page
from .setting import Setting, version

ROOT = Path(__file__).parents[2]
SECTIONS = {
    "Transfers": moves.transfers, "Copies ahead": moves.ahead, "Calls": computing.calls,
    "Element-wise and reductions": computing.bounded, "Permutes": moves.permutes,
    "Products": computing.products,
    "Training": computing.training, "Compiling": computing.compiling,
}
# the tests that are run where nothing is measured
TRIAL = ["tests/cuda/test_memory.py", "tests/matrix/test_creation.py"]


def facts() -> dict[str, str]:
    """Return what the numbers depend on."""
    from ..bench.__main__ import processor  # here, since it imports all libraries that are compared

    config = mat.show_config()
    found = {"date": time.strftime("%Y-%m-%d"), "host": f"{processor()}, {os.cpu_count()} cores, "
                                                        f"{platform.platform()}"}
    found |= {name: text for name, text in config.items() if name.startswith("cuda:")
              or name in ("CUDA", "NVRTC", "cuBLAS")}
    found |= {"Python": platform.python_version(), "mat": mat.__version__, "NumPy": config["NumPy"],
              "torch": version("torch"),
              "CuPy": next((v for v in map(version, ("cupy-cuda13x", "cupy-cuda12x", "cupy"))
                            if v != "-"), "-")}
    return found


def tests(mock: bool, paths: list[str]) -> dict[str, str]:
    """Run the whole suite with the device in use, in a process of its own; a part of it on the mock
    driver.
    """
    environment = {**os.environ, "MAT_TEST_DEVICE": "cuda", "MAT_TEST_CUDA": "" if mock else "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--all",
             *(paths or (TRIAL if mock else []))]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True,
                          check=False)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    failures = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    print(done.stdout[-20_000:] if done.returncode else lines[-1])
    part = "a part of" if paths or mock else "the whole of"
    name = f"{part} the suite on cuda{', mock driver' if mock else ''}"
    found = {name: lines[-1] if lines else f"pytest ended with {done.returncode}: "
                                           f"{done.stderr[-500:]}"}
    return found | {f"failure {k + 1}": line for k, line in enumerate(failures[:50])}


@contextmanager
def driver(mock: bool) -> Iterator[None]:
    """Use the driver of the machine, or the mock driver."""
    if not mock:
        yield
        return
    from ..mock_driver.driver import cublas, missing
    from ..mock_driver.fixtures import mock_driver

    if missing():
        raise SystemExit(f"there can be no mock driver here: {missing()}")
    os.environ["MAT_CUBLAS"] = str(cublas())
    with mock_driver():
        yield


def benchmarks(mock: bool, only: str) -> dict[str, list[Found]]:
    sections: dict[str, list[Found]] = {}
    for title, make in SECTIONS.items():
        if only.lower() not in title.lower():
            continue
        sections[title] = []
        with mat.use_device("cuda", required=True) as device:
            at = Setting(device, small=mock, alone=mock)
            for found in run(lambda make=make, at=at: make(at), device.synchronize, mock):
                print(f"{title}: {found.name}{': ' + found.failed if found.failed else ''}",
                      flush=True)
                sections[title].append(found)
    return sections


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu", description=__doc__)
    parser.add_argument("--report", help="write it there, in Markdown; else it is printed")
    parser.add_argument("--only", default="", help="sections whose title has this in it")
    parser.add_argument("--tests", nargs="*", default=[], metavar="PATH",
                        help="of the tests only these")
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--no-benchmarks", action="store_true")
    parser.add_argument("--mock", action="store_true", help="on the mock driver, to see "
                                                               "that everything runs")
    given = parser.parse_args()
    if not given.mock and not mat.cuda_available():
        print(f"there is nothing to measure: {mat.show_config()['CUDA']}; --mock sees whether "
              "everything runs")
        return 1
    outcomes = {} if given.no_tests else tests(given.mock, given.tests)
    with driver(given.mock):
        sections = {} if given.no_benchmarks else benchmarks(given.mock, given.only)
        text = page(given.report or "FILE", facts(), outcomes, sections, given.mock)
    if given.report:
        Path(given.report).write_text(text, encoding="utf-8")
    else:
        print(text)
    failed = any(f.failed for found in sections.values() for f in found)
    return int(failed or any(name.startswith("failure") for name in outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
