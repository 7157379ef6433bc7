"""One Mat in a .npy file: what is written and read, compared with NumPy, over dtypes, devices and
layouts.
"""

import io
import os
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import mat
from mat.io import npy, streams

from ..support.filing import (
    DTYPES,
    NOT_READ_BY_NUMPY,
    SHAPES,
    at,
    devices,
    dtypes,
    kinds_of,
    layouts,
    ml_dtypes,
    same,
    saved,
    saved_by_numpy,
    values,
)
from ..support.layouts import INTEGERS, check_hidden, place, state

pytestmark = pytest.mark.usefixtures("small_chunks")


# .npy


@dtypes
@layouts
@devices
@pytest.mark.sample(8)
def test_npy_files_are_those_of_numpy(dtype, layout, device):
    for shape in SHAPES:
        a = values(shape, dtype)
        with mat.use_device(device):
            x = at(device, place(a, layout))
            data = saved(x)
        with x.facet("array", "input") as seen:
            assert data == saved_by_numpy(seen)
        if dtype != NOT_READ_BY_NUMPY:
            assert_array_equal(np.load(io.BytesIO(data)).view(a.dtype), a)


@dtypes
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_files_of_numpy_are_read(dtype, order, version):
    for shape in SHAPES:
        a = np.asarray(values(shape, dtype), order=order)
        file = io.BytesIO()
        np.lib.format.write_array(file, a, version)
        file.seek(0)
        same(mat.load(file), a)


@pytest.mark.parametrize("dtype", [d for d in DTYPES
                                   if np.dtype(d if d != "bfloat16" else "i2").itemsize > 1])
@layouts
def test_the_other_order_of_bytes_is_turned(dtype, layout):
    a = values((3, 4), dtype)
    raw = a.view(np.uint16) if dtype == "bfloat16" else a
    swapped = raw.astype(raw.dtype.newbyteorder(">"))
    data = saved_by_numpy(swapped)
    data = data.replace(b"'>u2'", b"'>V2'") if dtype == "bfloat16" else data
    same(mat.load(io.BytesIO(data)), a)
    x = place(np.zeros_like(a), layout)
    same(x.load_(io.BytesIO(data)), a)
    check_hidden(x)


def test_a_bfloat16_that_numpy_wrote_and_one_that_went_through_it():
    a = values((3, 4), "bfloat16")
    same(mat.load(io.BytesIO(saved_by_numpy(a))), a)
    seen = np.load(io.BytesIO(saved(mat.from_numpy(a))))
    assert_array_equal(seen.view(ml_dtypes.bfloat16), a)
    same(mat.load(io.BytesIO(saved_by_numpy(seen))), a)  # now it says |V2


def test_bytes_that_are_no_booleans_become_some():
    a = np.array([[0, 1, 2], [255, 0, 128]], np.uint8)
    data = saved_by_numpy(a).replace(b"'|u1'", b"'|b1'")
    expected = saved(mat.from_numpy(a != 0))
    assert saved(mat.load(io.BytesIO(data))) == expected
    assert saved(mat.empty(2, 3, dtype="bool").load_(io.BytesIO(data))) == expected
    x = place(np.zeros((2, 3), bool), "strided").load_(io.BytesIO(data))
    assert saved(x.contiguous()) == expected
    read = mat.empty(6, dtype="bool").read_(io.BytesIO(a.tobytes()))
    assert saved(read.reshape(2, 3)) == expected


def test_a_broadcast_is_written_with_its_visible_elements():
    x = mat.arange(3.0).broadcast_to(4, 3)
    assert_array_equal(np.load(io.BytesIO(saved(x))), np.broadcast_to(np.arange(3.0), (4, 3)))


def test_the_dtype_is_that_of_the_file_and_not_the_default():
    with mat.settings(dtype="float32"):
        assert mat.load(io.BytesIO(saved(mat.ones(2, dtype="float64")))).dtype == "float64"


# load_


