"""Updates of Mats in files in `mat.fused` blocks: they wait, are one pass over the file, and are
carried out even if nobody reads the Mat any more.
"""

import contextlib
import functools
import operator
import os
import subprocess
import sys

import numpy as np
import pytest

import mat
from mat.memories import file_pages
from mat.ops.tiles import file_tiles
from mat.support.native import lib

from ..support.fused_programs import same
from .test_fused_reductions import Reads, copies_of, elements

pytestmark = [pytest.mark.host, pytest.mark.skipif(lib is None, reason="nothing is pending")]
SHAPE = 6000, 100


def by_operators(x):
    mean, scale = x.mean(axis=0), x.std(axis=0)
    x -= mean
    x /= scale
    return x


def assigned(x):
    mean, scale = x.mean(axis=0), x.std(axis=0)
    x[...] = (x - mean) / scale
    return x


def with_out(x):
    mean, scale = x.mean(axis=0), x.std(axis=0)
    return mat.divide(x - mean, scale, out=x)


def one_after_another(x):
    x -= x.mean(axis=0)
    x /= x.std(axis=0)
    return x


FUNCTIONS = {by_operators: 2, assigned: 2, with_out: 2, one_after_another: 3}  # and reads
every = pytest.mark.parametrize("function", FUNCTIONS)


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Return the path of a file that counts as large."""
    monkeypatch.setattr(file_pages, "LEAST_LARGE", 1 << 20)
    monkeypatch.setattr(file_tiles, "TILE", 1 << 18)
    np.save(tmp_path / "x.npy", elements(SHAPE))
    return tmp_path / "x.npy"


def opened(path):
    return mat.open_memmap(path, "r+")


def expected(path, function):
    """Return what a function leaves in a file outside of blocks, and restore the file."""
    before = np.load(path)
    function(opened(path))
    found = np.load(path)
    np.save(path, before)
    return found


@every
@pytest.mark.parametrize("spills", [False, True])
def test_each_pass_is_one(path, function, spills, monkeypatch):
    reads = Reads(monkeypatch)
    with mat.settings(spill_dir=path.parent, spill_above=(1 << 19) if spills else None):
        wanted = expected(path, function)
        reads.bytes = 0
        with mat.fused():
            x = opened(path)
            function(x)
            assert "pending" in repr(x)
            assert not x.fresh
    assert reads.bytes <= 1.01 * FUNCTIONS[function] * x.nbytes
    assert same(np.load(path), wanted)
    assert same(x.to_numpy(), wanted)


@every
def test_plans_foretell_the_bytes(path, function):
    wanted = expected(path, lambda x: copies_of(function, x, x.nbytes // 4))
    x = opened(path)
    plan = mat.debug.plan(mat.fused(function), x, pool_bytes=x.nbytes // 4)
    assert plan.moved == copies_of(mat.fused(function), x, x.nbytes // 4)
    assert plan.moved < 0.75 * plan.moved_alone
    assert same(np.load(path), wanted)


def test_a_trace_has_the_lines(path):
    x = opened(path)
    with mat.debug.trace() as trace, mat.fused():
        by_operators(x)
    line = by_operators.__code__.co_firstlineno
    texts = {event.mat.partition(", tile")[0] for event in trace.operations}
    assert texts == {f"fused: 2 operations of line {line + 1}, in parts, 1 operand, 2 results",
                     f"fused: 2 operations of lines {line + 2}-{line + 3}, 2 operands, 1 result"}


@pytest.mark.parametrize("fails", [False, True])
def test_they_are_carried_out_without_a_reader(path, fails):
    a = np.load(path)
    with contextlib.suppress(ZeroDivisionError), mat.fused():
        operator.iadd(opened(path), 1)
        assert same(np.load(path), a)  # not yet
        if fails:
            raise ZeroDivisionError
    assert same(np.load(path), a + 1)


def test_flush_carries_them_out(path):
    a = np.load(path)
    with mat.fused():
        x = opened(path)
        x += 1
        x.flush()
        assert same(np.load(path), a + 1)


@pytest.mark.parametrize("order", [0, 1])
def test_others_see_what_was_there(path, order):
    a = np.load(path)
    sums = opened(path).sum().to_numpy(), opened(path)[:10].sum().to_numpy()
    with mat.fused():
        x = opened(path)
        before, turned, small = x * 2, x.T + 1, x[:10].sum()
        total = x.sum()
        later = before + 1
        x += 1
        after, both = x * 2, before + x
        del before
        if order:
            float(x[0, 0])
    assert same(x.to_numpy(), a + 1)
    for found, wanted in ((turned, a.T + 1), (later, a * 2 + 1), (after, (a + 1) * 2),
                          (both, a * 2 + (a + 1))):
        assert same(found.to_numpy(), wanted)
    assert same(total.to_numpy(), sums[0])
    assert same(small.to_numpy(), sums[1])


def test_many_readers_need_more_than_one_pass(path, monkeypatch):
    monkeypatch.setattr(file_pages, "LEAST_LARGE", 1 << 17)
    monkeypatch.setattr(file_tiles, "TILE", 1 << 16)
    a = np.load(path)[:600]
    np.save(path, a)
    with mat.fused():
        x = opened(path)
        found = [x * k for k in range(80)]
        x += 1
    for k, one in enumerate(found):
        assert same(one.to_numpy(), a * np.float32(k))
    assert same(np.load(path), a + 1)


def test_what_is_read_elsewhere_is_overwritten_at_once(path):
    a = np.load(path)
    with mat.fused():
        x = opened(path)
        x -= x[0]
        x -= x[:, :1]
    a -= a[0].copy()
    a -= a[:, :1].copy()
    assert same(np.load(path), a)


def test_another_map_of_the_file_sees_them(path):
    with mat.fused():
        x, y = opened(path), opened(path)
        x += 1
        assert same(y.to_numpy(), x.to_numpy())


def test_files_that_are_only_read_are_refused_by_the_statement(path):
    x = mat.open_memmap(path, "r")
    with mat.fused(), pytest.raises(mat.MatError):
        x += 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_carries_them_out_once(path):
    a = np.load(path)
    with mat.fused():
        x = opened(path)
        x += 1
        child = os.fork()
        if not child:
            float(x[0, 0])
            os._exit(0)
        os.waitpid(child, 0)
    assert same(np.load(path), a + 1)


def read_before_another_map_writes(path):
    x, y = mat.open_memmap(path, "r"), opened(path)
    read = x * 2
    y += 1
    return read, x + 0


def copied_before_another_map_writes(path):
    x, y = mat.open_memmap(path, "c"), opened(path)
    read = x[:, ::2].max(axis=1, keepdims=True) + x
    y += 1
    return read, y + 0


def read_before_another_map_is_opened(path):
    x = mat.open_memmap(path, "r")
    read = x * 2
    y = opened(path)
    y += 1
    return read, x + 0


def updated_before_another_map_is_opened(path):
    x = opened(path)
    read = x + 0
    x += 1
    y = opened(path)
    return y[0], read


def updated_and_gone_before_another_map_is_opened(path):
    x = opened(path)
    x += 1
    del x
    y = opened(path)
    return y[0], y[-1]


@pytest.mark.parametrize("function", [
    read_before_another_map_writes, copied_before_another_map_writes,
    read_before_another_map_is_opened, updated_before_another_map_is_opened,
    updated_and_gone_before_another_map_is_opened])
@pytest.mark.parametrize("pool", [None, 700_000])
def test_two_maps_of_a_file(path, function, pool):
    old = np.load(path)
    wanted = [m.to_numpy() for m in function(path)]
    np.save(path, old)
    where = contextlib.nullcontext
    if pool is not None:
        where = functools.partial(mat.use_device, "emulated", pool_bytes=pool)
    with where(), mat.fused():
        found = function(path)
    assert all(same(a.to_numpy(), b) for a, b in zip(found, wanted, strict=True))


OPEN_BLOCK = """import mat
if {device!r}:
    mat.set_device({device!r})
