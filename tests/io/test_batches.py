"""``mat.batches``: what its parts are, in which order, and how many bytes are copied for them."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import ConflictError, DTypeError, SettingError, ShapeError
from mat.memories import file_pages

from ..support.mock_memories import line

N, SIZE, EPOCHS = 2000, 300, 3
BATCHES = -(-N // SIZE)
on_host = pytest.mark.host


@pytest.fixture
def mats():
    """Rows of 20 numbers and a label each: 336,000 bytes."""
    return mat.array(np.arange(20.0 * N).reshape(N, 20)), mat.array(np.arange(N))


def rows(batches):
    """The rows of an epoch, in its order."""
    return np.concatenate([b.to_numpy() for b in batches])


# Parts


@pytest.mark.parametrize(("n", "size", "lengths"), [
    (7, 3, [3, 3, 1]), (6, 3, [3, 3]), (2, 5, [2]), (0, 4, []), (1, 1, [1])])
@pytest.mark.parametrize("shuffle", [False, True])
def test_every_row_is_in_one_batch(n, size, lengths, shuffle):
    x = mat.array(np.arange(2.0 * n).reshape(n, 2))
    batches = mat.batches(x, size=size, shuffle=shuffle)
    found = [b.to_numpy() for b in batches]
    assert [len(b) for b in found] == lengths
    assert len(batches) == len(lengths)
    if n:
        assert_array_equal(sorted(np.concatenate(found).tolist()), x.to_numpy())


@pytest.mark.parametrize("shuffle", [False, True])
def test_several_mats_are_in_step(mats, shuffle):
    x, y = mats
    for a, b, c in mat.batches(x, y, x[:, 1:3], size=SIZE, shuffle=shuffle, seed=1):
        assert_array_equal(a.to_numpy()[:, 0], 20.0 * b.to_numpy())
        assert_array_equal(a.to_numpy()[:, 1:3], c.to_numpy())


def test_one_mat_gives_mats_and_several_give_tuples(mats):
    x, y = mats
    assert isinstance(next(iter(mat.batches(x, size=2))), mat.Mat)
    found = next(iter(mat.batches(x, y, size=2)))
    assert (type(found), len(found)) == (tuple, 2)


@on_host
def test_batches_in_order_are_views(mats):
    x, _ = mats
    assert all(b.base is x for b in mat.batches(x, size=SIZE))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_rows_that_lie_apart(shuffle, device):
    a = np.arange(30_000.0).reshape(10, 3000)
    with mat.use_device(device):
        for x in (mat.array(a).T, mat.array(a.T)[::-2], mat.array(a).T[:, 3]):
            found = rows(mat.batches(x, size=400, shuffle=shuffle))
            assert_array_equal(found if not shuffle else np.sort(found, axis=0),
                               x.to_numpy() if not shuffle else np.sort(x.to_numpy(), axis=0))


# Orders


def test_each_epoch_has_another_order_and_equal_seeds_the_same_ones(mats):
    _, y = mats
    one, other = (mat.batches(y, size=SIZE, shuffle=True, seed=7) for _ in range(2))
    epochs = [rows(one) for _ in range(EPOCHS)]
    for found in epochs:
        assert_array_equal(found, rows(other))
        assert_array_equal(np.sort(found), np.arange(N))
    assert not any((a == b).all() for a, b in itertools.pairwise(epochs))
    assert not np.array_equal(rows(mat.batches(y, size=SIZE, shuffle=True, seed=8)), epochs[0])


def test_the_order_does_not_depend_on_size_and_device(mats):
    _, y = mats
    wanted = rows(mat.batches(y, size=N, shuffle=True, seed=7))
    for device, pool in [("cpu", None), ("emulated", None), ("emulated", 20_000)]:
        with mat.use_device(device, pool_bytes=pool):
            assert_array_equal(rows(mat.batches(y, size=17, shuffle=True, seed=7)), wanted)


def test_without_a_seed_the_default_stream_decides(mats):
    _, y = mats
    found = []
    for _ in range(2):
        mat.seed(3)
        found.append(rows(mat.batches(y, size=SIZE, shuffle=True)))
    assert_array_equal(*found)
    assert not np.array_equal(found[0], rows(mat.batches(y, size=SIZE, shuffle=True)))


def test_an_order_is_no_identity():
    y = mat.arange(5)
    assert [b.tolist() for b in mat.batches(y, size=3, shuffle=True, seed=1)] == [[4, 3, 1], [2, 0]]


# Bytes


def counted(batches):
    """The bytes that are copied to the device in each epoch, while batches are computed with."""
    with mat.debug.trace() as t:
        marks = []
        for _ in range(EPOCHS):
            for a, b in batches:
                a.sum(axis=1) + b
            marks.append(sum(c.nbytes for c in t.copies if c.source == "host"))
    return np.diff([0, *marks]).tolist()


@on_host
def test_what_fits_is_copied_once_for_all_epochs(mats):
    nbytes = sum(x.nbytes for x in mats)
    with mat.use_device("emulated", pool_bytes=1_000_000):
        assert counted(mat.batches(*mats, size=SIZE)) == [nbytes, 0, 0]
    order = 8 * N  # integers, by which the device selects rows
    with mat.use_device("emulated", pool_bytes=1_000_000):
        found = counted(mat.batches(*mats, size=SIZE, shuffle=True))
    assert found == [nbytes + order, order, order]


@on_host
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("pool", [120_000, 300_000])
def test_what_does_not_fit_is_copied_once_an_epoch(mats, shuffle, pool):
    nbytes = sum(x.nbytes for x in mats)
    with mat.use_device("emulated", pool_bytes=pool):
        found = counted(mat.batches(*mats, size=SIZE, shuffle=shuffle))
    assert found[0] == max(found) == nbytes  # some of it may stay


@on_host
def test_the_next_batch_is_copied_while_one_is_used(mats):
    x, _ = mats
    with mat.use_device("emulated", pool_bytes=300_000), mat.debug.trace() as t:
        for k, b in enumerate(mat.batches(x, size=SIZE)):
            here = line() - 1
            assert b.fresh == {"host", "emulated"}
            assert len(t.copies) == k + 1
            assert len(x.storage.accesses) == (k + 1 < BATCHES)
    assert {c.line for c in t.copies} == {f"{__file__}:{here}"}


@on_host
def test_a_pool_of_one_batch_is_enough(mats):
    x, _ = mats
    with mat.use_device("emulated", pool_bytes=50_000):  # of 48,000
        assert_array_equal(rows(mat.batches(x, size=SIZE)), x.to_numpy())


@on_host
def test_on_the_host_nothing_is_copied(mats):
    with mat.debug.count_copies() as n:
        list(mat.batches(*mats, size=SIZE))
    assert (n.h2d, n.d2h, n.packs) == (0, 0, 0)


# Files


@on_host
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("pool", [1_000_000, 300_000])
def test_files(mats, tmp_path, shuffle, pool):
    x, y = mats
    mat.save(tmp_path / "x.npy", x)
    theirs = mat.open_memmap(tmp_path / "x.npy", "r")
    with mat.use_device("emulated", pool_bytes=pool):
        found = counted(mat.batches(theirs, y, size=SIZE, shuffle=shuffle))
        more = 8 * N * shuffle
        if pool < 336_000:
            assert found[0] == max(found) == 336_000
        else:
            assert found == [336_000 + more, more, more]
        for a, b in mat.batches(theirs, y, size=SIZE, shuffle=shuffle):
            assert_array_equal(a.to_numpy(), x.to_numpy()[b.to_numpy()])


@on_host
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_batch_after_the_next_is_read_from_its_file(mats, tmp_path, monkeypatch, shuffle):
    x, _ = mats
    mat.save(tmp_path / "x.npy", x)
    theirs = mat.open_memmap(tmp_path / "x.npy", "r")
    read = []
    monkeypatch.setattr(file_pages.FilePages, "is_cached", lambda *_: False)
    monkeypatch.setattr(file_pages.FilePages, "announce",
                        lambda pages, begin, end: read.append((begin, end)))
    batches = iter(mat.batches(theirs, size=SIZE, shuffle=shuffle, seed=2))
    next(batches)
    row, head = 160, 128
    wanted = [[head + row * r for r in (k * SIZE, (k + 1) * SIZE)] for k in (1, 2)]
    if shuffle:
        order = rows(mat.batches(mat.arange(N), size=N, shuffle=True, seed=2)).tolist()
        wanted = [(head + row * r, head + row * (r + 1)) for r in order[SIZE:3 * SIZE]]
    assert read == [tuple(w) for w in wanted]


# Devices and ends


@on_host
def test_the_device_is_in_use_while_a_batch_is(mats):
    x, _ = mats
    for b in mat.batches(x, size=SIZE, device="emulated"):
        assert (b + 1).fresh == {"emulated"}
    assert str((x + 1).device) == "cpu"
    assert x.fresh == {"host"}


@on_host
def test_a_loop_that_is_left_leaves_nothing(mats):
    x, _ = mats
    for b in mat.batches(x, size=SIZE, device="emulated"):
        assert str(b.device) == "emulated"
        break
    assert str(x.device) == "cpu"
    assert not x.storage.accesses
    x += 1


@on_host
def test_writing_what_is_being_copied_is_a_conflict(mats):
    x, _ = mats
    with mat.use_device("emulated") as device:
        device.delayed = True
        try:
            batches = iter(mat.batches(x, size=SIZE))
            next(batches)
            with mat.use_device("cpu"), pytest.raises(ConflictError, match="prefetched at"):
                x[SIZE:2 * SIZE] += 1
        finally:
            device.delayed = False
            del batches
    x += 1


# Errors


@on_host
@pytest.mark.parametrize(("mats", "size", "error", "text"), [
    ((), 2, ShapeError, "a first axis, got none"),
    ((mat.ones(3), mat.ones(())), 2, ShapeError, "a first axis, got <Mat 3>, <Mat ()>"),
    ((mat.ones(3), mat.ones(4, 2)), 2, ShapeError, "equally long first axes, got lengths 3, 4"),
    ((mat.ones(3), np.ones(3)), 2, DTypeError, "takes Mats, got ndarray"),
    ((mat.ones(3),), 0, SettingError, "above 0, got 0"),
    ((mat.ones(3),), 1.0, SettingError, "above 0, got 1.0"),
    ((mat.ones(3),), True, SettingError, "above 0, got True")])
def test_errors(mats, size, error, text):
    with pytest.raises(error, match=text.replace("(", r"\(").replace(")", r"\)")):
        mat.batches(*mats, size=size)


@on_host
def test_a_seed_is_checked():
    with pytest.raises(SettingError, match="seed must be from 0"):
        mat.batches(mat.ones(3), size=1, shuffle=True, seed=-1)


@on_host
def test_what_it_prints():
    assert repr(mat.batches(mat.ones(5, 2), mat.arange(5), size=2)) == (
        "<batches: 3 of up to 2 of <Mat 5x2>, <Mat 5 int64>>")
