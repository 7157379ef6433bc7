"""Pickles: every protocol, in band and out of band, every dtype and layout; unpickled Mats own
their memory; invalid parts are refused.
"""

import copy
import io
import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import FormatError, TornError
from mat.interop.pickling import unpickled

from ..support.layouts import LAYOUTS, numbers, place
from ..support.mock_memories import in_thread

SHAPES = [(), (0,), (3,), (2, 3), (2, 0, 3), (4, 1, 2)]


def in_band(x, protocol):
    return pickle.loads(pickle.dumps(x, protocol))


def by_python(x, protocol):
    """Use the pickler and unpickler that are written in Python."""
    file = io.BytesIO()
    pickle._Pickler(file, protocol).dump(x)
    file.seek(0)
    return pickle._Unpickler(file).load()


def apart(x, protocol):
    """Pickle out of band, as between processes: the buffers are copied."""
    buffers = []
    head = pickle.dumps(x, protocol, buffer_callback=buffers.append)
    moved = [bytearray(b) for b in buffers]
    del buffers
    return pickle.loads(head, buffers=moved)


def here(x, protocol):
    """Pickle out of band, and unpickle the same buffers."""
    buffers = []
    head = pickle.dumps(x, protocol, buffer_callback=buffers.append)
    return pickle.loads(head, buffers=buffers)


