"""Accesses that are made early and begin late: direction, form and device are judged when the
block begins.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

pytestmark = [pytest.mark.host, pytest.mark.unchecked("it gives copies to blocks")]


def only_on_device(values):
    """A Mat with values that no other memory has, within a block on the device."""
    x = mat.array([v - 1 for v in values])
    x += 1
    assert x.fresh == {"emulated"}
    return x


def made(x, how):
    return (x.facet("array", "output") if how == "facet"
            else mat.with_facets((x, "array", "output")))


def write(look, number):
    with look as found:
        a = found[0] if isinstance(found, tuple) else found
        a[...] = number
        return a.shape


BOTH = pytest.mark.parametrize("how", ["facet", "with_facets"])


@BOTH
def test_output_of_what_has_become_a_part_keeps_the_rest(how):
    with mat.use_device("emulated"):
        x = only_on_device([1.0, 2, 3, 4])
        look = made(x, how)
        x.view_(2)
        assert write(look, 5) == (2,)
        x.view_(4)
        assert_array_equal(x.to_numpy(), [5, 5, 3, 4])


@BOTH
def test_output_within_a_window_keeps_the_rest(how):
    with mat.use_device("emulated"):
        x = only_on_device([1.0, 2, 3, 4])
        look = made(x, how)
        with x.window(2, 1):
            write(look, 5)
        assert_array_equal(x.to_numpy(), [1, 5, 5, 4])


@BOTH
def test_a_part_that_has_become_the_whole_is_overwritten(how):
    x = mat.array([1.0, 2, 3, 4])
    with x.window(2, 1):
        look = made(x, how)
    assert write(look, 5) == (4,)
    assert_array_equal(x.to_numpy(), [5, 5, 5, 5])


@BOTH
def test_the_storage_is_that_of_the_begin(how):
    x = mat.ones(2)
    view = x.view(2)
    look = made(x, how)
    x.adjust_((3, 3))
    assert write(look, 5) == (3, 3)
    assert_array_equal(x.to_numpy(), np.full((3, 3), 5.0))
    assert_array_equal(view.to_numpy(), [1, 1])


@pytest.mark.parametrize("direction", ["input", "io", "output"])
@pytest.mark.parametrize("how", ["facet", "with_facets"])
def test_a_device_that_is_not_used_any_more(direction, how):
    x = mat.ones(3)
    with mat.use_device("emulated"):
        look = (x.facet("emulated", direction) if how == "facet"
                else mat.with_facets((x, "emulated", direction)))
    with pytest.raises(mat.DeviceError, match="not in use"), look:
        pytest.fail("the block began")
    assert mat.memory_report().by_memory["emulated"]["live"] == 0
    assert_array_equal(x.to_numpy(), 1)


def test_a_device_that_is_used_again():
    x = mat.zeros(3).fill_(1)
    with mat.use_device("emulated"):
        look = x.facet("emulated", "input")
    found = []
    with mat.use_device("emulated") as dev, look as e:
        dev.launch(lambda a: found.append(a.copy()), e)
    assert_array_equal(found[0], 1)
    assert x.fresh == {"host"}


def test_a_group_that_cannot_begin_leaves_nothing():
    x, y = mat.ones(3), mat.ones(3)
    with mat.use_device("emulated"):
        group = mat.with_facets((x, "array", "io"), (y, "emulated", "input"))
    with pytest.raises(mat.DeviceError), group:
        pytest.fail("the block began")
    assert not any(state.watchers for state in x.facets.values())
    x.fill_(2)
    assert_array_equal(x.to_numpy(), 2)


@BOTH
def test_the_shape_is_that_of_the_begin(how):
    x = mat.ones((2, 3))
    look = made(x, how)
    x.reshape_(3, 2)
    assert write(look, 4) == (3, 2)


def test_directions_are_joined_for_the_storages_of_the_begin():
    """Two Mats that share a storage only when the block begins."""
    with mat.use_device("emulated"):
        x, y = only_on_device([1.0, 2, 3, 4]), mat.ones(2)
        group = mat.with_facets((x, "array", "output"), (y, "array", "input"))
        y.adjust_(3)
        with group as (a, b):
            assert b.shape == (3,)
            a[...] = 5
        assert x.to_numpy().tolist() == [5, 5, 5, 5]
