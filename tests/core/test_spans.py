"""Accesses to parts: what they copy, which of them conflict, and what a failed one leaves."""

import contextlib
import threading
from io import StringIO

import numpy as np
import pytest

import mat
from mat.core.span_copy import SpanCopy

pytestmark = pytest.mark.host
ROWS, COLUMNS = 1000, 250  # 2 MB


@pytest.fixture
def dev():
    with mat.use_device("emulated") as device:
        device.transfers.update(dict.fromkeys(device.transfers, 0))
        yield device


def big():
    return mat.array(np.arange(ROWS * COLUMNS, dtype=float).reshape(ROWS, COLUMNS))


def moved(device):
    found = sum(device.transfers.values())
    device.transfers.update(dict.fromkeys(device.transfers, 0))
    return found


def in_thread(function):
    """Call a function in another thread; raise its error."""
    errors = []

    def run():
        try:
            function()
        except Exception as error:
            errors.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def shown(x):
    out = StringIO()
    mat.show(x, out)
    return out.getvalue()


class Planned(Exception):
    pass


# What is copied


def test_some_rows_move_alone(dev):
    x, w = big(), mat.ones(COLUMNS, 3)
    y = x[100:132] @ w
    assert moved(dev) <= 2 * 32 * COLUMNS * 8
    np.testing.assert_allclose(y.to_numpy(), x.to_numpy()[100:132] @ np.ones((COLUMNS, 3)))


def test_a_part_that_becomes_needless_while_it_is_read_is_freed_afterwards(dev):
    x = big()
    part = x[:50]
    with part.facet("emulated", "input"):
        pass
    with part.facet("emulated", "input"):  # which changes nothing, and neither does its end
        assert [c.size for c in x.storage.spans.copies] == [x.size, 50 * COLUMNS]
        with x.facet("emulated", "input"):
            assert len(x.storage.spans.copies) == 3
        assert len(x.storage.spans.copies) == 3
    assert x.storage.spans is None
    assert x.fresh == {"host", "emulated"}


def test_accesses_that_change_nothing_do_nothing_else(dev, monkeypatch):
    x = big()
    parts = [x[k:k + 50] for k in range(0, ROWS - 50, 50)]  # but for the last rows
    for part in parts:
        part.sum()
    assert len(x.storage.spans.copies) == 1 + len(parts)
    monkeypatch.setattr("mat.core.spans.Spans.tidy", None)
    monkeypatch.setattr("mat.core.spans.refresh", None)
    for part in parts:
        with part.facet("emulated", "input"):
            pass


def in_parts(x, use):
    for k in range(0, ROWS, 100):
        use(x[k:k + 100])


def test_parts_that_have_all_elements_become_one_copy(dev):
    x = big()
    in_parts(x, lambda part: part.sum())
    assert x.storage.spans is None
    assert x.fresh == {"host", "emulated"}
    y = mat.zeros(ROWS, COLUMNS)
    y[:] = x
    in_parts(y, lambda part: part.add_(1))
    assert y.fresh == {"emulated"}
    np.testing.assert_array_equal(y.to_numpy(), x.to_numpy() + 1)
    in_parts(y, lambda part: part.sum())  # the host's is the newer one
    y[0] = 7
    np.testing.assert_array_equal(y.to_numpy()[[0, 1]], [[7] * COLUMNS, x.to_numpy()[1] + 1])


