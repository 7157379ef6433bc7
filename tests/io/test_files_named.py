"""Several Mats in a file, .npz and .safetensors, beside NumPy, safetensors and torch; and files
that are mapped.
"""

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import mat
from mat.io import streams

from ..support.filing import (
    DTYPES,
    NOT_READ_BY_NUMPY,
    OF_ML_DTYPES,
    SHAPES,
    Stream,
    at,
    collection,
    contents,
    devices,
    dtypes,
    peak_of,
    same,
    saved,
    saved_by_numpy,
    tensors,
    unchecked,
    values,
)
from ..support.layouts import place


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """So that the few elements of a test are many chunks."""
    monkeypatch.setattr(streams, "CHUNK", 32)
    monkeypatch.setattr(streams, "FIRST", 16)


# .npz


@devices
@pytest.mark.parametrize("compressed", [False, True])
def test_npz(tmp_path, device, compressed):
    arrays = collection()
    with mat.use_device(device):
        mats = {name: at(device, place(a, "strided" if k % 2 else "packed")) for k,
                (name, a) in enumerate(arrays.items())}
        mat.save_all(tmp_path / "x.npz", mats, compressed=compressed)
    with np.load(tmp_path / "x.npz") as seen:
        assert list(seen) == list(arrays)
        for name, a in arrays.items():
            if name != NOT_READ_BY_NUMPY:
                assert_array_equal(seen[name].view(a.dtype), a)
    found = mat.load_all(tmp_path / "x.npz")
    assert list(found) == list(arrays)
    assert found.metadata == {}
    for name, a in arrays.items():
        same(found[name], a)
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        assert archive.testzip() is None


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_files_of_numpy_are_read(save):
    arrays = collection()
    file = io.BytesIO()
    save(file, **arrays)
    for source in (file, Stream(file.getvalue())):
        file.seek(0)
        found = mat.load_all(source)
        assert list(found) == list(arrays)
        for name, a in arrays.items():
            same(found[name], a)


def test_sizes_of_64_bits_in_archives(tmp_path, monkeypatch):
    arrays = collection()
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 300)
    mat.save_all(tmp_path / "x.npz", {name: mat.from_numpy(a) for name, a in arrays.items()})
    monkeypatch.undo()
    assert b"PK\x06\x06" in contents(tmp_path / "x.npz")  # the directory's end in its long form
    for mapped in (False, True):
        found = mat.load_all(tmp_path / "x.npz", mapped=mapped)
        for name, a in arrays.items():
            same(found[name], a)
    with np.load(tmp_path / "x.npz") as seen:
        assert_array_equal(seen["int64"], arrays["int64"])


@pytest.mark.parametrize("suffix", ["npz", "safetensors"])
def test_one_storage_by_several_names(tmp_path, suffix):
    x = mat.arange(6.0).reshape(2, 3)
    mat.save_all(tmp_path / f"x.{suffix}", {"x": x, "again": x, "part": x[:, 1:], "turned": x.T})
    found = mat.load_all(tmp_path / f"x.{suffix}")
    assert found["again"].equals(x)
    assert found["part"].equals(x[:, 1:])
    assert found["turned"].equals(x.T)
    found["x"].fill_(0)  # each has its own elements now
    assert found["again"].equals(x)


def test_an_empty_collection(tmp_path):
    for suffix in ("npz", "safetensors"):
        mat.save_all(tmp_path / f"x.{suffix}", {})
        assert mat.load_all(tmp_path / f"x.{suffix}") == {}


# .safetensors


@devices
@pytest.mark.parametrize("metadata", [{}, {"a": "ü\n\"\\\x01\x7f"}])
def test_safetensors_files_are_those_of_its_library(device, metadata):
    library = pytest.importorskip("safetensors.numpy")
    arrays = tensors()
    file = io.BytesIO()
    with mat.use_device(device):
        mats = {name: at(device, place(a, "strided" if k % 2 else "packed")) for k,
                (name, a) in enumerate(arrays.items())}
        mat.save_all(file, mats, format="safetensors", metadata=metadata)
    packed = {name: np.ascontiguousarray(a).reshape(a.shape) for name, a in arrays.items()}
    assert file.getvalue() == library.save(packed, metadata=metadata or None)
    for name in OF_ML_DTYPES:  # which its module for NumPy writes, and does not read
        del mats[name], arrays[name]
    known = io.BytesIO()
    mat.save_all(known, mats, format="safetensors")
    for name, a in library.load(known.getvalue()).items():
        assert_array_equal(a, arrays[name])
    arrays = tensors()
    for source in (io.BytesIO(file.getvalue()), Stream(file.getvalue())):
        found = mat.load_all(source)
        assert found.metadata == metadata
        assert found.keys() == arrays.keys()
        for name, a in arrays.items():
            same(found[name], a)