WAYS = [(way, protocol) for way in (in_band, by_python)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
WAYS += [(apart, 5), (here, 5)]
ways = pytest.mark.parametrize(("way", "protocol"), WAYS, ids=[f"{w.__name__}{p}" for w, p in WAYS])


def check_own(y, x):
    """Check that `y` is a packed, writable Mat in host memory that shares nothing with `x`."""
    assert type(y) is type(x)
    assert y.is_contiguous
    assert y.size == y.max_size
    assert y.displacement == 0
    before = x.to_numpy()
    y.fill_(1)
    assert_array_equal(x.to_numpy(), before, strict=True)
    if x.layout.injective:
        y.fill_(0)
        x.fill_(1)
        assert not y.to_numpy().any()


def laid_out(rng, name, layout, shape):
    values = numbers(rng, shape, "float32" if name == "bfloat16"
                     else name).astype(mat.zeros(1, dtype=name).dtype)
    return place(values, layout), values


@ways
@pytest.mark.parametrize("name", mat.supported_dtypes)
@pytest.mark.sample(5)
def test_every_dtype_arrives(way, protocol, name, rng):
    for layout in ("packed", "block_of_transposed"):
        for device in ("cpu", "emulated"):
            x, values = laid_out(rng, name, layout, (2, 3))
            with mat.use_device(device):
                if device != "cpu":
                    with x.facet(device):  # that is the only copy that is fresh now
                        pass
                y = way(x, protocol)
            assert y.dtype == values.dtype
            assert_array_equal(y.to_numpy(), values, strict=True)
            check_own(y, x)


@ways
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.sample(3)
def test_every_layout_arrives_packed(way, protocol, layout, rng):
    for shape in SHAPES:
        x, values = laid_out(rng, "float64", layout, shape)
        y = way(x, protocol)
        assert_array_equal(y.to_numpy(), values, strict=True)
        check_own(y, x)


@ways
def test_broadcasts_are_unpickled_whole(way, protocol):
    x = mat.arange(3.0).broadcast_to(2, 3)
    y = way(x, protocol)
    assert y.tolist() == [[0, 1, 2], [0, 1, 2]]
    check_own(y, x)


@ways
def test_read_only_mats_are_unpickled_writable(way, protocol):
    a = np.arange(4.0)
    a.flags.writeable = False
    y = way(mat.from_numpy(a), protocol)
    y.fill_(7)
    assert a.tolist() == [0, 1, 2, 3]


def test_only_visible_elements_are_pickled():
    x = mat.zeros(1000, 1000)
    x.fill_(1)
    assert len(pickle.dumps(x[:2, :3], 4)) < 400
    buffers = []
    head = pickle.dumps(x[:2, :3], 5, buffer_callback=buffers.append)
    assert [b.raw().nbytes for b in buffers] == [48]
    assert len(head) < 200


def test_the_head_is_small_out_of_band():
    buffers = []
    x = mat.arange(1 << 18, dtype=float)
    assert len(pickle.dumps(x, 5, buffer_callback=buffers.append)) < 200
    assert sum(b.raw().nbytes for b in buffers) == x.nbytes


@pytest.mark.parametrize("fill", [0, 1, 2.5, None, np.float64(3.0)])
@ways
def test_mats_that_were_never_written_are_unpickled_so(way, protocol, fill):
    x = mat.Mat((1000, 1000), fill=fill)
    assert len(pickle.dumps(x, protocol)) < 400
    assert x.fresh == set()
    y = way(x, protocol)
    assert y.fresh == set()
    assert y.fill_value == fill
    assert type(y.fill_value) in (int, float, type(None))
    if fill is not None:
        assert y.item(7) == fill


@ways
def test_a_mat_that_this_thread_writes_is_pickled_as_it_is_now(way, protocol):
    for x in (mat.zeros(3), mat.arange(3.0)):
        with x.facet("array", "io") as a:
            a[:] = 5
            y = way(x, protocol)
            a[:] = 6
        assert y.tolist() == [5, 5, 5]


@ways
def test_settings_of_the_mat_are_pickled(way, protocol):
    x = mat.full(3, 4, "float32")
    x.device_enabled = False
    x.fill_(1)
    y = way(x, protocol)
    assert not y.device_enabled
    if protocol == 3:  # that of joblib.hash, by which equal elements give equal bytes
        assert y.fill_value is None
        return
    assert y.fill_value == 4
    y.close()
    assert y.tolist() == [4, 4, 4]


@ways
def test_unpickled_mats_have_exactly_a_host_copy(way, protocol):
    x = mat.arange(4.0)
    with mat.use_device("emulated"):
        z = x + x
        z + z
        y = way(x, protocol)
    assert y.fresh == {"host"}
    assert set(y.facets) == {"array"}
    assert y.drop("host", force=True)


@pytest.mark.host
@ways
def test_from_a_device_nothing_is_marked(way, protocol):
    with mat.use_device("emulated"):
        x = mat.arange(12.0).reshape(3, 4)
        x = x + x
        y = x[1:, ::2]
        assert (x.fresh, list(x.facets)) == ({"emulated"}, ["emulated"])
        z = way(y, protocol)
        assert (x.fresh, list(x.facets)) == ({"emulated"}, ["emulated"])
        assert not x.storage.accesses
    assert z.fresh == {"host"}
    assert z.tolist() == [[8, 12], [16, 20]]


@pytest.mark.host
@ways
def test_from_cuda(way, protocol, cuda):
    with mat.use_device("cuda"):
        x = mat.arange(12.0).reshape(3, 4)
        x = x + x
        z = way(x[1:, ::2], protocol)
        assert x.fresh == {"cuda:0"}
    assert z.tolist() == [[8, 12], [16, 20]]


@ways
def test_torn_data_is_not_sent(way, protocol):
    x = mat.arange(3.0)
    with pytest.raises(ZeroDivisionError), x.facet("array") as a:
        a[0] = 1 / 0
    with pytest.raises(TornError):
        way(x, protocol)
    x.accept_torn()
    assert way(x, protocol).tolist() == [0, 1, 2]


@pytest.mark.host
@pytest.mark.parametrize("protocol", range(6))
def test_another_thread_pickles_what_a_device_has(protocol):
    """As those of multiprocessing's pools do."""
    with mat.use_device("emulated"):
        x = mat.arange(5.0) + 1
        assert x.fresh == {"emulated"}
        found = pickle.loads(in_thread(lambda: pickle.dumps(x.T, protocol)))
        assert found.tolist() == [1, 2, 3, 4, 5]
        x += 1
        assert x.sum() == 20


def test_a_mat_that_another_thread_writes_is_not_pickled():
    x = mat.arange(3.0)
    with x.facet("array"):
        for protocol in (4, 5):
            with pytest.raises(mat.ConflictError, match="test_pickle"):
                in_thread(lambda p=protocol: pickle.dumps(x, p))


@ways
def test_views_are_unpickled_apart_and_one_mat_once(way, protocol):
    x = mat.arange(6.0)
    a, b, c, d = way([x, x[:3], x, np.arange(3.0)], protocol)
    assert a is c
    a.fill_(9)
    assert b.tolist() == [0, 1, 2]
    assert d.tolist() == [0, 1, 2]


class Named(mat.Mat):
    """A Mat with an attribute of its own."""


@ways
def test_subclasses_are_unpickled_as_such(way, protocol):
    x = Named((2, 2), fill=3)
    x.name = "w"
    for y in (way(x, protocol), way(x.fill_(4), protocol)):
        assert type(y) is Named
        assert y.name == "w"
        assert y.tolist() == x.tolist() or y.item(0) == 3


# Memory that is sent


def test_packed_elements_are_sent_without_a_copy():
    x = mat.arange(1000.0)
    for view in (x, x[10:20], x.reshape(10, 100)[3:]):
        buffers = []
        pickle.dumps(view, 5, buffer_callback=buffers.append)
        with view.facet("array", "input") as a:
            assert np.shares_memory(a, np.frombuffer(buffers[0], np.uint8))
        assert buffers[0].raw().nbytes == view.nbytes


def test_mats_in_pickle_buffers_cannot_be_written():
    x = mat.arange(4.0)
    buffers = []
    head = pickle.dumps(x, 5, buffer_callback=buffers.append)
    with pytest.raises(mat.ConflictError, match=r"test_pickle\.py"):
        x[:2].fill_(1)
    assert (x + x).item(1) == 2  # reading it is fine
    y = pickle.loads(head, buffers=buffers)
    y.fill_(1)
    del buffers[:]
    x.fill_(2)
    assert y.tolist() == [1] * 4


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_in_band_pickles_leave_no_export(protocol):
    x = mat.arange(4.0)
    data = pickle.dumps(x, protocol)
    x.fill_(1)
    y = pickle.loads(data)
    y += 1
    assert pickle.loads(data).tolist() == [0, 1, 2, 3]


# Memory of unpickled Mats


def test_writable_memory_is_adopted():
    buffers = []
    head = pickle.dumps(mat.arange(1000.0), 5, buffer_callback=buffers.append)
    memory = bytearray(buffers[0])
    y = pickle.loads(head, buffers=[memory])
    with y.facet("array", "input") as a:
        assert np.shares_memory(a, np.frombuffer(memory, np.uint8))


def test_two_unpickled_mats_never_share_memory():
    buffers = []
    head = pickle.dumps(mat.arange(8.0), 5, buffer_callback=buffers.append)
    for given in ([bytearray(buffers[0])], buffers, [bytes(buffers[0])],
                  [memoryview(bytes(buffers[0]))]):
        y, z = (pickle.loads(head, buffers=given) for _ in range(2))
        y.fill_(5)
        assert z.tolist() == list(range(8))
        z.fill_(6)
        assert y.tolist() == [5] * 8


@pytest.mark.host
def test_memory_can_be_adopted_again_once_its_mat_is_garbage():
    buffers = []
    head = pickle.dumps(mat.arange(8.0), 5, buffer_callback=buffers.append)
    memory = bytearray(buffers[0])
    y = pickle.loads(head, buffers=[memory])
    y.fill_(5)
    del y
    z = pickle.loads(head, buffers=[memory])
    assert z.tolist() == [5] * 8  # the bytes that are there now
    z.fill_(0)
    assert not any(memory)


def test_memory_at_odd_addresses_is_copied():
    buffers = []
    head = pickle.dumps(mat.arange(8.0), 5, buffer_callback=buffers.append)
    frame = bytearray(1) + bytearray(buffers[0])
    y = pickle.loads(head, buffers=[memoryview(frame)[1:]])
    frame[:] = bytes(len(frame))
    assert y.tolist() == list(range(8))


def test_bytes_of_the_other_order_are_turned_round():
    other = "big" if sys.byteorder == "little" else "little"
    a = np.array([1, 2, -3], "int32")
    assert unpickled(mat.Mat, (3,), "int32", other, 0, True,
                     a.byteswap().tobytes()).tolist() == [1, 2, -3]
    c = np.array([1 + 2j], "complex64")
    assert unpickled(mat.Mat, (1,), "complex64", other, 0, True,
                     bytearray(c.byteswap().tobytes())).tolist() == [1 + 2j]


GOOD = {"kind": mat.Mat, "shape": (2, 3), "dtype": "float32", "byteorder": sys.byteorder, "fill": 0,
        "device_enabled": True,
        "elements": bytes(24)}
BAD = [{"kind": v} for v in (int, "Mat", None, print, mat.zeros)]
BAD += [{"shape": v} for v in ((2, 2), (2, 4), (2, -3), (-2, -3), (1 << 40, 1 << 40), (2.0, 3.0),
                               "23", None, (2, (3,)), (6.0,),
                               {}, ())]
BAD += [{"dtype": v} for v
        in ("float64", "object", "O", "U3", "V4", "f4,f4", ">f4", "x", None, 4, np.float32, ["f4"],
            "float99", "bool", "datetime64[ns]")]
BAD += [{"byteorder": v} for v in ("", None, "<", 1)]
BAD += [{"fill": v} for v in ("0", [1], 1j, mat.zeros(1), object())]
BAD += [{"device_enabled": v} for v in (None, 1, "yes")]
BAD += [{"elements": v} for v in (b"", bytes(23), bytes(25), bytearray(48), "x" * 24, 24, [0] * 24,
                                  memoryview(bytes(48))[::2],
                                  np.zeros(7, "f4"))]


@pytest.mark.parametrize("change", BAD, ids=lambda c: next(iter(c)))
def test_parts_that_do_not_fit_are_refused(change):
    unpickled(**GOOD)
    with pytest.raises(FormatError):
        unpickled(**{**GOOD, **change})


def test_a_pickle_that_promises_much_takes_little():
    head = pickle.dumps(mat.zeros(1 << 20, 1 << 20), 5)
    with mat.debug.count_allocations() as n:
        y = pickle.loads(head)
    assert y.fresh == set()
    assert n.count == 1
    with pytest.raises(FormatError, match="8796093022208"):
        unpickled(mat.Mat, (1 << 20, 1 << 20), "float64", sys.byteorder, 0, True, bytes(8))


def test_shortened_pickles_are_errors(rng):
    data = pickle.dumps(mat.arange(20.0), 4)
    for n in (*range(0, len(data), 7), len(data) - 1):
        with pytest.raises((pickle.UnpicklingError, EOFError, FormatError, ValueError)):
            pickle.loads(data[:n])


# Across processes

CHILD = """
import pickle, sys, mat
head, *buffers = pickle.load(sys.stdin.buffer)
x = pickle.loads(head, buffers=[bytearray(b) for b in buffers])
y = (x * 2)[::-1]
buffers = []
head = pickle.dumps(y, 5, buffer_callback=buffers.append)
sys.stdout.buffer.write(pickle.dumps([head, *map(bytes, buffers)]))
"""


@pytest.mark.host
def test_there_and_back_out_of_band():
    buffers = []
    head = pickle.dumps(mat.arange(1000.0).reshape(10, 100), 5, buffer_callback=buffers.append)
    done = subprocess.run([sys.executable, "-c", CHILD],
                          input=pickle.dumps([head, *map(bytes, buffers)]), capture_output=True,
                          check=True, timeout=60)
    head, *back = pickle.loads(done.stdout)
    assert_array_equal(pickle.loads(head, buffers=back).to_numpy(),
                       2 * np.arange(1000.0).reshape(10, 100)[::-1], strict=True)


# Copies


def test_copies_do_not_pickle(monkeypatch):
    monkeypatch.setattr(mat.Mat, "__reduce_ex__", None)
    x = mat.arange(3.0)
    for y in (copy.copy(x), copy.deepcopy(x), copy.deepcopy({"a": [x]})["a"][0]):
        y.fill_(0)
        assert x.tolist() == [0, 1, 2]


def test_deep_copies_preserve_identity():
    x = mat.arange(6.0)
    nest = {"x": x, "again": [x], "view": x[:3]}
    twin = copy.deepcopy(nest)
    assert twin["x"] is twin["again"][0]
    twin["x"].fill_(9)
    assert twin["view"].tolist() == [0, 1, 2]  # views are copied by their elements, as NumPy does
    memo = {}
    assert copy.deepcopy(x, memo) is copy.deepcopy(x, memo)
