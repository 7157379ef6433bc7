"""`mat.fused`: blocks whose element-wise operations are computed in one pass."""

import asyncio
import io
import operator
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mat
from mat.core.compiled import IN_USE
from mat.core.pending import DEFERRALS
from mat.ops.expressions import deferral, passes, program
from mat.ops.expressions.nodes import LIVE_NODES, VALUES, count_readers
from mat.support.native import lib

from ..stress.children import outcome_of
from ..support.composed_programs import prepared_by
from ..support.nth_line import every_line

pytestmark = [pytest.mark.host, pytest.mark.skipif(lib is None, reason="nothing is pending")]

N = 100_000


@pytest.fixture
def pair():
    a = np.random.default_rng(1).uniform(0.5, 2, N).astype("f4")
    with mat.fused():
        yield mat.array(a), a


def gelu(m, x):
    return 0.5 * x * (1.0 + m.tanh(0.8 * (x + 0.04 * x * x * x)))


def same(x, a):
    np.testing.assert_array_equal(x.to_numpy(), a, strict=True)


def test_a_result_is_pending_until_it_is_read(pair):
    x, _ = pair
    y = gelu(mat, x)
    assert not y.fresh
    assert y.to_numpy().size == N
    assert y.fresh


def test_the_bits_are_those_without_the_block():
    x = mat.array(np.random.default_rng(1).uniform(0.5, 2, N).astype("f4"))
    expected = gelu(mat, x)
    with mat.fused():
        y = gelu(mat, x)
    same(y, expected.to_numpy())


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("n", [300_000, 2_200_003])  # results of 17.6 MB go past the caches
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_bits_are_those_of_long_operands(dtype, n, start):
    rng = np.random.default_rng(1)
    given = [mat.array(rng.uniform(0.5, 2, n + 1).astype(dtype))[start:start + n] for _ in range(4)]

    def both(x, y, z, w):
        found = 2 * x + 3 * y - z * w, mat.where(x > y, mat.exp(z), w), ((x - y) * z).sum()
        w *= 0.9
        w += x * y
        return *found, w.copy()

    expected = both(*(x.copy() for x in given))
    with mat.fused():
        found = both(*given)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_what_is_read_is_what_was_there_at_the_statement(pair):
    x, a = pair
    y = x + 1
    x += 1
    z = x * 2
    x[:10] = 0
    same(y, a + 1)
    same(z, (a + 1) * 2)
    same(x[10:], (a + 1)[10:])


def test_what_stands_beside_memory_of_others_is_read_at_the_statement():
    x, y = mat.ones(20000), mat.from_dlpack(np.ones(20000))
    with mat.fused():
        z = x + y
        assert not count_readers(x)
        x += 1
        assert z.item(0) == 2 == x.item(0)


def test_a_whole_expression_is_cut_into_tiles():
    x = mat.zeros(500_000).normal_()
    expected = gelu(mat, x).to_numpy()
    with mat.debug.trace() as t:
        with mat.use_device("emulated", pool_bytes=1_000_000), mat.fused():
            y = gelu(mat, x)
        same(y, expected)
    assert t.bytes <= 8_800_000


@pytest.mark.once  # checked directions have memory of their own
def test_a_mat_is_updated_in_its_own_memory():
    x = mat.zeros(N)
    with x.facet("foreign") as p:
        before = p.pointer
    with mat.fused():
        x += 1
        x *= 3
    with x.facet("foreign", "input") as p:
        assert p.pointer == before
    same(x, np.full(N, 3.0))


