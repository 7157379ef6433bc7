"""The measured numbers as a page of Markdown: a section for each group, with what was written by
hand about its misses.

Numbers are kept in a JSON file beside the page, group by group, so that a run of one group replaces
that one only; explanations are kept in ``notes.md`` there, under ``## <group>``, and come through
every new measurement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from .row import BEST, Goal

PEERS = ("numpy", "scipy", "torch")
Run = dict[str, Any]  # "environment", and "rows" as `record` of __main__ makes them
INTRODUCTION = """# Speed on the CPU

Made by `python -m tests.bench --report docs/benchmarks/cpu.md`; do not edit. Numbers of the last run of each group are in
`{json}`, explanations in [notes.md](notes.md).

Times are medians. A ratio is the median, over rounds in turns within one process, of our time over theirs: **below 1 is
faster**. A limit is what the ratio should not exceed; *best* is the fastest of the others.
"""


def seconds(value: float) -> str:
    """A time with three or four digits and its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.2f} {unit}"
    return f"{value * 1e9:.0f} ns"


def judged(row: Run) -> tuple[str, bool | None]:
    """The limit of a row in words, and whether it is kept; None if it has none, or its peer is
    missing.
    """
    ratios = row["ratios"]
    ratio = max(ratios.values(),
                default=None) if row["against"] == BEST else ratios.get(row["against"])
    if row["limit"] is not None:
        return f"{row['limit']:.3g} x {row['against']}", None if ratio is None else ratio <= row["limit"]
    if row["most"] is not None:
        return seconds(row["most"]), row["seconds"]["mat"] <= row["most"]
    return "", None


def reached(goals: Iterable[Goal], rows: list[Run]) -> list[tuple[Goal, float, bool]]:
    """Goals of the groups among `rows`, the geometric mean that was measured, and whether it is
    within the limit.
    """
    found = []
    for goal in goals:
        ratios = [r["ratios"][goal.against] for r in rows if r["group"] == goal.group
                  and goal.against in r["ratios"]]
        if ratios:
            mean = geometric_mean(ratios)
            found.append((goal, mean, mean <= goal.limit))
    return found


def verdict(kept: bool | None) -> str:
    return {True: "ok", False: "MISS", None: ""}[kept]


# The page


def notes(text: str) -> dict[str, str]:
    """What stands under each ``## heading`` of the notes."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {name.strip(): body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def page(title: str, runs: dict[str, Run], goals: tuple[Goal, ...], explained: dict[str, str],
         order: list[str]) -> str:
    """The whole page; groups in `order`, those without numbers named as such."""
    measured = [name for name in order if name in runs]
    missing = [name for name in order if name not in runs]
    common = dict(set.intersection(*(set(runs[name]["environment"].items())
                                     for name in measured))) if measured else {}
    parts = [INTRODUCTION.format(json=title).rstrip()]
    if measured:
        parts += [listed(runs[measured[0]]["environment"], common.keys()),
                  summary(runs, goals, measured)]
    if missing:
        parts.append(f"Not measured yet: {', '.join(missing)}.")
    parts += [section(name, runs[name], common, goals, explained.get(name, ""))
              for name in measured]
    return "\n\n".join(parts) + "\n"


def listed(environment: dict[str, str], names: Collection[str]) -> str:
    """Those facts of `environment` that are called so."""
    return "\n".join(f"* {name}: {fact}" for name, fact in environment.items() if name in names)


def summary(runs: dict[str, Run], goals: tuple[Goal, ...], order: list[str]) -> str:
    """How many limits and goals each group keeps, and the goals."""
    lines = ["## Summary", "", "| group | limits kept | missed | measured |", "|---|---|---|---|"]
    means = []
    for name in order:
        verdicts = [judged(row)[1] for row in runs[name]["rows"]]
        lines.append(f"| [{name}](#{name}) | {verdicts.count(True)} | {verdicts.count(False)} "
                     f"| {runs[name]['environment']['date']} |")
        means += [f"| {goal.group} | {mean:.3f} x {goal.against} | {goal.limit:.3f} | "
                  f"{verdict(kept)} |"
                  for goal, mean, kept in reached(goals, runs[name]["rows"])]
    if means:
        lines += ["", "| goal: geometric mean over | reached | limit | |", "|---|---|---|---|",
                  *means]
    return "\n".join(lines)


def section(name: str, run: Run, common: Collection[str], goals: tuple[Goal, ...],
            explained: str) -> str:
    """One group: its table, its goals, what is said of it; and what it was measured with, as far as
    not all were.
    """
    rows, own = run["rows"], listed(run["environment"], set(run["environment"]) - set(common))
    peers = [*(p for p in PEERS if any(p in r["ratios"] for r in rows)),
             *sorted({p for r in rows for p in r["ratios"]} - set(PEERS))]
    lines = [f"## {name}", "", *([own, ""] if own else [])]
    lines += [f"| what | mat |{''.join(f' over {p} |' for p in peers)} limit | |",
              "|---|---|" + "---|" * (len(peers) + 2)]
    for row in rows:
        limit, kept = judged(row)
        ratios = "".join(f" {row['ratios'][p]:.2f} |" if p in row["ratios"] else " |"
                         for p in peers)
        name, time = row["name"].replace("|", "/"), seconds(row["seconds"]["mat"])
        lines.append(f"| {name} | {time} |{ratios} {limit} | {verdict(kept)} |")
    means = reached(goals, rows)
    if means:
        lines += ["", *(f"* {goal.group}: geometric mean {mean:.3f} x {goal.against}, "
                        f"{verdict(kept)} (limit {goal.limit:.3f})"
                        for goal, mean, kept in means)]
    missed = any(judged(row)[1] is False for row in rows) or any(not kept for _, _, kept in means)
    if explained or missed:
        lines += ["", explained or "**Missed, and not explained yet.**"]
    return "\n".join(lines)


# The files


def kept_runs(path: Path) -> dict[str, Run]:
    """The numbers of earlier runs, by group."""
    found: dict[str, Run] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def write(path: Path, runs: dict[str, Run], goals: tuple[Goal, ...], order: list[str]) -> None:
    """Write the page at `path`, and the numbers beside it: those of `runs`, and of earlier runs of
    the other groups.
    """
    numbers, remarks = path.with_suffix(".json"), path.with_name("notes.md")
    merged = {**kept_runs(numbers), **runs}
    merged = {name: merged[name] for name in order if name in merged}  # groups that are gone go
    explained = notes(remarks.read_text(encoding="utf-8")) if remarks.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers.write_text(json.dumps(merged, indent=1) + "\n", encoding="utf-8")
    path.write_text(page(numbers.name, merged, goals, explained, order), encoding="utf-8")
