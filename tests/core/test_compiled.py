"""The compiled path of calls does what Python does: conflicts, freshness, nested accesses,
torn data, numbers, threads.
"""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import ConflictError, DTypeError, TornError
from mat.facets import ARRAY
from mat.ops.linear.blas_gemm import gemm

from ..support.mock_memories import registered
from ..support.needs import native

pytestmark = [native, pytest.mark.host]
SIZES = (10, 100_000)  # under the GIL; with recorded accesses and without it


def warm(operation, *args):
    """Call twice, so that there is a plan, and then forget about freshness."""
    for _ in range(2):
        operation(*args)


def plan_of(operation, *args):
    """Return the plan that a call finds; None if there is none."""
    node = operation.walk(operation.root, args, {}, False)
    return None if node is None else node.plan


@pytest.fixture
def axpy():
    """The operation without plans, and afterwards again."""
    mat.axpy.forget()
    yield mat.axpy
    mat.axpy.forget()


@pytest.mark.unchecked("observers keep calls out of compiled code")
@pytest.mark.parametrize("n", SIZES)
def test_calls_go_there_and_are_right(axpy, n, rng, monkeypatch):
    a, b = rng.standard_normal(n), rng.standard_normal(n)
    x, y = mat.array(a), mat.array(b)
    warm(axpy, 0.0, x, y)
    plan = plan_of(axpy, 2, x, y)
    assert plan.armed
    version = y.storage.version
    monkeypatch.setattr(plan, "function", None)  # the way by Python is closed
    assert axpy(2, x, y) is y
    assert_array_equal(y.to_numpy(), a * 2 + b)
    assert (y.storage.version, x.storage.accesses, y.storage.accesses,
            y.storage.writer) == (version + 1, [], [], None)
    assert y.fresh == {"host"}


def test_observers_see_every_call(axpy):
    x, y = mat.ones(4), mat.ones(4)
    warm(axpy, 1.0, x, y)
    with mat.debug.list_calls() as c:
        axpy(1.0, x, y)
    assert [call.routine for call in c.calls] == ["daxpy"]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("direction", ["input", "io"])
def test_a_writer_does_not_wait_and_is_refused(axpy, n, direction):
    x, y = mat.ones(n), mat.ones(n)
    warm(axpy, 1.0, x, y)
    found = []

    def attempt():
        try:
            axpy(1.0, x, y)
        except ConflictError as error:
            found.append(str(error))

    with y.facet("array", direction) as a:
        before = a[0]
        other = threading.Thread(target=attempt)
        other.start()
        other.join()
        assert a[0] == before
    assert len(found) == 1
    assert "test_compiled.py" in found[0]


@pytest.mark.parametrize("n", SIZES)
def test_accesses_of_the_same_thread_nest(axpy, n):
    x, y = mat.ones(n), mat.ones(n)
    warm(axpy, 0.0, x, y)
    version = y.storage.version
    with mat.with_facets((x, "foreign", "input"), (y, "array", "io")) as (_, a):
        axpy(1.0, x, y)
        assert a[0] == 2
        assert y.storage.version == version  # the outer access decides
    assert y.storage.version == version + 1
    with pytest.raises(ZeroDivisionError), y.facet("array", "io"):
        print(1 / len(axpy(1.0, x, y).storage.accesses[1:]))
    with pytest.raises(TornError):
        axpy(1.0, y, x)
    x.fill_(5.0)
    mat.blas.copy(x, y)
    assert y.item(0) == 5


def test_stale_data_is_made_fresh_first(axpy):
    with registered():
        x, y = mat.ones(6), mat.ones(6)
        warm(axpy, 0.0, x, y)
        with x.facet("far", "io") as a:
            a[...] = 3
        assert x.fresh == {"far"}
        axpy(1.0, x, y)
        assert x.fresh == {"far", "host"}
        assert y.item(0) == 4
        with y.facet("far", "input"):
            pass
        assert y.fresh == {"far", "host"}
        axpy(1.0, x, y)
        assert y.fresh == {"host"}


def test_dropped_memory_is_not_written(axpy):
    x, y = mat.ones(6), mat.ones(6)
    warm(axpy, 1.0, x, y)
    y.close()
    assert y.fresh == set()
    axpy(1.0, x, y)
    assert_array_equal(y.to_numpy(), np.full(6, 2.0))  # the fill value, and x


