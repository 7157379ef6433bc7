"""Carrying out tiles: in what room, in which order, what is copied ahead, and what failures say."""

import warnings

import numpy as np
import pytest

import mat
from mat.ops.engine import operation
from mat.ops.engine.operation import Input, op
from mat.ops.tiles import tiling
from mat.ops.tiles.tile import Tile, TileTooLarge

from ..support import selection


class Summed:
    """An operation that adds up the elements of two Mats, which `tiles` says how to cut."""

    def __init__(self):
        @op(method="")
        def summed(x: Input, y: Input):
            """Return the sum of all elements."""

        @summed.on("array")
        def by_numpy(np, x, y):
            return float(x.sum() + y.sum())

        self.op, self.budgets, self.tiles, self.needed = summed, [], [], 0

    def cut(self, args, kwargs, budget):
        self.budgets.append(budget)
        if budget < self.needed:
            raise TileTooLarge(self.needed)
        yield from self.tiles


@pytest.fixture
def summed(monkeypatch):
    monkeypatch.setattr(operation, "REGISTRY", dict(operation.REGISTRY))
    found = Summed()
    found.op.cut_by(found.cut)
    return found


@pytest.fixture
def large():
    """Mats that do not fit into a pool of 1,000 bytes together."""
    return mat.array(np.ones(100)), mat.array(np.ones(100))


def under_way(x):
    """The memories that the data is being copied to."""
    return [memory.name for memory in x.storage.async_copies or ()]


def accessed(x):
    """Access all of a Mat on the device at once; return how many elements it has."""
    with x.facet("emulated", "input"):
        return x.size


def test_tiles_run_in_order_and_the_last_one_has_the_result(summed, large):
    ran = []
    summed.tiles = [Tile(lambda k=k: ran.append(k) or 10 * k) for k in range(4)]
    with mat.use_device("emulated", pool_bytes=1000):
        assert summed.op(*large) == 30
    assert ran == [0, 1, 2, 3]
    assert summed.budgets == [500]


def test_what_fits_is_not_cut(summed, large):
    with mat.use_device("emulated", pool_bytes=1600):
        assert summed.op(*large) == 200
        assert summed.op(large[0], large[0]) == 200
    with mat.use_device("emulated"):
        assert summed.op(*large) == 200
    assert summed.op(*large) == 200
    assert summed.budgets == []


def test_a_mat_given_twice_counts_once(summed, large):
    with mat.use_device("emulated", pool_bytes=1000):
        assert summed.op(large[0], large[0]) == 200
    assert summed.budgets == []


def test_the_next_tile_is_copied_while_one_computes(summed, large):
    parts = [mat.array(np.full(10, k)) for k in range(3)]
    seen = []

    def run(k):
        seen.append([under_way(p) for p in parts])
        return float(parts[k].sum())

    summed.tiles = [Tile(lambda k=k: run(k), (parts[k],)) for k in range(3)]
    with mat.use_device("emulated", pool_bytes=1000), mat.debug.count_copies() as copies:
        summed.op(*large)
    assert copies.h2d == 3
    assert seen == [[[], ["emulated"], []], [[], [], ["emulated"]], [[], [], []]]


def test_results_go_home_if_they_do_not_fit(monkeypatch):
    """A tile's results are copied to the host while the next one computes."""
    monkeypatch.setattr(operation, "REGISTRY", dict(operation.REGISTRY))
    parts = [mat.zeros(10) for _ in range(3)]
    seen = []

    def run(k):
        seen.append([under_way(p) for p in parts])
        return parts[k].add_(1)

    @op(method="")
    def written(x: mat.ops.engine.operation.InOut):
        """Write."""

    written.on("array")(lambda np, x: None)
    written.cut_by(lambda args, kwargs, budget: iter(
        [Tile(lambda k=k: run(k), (parts[k],), (parts[k],)) for k in range(3)]))
    with mat.use_device("emulated", pool_bytes=700):
        written(mat.zeros(100))
    assert seen == [[[], [], []], [["host"], [], []], [[], ["host"], []]]
    assert [p.tolist() for p in parts] == [[1] * 10] * 3


def test_a_tile_that_needs_more_than_half(summed, large):
    summed.tiles, summed.needed = [Tile(lambda: 5)], 800
    with mat.use_device("emulated", pool_bytes=1000):
        assert summed.op(*large) == 5
    assert summed.budgets == [500, 1000]


def test_the_error_says_the_least_pool_that_would_do(summed, large):
    summed.needed = 1200
    with (mat.use_device("emulated", pool_bytes=1000),
          pytest.raises(mat.OutOfDeviceMemory, match="give pool_bytes = 1200 or more")):
        summed.op(*large)


def test_smaller_tiles_where_others_use_the_device(summed, large):
    """Half of the pool is accessed: tiles of a quarter are tried after those that do not fit."""
    other = mat.array(np.ones(62))
    parts = {400: mat.array(np.ones(120)), 200: mat.array(np.ones(50))}

    def cut(args, kwargs, budget):
        size = 400 if budget >= 400 else 200
        yield Tile(lambda: accessed(parts[size]), (parts[size],))

    summed.op.cut_by(cut)
    with mat.use_device("emulated", pool_bytes=1000), other.facet("emulated", "input"):
        assert summed.op(*large) == 50


