"""`mat.debug.plan`: what it says of calls, and that it neither computes nor copies."""

import gc
import sys
from functools import partial
from itertools import product

import numpy as np
import pytest

import mat
from mat.debug import planned_device
from mat.debug.planned_device import untouched
from mat.debug.show import names_for
from mat.matrix.delegate import delegate
from mat.ops.tiles.tiling import _Execution

from ..support.needs import native


def gives_a_terabyte():
    """Whether the system reserves as much for a plan, of which nothing is used."""
    try:
        return untouched(1 << 40, np.dtype("uint8")).nbytes == 1 << 40
    except mat.OutOfMemory:
        return False


def test_it_says_how_a_call_would_be_cut():
    x = mat.array(np.ones((1000, 10)))
    found = mat.debug.plan(mat.exp, x, pool_bytes=32_000)
    (call,) = found.calls
    assert (call.name, call.tiles, call.shape, call.nbytes) == ("exp", 10, (100, 10), 16_000)
    assert (call.moved, call.least, call.problem) == (80_000, 80_000, "")
    assert (found.moved, found.least, found.pool_bytes) == (160_000, 160_000, 32_000)
    assert "10 tiles of (100, 10)" in repr(found)


@pytest.mark.host
def test_nothing_is_computed_or_copied():
    x, y = mat.arange(1000.0), mat.zeros(1000)
    with mat.debug.count_copies() as copies:
        mat.debug.plan(lambda: (x.exp_(), y.add_(x), x.fill_(3)), pool_bytes=800)
    assert (copies.h2d, copies.d2h) == (0, 0)
    assert x.equals(mat.arange(1000.0))
    assert y.equals(mat.zeros(1000))
    assert x.fresh == {"host"}


def test_what_is_on_the_device_is_not_counted():
    x = mat.array(np.ones((100, 10)))
    with mat.use_device("emulated", pool_bytes=10_000_000):
        x += 1
        found = mat.debug.plan(mat.sum, x)
        assert (found.pool_bytes, found.calls[0].tiles, found.calls[0].moved) == (10_000_000, 1, 0)
        assert x.fresh == {"emulated"}


def test_what_a_call_leaves_is_there_for_the_next_one():
    x = mat.array(np.ones((100, 10)))
    found = mat.debug.plan(lambda: mat.exp(mat.sqrt(x)), pool_bytes=100_000)
    assert [c.moved for c in found.calls] == [8000, 0]
    assert found.least == found.moved == 2 * 8000  # the square root is garbage


def test_what_does_not_fit():
    x = mat.ones(4, 4)
    found = mat.debug.plan(lambda: (mat.inv(x), mat.add(x, x)), pool_bytes=8)
    assert [c.tiles for c in found.calls] == [0, 0]
    assert "a panel of some columns" in repr(found)
    assert "needs 16 bytes" in found.calls[1].problem


def test_composed_functions():
    x = mat.array(np.ones((100, 10)))
    found = mat.debug.plan(np.nanmean, x, axis=1, pool_bytes=4000)
    assert {"replace_nan", "sum"} <= {name for c in found.calls for name in (c.name, *c.operations)}
    assert all(c.tiles > 0 for c in found.calls)
    joined = mat.debug.plan(mat.concat, [x, x], pool_bytes=4000)
    assert [c.name for c in joined.calls] == ["assign", "assign"]


def test_products():
    a, b = mat.array(np.ones((100, 100))), mat.array(np.ones((100, 100)))
    (call,) = mat.debug.plan(mat.matmul, a, b, pool_bytes=40_000).calls
    assert call.tiles > 1
    assert 160_000 <= call.moved <= 500_000


def test_operands_that_overlap_the_result_are_copied():
    x = mat.arange(1000.0)
    found = mat.debug.plan(lambda: x[1:].assign_(x[:-1]), pool_bytes=2000)
    (call,) = found.calls
    assert (call.name, call.tiles) == ("assign", 34)


@pytest.mark.host
def test_nothing_is_computed_for_mats_that_are_not_enabled():
    x, y = mat.arange(1000.0), mat.arange(1000.0)
    y.device_enabled = False
    found = mat.debug.plan(lambda: (x.exp_(), y.add_(x)), pool_bytes=80_000)
    assert [c.name for c in found.calls] == ["exp"]
    assert found.moved == 16_000  # the host adds
    assert y.equals(mat.arange(1000.0))