def test_the_copies_that_join_parts_stay_on_the_device(dev):
    x = big()
    with mat.debug.count_copies() as n:
        in_parts(x, lambda part: part.sum())
    assert dev.transfers == {"h2d": x.nbytes, "d2h": 0, "d2d": x.nbytes}
    assert (n.h2d, n.d2h) == (ROWS // 100, 0)


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("index", [np.s_[10:20], np.s_[:, 3:5], np.s_[7:8, 5:6], np.s_[::9, ::9]])
def test_parts_go_directly_to_another_device_that_can_copy_them(dev, monkeypatch, index, direct):
    x, expected = big(), big().to_numpy() + 1
    x += 1
    part, nbytes = x[index], expected[index].nbytes
    with mat.use_device("emulated:1") as other:
        if not direct:
            monkeypatch.setattr(type(other.memory), "copy_runs_from",
                                mat.extend.Memory.copy_runs_from)
        with mat.debug.count_copies() as n:
            part *= 2.0
        assert part.fresh == {"emulated:1"}
        assert (n.h2d, n.d2h, n.bytes) == ((0, 0, nbytes) if direct else (1, 1, 2 * nbytes))
    expected[index] *= 2
    np.testing.assert_array_equal(x.to_numpy(), expected)


@pytest.mark.parametrize("pool", [2.5, 1.5])
def test_parts_are_joined_where_there_is_room(pool):
    x = big()
    with mat.use_device("emulated", pool_bytes=int(pool * x.nbytes)):
        for _ in range(2):
            in_parts(x, lambda part: part.sum())
        assert (x.storage.spans is None) == (pool > 2)


def test_parts_in_use_are_not_joined(dev):
    x = big()
    with x[:10].facet("emulated", "input"):
        in_parts(x, lambda part: part.sum())
        assert len(x.storage.spans.copies) == ROWS // 100 + 2
    x[:10].keep("emulated")
    in_parts(x, lambda part: part.sum())
    assert x.storage.spans is not None


def test_a_device_that_cannot_join_parts_goes_on_with_them(dev, monkeypatch):
    def fail(*_):
        raise mat.DeviceError("no copy")

    x = big()
    monkeypatch.setattr(dev.memory, "copy_runs", fail)
    in_parts(x, lambda part: part.sum())
    assert x.storage.spans.whole_in(dev.memory) is None
    assert len(x.storage.spans.copies) == ROWS // 100 + 1
    in_parts(x, lambda part: part.add_(1))
    np.testing.assert_array_equal(x.to_numpy(), big().to_numpy() + 1)


def test_a_pool_much_smaller_than_the_whole():
    x = big()
    with mat.use_device("emulated", pool_bytes=128 << 10):
        total = sum(float(x[k:k + 8].sum()) for k in range(0, ROWS, 8))
    assert total == ROWS * COLUMNS * (ROWS * COLUMNS - 1) / 2


def test_an_epoch_moves_every_row_once(dev):
    x = big()
    for _ in range(2):
        for k in range(0, ROWS, 50):
            x[k:k + 50].sum()
    assert dev.transfers["h2d"] == x.nbytes


def test_a_loop_over_many_rows_has_few_parts(dev):
    x = mat.array(np.arange(80_000.0).reshape(4000, 20))  # 640 KB, which 80 parts are worth
    for k in range(70):
        x[k].sum()
    assert len(x.storage.spans.copies) <= 68  # those after the 64th share one
    for k in range(70, 4000):
        x[k].sum()
    assert x.storage.spans is None
    moved(dev)
    total = sum(float(x[k].sum()) for k in range(0, 4000, 50))
    assert dev.transfers["h2d"] == 0
    assert total == x.to_numpy()[::50].sum()


@pytest.mark.parametrize("shape", [(100_000, 5), (500, 1001)])
def test_many_parts_of_much_become_wider(dev, shape):
    x = mat.array(np.arange(float(np.prod(shape))).reshape(shape))  # 4 MB
    rows = list(range(0, shape[0], shape[0] // 500))
    for step in (1, -1):
        assert sum(float(x[k].sum()) for k in rows[::step]) == x.to_numpy()[rows].sum()
        assert x.storage.spans is None or len(x.storage.spans.copies) < 250
    x[rows[3]] += 1
    expected = np.arange(float(np.prod(shape))).reshape(shape)
    expected[rows[3]] += 1
    np.testing.assert_array_equal(x.to_numpy(), expected)


def test_parts_are_wide_where_there_is_room_only():
    x = mat.array(np.arange(400_000.0).reshape(40_000, 10))  # 3.2 MB
    with mat.use_device("emulated", pool_bytes=64 << 10):
        total = sum(float(x[k].sum()) for k in range(0, 40_000, 80))
    assert total == x.to_numpy()[::80].sum()


@pytest.mark.parametrize("index", [slice(500, 501), (slice(None), 7)])
def test_a_part_written_on_the_host_moves_alone(dev, index):
    x = big()
    x.sum()
    moved(dev)
    with mat.use_device("cpu"):
        x[index].fill_(1.0)
    assert moved(dev) == 0
    total = float(x.sum())
    assert moved(dev) <= 64 << 10
    assert total == x.to_numpy().sum()


def test_a_row_written_on_the_device_is_read_alone(dev):
    x = big()
    x += 1.0
    moved(dev)
    assert x[500].to_numpy()[0] == 500 * COLUMNS + 1
    assert moved(dev) <= 64 << 10


def test_output_copies_nothing_through_any_view(dev):
    x = big()
    for index in (slice(3, 9), (slice(None), slice(0, 100))):
        with x[index].facet("emulated", "output") as a:
            dev.launch(lambda b: b.fill(2.0), a)
        assert moved(dev) == 0
    expected = np.arange(ROWS * COLUMNS, dtype=float).reshape(ROWS, COLUMNS)
    expected[3:9] = expected[:, :100] = 2.0
    np.testing.assert_array_equal(x.to_numpy(), expected)


def test_output_of_very_many_runs_keeps_what_is_between_them(dev):
    x = mat.ones(60, 200).fill_(3.0)
    x[:, ::2].fill_(1.0)  # 6,000 runs, on the device
    expected = np.full((60, 200), 3.0)
    expected[:, ::2] = 1.0
    np.testing.assert_array_equal(x.to_numpy(), expected)


def test_prefetch_copies_a_part_and_work_waits_for_it():
    x = big()
    with mat.use_device("emulated") as dev:
        dev.transfers["h2d"] = 0
        dev.delayed = True
        try:
            with mat.prefetch(to_device=[x[10:20]]) as under_way:
                assert under_way.count == 1
                with pytest.raises(mat.ConflictError, match="prefetch"), mat.use_device("cpu"):
                    x[12].fill_(0.0)
                with mat.use_device("cpu"):
                    x[30].fill_(0.0)
                assert float(x[10:20].sum()) == np.arange(2500.0, 5000.0).sum()
            assert dev.transfers["h2d"] == 10 * COLUMNS * 8
        finally:
            dev.delayed = False


def test_the_trace_names_the_elements():
    x = big()
    with mat.debug.trace() as t, mat.use_device("emulated"):
        x[2:4] += 1.0
        x[2:4].to_numpy()
    assert [(e.nbytes, "[500:1000]" in e.mat) for e in t.copies] == [(4000, True)] * 2


def test_a_part_is_kept_and_dropped():
    x = big()
    with mat.use_device("emulated", pool_bytes=100_000) as dev:
        with x[10:20].keep("emulated"):
            x[10:20].fill_(1.0)
            x[200:230].sum()  # makes room, but not of what is kept
            assert "kept" in shown(x)
            with pytest.raises(mat.ConflictError, match="keep"):
                x[15].drop("emulated")
            assert x[200:210].drop("emulated")
        with pytest.raises(mat.ConflictError, match="only copy"):
            x[15].drop("emulated")
        assert not x[300:310].drop("emulated")
        x[10:20].to_numpy()
        assert x[15].drop("emulated")
        assert (x[10:20].sum(), moved(dev) > 0) == (2500.0, True)


@pytest.mark.parametrize("held", [lambda part: part.keep("emulated"),
                                  lambda part: part.facet("emulated", "input")])
@pytest.mark.parametrize("use", [lambda x: x.sum(), lambda x: x[15:400].sum(),
                                 lambda x: x[12:14].sum(), lambda x: x[200:].add_(1)])
def test_a_block_that_uses_more_than_a_part_held_around_it_drops_the_rest(dev, held, use):
    x, expected = big(), big()
    with mat.use_device("cpu"):
        use(expected)
    with held(x[10:20]):
        with mat.barrier(ensure="host", drop="emulated"):
            use(x)
        assert [(c.start, c.stop) for c in x.storage.spans.copies
                if c.memory is dev.memory] == [(10 * COLUMNS, 20 * COLUMNS)]
    np.testing.assert_array_equal(x.to_numpy(), expected.to_numpy())


def test_what_is_written_around_a_kept_part_is_not_lost():
    x = big()
    with x[10:20].keep("emulated"), mat.use_device("emulated"):
        x += 1
        x[100:300] *= 2
    expected = big().to_numpy() + 1
    expected[100:300] *= 2
    assert x.fresh == {"host"}
    np.testing.assert_array_equal(x.to_numpy(), expected)


# Conflicts


def test_two_threads_write_disjoint_parts(dev):
    x = mat.zeros(ROWS, COLUMNS)
    for mine, other in (((slice(0, 500),), (slice(500, None),)),
                        ((slice(None), slice(0, 100)), (slice(None), slice(100, None))),
                        ((slice(0, 30), slice(0, None, 2)), (slice(0, 30), slice(1, None, 2)))):
        with x[mine].facet("array", "io") as a:
            a[...] = 1.0
            in_thread(lambda other=other: x[other].fill_(2.0))
        assert (float(x[mine].sum()), float(x[other].sum())) == (x[mine].size, 2 * x[other].size)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_threads_write_interleaved_columns_of_a_tall_matrix(device):
    x = mat.zeros(100_000, 3)

    def write():
        with mat.use_device(device):
            x[:, 1].fill_(2.0)
            with pytest.raises(mat.ConflictError):
                x[5:7, 2].sum()

    with x[:, ::2].facet("array", "io") as a:
        a[...] = 1.0
        in_thread(write)
    np.testing.assert_array_equal(x.to_numpy(), np.broadcast_to([1.0, 2.0, 1.0], (100_000, 3)))
    with contextlib.suppress(Planned), x[:, ::2].facet("array", "io"):
        in_thread(write)
        raise Planned
    with pytest.raises(mat.TornError):
        x[:, :2].sum()
    np.testing.assert_array_equal(x[:, 1].to_numpy(), np.full(100_000, 2.0))


def test_the_host_and_a_device_write_disjoint_rows(dev):
    x = mat.zeros(ROWS, COLUMNS)
    with x[:10].facet("array", "output") as a, x[10:20].facet("emulated", "output") as b:
        a[...] = 1.0
        dev.launch(lambda c: c.fill(2.0), b)
    np.testing.assert_array_equal(x.to_numpy()[:, 0], [1.0] * 10 + [2.0] * 10 + [0.0] * 980)


def test_a_shared_element_is_a_conflict_that_names_both(dev):
    x = mat.zeros(ROWS, COLUMNS)
    with x[:10].facet("array", "io"):
        with pytest.raises(mat.ConflictError) as caught:
            in_thread(lambda: x[9:12].facet("array", "io").__enter__())
        assert x[9:12].label() in str(caught.value)
        assert x[:10].label() in str(caught.value)


# Failures


def write_and_fail(view):
    with view.facet("array", "io") as a:
        a[...] = -1.0
        raise Planned


def fail(view):
    with pytest.raises(Planned):
        write_and_fail(view)


def test_a_failed_block_tears_its_own_elements_only():
    x = mat.zeros(ROWS, COLUMNS).fill_(3.0)
    fail(x[5:7])
    assert "torn" in repr(x)
    assert "torn" not in repr(x[:5])
    assert float(x[7:].sum()) == 3.0 * 993 * COLUMNS
    with pytest.raises(mat.TornError):
        x[6:8].to_numpy()
    x[5:7].fill_(4.0)
    assert float(x.sum()) == 3.0 * 998 * COLUMNS + 4.0 * 2 * COLUMNS


def test_a_failed_block_is_rolled_back_where_another_copy_is_fresh(dev):
    x = mat.zeros(ROWS, COLUMNS).fill_(3.0)
    with mat.use_device("cpu"):
        x[0].fill_(1.0)
    fail(x[0:2])
    with pytest.raises(mat.TornError):  # the host had the only copy of row 0
        x[0].to_numpy()
    assert x[1].to_numpy().tolist() == [3.0] * COLUMNS
    with mat.use_device("cpu"):
        x[0].fill_(2.0)
    assert float(x.sum()) == 2.0 * COLUMNS + 3.0 * 999 * COLUMNS


def test_interleaved_writers_keep_their_own_outcome():
    x = mat.zeros(30, COLUMNS).fill_(3.0)
    with x[:, ::2].facet("array", "io") as a:
        a[...] = 5.0
        in_thread(lambda: fail(x[:, 1::2]))
    assert float(x[:, ::2].sum()) == 5.0 * 30 * COLUMNS / 2
    with pytest.raises(mat.TornError):
        x[:, 1].to_numpy()


def test_what_is_shown_is_of_parts():
    x = big()
    with mat.use_device("emulated"):
        x[2:4] += 1.0
        assert "emulated [500:1000]" in shown(x)
        assert "fresh 0:500, 1000:250000" in shown(x)
        assert x[2:4].fresh == {"emulated"}
        assert x[10:12].fresh == {"host"}
    assert x[2:4].fresh == {"host"}


def test_another_thread_discards_a_copy_of_all_elements_while_its_use_is_noted(dev, monkeypatch):
    x = big()
    x.sum()
    with x[:3].facet("array") as a:
        a[...] = 5
    whole, = (c for c in x.storage.spans.copies if c.memory is dev.memory)
    assert whole.whole
    near = SpanCopy.near

    def discard(copy, runs):
        monkeypatch.undo()
        in_thread(lambda: x.drop(dev.memory.name))
        return near(copy, runs)
    monkeypatch.setattr(SpanCopy, "near", discard)
    x.storage.note_use(dev.memory, x)
    assert dev.memory not in x.storage.handles
    assert x[:4].to_numpy()[2:, 0].tolist() == [5, 3 * COLUMNS]
