"""Files with invalid headers: a `FormatError` that names the fault, before memory is allocated."""

import io
import json
import os
import struct
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mat
from mat.io import npy, streams

from ..support.filing import peak_of
from ..support.hostile_files import (
    ReadOnlyStream,
    check_message,
    limited_address_space,
    outcome,
    tensors,
)
from ..support.layouts import state

pytest.importorskip("ml_dtypes").bfloat16  # noqa: B018
pytestmark = [pytest.mark.host, pytest.mark.once]


# .npy


def npy_file(header, data=b"", version=1):
    text = header if isinstance(header, bytes) else header.encode()
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 if version == 1 else 4,
                                                                   "little") + text + data


def described(descr="'<f8'", shape="(2,)", order="False", more=""):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {more}}}\n"


NPY = {
    "giant": (npy_file(described(shape="(1000000000000,)"), bytes(8)), "cut off"),
    "giant in all": (npy_file(described(shape=f"({2**31}, {2**31}, 16)")), "no array can have"),
    "giant and empty": (npy_file(described(shape=f"(0, {2**62}, 9)")), "no array can have"),
    "negative": (npy_file(described(shape="(-1,)"), bytes(8)), "header"),
    "two negatives": (npy_file(described(shape="(-2, -1)"), bytes(16)), "header"),
    "many axes": (npy_file(described(shape="(" + "1, " * 65 + ")"), bytes(8)), "65 axes"),
    "digits": (npy_file(described(shape="(" + "9" * 5000 + ",)")), "header"),
    "long header": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(100), "4294967295"),
    "header of 2 ** 31": (b"\x93NUMPY\x03\x00\x00\x00\x00\x80" + bytes(100), "2147483648"),
    "header that is not there": (b"\x93NUMPY\x01\x00\xff\xff{", "cut off"),
    "version": (b"\x93NUMPY\x09\x00\x10\x00" + bytes(100), "9.0"),
    "nested": (npy_file("(" * 60_000), "header"),
    "nested braces": (npy_file("{" * 60_000, version=3), "header"),
    "minus signs": (npy_file("-" * 60_000 + "1"), "header"),
    "sum": (npy_file("1" + "+1" * 30_000), "header"),
    "power": (npy_file(described(shape="(9**9**9,)")), "header"),
    "call": (npy_file(described(shape="(__import__('os').abort(),)")), "header"),
    "text in place of a shape": (npy_file(described(shape="'(2,)'"), bytes(16)), "header"),
    "number in place of a shape": (npy_file(described(shape="(2)"), bytes(16)), "header"),
    "fractions": (npy_file(described(shape="(2.0,)"), bytes(16)), "header"),
    "booleans in a shape": (npy_file(described(shape="(True,)"), bytes(16)), "header"),
    "order": (npy_file(described(order="1"), bytes(16)), "header"),
    "structured": (npy_file(described("[('a', '<f8')]"), bytes(16)), "header"),
    "objects": (npy_file(described("'|O'"), b"\x80\x04."), "pickle"),
    "a pickle": (b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00.", "pickle"),
    "text elements": (npy_file(described("'<U4'"), bytes(32)), "<U4"),
    "dates": (npy_file(described("'<M8[ns]'"), bytes(16)), "M8"),
    "long double": (npy_file(described("'<f16'"), bytes(32)), "f16"),
    "no dtype": (npy_file(described("'nonsense'"), bytes(16)), "nonsense"),
    "long dtype": (npy_file(described("'" + "x" * 60_000 + "'"), bytes(16)), r"\.\.\."),
    "a key too many": (npy_file(described(more="'x': 1, "), bytes(16)), "header"),
    "a key too few": (npy_file("{'descr': '<f8', 'shape': (2,), }", bytes(16)), "header"),
    "empty": (b"", "empty"),
    "magic alone": (b"\x93NUMPY", "cut off"),
    "zip": (b"PK\x03\x04" + bytes(100), "archive"),
    "other": (b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF"),
}


@pytest.mark.parametrize("name", NPY)
@pytest.mark.parametrize("as_file", [io.BytesIO, ReadOnlyStream])
def test_invalid_npy(name, as_file):
    data, text = NPY[name]
    x = mat.arange(2.0)
    before = state(x)
    fault = text.replace("cut off", "cut off|ends within")
    with limited_address_space(96 << 20), pytest.raises(mat.FormatError, match=fault):
        mat.load(as_file(data))
    with limited_address_space(96 << 20), pytest.raises(mat.FormatError):
        x.load_(as_file(data))
    assert peak_of(lambda: outcome("npy", data)) < 150_000 + 30 * len(data)
    assert state(x) == before


def test_of_repeated_keys_the_last_counts():
    """As in Python, the last one counts: there is no other reading of it."""
    data = npy_file(described("'<f4'", "(9,)", more="'shape': (2,), "), bytes(8))
    assert mat.load(io.BytesIO(data)).shape == (2,)


def test_memory_for_a_stream_grows_as_it_is_read():
    data = npy_file(described(shape=f"({1 << 40},)"), bytes(1000))
    with limited_address_space(96 << 20), pytest.raises(mat.FormatError, match="ends within"):
        mat.load(ReadOnlyStream(data))


def test_a_short_file_is_known_to_be_short_before_room_is_made(tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(npy_file(described(shape=f"({1 << 40},)"), bytes(1000)))
    with limited_address_space(1 << 20), pytest.raises(mat.FormatError,
                                                   match=r"8796093022208 bytes, 1000 are left"):
        mat.load(path)


# .safetensors


def tensor(begin=0, end=4, shape=(1,), dtype="F32", **more):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end], **more}


