"""The same rows measured with several interpreters, one after another, side by side."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from .report import Run, judged, rival, seconds, verdict


def compare(pythons: list[str], words: list[str]) -> None:
    """Run this program with each of `pythons` and the arguments `words`; print a table of all."""
    runs = {}
    for python in pythons:
        with tempfile.TemporaryDirectory(prefix="mat-bench-") as folder:
            found = Path(folder, "rows.json")
            subprocess.run([python, "-m", "tests.tools.bench", *words, "--json", found], check=True)
            runs[python] = json.loads(found.read_text(encoding="utf-8"))
        print()
    print("\n".join(table(list(runs.values()))))


def table(runs: list[Run]) -> list[str]:
    """A line for each row that any of the runs has: its limit, and what each of them reached."""
    rows: dict[str, dict[int, Any]] = {}
    for k, run in enumerate(runs):
        for row in run["rows"]:
            rows.setdefault(row["name"], {})[k] = row
    versions = "".join(f"{run['environment']['python']:>16}" for run in runs)
    lines = [f"{'':42}{'limit':>14}{versions}"]
    for name, found in rows.items():
        limit, _ = judged(next(iter(found.values())))
        reached = "".join(f"{_reached(found.get(k)):>16}" for k in range(len(runs)))
        lines.append(f"{name:42}{limit:>14}{reached}")
    return lines


def _reached(row: Run | None) -> str:
    """A time where the limit is one, otherwise a ratio; and whether the limit is kept."""
    if row is None:
        return "-"
    peer = rival(row)
    value = (seconds(row["seconds"]["mat"]) if row["most"] is not None or peer is None
             else f"{row['ratios'][peer]:.2f}")
    return f"{value} {verdict(judged(row)[1]):4}"
