"""Compiled programs: light operations of an expression as one loop, beside the same statements
outside of blocks, bit for bit; and when the compiler is asked.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest

import mat
from mat.cpu import program as cpu_program
from mat.cpu.program import ComposedLoop, composed_steps
from mat.errors import KernelError
from mat.ops.expressions import passes
from mat.support import c_compiler
from mat.support.c_compiler import HEADERS, CompileError

from ..stress.children import outcome_of
from ..support.composed_programs import composed, loops_of, prepared_by
from ..support.needs import native

pytestmark = [native, pytest.mark.host, pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc")), reason="no C compiler")]
SPECIALS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-40, -1e-40, 1e30, -1e30, np.inf,
            -np.inf, np.nan)
DECLARED = re.compile(r"^([A-Z_]+)\((\w+), (\w+), LIGHT,", re.MULTILINE)
LINES = [(macro, name, kinds) for macro, name, kinds
         in DECLARED.findall((HEADERS / "shared" / "elementwise.def").read_text(encoding="utf-8"))
         if hasattr(mat, name) and macro not in ("FUSED", "UNARY_DEVICE", "BINARY_DEVICE")]
OPERANDS = {"UNARY": 1, "UNARY_REAL": 1, "TEST": 1, "BINARY": 2, "COMPARE": 2, "TERNARY": 3}


@pytest.fixture
def composer(monkeypatch, tmp_path):
    """The composer with no work done, which compiles at the second use."""
    made = cpu_program.Composer()
    made.passes, made.work = 2, 1
    monkeypatch.setenv("MAT_CACHE", str(tmp_path))
    monkeypatch.setattr("mat.ops.expressions.program.COMPOSER", made)
    passes.PROGRAMS.clear()
    yield made
    finish(made)
    passes.PROGRAMS.clear()


def finish(composer):
    """Wait until a composer has nothing to do."""
    for _ in range(6000):
        if not composer.busy:
            return
        time.sleep(0.01)
    raise AssertionError("the compiler takes too long")


def vectors(dtype, count=16411):
    """Three Mats with every pair of special numbers among others."""
    rng = np.random.default_rng(1)
    found = [rng.normal(0, 2, count).astype(dtype) for _ in range(3)]
    if dtype != "bool":
        n = len(SPECIALS) ** 2
        with np.errstate(over="ignore"):
            found[0][:n], found[1][:n] = np.array(np.meshgrid(SPECIALS, SPECIALS)).reshape(2, -1)
        found[2][:n] = rng.permutation(found[0][:n])
    return [mat.array(x) for x in found]


def bits(x):
    """Return the elements of a Mat as integers, those of NaNs alike."""
    a = x.to_numpy()
    return np.where(np.isnan(a), np.float64(7.25), a).tobytes() + np.isnan(a).tobytes()


def statements(dtype):
    """Yield functions that compute with each light line, between two other operations."""
    kind = "b" if dtype == "bool" else "f"
    for macro, name, kinds in LINES:
        if kind in kinds:
            yield partial(around, getattr(mat, name), OPERANDS[macro])
    if kind == "f":
        yield lambda x, y, z: mat.clip(x + z, -0.5, 1.5) * y
        yield lambda x, y, z: mat.clip(x + z, y, 1.5) * y
        yield lambda x, y, z: mat.clip(x * 0.5, 0.0, 1.5) * 3  # zeros of both signs
        yield lambda x, y, z: 3 - mat.maximum(x * 2.5, 0.5) / (1 - y)
        yield lambda x, y, z: (x > y).astype(dtype) * z + (x > 0)
        yield lambda x, y, z: mat.where(x > y, x, mat.where(y != z, y, z)) - x
        yield lambda x, y, z: (x.astype("float64") * y.astype("float32")).astype("float32") + z


def around(function, count, *vectors):
    """Carry a function out with other operations before and after it."""
    x, y, z = vectors
    given = [x, y, z][:count]
    if x.dtype.kind == "b":
        return mat.logical_xor(function(*[mat.logical_or(v, z) for v in given]), y)
    return function(*[v + z * y for v in given]) * x + y


@pytest.mark.parametrize("dtype", ["float32", "float64", "bool"])
def test_every_line(dtype):
    assert different(dtype) == []


def contracted(patch):
    real = cpu_program.machine_flags
    patch.setattr(cpu_program, "machine_flags", lambda: [*real(), "-ffp-contract=fast", "-mfma"])


def numbers_are_like_others(patch):
    real = cpu_program.function_of
    patch.setattr(cpu_program, "function_of", lambda *args: (found := real(*args)) and (
        found[0].replace("_of_numbers", ""), *found[1:]))


@pytest.mark.parametrize("fault", [contracted, numbers_are_like_others])
def test_a_planted_fault_is_found(fault, monkeypatch):
    if fault is contracted and platform.machine() != "x86_64":
        pytest.skip("the flag is one of x86")
    fault(monkeypatch)
    assert different("float32")


def different(dtype):
    """Return the numbers of statements with other results by loops."""
    given = vectors(dtype)
    expected = [bits(f(*given)) for f in statements(dtype)]
    found = []

    def run():
        found.clear()
        for f in statements(dtype):
            with mat.fused():
                z = f(*given)
            found.append(bits(z))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mat.ops.expressions.deferral.LEAST", 1)
        loops = composed(run)
    assert loops >= len(expected) - 3  # some are of one structure
    return [k for k, (x, y) in enumerate(zip(found, expected, strict=True)) if x != y]


@pytest.mark.parametrize("shape", [(1,), (130, 200), (40, 30, 20), (300, 9), (7, 90, 3)])
def test_layouts_updates_and_reductions(shape):
    rng = np.random.default_rng(2)
    arrays = [rng.normal(size=shape).astype("f4") for _ in range(3)]

    def statements(x, y, z):
        row = y[..., :1] - 0.5
        x *= 0.5
        x += y * z - row
        y -= x / (mat.abs(z) + 1)
        first = (x - y)[..., ::-1] * 2 + z - row
        total = (x * z + 1).sum(), mat.exp(x * 0.5 + y).max(axis=0), ((x - row) * 2).sum(axis=-1)
        z[...] = x * y + z
        return [x, y, z, first, *total]

    expected = [bits(v) for v in statements(*map(mat.array, arrays))]
    found = []

    def run():
        given = [mat.array(a) for a in arrays]
        with mat.fused():
            results = statements(*given)
        found[:] = [bits(v) for v in results]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mat.ops.expressions.deferral.LEAST", 1)
        assert composed(run) > 2
    assert found == expected


def test_a_loop_has_only_what_comes_from_outside():
    programs = []

    def step(p, m, g):
        m *= 0.9
        m += 0.1 * g
        p -= 0.001 * m / (mat.sqrt(m * m) + 1e-8)

    given = [mat.ones(1 << 15, dtype="float32") for _ in range(3)]
    with prepared_by(programs.append), mat.fused():
        step(*given)
    (loop,) = loops_of(programs[0])
    assert loop.steps == range(len(programs[0].keep.steps)) == range(9)
    assert len(loop.slots) == 3 + 4  # Mats and numbers


def test_heavy_operations_are_between_loops():
    programs = []
    x = mat.ones(1 << 15, dtype="float32")
    with prepared_by(programs.append), mat.fused():
        y = mat.tanh(x * 2 + 1) * x - 3
    steps = composed_steps(programs[0])
    assert [isinstance(s, ComposedLoop) for s in steps] == [True, False, True]
    assert y.shape == x.shape


def test_chains_with_more_operands_than_a_loop_has():
    xs = [mat.full(1 << 15, k, dtype="float32") for k in range(40)]

    def run():
        with mat.fused():
            total = xs[0] * 2
            for x in xs[1:]:
                total = total + x * 0.5
        assert float(total[7]) == sum(k * 0.5 for k in range(40))
    assert composed(run)


# When the compiler is asked


def chain(x):
    with mat.fused():
        y = x * 3 + x * x - 1
    return float(y[5])


def test_programs_are_compiled_beside_the_caller(composer):
    x = mat.full(1 << 15, 2.0, dtype="float32")
    assert chain(x) == 9
    assert not composer.busy
    chain(x)
    finish(composer)
    assert composer.compiled == 1
    assert chain(x) == 9
    larger = mat.full(1 << 16, 2.0, dtype="float32")  # another program with the same loop
    assert chain(larger) == 9
    finish(composer)
    assert composer.compiled == 1


def test_little_work_is_interpreted(composer):
    composer.work = 10 ** 9
    for _ in range(20):
        chain(mat.full(1 << 15, 2.0, dtype="float32"))
    assert composer.compiled == 0
    assert not composer.busy


@pytest.mark.parametrize("error", [CompileError("syntax"), KernelError("no compiler"),
                                   OSError("disk")])
def test_failures_are_silent_and_counted(composer, monkeypatch, error):
    def library(*_):
        raise error
    monkeypatch.setattr(c_compiler, "library", library)
    for _ in range(5):
        assert chain(mat.full(1 << 15, 2.0, dtype="float32")) == 9
        finish(composer)
    assert composer.faults == [str(error)]
    assert composer.compiled == 0


def test_so_many_sources_are_compiled_and_no_more(composer, monkeypatch):
    monkeypatch.setattr(cpu_program, "MOST", 1)
    x = mat.full(1 << 15, 2.0, dtype="float32")
    for _ in range(3):
        assert chain(x) == 9
        with mat.fused():
            y = x / 2 - x * x
        assert float(y[5]) == -3
        finish(composer)
    assert composer.compiled == 1
    assert len(composer.known) == 1


def test_the_environment_says_that_nothing_is_compiled(monkeypatch):
    monkeypatch.setenv(cpu_program.VARIABLE, "0")
    assert not cpu_program.Composer().enabled


def test_no_thread_is_left_to_start(composer, monkeypatch):
    monkeypatch.setattr(cpu_program, "start", lambda *_, **__: None)
    for _ in range(3):
        assert chain(mat.full(1 << 15, 2.0, dtype="float32")) == 9
    assert not composer.busy


def test_a_child_compiles_by_itself(composer, monkeypatch):
    waits, goes_on = threading.Event(), threading.Event()
    real = c_compiler.library

    def library(*args):
        waits.set()
        goes_on.wait(60)
        return real(*args)
    monkeypatch.setattr(c_compiler, "library", library)
    x = mat.full(1 << 15, 2.0, dtype="float32")
    chain(x)
    chain(x)
    waits.wait(60)

    def in_child():
        goes_on.set()
        assert not composer.busy
        for _ in range(2):
            with mat.fused():
                y = x * 5 - x * x
            assert float(y[5]) == 6
        finish(composer)
        assert composer.compiled == 1
    found = outcome_of(in_child)
    goes_on.set()
    assert not found


def test_a_program_is_replaced_while_it_runs(composer):
    x = mat.full(1 << 20, 2.0, dtype="float32")
    found = []

    def run():
        for _ in range(40):
            with mat.fused():
                y = x * 3 + x * x - 1
            found.append(float(y[5]) == 9 and float(y[-1]) == 9)
    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    finish(composer)
    assert all(found)
    assert composer.compiled == 1


ENDS = """
import time
import mat
from mat.cpu.program import COMPOSER
from mat.support import c_compiler

COMPOSER.passes = COMPOSER.work = 1
x = mat.ones(100_000)
with mat.fused():
    y = x * 2 + x * 3 - x
for _ in range(6000):
    if c_compiler._RUNNING or not COMPOSER.busy:
        break
    time.sleep(0.01)
"""


def test_an_exit_stops_the_compiler(tmp_path):
    done = subprocess.run([sys.executable, "-W", "error", "-X", "dev", "-c", ENDS], text=True,
                          capture_output=True, timeout=100, check=True,
                          env={**os.environ, "MAT_CACHE": str(tmp_path)})
    assert not done.stderr
    assert not list(tmp_path.glob("compile-*"))
