"""Operands that a device reads in host memory, where copying them would only evict others that are
used again.
"""

import threading

import numpy as np
import pytest

import mat
from mat.extend import Input, Output, by_elements, op

from ..support import needs

pytestmark = needs.native

N = 160  # of operators with 204,800 bytes of float64, and half as many of float32
SLACK = 20_000  # bytes for vectors


def made(count=3, dtype="float64", n=N):
    rng = np.random.default_rng(count)
    arrays = [rng.normal(size=(n, n)).astype(dtype) for _ in range(count)]
    return arrays, [mat.from_numpy(a.copy()) for a in arrays]


def vector(n=N, dtype="float64"):
    return mat.from_numpy(np.random.default_rng(9).normal(size=n).astype(dtype))


def in_turn(operators, v, turns, call=lambda a, v: a @ v):
    return [call(a, v).to_numpy().copy() for _ in range(turns) for a in operators]


def with_room(operators, v, turns, **kwargs):
    """Compute on a device that has room for everything."""
    with mat.use_device("emulated"):
        return in_turn([x.copy() for x in operators], v, turns, **kwargs)


def copied(device, function):
    before = device.transfers["h2d"]
    found = function()
    return device.transfers["h2d"] - before, found


def assert_same(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


class Reads(mat.extend.Observer):
    """The views that were read in host memory."""

    def __init__(self):
        self.views = []

    def read_in_host(self, view, memory, nbytes, evicted):
        self.views.append(view)


def test_of_three_operators_with_room_for_one_each_is_copied_once():
    arrays, operators = made()
    v = vector()
    wanted = with_room(operators, v, 10)
    with mat.use_device("emulated", pool_bytes=arrays[0].nbytes + SLACK) as device:
        moved, found = copied(device, lambda: in_turn(operators, v, 10))
        assert [a.fresh for a in operators] == [{"host"}, {"host"}, {"host", "emulated"}]
        assert_same(found, wanted)
    assert moved <= 3 * arrays[0].nbytes + 10 * v.nbytes  # in ten turns


def test_with_room_for_nothing_but_one_operator_none_is_copied_again():
    arrays, operators = made()
    v = vector()
    wanted = with_room(operators, v, 5)
    with mat.use_device("emulated", pool_bytes=arrays[0].nbytes) as device:
        first = in_turn(operators, v, 1)
        moved, found = copied(device, lambda: in_turn(operators, v, 5))
        assert_same(found, wanted)  # the same bits, since nothing is cut
    np.testing.assert_allclose(first[0], wanted[0], rtol=1e-9)
    assert moved <= 5 * v.nbytes


CALLS = {
    "product": lambda a, v: a @ v,
    "from the left": lambda a, v: v @ a,
    "transposed": lambda a, v: a.T @ v,
    "thin": lambda a, v: a @ mat.stack([v, v], axis=1),
    "gemv": lambda a, v: mat.gemv(2.0, a, v, 0.0, mat.empty(len(a), dtype=a.dtype)),
    "gemv, transposed": lambda a, v: mat.gemv(2.0, a, v, 0.0, mat.empty(len(a), dtype=a.dtype),
                                              transpose=True),
    "sums of rows": lambda a, v: a.sum(axis=1),
    "sums of columns": lambda a, v: a.sum(axis=0),
    "largest": lambda a, v: a.T.max(axis=0),
    "first largest": lambda a, v: a.argmax(axis=1),
    "norm": lambda a, v: mat.full((1,), mat.blas.nrm2(a.reshape(-1))),
    "dot": lambda a, v: mat.full((1,), mat.blas.dot(a.reshape(-1), a.reshape(-1))),
    "every other row": lambda a, v: a[::2].sum(axis=1),
    "backwards": lambda a, v: a[::-1, ::-1].sum(axis=0),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64"])
def test_results_are_those_of_copies(name, dtype):
    n = {"float64": 192, "float32": 264, "complex64": 200}[dtype]
    _, operators = made(3, dtype, n)
    v, call = vector(n, dtype), CALLS[name]
    if dtype == "complex64" and "largest" in name:
        pytest.skip("complex numbers have no order")
    wanted = with_room(operators, v, 3, call=call)
    reads = Reads()
    pool = operators[0].nbytes + SLACK
    with mat.use_device("emulated", pool_bytes=pool), mat.extend.observe(reads):
        found = in_turn(operators, v, 3, call=call)
    assert_same(found, wanted)
    assert reads.views


def test_parts_of_one_storage_are_operands_of_their_own():
    whole = mat.from_numpy(np.random.default_rng(1).normal(size=(3 * N, N)))
    parts = [whole[k * N:(k + 1) * N] for k in range(3)]
    v = vector()
    wanted = with_room(parts, v, 6)
    with mat.use_device("emulated", pool_bytes=parts[0].nbytes + SLACK) as device:
        moved, found = copied(device, lambda: in_turn(parts, v, 6))
        assert_same(found, wanted)
    assert moved <= 3 * parts[0].nbytes + 6 * v.nbytes


def test_what_is_not_used_any_more_gives_way():
    arrays, operators = made()
    v = vector()
    with mat.use_device("emulated", pool_bytes=arrays[0].nbytes + SLACK) as device:
        in_turn(operators, v, 3)
        moved, found = copied(device, lambda: in_turn(operators[:1], v, 10))
        assert "emulated" in operators[0].fresh
        assert "emulated" not in operators[2].fresh
    assert moved <= arrays[0].nbytes + v.nbytes
    assert_same(found, with_room(operators[:1], v, 10))


def test_a_first_use_is_copied_and_so_are_operands_that_are_read_often():
    arrays, operators = made()
    reads = Reads()
    with (mat.use_device("emulated", pool_bytes=4 * arrays[0].nbytes) as device,
          mat.extend.observe(reads)):
        wanted = [a @ a for a in arrays]
        moved, found = copied(device, lambda: in_turn(operators, None, 4, lambda a, _: a @ a))
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-9)
    assert not reads.views
    assert moved >= 3 * arrays[0].nbytes


def test_writes_of_the_host_are_seen():
    arrays, operators = made()
    v = vector()
    with mat.use_device("emulated", pool_bytes=arrays[0].nbytes + SLACK):
        for turn in range(4):
            for array, operator in zip(arrays, operators, strict=True):
                with operator.facet("array", "io") as host:
                    host[turn] += 1.0
                array[turn] += 1.0
                found = (operator @ v).to_numpy()
                np.testing.assert_allclose(found, array @ v.to_numpy(), rtol=1e-9)


def test_writes_of_the_device_are_seen():
    arrays, operators = made()
    v = vector()
    with mat.use_device("emulated", pool_bytes=2 * arrays[0].nbytes + SLACK):
        for turn in range(4):
            for array, operator in zip(arrays, operators, strict=True):
                operator *= 1.0 + turn
                array *= 1.0 + turn
                found = (operator @ v).to_numpy()
                np.testing.assert_allclose(found, array @ v.to_numpy(), rtol=1e-9)


@pytest.mark.parametrize("delayed", [False, True])
def test_work_is_done_before_the_host_may_write_again(delayed):
    arrays, operators = made()
    v = vector()
    wanted = with_room(operators, v, 1)
    with mat.use_device("emulated", pool_bytes=arrays[0].nbytes + SLACK) as device:
        in_turn(operators, v, 2)
        device.delayed = delayed
        try:
            found = operators[0] @ v
            with operators[0].facet("array", "output") as host:
                host[...] = np.nan
        finally:
            device.delayed = False
        np.testing.assert_array_equal(found.to_numpy(), wanted[0])


def test_a_writer_meanwhile_is_a_conflict():
    hooks = []

    @op
    def twice(x: Input, out: Output):
        """Compute ``out <- 2 x``."""

    @twice.on("array")
    def twice(np, x, out):
        for hook in hooks:
            hook()
        np.multiply(x, 2, out=out)

    twice.cut_by(by_elements(twice))
    _, operators = made()
    out = mat.empty(N, N)
    errors = []

    def write():
        try:
            with operators[0].facet("array", "io"):
                pass
        except mat.ConflictError as error:
            errors.append(str(error))

    def in_a_thread():
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()

    reads = Reads()
    with (mat.use_device("emulated", pool_bytes=2 * operators[0].nbytes + SLACK),
          mat.extend.observe(reads)):
        for _ in range(3):
            for x in operators:
                twice(x, out)
        reads.views.clear()
        hooks.append(in_a_thread)
        twice(operators[0], out)
        hooks.clear()
        assert [x.storage for x in reads.views] == [operators[0].storage]
    assert len(errors) == 1
    assert "test_host_reads.py" in errors[0]
    write()  # it has ended
    assert len(errors) == 1


def test_what_a_block_writes_is_not_read():
    _, operators = made()
    v = vector()
    with mat.use_device("emulated", pool_bytes=operators[0].nbytes + SLACK):
        in_turn(operators, v, 3)
        with operators[0].facet("array", "io") as host:
            host[0] = 1.0
            with pytest.raises(mat.ConflictError, match="array"):
                operators[0] @ v


def test_a_failure_leaves_everything_as_it_was():
    arrays, operators = made()
    v = vector()
    wanted = with_room(operators, v, 1)
    with mat.use_device("emulated", pool_bytes=arrays[0].nbytes + SLACK) as device:
        in_turn(operators, v, 3)
        out = mat.zeros(N)
        device.fail(launch=1)
        with pytest.raises(mat.DeviceError, match="launch"):
            mat.matmul(operators[0], v, out)
        with operators[0].facet("array", "io"):
            pass
        np.testing.assert_array_equal(mat.matmul(operators[0], v, out).to_numpy(), wanted[0])
    np.testing.assert_array_equal(operators[0].to_numpy(), arrays[0])


def test_beside_a_kept_copy_the_others_are_read():
    _, operators = made()
    v = vector()
    wanted = with_room(operators, v, 4)
    pool = operators[0].nbytes + SLACK
    with mat.use_device("emulated", pool_bytes=pool) as device, operators[1].keep("emulated"):
        in_turn(operators, v, 1)
        moved, found = copied(device, lambda: in_turn(operators, v, 4))
        assert "emulated" in operators[1].fresh
        assert_same(found, wanted)
    assert moved <= operators[0].nbytes


def test_tiles_are_read_where_results_do_not_fit():
    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=(600, 300)) for _ in range(2)]
    mats = [mat.from_numpy(a) for a in arrays]
    reads = Reads()
    with (mat.use_device("emulated", pool_bytes=800_000) as device, mat.extend.observe(reads)):
        for x in mats:
            mat.exp(x)
        moved, found = copied(device, lambda: [mat.exp(x) for x in mats])
    assert_same([x.to_numpy() for x in found], [mat.exp(x).to_numpy() for x in mats])
    assert reads.views
    assert moved < sum(a.nbytes for a in arrays)


