"""Faults at every allocation, copy and launch of operations in tiles: no element is lost."""

from itertools import count

import numpy as np
import pytest

import mat

from ..support import selection

SHAPE = 12, 6


def made():
    rng = np.random.default_rng(2)
    return rng.standard_normal(SHAPE), rng.standard_normal(SHAPE[::-1])


def changed(x, function):
    """Change a Mat in place."""
    function(x)
    return x


CALLS = {
    "add": lambda x, y: x + y.T,
    "sum": lambda x, y: x.sum(axis=0),
    "var": lambda x, y: np.var(x, axis=1),
    "cumsum": lambda x, y: np.cumsum(x, axis=0),
    "sort": lambda x, y: np.sort(x.reshape(-1)),
    "product": lambda x, y: x @ y,
    "gather": lambda x, y: x[[3, 11, 3, 7]],
    "transpose": lambda x, y: mat.concat([x, y.T], axis=0),
    "random": lambda x, y: mat.random.Generator(3).standard_normal(out=mat.empty(*SHAPE)),
}
CHANGES = {
    "x += y": lambda x, y: x.__iadd__(y.T),
    "exp_": lambda x, y: x.exp_(),
    "a part": lambda x, y: x[::2].fill_(4.0),
    "rows": lambda x, y: x.__setitem__(slice(3, 10), y.T[3:10]),
}


def faults(dev, what, work):
    """Carry out some work with a fault at each event of a kind in turn (by default, at one of
    five); yield what it returned, or None after an error, until there is no such event any more.
    """
    for k in count(1, selection.most(1, 5)):
        dev.fail(**{what: k})
        try:
            found = work()
        except mat.DeviceError:
            found = None
        reached = not dev.failing[what]
        dev.fail(**{what: 0})
        if not reached:
            break
        yield found


@pytest.fixture
def dev():
    with mat.use_device("emulated", pool_bytes=600) as device:
        yield device


@pytest.mark.parametrize("what", ["allocation", "h2d", "d2h", "launch"])
@pytest.mark.parametrize("name", CALLS)
def test_operands_and_later_results_are_right(name, what, dev):
    a, b = made()
    x, y = mat.array(a), mat.array(b)
    wanted = CALLS[name](x, y).to_numpy()
    for found in faults(dev, what, lambda: CALLS[name](x, y).to_numpy()):
        if found is not None:  # it was done again, in smaller tiles
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert np.array_equal(x.to_numpy(), a)
        assert np.array_equal(y.to_numpy(), b)
        assert np.array_equal(CALLS[name](x, y).to_numpy(), wanted)


@pytest.mark.parametrize("what", ["allocation", "h2d", "d2h", "launch"])
@pytest.mark.parametrize("name", CHANGES)
def test_elements_are_as_before_or_as_after(name, what, dev):
    a, b = made()
    y = mat.array(b)
    after = changed(mat.array(a), lambda x: CHANGES[name](x, y)).to_numpy()
    made_now = []

    def work():
        made_now.append(mat.array(a))
        CHANGES[name](made_now[-1], y)
        return True

    for done in faults(dev, what, work):
        left = made_now[-1].to_numpy()
        assert ((left == a) | (left == after)).all()
        assert not done or np.array_equal(left, after)
