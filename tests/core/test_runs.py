"""Sets of elements as runs, beside Python's sets; and the elements that layouts see."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mat.core.runs import NONE, Runs, run, union
from mat.layout.element_runs import element_runs
from mat.layout.strided import Layout

pytestmark = pytest.mark.host
sets = st.one_of(st.frozensets(st.integers(0, 20)),
                 st.tuples(st.integers(0, 20), st.integers(0, 20)).map(
                     lambda ends: frozenset(range(*ends))))


def of(elements):
    """Return the runs of a set."""
    return Runs([k for k in range(22) if (k in elements) != (k - 1 in elements)])


def elements_of(runs):
    assert runs.edges == sorted(set(runs.edges))
    return {k for a, b in runs for k in range(a, b)}


@settings(deadline=None)
@given(sets, sets)
def test_operations_are_those_of_sets(a, b):
    x, y = of(a), of(b)
    assert elements_of(x & y) == a & b
    assert elements_of(x | y) == a | b
    assert elements_of(x - y) == a - b
    assert (x.covers(y), x.meets(y)) == (a >= b, bool(a & b))
    assert (x.size, bool(x)) == (len(a), bool(a))
    assert (x == y) == (a == b)
    assert elements_of(union([x, y, x])) == a | b


def test_text_has_the_first_runs():
    assert repr(NONE) == "none"
    assert repr(run(3, 7)) == "3:7"
    assert repr(Runs([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])) == "0:1, 2:3, 4:5 and 2 more runs"


@pytest.mark.parametrize("index", [
    (), (slice(1, 3),), (slice(None), slice(1, 3)), (slice(None, None, 2), slice(None, None, -1)),
    (slice(None), slice(None), slice(0, 1)), (0, slice(None, None, -2)), (slice(2, 2),), (1, 2, 3),
    (slice(None), None, 0)])
def test_layouts_touch_what_numpys_views_see(index):
    base = np.arange(3 * 4 * 5).reshape(3, 4, 5)
    layout = Layout((3, 4, 5), (20, 5, 1), 0)[index]
    assert elements_of(Runs(element_runs(layout, 1000))) == set(base[index].ravel().tolist())


def test_overlapping_axes_and_many_runs():
    windows = Layout((4, 3), (1, 1), 2)
    assert element_runs(windows, 10) == [2, 8]
    assert element_runs(Layout((3, 3), (10, 2), 0), 9) == [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15,
                                                           20, 21, 22, 23, 24, 25]
    assert element_runs(Layout((3, 3), (10, 2), 0), 8) == [0, 25]