def test_safetensors_of_torch(tmp_path):
    torch = pytest.importorskip("torch")
    library = pytest.importorskip("safetensors.torch")
    ours = {"w": mat.arange(6.0).reshape(2, 3), "b": mat.ones(3, dtype="bfloat16"),
            "t": mat.ones(2, dtype="bool")}
    mat.save_all(tmp_path / "x.safetensors", ours)
    theirs = library.load_file(tmp_path / "x.safetensors")
    assert theirs["w"].tolist() == ours["w"].tolist()
    assert theirs["b"].dtype == torch.bfloat16
    assert theirs["b"].tolist() == [1, 1, 1]
    library.save_file({"y": torch.arange(5, dtype=torch.bfloat16), "z": torch.eye(2)},
                      tmp_path / "y.safetensors",
                      metadata={"format": "pt"})
    found = mat.load_all(tmp_path / "y.safetensors", mapped=True)
    assert found.metadata == {"format": "pt"}
    assert found["y"].astype("float64").tolist() == [0, 1, 2, 3, 4]
    assert found["z"].tolist() == [[1, 0], [0, 1]]


@given(st.dictionaries(st.text(),
                       st.tuples(st.sampled_from([d for d in DTYPES if d != "complex128"]),
                                 st.lists(st.integers(0, 3), max_size=3)), max_size=6))
def test_any_names_and_shapes_come_back(described):
    described.pop("__metadata__", None)
    arrays = {name: values(tuple(shape), dtype) for name, (dtype, shape) in described.items()}
    for kind in ("npz", "safetensors"):
        if kind == "npz" and any("\0" in name or not storable(name) for name in arrays):
            continue
        file = io.BytesIO()
        mat.save_all(file, {name: mat.from_numpy(a) for name,
                            a in arrays.items() if storable(name)}, format=kind)
        file.seek(0)
        found = mat.load_all(file)
        assert found.keys() == {name for name in arrays if storable(name)}
        for name, x in found.items():
            same(x, arrays[name])


def storable(name):
    try:
        return bool(name.encode()) or True
    except UnicodeEncodeError:
        return False


# Refusals


@pytest.mark.parametrize(("kwargs", "mats", "error", "text"), [
    ({"format": "npy"}, {}, mat.FormatError, "'npy'"),
    ({"metadata": {"a": "b"}}, {}, mat.FormatError, "metadata"),
    ({"format": "safetensors", "metadata": {"a": 1}}, {}, mat.DTypeError, "'a': 1"),
    ({"format": "safetensors", "metadata": ["a"]}, {}, mat.DTypeError, r"\['a'\]"),
    ({"format": "safetensors", "compressed": True}, {}, mat.FormatError, "compressed"),
    ({"compressed": 1}, {}, mat.DTypeError, "1"), ({}, [1], mat.DTypeError, "list"),
    ({}, {1: mat.ones(1)}, mat.DTypeError, "1"),
    ({}, {"a": np.ones(1)}, mat.DTypeError, "'a'.*ndarray"),
    ({}, {"a\0b": mat.ones(1)}, mat.FormatError, "NUL"),
    ({}, {"\udc80": mat.ones(1)}, mat.FormatError, "UTF-8"),
    ({}, {"a" * 70_000: mat.ones(1)}, mat.FormatError, "65,000"),
    ({"format": "safetensors"}, {"\udc80": mat.ones(1)}, mat.FormatError, "UTF-8"),
    ({"format": "safetensors"}, {"__metadata__": mat.ones(1)}, mat.FormatError, "__metadata__"),
    ({"format": "safetensors"}, {"z": mat.ones(1, dtype="complex128")}, mat.DTypeError,
     "'z'.*complex128.*npz")], ids=str)
def test_collections_that_cannot_be_saved(kwargs, mats, error, text):
    file = io.BytesIO()
    with pytest.raises(error, match=text):
        mat.save_all(file, mats, **kwargs)
    assert file.getvalue() == b""


def test_the_suffix_decides(tmp_path):
    x = {"x": mat.ones(2)}
    for name, start in (("a.NPZ", b"PK"), ("a.SafeTensors", b"\x38")):
        mat.save_all(tmp_path / name, x)
        assert contents(tmp_path / name)[:len(start)] == start
        with open(tmp_path / name, "wb") as file:
            mat.save_all(file, x)
        assert contents(tmp_path / name)[:len(start)] == start
    with pytest.raises(mat.FormatError, match=r"none of \.npz"):
        mat.save_all(tmp_path / "a.pt", x)
    mat.save_all(tmp_path / "a.pt", x, format="safetensors")
    assert mat.load_all(tmp_path / "a.pt")["x"].tolist() == [1, 1]


# Mapped


