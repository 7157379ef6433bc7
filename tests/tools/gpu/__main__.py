"""Use a GPU's time in the order of what is worth most, and write a report: first contact, memcheck
and racecheck on a sample, the tests, the benchmarks. With ``--mock`` it does so on the mock driver,
measuring nothing.

Each outcome is appended to FILE.jsonl when it is known, and FILE is written again every few
seconds, so a run that is cut off loses nothing; ``--go-on`` does the rest. Without ``--minutes`` it
takes as long as it takes. ``--only`` and ``--tests`` choose a part of the benchmarks and of the
tests, and leave out the rest but those. ``--kit`` gathers what a machine without a network needs.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic

import mat
from mat.support.cache_dir import write_whole

from . import jobs, kit
from .day import CONTACT, Plan, default_at_once, run
from .journal import FAILED, Journal, Line
from .report import known, page


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.gpu", description=__doc__)
    parser.add_argument("--report", help="write it there, in Markdown; else it is printed")
    parser.add_argument("--minutes", type=float, help="the time that there is")
    parser.add_argument("--go-on", action="store_true",
                        help="leave out what FILE.jsonl has the outcome of")
    parser.add_argument("--at-once", type=int, default=default_at_once(), metavar="N",
                        help="so many files of tests at a time")
    parser.add_argument("--only", default="", help="sections whose title has this in it")
    parser.add_argument("--tests", nargs="*", default=[], metavar="PATH",
                        help="of the tests only these")
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--no-benchmarks", action="store_true")
    parser.add_argument("--mock", action="store_true", help="on the mock driver, to see "
                                                               "that everything runs")
    parser.add_argument("--rehearse", action="store_true", help=(
        "with the mock driver as if it were the machine's: all tests that a GPU would run, and no "
        "benchmarks"))
    kit.arguments(parser)
    return parser.parse_args(words)


def main() -> int:
    given = parse()
    if given.kit:
        return kit.main(given)
    more = _rehearsal() if given.rehearse else {}
    there = given.mock or more or mat.cuda_available()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(given.report or Path(folder) / "report.md")
        journal = Journal(report.with_name(report.name + ".jsonl"))
        if not given.go_on:
            journal.path.unlink(missing_ok=True)
        plan = Plan(journal, given.minutes, given.mock, given.only, given.tests, given.no_tests,
                    given.no_benchmarks or given.rehearse, max(given.at_once, 1), more)
        if not there:
            reason = mat.show_config()["CUDA"]
            print(f"there is nothing to measure: {reason}; --mock sees whether everything runs")
            journal.write(Line(CONTACT, "contact", "there is a device", FAILED, reason))
        _run(plan, Writer(plan, report), bool(there))
        if not given.report and there:
            print(report.read_text(encoding="utf-8"))
    return int(bool(known(journal.lines).bad()))


def _rehearsal() -> dict[str, str]:
    """Return the environment of a rehearsal."""
    from ..mock_driver import driver, rehearsal  # here, since a GPU needs neither

    if driver.missing():
        raise SystemExit(f"there can be no mock driver here: {driver.missing()}")
    found: dict[str, str] = rehearsal.environment()
    return found


class Writer:
    """What writes the page, not more often than every other second, and prints what is new."""

    def __init__(self, plan: Plan, report: Path) -> None:
        self.plan, self.report = plan, report
        self.printed, self.written, self.next = 0, -1, 0.0

    def __call__(self, now: bool = False) -> None:
        journal = self.plan.journal
        journal.refresh()
        for line in journal.lines[self.printed:]:
            if line.name and not (line.name.startswith("tests/") and line.outcome in ("ok",
                                                                                    "left out")):
                print(f"{line.part}: {line.name}: {line.outcome}; {line.text[:300]}", flush=True)
        self.printed = len(journal.lines)
        if now or (self.printed != self.written and monotonic() > self.next):
            text = page(self.report.name, journal.lines, self.plan.mock)
            write_whole(self.report, text.encode())
            self.written, self.next = self.printed, monotonic() + 2


def _run(plan: Plan, write: Writer, there: bool) -> None:
    """Run the plan if there is a device; whatever ends it, its processes end and the page is
    written.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(130))
    try:
        if there:
            run(plan, write)
    finally:
        with suppress(Exception):
            for process in list(jobs.RUNNING):
                jobs.end(process)
        write(True)


if __name__ == "__main__":
    raise SystemExit(main())
