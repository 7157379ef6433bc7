"""Measure, and print a table of ratios: our time over theirs.

``python -m tests.tools.bench [--only TEXT] [--rounds N] [--json FILE] [--report FILE.md [--again]]
[--pythons PYTHON ...]``
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path

import numpy
import scipy

import mat
from mat.cpu.thread_pool import threads

from ...support.machine import processor
from . import pythons, report
from .report import Run, judged, reached, rival, seconds, verdict
from .row import Row
from .rows import GOALS, SECTIONS, have_torch
from .timing import Measured, measure


def environment() -> dict[str, str]:
    """What the numbers depend on."""
    facts = {"date": time.strftime("%Y-%m-%d"), "machine": f"{processor()} ({platform.machine()})",
             "cores": str(os.cpu_count()),
             "threads": str(threads()), "mat": mat.__version__,
             "python": platform.python_version(), "numpy": numpy.__version__,
             "scipy": scipy.__version__}
    if have_torch():
        import torch

        torch.set_num_threads(os.cpu_count() or 1)
        facts["torch"] = torch.__version__
    facts["kernels"] = mat.show_config()["kernels"]
    facts["OPENBLAS_CORETYPE"] = os.environ.get("OPENBLAS_CORETYPE", "not set")
    return facts


def record(row: Row, found: Measured) -> Run:
    """A row with what was measured, as it goes to JSON."""
    return {"name": row.name, "group": row.group, "against": row.against, "limit": row.limit,
            "most": row.most,
            **found._asdict()}


def line(done: Run) -> str:
    """Our time, that of the peer that decides, the ratio, the limit, whether it is kept, and the
    ratios to other peers.
    """
    peer, (limit, kept) = rival(done), judged(done)
    theirs, ratio = ((seconds(done["seconds"][peer]), f"{done['ratios'][peer]:.2f}") if peer
                     else ("-", "-"))
    others = ", ".join(f"{ratio:.2f} x {p}" for p, ratio in done["ratios"].items() if p != peer)
    ours = seconds(done["seconds"]["mat"])
    return (f"{done['name']:42}{ours:>10}{theirs:>11}{ratio:>9}{limit:>14}  {verdict(kept):5}"
            f"{others}").rstrip()


def measured(row: Row, rounds: int) -> Measured:
    return measure(row.competitors, rounds, row.pace).shared_by(row.times)


def selected(text: str) -> Iterator[tuple[str, Iterator[Row]]]:
    """Rows by section; all of a section that is called `text`, else those rows whose name or group
    matches.
    """
    for name, rows in SECTIONS.items():
        if text in ("", name):
            yield name, rows()
        elif text not in SECTIONS:
            yield name, (row for row in rows() if text in row.name or text == row.group)


def run(text: str, rounds: int) -> dict[str, Run]:
    """Measure and print; the numbers, by section."""
    runs: dict[str, Run] = {}
    facts = environment()
    print(", ".join(f"{k} {v}" for k, v in facts.items()))
    print(f"{'medians; the ratio is ours over theirs':42}{'mat':>10}{'theirs':>11}{'ratio':>9}"
          f"{'limit':>14}")
    for name, rows in selected(text):
        done = []
        for row in rows:  # made one by one: some hold much memory
            done.append(record(row, measured(row, rounds)))
            print(line(done[-1]), flush=True)
        if done:
            runs[name] = {"environment": facts, "rows": done}
    for goal, mean, kept in reached(GOALS, [row for r in runs.values() for row in r["rows"]]):
        print(f"{goal.group}: geometric mean {mean:.3f} x {goal.against}, {verdict(kept)} (limit "
              f"{goal.limit:.3f})")
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help=f"a section ({', '.join(SECTIONS)}), a group, "
                                                   "or a part of a row's name")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", type=Path, help="write the numbers there too")
    parser.add_argument("--report", type=Path,
                        help="write a page of Markdown there; sections not measured now keep their "
                             "numbers")
    parser.add_argument("--again", action="store_true", help="measure nothing, write the report "
                                                             "from what was measured before")
    parser.add_argument("--pythons", nargs="+", metavar="PYTHON", default=[],
                        help="measure with these interpreters, one after another, and compare")
    parser.add_argument("--list", action="store_true", help="print the sections, measure nothing")
    options = parser.parse_args()
    if options.list:
        print("\n".join(SECTIONS))
        return
    if options.pythons:
        if options.json or options.report:
            parser.error("--json and --report are of one interpreter: without --pythons")
        pythons.compare(options.pythons, ["--only", options.only, "--rounds", str(options.rounds)])
        return
    if options.report and options.only and options.only not in SECTIONS:
        parser.error(f"a report has whole sections: --only one of {', '.join(SECTIONS)}")
    runs = {} if options.again else run(options.only, options.rounds)
    if options.json:
        rows = [row for r in runs.values() for row in r["rows"]]
        options.json.write_text(json.dumps({"environment": environment(), "rows": rows}, indent=1),
                                encoding="utf-8")
    if options.report:
        report.write(options.report, runs, GOALS, list(SECTIONS))


if __name__ == "__main__":
    main()
