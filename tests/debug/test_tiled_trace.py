"""The trace of operations that are cut into tiles: by operation, line and Mat of origin, not by
tile; what it counts; and that `mat.debug.plan` says the same beforehand.
"""

import sys

import numpy as np
import pytest

import mat

pytestmark = pytest.mark.host
POOL = 100_000


def line():
    return f"{__file__}:{sys._getframe(1).f_lineno}"


def numbers(*shape):
    return mat.array(np.random.default_rng(3).random(shape))


def test_one_paragraph_for_each_operation_and_line():
    x = mat.array(np.ones((100, 1000))); made = line()  # noqa: E702
    with mat.debug.trace() as t, mat.use_device("emulated", pool_bytes=POOL):
        for _ in range(4):
            x += 1.0; here = line()  # noqa: E702
    text = repr(t)
    assert f"add was cut into 17 tiles, 4 times: {here}\n" in text
    assert "take 800,000 bytes" in text
    assert text.count("<Mat 100x1000>") == 1
    assert len(text.splitlines()) <= 6
    assert t.ping_pong() == []
    assert "back and forth" not in text
    assert [(c.operation, c.device, c.tiles, c.nbytes, c.line) for c in t.tiled] == [
        ("add", "emulated", 17, 800_000, here)] * 4
    assert {e.origin for e in t.copies} == {f"<Mat 100x1000> of {made}"}
    assert {e.cut for e in t.copies[:-1]} == {"add"}


@pytest.mark.parametrize("call", [
    lambda x, y: x.T + y.T, lambda x, y: x @ y.T, lambda x, y: mat.sort(x, axis=0),
    lambda x, y: x.sum(axis=0), lambda x, y: mat.cumsum(x, axis=0), lambda x, y: x.T.copy(),
    lambda x, y: mat.argsort(x, axis=1), lambda x, y: x.var(), lambda x, y: x[:, ::2] * 2])
def test_parts_and_packed_parts_count_for_their_mats(call):
    x, y = numbers(300, 300), numbers(300, 300)
    with mat.debug.trace() as t, mat.use_device("emulated", pool_bytes=POOL):
        found = call(x, y)
    assert t.tiled[0].tiles > 5
    assert f"was cut into {t.tiled[0].tiles} tiles: {__file__}" in repr(t)
    assert len(repr(t).splitlines()) <= 10
    origins = {e.origin.partition(" of ")[0] for e in t.copies}
    assert origins <= {"<Mat 300x300>", found.label(), "intermediate results"}
    assert t.ping_pong() == []


def test_what_goes_back_and_forth_without_tiles_is_still_found():
    x, y = numbers(100, 1000), numbers(100)
    with mat.debug.trace() as t, mat.use_device("emulated", pool_bytes=POOL):
        x += 1
        for _ in range(3):
            y += 1
            with y.facet("array", "io") as a:
                a += 1
    assert [found.mat for found in t.ping_pong()] == ["<Mat 100>"]


def test_what_fits_is_not_cut():
    x = numbers(10, 10)
    with mat.debug.trace() as t, mat.use_device("emulated", pool_bytes=POOL):
        x += 1
    assert t.tiled == []
    assert "cut" not in repr(t)


def test_tiles_that_read_host_memory_have_no_line_each():
    a, b = numbers(400, 100), numbers(400, 100)
    with mat.debug.trace() as t, mat.use_device("emulated", pool_bytes=200_000):
        for _ in range(4):
            a.sum()
            b.sum()
    assert len(repr(t).splitlines()) < 16


def loop(x, y):
    for _ in range(4):
        x += y[0]
    return x


PLANNED = {
    "exp": lambda x, y: mat.exp(x), "x + y": lambda x, y: x + y, "x + x": lambda x, y: x + x,
    "x += y": lambda x, y: x.add_(y), "x += 1": lambda x, y: x.add_(1), "x + row": lambda x, y: (
        x + y[0]), "x.T + y": lambda x, y: x.T + y, "x[:, ::2]": lambda x, y: x[:, ::2] * 2,
    "loop": loop, "fill": lambda x, y: x.fill_(3), "normal": lambda x, y: x.normal_(),
    "astype": lambda x, y: x.astype("float32"), "x.T.copy()": lambda x, y: x.T.copy(),
    "sum": lambda x, y: x.sum(), "sum of columns": lambda x, y: x.sum(axis=0),
    "sum of rows": lambda x, y: x.sum(axis=1), "mean": lambda x, y: x.mean(axis=0),
    "max": lambda x, y: x.max(), "argmax": lambda x, y: x.argmax(),
    "argmax of rows": lambda x, y: x.argmax(axis=1), "argmin of columns": lambda x, y: (
        x.argmin(axis=0)), "var": lambda x, y: x.var(), "std": lambda x, y: x.std(axis=0),
    "x @ y": lambda x, y: x @ y, "x @ y.T": lambda x, y: x @ y.T, "x @ v": lambda x, y: x @ y[0],
    "v @ x": lambda x, y: y[0] @ x, "x.T @ x": lambda x, y: x.T @ x,
    "sort rows": lambda x, y: mat.sort(x, axis=1), "sort columns": lambda x, y: mat.sort(x, axis=0),
    "sort all": lambda x, y: mat.sort(x, axis=None), "argsort": lambda x, y: mat.argsort(x, axis=1),
    "cumsum": lambda x, y: mat.cumsum(x, axis=1), "cumsum down": lambda x, y: mat.cumsum(x, axis=0),
    "concatenate": lambda x, y: mat.concatenate([x, y]), "stack": lambda x, y: mat.stack([x, y]),
    "take": lambda x, y: mat.take(x, [3, 5, 1], axis=1),
}


