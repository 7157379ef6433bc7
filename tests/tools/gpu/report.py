"""A journal as a page of Markdown: the machine, what failed, each part's outcomes, a table for each
section of the benchmarks, and the goals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from .journal import BAD, CRASHED, CUT, DONE, FAILED, LEFT_OUT, OK, UNFINISHED, Line
from .limits import Limits
from .measuring import Found

MEASURED = """# Speed on a GPU

Made by `python -m tests.tools.gpu --report {path}`; do not edit. Times are medians of seven samples
in turns within one process, each of many calls and the wait for the device. The goals are speeds
relative to the one that is named: 3 x torch is a third of its time. *Device copy* is the driver's
own copy of as many bytes, read and written; *bus* its copy of page-locked memory. *Limit* is the
share of what the device could do at most, by its attributes: of the rate of its memory, or of its
processors at their highest clock, whichever is higher.
"""
MOCK = """# A trial run

Made by `python -m tests.tools.gpu --mock`, on a mock driver that runs kernels on the CPU.
**Nothing was measured**: this page says which parts of the report run at all. It has no times,
since they would mean nothing.
"""
BENCHMARKS = "Benchmarks"
LISTED = ("First contact", "memcheck", "racecheck")  # parts with a line for each outcome
OUTCOMES = (OK, FAILED, CRASHED, CUT, UNFINISHED, LEFT_OUT)


@dataclass
class Known:
    """What the lines of a journal say together."""

    facts: dict[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    parts: dict[str, list[Line]] = field(default_factory=dict)
    sections: dict[str, list[Found]] = field(default_factory=dict)

    def bad(self) -> list[Line]:
        """Return the lines of what did not end well."""
        return [line for lines in self.parts.values() for line in lines
                if line.outcome in BAD and (line.name or line.outcome != CUT)]


def known(lines: Iterable[Line]) -> Known:
    """Read the lines of a journal."""
    found = Known()
    for line in lines:
        if line.outcome != DONE:
            found.parts.setdefault(line.part, []).append(line)
        if "facts" in line.extra:
            found.facts, found.limits = line.extra["facts"], Limits(**line.extra["limits"])
        if line.part == BENCHMARKS and line.outcome != DONE and line.name:
            title, _, name = line.name.partition(": ")
            row = line.extra.get("found") or {"name": name,
                                              "failed": f"{line.outcome}: {line.text}"}
            found.sections.setdefault(title, []).append(Found(**row))
    return found


def page(path: str, lines: Iterable[Line], mock: bool) -> str:
    """Return the whole page."""
    found = known(lines)
    head = MOCK if mock else MEASURED.format(path=path)
    sections = [head, "## Where", table(("", ""), list(found.facts.items()) or [("not known", "")]),
                "## Outcomes", outcomes(found)]
    for title in LISTED:
        if title in found.parts:
            shown = [line for line in found.parts[title] if line.outcome in BAD
                     or not line.name.startswith("tests/")]
            sections += [f"## {title}", listed(shown)]
    if not mock and found.sections:
        sections += ["## Goals", goals(found.sections, found.limits)]
    for title, rows in found.sections.items():
        sections += [f"## {title}", ran(rows) if mock else measured(rows, found.limits)]
    return "\n\n".join(part.strip("\n") for part in sections) + "\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def outcomes(found: Known) -> str:
    """How many outcomes of each kind each part has; and each one that is not good."""
    rows = []
    for part, lines in found.parts.items():
        groups: dict[str, Counter[str]] = {}
        for line in lines:
            if line.name or line.outcome != CUT:
                groups.setdefault(_group(line), Counter())[line.outcome] += 1
        rows += [(f"{part}: {group}" if group else part,
                  ", ".join(f"{counts[o]} {o}" for o in OUTCOMES if counts[o]))
                 for group, counts in groups.items()]
        cut = [line.job for line in lines if not line.name and line.outcome == CUT]
        if cut:
            rows.append((f"{part}: no more time for", f"{len(cut)}: {', '.join(cut[:12])}"))
    text = [table(("part", "outcomes"), rows)]
    bad = found.bad()
    if bad:
        text += ["### What failed", table(("part", "of", "outcome", "what was said"), [
            (line.part, line.name or line.job, line.outcome, line.text[-600:])
            for line in bad[:200]])]
    return "\n\n".join(text)


def _group(line: Line) -> str:
    """Tests are counted by folder."""
    return "/".join(line.job.split("/")[:2]) if line.job.startswith("tests/") else ""


def listed(lines: list[Line]) -> str:
    return table(("", "outcome", ""), [(line.name or line.job, line.outcome, line.text[:300])
                                       for line in lines])


def ran(found: list[Found]) -> str:
    return table(("", "outcome"), [(f.name, f.failed or "runs") for f in found])


def measured(found: list[Found], limits: Limits) -> str:
    others = list(dict.fromkeys(name for f in found for name in (*f.others, *f.notes)))
    rows = [(f.name, _own(f), rate(f), limits.share(f.nbytes, f.operations, f.kind, f.seconds),
             *(_other(f, name) for name in others), _goals(f, limits)) for f in found]
    return table(("", "mat", "rate", "limit",
                  *(f"{name}: time, and times its speed" for name in others), "goals"), rows)


def in_words(f: Found, limits: Limits) -> str:
    """Return a row in a line: our time, the rate, the share of the limit, and times others' speed.
    """
    own = [_own(f), rate(f), limits.share(f.nbytes, f.operations, f.kind, f.seconds)]
    others = [f"{name} {seconds / f.seconds:.2f}" for name, seconds in f.others.items()
              if f.seconds] + [f"{name}: {text}" for name, text in f.notes.items()]
    return "; ".join(filter(None, [", ".join(filter(None, own)), ", ".join(others)]))


def _own(f: Found) -> str:
    if f.failed:
        return f"failed: {f.failed}"
    return seconds(f.seconds) if f.seconds is not None else f"{f.number:.3g} {f.unit}".strip()


def _other(f: Found, name: str) -> str:
    if name not in f.others or not f.seconds:
        return f.notes.get(name, "")
    return f"{seconds(f.others[name])}, {f.others[name] / f.seconds:.2f}"


def _goals(f: Found, limits: Limits) -> str:
    return "; ".join(f"{least:g} {f'x {peer} ' if peer else ''}{'ok' if kept else 'MISS'}"
                     for peer, least, _, kept in f.reached(limits.bandwidth))


def goals(sections: dict[str, list[Found]], limits: Limits) -> str:
    """How many goals of each section are reached, and which are not."""
    rows = []
    for title, found in sections.items():
        judged = [(f.name, *goal) for f in found for goal in f.reached(limits.bandwidth)]
        missed = [f"{name} ({got:.2f} of {least:g}{' x ' + peer if peer else ''})" for name, peer,
                  least, got, kept in judged
                  if not kept]
        failed = [f.name for f in found if f.failed]
        if judged or failed:
            missing = "; ".join(missed + [f"{name}: failed" for name in failed])
            rows.append((title, f"{len(judged) - len(missed)} of {len(judged)}", missing))
    return table(("", "reached", "missed"), rows)


def seconds(value: float) -> str:
    """A time with three or four digits and its unit."""
    unit, size = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)) if value >= s),
                      ("ns", 1e-9))
    return f"{value / size:.3g} {unit}"


def rate(f: Found) -> str:
    """What was moved in a second, or computed."""
    if not f.seconds or not (f.nbytes or f.operations):
        return ""
    return (f"{f.nbytes / f.seconds / 1e9:.0f} GB/s" if f.nbytes
            else f"{f.operations / f.seconds / 1e12:.3g} TFLOP/s")
