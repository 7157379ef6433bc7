"""What was found as a page of Markdown: the machine, the tests, a table for each section, and the
goals.
"""

from __future__ import annotations

from .measuring import Found

MEASURED = """# Speed on a GPU

Made by `python -m tests.gpu --report {path}`; do not edit. Times are medians of seven samples in
turns within one process, each of many calls and the wait for the device. The goals are speeds
relative to the one that is named: 3 x torch is a third of its time. *Device copy* is the driver's
own copy of as many bytes, read and written; *bus* its copy of page-locked memory.
"""
MOCK = """# A trial run

Made by `python -m tests.gpu --mock`, on a mock driver that runs kernels on the CPU.
**Nothing was measured**: this page says which parts of the report run at all. It has no times,
since they would mean nothing.
"""


def page(path: str, facts: dict[str, str], tests: dict[str, str], sections: dict[str, list[Found]],
         mock: bool) -> str:
    """The whole page."""
    head = MOCK if mock else MEASURED.format(path=path)
    parts = [head, "## Where", table(("", ""), list(facts.items()))]
    if tests:
        parts += ["## Tests", table(("run", "outcome"), list(tests.items()))]
    if not mock:
        parts += ["## Goals", goals(sections)]
    for title, found in sections.items():
        parts += [f"## {title}", ran(found) if mock else measured(found)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def ran(found: list[Found]) -> str:
    return table(("", "outcome"), [(f.name, f.failed or "runs") for f in found])


def measured(found: list[Found]) -> str:
    others = list(dict.fromkeys(name for f in found for name in f.others))
    rows = [(f.name, _own(f), rate(f.nbytes, f.seconds), *(_other(f, name) for name in others),
             _goals(f)) for f in found]
    return table(("", "mat", "GB/s", *(f"{name}: time, and times its speed" for name in others),
                  "goals"), rows)


def _own(f: Found) -> str:
    if f.failed:
        return f"failed: {f.failed}"
    return seconds(f.seconds) if f.seconds is not None else f"{f.number:.3g} {f.unit}".strip()


def _other(f: Found, name: str) -> str:
    if name not in f.others or not f.seconds:
        return ""
    return f"{seconds(f.others[name])}, {f.others[name] / f.seconds:.2f}"


def _goals(f: Found) -> str:
    return "; ".join(f"{least:g} {f'x {peer} ' if peer else ''}{'ok' if kept else 'MISS'}"
                     for peer, least, _, kept in f.reached())


def goals(sections: dict[str, list[Found]]) -> str:
    """How many goals of each section are reached, and which are not."""
    rows = []
    for title, found in sections.items():
        judged = [(f.name, *goal) for f in found for goal in f.reached()]
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


def rate(nbytes: int, taken: float | None) -> str:
    return f"{nbytes / taken / 1e9:.0f}" if nbytes and taken else ""
