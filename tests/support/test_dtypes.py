"""The table of element types, against NumPy, ml_dtypes, C and what `mat` says that it supports."""

import ml_dtypes
import numpy as np
import pytest

import mat
from mat.support import dtypes
from mat.support.dtypes import BY_CHAR, BY_NAME, ELEMENT_TYPES, EXTENSIONS, FLOAT8
from mat.support.native import ffi

ROWS = pytest.mark.parametrize("row", ELEMENT_TYPES, ids=lambda row: row.name)
SETS = {
    "BOOL": "b", "SIGNED": "i", "UNSIGNED": "u", "INTEGERS": "iu", "FLOATING": "f",
    "COMPLEX_TYPES": "c", "INEXACT": "fc", "EVERY": "biufc", "STORED": "biufc",
}


def dtype_named(name):
    """The dtype of that name, made by NumPy or by ml_dtypes and not by `mat`."""
    return np.dtype(getattr(ml_dtypes, name) if BY_NAME[name].char in EXTENSIONS else name)


@ROWS
def test_numpy_has_the_type_so(row):
    dtype = dtype_named(row.name)
    assert (dtype.char, dtype.itemsize) == (row.char, row.size)
    assert dtype.kind == row.kind or (dtype.kind == "V" and row.char in EXTENSIONS)
    assert dtype == mat.empty(1, dtype=row.name).dtype


@ROWS
def test_c_has_elements_of_that_size(row):
    assert ffi.sizeof(row.c) == row.size
    assert ffi.sizeof(row.real) * (2 if row.kind == "c" else 1) == row.size


@ROWS
def test_names_say_the_kind_and_the_bits(row):
    assert row.name.startswith({"b": "bool", "i": "int", "u": "uint", "f": ("float", "bfloat"),
                                "c": "complex"}[row.kind])
    kind = "bf" if row.name == "bfloat16" else row.kind
    if row.char in FLOAT8:  # there are several of 8 bits
        assert row.suffix == row.name[7:11]
    else:
        assert row.suffix == ("b1" if row.kind == "b" else f"{kind}{8 * row.size}")


def test_the_table_has_every_type_and_every_character():
    assert mat.supported_dtypes == tuple(BY_NAME) == tuple(t.name for t in ELEMENT_TYPES)
    codes = [np.dtype(c) for c in np.typecodes["All"]]
    known = {dtype.char for dtype in codes if dtype.name in BY_NAME}
    assert set(BY_CHAR) == known | set(EXTENSIONS)
    assert all(np.dtype(c).name == BY_CHAR[c].name for c in known)
    assert len({t.suffix for t in ELEMENT_TYPES}) == len(ELEMENT_TYPES)


@pytest.mark.parametrize(("name", "kinds"), SETS.items())
def test_sets_of_characters_are_of_their_kinds(name, kinds):
    found = {c for c, t in BY_CHAR.items() if t.kind in kinds}
    assert set(getattr(dtypes, name)) == (found if name == "STORED" else found - set(FLOAT8))


def test_other_sets_of_characters():
    assert {BY_CHAR[c].name for c in dtypes.HALVES} == {"float16", "bfloat16"}
    assert {BY_CHAR[c].name for c in FLOAT8} == {"float8_e4m3fn", "float8_e5m2"}
    assert {t.char for t in ELEMENT_TYPES if not hasattr(np, t.name)} == set(EXTENSIONS)
    assert dtypes.BLAS_TYPES == dtypes.REAL_TYPES + dtypes.COMPLEX_TYPES
    assert [BY_CHAR[c].blas for c in dtypes.BLAS_TYPES] == [*"sdcz"]
    assert [t.char for t in ELEMENT_TYPES if t.blas] == [*dtypes.BLAS_TYPES]
    assert [BY_CHAR[c].name for c in dtypes.DISTINCT + FLOAT8] == [*mat.supported_dtypes]


def test_cuda_and_dlpack_number_types_apart():
    """Two types of one number would be mistaken for each other."""
    given = [t.cublas for t in ELEMENT_TYPES if t.cublas >= 0]
    assert len(set(given)) == len(given) == len(ELEMENT_TYPES) - 1  # CUDA has no bool
    assert len({(t.dlpack, t.size) for t in ELEMENT_TYPES}) == len(ELEMENT_TYPES)


@ROWS
def test_dlpack_is_exchanged_by_these_codes(row):
    if row.char in EXTENSIONS:
        pytest.skip("NumPy gives no capsule of it")
    x = np.zeros(1, row.name)
    made = mat.from_dlpack(x)
    assert made.dtype == x.dtype
    assert np.from_dlpack(made).dtype == x.dtype