@dtypes
@layouts
@devices
@pytest.mark.sample(12)
def test_load_into_an_existing_mat(dtype, layout, device):
    for shape in SHAPES:
        for order in "CF":
            a = np.asarray(values(shape, dtype), order=order)
            for file in kinds_of(saved_by_numpy(a)):
                with mat.use_device(device):
                    x = at(device, place(np.zeros_like(a), layout))
                    assert x.load_(file) is x
                    same(x, a)
                    check_hidden(x)


@pytest.mark.parametrize(("error", "change", "text"), [
    (mat.FormatError, lambda d: d[:-1], "cut off"), (mat.FormatError, lambda d: d[:90], "header"),
    (mat.FormatError, lambda d: b"", "empty"),
    (mat.FormatError, lambda d: d.replace(b"(2, 3)", b"(3, 2)"), r"\(3, 2\)"),
    (mat.FormatError, lambda d: d.replace(b"(2, 3)", b"(1, 3)"), r"\(1, 3\)"),
    (mat.FormatError, lambda d: d.replace(b"(2, 3)", b"(6,)  "), r"\(6,\)"),
    (mat.DTypeError, lambda d: d.replace(b"<f8", b"<i8"), "int64"),
    (mat.DTypeError, lambda d: d.replace(b"<f8", b"<c16"), "128"),
    (mat.FormatError, lambda d: d.replace(b"<f8", b"|O8"), "pickle")])
@pytest.mark.parametrize("kind", [0, 1])
@layouts
@pytest.mark.sample(3)
def test_a_file_that_does_not_fit_changes_nothing(error, change, text, kind, layout):
    data = change(saved_by_numpy(np.ones((2, 3))))
    x = place(np.arange(6.0).reshape(2, 3), layout)
    before = state(x)
    with pytest.raises(error, match=text):
        x.load_(kinds_of(data)[kind])
    assert state(x) == before


def test_load_into_a_read_only_mat():
    file = io.BytesIO(saved_by_numpy(np.ones((2, 3))))
    with pytest.raises(mat.AliasError, match="overlap"):
        mat.ones(3).broadcast_to(2, 3).load_(file)
    file.seek(0)
    fixed = mat.from_numpy(np.broadcast_to(np.zeros(3), (2, 3)))
    with pytest.raises(mat.DirectionError, match="read-only"):
        fixed.load_(file)


def test_load_is_an_access_for_output():
    x = mat.empty(3)
    with mat.use_device("emulated"), mat.debug.count_copies() as copies:
        x.fill_(1)
        x.load_(io.BytesIO(saved_by_numpy(np.arange(3.0))))
        assert x.fresh == {"host"}
    assert copies.d2h == 0
    with x.facet("array", "input"), pytest.raises(mat.ConflictError, match=r"test_files\.py"):
        threaded(lambda: x.load_(io.BytesIO(saved_by_numpy(np.zeros(3)))))
    assert x.tolist() == [0, 1, 2]


def test_exported_mats_are_not_overwritten():
    x = mat.arange(3.0)
    exported = np.asarray(x)
    for call in (lambda: x.load_(io.BytesIO(saved_by_numpy(np.zeros(3)))),
                 lambda: x.read_(io.BytesIO(bytes(24)))):
        with pytest.raises(mat.ConflictError, match=r"test_files\.py"):
            call()
    assert exported.tolist() == [0, 1, 2]
    del exported
    assert x.read_(io.BytesIO(bytes(24))).tolist() == [0, 0, 0]


def test_saving_from_a_gpu_goes_through_the_host(cuda):
    with mat.use_device("cuda"), mat.debug.count_copies() as copies:
        x = mat.arange(6.0).reshape(2, 3) + 1
        assert x.fresh == {"cuda:0"}
        data = saved(x)
        assert x.fresh == {"cuda:0", "host"}
        assert copies.d2h == 1
        x.load_(io.BytesIO(data))
        assert x.fresh == {"host"}
        assert copies.d2h == 1
        assert (x + 1).tolist() == [[2, 3, 4], [5, 6, 7]]


def threaded(call):
    """Make the call in another thread, and raise what it raised."""
    raised = []

    def run():
        try:
            call()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    for error in raised:
        raise error


