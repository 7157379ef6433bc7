"""Choose what runs: with ``--all`` everything, else a sample that two cores finish in two minutes.

The sample leaves out tests that are marked `slow`, takes one of `n` parameter sets of tests that
are marked `sample(n)`, one of some of others that have many (`SHARES`), and repeats what is drawn
at random less often. It is the same every time.
"""

import os
import tempfile
import zlib
from collections import Counter

ALL = False  # set by `choose`, before any module of tests is imported
# of at least that many parameter sets, one of so many is run
SHARES = ((200, 12), (30, 6), (9, 3))


def choose(everything):
    """Say whether everything is to run."""
    global ALL
    ALL = everything


def most(whole, by_default):
    """Return `whole` with ``--all``, else `by_default`."""
    return whole if ALL else by_default


def examples(count):
    """Return how many examples hypothesis draws of the `count` that it draws with ``--all``."""
    return most(count, max(count // 5, 12))


def number_of(text):
    """Return a number that depends on `text` only, to start a rotation with."""
    return zlib.crc32(text.encode())


def part(values, text, one_of):
    """Return one of so many `values`, beginning where `text` says; all of them with ``--all``."""
    return values if ALL else values[number_of(text) % one_of::one_of]


def selected(items):
    """Split `items` into those that run and those that do not."""
    if ALL:
        return items, []
    counts = Counter(_function_of(item) for item in items)
    chosen, left_out = [], []
    for item in items:
        runs = item.get_closest_marker("slow") is None
        share = _share(item, counts[_function_of(item)])
        if runs and share > 1:
            runs = _diagonal(item) % share == 0
        (chosen if runs else left_out).append(item)
    return chosen, left_out


def _function_of(item):
    """Return what the parameter sets of a test have in common."""
    return item.nodeid.partition("[")[0]


def _share(item, count):
    """Return of how many parameter sets of a test one runs, if it has `count` of them."""
    mark = item.get_closest_marker("sample")
    if mark is not None:
        return mark.args[0]
    return next((share for least, share in SHARES if count >= least), 1)


def _diagonal(item):
    """Return the sum of the indices of a test's parameters, one for each `parametrize`.

    Those tests whose sum is a multiple of `n` meet every value of each of them, if all have at
    least `n` values.
    """
    indices = dict(item.callspec.indices)
    total = 0
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        names = [n.strip() for n in names.split(",")] if isinstance(names, str) else names
        total += max(indices.pop(name, 0) for name in names)
    return total + sum(indices.values())


def share_bytecode():
    """Keep the bytecode of the interpreters that tests start in a folder for this run.

    This is done where none is to be written beside the sources, since each of some two hundred
    interpreters compiled all of `mat` otherwise. Return the folder, or None.
    """
    if not os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        return None
    folder = tempfile.TemporaryDirectory(prefix="mat-bytecode-", ignore_cleanup_errors=True)
    os.environ["PYTHONPYCACHEPREFIX"] = folder.name
    return folder
