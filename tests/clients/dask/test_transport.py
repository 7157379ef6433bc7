"""Mats between the processes of a cluster: headers, frames, and the memory that these are of."""

import subprocess
import sys

import numpy as np
import pytest

import mat

pytest.importorskip("distributed")
from dask.sizeof import sizeof
from distributed.protocol import deserialize, serialize

pytestmark = pytest.mark.host


def cube(dtype="float64"):
    return mat.arange(24.0).reshape(2, 3, 4).astype(dtype)


VIEWS = {
    "whole": lambda x: x, "transposed": lambda x: x.T, "axes": lambda x: x.transpose(1, 0, 2),
    "plane": lambda x: x[1], "columns of a plane": lambda x: x[0].T, "gaps": lambda x: x[:, ::2],
    "reversed": lambda x: x[::-1], "nothing": lambda x: x[:, :0], "new axis": lambda x: x[:, None],
    "repeated": lambda x: np.broadcast_to(x[1], (5, 3, 4)),
    "repeated columns": lambda x: np.broadcast_to(x[0].T[:, :1], (4, 6)),
}


def received(header, frames):
    """What another process gets: the frames in writable memory of its own."""
    return deserialize(header, [memoryview(bytearray(f)) for f in frames])


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_arrives(name):
    x = VIEWS[name](cube())
    header, frames = serialize(x)
    y = received(header, frames)
    assert header["serializer"] == "dask"
    assert type(y) is mat.Mat
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    np.testing.assert_array_equal(y.to_numpy(), x.to_numpy())


@pytest.mark.parametrize("dtype", mat.supported_dtypes, ids=str)
def test_every_dtype_arrives(dtype):
    x = cube(dtype).T
    y = received(*serialize(x))
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y.to_numpy().view("u1"), x.to_numpy().view("u1"))


@pytest.mark.unchecked("compares addresses")
@pytest.mark.parametrize("name", ["whole", "transposed", "axes", "plane", "columns of a plane"])
def test_no_elements_are_packed(name):
    x = VIEWS[name](cube())
    _, (_, frame) = serialize(x)
    assert np.shares_memory(np.asarray(frame), np.asarray(x))
    assert frame.nbytes == x.nbytes
    with pytest.raises(mat.ConflictError):
        x.fill_(0)
    del frame
    x.fill_(0)


def test_repeated_elements_are_sent_once():
    x = np.broadcast_to(cube()[1], (1000, 3, 4))
    _, (_, frame) = serialize(x)
    assert frame.nbytes == 96


@pytest.mark.unchecked("compares addresses")
@pytest.mark.parametrize("name", ["whole", "transposed"])
def test_what_arrives_is_used_and_can_be_written(name):
    x = VIEWS[name](cube())
    header, (first, frame) = serialize(x)
    buffer = bytearray(frame)
    y = deserialize(header, [first, memoryview(buffer)])
    assert y.strides == x.strides
    y.fill_(7)
    assert np.frombuffer(buffer).tolist() == [7] * 24
    assert x.sum() == 276


@pytest.mark.unchecked("compares addresses")
@pytest.mark.parametrize("offset", [0, 1, 8, 24, 63])
def test_long_frames_are_aligned_in_place(offset, monkeypatch):
    """They are received with the rest of the message, at any address."""
    monkeypatch.setattr("mat.interop.dask._SHARD", 100)
    x = cube()
    header, (first, frame) = serialize(x)
    assert (type(first.obj), first.nbytes) == (bytes, 64)
    buffer = np.empty(64 + first.nbytes + frame.nbytes + 64, "u1")
    start = -(buffer.ctypes.data + first.nbytes) % 64 + offset
    message = buffer.data[start:]
    message[:64], message[64:64 + frame.nbytes] = first, frame
    y = deserialize(header, [message[:64], message[64:64 + frame.nbytes]])
    with y.facet("array", "input") as a:
        assert a.ctypes.data % 64 == 0
        assert np.shares_memory(a, buffer)
        np.testing.assert_array_equal(a, x.to_numpy())


def test_what_cannot_be_written_is_copied():
    header, (first, frame) = serialize(cube())
    y = deserialize(header, [first, bytes(frame)])
    y.fill_(1)
    z = deserialize(header, [first, frame])  # memory that a Mat of this process uses
    del frame
    z.fill_(2)
    assert (y.sum(), z.sum()) == (24, 48)


@pytest.mark.parametrize("fill", [0, 1, 2.5, None, 1 - 2j])
def test_what_was_never_accessed_has_no_frames(fill):
    x = mat.empty(3, 4) if fill is None else mat.full((3, 4), fill)
    header, frames = serialize(x)
    assert frames == []
    y = received(header, frames)
    assert y.shape == (3, 4)
    if fill is not None:
        assert y.tolist() == [[fill] * 4] * 3


def test_subclasses_are_pickled():
    header, _ = serialize(Named((2, 2)))
    assert header["serializer"] == "pickle"


class Named(mat.Mat):
    """A class of Mats."""


def test_parts_that_do_not_fit_are_refused():
    header, (first, frame) = serialize(cube())
    with pytest.raises(mat.FormatError, match="192 bytes, got 184"):
        deserialize(header, [first, bytes(frame)[8:]])


# Devices


def test_of_a_device_only_the_part_is_copied():
    x = cube()
    with mat.use_device("emulated") as dev:
        x += 1
        part = x[1].T
        before = dict(dev.transfers)
        header, (first, frame) = serialize(part)
        assert dev.transfers["d2h"] - before["d2h"] == frame.nbytes == 96
        assert x.fresh == {"emulated"}
        np.testing.assert_array_equal(received(header, [first, frame]).to_numpy(),
                                      np.arange(13.0, 25).reshape(3, 4).T)


def test_the_bytes_of_a_device_do_not_count():
    x = mat.ones(100, 100)
    empty = sizeof(x)
    assert empty < 1000
    with mat.use_device("emulated"):
        x += 1
        assert x.fresh == {"emulated"}
        assert sizeof(x) == empty
        x.to_numpy()
        assert sizeof(x) == empty + x.nbytes
        x += x
    assert sizeof(x[:10]) == sizeof(x[:0]) + x[:10].nbytes


# The order of imports


@pytest.mark.slow
@pytest.mark.parametrize("first", ["mat", "dask", "distributed", "dask.array"])
def test_the_order_of_imports_is_free(first):
    code = (f"import {first}\n"
            "import mat, dask.array as da, distributed.protocol as p\n"
            "from dask.array.backends import array_creation_dispatch as creation\n"
            "from dask.array.dispatch import percentile_lookup, to_numpy_dispatch\n"
            "x = mat.arange(9.0)\n"
            "assert p.serialize(x)[0]['serializer'] == 'dask'\n"
            "assert to_numpy_dispatch(x).tolist() == x.tolist()\n"
            "assert percentile_lookup(x, [50.0])[0].tolist() == [4.0]\n"
            "assert type(creation.dispatch('mat').ones(3).compute()) is mat.Mat\n")
    done = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", "-c", code],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