@pytest.mark.host
def test_nobody_else_sees_its_copies():
    x = mat.array(np.ones((1000, 10)))
    with mat.debug.trace() as trace, mat.debug.count_copies() as copies, mat.debug.guard():
        mat.debug.plan(lambda: mat.exp(x).sum(), pool_bytes=20_000)
    assert (trace.bytes, copies.bytes, copies.waits) == (0, 0, 0)


@pytest.mark.host
def test_a_plan_within_a_plan_is_one_of_its_own():
    x, found = mat.array(np.ones((1000, 10))), []

    def function():
        found.append(mat.debug.plan(mat.exp, x, pool_bytes=20_000))
        return mat.sqrt(x)

    outer = mat.debug.plan(function, pool_bytes=40_000)
    assert [c.name for c in outer.calls] == ["sqrt"]
    assert [c.name for c in found[0].calls] == ["exp"]
    assert outer.moved == found[0].moved == 160_000


@pytest.mark.host
def test_parts_on_the_device_are_not_counted():
    x = mat.array(np.ones((1000, 100)))
    with mat.use_device("emulated", pool_bytes=10_000_000):
        with x[:500].facet("emulated", "input"), x[700:800].facet("emulated", "output"):
            pass
        found = mat.debug.plan(lambda: x[:500] + x[300:800], pool_bytes=10_000_000)
    assert found.moved == 160_000 + 80_000 + 400_000


@pytest.mark.unchecked("nothing is written for output")
def test_users_do_not_see_its_memories():
    x = mat.ones(1000)
    mat.debug.plan(mat.exp, x, pool_bytes=1000)
    for use in (x.drop, x.facet):
        with pytest.raises(mat.FacetError, match="there are ") as caught:
            use("nowhere")
        assert "planned" not in str(caught.value)
    assert "planned:" not in str(mat.memory_report())  # the name of a file may have the word
    assert not any("planned" in name for name in (*names_for("facet"), *names_for("drop")))


def test_it_takes_no_memory():
    resource = pytest.importorskip("resource")
    x = mat.empty(1 << 14, 1 << 13)
    with x.facet("array", "output"):  # 1 GB, of which nothing is written
        pass
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = mat.debug.plan(lambda: ((x.T + 1)[:, :100].copy(), np.sort(x.reshape(-1))),
                           pool_bytes=1 << 28)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KB
    assert found.calls[0].tiles > 1


@pytest.mark.skipif(not gives_a_terabyte(), reason="the system does not overcommit memory")
def test_results_larger_than_memory_are_planned():
    """Those of a terabyte of numbers, also between operations, and those of expressions."""
    def function():
        with mat.fused():
            powers = mat.exp(x) + 2 * x
        parts = mat.concatenate([x, powers])
        return parts - parts.mean(axis=0)

    x = mat.empty(1 << 27, 1 << 10)
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = mat.debug.plan(function, pool_bytes=1 << 38)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KB
    assert [call.problem for call in found.calls] == [""] * len(found.calls)
    assert found.moved > 8 * x.nbytes


def test_it_wants_a_limit():
    with pytest.raises(mat.SettingError, match="pool_bytes"):
        mat.debug.plan(mat.exp, mat.ones(3))


def test_the_device_is_in_use_again_after_an_error():
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mat.debug.plan(fail, pool_bytes=8)
    assert mat.exp(mat.zeros(2)).tolist() == [1, 1]


# What it says is what a trace of the call counts

SINGLE = {
    "exp": lambda a, b, v: mat.exp(a), "add": lambda a, b, v: a + b, "rows": lambda a, b, v: a + v,
    "in place": lambda a, b, v: a.__iadd__(b), "sum": lambda a, b, v: a.sum(),
    "sum0": lambda a, b, v: a.sum(0), "sum1": lambda a, b, v: a.sum(1),
    "product": lambda a, b, v: a[:400] @ b.T, "vector": lambda a, b, v: a @ v,
    "running": lambda a, b, v: np.cumsum(a, 0), "sort": lambda a, b, v: np.sort(a, 1),
    "columns sorted": lambda a, b, v: np.sort(a, 0), "transposed": lambda a, b, v: a.T.copy(),
    "joined": lambda a, b, v: np.concatenate([a, b]), "slices": lambda a, b, v: a[::2] + b[::2],
    "columns": lambda a, b, v: a[:, 5:30] * 2, "out": lambda a, b, v: np.maximum(a, b, out=a),
    "taken": lambda a, b, v: a[np.arange(0, a.shape[0], 3)]}


