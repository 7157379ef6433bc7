"""The emulated device finds what it is there to find: stray pointers and writes, early reads, stale
arrays.
"""

import errno
import itertools
import os
import sys

import numpy as np
import pytest
from cffi import FFI
from numpy.testing import assert_array_equal

import mat
from mat import DeviceError
from mat.devices import emulated as emulated_module
from mat.devices.device import device_named
from mat.devices.emulated_array import BAND, FREED, FRESH, GUARD

pytestmark = pytest.mark.host


@pytest.fixture
def dev():
    with mat.use_device("emulated") as dev:
        yield dev
        dev.delayed = False
        dev.fail(h2d=0, d2h=0, allocation=0, launch=0)


def raw(x):
    """The block of `x`."""
    return x.storage.handles[device_named("emulated").memory]


def test_addresses_are_opaque_and_those_of_the_visible_elements(dev):
    x = mat.arange(10.0)
    with x[2:5].facet("emulated", "input") as p, x.facet("emulated", "input") as q:
        assert p.pointer == p.address == q.pointer + 16
        assert (p.shape, p.strides, p.size, p.dtype) == ((3,), (1,), 3, np.dtype("float64"))
        assert repr(p).startswith(f"<EmulatedArray {p.pointer:#x} shape (3,)")
        with pytest.raises(TypeError):
            memoryview(p)
        with pytest.raises((TypeError, ValueError)):
            np.asarray(p).sum() + 0.0


@pytest.mark.skipif(os.name == "nt", reason="its system calls are others")
def test_the_host_can_neither_read_nor_write_there(dev):
    ffi = FFI()
    ffi.cdef("ssize_t read(int, void *, size_t); ssize_t write(int, const void *, size_t);")
    libc, (end, begin) = ffi.dlopen(None), os.pipe()
    os.write(begin, b"abc")
    x = mat.arange(10.0)
    with x.facet("emulated", "input") as p:
        for address in (p.pointer, p.pointer + 79):  # a system call says it, and does not end us
            for call, file in ((libc.write, begin), (libc.read, end)):
                assert call(file, ffi.cast("void *", address), 1) == -1
                assert ffi.errno == errno.EFAULT
    os.close(end)
    os.close(begin)


@pytest.mark.parametrize("most", [0, 4096, 1 << 36])
def test_addresses_are_given_once(monkeypatch, most):
    monkeypatch.setattr(emulated_module, "RESERVED", most)
    addresses = emulated_module.Addresses()
    blocks = sorted((addresses.take(n), n) for n in (8, 1000, 3000, 5000, 0, 4096, 8, 1 << 37))
    assert len(addresses._reserved) == {0: 0, 4096: 2, 1 << 36: 1}[most] or sys.platform != "linux"
    for (first, n), (second, _) in itertools.pairwise(blocks):
        assert first + n + 2 * GUARD <= second
        assert first % 256 == 0


def test_computing_there(dev):
    x, y = mat.arange(3.0), mat.zeros(3)
    with mat.with_facets((x, "emulated", "input"), (y, "emulated", "output")) as (p, q):
        dev.launch(lambda a, b, by: np.multiply(a, by, out=b), p, q, 3)
    assert y.fresh == {"emulated"}
    assert_array_equal(y.to_numpy(), [0, 3, 6])


def test_what_is_only_read_cannot_be_written(dev):
    x = mat.ones(3)
    with x.facet("emulated", "input") as p, pytest.raises(ValueError, match="read-only"):
        dev.launch(lambda a: a.fill(7), p)
    assert x.to_numpy().tolist() == [1, 1, 1]