SAFETENSORS = {
    "length": (tensors({}, length=2**63), "9223372036854775808"),
    "length beyond the end": (tensors({}, length=50_000_000), "cut off"),
    "length of all bits": (b"\xff" * 8 + b"{}", "18446744073709551615"),
    "too short": (b"\x02\x00", "cut off"),
    "no json": (tensors(b"{'a': 1}"), "damaged"),
    "no utf-8": (tensors(b'{"\xff": 1}'), "damaged"),
    "list": (tensors([]), "names no tensors"),
    "nested": (tensors(b"[" * 200_000), "damaged"),
    "nested objects": (tensors(b'{"a":' * 200_000), "damaged"),
    "twice": (tensors(b'{"a":' + json.dumps(tensor()).encode() + b',"a":'
                      + json.dumps(tensor()).encode() + b"}", bytes(4)),
              "twice"),
    "twice within": (tensors(b'{"a":{"dtype":"F32","dtype":"F32","shape":[1],'
                             b'"data_offsets":[0,4]}}', bytes(4)), "twice"),
    "not a number": (tensors(b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}', bytes(4)),
                     "NaN"),
    "digits": (tensors(b'{"a":{"dtype":"F32","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,4]}}',
                       bytes(4)), "damaged"),
    "overlap": (tensors({"a": tensor(), "b": tensor()}, bytes(8)), "'b'.*begin at 0, not at 4"),
    "partial overlap": (tensors({"a": tensor(0, 8, (2,)), "b": tensor(4, 12, (2,))}, bytes(12)),
                        "not at 8"),
    "gap": (tensors({"a": tensor(), "b": tensor(8, 12)}, bytes(12)), "not at 4"),
    "begins late": (tensors({"a": tensor(4, 8)}, bytes(8)), "not at 0"),
    "beyond the end": (tensors({"a": tensor(0, 8, (2,))}, bytes(4)), "cut off"),
    "after the end": (tensors({"a": tensor()}, bytes(5)), "1 bytes after"),
    "backwards": (tensors({"a": tensor(4, 0)}, bytes(4)), "from 4 to 0"),
    "negative offsets": (tensors({"a": tensor(-4, 0)}, bytes(4)), "not lists"),
    "negative shape": (tensors({"a": tensor(shape=(-1,))}, bytes(4)), "not lists"),
    "two negatives": (tensors({"a": tensor(shape=(-1, -1))}, bytes(4)), "not lists"),
    "true": (tensors({"a": tensor(shape=(True,))}, bytes(4)), "not lists"),
    "fraction": (tensors({"a": tensor(shape=(1.0,))}, bytes(4)), "not lists"),
    "three offsets": (tensors({"a": {**tensor(), "data_offsets": [0, 4, 8]}}, bytes(4)),
                      "not lists"),
    "giant": (tensors({"a": tensor(0, 2**63, (2**61,))}, bytes(4)), "no array can have|cut off"),
    "giant and empty": (tensors({"a": tensor(0, 0, (0, 2**62, 9))}), "no array can have"),
    "another size": (tensors({"a": tensor(shape=(2,))}, bytes(4)),
                     "8 bytes, not those from 0 to 4"),
    "many axes": (tensors({"a": tensor(shape=(1,) * 65)}, bytes(4)), "65 axes"),
    "dtype": (tensors({"a": tensor(dtype="F99")}, bytes(4)), "F99"),
    "eighths": (tensors({"a": tensor(dtype="F8_E8M0", shape=(4,))}, bytes(4)), "F8_E8M0"),
    "dtype of another kind": (tensors({"a": tensor(dtype=["F32"])}, bytes(4)), "F32"),
    "missing": (tensors({"a": {"dtype": "F32", "shape": [1]}}, bytes(4)), "exactly"),
    "more": (tensors({"a": tensor(x=1)}, bytes(4)), "exactly"),
    "no entry": (tensors({"a": 3}, bytes(4)), "exactly"),
    "long name": (tensors({"a" * 50_000: tensor(1, 5)}, bytes(4)), r"aa\.\.\.'"),
    "metadata": (tensors({"__metadata__": {"a": 1}}), "not strings"),
    "metadata list": (tensors({"__metadata__": ["a"]}), "not strings"),
    "npy": (npy_file(described(), bytes(16)), "mat.load reads it"),
    "empty": (b"", "cut off"),
}


