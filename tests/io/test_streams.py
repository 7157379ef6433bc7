"""Raw elements in files, and the kinds of files: paths, file objects, pipes and sockets; progress
and memory.
"""

import gzip
import io
import os
import socket
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import mat
from mat.io import streams

from ..support.filing import (
    SHAPES,
    Stream,
    at,
    contents,
    devices,
    dtypes,
    kinds_of,
    layouts,
    peak_of,
    same,
    saved,
    saved_by_numpy,
    unchecked,
    values,
)
from ..support.layouts import check_hidden, place, state

pytestmark = pytest.mark.usefixtures("small_chunks")


# Raw elements


@dtypes
@layouts
@devices
@pytest.mark.sample(8)
def test_raw_elements(dtype, layout, device):
    for shape in SHAPES:
        a = values(shape, dtype)
        file = io.BytesIO()
        with mat.use_device(device):
            at(device, place(a, layout)).write(file)
            assert file.getvalue() == a.tobytes()
            for source in (*kinds_of(file.getvalue() + b"more"), ):
                y = at(device, place(np.zeros_like(a), layout))
                assert y.read_(source) is y
                same(y, a)
                check_hidden(y)
                assert source.read(4) == b"more"


@layouts
@pytest.mark.parametrize("kind", [0, 1])
def test_too_few_raw_elements_change_nothing(layout, kind):
    x = place(np.arange(6.0).reshape(2, 3), layout)
    before = state(x)
    with pytest.raises(mat.FormatError, match="cut off"):
        x.read_(kinds_of(bytes(47))[kind])
    assert state(x) == before


def test_raw_elements_of_a_path_are_all_that_is_in_it(tmp_path):
    x = mat.arange(6.0)
    x.write(tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == x.to_numpy().tobytes()
    with pytest.raises(mat.FormatError, match=r"48 bytes, not the 40"):
        mat.zeros(5).read_(tmp_path / "x")
    with pytest.raises(mat.FormatError, match="cut off"):
        mat.zeros(7).read_(str(tmp_path / "x"))
    assert mat.zeros(2, 3).read_(os.fsencode(tmp_path
                                             / "x").decode()).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_several_in_one_file_follow_each_other():
    file = io.BytesIO()
    x, y = mat.arange(3.0), mat.ones(2, 2, dtype="int8")
    x.write(file)
    mat.save(file, y)
    x.write(file)
    file.seek(0)
    assert mat.empty(3).read_(file).tolist() == [0, 1, 2]
    assert mat.load(file).tolist() == [[1, 1], [1, 1]]
    assert mat.empty(3).read_(file).tolist() == [0, 1, 2]


# Kinds of files


def test_paths_and_file_objects(tmp_path):
    x = mat.arange(100.0)
    expected = saved(x)
    mat.save(tmp_path / "a.npy", x)
    mat.save(str(tmp_path / "b"), x)
    with open(tmp_path / "c", "wb") as file:
        mat.save(file, x)
    with open(tmp_path / "d", "wb", buffering=0) as file:
        mat.save(file, x)
    with open(tmp_path / "e", "w+b") as file:
        mat.save(file, x)
        file.seek(0)
        same(mat.load(file), x.to_numpy())
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "b.npy", "c", "d", "e"]
    assert {contents(tmp_path / name) for name in ["a.npy", "b.npy", "c", "d", "e"]} == {expected}
    for name in ("a.npy", "b.npy"):
        same(mat.load(tmp_path / name), x.to_numpy())
    with open(tmp_path / "d", "rb", buffering=0) as file:
        same(mat.load(file), x.to_numpy())


def test_gzip(tmp_path):
    x = mat.arange(1000.0)
    with gzip.open(tmp_path / "x.gz", "wb") as file:
        mat.save(file, x)
    with gzip.open(tmp_path / "x.gz", "rb") as file:
        same(mat.load(file), x.to_numpy())
    whole = contents(tmp_path / "x.gz")
    for damaged in (whole[:-100], whole[:-4],
                    whole[:1000] + bytes([whole[1000] ^ 255]) + whole[1001:]):
        (tmp_path / "x.gz").write_bytes(damaged)
        y = mat.ones(1000)
        before = state(y)
        with gzip.open(tmp_path / "x.gz",
                       "rb") as file, pytest.raises(mat.FormatError, match="damaged"):
            y.load_(file)
        assert state(y) == before


def test_writers_may_keep_the_bytes_that_they_get():
    parts = []

    class Keeping:
        def write(self, data):
            parts.append(data)

    x = place(np.arange(60.0).reshape(6, 10), "strided")
    mat.save(Keeping(), x)
    assert b"".join(parts) == saved(x)
    parts.clear()
    mat.save_all(Keeping(), {"x": x, "y": x.T})
    found = mat.load_all(Stream(b"".join(parts)))
    assert found["x"].equals(x)
    assert found["y"].equals(x.T)
    assert_array_equal(np.load(io.BytesIO(b"".join(parts)))["y"], x.T.to_numpy())


def test_through_a_socket():
    one, other = socket.socketpair()
    x = mat.arange(10_000.0)

    def send():
        with one, one.makefile("wb", buffering=0) as file:
            mat.save(file, x)
            mat.save_all(file, {"x": x}, format="safetensors")
            mat.save_all(file, {"x": x, "y": x[::2]})

    thread = threading.Thread(target=send)
    thread.start()
    with other, other.makefile("rb") as file:
        assert mat.load(file).equals(x)
        assert mat.load_all(file)["x"].equals(x)
        assert mat.load_all(file)["y"].equals(x[::2])
    thread.join()


