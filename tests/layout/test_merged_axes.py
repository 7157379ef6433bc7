"""Merged axes against brute force: the same elements, in the same order, over fewer axes."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mat.layout.merged_axes import CopyAxis, ReductionAxis, form_of, loops, merged, starts, upwards


def offsets(axes):
    """The offsets of two operands at every element, the last axis fastest."""
    return [tuple(sum(i * axis[k] for i, axis in zip(index, axes, strict=True)) for k in (1, 2))
            for index in product(*(range(axis[0]) for axis in axes))]


@st.composite
def axes_of_two(draw):
    """Axes of two operands with steps that often follow from each other."""
    step = st.sampled_from([-12, -4, -1, 0, 1, 2, 3, 4, 6, 12, 24])
    return draw(st.lists(st.tuples(st.integers(1, 4), step, step), max_size=4))


@given(axes_of_two())
def test_merged_axes_go_over_the_same_elements_in_the_same_order(axes):
    found = merged(axes)
    assert all(n != 1 for n, *_ in found)
    assert len(found) <= len(axes)
    assert offsets(found) == offsets(axes)
    assert merged(found) == found
    assert offsets(merged(axes, keep_ones=True)) == offsets(axes)


@given(axes_of_two())
def test_loops_go_over_the_same_elements(axes):
    shape = [n for n, *_ in axes]
    found = loops(shape, [[a[1] for a in axes], [a[2] for a in axes]])
    assert found
    assert sorted(offsets(found)) == sorted(offsets(axes))
    assert [abs(a[-1]) for a in found] == sorted((abs(a[-1]) for a in found), reverse=True)


@given(axes_of_two())
def test_copies_upwards_pair_the_same_elements(axes):
    copied = [CopyAxis(n, d or 1, s) for n, d, s in axes]
    source, target = starts(copied)
    found = upwards(copied)
    assert all(a.d > 0 for a in found)
    moved = sorted((d + target, s + source) for d, s in offsets(found))
    assert moved == sorted(offsets(copied))


@given(axes_of_two(), axes_of_two(), st.booleans())
def test_reductions_pair_the_same_elements(kept, reduced, ordered):
    kept = [ReductionAxis(*a) for a in kept]
    reduced = [ReductionAxis(n, x, 0) for n, x, _ in reduced]
    form = form_of(kept, reduced, ordered)
    assert all(a.x >= 0 for a in (form.kept if ordered else (*form.kept, *form.reduced)))
    found = offsets([*form.kept, *form.reduced])
    moved = sorted((x + form.start_x, y + form.start_y) for x, y in found)
    assert moved == sorted(offsets([*kept, *reduced]))


@pytest.mark.parametrize(("shape", "strides", "wanted"), [
    ((3, 4), [(32, 8), (32, 8)], [(12, 8, 8)]), ((3, 4), [(8, 24), (8, 24)], [(12, 8, 8)]),
    ((3, 4), [(0, 8), (32, 8)], [(3, 0, 32), (4, 8, 8)]),
    ((3, 1, 4), [(0, 0, 0), (32, 5, 8)], [(12, 0, 8)]),
    ((), [(), ()], [(1, 0, 0)]), ((1, 1), [(8, 8)], [(1, 0)]),
    ((2, 0), [(0, 8)], [(0, 8), (2, 0)]),
    ((2, 3), [(-24, 8), (24, 8)], [(2, -24, 24), (3, 8, 8)]),
])
def test_axes_are_merged_where_all_operands_agree(shape, strides, wanted):
    assert loops(shape, strides) == wanted


def test_copied_axes_that_follow_from_each_other_are_one():
    assert merged([CopyAxis(2, 60, 60), CopyAxis(3, 20, 20), CopyAxis(5, 4, 4)]) == [(30, 4, 4)]
    assert merged([CopyAxis(2, 60, 4), CopyAxis(3, 20, 40), CopyAxis(5, 4, 8)]) == [
        (2, 60, 4), (15, 4, 8)]
    assert merged([CopyAxis(4, 8, 0), CopyAxis(2, 4, 0)]) == [(8, 4, 0)]
