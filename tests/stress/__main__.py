"""Stress for so many minutes a kind: ``python -m tests.stress --minutes 10``.

It prints its seed, and where something goes wrong, the arguments that try the same again.
"""

import argparse
import time
from random import Random, SystemRandom

from .children import outcome_of
from .loops import KINDS

GATE = ("threads", "devices", "signals", "forks", "tasks", "fused")
SLICE = 4.0  # seconds, in a process of its own
LONG = {"forks": 20.0}  # which computes everything once before it forks
SLACK = 150  # seconds after which it counts as hanging


def stress(kind, seconds, seed, first=0):
    """Run slices of one kind; print what went wrong and return False, or print how many ran."""
    end, number, rounds = time.monotonic() + seconds, first, []
    while time.monotonic() < end or number == first:
        begin = time.monotonic()

        def run(number=number, begin=begin):
            KINDS[kind](Random(f"{seed} {kind} {number}"),
                        min(begin + LONG.get(kind, SLICE), max(end, begin + 2)))

        if (text := outcome_of(run, SLACK)):
            print(f"{kind}: slice {number} failed\n{text}\nagain: python -m tests.stress "
                  f"--seed {seed} --only {kind} --first {number}", flush=True)
            return False
        number += 1
        rounds.append(time.monotonic() - begin)
    print(f"{kind}: {number - first} slices in {sum(rounds):.0f} s", flush=True)
    return True


def main(arguments=None):
    """Run all kinds that are asked for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="of each kind")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default=",".join(GATE), help=f"kinds of {', '.join(KINDS)}")
    parser.add_argument("--first", type=int, default=0, help="the slice to begin with")
    given = parser.parse_args(arguments)
    kinds = given.only.split(",")
    if unknown := {*kinds} - {*KINDS}:
        parser.error(f"no kind {', '.join(sorted(unknown))}")
    seed = SystemRandom().randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    passed = [stress(kind, 60 * given.minutes, seed, given.first) for kind in kinds]
    if not all(passed):
        return 1
    print(f"stress: {', '.join(kinds)} passed with seed {seed}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