def test_a_pipe_is_written_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: mat.save(pipe, mat.arange(100.0)))
    thread.start()
    assert mat.load(pipe).equals(mat.arange(100.0))
    thread.join()
    assert pipe.is_fifo()
    mat.save("/dev/null", mat.ones(3))


@pytest.mark.parametrize("wrong", [None, 3, [1], object], ids=str)
def test_arguments_that_are_no_files(wrong):
    x = mat.ones(2)
    for call in (lambda: mat.save(wrong, x), lambda: mat.load(wrong), lambda: x.load_(wrong),
                 lambda: x.write(wrong),
                 lambda: x.read_(wrong), lambda: mat.save_all(wrong, {"x": x}),
                 lambda: mat.load_all(wrong),
                 lambda: mat.load(wrong, mapped=True), lambda: mat.load_all(wrong, mapped=True)):
        with pytest.raises(mat.DTypeError, match="path"):
            call()


def test_text_files_are_refused(tmp_path):
    with open(tmp_path / "t", "w+", encoding="utf-8") as file:
        with pytest.raises(mat.DTypeError, match="'wb'"):
            mat.save(file, mat.ones(2))
        with pytest.raises(mat.DTypeError, match="'rb'"):
            mat.load(file)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        mat.load(tmp_path / "x")
    with pytest.raises(FileNotFoundError, match=r"none/x"):
        mat.save(tmp_path / "none" / "x", mat.ones(2))
    with pytest.raises(IsADirectoryError):
        mat.save(tmp_path, mat.ones(2))


# Progress


def test_progress(tmp_path):
    x = place(np.arange(1000.0).reshape(10, 100), "strided")
    files = {"npy": lambda file, **k: mat.save(file, x, **k), "raw": lambda file,
             **k: x.write(file, **k),
             "npz": lambda file, **k: mat.save_all(file, {"x": x, "y": x.T}, **k),
             "c.npz": lambda file,
             **k: mat.save_all(file, {"x": x, "y": x.T}, compressed=True, **k),
             "safetensors": lambda file, **k: mat.save_all(file, {"x": x, "y": x.T}, **k)}
    loads = {"npy": mat.load, "raw": mat.empty(10, 100).read_}
    reports = []
    for suffix, save in files.items():
        for call in (save, loads.get(suffix, mat.load_all)):
            reports.clear()
            call(tmp_path / f"x.{suffix}", progress=lambda *counts: reports.append(counts))
            assert len(reports) > 20
            assert reports == sorted(reports)
            assert {total for _, total in reports} == {reports[-1][0]}
    reports.clear()
    mat.save(tmp_path / "e.npy", mat.empty(3, 0), progress=lambda *counts: reports.append(counts))
    mat.load(tmp_path / "e.npy", progress=lambda *counts: reports.append(counts))
    assert reports == [(0, 0), (0, 0)]
    with pytest.raises(mat.DTypeError, match="3"):
        mat.save(tmp_path / "x.npy", x, progress=3)


# Memory


@unchecked
@pytest.mark.host
@pytest.mark.parametrize("kind", ["npy", "raw", "npz", "safetensors"])
def test_a_strided_mat_is_never_packed_whole(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(streams, "CHUNK", 1 << 16)
    x = mat.ones(2000, 1000).fill_(3).T[::2, ::2]  # 4 MB
    y = mat.zeros(2000, 1000).fill_(0).T[::2, ::2]
    for call in ({"npy": lambda: mat.save(tmp_path / "x.npy", x),
                  "raw": lambda: x.write(tmp_path / "x"),
                  "npz": lambda: mat.save_all(tmp_path / "x", {"x": x}, format="npz"),
                  "safetensors": lambda: mat.save_all(tmp_path / "x", {"x": x},
                                                      format="safetensors")}[kind],
                 {"npy": lambda: y.load_(tmp_path / "x.npy"),
                  "raw": lambda: y.read_(tmp_path / "x")}.get(kind, int)):
        assert peak_of(call) < 1_500_000  # importing zipfile is some of that
    if kind in ("npy", "raw"):
        assert y.equals(x)


@unchecked
@pytest.mark.host
@pytest.mark.parametrize("known", [True, False])
def test_loading_takes_the_room_of_the_elements(tmp_path, known, monkeypatch):
    monkeypatch.setattr(streams, "CHUNK", 1 << 18)
    data, x = saved_by_numpy(np.ones(1 << 19)), mat.ones(1 << 19).fill_(2)
    (tmp_path / "x").write_bytes(data)
    for source in (io.BytesIO(data), tmp_path / "x") if known else (Stream(data, 1 << 16),):
        # called at once
        assert peak_of(lambda: mat.load(source)) < (4 << 20) * (1.05 if known  # noqa: B023
                                                                else 2) + 200_000
    file = io.BytesIO(data)
    assert peak_of(lambda: x.load_(file)) < 100_000
    assert x.sum().item() == 1 << 19


@given(st.lists(st.integers(0, 5), max_size=4).map(tuple), st.integers(1, 40))
def test_blocks_cover_a_shape_in_order(shape, most):
    places = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    found = [places[(*index, ...)].reshape(-1) for index in streams.blocks(shape, most)]
    assert all(part.size <= most for part in found)
    assert_array_equal(np.concatenate([*found, np.empty(0, int)]), np.arange(places.size))
