"""Damaged files: each is a `FormatError`, changes nothing, and takes no more memory than the file's
size justifies; what is read, other readers read, too.
"""

import io
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mat

from ..support import mutations
from ..support.filing import peak_of
from ..support.hostile_files import (
    LOADS,
    ReadOnlyStream,
    limited_address_space,
    outcome,
    tensors,
)
from ..support.layouts import place, state

pytest.importorskip("ml_dtypes").bfloat16  # noqa: B018
pytestmark = [pytest.mark.host, pytest.mark.once]

MANY = {"npy": 45_000, "safetensors": 35_000, "npz": 20_000}


@pytest.mark.sample(12)
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("kind", MANY)
def test_damaged_files_are_refused_or_read(kind, part):
    """All of them with little room, each tenth with its allocations counted."""
    taken = 0
    with limited_address_space(96 << 20):
        for k, data in enumerate(mutations.damaged(kind, part, MANY[kind] // 5)):
            if k % 10:
                taken += outcome(kind, data) is not None
            else:
                # called at once
                assert peak_of(lambda: outcome(kind, data)) < 150_000 + 30 * len(data)  # noqa: B023
    assert taken > 50  # or nothing but refusals was tested


def theirs(kind, data):
    """What the reader that everybody has says, None if it refuses."""
    try:
        if kind == "npy":  # of float8_e5m2 NumPy writes the dtype as f1, which it does not read
            return {"": np.load(io.BytesIO(re.sub(rb"(['\"])[<>|=]?f1\1", rb"'|u1'", data)))}
        if kind == "npz":
            with np.load(io.BytesIO(data)) as found:
                return dict(found)
        return dict(pytest.importorskip("safetensors").deserialize(data))
    except Exception:
        return None


@pytest.mark.parametrize("kind", MANY)
@pytest.mark.slow
def test_what_is_read_of_damaged_files_is_what_others_read(kind):
    count = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in mutations.damaged(kind, 99, 4000):
            ours = outcome(kind, data)
            if ours is not None:
                others = theirs(kind, data)
                assert others is not None, data
                assert ours.keys() == others.keys()
                for name, other in others.items():
                    check_same(ours[name], other)
                count += 1
    assert count > 50


def check_same(x, other):
    if isinstance(other, dict):
        assert (list(x.shape), raw(x)) == (other["shape"],
                                           bytes(other["data"]) if x.dtype != "bool" else raw(x))
    else:
        assert x.shape == other.shape
        swapped = other.astype(other.dtype.newbyteorder("="))
        assert raw(x) == swapped.tobytes() or x.dtype == "bool"


def raw(x):
    file = io.BytesIO()
    x.write(file)
    return file.getvalue()


@pytest.mark.parametrize("kind", MANY)
def test_damaged_files_are_mapped_or_refused(kind, tmp_path):
    load = mat.load if kind == "npy" else mat.load_all
    count = 0
    for k, data in enumerate(mutations.damaged(kind, 11, 500)):
        path = tmp_path / str(k)
        path.write_bytes(data)
        ours = outcome(kind, data)
        try:
            found = load(path, mapped=True)
        except mat.FormatError:
            continue
        count += 1
        for name, x in (found if kind != "npy" else {"": found}).items():
            # None: the checksum was wrong
            assert ours is None or ours[name].dtype == "bool" or raw(ours[name]) == raw(x)
    assert count > 5


@pytest.mark.parametrize("layout", ["packed", "strided"])
@pytest.mark.slow
def test_damaged_files_change_nothing(layout):
    values = np.arange(6.0).reshape(2, 3)
    file = io.BytesIO()
    np.save(file, values)
    x = place(values + 1, layout)
    before, refused = state(x), 0
    rng = mutations.random.Random(5)
    for k in range(5000):
        data = file.getvalue()
        for _ in range(rng.choice((1, 2))):
            data = rng.choice(mutations.DAMAGE)(rng, data) or b"\0"
        try:
            x.load_(io.BytesIO(data) if k % 2 else ReadOnlyStream(data))
        except (mat.FormatError, mat.DTypeError):
            refused += 1
            assert x.storage.version == before[3]
        else:
            x = place(values + 1, layout)
            before = state(x)
    assert refused > 3000
    assert state(x) == before


STARTS = (b"", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x03\x00", b"PK\x03\x04", b"PK\x05\x06",
          b"\x10" + bytes(7))


@given(st.sampled_from(list(LOADS)), st.binary(max_size=300), st.sampled_from(STARTS))
def test_bytes_of_any_kind(kind, data, start):
    outcome(kind, start + data)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text()
                    | st.sampled_from(
    ["F32", "dtype", "shape", "data_offsets", [0, 4], [1]]),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8))
def test_headers_of_any_json(value):
    for header in (value, {"w": value},
                   {"w": {"dtype": "F32", "shape": value, "data_offsets": [0, 4]}},
                   {"w": {"dtype": value, "shape": [1], "data_offsets": [0, 4]}},
                   {"__metadata__": value},
                   {"w": {"dtype": "F32", "shape": [1], "data_offsets": value}}):
        outcome("safetensors", tensors(header, bytes(4)))