def softmax(a):
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


COMPOSED = {
    "where": lambda a, b, v: np.where(a > 0.5, a, b),
    "standardised": lambda a, b, v: (a - a.mean(0)) / a.std(0),
    "chain": lambda a, b, v: np.exp(a * b + 1).sum(1), "softmax": lambda a, b, v: softmax(a),
    "nanmean": lambda a, b, v: np.nanmean(a, axis=1), "clip": lambda a, b, v: a.clip(0.2, v),
    "products": lambda a, b, v: (a[:150] @ b[:150].T) @ a[:150], "gram": lambda a, b, v: a.T @ a,
    "median": lambda a, b, v: np.median(a, 0), "var": lambda a, b, v: np.var(a, 1),
    "stacked": lambda a, b, v: np.stack([a, b]).sum(0), "roll": lambda a, b, v: np.roll(a, 1, 0),
    "columns": lambda a, b, v: np.sort(a[:, :20] + b[:, -20:], 0),
    "tiled": lambda a, b, v: np.tile(a, (2, 1)) * 2, "diff": lambda a, b, v: np.diff(a, axis=0),
    "parts": lambda a, b, v: (a[:100] + b[-100:], a * 2)[1],
    "transposed": lambda a, b, v: a.T + b.T,
    "updates": lambda a, b, v: a.__iadd__(b).__imul__(v).__isub__(b)}


def sizes(test):
    """Have a test called with each shape in each pool; a sample has each of these, and each name,
    once.
    """
    mark = pytest.mark.parametrize(("shape", "pool_bytes"), [*product(
        [(1000, 100), (300, 400), (2000, 37)], [300_000, 400_000, 900_000, 2_500_000])])
    return pytest.mark.sample(12)(mark(test))


def check_is_traced(function, shape, pool_bytes):
    """Compare the bytes of a plan with those of the call, in an empty device, until its result and
    its operands are on the host.
    """
    numbers = np.random.default_rng(0).random
    with mat.use_device("emulated", pool_bytes=pool_bytes):
        operands = [mat.array(numbers(n)) for n in (shape, shape, shape[1])]
        planned = mat.debug.plan(function, *operands)
        with mat.debug.trace() as trace:
            result = function(*operands)
            for x in (result, *operands):
                np.asarray(x)
    assert planned.moved == trace.bytes


@pytest.mark.host
@sizes
@pytest.mark.parametrize("name", SINGLE)
def test_a_plan_has_the_bytes_of_a_trace(name, shape, pool_bytes):
    check_is_traced(SINGLE[name], shape, pool_bytes)


@pytest.mark.host
@sizes
@pytest.mark.parametrize("name", COMPOSED)
def test_a_plan_of_several_operations_has_the_bytes_of_a_trace(name, shape, pool_bytes):
    check_is_traced(COMPOSED[name], shape, pool_bytes)


@native
@pytest.mark.host
def test_expressions_beside_their_operations_one_by_one():
    x, y = mat.zeros(25_000).normal_(), mat.ones(25_000)

    def function(x, y):
        a = 2 * x + 3 * y
        b = mat.exp(a) * x
        return a, b

    def both(second, x, y):
        return second(*function(x, y))

    found, alone = (mat.debug.plan(f, x, y, pool_bytes=100_000)
                    for f in (mat.fused(function), function))
    assert found.moved_alone == alone.moved > found.moved
    assert alone.moved_alone is None
    found, alone = (mat.debug.plan(f, x, y, pool_bytes=100_000)
                    for f in (partial(both, mat.fused(function)), partial(both, function)))
    assert found.moved_alone == alone.moved > found.moved
    (call,) = mat.debug.plan(mat.fused(function), x, y, pool_bytes=100_000).calls
    assert sorted(call.operations) == ["add", "exp", "multiply", "multiply", "multiply"]
    assert "one pass for multiply (3), add, exp" in str(call)
    assert "without mat.fused" in repr(found)


# What the host does, and what is not computed