@pytest.mark.unchecked("the check lengthens accesses, so that four threads can fill the pool")
def test_threads_share_operands():
    arrays, operators = made(4)
    v = vector()
    wanted = [a @ v.to_numpy() for a in arrays]
    wrong = []

    def work(first):
        with mat.use_device("emulated"):
            for k in range(40):
                number = (first + k) % 4
                found = (operators[number] @ v).to_numpy()
                if not np.allclose(found, wanted[number], rtol=1e-9):
                    wrong.append(number)

    with mat.use_device("emulated", pool_bytes=arrays[0].nbytes + 3 * SLACK):
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_the_trace_says_why():
    _, operators = made()
    v = vector()
    pool = operators[0].nbytes + SLACK
    with mat.use_device("emulated", pool_bytes=pool), mat.debug.trace() as trace:
        in_turn(operators, v, 3)
    assert [e.nbytes for e in trace.host_reads] == [operators[0].nbytes] * 4
    event = trace.host_reads[0]
    assert (event.kind, event.source, event.target) == ("host read", "host", "emulated")
    assert event.reason == f"copying it would evict {operators[2].label()} from 'emulated'"
    assert (f"was read in host memory 4 times, {4 * operators[0].nbytes:,} bytes" in repr(trace))
    assert "copying it would evict" in repr(trace)
    assert any(e["cat"] == "host read" for e in trace.chrome()["traceEvents"] if "cat" in e)