@pytest.mark.parametrize("name", SAFETENSORS)
def test_invalid_safetensors(name, tmp_path):
    data, text = SAFETENSORS[name]
    (tmp_path / "x").write_bytes(data)
    for call in (lambda: mat.load_all(io.BytesIO(data)), lambda: mat.load_all(tmp_path / "x"),
                 lambda: mat.load_all(tmp_path / "x", mapped=bool(data))):
        with limited_address_space(96 << 20), pytest.raises(mat.FormatError, match=text) as caught:
            call()
        check_message(caught.value)
    assert peak_of(lambda: outcome("safetensors", data)) < 150_000 + 30 * len(data)


# .npz


def archive(members, **kwargs):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two of one name
        with zipfile.ZipFile(file, "w", **kwargs) as made:
            for name, data in members:
                made.writestr(name, data)
    return file.getvalue()


ONE = npy_file(described(), bytes(16))
NPZ = {
    "other things": (archive([("data.pkl", b"\x80\x04.")]), "data.pkl.*no .npy"),
    "long name": (archive([("x" * 50_000 + ".npy", ONE[:-1])]), r"xx\.\.\.'"),
    "a folder": (archive([("x/", b"")]), "no .npy"),
    "objects": (archive([("x.npy", npy_file(described("'|O'")))]), "pickle"),
    "twice": (archive([("x.npy", ONE), ("x.npy", ONE)]), "two arrays"),
    "bzip2": (archive([("x.npy", ONE)], compression=zipfile.ZIP_BZIP2), "method 12"),
    "lzma": (archive([("x.npy", ONE)], compression=zipfile.ZIP_LZMA), "method 14"),
    "encrypted": (archive([("x.npy", ONE)]).replace(b"PK\x01\x02\x14\x03\x14\x00\x00",
                                                    b"PK\x01\x02\x14\x03\x14\x00\x01"),
                  "encrypted"),
    "cut off": (archive([("x.npy", ONE)])[:-30], "damaged"),
    "short elements": (archive([("x.npy", ONE[:-1])]), "cut off"),
    "short elements, compressed": (archive([("x.npy", ONE[:-1])], compression=8), "ends within"),
    "more than the elements": (archive([("x.npy", ONE + b"\0")]), "more bytes"),
    "more than the elements, compressed": (archive([("x.npy", ONE + b"\0")], compression=8),
                                           "more bytes"),
    "checksum": (archive([("x.npy", ONE)]).replace(bytes(16) + b"PK", bytes(15) + b"\x01PK"),
                 "checksum|no array"),
    "giant": (archive([("x.npy", npy_file(described(shape="(1000000000000,)"), bytes(8)))]),
              "cut off"),
    "giant, compressed": (archive([("x.npy", npy_file(described(shape="(1000000000000,)"),
                                                      bytes(8)))], compression=8),
                          "ends within"),
    "directory of no bytes": (archive([("x.npy", ONE)])[:-10] + bytes(10), "directory has none"),
    "end of a directory alone": (b"PK\x05\x06" + bytes(8) + b"\x01\x00\x00\x00" + bytes(6),
                                 "damaged"),
}


@pytest.mark.parametrize("name", NPZ)
def test_invalid_npz(name, tmp_path):
    data, text = NPZ[name]
    (tmp_path / "x").write_bytes(data)
    for call in (lambda: mat.load_all(io.BytesIO(data)), lambda: mat.load_all(tmp_path / "x")):
        with limited_address_space(96 << 20), pytest.raises(mat.FormatError, match=text) as caught:
            call()
        check_message(caught.value)
    assert peak_of(lambda: outcome("npz", data)) < 150_000 + 30 * len(data)
    if "checksum" not in name and "more" not in name:  # pages are not read to be mapped
        with pytest.raises(mat.FormatError):
            mat.load_all(tmp_path / "x", mapped=True)


