"""Reductions in `mat.fused` blocks that are carried out in tiles: of Mats in large files, and of
those that a device has no room for. They have the bits that they have without the block.
"""

import contextlib
import operator
from functools import cache
from itertools import product

import numpy as np
import pytest

import mat
from mat.errors import MatError
from mat.memories import file_pages
from mat.ops.expressions import computing
from mat.ops.tiles import file_tiles
from mat.support.native import lib

from ..support.fused_programs import same

pytestmark = [pytest.mark.host, pytest.mark.skipif(lib is None, reason="nothing is pending")]
SHAPES = (4000, 75), (75, 4000), (150, 20, 100)
POOL = 800_000


def standardise(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def extremes(x):
    a, b = x.min(axis=0), x.max(axis=0)
    return a, b, x.sum(axis=-1), x.mean(), x.std() + 1e-3, (x - a) / (b - a), x.argmax(axis=1)


def clipped(x):
    return ((x - x.mean(axis=0)) / x.std(axis=0)).clip(-3, 3).sum(axis=0)


def gelu(x):
    return 0.5 * x * (1 + mat.tanh(0.8 * (x + 0.04 * x * x * x)))


def moments(x):
    """Reductions of expressions that share operands, and of one."""
    a = x * 0.5 + 1
    return (a.mean(axis=0), a.std(axis=0), a.sum(), x.max(axis=0), (a + 1).min(axis=-1),
            (a * a).mean(), (a - a.mean(axis=0)).std(axis=0), x.var(axis=0))


FUNCTIONS = standardise, extremes, clipped, moments
EXPRESSIONS = {
    "sum": lambda x, y: gelu(x).sum(), "columns": lambda x, y: gelu(x).sum(axis=0),
    "rows": lambda x, y: gelu(x).max(axis=-1), "clipped": lambda x, y: clipped(x),
    "mean": lambda x, y: (2 * x + 3 * y).mean(axis=0), "var": lambda x, y: (x * y - x).var(axis=0),
    "kept": lambda x, y: (2 * x + 3 * y).sum(axis=1, keepdims=True),
    "argmax": lambda x, y: (x * y - x).argmax(axis=0), "argmin": lambda x, y: (x * y - x).argmin(),
    "count": lambda x, y: np.count_nonzero(x * y > 1), "any": lambda x, y: (x * y > 1).any(axis=0),
    "float64": lambda x, y: (x.astype("d") * 2).sum(axis=0),
    "float16": lambda x, y: (x.astype("e") * 2).mean(axis=0)}


@pytest.fixture
def in_file(tmp_path, monkeypatch):
    """Return a function that returns a Mat in a file that counts as large."""
    monkeypatch.setattr(file_pages, "LEAST_LARGE", 1 << 19)
    monkeypatch.setattr(file_tiles, "TILE", 1 << 19)

    def make(a):
        x = mat.open_memmap(tmp_path / "x.npy", "w+", a.dtype, a.shape)
        return x.assign_(mat.array(a))
    return make


@cache
def elements(shape, dtype="f"):
    found = (np.random.default_rng(0).normal(size=shape) * 10).astype(dtype)
    found.flags.writeable = False
    return found


def small_pool():
    return mat.use_device("emulated", pool_bytes=POOL)


def assert_same(function, x, where=contextlib.nullcontext):
    """Check that a function has the same results in a block and without."""
    with where():
        expected = function(x)
    with where(), mat.fused():
        found = function(x)
    for a, b in zip(*(y if isinstance(y, tuple) else (y,) for y in (found, expected)), strict=True):
        assert same(a.to_numpy(), b.to_numpy())


def copies_of(function, x, pool_bytes):
    """Return the bytes that are copied until the results are on the host."""
    with mat.debug.count_copies() as copies, mat.use_device("emulated", pool_bytes=pool_bytes):
        results = function(x)
    assert results is not None
    return copies.bytes


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtype", ["f", "d", "e", "i4"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_over_files(in_file, function, shape, dtype):
    assert_same(function, in_file(elements(shape, dtype)))


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtype", ["f", "d", "e", "i4"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_with_a_small_pool(function, shape, dtype):
    assert_same(function, mat.array(elements(shape, dtype)), small_pool)


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize(("shape", "share", "dtype"),
                         [*product(SHAPES, [0.34, 0.51, 1.2], ["f", "i4"])])
def test_expressions_with_a_small_pool(name, shape, share, dtype):
    x, y = (mat.array(elements(shape, dtype) + k) for k in range(2))
    assert_same(lambda x: EXPRESSIONS[name](x, y), x,
                lambda: mat.use_device("emulated", pool_bytes=int(share * x.nbytes)))


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize(("shape", "spills"), [*product(SHAPES, [False, True])])
def test_expressions_over_files(in_file, name, shape, spills, tmp_path):
    x, y = in_file(elements(shape)), mat.array(elements(shape))
    with mat.settings(spill_dir=tmp_path, spill_above=(1 << 18) if spills else None):
        assert_same(lambda x: EXPRESSIONS[name](x, y), x)


@pytest.mark.parametrize("name", ["sum", "rows", "clipped", "kept", "argmin"])
@pytest.mark.parametrize("shape", SHAPES)
def test_operands_of_expressions_are_copied_once(name, shape):
    x, y = mat.array(elements(shape)), mat.array(elements(shape))
    pool_bytes, function = x.nbytes // 4, mat.fused(EXPRESSIONS[name])
    least = {"clipped": 2, "kept": 2, "argmin": 2}.get(name, 1) * x.nbytes
    copied = copies_of(lambda x: function(x, y), x, pool_bytes)
    assert least <= copied <= (1.6 if name == "clipped" else 1.1) * least
    assert copied == mat.debug.plan(function, x, y, pool_bytes=pool_bytes).moved


class Reads:
    """Counts the bytes of a file that tiles ask for, but not those that the last ones have."""

    def __init__(self, patch):
        self.bytes, self.end = 0, 0
        real = file_tiles.ReadingAhead.begin

        def begin(reader, following, passed):
            for _, start, stop in following:
                again = self.end if start <= self.end < start + 2 * (stop - start) else start
                self.bytes += max(0, stop - again)
                self.end = max(again, stop)
            return real(reader, following, passed)
        patch.setattr(file_tiles.ReadingAhead, "begin", begin)


def test_a_file_is_read_twice_to_be_standardised(in_file, monkeypatch):
    x = in_file(elements((4000, 75)))
    reads = Reads(monkeypatch)
    eager = standardise(x)
    assert 2.9 * x.nbytes < reads.bytes
    reads.bytes = 0
    with mat.fused():
        found = standardise(x)
    assert reads.bytes <= 2.02 * x.nbytes
    assert same(found.to_numpy(), eager.to_numpy())


def test_an_operand_is_copied_twice_to_be_standardised():
    x = mat.array(elements((4000, 100)))
    assert copies_of(standardise, x, x.nbytes // 4) > 5.5 * x.nbytes
    copied = copies_of(mat.fused(standardise), x, x.nbytes // 4)
    assert copied <= 3.02 * x.nbytes
    plan = mat.debug.plan(mat.fused(standardise), x, pool_bytes=x.nbytes // 4)
    assert plan.moved == copied
    assert plan.calls[0].operations == ("mean", "var")


def test_those_that_are_pending_are_computed_together(in_file, monkeypatch):
    x = in_file(elements((4000, 75)))
    reads = Reads(monkeypatch)
    with mat.fused():
        results = x.mean(axis=0), x.min(), x.sum(axis=1)
        assert "pending" in repr(results[1])
        float(results[1])
        assert all(y.fresh for y in results)
    assert reads.bytes <= 1.02 * x.nbytes


def test_they_see_what_was_there_at_the_statement(in_file):
    a = elements((4000, 75))
    x = in_file(a)
    expected = x.sum(axis=0).to_numpy()
    with mat.fused():
        total = x.sum(axis=0)
        x += 1
    assert same(total.to_numpy(), expected)


def moments_of_one(x, y):
    a = gelu(x) + y
    return a.mean(axis=0), a.std(axis=0)


def sums_of_two(x, y):
    a = gelu(x) + y
    b, c = a + 1, a * 2
    return b.sum(axis=0), c.max(axis=0)


@pytest.mark.parametrize("function", [moments_of_one, sums_of_two])
@pytest.mark.parametrize("dtype", ["f", "d", "i4"])
def test_reductions_of_expressions_are_one_pass_on_the_host(function, dtype):
    x, y = (mat.array(elements((6000, 100), dtype) + k) for k in range(2))
    expected = function(x, y)
    with mat.debug.trace() as trace, mat.fused():
        found = function(x, y)
        assert "pending" in repr(found[0])
    assert len([e for e in trace.operations if e.mat.endswith("2 operands, 2 results")]) == 1
    for a, b in zip(found, expected, strict=True):
        assert same(a.to_numpy(), b.to_numpy())


@pytest.mark.parametrize("function", [moments_of_one, sums_of_two])
@pytest.mark.parametrize("spills", [False, True])
def test_reductions_of_expressions_read_files_once(in_file, function, spills, tmp_path,
                                                   monkeypatch):
    x, y = in_file(elements((6000, 100))), mat.array(elements((1, 100)))
    reads = Reads(monkeypatch)
    with mat.settings(spill_dir=tmp_path, spill_above=(1 << 19) if spills else None):
        expected = function(x, y)
        reads.bytes = 0
        with mat.debug.trace() as trace, mat.fused():
            found = function(x, y)
    assert len({e.mat.partition(", tile")[0] for e in trace.operations}) == 1
    assert reads.bytes <= 1.02 * x.nbytes
    for a, b in zip(found, expected, strict=True):
        assert same(a.to_numpy(), b.to_numpy())


@pytest.mark.parametrize("case", [(moments_of_one, 0), (moments_of_one, 1), (sums_of_two, 0)])
def test_reductions_of_expressions_copy_operands_once(case):
    function, of = case
    x, y = mat.array(elements((6000, 100))), mat.array(elements(((1, 100), (6000, 100))[of]))
    plan = mat.debug.plan(mat.fused(function), x, y, pool_bytes=x.nbytes // 2)
    assert plan.moved == copies_of(lambda x: mat.fused(function)(x, y), x, x.nbytes // 2)
    assert plan.moved <= 1.02 * (x.nbytes + y.nbytes)
    assert len(plan.calls) == 1


@pytest.mark.parametrize("dtype", ["e", "i4", "i2", "?"])
@pytest.mark.parametrize("axis", [0, None])
def test_moments_of_other_types_go_together(dtype, axis):
    x = mat.array(elements((6000, 100), dtype))

    def run(x):
        return x.mean(axis=axis), x.std(axis=axis)
    plan = mat.debug.plan(mat.fused(run), x, pool_bytes=x.nbytes // 2)
    assert plan.calls[0].operations == ("mean", "assign", "var")
    assert plan.moved == copies_of(mat.fused(run), x, x.nbytes // 2) < 2 * x.nbytes
    assert_same(run, x, lambda: mat.use_device("emulated", pool_bytes=x.nbytes // 2))


def test_results_that_are_read_between_are_right():
    x = mat.array(elements((6000, 100)))
    expected = [one.to_numpy() for one in moments_of_one(x, x)]
    with mat.fused():
        a = gelu(x) + x
        found = [a.mean(axis=0).to_numpy(), a.std(axis=0).to_numpy()]
    assert all(map(same, found, expected))


def test_a_block_within_a_device_has_the_bits_of_its_statements(in_file):
    x = in_file(elements((6000, 100)))
    expected = (x * 2).sum().to_numpy(), x.sum().to_numpy()
    with mat.fused():
        found = (x * 2).sum(), x.sum()
        with mat.use_device("emulated"):
            assert same(found[0].to_numpy(), expected[0])
            assert same(found[1].to_numpy(), expected[1])


def test_a_failure_leaves_all_pending(in_file, monkeypatch):
    x = in_file(elements((4000, 75)))
    expected = x.std(axis=0).to_numpy()
    with mat.fused():
        mean, std = x.mean(axis=0), x.std(axis=0)

        def fail(done, total):
            raise RuntimeError("no")
        with mat.settings(progress=fail), pytest.raises(RuntimeError) as caught:
            mean.to_numpy()
        assert "in the fused statements at" in caught.value.__notes__[-1]
        assert "pending" in repr(mean)
        assert "pending" in repr(std)
    assert same(std.to_numpy(), expected)


def test_errors_are_raised_by_the_statement(in_file):
    x = in_file(elements((4000, 75)))
    with mat.fused(), pytest.raises(MatError):
        x.sum(axis=2)


def test_a_trace_has_the_lines():
    x = mat.array(elements((4000, 75)))
    with small_pool(), mat.debug.trace() as trace, mat.fused():
        results = x.mean(axis=0), x.std(axis=0)
    assert results[0].shape == results[1].shape
    texts = {event.mat.partition(", tile")[0] for event in trace.operations}
    assert len(texts) == 1
    assert texts.pop().startswith("fused: 2 operations of line ")


# Blocks that become garbage in the middle of a computation

STEPS = pytest.mark.parametrize("step", ["joined_with", "how_of", "run_in_program", "settle"])


def is_garbage_at(patch, step, blocks):
    """Have a list lose its blocks when a function of `computing` is called first."""
    real = getattr(computing, step)

    def call(*args):
        blocks.clear()
        return real(*args)
    patch.setattr(computing, step, call)


def entered(block):
    block.__enter__()
    return block


@STEPS
def test_the_block_of_a_device_ends_in_the_middle(step, monkeypatch):
    x = mat.array(elements((400, 75)))
    expected = moments(x)
    with mat.fused():
        found = moments(x)
        blocks = [entered(mat.use_device("emulated"))]
        is_garbage_at(monkeypatch, step, blocks)
        first = found[0].to_numpy()
        assert not blocks
    assert same(first, expected[0].to_numpy())
    for one, other in zip(found, expected, strict=True):
        assert same(one.to_numpy(), other.to_numpy())


@STEPS
def test_another_block_ends_in_the_middle(step, monkeypatch, in_file, tmp_path):
    x, a = mat.array(elements((400, 75))), elements((4000, 75))
    y, expected = in_file(a), moments(x)
    with mat.fused():
        found = moments(x)
        blocks = [entered(mat.fused())]
        operator.imul(y, 2)
        others = moments(x)
        is_garbage_at(monkeypatch, step, blocks)
        found[0].to_numpy()
        assert not blocks
        assert not computing.EXPRESSIONS.late
        assert same(np.load(tmp_path / "x.npy"), a * 2)
    for one, other, result in zip(found, others, expected, strict=True):
        assert same(one.to_numpy(), result.to_numpy())
        assert same(other.to_numpy(), result.to_numpy())