@pytest.mark.host
def test_reading_that_fails_in_the_middle_goes_back_to_a_copy_or_is_torn():
    class Failing(RuntimeError):
        pass

    def stop(done, total):
        if done > 64:
            raise Failing

    data = saved_by_numpy(np.arange(100.0))
    x, y = mat.zeros(100).fill_(5), mat.zeros(100).fill_(6)
    with mat.use_device("emulated"):
        at("emulated", x)
        with pytest.raises(Failing):
            x.load_(io.BytesIO(data), progress=stop)
        assert x.tolist() == [5] * 100
    with pytest.raises(Failing):
        y.load_(io.BytesIO(data), progress=stop)
    with pytest.raises(mat.TornError, match=r"test_files\.py"):
        y.sum()


# Headers


@given(st.sampled_from([*INTEGERS, "float16", "float32", "float64", "complex64", "complex128",
                        "bool"]), st.booleans(),
       st.lists(st.integers(0, 10**15), max_size=5), st.sampled_from("<>"), st.booleans())
def test_headers_say_what_numpy_says(dtype, fortran, shape, order, double):
    descr = np.dtype(dtype).newbyteorder(order).str
    text = repr({"shape": tuple(shape), "descr": descr, "fortran_order": fortran})
    text = text.replace("'", '"') if double else text
    data = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
    expected = np.lib.format.read_array_header_1_0(io.BytesIO(data[8:]))
    if np.prod([n or 1 for n in shape], dtype=object) * np.dtype(dtype).itemsize >= 2**63:
        with pytest.raises(mat.FormatError, match="no array can have"):
            npy.read_header(streams.Source(io.BytesIO(data), "x"))
        return
    found = npy.read_header(streams.Source(io.BytesIO(data), "x"))
    assert (found.shape, found.fortran, found.dtype) == (expected[0], expected[1],
                                                         expected[2].newbyteorder("="))
    assert found.swapped == (not expected[2].isnative)


# As NumPy has it


@pytest.mark.parametrize(("given", "written"), [("w", "w.npy"), ("w.npy", "w.npy"),
                                                ("w.txt", "w.txt.npy"), ("a.b/w", "a.b/w.npy")])
def test_save_adds_the_suffix(tmp_path, given, written):
    (tmp_path / "a.b").mkdir()
    mat.save(tmp_path / given, [1, 2])
    np.save(tmp_path / "numpys" , [1, 2])
    assert (tmp_path / written).read_bytes() == (tmp_path / "numpys.npy").read_bytes()


@pytest.mark.parametrize(("name", "other"), [("w.npz", "savez"), ("w.safetensors", "save_all")])
def test_save_names_the_function_for_other_files(tmp_path, name, other):
    with pytest.raises(mat.FormatError, match=f"mat.{other}"):
        mat.save(tmp_path / name, mat.ones(2))
    assert os.listdir(tmp_path) == []


def test_load_reads_archives(tmp_path):
    mat.savez(tmp_path / "w", mat.arange(3), b=mat.ones(2))
    mat.savez_compressed(tmp_path / "c.npz", b=mat.ones(2))
    found = mat.load(tmp_path / "w.npz")
    assert found["arr_0"].tolist() == [0, 1, 2]
    assert found["b"].tolist() == [1, 1]
    assert mat.load(tmp_path / "c.npz")["b"].tolist() == [1, 1]


def test_a_mapped_file_by_numpys_keyword(tmp_path):
    mat.save(tmp_path / "w", mat.ones(2))
    with pytest.raises(mat.DirectionError):
        mat.load(tmp_path / "w.npy", "r").fill_(2)
    mat.load(tmp_path / "w.npy", mmap_mode="r+").fill_(3)
    mat.load(tmp_path / "w.npy", mmap_mode="c").fill_(4)
    assert mat.load(tmp_path / "w.npy").tolist() == [3, 3]
    with pytest.raises(mat.FormatError, match="'w\\+'; open_memmap"):
        mat.load(tmp_path / "w.npy", mmap_mode="w+")