def updating(x):
    with mat.fused():
        x += 1
        yield
x = mat.open_memmap({path!r})
generator = updating(x)
next(generator)
block = mat.fused()
block.__enter__()
x *= 2
"""


@pytest.mark.parametrize("device", ["", "emulated"])
def test_the_end_of_the_program_carries_them_out_in_open_blocks(path, device):
    a = np.load(path)
    program = OPEN_BLOCK.format(path=str(path), device=device)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert same(np.load(path), (a + 1) * 2)


def test_not_where_a_block_may_have_no_end(path):
    a = np.load(path)
    mat.configure(fused=True)
    try:
        operator.iadd(opened(path), 1)
        assert same(np.load(path), a + 1)
    finally:
        mat.configure(fused=False)


def test_a_failure_leaves_them_pending(path):
    a = np.load(path)
    with mat.fused():
        x = opened(path)
        x += 1

        def fail(done, total):
            raise RuntimeError("no")
        with mat.settings(progress=fail), pytest.raises(RuntimeError):
            x.to_numpy()
    assert same(x.to_numpy()[-1:], a[-1:] + 1) or same(x.to_numpy()[-1:], a[-1:])


OTHERWISE = {
    "a row": lambda x: x.__isub__(x[:1]), "reversed": lambda x: x.__iadd__(x[::-1]),
    "a row of an expression": lambda x: x.__iadd__((x[:1] * 2).reshape(1, -1)),
    "an expression of it reversed": lambda x: x.__iadd__(x[::-1] * 2),
    "reversed after an update": lambda x: x.__imul__(2).__isub__(x[::-1])}


@pytest.mark.parametrize("name", OTHERWISE)
@pytest.mark.parametrize("pool", [None, 700_000])
def test_what_reads_other_places_than_it_overwrites_does_not_wait(path, name, pool):
    """The old elements are read in another order than they are overwritten; expressions of them are
    computed before.
    """
    function, where = OTHERWISE[name], contextlib.nullcontext
    if pool is not None:
        where = functools.partial(mat.use_device, "emulated", pool_bytes=pool)
    wanted = expected(path, function)
    with where(), mat.fused():
        x = opened(path)
        function(x)
        assert "expression" in name or "pending" not in repr(x)
    assert same(np.load(path), wanted)
