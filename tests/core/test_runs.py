"""Sets of elements as runs, beside Python's sets; and the elements that layouts see."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mat.core.runs import MANY, NONE, Runs, element_runs, run, union
from mat.layout.strided import Layout

pytestmark = pytest.mark.host
sets = st.one_of(st.frozensets(st.integers(0, 20)),
                 st.tuples(st.integers(0, 20), st.integers(0, 20)).map(
                     lambda ends: frozenset(range(*ends))))


def of(elements):
    """Return the runs of a set."""
    return Runs([k for k in range(62) if (k in elements) != (k - 1 in elements)])


def elements_of(runs):
    assert list(runs.edges) == sorted(set(runs.edges))
    return {k for a, b in runs for k in range(a, b)}


@pytest.fixture(params=[MANY, 3])
def many(request, monkeypatch):
    """Sets of more than so many edges are arrays."""
    monkeypatch.setattr("mat.core.runs.MANY", request.param)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sets, sets)
def test_operations_are_those_of_sets(many, a, b):
    x, y = of(a), of(b)
    assert elements_of(x & y) == a & b
    assert elements_of(x | y) == a | b
    assert elements_of(x - y) == a - b
    assert (x.covers(y), x.meets(y)) == (a >= b, bool(a & b))
    assert (x.size, bool(x)) == (len(a), bool(a))
    assert (x == y) == (a == b)
    assert elements_of(union([x, y, x])) == a | b


@settings(deadline=None)
@given(st.frozensets(st.integers(0, 60)), st.integers(0, 5))
def test_blocks_are_the_elements_in_their_order(elements, shift):
    found = [block.of(np.arange(70), shift) for block in of(elements).blocks()]
    flat = [x for part in found for x in part.ravel().tolist()]
    assert flat == [x + shift for x in sorted(elements)]


@pytest.mark.parametrize(("runs", "blocks"), [
    (Runs([k for i in range(1000) for k in (7 * i, 7 * i + 2)]), [(0, 1000, 7, 2)]),
    (Runs([0, 1, 4, 5, 8, 9, 20, 22, 25, 27]), [(0, 3, 4, 1), (20, 2, 5, 2)]),
    (run(3, 9), [(3, 1, 6, 6)]), (NONE, [])])
def test_equal_runs_are_one_block(runs, blocks):
    assert runs.blocks() == blocks


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
    assert list(element_runs(windows, 10)) == [2, 8]
    assert list(element_runs(Layout((3, 3), (10, 2), 0), 9)) == [
        0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25]
    assert element_runs(Layout((3, 3), (10, 2), 0), 8) == [0, 25]