@pytest.mark.parametrize("pool", [POOL, 250_000])
@pytest.mark.parametrize("name", PLANNED)
def test_the_plan_and_the_trace_agree(name, pool):
    call, operands = PLANNED[name], (numbers(300, 300), numbers(300, 300))
    with mat.use_device("emulated", pool_bytes=pool):
        plan = mat.debug.plan(call, *operands)
    with mat.debug.trace() as t:
        with mat.use_device("emulated", pool_bytes=pool):
            found = call(*operands)
        del found
    cut = [(c.name, c.tiles) for c in plan.calls if c.tiles > 1]
    assert cut == [(c.operation, c.tiles) for c in t.tiled]
    assert plan.moved == t.bytes


INTERMEDIATE = {
    "sum of a result": lambda x, y: ((x - y) ** 2).sum(), "two": lambda x, y: (x + y) * 2,
    "four": lambda x, y: mat.exp(x + y) - x * y, "where": lambda x, y: mat.where(x > y, x, y)}


@pytest.mark.parametrize("pool", [80_000, 123_456, 250_000])
@pytest.mark.parametrize("name", INTERMEDIATE)
def test_intermediate_results_that_are_garbage_are_not_planned_home(name, pool):
    call, operands = INTERMEDIATE[name], (numbers(300, 300), numbers(300, 300))
    plan = mat.debug.plan(call, *operands, pool_bytes=pool)
    with mat.debug.trace() as t:
        with mat.use_device("emulated", pool_bytes=pool):
            found = call(*operands)
        del found
    assert plan.moved == t.bytes


def test_garbage_is_not_planned_home_at_all_where_there_is_room():
    x, y = numbers(100, 100), numbers(100, 100)
    with mat.use_device("emulated", pool_bytes=1_000_000):
        plan = mat.debug.plan(lambda: (x + y) * 2)
    assert plan.moved == 3 * x.nbytes


# Operands in pools that have just room for them


@pytest.mark.parametrize("pool", [98_000, 100_000, 110_000])
def test_a_tile_of_half_the_pool_evicts_none_of_its_operands(pool):
    x = numbers(300, 300)
    with mat.debug.trace() as t, mat.use_device("emulated", pool_bytes=pool):
        found = mat.take(x, [3, 5, 1], axis=1)
    np.testing.assert_array_equal(found, np.take(x.to_numpy(), [3, 5, 1], axis=1))
    assert t.bytes == x.nbytes + found.nbytes + 24


def test_an_operand_that_is_there_is_not_evicted_for_the_others():
    x, y, z = numbers(50, 100), numbers(50, 100), numbers(40, 100)
    with mat.use_device("emulated", pool_bytes=100_000), mat.debug.count_copies() as n:
        y.add_(1)
        z.add_(1)
        x.add_(y)
    assert n.h2d == 3


def test_an_operand_that_is_given_twice_is_copied():
    x = numbers(50, 500)
    plan = mat.debug.plan(lambda: x + x, pool_bytes=333_333)
    with mat.debug.trace() as t:
        with mat.use_device("emulated", pool_bytes=333_333):
            y = x + x
        del y
    assert (plan.calls[0].tiles, plan.moved) == (t.tiled[0].tiles, t.bytes)


def test_a_plan_of_a_long_sort_reads_nothing():
    x = numbers(300, 300)
    with mat.debug.count_copies() as n:
        plan = mat.debug.plan(mat.sort, x, None, pool_bytes=POOL)
    assert (n.h2d, n.d2h) == (0, 0)
    assert plan.moved == 4 * x.nbytes
    assert x.fresh == {"host"}
