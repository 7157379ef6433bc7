"""Cached blocks of a device: lengths that differ a little share them, and they are bounded."""

from random import Random

import numpy as np
import pytest

import mat
from mat.errors import DeviceError, OutOfDeviceMemory
from mat.memories.pooled import LARGE, SLACK, size_class


def test_classes():
    assert [size_class(n) for n in (0, 1, 512, 513, 65_536)] == [0, 512, 512, 1024, 65_536]
    assert [size_class(n) for n in (65_537, 131_072, 131_073)] == [73_728, 131_072, 147_456]
    for n in (*range(1, 70_000, 77), *(k * 31_337 for k in range(3, 9000, 101))):
        found = size_class(n)
        assert n <= found <= max(n + 511, n * 9 // 8)
        assert size_class(found) == found


@pytest.mark.sample(5)
@pytest.mark.parametrize("least", [100, 1000, 30_000, 100_000, 400_000])
def test_lengths_that_differ_a_little_do_not_fill_the_pool(least):
    with mat.use_device("emulated", pool_bytes=400_000_000) as device:
        device.memory.trim()
        for k in range(400):
            x = mat.ones(least + 37 * k)
            assert (x + 1).sum() == 2 * x.size
        assert device.memory.kept <= 16 << 20  # a few of each class below 1 MB
        assert device.memory.used + device.memory.kept <= device.memory.limit


@pytest.fixture(params=["emulated", "cuda"])
def name(request):
    if request.param == "cuda":
        request.getfixturevalue("cuda")
    return request.param


@pytest.mark.parametrize("order", [list, sorted, lambda sizes: sorted(sizes)[::-1]],
                         ids=["random", "ascending", "descending"])
@pytest.mark.parametrize("kept", [0, 20])
@pytest.mark.parametrize(("least", "most"), [(100, 50_000), (60_000, 140_000), (100, 1_000_000),
                                             (500_000, 1_000_000)])
def test_what_is_held_is_bounded_by_what_was_in_use(least, most, kept, order, name):
    random, live, peak = Random(1), [], 0
    sizes = order([random.randrange(least, most) // 8 + 1 for _ in range(400)])
    with mat.use_device(name) as device:
        memory = device.memory
        memory.trim()
        for n in sizes:
            live.append(mat.ones(n) + 1)
            peak = max(peak, memory.used)
            if len(live) > kept:
                live.pop(random.randrange(len(live)))
            assert memory.used + memory.kept <= 1.3 * peak + SLACK
        assert (mat.ones(sizes[0]) + 1 == 2).all()


def test_sizes_that_come_again_are_not_given_up(monkeypatch):
    sizes = [100, 2000, 30_000, 100_000]
    with mat.use_device("emulated") as device:
        device.memory.trim()
        for n in sizes:
            mat.ones(n) + 1
        made = []
        monkeypatch.setattr(device.memory, "raw_allocate", made.append)
        for n in sizes * 5:
            mat.ones(n) + 1
    assert made == []


def test_the_limit_holds_and_elements_are_right():
    random, live = Random(3), []
    with mat.use_device("emulated", pool_bytes=300_000) as device:
        for k in range(600):
            n = random.randrange(1, 4000)
            live.append((mat.full(n, float(k)) + 1, k + 1))
            assert device.memory.used + device.memory.kept <= 300_000
            if len(live) > 12:
                x, value = live.pop(random.randrange(len(live)))
                assert x.size * value == x.sum()
        mat.memory_report()
        assert all((x.to_numpy() == value).all() for x, value in live)


@pytest.mark.parametrize("sizes", [(1000, 990), (1000, 1), (20_000, 19_000)])
def test_writes_beyond_a_reused_block_are_noticed(sizes):
    large, small = sizes

    def beyond(a):
        np.lib.stride_tricks.as_strided(a, (a.size + 1,), a.strides)[-1] = 3

    with mat.use_device("emulated") as device:
        device.memory.trim()
        x = mat.ones(large)
        x + 1
        x.drop("emulated")
        y = mat.zeros(small)
        with y.facet("emulated", "io") as e:
            device.launch(lambda a: a.fill(1), e)
            with pytest.raises(DeviceError, match="were overwritten"):
                device.launch(beyond, e)


def test_large_blocks_are_returned_to_the_device():
    with mat.use_device("emulated") as device:
        device.memory.trim()
        x = mat.ones(LARGE)
        (x + 1).sum()
        x.drop("emulated", force=True)
        del x
        mat.ones(3) + 1
        assert device.memory.kept < LARGE


def test_tries_at_the_edge_are_few(monkeypatch):
    """A device that has less than the limit allows is asked few times: each time it waits."""
    with mat.use_device("emulated") as device:
        memory, has = device.memory, 400_000
        memory.trim()
        allocate, asked = memory.raw_allocate, []

        def limited(nbytes):
            asked.append(nbytes)
            if memory.used + memory.kept + nbytes > has:
                raise OutOfDeviceMemory("full")
            return allocate(nbytes)

        monkeypatch.setattr(memory, "raw_allocate", limited)
        x = [mat.ones(1250 + k) for k in range(38)]
        for one in x:
            one.add_(0)
        asked.clear()
        y = mat.ones(40_000)
        y.add_(1)
        assert len(asked) <= 4
        assert y.sum() == 80_000
        assert all(one.sum() == one.size for one in x)


def test_finalizers_free_handles_while_others_are_set_aside():
    with mat.use_device("emulated") as device:
        freed = device.memory._freed

        class Large:
            @property
            def room(self):
                freed.append(object())  # as a finalizer does, at any time
                return LARGE + 1

        large = [Large(), Large()]
        freed.extend(large)
        device.memory._set_aside()
        assert list(freed) == large
        freed.clear()