def test_names_in_an_archive_are_only_names(tmp_path):
    names = ["../../x", "/etc/x", "a/b/c", "C:\\x", "ü", "", ".", "..", "x.npy"]
    path = tmp_path / "in" / "x.npz"
    path.parent.mkdir()
    path.write_bytes(archive([(name + ".npy", ONE) for name in names]))
    assert set(mat.load_all(path)) == set(names)
    assert [p.name for p in tmp_path.rglob("*")] == ["in", "x.npz"]


def bomb(nbytes):
    """A small archive that grows to so many bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w",
                         zipfile.ZIP_DEFLATED) as made, made.open("x.npy", "w") as member:
        member.write(npy.header(np.broadcast_to(np.int8(0), nbytes))[0])
        for _ in range(0, nbytes, 1 << 20):
            member.write(bytes(1 << 20))
    return file.getvalue()


def test_archives_that_grow(monkeypatch):
    data = bomb(80 << 20)
    assert len(data) < 100_000
    with limited_address_space(32 << 20), pytest.raises(mat.FormatError,
                                                    match=r"if you trust it, max_bytes=838862\d\d"):
        mat.load_all(io.BytesIO(data))
    assert mat.load_all(io.BytesIO(data), max_bytes=90 << 20)["x"].size == 80 << 20
    with pytest.raises(mat.FormatError, match="more than the 1000"):
        mat.load_all(io.BytesIO(data), max_bytes=1000)
    monkeypatch.setattr(npy, "GROWTH_BYTES", 1 << 20)
    assert mat.load_all(io.BytesIO(archive([("x.npy", npy_file(described("'|u1'", "(2000000,)"),
                                                               os.urandom(2_000_000)))],
                                           compression=8)))["x"].size == 2_000_000
    with pytest.raises(mat.DTypeError, match=r"'1'"):
        mat.load_all(io.BytesIO(data), max_bytes="1")


def test_a_size_that_is_a_lie_makes_no_room():
    """A directory that says more than there is, of which more would be allowed."""
    data = bytearray(archive([("x.npy", npy_file(described("'|i1'", "(60000000,)"), bytes(100)))],
                             compression=8))
    at = data.index(b"PK\x01\x02") + 24
    data[at:at + 4] = struct.pack("<I", 60_000_128)
    assert peak_of(lambda: outcome("npz", bytes(data))) < 4 * streams.FIRST
    assert outcome("npz", bytes(data)) is None


def test_members_that_share_their_bytes():
    """Many names of one member expand to much without compression."""
    data = archive([("x.npy", ONE), ("y.npy", ONE)])
    first, second = data.index(b"PK\x01\x02"), data.rindex(b"PK\x01\x02")
    shared = bytearray(data)
    shared[second + 42:second + 46] = data[first + 42:first + 46]
    with pytest.raises(mat.FormatError, match="directory says"):  # of which the name is another
        mat.load_all(io.BytesIO(bytes(shared)))
    grown = bytearray(data)
    start = data.index(b"PK\x03\x04", 4)
    for at in (first + 20, first + 24):  # the first one now ends within the second
        grown[at:at + 4] = struct.pack("<I", start + 20 - 35)
    with pytest.raises(mat.FormatError, match="overlap"):
        mat.load_all(io.BytesIO(bytes(grown)))
    grown = bytearray(data)
    for at in (second + 20, second + 24):  # the last one now ends within the directory
        grown[at:at + 4] = struct.pack("<I", len(ONE) + 8)
    with pytest.raises(mat.FormatError, match="overlap"):
        mat.load_all(io.BytesIO(bytes(grown)))


def test_nothing_is_said_and_nothing_run_on_the_way():
    """Python's own parser would warn of some headers."""
    code = """import io, mat
for shape in ("(1if 1else 2,)", "('\\\\d',)", "(0x_1,)", "(1,)and(2,)"):
    text = ("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + "}").encode()
    try:
        length = len(text).to_bytes(2, "little")
        mat.load(io.BytesIO(b"\\x93NUMPY\\x01\\x00" + length + text + bytes(80)))
    except mat.FormatError:
        print("refused")"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True,
                          text=True, timeout=120, check=False,
                          cwd=Path(__file__).parents[2])
    assert (done.stdout, done.stderr) == ("refused\n" * 4, "")
