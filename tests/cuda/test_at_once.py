"""Launches without records of accesses: what an access would have found is still found."""

import threading

import numpy as np
import pytest

import mat
from mat.memories.change_stamps import Seen
from mat.memories.pooled import Pooled
from mat.ops.primitives import joining
from tests.support import needs

pytestmark = [pytest.mark.usefixtures("cuda"), needs.native]
N = 30_000


@pytest.fixture
def xy(dev):
    """Two Mats, for which `x + y` and `x += y` have plans."""
    x, y = mat.array(np.arange(N, dtype="f8")), mat.array(np.ones(N))
    for _ in range(2):
        x + y
        x += y
    return x, y


def test_a_write_within_a_block_that_reads_is_a_conflict(xy):
    x, y = xy
    with x.facet("array", "input"), pytest.raises(mat.ConflictError):
        x += y
    with y.facet("array", "output"), pytest.raises(mat.ConflictError):
        x + y
    y.fill_(1.0)
    x += y
    assert np.array_equal(np.asarray(x), np.arange(N) + 3)


def test_the_block_around_decides_about_the_copy(xy):
    x, y = xy
    with x.facet("cuda", "io"):
        x += y
        assert x.storage.writer is not None
    assert x.fresh == {"cuda:0"}
    with pytest.raises(ZeroDivisionError), x.facet("cuda", "io"):
        x.__iadd__(y).fill_(1 // 0)
    with pytest.raises(mat.TornError):
        x + y


def test_a_write_makes_other_copies_stale(xy):
    x, y = xy
    before = np.array(x)
    assert x.fresh == {"host", "cuda:0"}
    version = x.storage.version
    x += y
    assert x.fresh == {"cuda:0"}
    assert x.storage.version == version + 1
    assert np.array_equal(np.asarray(x), before + 1)


def test_what_was_written_on_the_host_is_copied_first(xy):
    x, y = xy
    for k in range(3):
        with y.facet("array", "io") as a:
            a[k] = 10 * k
        wanted = np.asarray(x) + np.asarray(y)
        assert np.array_equal(np.asarray(x + y), wanted)


def test_parts_of_one_mat_are_operands(dev):
    a = np.arange(2.0 * N)
    x = mat.array(a)
    for _ in range(4):
        found = x[:N] + x[N:]
        x[:N] += x[N:]
        assert np.array_equal(np.asarray(found), a[:N] + a[N:])
        a[:N] += a[N:]
        assert np.array_equal(np.asarray(x), a)


@pytest.mark.parametrize("part", [np.s_[::2], np.s_[30:90], np.s_[:, 3:5]])
def test_what_is_read_of_a_copy_of_a_part_is_launched_at_once(dev, only_compiled, part):
    a = np.arange(100.0 * N).reshape(300, -1)
    x = mat.array(a)
    for _ in range(3):
        x[part].copy(), x[part] + x[part]
    only_compiled()
    for _ in range(2):
        assert x.storage.spans is not None
        assert np.array_equal(x[part].copy().to_numpy(), a[part])
        assert np.array_equal((x[part] + x[part]).to_numpy(), 2 * a[part])


def test_what_was_written_in_a_part_is_not_read_of_an_older_copy(dev):
    a = np.arange(100.0 * N).reshape(300, -1)
    x, y = mat.array(a), mat.ones(60, a.shape[1])
    for k in range(3):
        assert np.array_equal((x[30:90] + y).to_numpy(), a[30:90] + 1)
        with x[40:50].facet("array", "io") as rows:
            rows += k
        a[40:50] += k
    with x[40:50].facet("array", "io"), pytest.raises(mat.ConflictError):
        x[30:90] + y
    with x[90:95].facet("array", "io"):
        assert np.array_equal((x[30:90] + y).to_numpy(), a[30:90] + 1)
    with pytest.raises(ZeroDivisionError), x[50:60].facet("cuda", "io"):
        x[50:60].fill_(1 // 0)
    assert np.array_equal((x[30:90] + y).to_numpy(), a[30:90] + 1)


def test_a_storage_that_another_thread_holds_is_waited_for(xy):
    x, y = xy
    held, done = threading.Event(), threading.Event()

    def hold():
        with x.storage.lock:
            held.set()
            done.wait(0.2)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    before = np.arange(N) + 2
    assert np.array_equal(np.asarray(x + y), before + 1)
    done.set()
    thread.join()


def test_a_launch_that_fails_leaves_what_it_would_have_written_torn(xy, mock):
    x, y = xy
    mock.fail("cuLaunchKernel")
    with pytest.raises(mat.MatError):
        x += y
    with pytest.raises(mat.TornError):
        x + y
    assert not x.storage.lock.count
    x.fill_(2.0)
    assert float((x + y)[5]) == 3.0


def test_a_launch_that_fails_for_a_part_leaves_the_others_as_they_are(dev, mock):
    x, y = mat.zeros(N) + 2, mat.ones(N // 2)
    for _ in range(3):
        x[N // 2:] += y
    mock.fail("cuLaunchKernel")
    with pytest.raises(mat.OutOfDeviceMemory):
        x[N // 2:] += y
    assert x[:N // 2].to_numpy().tolist() == [2.0] * (N // 2)
    with pytest.raises(mat.TornError):
        x[N // 2:].to_numpy()
    x[N // 2:] = y
    assert x.to_numpy().tolist() == [2.0] * (N // 2) + [1.0] * (N // 2)


def test_threads_add_to_one_mat(cuda):
    x, y = mat.zeros(N), mat.ones(N)

    def add():
        with mat.use_device("cuda", required=True):
            for _ in range(50):
                while True:
                    try:
                        x.__iadd__(y)
                        break
                    except mat.ConflictError:
                        continue

    threads = [threading.Thread(target=add) for _ in range(4)]
    with mat.use_device("cuda", required=True):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert float(x.min()) == float(x.max()) == 200.0


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, float("nan"), float("inf")])
def test_numbers_of_where_are_kept_by_their_bits(dev, value):
    a = np.arange(N, dtype="f4")
    x = mat.array(a)
    for other in (value, -value):
        found = np.asarray(mat.where(x > 5, x, other))
        assert np.array_equal(found.view("i4"), np.where(a > 5, a, np.float32(other)).view("i4"))


@pytest.mark.parametrize("dtype", ["f4", "i8", "bool", "f2"])
def test_zeros_and_other_fills(dev, dtype):
    for value in (0, 1):
        x = mat.full(1000, value, dtype)
        assert np.array_equal(np.asarray(x | x if dtype == "bool" else x + x),
                              (np.full(1000, value, dtype) * 2).astype(dtype))
        assert np.array_equal(np.asarray(x.fill_(1)), np.ones(1000, dtype))


def test_integers_out_of_range_are_refused(dev):
    x = mat.array(np.arange(10.0))
    for at, good in (([3, -10, 9], True), ([3, 10], False), ([-11], False)):
        i = mat.array(np.array(at))
        for _ in range(2):
            if good:
                assert np.array_equal(np.asarray(x[i]), np.arange(10.0)[at])
            else:
                with pytest.raises(IndexError):
                    x[i]


def test_a_name_means_the_innermost_device(dev):
    x = mat.array(np.arange(10.0))
    for _ in range(2):
        with x.facet("cuda", "input") as a:
            assert a.device is dev
    with mat.use_device("cpu"), x.facet("cuda", "input") as a:
        assert a.device is dev


@pytest.mark.host
def test_a_name_of_a_device_out_of_use_is_refused(cuda):
    x = mat.array(np.arange(10.0))
    for _ in range(2):
        with mat.use_device("cuda", required=True), x.facet("cuda", "input"):
            pass
        with pytest.raises(mat.DeviceError):
            x.facet("cuda", "input")


def test_loops_take_the_blocks_of_the_turn_before(dev, mock):
    x = mat.array(np.random.default_rng(0).random(300_000))  # its copies are large
    for _ in range(3):
        np.median(x)
    before = mock.calls("cuMemAllocAsync")
    for _ in range(5):
        assert float(np.median(x)) == np.median(np.asarray(x))
        x += 1.0
    assert mock.calls("cuMemAllocAsync") == before


def test_the_workspace_of_a_sort_is_freed(dev):
    a = np.random.default_rng(0).random(200_000)
    x = mat.array(a)
    used = []
    for _ in range(4):
        assert np.array_equal(np.asarray(mat.sort(x)), np.sort(a))
        dev.memory.settle()
        used.append(dev.memory.used)
    assert used[1] == used[2] == used[3]


def test_joined_parts_in_turns_with_others(dev):
    a, b = np.arange(N, dtype="f4"), np.ones(7, "f4")
    x, y, i = mat.array(a), mat.array(b), mat.array(np.arange(5))
    for _ in range(3):
        assert np.array_equal(np.asarray(mat.concat([x, y, x])), np.concatenate([a, b, a]))
        assert np.array_equal(np.asarray(mat.concat([y, i])), np.concatenate([b, np.arange(5)]))
        assert np.array_equal(np.asarray(np.roll(x, 3)), np.roll(a, 3))
        assert np.array_equal(np.asarray(mat.stack([x, x], axis=1)), np.stack([a, a], 1))
        assert np.array_equal(np.asarray(mat.concat([x[::2], x[1::2]])),
                              np.concatenate([a[::2], a[1::2]]))


def test_copies_that_a_call_uses_are_not_evicted(cuda):
    with mat.use_device("cuda", required=True, pool_bytes=3 * 8 * N + 512):
        x, y = mat.array(np.arange(N, dtype="f8")), mat.array(np.ones(N))
        for _ in range(3):
            x += y
        with x.storage.lock:
            assert not x.storage.evict(x.storage.fresh_memories()[-1], True)
        z = x + y
        for k in range(4):
            assert np.array_equal(np.asarray(z), np.arange(N) + 4 + k)
            z = z + y


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "c16"])
@pytest.mark.parametrize("bins", [1, 3, 700])
def test_many_are_combined_at_few_places_in_their_order(dev, dtype, bins):
    rng = np.random.default_rng(bins)
    at, values = rng.integers(0, bins, 1000), (100 * rng.standard_normal(1000)).astype(dtype)
    for rule in (np.add, np.subtract, np.multiply):
        x, wanted = mat.ones(bins, dtype=dtype), np.ones(bins, dtype)
        with np.errstate(all="ignore"):
            rule.at(wanted, at, values)
            rule.at(x, mat.array(at), mat.array(values))
        assert np.array_equal(np.asarray(x), wanted, equal_nan=dtype != "i4")


def test_one_index_selects_as_several_do(dev):
    a = np.arange(6000.0).reshape(60, 100)
    x, k = mat.array(a), np.array([[3, -1], [59, 0]])
    i, m = mat.array(k), mat.array(a[:, 0] > 2000)
    for _ in range(2):
        assert np.array_equal(np.asarray(x[i]), a[k])
        assert np.array_equal(np.asarray(x[i[:, ::-1]]), a[k[:, ::-1]])
        assert np.array_equal(np.asarray(x[m]), a[np.asarray(m)])
        assert np.array_equal(np.asarray(x[x > 100.0]), a[a > 100.0])
        assert np.array_equal(np.asarray(x[x < 0]), a[a < 0])
        x[i], a[k] = 7.0, 7.0
        x[m], a[np.asarray(m)] = 8.0, 8.0
        assert np.array_equal(np.asarray(x), a)
    for wrong in (mat.array(np.array([60])), m[:-1]):
        with pytest.raises(IndexError):
            x[wrong]


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("size", [10, 1000, 100_000])
def test_memory_of_an_owner_who_did_not_write(dev, monkeypatch, size, exclusive):
    a, b = np.arange(float(size)), np.ones(size)
    x, y = (mat.from_numpy(v, exclusive=exclusive) for v in (a, b))
    for _ in range(2):
        x + y
    with monkeypatch.context() as patch:
        patch.setattr(Seen, "changes", None)  # the slow way of finding out
        for _ in range(2):
            assert np.array_equal(np.asarray(x + y), a + 1)
    b[size // 2] = 7
    if exclusive:
        y.changed()
    assert np.array_equal(np.asarray(x + y), a + b)


def test_memory_of_an_owner_that_a_device_has_written(dev):
    a, b = np.zeros(10), np.ones(10)
    x, y = mat.from_numpy(a), mat.from_numpy(b)
    for _ in range(4):
        x += y
        assert x.fresh == {"cuda:0"}
        b += 1
    a[3] = -1
    x += y  # which does not look at what is overwritten
    with pytest.raises(mat.ConflictError, match="written by its owner"):
        np.asarray(x)
    x.changed()
    assert np.asarray(x).tolist() == a.tolist()


def test_many_integers_are_looked_at_where_they_are_needed(dev, mock):
    x, at = mat.array(np.arange(10.0)), mat.array(np.arange(20_000) % 10)
    mat.take(x, at)
    before = mock.calls("cuLaunchKernel")
    assert at.fresh == {"host", "cuda:0"}
    assert np.array_equal(np.asarray(mat.take(x, at)), np.arange(20_000) % 10)
    assert mock.calls("cuLaunchKernel") - before == 2
    with pytest.raises(IndexError, match="from 1 to 10"):
        mat.take(x, at + 1)


@pytest.fixture
def only_compiled(monkeypatch):
    """Return a function after whose call every launch by way of Python is an error."""
    def begin():
        from mat.cuda.runtime.kernel import CudaKernel  # which needs cuda-core
        monkeypatch.setattr(CudaKernel, "__call__", lambda *_: pytest.fail("launched by Python"))

    return begin


CODES = "bBhHiIlL"


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("rule", [np.add, np.multiply, np.bitwise_and, np.greater, np.floor_divide])
def test_integers_beside_integers(dev, only_compiled, code, rule):
    """Also those that no float represents."""
    info, rng = np.iinfo(code), np.random.default_rng(3)
    a = rng.integers(info.min, info.max, 1000, code, endpoint=True)
    x = mat.array(a)
    numbers = [n for n in (7, 1, -3, info.max, info.max - 1, info.min, 2**53 + 1, -2**40 - 1)
               if info.min <= n <= info.max and n < 2**63]
    for n in 3 * numbers:
        rule(x, n)
    for n in sorted(numbers, key=abs, reverse=True):
        if abs(n) <= 2**53:  # others go by Python
            only_compiled()
        with np.errstate(all="ignore"):
            expected = rule(a, a.dtype.type(n))
        found = rule(x, n)
        assert found.dtype == expected.dtype
        assert np.array_equal(found.to_numpy(), expected), n


@pytest.mark.parametrize("code", CODES + "?")
def test_fills_with_integers(dev, only_compiled, code):
    x = mat.zeros(1000, dtype=code)
    numbers = [True, False] if code == "?" else [
        n for n in (1, 7, -3, np.iinfo(code).max, np.iinfo(code).min) if (
            np.iinfo(code).min <= n <= np.iinfo(code).max and n < 2**63)]
    numbers.append(np.dtype(code).type(1))
    for n in 3 * numbers:
        x.fill_(n)
    for n in sorted(numbers, key=lambda n: abs(int(n)), reverse=True):
        if abs(int(n)) <= 2**53:  # others go by Python
            only_compiled()
        assert (x.fill_(n).to_numpy() == np.full(1000, n, code)).all()


@pytest.mark.parametrize("code", CODES + "?efdFD")
def test_numbers_that_are_assigned(dev, code):
    """They are operands, which a fill has not."""
    x, y = mat.zeros(100, dtype=code), mat.zeros(100, dtype=code)
    for n in (1, 0, 1, 1, 0, 1):
        y.fill_(n)
        x[...] = n
        x[10:20] = 0
        y[:5] = 0
        assert x.to_numpy().tolist() == [n] * 10 + [0] * 10 + [n] * 80
        assert y.to_numpy().tolist() == [0] * 5 + [n] * 95


def test_numbers_that_are_no_such_integers_are_filled_as_before(dev):
    truth, x, large = (mat.zeros(100, dtype=code) for code in ("?", "i4", "u8"))
    for _ in range(3):
        truth.fill_(True), x.fill_(3), large.fill_(3)
    assert truth.fill_(5).to_numpy().tolist() == [True] * 100
    assert truth.fill_(256).to_numpy().tolist() == [True] * 100
    assert x.fill_(5.75).to_numpy().tolist() == [5] * 100
    assert large.fill_(2**64 - 1).to_numpy().tolist() == [2**64 - 1] * 100
    assert (large + (2**64 - 5)).to_numpy().tolist() == [2**64 - 6] * 100


@pytest.mark.parametrize(("shapes", "axis"), [
    ([(1000,), (500,), (1,)], 0), ([(30, 40), (30, 50)], 1), ([(30, 40), (1, 40)], -2),
    ([(6, 5, 40), (6, 2, 40)], 1)])
def test_mats_are_joined_by_launches(dev, only_compiled, shapes, axis):
    arrays = [np.random.default_rng(k).random(shape) for k, shape in enumerate(shapes)]
    mats = [mat.array(a) for a in arrays]
    alike = [mats[0], mats[0] + 1, mats[0][::-1]]
    for _ in range(3):
        mat.concat(mats, axis), np.stack(alike, axis), np.roll(mats[0], 3, axis)
    only_compiled()
    found = mat.concat(mats, axis)
    assert found.fresh == {"cuda:0"}
    assert np.array_equal(found.to_numpy(), np.concatenate(arrays, axis))
    assert np.array_equal(np.concatenate(tuple(mats), axis=axis).to_numpy(),
                          np.concatenate(arrays, axis))
    expected = [arrays[0], arrays[0] + 1, arrays[0][::-1]]
    assert np.array_equal(np.stack(alike, axis).to_numpy(), np.stack(expected, axis))
    assert np.array_equal(np.roll(mats[0], 3, axis).to_numpy(), np.roll(arrays[0], 3, axis))


def test_what_is_joined_otherwise(dev):
    x, y = mat.array(np.arange(10.0)), mat.array(np.arange(5, dtype="f4"))
    host = mat.array(np.arange(3.0))
    host.device_enabled = False
    empty = mat.zeros(0)
    assert mat.concat([x, y]).dtype == np.float64
    assert mat.concat([x, empty, x]).shape == (20,)
    assert mat.concat([x, host]).fresh == {"host"}
    assert mat.concat(iter([x, x])).shape == (20,)
    for wrong in (lambda: mat.concat([x, x.reshape(2, 5)]), lambda: mat.stack([x, x[:3]]),
                  lambda: mat.concat([x, x], 1), lambda: mat.stack([x, x], 3)):
        with pytest.raises((mat.ShapeError, mat.IndexOutOfRange)):
            wrong()


@pytest.mark.parametrize("times", [1, 9])
@pytest.mark.parametrize("count", [2, 3])  # by one launch, or each by its own
def test_a_part_whose_launch_finds_no_room_is_copied_otherwise(dev, mock, count, times):
    x = mat.array(np.arange(N, dtype="f8"))
    for _ in range(3):
        mat.concat(count * [x])
    before = mock.calls("cuLaunchKernel")
    mock.fail("cuLaunchKernel", count - 2, times)
    found = mat.concat(count * [x])
    assert mock.calls("cuLaunchKernel") > before + count - 1
    assert np.array_equal(found.to_numpy(), np.tile(np.arange(N), count))
    assert not x.storage.lock.count


@pytest.mark.parametrize("most", [N, 2 * N])
def test_two_short_parts_are_joined_by_one_launch(dev, mock, only_compiled, monkeypatch, most):
    monkeypatch.setattr(joining, "_ONE_LAUNCH", most)
    a = np.arange(N, dtype="f4").reshape(100, -1)
    x, y = mat.array(a), mat.array(-a)[:, ::-1]
    for _ in range(3):
        joined = [mat.concat([x, y], axis) for axis in (0, 1)]
        stacked = [mat.stack([x, y], axis) for axis in (0, 1, 2)]
    only_compiled()
    before = mock.calls("cuLaunchKernel")
    mat.concat([x, y]), mat.stack([x, y], 1)
    assert mock.calls("cuLaunchKernel") - before == (2 if most > N else 4)
    for axis, found in enumerate(joined):
        assert np.array_equal(found.to_numpy(), np.concatenate([a, -a[:, ::-1]], axis))
    for axis, found in enumerate(stacked):
        assert np.array_equal(found.to_numpy(), np.stack([a, -a[:, ::-1]], axis))


def test_masks_of_any_lengths_share_a_plan(dev, only_compiled):
    a = np.arange(N, dtype="f8")
    x = mat.array(a)
    rows = x.reshape(300, 100)
    for k in (7, 8, 9):
        x[mat.array(a < k)], rows[mat.array(a[:300] < k)]
    only_compiled()
    for k in (0, 1, 100, 299, 20_000, N):
        assert np.array_equal(x[mat.array(a < k)].to_numpy(), a[:k])
        mask = a[:300] % 300 >= 300 - min(k, 300)
        assert np.array_equal(rows[mat.array(mask)].to_numpy(), a.reshape(300, 100)[mask])


def test_memory_for_results_is_allocated_at_once(dev, only_compiled):
    """Also for those that `out=` names, which have none yet."""
    x, y = mat.array(np.arange(N, dtype="f8")), mat.array(np.ones(N))
    for _ in range(3):
        mat.add(x, y, out=mat.empty(N)), x.copy()
    only_compiled()
    out = mat.zeros(N)
    assert mat.add(x, y, out=out) is out
    assert out.fresh == {"cuda:0"}
    assert np.array_equal(out.to_numpy(), np.arange(N) + 1)
    assert np.array_equal(x.copy().to_numpy(), np.arange(N))
    with out.facet("array", "input"), pytest.raises(mat.ConflictError):
        mat.add(x, y, out=out)


def test_blocks_of_a_loop_are_used_again(dev, monkeypatch):
    """Those of temporary Mats of several sizes: none waits in another container for its size."""
    x = mat.array(np.arange(N, dtype="f8"))
    mask = x > N / 2
    for _ in range(3):
        x[mask]
    collected = []
    monkeypatch.setattr(Pooled, "_collect", lambda *given: collected.append(given))
    for _ in range(5):
        assert x[mask].size == N - N // 2 - 1
    assert not collected
