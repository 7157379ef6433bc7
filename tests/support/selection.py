"""Choose what runs: with ``--all`` everything, else a sample that two cores finish in two minutes.

The sample leaves out tests that are marked `slow`, takes one of `n` parameter sets of tests that
are marked `sample(n)`, one of some of others that have many (`SHARES`), and repeats what is drawn
at random less often; kernels of users are optimised less. It is the same every time.
"""

import zlib

ALL = False  # set by `choose`, before any module of tests is imported
# of at least that many parameter sets, one of so many is run
SHARES = ((200, 18), (60, 12), (30, 8), (9, 4), (4, 2))


def choose(everything):
    """Say whether everything is to run."""
    global ALL
    ALL = everything


def most(whole, by_default):
    """Return `whole` with ``--all``, else `by_default`."""
    return whole if ALL else by_default


def examples(count):
    """Return how many examples hypothesis draws of the `count` that it draws with ``--all``."""
    return most(count, max(count // 8, 10))


def number_of(text):
    """Return a number that depends on `text` only, to start a rotation with."""
    return zlib.crc32(text.encode())


def is_drawn(text, one_of):
    """Return whether `text` is among one of so many texts, the same ones whatever else there is."""
    return number_of(text) % one_of == 0


def part(values, text, one_of):
    """Return one of so many `values`, at least one, beginning where `text` says; all of them with
    ``--all``.
    """
    return values if ALL else values[number_of(text) % min(one_of, len(values) or 1)::one_of]


def sample(metafunc):
    """Leave out parameter sets of a test before its items are made, which takes a millisecond each.

    pytest has no public way to do that: `_calls` is what its `parametrize` collects.
    """
    count = len(metafunc._calls)
    one_of = 1 if ALL else _share(metafunc.definition, count)
    if one_of > 1:
        metafunc._calls = _diagonal(metafunc._calls, metafunc.definition, one_of)


def selected(items):
    """Split `items` into those that run and those that do not."""
    runs = {True: [], False: []}
    for item in items:
        runs[ALL or item.get_closest_marker("slow") is None].append(item)
    return runs[True], runs[False]


def told(reports):
    """Return of the reports of a test those of its call, and of what was no success."""
    return [report for report in reports if report.when == "call" or not report.passed]


def _share(definition, count):
    """Return of how many parameter sets of a test one runs, if it has `count` of them."""
    mark = definition.get_closest_marker("sample")
    if mark is not None:
        return mark.args[0]
    return next((share for least, share in SHARES if count >= least), 1)


def _groups(definition):
    """Return the names of the parameters of each `parametrize` of a test."""
    names = [mark.args[0] for mark in definition.iter_markers("parametrize")]
    return [[n.strip() for n in ns.split(",")] if isinstance(ns, str) else ns for ns in names]


def _diagonal(calls, definition, one_of):
    """Return the parameter sets of which the sum of the positions of the parameters, one for each
    `parametrize`, is a multiple of `one_of`.

    They meet every value of each parameter, if all have at least that many values. The values are
    put in an order that depends on the name of the test only.
    """
    groups = _groups(definition)
    places = [_indices(call, groups) for call in calls]
    orders = [_shuffled({*values}, f"{definition.nodeid} {k}")
              for k, values in enumerate(zip(*places, strict=True))]
    return [call for call, at in zip(calls, places, strict=True)
            if sum(order[k] for order, k in zip(orders, at, strict=True)) % one_of == 0]


def _indices(call, groups):
    """Return the index of the values in each `parametrize`, and those of other parameters."""
    left = dict(call.indices)
    return (*(max(left.pop(name, 0) for name in names) for names in groups), *left.values())


def _shuffled(values, text):
    """Return the place of each of the values in an order that depends on `text`."""
    return {k: at for at, k in enumerate(sorted(values, key=lambda k: number_of(f"{text} {k}")))}