@pytest.mark.unchecked("the check keeps records of accesses")
def test_one_storage_in_two_roles():
    x = mat.arange(8.0)
    for _ in range(3):
        mat.axpy(1.0, x[:4], x[4:])
    assert_array_equal(x.to_numpy(), [0, 1, 2, 3, 4, 8, 12, 16])
    version = x.storage.version
    mat.swap(x[:4], x[4:])
    assert x.storage.version == version + 1
    for n in (6, 60_000):
        y = mat.ones(n)
        for _ in range(3):
            assert mat.blas.dot(y, y) == n
        assert y.storage.accesses == []


@pytest.mark.parametrize(("value", "wanted"), [(2, 3), (2.5, 3.5), (np.float32(2), 3), (True, 2),
                                               (-0.0, 1), (2**52, 2**52 + 1),
                                               (np.int8(2), 3)])
def test_numbers_of_all_kinds(axpy, value, wanted):
    x, y = mat.ones(3), mat.ones(3)
    warm(axpy, 0.0, x, y)
    assert_array_equal(axpy(value, x, y).to_numpy(), np.full(3, wanted))


@pytest.mark.parametrize("value", ["2", None, 1j, [1], mat.ones(1)])
def test_bad_numbers_are_refused(axpy, value):
    x, y = mat.ones(3), mat.ones(3)
    warm(axpy, 0.0, x, y)
    with pytest.raises(DTypeError, match="alpha"):
        axpy(value, x, y)
    assert_array_equal(y.to_numpy(), np.ones(3))


def test_complex_numbers(rng):
    a, b = (rng.standard_normal(5) + 1j * rng.standard_normal(5) for _ in range(2))
    x, y = mat.array(a), mat.array(b)
    for _ in range(2):
        found = mat.blas.dot(x, y)
    assert found == pytest.approx((a * b).sum())
    assert mat.blas.vdot(x, y) == pytest.approx((a.conj() * b).sum())
    warm(mat.axpy, 0j, x, y)
    assert_array_equal(mat.axpy(1j, x, y).to_numpy(), 1j * a + b)


def test_a_zero_beta_is_distinguished_from_others():
    a, c = mat.eye(2), mat.full((2, 2), np.nan)
    for _ in range(3):
        mat.gemm(1.0, a, a, 0.0, c)
        assert_array_equal(c.to_numpy(), np.eye(2))
        mat.gemm(1.0, a, a, 1.0, c)
        assert_array_equal(c.to_numpy(), 2 * np.eye(2))
        c.fill_(np.nan)
    assert all(plan_of(gemm, 1.0, a, a, beta, c).armed for beta in (0.0, 1.0))


def test_forgetting_is_heeded(axpy):
    x, y = mat.ones(3), mat.ones(3)
    warm(axpy, 0.0, x, y)
    kept = plan_of(axpy, 1.0, x, y)
    assert kept is not None
    axpy.forget()
    assert plan_of(axpy, 1.0, x, y) is None
    assert axpy.count == 0
    axpy(1.0, x, y)
    assert plan_of(axpy, 1.0, x, y) not in (None, kept)
    assert axpy.count == 1


def test_a_wrong_number_of_arguments():
    with pytest.raises(DTypeError, match="axpy"):
        mat.axpy(1.0, mat.ones(2))
    with pytest.raises(DTypeError, match="axpy"):
        mat.axpy()


@pytest.mark.unchecked("the check keeps records of accesses")
@pytest.mark.parametrize("n", SIZES)
def test_nothing_is_kept_alive(axpy, n):
    x, y = mat.ones(n), mat.ones(n)
    warm(axpy, 1.0, x, y)
    mat.blas.dot(x, y)
    gc.collect()
    gc.disable()  # what it finds of other tests has references, too
    try:
        before = sys.getrefcount(y), sys.getrefcount(x), sys.getrefcount(None)
        for _ in range(100):
            axpy(1.0, x, y)
            mat.blas.dot(x, y)
        after = sys.getrefcount(y), sys.getrefcount(x), sys.getrefcount(None)
    finally:
        gc.enable()
    assert all(abs(a - b) < 50 for a, b in zip(before, after, strict=True))
    ref = weakref.ref(y.storage)
    del y
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("n", SIZES)
def test_many_threads_on_their_own_mats(axpy, n):
    x = mat.ones(n)
    results = [mat.zeros(n) for _ in range(6)]
    errors = []

    def work(y):
        try:
            for _ in range(200 if n < 1000 else 20):
                axpy(1.0, x, y)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(y,)) for y in results]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    assert all(y.item(n - 1) == (200 if n < 1000 else 20) for y in results)
    assert x.storage.accesses == []