@pytest.mark.parametrize("slack", [SLACK, 0])
def test_the_plan_is_what_is_done(slack):
    _, operators = made()
    v = vector()

    def program():
        in_turn(operators, v, 3)

    with mat.use_device("emulated", pool_bytes=operators[0].nbytes + slack):
        plan = mat.debug.plan(program)
        with mat.debug.trace() as trace:
            program()
    assert plan.in_place == sum(e.nbytes for e in trace.host_reads) > 0
    assert plan.in_place == sum(call.in_place for call in plan.calls)
    assert f"{plan.in_place:,} read in host memory" in repr(plan)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs(seed):
    rng = np.random.default_rng(seed)
    arrays, operators = made(4)
    v, w = vector(), vector().to_numpy()
    pool = int(rng.integers(arrays[0].nbytes // 2, 3 * arrays[0].nbytes))
    with mat.use_device("emulated", pool_bytes=pool):
        for _ in range(60):
            k = int(rng.integers(4))
            low = int(rng.integers(0, 20))
            a, x = arrays[k], operators[k]
            match int(rng.integers(6)):
                case 0 | 1:
                    np.testing.assert_allclose((x[low:] @ v).to_numpy(), a[low:] @ w, rtol=1e-8,
                                               atol=1e-10)
                case 2:
                    np.testing.assert_allclose(x.sum(axis=0).to_numpy(), a.sum(axis=0), rtol=1e-8,
                                               atol=1e-10)
                case 3:
                    x[low:low + 5] += 1.0
                    a[low:low + 5] += 1.0
                case 4:
                    with x.facet("array", "io") as host:
                        host[low] = low
                    a[low] = low
                case 5:
                    np.testing.assert_allclose((x - 1.0).to_numpy(), a - 1.0)
    for a, x in zip(arrays, operators, strict=True):
        np.testing.assert_allclose(x.to_numpy(), a)