def test_the_error_where_others_use_the_device(summed, large):
    other = mat.array(np.ones(120))
    summed.op.cut_by(lambda args, kwargs, budget: iter([Tile(lambda: accessed(large[0]))]))
    with (mat.use_device("emulated", pool_bytes=1000), other.facet("emulated", "input"),
          pytest.raises(mat.OutOfDeviceMemory, match=r"test_tile_execution\.py")):
        summed.op(*large)


@pytest.mark.parametrize("free", [True, False])
def test_a_failure_says_which_tile_it_was(summed, large, free):
    def fail():
        raise ZeroDivisionError("here")

    summed.tiles = [Tile(lambda: 1, free=free) for _ in range(3)]
    summed.tiles[1] = Tile(fail, free=free)
    with (mat.use_device("emulated", pool_bytes=1000),
          pytest.raises(ZeroDivisionError, match="here") as caught):
        summed.op(*large)
    of = " of 3" if free else ""
    assert caught.value.__notes__ == [f"in tile 2{of} of summed; those before it are done"]


def test_tiles_are_not_cut_again(summed, large):
    summed.tiles = [Tile(lambda: summed.op(*large))]
    with (mat.use_device("emulated", pool_bytes=1000),
          pytest.raises(mat.OutOfDeviceMemory)):
        summed.op(*large)
    assert 1 <= len(summed.budgets) < 20


def test_an_operation_that_is_computed_whole_says_so(summed, large):
    summed.op.is_computed_whole("it is a test")
    with (mat.use_device("emulated", pool_bytes=1000),
          pytest.raises(mat.OutOfDeviceMemory, match="computed whole, since it is a test")):
        summed.op(*large)


def test_an_interrupt_before_copies_ahead_begin_is_no_mistake_of_the_user(monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(tiling._CopiesAhead, "copied", interrupt)
    x = mat.zeros(1000)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with mat.use_device("emulated", pool_bytes=1600):
            try:
                x += 1
            except KeyboardInterrupt as error:
                error.__traceback__ = None  # with it goes the block that was not entered
            else:
                pytest.fail("there was no interrupt")
    assert found == []


def test_bad_operands_are_errors_before_any_tile(summed, large):
    with mat.use_device("emulated", pool_bytes=1000), pytest.raises(mat.DTypeError):
        summed.op(large[0], 3)
    with mat.use_device("emulated", pool_bytes=1000), pytest.raises(mat.ShapeError):
        mat.add(mat.ones(100), mat.ones(99), out=mat.ones(100))
    assert summed.budgets == []


def test_mats_that_stay_on_the_host_are_not_cut(summed, large):
    for x in large:
        x.device_enabled = False
    with mat.use_device("emulated", pool_bytes=1000):
        assert summed.op(*large) == 200
    assert summed.budgets == []


@pytest.mark.parametrize("call", [
    lambda x: mat.sum(x, axis=0), lambda x: np.var(x, axis=0), lambda x: mat.argmax(x, axis=0),
    lambda x: np.cumsum(x, axis=0), lambda x: mat.exp(x + x.reshape(20, 100).T)])
@pytest.mark.sample(3)
def test_an_allocation_that_fails_changes_no_result(call):
    """A tile for which there was no room is carried out again, after what was copied ahead."""
    a = np.random.default_rng(2).standard_normal((100, 20))
    wanted = call(mat.array(a)).to_numpy()
    with mat.use_device("emulated", pool_bytes=1600) as device:
        for k in range(1, 60, selection.most(9, 25)):
            x = mat.array(a)
            device.fail(allocation=k)
            try:
                found = call(x)
            except mat.OutOfDeviceMemory:
                found = None
            device.fail(allocation=0)
            assert found is None or np.allclose(found.to_numpy(), wanted, rtol=1e-12)
            assert np.array_equal(x.to_numpy(), a)


def test_conflicts_are_found_before_any_tile():
    x = mat.array(np.zeros(1000))
    with (mat.use_device("emulated", pool_bytes=1600), x[990:].facet("array", "input"),
          pytest.raises(mat.ConflictError)):
        x += 1
    assert not x.to_numpy().any()


def test_torn_elements_are_found_before_any_tile():
    x = mat.array(np.zeros(1000))
    with pytest.raises(ZeroDivisionError), x[990:].facet("array", "io"):
        raise ZeroDivisionError
    with mat.use_device("emulated", pool_bytes=1600), pytest.raises(mat.TornError):
        x += 1
    x.accept_torn()
    assert not x.to_numpy().any()


def test_views_with_gaps_that_are_on_the_device_are_packed_where_they_take_too_much_room():
    n = 253
    a = np.random.default_rng(0).normal(size=(2 * n, n)).astype("float32")
    x, y = mat.array(a), mat.array(a[n:])
    with mat.use_device("emulated", pool_bytes=176_497):
        x[127:n].sum(axis=0)  # the rows of a block of columns, whose span takes 126,704 bytes
        found = y + x.T[:, :n]
    np.testing.assert_array_equal(found.to_numpy(), a[n:] + a[:n].T)
