"""What a run does with its time, in the order of what is worth most: first contact, memcheck and
racecheck on a sample, the suite, the benchmarks, the rest of the suite.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic

from .jobs import ROOT, Job, run_all
from .journal import FAILED, LEFT_OUT, OK, Journal, Line

WHERE, CONTACT, MEMCHECK, RACECHECK = "Where", "First contact", "memcheck", "racecheck"
SUITE, BENCHMARKS, REST = "Tests", "Benchmarks", "The other tests"
# the share of the time at whose end each part ends; what one leaves is for those after it
ENDS = {WHERE: 0.1, CONTACT: 0.15, MEMCHECK: 0.28, RACECHECK: 0.36, SUITE: 0.66,
        BENCHMARKS: 0.96, REST: 0.98}
# seconds that a part has at least, also after one that took longer than its share
FLOORS = {WHERE: 15, CONTACT: 60, MEMCHECK: 30, RACECHECK: 20, SUITE: 60, BENCHMARKS: 120, REST: 0}
FILES = {  # of tests, those first that find most
    "tests/cuda": ["driver", "memory", "transfers", "staged_copies", "pinned", "locked_ranges",
                   "copy", "each", "reductions", "blas", "cublas", "scaled_products", "factor",
                   "graph", "graph_operations", "prefetch", "selection", "user_kernel"],
    "tests/ops": ["implementations", "elementwise", "reduce", "blas", "nn", "sorting", "selection",
                  "random", "linalg", "conv"],
    **{f"tests/{name}": [] for name in (
        "matrix", "numpy", "interop", "facets", "memories", "devices", "core", "array_api", "debug",
        "io")},
}
# these run the kernels on the CPU, compile them or are about the mock driver
WITHOUT_GPU = {f"tests/cuda/test_{name}.py" for name in (
    "capture", "compile", "conv", "cublas_table", "driver", "driver_errors", "elementwise",
    "failed_device", "function_bits", "functions", "gpu_day", "gpu_kit", "gpu_report",
    "graph_failures", "integer_matmul", "mock_cache", "mock_driver", "nn", "nvrtc", "permute",
    "ptx", "ptx_forms", "races", "random", "reduce", "sass", "scan_and_sort", "span_walk")}
# of these files one of so many tests is run under NVIDIA's tools, which are slow; first those that
# no card has run under them yet
SAMPLED = {f"tests/{name}.py": every for name, every in {
    "ops/test_truth_and_scans": 12, "cuda/test_copy": 6, "cuda/test_parts": 2, "cuda/test_graph": 4,
    "cuda/test_compiled_blas": 2, "cuda/test_fused": 6, "cuda/test_fused_folds": 12,
    "cuda/test_staged_copies": 4, "cuda/test_fourier": 12, "cuda/test_decompositions": 12,
    "ops/test_implementations": 6, "cuda/test_each": 1, "cuda/test_reductions": 3,
    "ops/test_sorting": 3, "cuda/test_factor": 6, "cuda/test_selection": 1, "ops/test_conv": 6,
    "ops/test_nn": 12, "ops/test_elementwise": 20, "cuda/test_transfers": 12,
    "cuda/test_scaled_products": 6, "ops/test_random": 20}.items()}
# tests on the mock driver, where only the way of the run is of interest
TRIAL = ["tests/cuda/test_parts.py"]


@dataclass
class Plan:
    """What was asked for; `minutes` is None if there is no limit."""

    journal: Journal
    minutes: float | None = None
    mock: bool = False
    only: str = ""
    tests: list[str] = field(default_factory=list)
    no_tests: bool = False
    no_benchmarks: bool = False
    at_once: int = 1
    environment: dict[str, str] = field(default_factory=dict)  # more of it, for every process

    def seconds(self, share: float, otherwise: float = 7200.0) -> float:
        return otherwise if self.minutes is None else self.minutes * 60 * share


def parts(plan: Plan) -> Iterator[tuple[str, list[Job], int]]:
    """Yield each part: its title, its jobs, and how many of them run at a time."""
    whole = not (plan.only or plan.tests)
    yield WHERE, [_worker(plan, WHERE, "facts", 60)], 1
    if whole:
        yield CONTACT, [_worker(plan, CONTACT, "contact", 30)], 1
    if whole and not plan.no_tests:
        for tool in (MEMCHECK, RACECHECK):
            yield tool, list(_sanitized(plan, tool)), min(plan.at_once, 3)
    if not plan.no_tests:
        yield SUITE, list(_tests(plan, SUITE)), plan.at_once
    if not plan.no_benchmarks:
        from .sections import SECTIONS

        titles = [title for title in SECTIONS if plan.only.lower() in title.lower()]
        # in one process, since torch and CuPy take seconds to start
        yield BENCHMARKS, [_worker(plan, BENCHMARKS, "benchmarks", 60, titles)] * bool(titles), 1
    if whole and not plan.no_tests and not plan.mock:
        yield REST, list(_tests(plan, REST, "--all")), plan.at_once


def run(plan: Plan, seen: Callable[..., None]) -> None:
    """Do everything, or what there is time for; call `seen` now and then, and with True after each
    part.
    """
    begun = monotonic()
    for title, jobs, at_once in parts(plan):
        until = begun + ends(plan, title, monotonic() - begun)
        run_all(jobs, plan.journal, until, at_once, seen)
        seen(True)


def ends(plan: Plan, title: str, now: float) -> float:
    """Return after how many seconds of the run a part ends that begins at `now`: at the end of its
    share, but not before its floor, nor so late that those after it have less than theirs.
    """
    share = plan.seconds(ENDS[title])
    if plan.minutes is None:
        return share
    whole = plan.seconds(1.0)
    scale = min(1.0, whole / sum(FLOORS.values()))
    titles = list(FLOORS)
    later = scale * sum(FLOORS[after] for after in titles[titles.index(title) + 1:])
    return min(max(share, now + scale * FLOORS[title]), whole - later)


def _worker(plan: Plan, part: str, name: str, silence: float, titles: Iterable[str] = ()) -> Job:
    words = [sys.executable, "-m", "tests.tools.gpu.worker", name, *titles]
    return Job(part, name, words + ["--mock"] * plan.mock, plan.seconds(0.5), silence,
               plan.environment)


# Tests


def files(plan: Plan) -> list[str]:
    """Return the files of tests, in the order in which they find most."""
    if plan.tests or plan.mock:
        return plan.tests or TRIAL
    found = []
    for folder, first in FILES.items():
        names = [f"{folder}/test_{name}.py" for name in first]
        others = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / folder).glob("test_*.py"))
        found += [name for name in dict.fromkeys([*names, *others])
                  if name in others and name not in WITHOUT_GPU]
    return found


def _tests(plan: Plan, part: str, *words: str) -> Iterator[Job]:
    for path in files(plan):
        yield _pytest(plan, part, path, words)


def _pytest(plan: Plan, part: str, path: str, words: tuple[str, ...] = ()) -> Job:
    # warnings of versions that were never tried are no errors
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default",
               "-p", "tests.tools.gpu.recording", *words, path]
    environment = {**plan.environment, "MAT_TEST_DEVICE": "cuda",
                   "MAT_TEST_CUDA": "" if plan.mock else "1"}
    limit = plan.seconds(0.25, 1800.0)
    return Job(part, path, command, limit, min(60.0, limit), environment)


# Under NVIDIA's tools

TOOLKIT = Path("/usr/local/cuda")
FOUND = ("Invalid", "Misaligned", "Race", "hazard", "Use-", "use-")  # in messages of errors


def sanitizer() -> str | None:
    """Return the path of compute-sanitizer, of the wheel or of the toolkit, or None."""
    folder = Path(sysconfig.get_paths()["purelib"])
    found = [*folder.glob("nvidia/*/bin/compute-sanitizer"), TOOLKIT / "bin/compute-sanitizer"]
    ours = next((path for path in found if path.exists()), None)
    return shutil.which("compute-sanitizer") if ours is None else str(ours)


def _sanitized(plan: Plan, tool: str) -> Iterator[Job]:
    path = sanitizer()
    if path is None:
        reason = "there is no compute-sanitizer, which nvidia-cuda-sanitizer-api has"
        plan.journal.write(Line(tool, "all", "", LEFT_OUT, reason))
        return
    options = ["--tool", tool, "--print-limit", "20",
               *(["--report-api-errors", "no"] if tool == MEMCHECK else [])]
    for name, every in {TRIAL[0]: 1}.items() if plan.mock else SAMPLED.items():
        job = _pytest(plan, tool, name)
        job.words = [path, *options, *job.words]
        job.environment["MAT_EVERY"] = str(every)
        job.silence = 120.0
        job.ended = partial(_summarized, tool)
        yield job


def _summarized(tool: str, job: Job, journal: Journal, status: int | None, output: str) -> None:
    """Write what the tool says at the end, or has said until it was ended."""
    lines = [line for line in output.splitlines() if line.startswith("=========")]
    summary = next((line for line in reversed(lines) if "SUMMARY" in line), "")
    found = re.search(r"SUMMARY: (\d+)", summary)
    if found is None and not any(word in line for line in lines for word in FOUND):
        reason = " ".join(line.strip("= ") for line in lines) or "the tool said nothing"
        outcome, text = LEFT_OUT, f"no summary: {reason[-500:]}"
    else:
        bad = found is None or int(found[1])
        outcome = FAILED if bad else OK
        text = "\n".join([summary.strip("= "), *(lines[:60] if bad else ())])
    journal.write(Line(tool, job.name, f"{tool} of {job.name}", outcome, text[:4000]))


def default_at_once() -> int:
    """Return how many files of tests run at a time: each is a process with its own context."""
    return max(1, min(6, (os.cpu_count() or 1) // 2))