REDUCTIONS = {
    "sum": lambda x: x.sum(), "mean": lambda x: x.mean(), "max": lambda x: x.max(axis=0),
    "std": lambda x: x.std(), "any": lambda x: (x > 1.9).any(), "rows": lambda x: x.sum(axis=1),
    "prod": lambda x: x.prod(axis=1), "argmax": lambda x: x.argmax(),
    "middle": lambda x: x.reshape(-1, 10, 10).min(axis=(0, 2)),
    "count": lambda x: mat.count_nonzero(x > 1.5)}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("rows", [200, 3001])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_a_reduction_has_the_bits_without_the_block(name, rows, dtype):
    a = np.random.default_rng(1).uniform(-2, 2, (rows, 100))
    x = mat.array((a * 9).astype(dtype))
    expected = np.asarray(REDUCTIONS[name](x * 2 + x))
    with mat.fused():
        y = x * 2 + x
        found = np.asarray(REDUCTIONS[name](y))
    np.testing.assert_array_equal(found, expected, strict=True)


def nearly_cancelling(shape, dtype):
    """Elements whose sums of columns are little else than rounding errors."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=shape) * 10.0 ** rng.integers(-9, 10, shape)
    half = len(a) // 2
    a[half:2 * half] = -a[rng.permutation(half)]
    return a.astype(dtype)


@pytest.mark.parametrize("shape", [(65, 700), (321, 64), (1000, 100), (5003, 33), (9000, 2)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_columns_are_summed_by_few_rows_with_the_same_bits(shape, dtype):
    x, programs = mat.array(nearly_cancelling(shape, dtype)), []
    for function in (lambda x: (x * 0.5).sum(axis=0), lambda x: (x * 0.5).mean(axis=0)):
        expected = function(x).to_numpy()
        for threads in (1, 2, 3):
            with mat.settings(threads=threads), prepared_by(programs.append):
                same(mat.fused(function)(x), expected)
    assert programs
    assert all(one.frame.unit <= max(64 * shape[1], program.ROWS_OF) for one in programs)


def test_columns_that_are_reduced_in_several_ways_are_one_pass():
    x = mat.array(nearly_cancelling((1000, 100), "f4"))
    expected = [(x * 0.5).sum(axis=0), (x * 0.5).std(axis=0)]
    with mat.debug.trace() as t, mat.fused():
        y = x * 0.5
        found = [y.sum(axis=0), y.std(axis=0)]
        del y
    assert len(t.operations) == 1
    for one, other in zip(found, expected, strict=True):
        same(one, other.to_numpy())


def test_a_lone_reduction_names_its_lines_if_it_fails(monkeypatch):
    def fail(*_):
        raise MemoryError("none left")
    monkeypatch.setattr(program.FusedOp, "evaluate", fail)
    x = mat.ones(N)
    with mat.fused():
        y = (x * 0.25 - 0.125).prod()
        with pytest.raises(MemoryError, match="none left") as caught:
            y.to_numpy()
        monkeypatch.undo()
    assert any("test_fused_block.py" in note for note in caught.value.__notes__)
    assert float(y) == 0


def test_a_reduction_does_not_keep_its_operand():
    x = mat.ones(N)
    with mat.fused():
        y = x * 2 + 1
        assert y.sum() == 3 * N
        assert not y.fresh
        assert y.max() == 3
        assert y.fresh


# Blocks


def is_pending(x):
    return "pending" in repr(x)


def nothing_open():
    assert IN_USE == []
    assert DEFERRALS == []
    assert deferral.PERMANENT == []
    assert not deferral.EXPRESSIONS.lock.count
    assert not deferral.VALUES.busy


def test_a_function_in_a_block(pair):
    seen = []

    @mat.fused
    def f(x):
        y = x + 1
        seen.append(is_pending(y))
        return y * 2

    @mat.fused()
    def g(x):
        return f(x) + 1

    x, a = pair
    same(f(x), (a + 1) * 2)
    same(g(x), (a + 1) * 2 + 1)
    assert seen == [True, True]


def test_a_block_without_a_call_is_an_error_that_says_so():
    with pytest.raises(mat.DTypeError, match=r"write with mat\.fused\(\): "), mat.fused:
        pass
    with pytest.raises(mat.DTypeError, match=r"decorates a function, got int"):
        mat.fused(3)


def test_blocks_within_blocks(pair):
    x, a = pair
    with mat.fused():
        y = x + 1
        assert is_pending(y)
    assert not is_pending(y)
    made = []

    @mat.fused
    def fails():
        made.append(y * 2)
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    z = made[0]
    assert is_pending(z)
    w = z + 1
    same(w, (a + 1) * 2 + 1)


def test_other_threads_are_in_no_block(pair):
    x, a = pair
    y = x + 1
    with ThreadPoolExecutor(1) as threads:
        z = threads.submit(lambda: x * 2).result()
        assert not is_pending(z)
        assert is_pending(y)
        assert threads.submit(lambda: y.to_numpy()[0]).result() == a[0] + 1
        assert not is_pending(y)


def test_another_thread_writes_what_expressions_read(pair):
    x, a = pair
    y = x + 1
    with ThreadPoolExecutor(1) as threads:
        threads.submit(lambda: operator.iadd(x, 1)).result()
    same(y, a + 1)
    same(x, a + 1)


def test_tasks_have_the_blocks_that_they_begin():
    x = mat.ones(N)

    async def within(found):
        with mat.fused():
            y = x + 1
            await asyncio.sleep(0)
            found.append(is_pending(y))
            await asyncio.sleep(0)
        found.append(is_pending(y))

    async def without(found):
        await asyncio.sleep(0)
        found.append(is_pending(x + 1))

    async def both():
        first, second = [], []
        await asyncio.gather(within(first), without(second))
        return first, second

    assert asyncio.run(both()) == ([True, False], [False])
    nothing_open()


@pytest.mark.parametrize("order", [0, 1])
def test_a_block_and_a_device(order):
    x = mat.ones(N)
    blocks = [mat.fused(), mat.use_device("emulated")][::1 - 2 * order]
    with mat.debug.count_copies() as copies, blocks[0], blocks[1]:
        y = x + 1
        assert is_pending(y)
    assert copies.d2h == 1
    same(y, np.full(N, 2.0))


def test_show_lists_the_operations_of_a_pending_value():
    x, out = mat.ones(N), io.StringIO()
    with mat.fused():
        y = 2 * x + 1
        for _ in range(12):
            y += x
        mat.show(y, out)
        mat.show(x, out)
    line = next(line for line in out.getvalue().splitlines() if line.startswith("to be computed"))
    assert line.startswith("to be computed: 14 operations of lines ")
    assert line.endswith(": multiply, " + "add, " * 11 + "and 2 more")
    assert "read by pending expressions" in out.getvalue()


def test_every_thread_is_in_a_block():
    x = mat.ones(N)
    mat.configure(fused=True)
    try:
        assert mat.settings.fused
        y = x + 1
        with ThreadPoolExecutor(1) as threads:
            z = threads.submit(lambda: x * 2).result()
        assert is_pending(y)
        assert is_pending(z)
        with mat.fused():
            w = y + z
        assert not is_pending(w)
        w = w + 1
    finally:
        mat.configure(fused=False)
    assert not is_pending(w)
    same(w, np.full(N, 5.0))
    nothing_open()


def test_the_setting_is_of_the_whole_process():
    with pytest.raises(mat.SettingError, match=r"with mat\.fused\(\)"):
        mat.settings(fused=True).__enter__()
    with pytest.raises(mat.SettingError, match="True or False"):
        mat.configure(fused=1)


# What is seen of it


def test_what_is_pending_is_printed_as_such(pair):
    x, _ = pair
    y = x + 1
    text = io.StringIO()
    mat.show(y, text)
    assert "pending" in text.getvalue()
    assert "no copy anywhere" in text.getvalue()
    mat.show(x, text)
    assert "read by pending expressions" in text.getvalue()
    assert repr(y) == str(y) == f"{y}" == f"<Mat {N} float32 - pending>"
    assert "pending" in y._repr_html_()
    assert mat.memory_report().pending == (1, 0)
    assert "pending" in repr(mat.memory_report())
    del x, pair
    assert is_pending(y)
    assert f"{y.sum():.1f}"


def test_memory_that_only_expressions_keep_is_reported():
    with mat.fused():
        x = mat.ones(N)
        y = x + 1
        assert mat.memory_report().pending == (1, 0)
        del x
        assert mat.memory_report().pending == (1, 8 * N)
        assert y[0] == 2
        assert mat.memory_report().pending == (0, 0)


def test_memory_that_only_expressions_keep_is_bounded(monkeypatch):
    monkeypatch.setattr(passes, "MOST_KEPT", 4_000_000)
    with mat.fused():
        made = [mat.ones(N) + k for k in range(13)]
        assert mat.memory_report().pending[1] <= 5_000_000  # and the newest operand
        assert not is_pending(made[0])
        assert is_pending(made[-1])
    with mat.use_device("emulated", pool_bytes=4_000_000), mat.fused():
        made = [mat.ones(N) + k for k in range(8)]
        assert mat.memory_report().pending[1] <= 2_000_000
    assert [x[0] for x in made] == list(range(1, 9))


def test_what_is_updated_is_not_kept_besides():
    x = mat.zeros(50_000_000)  # whose memory is more than may be kept
    with mat.fused():
        x += 1
        x *= 2
        assert is_pending(x)


def test_long_expressions_are_computed_in_parts(pair):
    x, a = pair
    y = x
    for _ in range(200):
        y = y + 1
        a = a + np.float32(1)
    assert is_pending(y)
    same(y, a)


def test_a_long_loop_leaves_nothing_behind():
    with mat.fused():
        x = mat.ones(N)
        for _ in range(5000):
            x + 1
        assert len(LIVE_NODES.all()) < 3000


# Operands and errors


def test_operands_of_many_blocks_forget_their_readers(pair):
    x, _ = pair
    for _ in range(100):
        with mat.fused():
            y = x * 2
    del y
    assert len(x.storage.pending.readers) < 4


def test_memory_of_others_is_read_at_the_statement():
    a = np.ones(N)
    x = mat.from_numpy(a)
    with mat.fused():
        y = x + 1
        a[:] = 5
    same(y, np.full(N, 2.0))


def test_errors_are_raised_at_the_statement(pair):
    x, a = pair
    y = x + 1
    with pytest.raises(mat.ShapeError):
        y + mat.ones(N + 1, dtype="f4")
    with pytest.raises(TypeError):
        operator.iadd(mat.ones(N, dtype="i4"), y)
    assert is_pending(y)
    same(y, a + 1)


def test_an_error_of_a_pass_names_the_lines_and_leaves_all_pending(pair, monkeypatch):
    x, a = pair
    y = mat.hypot(x, 0) - 3
    x *= 7

    def fails(*_):
        raise MemoryError("none")

    with monkeypatch.context() as patch:
        patch.setattr(program, "prepare_program", fails)
        for _ in range(2):
            with pytest.raises(MemoryError) as raised:
                y.to_numpy()
            assert f"{__file__}:" in raised.value.__notes__[0]
    assert is_pending(y)
    assert is_pending(x)
    same(x, a * np.float32(7))
    same(y, a - np.float32(3))


def test_a_pass_that_fails_in_a_tile_is_done_again():
    x, y = mat.ones(N), mat.ones(N)
    calls = []

    def fails(done, total):
        calls.append(done)
        if len(calls) == 4:
            raise MemoryError("none")

    @mat.settings(progress=fails)
    @mat.fused
    def update():
        operator.iadd(x, y)
        operator.imul(x, 3)

    with mat.use_device("emulated", pool_bytes=300_000), pytest.raises(MemoryError):
        update()
    assert is_pending(x)
    same(x, np.full(N, 6.0))


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_interrupts(step):
    x, z = mat.ones(N), mat.zeros(N)

    def run():
        z.fill_(1)
        with mat.fused():
            y = x * 2 + 1
            operator.iadd(z, y)
            w = z * 3 + y
            z[:10] = w[:10]
        assert w[20] == 15

    def check():
        nothing_open()
        assert (x.to_numpy() == 1).all()
        try:
            found = z.to_numpy()
        except mat.TornError:  # as outside of blocks
            z.accept_torn()
            return
        assert found[20] in (0, 1, 4)
        assert found[0] in (0, 1, 4, 15)

    run()
    assert every_line(run, check, ("ops/", "support/", "core/"), step) > 50


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_computes_its_own_values(pair):
    x, a = pair
    y = x + 1

    def in_child():
        z = y * 2
        assert is_pending(z)
        same(z, (a + 1) * 2)

    assert outcome_of(in_child) == ""
    assert is_pending(y)
    same(y, a + 1)


# Traces and plans


def test_a_trace_has_a_line_for_each_pass():
    x, y = mat.ones(N), mat.zeros(N)
    with mat.debug.trace() as t, mat.fused():
        z = x * 2
        z = z + y * 3
        mat.abs(z, out=z)
    names = [event.mat for event in t.operations]
    assert len(names) == 1
    first = z.storage.made[0].co_firstlineno + 3
    assert names[0] == (f"fused: 4 operations of lines {first}-{first + 2}, 2 operands, 1 result")


def test_a_plan_has_the_passes():
    x = mat.zeros(500_000).normal_()
    plan = mat.debug.plan(mat.fused(lambda x: gelu(mat, x)), x, pool_bytes=1_000_000)
    assert "fused" in repr(plan)
    assert "8,000,000 bytes would be copied" in repr(plan)
    with mat.fused():
        y = x * 2
        plan = mat.debug.plan(lambda y: gelu(mat, y), y, pool_bytes=1_000_000)
        assert "8,000,000 bytes would be copied" in repr(plan)
    same(y, x.to_numpy() * 2)


def test_a_reduction_of_copied_rows():
    x, y = mat.ones(2, 300, 300), mat.ones(300, 300, dtype="i4")
    with mat.fused():
        z = x * 2
        z[...] = y
        assert is_pending(z)
        assert z.sum() == 2 * 300 * 300


def test_values_that_are_read_twice_do_not_overflow_what_is_counted():
    x, y = mat.ones(20_000) * 0.5, mat.ones(20_000) * 0.5
    with mat.fused():
        for _ in range(60):
            x = x * (1 - x)
    for _ in range(60):
        y = y * (1 - y)
    assert x.tolist() == y.tolist()


def test_many_updates_in_one_block():
    """More than one pass has, each of which overwrites its operands."""
    xs, ms = ([mat.ones(9000) * k for k in range(150)] for _ in range(2))
    before = [x.storage for x in xs]
    with mat.fused():
        for x, m in zip(xs, ms, strict=True):
            m *= 0.5
            m += x * 0.25
            x -= m
    for k, (x, m) in enumerate(zip(xs, ms, strict=True)):
        assert (float(m.max()), float(x.min())) == (0.75 * k, 0.25 * k)
    assert [x.storage for x in xs] == before


def test_threads_with_small_stacks_compute():
    code = """import threading, mat
x = mat.ones(20_000)
def compute():
    with mat.fused():
        y = x * 2 + 1
    assert y.sum() == 60_000
threading.stack_size(128 << 10)
for thread in [threading.Thread(target=compute) for _ in range(2)]:
    thread.start()
    thread.join()
"""
    found = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], text=True,
                           capture_output=True, timeout=120, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_a_value_that_reads_new_elements_of_its_own_does_not_keep_itself():
    x = mat.ones(3, N)
    with pytest.raises(KeyError), mat.fused():  # noqa: PT012
        x += 1
        x.adjust_((4, N))  # whose elements are arbitrary
        x += 1
        raise KeyError
    del x
    assert VALUES.wanted() == []
