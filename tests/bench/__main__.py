"""``python -m tests.bench [--json FILE] [--rounds N] [--only TEXT]``: measure, print a table of ratios, write JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from statistics import geometric_mean

import numpy
import scipy

import mat

from .row import Row
from .rows import GOALS, have_torch, rows
from .timing import Measured, measure

PEERS = ("numpy", "scipy", "torch")


def environment() -> dict[str, str]:
    """What the numbers depend on."""
    versions = {"mat": mat.__version__, "python": platform.python_version(), "numpy": numpy.__version__,
                "scipy": scipy.__version__, "machine": platform.processor() or platform.machine(),
                "cores": str(os.cpu_count()), "OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE", "not set")}
    if have_torch():
        import torch

        torch.set_num_threads(os.cpu_count() or 1)
        versions["torch"] = torch.__version__
    return versions


def seconds(value: float) -> str:
    for unit, size in (("s ", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:8.2f} {unit}"
    return f"{value * 1e9:8.0f} ns"


def verdict(row: Row, found: Measured) -> str:
    """Whether the row is under its limit; nothing if it has none."""
    ratio = row.ratio(found)
    if row.limit is not None and ratio is not None:
        return f"{'ok  ' if ratio <= row.limit else 'MISS'} (limit {row.limit:g} x {row.against})"
    if row.most is not None:
        return f"{'ok  ' if found.seconds['mat'] <= row.most else 'MISS'} (limit {seconds(row.most).strip()})"
    return ""


def line(row: Row, found: Measured) -> str:
    ratios = "".join(f"{found.ratios[p]:9.2f}" if p in found.ratios else f"{'-':>9}" for p in PEERS)
    return f"{row.name:38}{seconds(found.seconds['mat'])}{ratios}  {verdict(row, found)}".rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers there too")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--only", default="", help="rows whose name holds this text, or of this group")
    options = parser.parse_args()
    print(", ".join(f"{k} {v}" for k, v in environment().items()))
    print(f"{'median; ours over theirs (lower: better)':38}{'mat':>11}{''.join(f'{p:>9}' for p in PEERS)}")
    results, ratios = [], {}
    for row in rows():
        if options.only in row.name or options.only == row.group != "":
            found = measure(row.competitors, options.rounds).shared_by(row.times)
            print(line(row, found), flush=True)
            results.append({"name": row.name, "limit": row.limit, **found._asdict()})
            for peer, ratio in found.ratios.items():
                ratios.setdefault((row.group, peer), []).append(ratio)
    for goal in GOALS:
        if (goal.group, goal.against) in ratios:
            mean = geometric_mean(ratios[goal.group, goal.against])
            print(f"{goal.group}: geometric mean {mean:.3f} x {goal.against}, {'ok' if mean <= goal.limit else 'MISS'} "
                  f"(limit {goal.limit:.3f})")
    if options.json:
        options.json.write_text(json.dumps({"environment": environment(), "rows": results}, indent=1))


if __name__ == "__main__":
    main()
