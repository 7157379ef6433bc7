"""`mat.fused` on a device: one kernel for the pending operations of a block, with the bits of the
operations one by one.
"""

import numpy as np
import pytest

import mat
from mat.ops.expressions import passes

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda import engine
from mat.cuda.runtime import nvrtc
from mat.support.native import lib

from ..support.fused_programs import programs
from ..support.needs_nvrtc import needs_nvrtc
from ..tools.mock_driver.cubin import kernels
from ..tools.mock_driver.ptx.nvrtc_ptx import ptx
from .computing import DTYPES, only_there

pytestmark = pytest.mark.host

N = 70_000
INTEGERS = ("int8", "uint16", "int32", "int64")


def combine(x, y, z, w):
    return 2 * x + 3 * y - z * w


def gelu(x):
    return 0.5 * x * (1.0 + mat.tanh(0.8 * (x + 0.04 * x * x * x)))


def adam(p, g, m, v):
    m *= 0.9
    m += 0.1 * g
    v *= 0.99
    v += 0.01 * g * g
    p -= 0.001 * m / (mat.sqrt(v) + 1e-8)


def of_floats(x, y, z):
    found = mat.where(x > y, mat.maximum(x, z) - y, mat.clip(z, -1, 2))
    return mat.minimum(found / y, 3) + mat.exp(-x * x) * 0.3, mat.isfinite(found)


