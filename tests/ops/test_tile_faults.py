"""Faults at every allocation, copy and launch of operations in tiles: no element is lost."""

from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import mat
from mat.core.observers import OBSERVERS
from mat.ops.tiles import tiling

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
    "concat": lambda x, y: mat.concat([y.T[:5], y.T[5:]], out=x),
    "stack": lambda x, y: mat.stack(list(y), axis=1, out=x),
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
        assert np.array_equal(left, after if done else a)


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", ["float64", "int16", "complex64"])
@pytest.mark.parametrize("rows", [3])
@pytest.mark.parametrize("call", [lambda x, y: x.__iadd__(y), lambda x, y: mat.add(x, y, out=x),
                                  lambda x, y: x[::-1].__iadd__(y), lambda x, y: mat.axpy(1, y, x)])
def test_a_shortage_in_a_later_tile_changes_nothing(call, rows, dtype):
    """Of a Mat of which a row is on the device already, and kept there, the tiles with other rows
    need more.
    """
    a = (np.arange(rows * 8192) % 100).reshape(rows, 8192).astype(dtype)
    y = mat.ones(rows, 8192, dtype=dtype)
    for row in range(rows):
        for room in (1.05, 1.6):
            x, done = mat.array(a), False
            with suppress(mat.OutOfDeviceMemory), mat.use_device("emulated"), x[row].keep(
                    "emulated"), mat.use_device("emulated", pool_bytes=int(room * a[0].nbytes)):
                call(x, y)
                done = True
            np.testing.assert_array_equal(x.to_numpy(), a + done)


class Raises:
    """An observer that raises an error at one of the copies."""

    def __init__(self, at, error):
        self.after, self.error = at, error

    def __getattr__(self, name):
        return self.copying if name in ("copying", "copied_runs") else lambda *_: None

    def copying(self, *_):
        self.after -= 1
        if not self.after:
            raise self.error


@pytest.mark.parametrize("fill", [None, 3.0])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError, mat.ConflictError])
@pytest.mark.parametrize("size", [40, 40_000])
def test_any_error_in_a_later_tile_changes_nothing(size, error, fill):
    a, failed = np.arange(float(size)), 0
    y = mat.array(a)
    for at in (1, 2, 3, 5, 8, 13):
        x = mat.array(a) if fill is None else mat.Mat(size, fill=fill)
        before, done = x.to_numpy(), False
        observer = Raises(at, error("planned"))
        with mat.use_device("emulated", pool_bytes=4 * size):
            OBSERVERS.append(observer)
            try:
                x += y
                done = True
            except error:
                failed += 1
            finally:
                OBSERVERS.remove(observer)
        np.testing.assert_array_equal(x.to_numpy(), before + a if done else before)
    assert failed


def _no_memory(mat):
    raise MemoryError


@pytest.mark.parametrize("patch", [("_has_room", lambda nbytes: False), ("_copied", _no_memory)])
def test_without_memory_for_a_copy_the_tiles_stay_done(patch, monkeypatch):
    monkeypatch.setattr(tiling, *patch)
    x, y = mat.array(np.arange(400.0)), mat.ones(400)
    with mat.use_device("emulated", pool_bytes=1600):
        x += y
    np.testing.assert_array_equal(x.to_numpy(), np.arange(1.0, 401))
    observer = Raises(5, ZeroDivisionError("planned"))
    with mat.use_device("emulated", pool_bytes=1600):
        OBSERVERS.append(observer)
        try:
            with pytest.raises(ZeroDivisionError) as raised:
                x += y
        finally:
            OBSERVERS.remove(observer)
    assert "those before it are done" in raised.value.__notes__[0]
    assert 0 < np.count_nonzero(x.to_numpy() == np.arange(2.0, 402)) < 400


def test_much_is_copied_only_if_twice_as_much_is_free():
    assert tiling._has_room(tiling.MUCH)
    assert not tiling._has_room(1 << 60) or not Path("/proc/meminfo").exists()


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
@pytest.mark.parametrize("call", [lambda x, y: x.__iadd__(y), lambda x, y: x.assign_(y),
                                  lambda x, y: x[5:150].__iadd__(y[5:150])])
def test_tiles_within_a_block_of_the_thread_itself(call, dtype):
    a = (np.arange(128 * 200) % 50).reshape(200, 128).astype(dtype)
    x, y, wanted = mat.array(a), mat.array(a), mat.array(a)
    call(wanted, y)
    with mat.use_device("emulated"), x.facet("emulated", "io"), mat.use_device(
            "emulated", pool_bytes=a.nbytes * 5 // 4):
        call(x, y)
    np.testing.assert_array_equal(x.to_numpy(), wanted.to_numpy())
    with mat.use_device("emulated"), y.facet("emulated", "input"), mat.use_device(
            "emulated", pool_bytes=a.nbytes * 5 // 4):
        x.assign_(y)
    np.testing.assert_array_equal(x.to_numpy(), a)
