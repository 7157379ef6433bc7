"""Memory of others: what its owner writes is seen by a device's copy, and is never overwritten by
one.
"""

import array
import os
import threading
import warnings
from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.matrix import foreign_storage
from mat.memories import change_stamps, page_tracking

from ..support.selection import most

pytestmark = pytest.mark.host  # these use devices of their own

SIZES = [3, 1000, 30_000, 300_000]  # of one block, copied in parts, and larger than digests


@pytest.fixture(params=["emulated", "tiles", "cuda"])
def device(request):
    """The arguments by which a device is used."""
    if request.param == "cuda":
        request.getfixturevalue("cuda")
        return {"name": "cuda", "required": True}
    return {"name": "emulated", "pool_bytes": 100_000 if request.param == "tiles" else None}


@pytest.fixture(params=["pages", "digests"])
def way(request, monkeypatch):
    """How large memory is looked at."""
    if request.param == "digests":
        monkeypatch.setattr(change_stamps, "page_tracking", lambda: None)
        monkeypatch.setattr(foreign_storage, "_warned", True)
    elif page_tracking.page_tracking() is None:
        pytest.skip("this system does not track pages")
    return request.param


def use(device):
    return mat.use_device(device["name"], **{k: v for k, v in device.items() if k != "name"})


WRITES_OF_NOTHING = {"x[2:2] = 3": lambda x: x.__setitem__(slice(2, 2), 3),
                     "add_": lambda x: x[2:2].add_(1), "put": lambda x: np.put(x, [], 3),
                     "fill_": lambda x: x[2:2].fill_(3)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("write", WRITES_OF_NOTHING)
def test_what_writes_no_element_is_no_change_of_a_device(device, way, size, write):
    buf = np.zeros(size)
    x = mat.from_numpy(buf)
    with use(device):
        for i in range(3):
            WRITES_OF_NOTHING[write](x)
            buf[...] = i
            assert x.sum().item() == i * size
    assert_array_equal(buf, 2)


@pytest.mark.parametrize("size", SIZES)
def test_a_staging_loop_sees_every_value(device, way, size):
    buf = np.empty(size)
    x = mat.from_numpy(buf)
    with use(device):
        for i in range(4):
            buf[...] = i
            y = x * 4
            assert_array_equal(y.to_numpy(), 4 * i)
            assert x.sum().item() == i * size


@pytest.mark.parametrize("of", [mat.asarray, mat.from_dlpack,
                                lambda a: mat.Mat(a.shape, a.dtype, buffer=a),
                                lambda a: mat.from_numpy(a[::2]), lambda a: mat.from_numpy(a.T)])
@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
def test_any_way_and_dtype(device, of, dtype):
    a = np.zeros((20, 30), dtype)
    x = of(a)
    with use(device):
        for i in range(3):
            a[...] = i
            assert_array_equal((x + x).to_numpy(), 2 * i)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("at", [0, 0.5, 1])
def test_one_element(device, way, size, at):
    a = np.zeros(size)
    k = int(at * (size - 1))
    x = mat.from_numpy(a)
    with use(device):
        for i in range(1, 4):
            assert x.sum() == i * (i - 1) / 2
            a[k] += i
            assert x[k:k + 1].sum() == a[k]


def test_signs_that_change_in_all_elements(device):
    a = np.ones(4096)
    x = mat.from_numpy(a)
    with use(device):
        assert x.sum() == 4096
        a *= -1
        assert x.sum() == -4096
        a[:2048] *= 2
        assert x.max() == -1
        a[:] = a[::-1].copy()
        assert x[0] == -1


def test_parts_are_looked_at(device, way):
    a = np.zeros((300, 1000))
    x = mat.from_numpy(a)
    with use(device):
        for i in range(1, 5):
            a[i * 10] = i
            assert x[i * 10:i * 10 + 3].sum().item() == 1000 * i
            assert x[:, 7].sum().item() == i * (i + 1) / 2
    assert_array_equal(x.to_numpy(), a)


def test_random_programs(device, way, rng):
    a, wanted = np.zeros(200_000), np.zeros(200_000)
    x = mat.from_numpy(a)
    for _ in range(most(15, 3)):
        with use(device):
            for _ in range(6):
                start, stop = sorted(rng.integers(a.size, size=2))
                what = rng.integers(4)
                if what == 0:
                    x[start:stop] += 1
                    wanted[start:stop] += 1
                elif what == 1:
                    with x.facet("array", "input"):
                        pass  # what the device has changed comes home
                    a[start:stop] = wanted[start:stop] = start
                elif what == 2:
                    with x[start:stop].facet("array", "io") as part:
                        part += 2
                    wanted[start:stop] += 2
                assert_array_equal(x[start:stop].copy().to_numpy(), wanted[start:stop])
        assert_array_equal(a, wanted)


def _write_on_both_sides(x, a, device, write):
    with use(device):
        write(x)
        a[1] = 7


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("write", [lambda x: x.fill_(5), lambda x: x.add_(5),
                                   lambda x: x[:2].add_(5)])
def test_what_the_owner_wrote_is_not_overwritten(device, way, size, write):
    a = np.zeros(size)
    x = mat.from_numpy(a)

    maybe = device.get("pool_bytes") and size > 10_000  # tiles may be at home already
    conflict = pytest.raises(mat.ConflictError, match="by its owner")
    with suppress(mat.ConflictError) if maybe else conflict:
        _write_on_both_sides(x, a, device, write)
    wanted = a.copy()
    assert a[1] == 7
    assert x.changed() is x
    assert_array_equal(a, wanted)
    if size > 10 and x[:2].fresh:
        assert x[1] == 7
    del x
    assert_array_equal(a, wanted)


def test_what_else_brings_it_home(device):
    a = np.zeros(2000)

    def home(how):
        x = mat.from_numpy(a)
        with use(device):
            x.fill_(5)
            a[1] += 1
            try:
                with pytest.raises(mat.ConflictError, match=r"written by its owner.*x.changed"):
                    how(x)
                assert (x.copy() == 5).all()
            finally:
                x.changed()

    home(lambda x: x.to_numpy())
    home(lambda x: mat.prefetch(to_host=[x]).__enter__())
    home(lambda x: mat.from_numpy(a).sum())
    home(np.asarray)


def test_changed_of_a_part(device):
    a = np.zeros(50_000)
    x = mat.from_numpy(a, exclusive=True)
    with use(device):
        x += 1
        x.to_numpy()
        x[:100].fill_(3)
        a[200:300] = 9
        x[200:300].changed()
        assert x.sum().item() == 300 + 900 + 49_800
    assert_array_equal(a[:301], [3] * 100 + [1] * 100 + [9] * 100 + [1])


@pytest.mark.unchecked("it writes after the end of a block, as an owner does")
def test_changed_of_our_own_memory(device):
    x = mat.zeros(10)
    with pytest.raises(mat.ConflictError, match="has no memory"):
        x.changed()
    with use(device):
        with x.facet("foreign", "input") as p:
            address = p.base_pointer
        assert x.sum() == 0
        mat.support.native.ffi.buffer(address, 80)[:8] = np.array([3.]).tobytes()
        assert x.changed().sum() == 3
    with x.facet("array", "input"), pytest.raises(mat.ConflictError, match="during the access"):
        x.changed()


@pytest.mark.unchecked("the check verifies exclusive=True")
def test_exclusive_looks_at_nothing(device, monkeypatch):
    monkeypatch.setattr(foreign_storage, "stamps_of", None)
    a = np.zeros(300_000)
    for x in (mat.from_numpy(a, exclusive=True), mat.asarray(a, exclusive=True),
              mat.from_dlpack(a, exclusive=True)):
        with use(device):
            assert x.sum() == 0
            x += 1
        assert a[5] == 1
        a[:] = 0
        assert x.changed()[5] == 0


def test_exclusive_is_checked_with_directions():
    a = np.zeros(30)
    x, y = mat.from_numpy(a, exclusive=True), mat.from_numpy(a)
    with mat.debug.check_directions(), mat.use_device("emulated"):
        assert x.sum() == y.sum() == 0
        a[3] = 1
        assert y.sum() == 1
        with pytest.raises(mat.DirectionError, match=r"exclusive=True.*changed\(\)"):
            x.sum()
        assert x.changed().sum() == 1


def test_a_write_during_an_access():
    a = np.zeros(30)
    x = mat.from_numpy(a)
    with mat.use_device("emulated"), x.facet("emulated", "input"):
        assert x.sum() == 0
        a[3] = 1
        with pytest.raises(mat.ConflictError, match="written by its owner during the access"):
            x[:5].sum()
    assert x.sum() == 1


def test_the_warning_about_time(monkeypatch):
    monkeypatch.setattr(change_stamps, "page_tracking", lambda: None)
    monkeypatch.setattr(foreign_storage, "_warned", False)
    a = np.zeros(300_000)
    with mat.use_device("emulated"), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        x, y = mat.from_numpy(a), mat.from_numpy(a)
        x.sum()
        y.sum()
        mat.from_numpy(a, exclusive=True).sum()
    assert [w.category for w in found] == [mat.PerformanceWarning]
    assert "exclusive=True" in str(found[0].message)
    assert found[0].filename == __file__


def test_neither_memory_of_our_own_nor_the_host_are_looked_at(monkeypatch):
    monkeypatch.setattr(foreign_storage, "stamps_of", None)
    x, a = mat.ones(300_000), np.ones(300_000)
    y = mat.from_numpy(a)
    a[5] = 7
    assert (x + y)[5] == 8
    with mat.use_device("emulated"):
        x += x
        assert x.sum() == 600_000


def test_threads_that_write(way):
    a = np.zeros(200_000)
    x = mat.from_numpy(a)
    with mat.use_device("emulated"):
        assert x.sum() == 0
        for i in range(5):
            thread = threading.Thread(target=a.fill, args=(i,))
            thread.start()
            thread.join()
            assert x.sum() == i * a.size


def test_what_the_system_writes(way, tmp_path):
    a = np.zeros(200_000)
    (tmp_path / "x").write_bytes(np.ones(200_000).tobytes())
    x = mat.from_numpy(a)
    with mat.use_device("emulated"), (tmp_path / "x").open("rb", buffering=0) as file:
        assert x.sum() == 0
        file.readinto(a.view("u1"))
        assert x.sum() == a.size


def test_a_mapped_file_written_by_another_map(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(300_000))
    a = np.load(tmp_path / "x.npy", mmap_mode="r+")
    b = np.load(tmp_path / "x.npy", mmap_mode="r+")
    x = mat.from_numpy(a)
    with mat.use_device("emulated"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert x.sum() == 0
        b[77] = 3
        assert x.sum() == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_looks_itself(way):
    a = np.zeros(200_000)
    x = mat.from_numpy(a)
    with mat.use_device("emulated"):
        assert x.sum() == 0
        pid = os.fork()
        if not pid:
            code = 1
            try:
                a[3] = 5
                assert x.sum() == 5
                x += 1
                assert x.to_numpy()[3] == 6
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
        a[4] = 1
        assert x.sum() == 1


def test_several_mats_share_what_the_system_says(way):
    a = np.zeros(400_000)
    x, y = mat.from_numpy(a), mat.from_numpy(a[100_000:])
    with mat.use_device("emulated"):
        for i in range(1, 5):
            a[200_000] = i
            assert x.sum() == i
            assert y.sum() == i
        del x
        a[200_000] = 9
        assert y.sum() == 9

@pytest.mark.parametrize("length", [20 * change_stamps.BLOCK, 20 * change_stamps.BLOCK + 5000])
def test_a_write_beside_a_mat_is_no_change_of_it(way, length):
    """Memory beside each other in pages of one block, as arrays on the heap are."""
    both = np.zeros(2 * length + 10_000, "uint8")
    begin = -both.ctypes.data % 4096 + 1000
    one, other = (mat.from_numpy(both[low:low + length]) for low in (begin, begin + length))
    with mat.use_device("emulated"):
        one.fill_(1)
        other.fill_(2)
        both[begin + length + 8192] = 7
        with pytest.raises(mat.ConflictError):
            other.to_numpy()
        assert_array_equal(one.to_numpy(), np.ones(length))
        other.changed()
    assert both[begin + length:begin + 2 * length].sum() == 7


def test_tensors_by_their_version(device):
    torch = pytest.importorskip("torch")
    t = torch.zeros(300_000)
    x = mat.from_dlpack(t)
    with use(device):
        for i in range(4):
            t.fill_(i)
            assert x.mean().item() == i
            t[5:].add_(0)
        x.fill_(3)
        t.fill_(1)
        with pytest.raises(mat.ConflictError, match="written by its owner"):
            x.to_numpy()
        assert x.changed().mean().item() == 1
    with torch.inference_mode():
        t = torch.zeros(3)
    x = mat.from_dlpack(t)
    with use(device), torch.inference_mode():
        assert x.sum() == 0
        t[0] = 1
        assert x.sum() == 1


def test_buffers(device):
    data = array.array("d", [0.0] * 5)
    x = mat.Mat(5, "float64", buffer=data)
    with use(device):
        for i in range(3):
            data[2] = i
            assert x.sum() == i


@pytest.mark.parametrize("nbytes", [0, 1, 7, 63, 64, 65, 4096, 70_001])
def test_digests_differ_by_any_byte(nbytes, rng):
    a = rng.integers(256, size=nbytes + 8, dtype="u1")
    at = a.ctypes.data + 3
    found = change_stamps.digests(at, nbytes)
    assert_array_equal(found, change_stamps.digests(at, nbytes))
    assert found.size == -(-nbytes // change_stamps.BLOCK)
    for k in {0, nbytes // 2, nbytes - 1} if nbytes else ():
        a[3 + k] ^= 1 << rng.integers(8)
        changed = change_stamps.digests(at, nbytes)
        assert (changed != found).sum() == 1
        found = changed


# What mat itself has written, if it fails

@pytest.mark.parametrize("part", [slice(None), slice(0, 9000)])
@pytest.mark.parametrize("size", [4, 20_000])
def test_what_a_failed_block_left_is_no_write_of_the_owners(size, part):
    a = np.arange(float(size))
    x = mat.from_numpy(a)
    with mat.use_device("emulated"):
        x += 1
        with suppress(ZeroDivisionError), x[part].facet("array", "io") as home:
            home[...] = 9
            raise ZeroDivisionError
        assert_array_equal(x, np.arange(float(size)) + 1)
    assert_array_equal(x, np.arange(float(size)) + 1)
    assert_array_equal(a, np.arange(float(size)) + 1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("direction", ["io", "output"])
def test_a_failed_block_does_not_revert_what_the_owner_wrote(device, way, size, direction):
    a = np.zeros(size)
    x = mat.from_numpy(a)
    with use(device):
        assert not (x * 2).any()
        a[1] = 9
        with suppress(ZeroDivisionError), x.facet("array", direction):
            raise ZeroDivisionError
        with pytest.raises(mat.TornError):
            x.sum()
        assert x.accept_torn()[1] == 9
        assert (x * 2).sum() == 18
    assert a[1] == a.sum() == 9