def of_integers(x, y, z):
    found = mat.where(x == y, (x & y) * 3, mat.maximum(x, z) // y)
    return found << 1, found > 7, mat.clip(found, 3, z) % 5


def of_complex(x, y, z):
    found = x * y - z / 2
    return found, abs(found) + 1, mat.exp(found) == z


def of_bool(x, y, z):
    return (x | y) ^ z, mat.logical_and(x, y) + z, x > y


def function_for(dtype):
    return (of_bool if dtype == "bool" else of_integers if dtype in INTEGERS else
            of_complex if dtype.startswith("complex") else of_floats)


def arrays(count, dtype="float32", shape=N, seed=1):
    """Return arrays of numbers, with some that are 0, negative or NaN."""
    rng = np.random.default_rng(seed)
    found = rng.uniform(-4, 4, (count, *np.atleast_1d(shape)))
    found[..., ::7] = np.round(found[..., ::7])
    if dtype == "bool":
        return found > 0
    if dtype in INTEGERS:
        return np.abs(8 * found).astype(dtype)
    found[..., ::101], found[..., 3::103] = np.nan, -0.0
    if dtype.startswith("complex"):
        found = found + 1j * found[..., ::-1]
    return found.astype(mat.zeros(1, dtype=dtype).dtype)


def mats(*args, **kwargs):
    return [only_there(mat.array(a)) for a in arrays(*args, **kwargs)]


def same(x, y):
    """Fail unless two Mats have the same bits, but for those of NaN."""
    a, b = ((v.real, v.imag) if v.dtype.kind == "c" else (v,) for v in (x.to_numpy(), y.to_numpy()))
    for one, other in zip(a, b, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
        if one.dtype.kind == "f":
            rest = ~np.isnan(one)
            np.testing.assert_array_equal(np.signbit(one[rest]), np.signbit(other[rest]))


@pytest.fixture
def counted(mock, dev, monkeypatch):
    """A function that returns the result of a fused call and how many launches and compilations it
    takes.
    """
    compiled, compiler = [], nvrtc.COMPILER

    class Counting:
        version = compiler.version

        def compile(self, text, *rest):
            compiled.append(text)
            return compiler.compile(text, *rest)

    monkeypatch.setattr(nvrtc, "COMPILER", Counting())

    def call(function, *args):
        before = mock.calls("cuLaunchKernel"), len(compiled)
        with mat.fused():
            found = function(*args)
        return found, (mock.calls("cuLaunchKernel") - before[0], len(compiled) - before[1])
    call.texts = compiled
    return call


@pytest.mark.parametrize(("function", "count", "operations"), [(combine, 4, 5), (gelu, 1, 9)])
def test_an_expression_is_one_launch_from_its_second_use_on(counted, function, count, operations):
    operands = mats(count)
    expected = function(*operands)
    found, counts = zip(*(counted(function, *operands) for _ in range(3)), strict=True)
    assert counts == ((operations, 0), (1, 1), (1, 0))
    for y in found:
        assert y.fresh == {"cuda:0"}
        same(y, expected)


def test_what_is_on_disk_is_used_at_once(counted, cuda):
    operands = mats(4)
    for _ in range(2):
        counted(lambda *v: combine(*v) + 1, *operands)
    passes.PROGRAMS.clear()
    assert counted(lambda *v: combine(*v) + 1, *operands)[1] == (1, 0)


def test_updates_are_in_place(counted):
    operands, expected = mats(4), mats(4)
    for turn in range(3):
        with expected[0].facet("cuda", "input") as a, operands[0].facet("cuda", "input") as b:
            assert a.address != b.address
            before = b.address
        adam(*expected)
        _, (launches, _) = counted(adam, *operands)
        assert launches == (12, 1, 1)[turn]
        for x, y in zip(operands, expected, strict=True):
            same(x, y)
        with operands[0].facet("cuda", "input") as b:
            assert b.address == before


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_are_those_of_the_operations_alone(counted, dtype):
    function, operands = function_for(dtype), mats(3, dtype)
    expected = function(*operands)
    with mat.use_device("cpu"), np.errstate(all="ignore"):
        on_host = function(*map(mat.array, arrays(3, dtype)))
    counted(function, *operands)
    found, (launches, _) = counted(function, *operands)
    assert launches == 1
    for x, y, z in zip(found, expected, on_host, strict=True):
        assert x.fresh == {"cuda:0"}
        same(x, y)
        if lib is not None:  # else NumPy computes on the host
            same(x, z)


def test_elements_are_converted_between_operations(counted):
    def convert(x, y):
        small = (x * 100).astype("int8")
        return (small + y).astype("float16") * 0.1, x.astype("uint32"), (y > 3) * x

    operands = mats(1)[0], mats(1, "int32")[0]
    expected = convert(*operands)
    counted(convert, *operands)
    found, (launches, _) = counted(convert, *operands)
    assert launches == 1
    for x, y in zip(found, expected, strict=True):
        same(x, y)


VIEWS = {
    "packed": lambda x: x,
    "transposed": lambda x: x.T.contiguous().T,
    "every second": lambda x: mat.concat([x, x], axis=1)[:, ::2],
    "block": lambda x: mat.concat([x, x], axis=1)[:, 3:303],
    "reversed": lambda x: x[::-1, ::-1],
    "row": lambda x: x[0],
    "column": lambda x: x[:, :1],
    "element": lambda x: x[:1, :1],
}


@pytest.mark.parametrize("view", VIEWS)
def test_operands_have_any_layout(counted, view):
    x, y = mats(2, shape=(300, 300))
    y = VIEWS[view](y)
    for function in (combine, lambda *v: mat.clip(v[0] + 3 * v[1], v[3], 2)):
        expected = function(x, y, x, y)
        counted(function, x, y, x, y)
        found, (launches, _) = counted(function, x, y, x, y)
        assert launches == 1 + (y.size < x.size)  # 3 * y is small then, and computed at once
        same(found, expected)


def test_an_operand_at_an_odd_address(counted):
    x, = mats(1, shape=2 * N)
    for start in range(4):
        part = x[start:start + N + start]
        expected = gelu(part)
        counted(gelu, part)
        same(counted(gelu, part)[0], expected)


def test_results_go_to_a_view(counted):
    x, expected = (mats(1, shape=(300, 600))[0] for _ in range(2))
    y, = mats(1, shape=(300, 300), seed=2)

    def to_view(x):
        mat.add(2 * y, x[:, ::2], out=x[:, 1::2])

    to_view(expected)
    for _ in range(2):
        counted(to_view, x)
    same(x, expected)


def test_operations_that_no_kernel_is_composed_of_are_carried_out_on_the_device(counted):
    double = mat.kernel("y = 2 * x", x="input", y="output")
    x, out = mats(2)

    def apply(x):
        return double(x + 1, out) - 3

    expected = apply(x)
    with mat.debug.count_copies() as n:
        for _ in range(3):
            found, (launches, _) = counted(apply, x)
            assert launches == 3
    assert (n.h2d, n.d2h) == (0, 0)
    same(found, expected)


def test_more_operands_than_a_launch_has_room_for(counted):
    operands = mats(20)

    def total(*args):
        found = args[0]
        for k, x in enumerate(args[1:]):
            found = found + k * x
        return found

    expected = total(*operands)
    with mat.debug.count_copies() as n:
        for _ in range(3):
            found, (launches, _) = counted(total, *operands)
            assert launches == 38
    assert (n.h2d, n.d2h) == (0, 0)
    same(found, expected)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_integers_of_64_bits(counted, dtype):
    x = only_there(mat.array(np.arange(N, dtype=dtype) << 40))

    def add(x):
        return (x + (2**53 - 1)) * 3 - x

    expected = add(x)
    counted(add, x)
    same(counted(add, x)[0], expected)


def test_a_whole_expression_is_cut_into_tiles(cuda):
    values = arrays(2, shape=500_000)
    x, y = map(mat.array, values)
    with mat.use_device("cuda", required=True):
        expected = gelu(x), combine(x, y, x, y)
    x, y = map(mat.array, values)
    for turn in range(2):
        with mat.debug.trace() as t:
            with mat.use_device("cuda", required=True, pool_bytes=1_000_000), mat.fused():
                found = gelu(x), combine(x, y, x, y)
            copied = t.bytes
        for a, b in zip(found, expected, strict=True):
            same(a, b)
        if turn:
            assert copied <= 4 * 4 * 500_000 + 800_000


def test_a_graph_records_passes(counted, mock, dev):
    @mat.graph
    @mat.fused
    def step(p, g, m, v):
        adam(p, g, m, v)

    operands, expected = mats(4), mats(4)
    launches = []
    for _ in range(5):
        adam(*expected)
        with dev.gpu.current():
            before = mock.calls("cuLaunchKernel"), mock.calls("")
            step(*operands)
            launches.append((mock.calls("cuLaunchKernel") - before[0], mock.calls("") - before[1]))
    assert launches[1][0] == 5
    assert launches[2:] == [(0, 1)] * 3
    assert (step.recordings, step.replays) == (1, 3)
    for x, y in zip(operands, expected, strict=True):
        same(x, y)


def test_what_is_pending_is_computed_before_a_graph_and_at_its_end(counted):
    @mat.graph
    def step(x, y):
        y += 2 * x + x * x

    x, y = mats(2)
    a, b = x.copy(), y.copy()
    with mat.fused():
        for _ in range(4):
            x += 1
            step(x, y)
            z = y + 1
    for _ in range(4):
        a += 1
        b += 2 * a + a * a
    same(z, b + 1)
    same(x, a)
    same(y, b)
    assert (step.recordings, step.replays) == (1, 2)


def test_a_graph_makes_no_mats_also_in_a_fused_block(counted):
    made = []

    @mat.graph
    @mat.fused
    def step(x):
        made.append(2 * x)

    with pytest.raises(mat.errors.GraphError, match="a new Mat of 280,000 bytes is made"):
        step(*mats(1))


@needs_nvrtc
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nvrtc_contracts_nothing_and_spills_no_registers(counted, dtype):
    operands = mats(4, dtype, shape=(300, 300))
    for _ in range(2):
        counted(lambda *v: combine(*v) - 5 * v[1][:, :1], *operands)
    text = next(t for t in counted.texts if "mat_composed" in t)
    assert "fma." not in ptx(text, (nvrtc.EXACT,), "sm_80")
    for arch in ("sm_80", "sm_90"):
        found = kernels(nvrtc.Nvrtc().compile(text, (nvrtc.EXACT,), arch))["mat_program"]
        assert found.stack == 0
        assert found.registers <= 128


@pytest.mark.parametrize("statements", [200, pytest.param(4000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", [{}, {"pool_bytes": 1500}])
def test_random_programs(cuda, tmp_path, monkeypatch, options, statements):
    monkeypatch.setattr(engine, "is_compiled", lambda _: True)  # kernels at their first use
    counted = programs(1, statements, folder=tmp_path, device="cuda", **options)
    assert counted.nodes > counted.passes > 5


@pytest.mark.skipif(lib is None, reason="plans are made with the kernels of the host")
def test_a_plan_is_of_the_whole_expression(cuda):
    operands = [mat.array(a) for a in arrays(4, shape=300_000)]
    with mat.use_device("cuda", required=True):
        plan = mat.debug.plan(mat.fused(combine), *operands, pool_bytes=1_000_000)
    assert plan.moved == 5 * 1_200_000