@unchecked
@pytest.mark.host
def test_mapped_npy_takes_no_memory(tmp_path):
    path = tmp_path / "x.npy"
    mat.save(path, mat.ones(1 << 20))
    mat.load(path, mapped=True).sum().item()  # what is imported for it takes memory
    assert peak_of(lambda: mat.load(path, mapped=True).sum().item()) < 200_000
    x = mat.load(path, mapped=True)
    assert x.sum().item() == 1 << 20
    with pytest.raises(mat.DirectionError, match="read-only"):
        x.fill_(1)
    with mat.use_device("emulated"):
        assert (x + x).sum().item() == 2 << 20


@dtypes
@pytest.mark.parametrize("order", ["C", "F"])
def test_mapped_npy(tmp_path, dtype, order):
    for k, shape in enumerate(SHAPES):
        a = np.asarray(values(shape, dtype), order=order)
        np.save(tmp_path / f"{k}.npy", a)
        same(mat.load(tmp_path / f"{k}.npy", mapped=True), a)
        with open(tmp_path / f"{k}.npy", "rb") as file:
            same(mat.load(file, mapped=True), a)


@pytest.mark.parametrize("suffix", ["npz", "safetensors"])
def test_mapped_collections(tmp_path, suffix):
    arrays = tensors()
    path = tmp_path / f"x.{suffix}"
    mat.save_all(path, {name: mat.from_numpy(a) for name, a in arrays.items()})
    found = mat.load_all(path, mapped=True)
    os.unlink(path)  # the pages live on
    for name, a in arrays.items():
        same(found[name], a)
        assert not found[name].storage.writable
    one = found.pop("int64")
    del found
    same(one, arrays["int64"])


def test_a_mapped_file_that_is_replaced_keeps_its_pages(tmp_path):
    path = tmp_path / "x.npy"
    mat.save(path, mat.arange(3.0))
    x = mat.load(path, mapped=True)
    mat.save(path, x + 1)
    assert x.tolist() == [0, 1, 2]
    assert mat.load(path).tolist() == [1, 2, 3]


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads the mappings")
def test_pages_live_as_long_as_a_view_and_no_longer(tmp_path):
    path = tmp_path / "x.npy"
    mat.save(path, mat.arange(1000.0))
    numbers_open = len(os.listdir("/proc/self/fd"))
    x = mat.load(path, mapped=True)
    y = x[10:]
    del x
    assert str(path) in Path("/proc/self/maps").read_text()
    assert y[0] == 10
    del y
    assert str(path) not in Path("/proc/self/maps").read_text()
    assert len(os.listdir("/proc/self/fd")) == numbers_open


def test_files_that_cannot_be_mapped(tmp_path):
    arrays = {"a": np.arange(3.0), "bb": np.arange(3.0), "c": np.arange(3, dtype="int8")}
    np.savez(tmp_path / "n.npz", **{name * k: a for name, a in arrays.items() for k in range(1, 9)})
    mat.save_all(tmp_path / "c.npz", {"a": mat.ones(3)}, compressed=True)
    np.save(tmp_path / "s.npy", np.arange(3, dtype=">i4"))
    (tmp_path / "e.npy").write_bytes(b"")
    for call, error, text in (
            (lambda: mat.load_all(tmp_path / "n.npz", mapped=True), mat.FormatError,
             "no multiple of the 8.*without mapped"),
            (lambda: mat.load_all(tmp_path / "c.npz", mapped=True), mat.FormatError,
             "compressed.*without mapped"),
            (lambda: mat.load(tmp_path / "s.npy", mapped=True), mat.FormatError,
             "byte order.*mat.load without mapped"),
            (lambda: mat.load(tmp_path / "e.npy", mapped=True), mat.FormatError, "is empty"),
            (lambda: mat.load(io.BytesIO(saved(mat.ones(3))), mapped=True), mat.DTypeError,
             "on disk"),
            (lambda: mat.load(tmp_path / "s.npy", mapped=1), mat.DTypeError, "1")):
        with pytest.raises(error, match=text):
            call()
    same(mat.load_all(tmp_path / "n.npz")["a"], arrays["a"])


def test_a_mapped_file_that_is_cut_off(tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(saved(mat.arange(100.0))[:-1])
    with pytest.raises(mat.FormatError, match="cut off"):
        mat.load(path, mapped=True)


@unchecked
@pytest.mark.host
def test_more_than_4_gib(tmp_path):
    """Sparse files: nothing of them is written but the ends."""
    n = (5 << 30) + 3
    head = saved_by_numpy(np.broadcast_to(np.uint8(0), 0)).replace(b"(0,), }         ",
                                                                   f"({n},), }}".encode())
    path = tmp_path / "x.npy"
    with open(path, "wb") as file:
        file.write(head)
        file.seek(len(head) + n - 1)
        file.write(b"\x07")
    x = mat.load(path, mapped=True)
    assert (x.size, x[n - 1], x[1 << 32]) == (n, 7, 0)
    with open(path, "r+b") as file:
        file.truncate(len(head) + n - 1)
    for mapped in (False, True):
        with pytest.raises(mat.FormatError, match="cut off"):
            mat.load(path, mapped=mapped)