@pytest.mark.parametrize("n", SIZES)
def test_many_writers_of_one_mat_lose_nothing(axpy, n):
    """Each call is done whole or refused: what got through is what is there."""
    x, y = mat.ones(n), mat.zeros(n)
    warm(axpy, 0.0, x, y)
    done = []

    def work():
        for _ in range(100):
            try:
                axpy(1.0, x, y)
                done.append(1)
            except ConflictError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert_array_equal(y.to_numpy(), np.full(n, len(done)))
    assert y.storage.accesses == []
    assert y.storage.writer is None


# The lock


def test_the_lock_is_reentrant_and_excludes():
    lock = mat.zeros(1).storage.lock
    order = []
    with lock:
        with lock:
            other = threading.Thread(target=lambda: (lock.acquire(), order.append("other"),
                                                     lock.release()))
            other.start()
            other.join(0.05)
            order.append("inner")
        order.append("outer")
    other.join()
    assert order == ["inner", "outer", "other"]


def test_a_lock_that_was_not_acquired_cannot_be_released():
    lock = mat.zeros(1).storage.lock
    with pytest.raises(RuntimeError, match="lock"):
        lock.release()
    held = threading.Event()
    done = threading.Event()
    other = threading.Thread(target=lambda: (lock.acquire(), held.set(), done.wait(),
                                             lock.release()))
    other.start()
    held.wait()
    with pytest.raises(RuntimeError, match="lock"):
        lock.release()
    done.set()
    other.join()


def test_plans_forgotten_while_one_is_carried_out_stay_until_it_is_done(rng):
    """A kernel runs without the GIL: another thread may make the operation forget its plan, and the
    kernel's frame.
    """
    a = rng.standard_normal((700, 700))
    x, y = mat.array(a), mat.zeros(700, 700)
    warm(gemm, 1.0, x, x, 0.0, y)
    worker = threading.Thread(target=gemm, args=(1.0, x, x, 0.0, y))
    worker.start()
    while worker.is_alive() and not y.storage.accesses:
        pass
    seen = bool(y.storage.accesses)
    gemm.forget()
    # the freed memory has other contents now
    others = [bytearray(b"\xff" * size) for size in range(64, 2048, 8)]
    gc.collect()
    worker.join()
    del others
    assert seen
    np.testing.assert_allclose(y.to_numpy(), a @ a, rtol=1e-10, atol=1e-10)


def test_a_part_of_a_new_storage_is_written_at_once():
    """Where nothing was ever written, and nothing would be filled in, no copy has to be fresh."""
    mask, bit = ARRAY.mask, ARRAY.bit
    assert mat.empty(10).storage.ready(mask, bit, True, True)
    assert not mat.empty(10).storage.ready(mask, bit, True, False)
    assert not mat.zeros(10).storage.ready(mask, bit, True, True)
    x = mat.empty(10)
    x[2:4] = mat.ones(2)
    assert x[2:4].tolist() == [1, 1]


def test_the_garbage_collector_knows_classes_derived_from_mat_only():
    class Named(mat.Mat):
        pass

    x, y = mat.ones(3), Named(3)
    assert not gc.is_tracked(x)
    assert not gc.is_tracked(x[1:])
    y.itself = y
    assert gc.is_tracked(y)
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert gone() is None
    still = weakref.ref(x)
    del x
    assert still() is None


def test_functions_of_elements_take_arguments_in_every_way(rng):
    a = rng.standard_normal(5)
    x, out = mat.array(a), mat.zeros(5)
    for found in (mat.abs(x), mat.abs(x=x), mat.abs(x, out), mat.abs(x, out=out), mat.abs(*[x]),
                  mat.abs.__call__(x), mat.abs(a), mat.abs(x, dtype=float)):
        assert_array_equal(found.to_numpy(), np.abs(a))
    for found in (mat.add(x, x), mat.add(x, y=x), mat.add(y=x, x=x), mat.add(x, x, out=out),
                  mat.add(a, x), mat.add(*(x, a)), mat.add(x, x, out, casting="same_kind")):
        assert_array_equal(found.to_numpy(), a + a)
    for wrong in (mat.abs, lambda: mat.add(x), lambda: mat.abs(x, x, x)):
        with pytest.raises(DTypeError):
            wrong()
    assert callable(mat.add)