def test_counts_of_elements_are_indices_in_a_plan():
    """Their values are not known: the host reads zeros, and on a device nothing is checked."""
    x = mat.empty(100, 200)  # no line of which has room with intermediate results
    found = mat.debug.plan(np.nanmedian, x, axis=0, pool_bytes=1 << 13)
    assert "gather_along" in {call.name for call in found.calls}
    quantiles = mat.debug.plan(np.nanpercentile, x, [20, 70], axis=1, pool_bytes=1 << 13)
    assert "gather_along" in {call.name for call in quantiles.calls}


@native
def test_weighted_means_are_not_left_to_numpy():
    x, w = mat.empty(10_000_000, 2000), mat.empty(10_000_000)
    found = mat.debug.plan(np.average, x, axis=0, weights=w, pool_bytes=1 << 33)
    assert ("multiply", "sum") in {call.operations for call in found.calls}
    assert found.moved < 100_000  # the products go nowhere, and nobody wrote the operands


@pytest.mark.parametrize(("function", "shape"), [
    (np.i0, (1 << 17, 1 << 10)), (np.ptp, (1 << 17, 1)), (lambda x: np.apply_along_axis(
        np.sum, 0, x), (1 << 10,)),
    (lambda x: np.unwrap(x, period=3, axis=0), (1 << 17, 1 << 10)),
    (lambda x: np.i0(x[1:, :40]), ((1 << 17) - 1, 40)), (lambda x: np.i0(x).T, (1 << 10, 1 << 17))])
def test_functions_of_the_host_are_told_by_the_forms_of_their_results(function, shape):
    x = mat.empty(1 << 17, 1 << 10)
    seen = []

    def call():
        y = x + 1
        found = np.ptp(y, 1, keepdims=True) if function is np.ptp else function(y)
        seen.append(found.shape)

    mat.debug.plan(call, pool_bytes=1 << 28)
    assert seen == [shape]


def test_a_function_of_the_host_copies_its_operands_there_once():
    x = mat.array(np.ones((2000, 1000)))
    found = mat.debug.plan(lambda: np.i0(x + 1) + x, pool_bytes=1 << 26)
    assert [call.name for call in found.calls] == ["add", "i0", "add"]
    assert found.calls[1].home == x.nbytes
    assert "on the host, of (2000, 1000); 16,000,000 copied to it" in repr(found)
    assert found.moved == 4 * x.nbytes  # x, the sum, what NumPy finds, and the result
    with mat.use_device("emulated", pool_bytes=1 << 26), mat.debug.trace() as trace:
        (np.i0(x + 1) + x).to_numpy()
    assert trace.bytes == found.moved


@pytest.mark.host
def test_functions_of_the_host_that_write_are_not_called():
    x = mat.ones(100, 100)
    with mat.use_device("emulated", pool_bytes=1 << 26):
        mat.debug.plan(delegate, np.fill_diagonal, [x, 5], written=[x])
        mat.debug.plan(delegate, np.multiply, [x, 2], {"out": x})
    assert x.sum() == 10_000


def test_what_elements_decide_is_an_error_with_the_name_of_the_function():
    x = mat.empty(1 << 12, 1 << 12)

    def evens(a):
        return a[:, :int(a.shape[0] ** 0.5)]

    with pytest.raises(mat.PlanError, match="NumPy's evens returns"), mat.use_device("emulated"):
        mat.debug.plan(delegate, evens, [x], pool_bytes=1 << 26)


@pytest.mark.host
def test_numbers_that_are_not_computed_are_zeros_and_are_copied():
    x = mat.array(np.ones((1000, 100)))
    seen = []

    def function():
        y = x.sum(0)
        seen.extend([float(y[3]), y.tolist()[5], float(x.sum())])
        return x / 2

    found = mat.debug.plan(function, pool_bytes=1 << 24)
    assert seen == [0, 0, 0]
    assert found.moved == 2 * x.nbytes + 100 * 8 + 8
    assert x.sum() == 100_000


@pytest.mark.host
def test_results_are_as_they_were_before():
    out, zeros = mat.empty(1000), mat.zeros(1000)
    mat.debug.plan(lambda: (mat.exp(zeros, out=out), zeros.add_(1), zeros.to_numpy()),
                   pool_bytes=1 << 20)
    assert out.fresh == set()
    assert zeros.tolist() == [0] * 1000