@pytest.mark.parametrize(("at", "text"), [(-1, "8 bytes before"), (5, "8 bytes after")])
def test_writing_beside_a_block_is_found(dev, at, text):
    x = mat.ones(5)

    def stray(a):
        np.lib.stride_tricks.as_strided(raw(x).raw[GUARD % 8:].view(np.float64),
                                        (21,))[GUARD // 8 + at] = 7.5
        a[0] = 2

    with pytest.raises(DeviceError, match=text), x.facet("emulated", "io") as p:
        dev.launch(stray, p)
    assert (raw(x).raw[:GUARD] == BAND).all()  # whole again: the next fault is reported by itself


@pytest.mark.unchecked("the check has poison of its own")
def test_memory_is_poisoned_when_it_is_new_and_when_it_is_freed(dev):
    x = mat.empty(4)
    with x.facet("emulated", "output"):
        block = raw(x)
        assert set(block.bytes.tolist()) == {FRESH}
        dev.launch(lambda: block.bytes.fill(0))
    x.drop("emulated", force=True)
    dev.memory.trim()
    assert set(block.bytes.tolist()) == {FREED}


@pytest.mark.unchecked("the check has poison of its own")
@pytest.mark.parametrize("delayed", [False, True])
def test_memory_that_is_used_again_is_poisoned_unless_all_of_it_is_written(dev, delayed):
    dev.memory.trim()
    x = mat.array(np.arange(40.0))
    with x.facet("emulated", "input"):
        block = raw(x)
    x.drop("emulated", force=True)
    dev.delayed = delayed
    y = mat.empty(40)
    with y.facet("emulated", "output") as p:
        assert raw(y) is block
        dev.launch(lambda a: None, p)
        dev.synchronize()
        assert set(block.bytes.tolist()) == {FRESH}
    y.drop("emulated", force=True)
    z = mat.array(np.ones(33))  # takes a block of as many bytes in the pool, or fewer
    with z.facet("emulated", "input"):
        dev.synchronize()
        assert_array_equal(raw(z).bytes[:264].view(np.float64), np.ones(33))
        assert set(raw(z).bytes[264:].tolist()) <= {FRESH}
    dev.delayed = False


@pytest.mark.unchecked("uses an array after its block")
def test_arrays_of_freed_memory_are_refused(dev):
    x = mat.ones(4)
    with x.facet("emulated", "io") as p:
        pass
    x.drop("emulated", force=True)
    with pytest.raises(DeviceError, match="after they had been freed"):
        dev.launch(lambda a: None, p)


def test_arrays_of_another_device_are_refused(dev):
    x = mat.ones(4)
    with x.facet("emulated", "input") as p, mat.use_device("emulated:1") as other:
        with pytest.raises(DeviceError, match="memory of emulated"):
            other.launch(lambda a: None, p)
        with pytest.raises(DeviceError, match="host memory"):
            other.check(np.zeros(3))


def test_transfers_are_counted(dev):
    before = dict(dev.transfers)
    x = mat.array(np.ones(10))
    x += 1
    x.to_numpy()
    assert {k: dev.transfers[k] - before[k] for k in before} == {"h2d": 80, "d2h": 80, "d2d": 0}


@pytest.mark.unchecked("the check waits for the device at the end of each access")
def test_work_can_be_put_off_until_somebody_waits(dev):
    dev.delayed = True
    x = mat.array(np.ones(4))
    y = x + x
    block = raw(y)
    assert set(block.bytes.tolist()) == {FRESH}  # a read that is too early finds poison
    assert_array_equal(y.to_numpy(), np.full(4, 2.0))  # the library waits
    assert mat.blas.dot(x, y) == 8.0
    z = mat.zeros(3)
    z.exp_()
    dev.synchronize()
    assert raw(z).bytes.view(np.float64).tolist() == [1, 1, 1]


def test_a_source_may_be_changed_while_its_transfer_is_put_off(dev):
    dev.delayed = True
    a = np.ones(4)
    x = mat.from_numpy(a)
    y = x * 2
    with x.facet("array", "io") as b:
        b[...] = 7
    assert_array_equal(y.to_numpy(), np.full(4, 2.0))


def test_an_allocation_that_fails_is_tried_again_after_others_made_room(dev):
    x, y = mat.ones(5), mat.ones(6)
    dev.fail(allocation=1)
    x += 1  # there is no other copy: in tiles, which need less
    dev.fail(allocation=1)
    y += 1
    assert (x.fresh, y.fresh) == ({"host"}, {"emulated"})
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (2, 2)


@pytest.mark.parametrize("what", ["h2d", "d2h", "launch"])
def test_what_fails_loses_nothing(dev, what):
    x = mat.array(np.arange(5.0))
    if what == "d2h":
        x += 1
    dev.fail(**{what: 1})
    with pytest.raises(DeviceError, match=f"this {what} was requested to fail"):
        x.to_numpy() if what == "d2h" else x.add_(1)
    if what != "d2h":
        x += 1
    assert_array_equal(x.to_numpy(), np.arange(5.0) + 1)


def test_only_known_things_fail(dev):
    with pytest.raises(DeviceError, match="teleport"):
        dev.fail(teleport=1)


def test_single_elements_travel_alone(dev):
    x = mat.zeros(1000)
    x += 1
    before = dict(dev.transfers)
    x[3] = 5
    assert (x[3], x.fresh) == (5, {"emulated"})
    assert {k: dev.transfers[k] - before[k] for k in before} == {"h2d": 8, "d2h": 8, "d2d": 0}


def test_printing_moves_only_what_it_shows(dev):
    x = mat.zeros(100_000)
    x += 1
    before = dict(dev.transfers)
    assert repr(x).startswith("<Mat 100000 E")
    assert x.fresh == {"emulated"}
    assert dev.transfers["d2h"] - before["d2h"] < 1000


def test_a_block_that_is_freed_twice_is_given_once(dev):
    pool = dev.memory
    pool.trim()
    block = pool.take(80)
    pool.free(block)
    pool.free(block)
    first, second = pool.take(80), pool.take(80)
    assert first is not second
    assert pool.used == 160
    del first, block
    assert pool.used == 80


def test_the_block_that_a_loop_freed_last_belongs_to_the_next_result(dev):
    pool, x = dev.memory, mat.ones(10)
    with mat.use_device("emulated"):
        x + x
        before = pool.used, pool.kept
        for _ in range(5):
            x + x
        assert (pool.used, pool.kept) in (before, (before[0] - 80, before[1] + 80))
        y = x + x
        assert pool.block_at(y.storage.handles[pool].address)[1] is y.storage