# The least that has to be copied


def test_what_was_never_written_need_not_be_copied():
    zeros, empty = mat.zeros(1000, 1000), mat.empty(1000, 1000)
    for pool_bytes in (1 << 20, 1 << 24):
        found = mat.debug.plan(lambda: (zeros + empty, zeros + 1), pool_bytes=pool_bytes)
        assert found.moved == found.least == 2 * zeros.nbytes


def test_elements_that_several_views_see_have_to_be_copied_once():
    x = mat.array(np.ones((1000, 100)))
    found = mat.debug.plan(lambda: [x[:600].sum(), x[400:].sum(), x[:, ::2].sum()],
                           pool_bytes=1 << 24)
    assert found.least == x.nbytes + 3 * 8


# Expressions


@native
@pytest.mark.host
def test_an_expression_without_room_is_planned_in_parts():
    x, y = mat.zeros(40_000, 5).normal_(), mat.zeros(40_000, 5).normal_()

    def function():
        with mat.fused():
            return (x * y).sum(1)

    found = mat.debug.plan(function, pool_bytes=400_000)
    with mat.use_device("emulated", pool_bytes=400_000), mat.debug.trace() as trace:
        function().to_numpy()
    assert found.moved == trace.bytes
    assert [call.problem for call in found.calls] == ["", ""]


# Many tiles, and little memory


def count_few(patch):
    """Have plans carry out fewer tiles of each call."""
    for name, value in {"BEFORE": 8, "COUNTED": 8, "LAST": 4}.items():
        patch.setattr(planned_device, name, value)


@pytest.mark.parametrize("function", [
    lambda x: x + 1, lambda x: x.T + 1, lambda x: x.__iadd__(1), lambda x: x.sum(1),
    lambda x: x.sum(), lambda x: np.cumsum(x), lambda x: np.cumsum(x.T), lambda x: np.sort(x, 0),
    lambda x: np.sort(x.reshape(-1)), lambda x: x @ x[:50].T, lambda x: np.where(x > 0, x, 0),
    lambda x: x.reshape(36, -1).mean(0), lambda x: x.reshape(36, -1).var(0)])
@pytest.mark.sample(2)
def test_tiles_that_are_passed_over_are_counted(function, monkeypatch):
    x = mat.array(np.ones((900, 60)))
    exact = mat.debug.plan(function, x, pool_bytes=40_000)
    count_few(monkeypatch)
    found = mat.debug.plan(function, x, pool_bytes=40_000)
    assert [call.tiles for call in found.calls] == [call.tiles for call in exact.calls]
    assert found.moved == pytest.approx(exact.moved, rel=0.03)
    assert found.least == exact.least


@pytest.mark.skipif(not gives_a_terabyte(), reason="the system does not overcommit memory")
def test_only_some_tiles_are_carried_out(monkeypatch):
    """However many there are."""
    count_few(monkeypatch)
    carried_out = []
    monkeypatch.setattr(_Execution, "carry_out",
                        lambda *args, of=_Execution.carry_out: carried_out.append(1) or of(*args))
    x = mat.empty(1 << 17, 1 << 20)
    found = mat.debug.plan(lambda: np.cumsum(x.T), pool_bytes=1 << 32)
    assert found.moved == pytest.approx(4 * x.nbytes, rel=0.001)
    assert sum(call.tiles for call in found.calls) > 3000
    assert len(carried_out) < 400  # also those without expressions


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is of Linux")
def test_a_plan_without_addresses_says_so():
    resource = pytest.importorskip("resource")
    x = mat.empty(1 << 30)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, limits[1]))
    try:
        with pytest.raises(mat.OutOfMemory, match="8,589,934,592 bytes of addresses") as caught:
            mat.debug.plan(lambda: x + 1, pool_bytes=1 << 30)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert isinstance(caught.value, MemoryError)


def test_what_a_tile_without_room_had_kept_is_freed():
    """Not before a collection of garbage: it would be copied to the host."""
    x = mat.array(np.ones((254, 100), "h"))
    gc.collect()
    gc.disable()
    try:
        with mat.use_device("emulated", pool_bytes=40_000), mat.debug.count_copies() as copies:
            np.tril(x)
        moved = copies.bytes
    finally:
        gc.enable()
    assert moved < 3 * x.nbytes
