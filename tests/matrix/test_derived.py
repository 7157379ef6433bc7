"""Mats that are a part of another Mat's bytes: `real`, `imag` and ``view(dtype)``."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import mat

PARTS = {"real": lambda x: x.real, "imag": lambda x: x.imag, "bits": lambda x: x.view("int64"),
         "rows": lambda x: x[:, 1:].real, "of rows": lambda x: x.imag[1:, ::-1],
         "part of a part": lambda x: x.view("float64").view("uint8")}


def both(shape=(3, 4)):
    a = np.arange(24.0).view(np.complex128).reshape(shape)
    return mat.array(a), a.copy()


def one_element(x):
    x[1, 1] = 5


def a_slice(x):
    x[1:] = 7


def in_place(x):
    x += 3


def by_a_function(x):
    np.add(x, 2, out=x)


def by_a_method(x):
    x.fill(4)


def by_a_mask(x):
    x[x > 3] = 1


WRITES = [one_element, a_slice, in_place, by_a_function, by_a_method, by_a_mask]


def on_the_host(write, x):
    write(x)


def on_a_device(write, x):
    with mat.use_device("emulated"):
        write(x)


@pytest.mark.parametrize("where", [on_the_host, on_a_device])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", PARTS)
def test_writing_a_part_writes_the_whole(name, write, where):
    x, a = both()
    part, wanted = PARTS[name](x), PARTS[name](a)
    where(write, part)
    write(wanted)
    assert_array_equal(part.to_numpy(), wanted)
    assert_array_equal(x.to_numpy(), a)


@given(st.lists(st.tuples(st.sampled_from(["", *PARTS]), st.sampled_from(WRITES[:5]),
                          st.sampled_from([on_the_host, on_a_device])), max_size=6))
def test_parts_are_kept_in_step(steps):
    x, a = both()
    parts = {"": x, **{name: of(x) for name, of in PARTS.items() if name != "part of a part"}}
    arrays = {"": a, **{name: of(a) for name, of in PARTS.items() if name != "part of a part"}}
    for name, write, where in steps:
        if name in parts:
            where(write, parts[name])
            write(arrays[name])
    for name, part in parts.items():
        assert_array_equal(part.to_numpy(), arrays[name])


def test_a_part_shows_elements_that_were_written_to_the_whole():
    x, _ = both((12,))
    part = x.real
    exported = np.asarray(part)
    x[0] = 9
    assert (part[0], part.tolist()[0], np.asarray(part)[0], float(part[:1].sum())) == (9, 9, 9, 9)
    assert exported[0] == 0  # what was exported is not changed
    x[1] = 8
    assert repr(part)[-60:].startswith("<Mat 12") or "8." in repr(part)
    x[2] = 7
    assert pickle.loads(pickle.dumps(part))[2] == copy.deepcopy(part)[2] == 7


def test_printing_copies_nothing():
    x = mat.array([1 + 2j, 3])
    part = x.imag
    with mat.use_device("emulated"):
        x *= 2
        fresh = x.fresh
        assert "[4. 0.]" in repr(part)
        assert x.fresh == fresh


def test_a_part_tells_of_what_it_is():
    x, a = both()
    for name, of in PARTS.items():
        if name != "part of a part":
            assert of(x).base is x, name
            assert not of(x).flags.owndata
            assert (of(x).shape, of(x).dtype) == (of(a).shape, of(a).dtype)
    assert np.real(x).base is x
    assert mat.imag(x).base is x


def test_a_failed_block_changes_neither():
    x, a = both()
    part = x.real

    def fail():
        with part.facet("array") as p:
            p[...] = 5
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert "torn" not in repr(part)
    assert_array_equal(part.to_numpy(), a.real)
    assert_array_equal(x.to_numpy(), a)
    part[0, 0] = 3
    assert x[0, 0] == 3 + 1j


def test_parts_of_what_is_read_only_are_read_only():
    a = np.ones(2, "complex128")
    a.setflags(write=False)
    for x in (mat.from_numpy(a), mat.ones(1, dtype="complex128").broadcast_to(2)):
        for part in (x.real, x.imag, x.view("int64") if x.is_contiguous else x.real):
            with pytest.raises(mat.DirectionError, match="read-only"):
                part[0] = 1


def test_changes_of_both_at_once_are_refused():
    x, _ = both((12,))
    part = x.real

    def write_both():
        with part.facet("array") as p:
            p[0] = 3
            x[1] = 2

    with pytest.raises(mat.ConflictError, match="was changed while a part"):
        write_both()
    assert (x[0], x[1], part[0], part[1]) == (1j, 2, 0, 2)


def test_a_part_can_be_written_in_a_block_of_the_whole():
    x, a = both((12,))
    part = x.real
    with x.facet("array") as p:
        p[0] = 5
        part[1] = 6
        assert part[0] == 5
    a[0], a[1] = 5, 6 + a[1].imag * 1j
    assert_array_equal(x.to_numpy(), a)
    assert_array_equal(part.to_numpy(), a.real)


def test_numpy_computes_with_parts():
    x, a = both((12,))
    x.real += x.imag
    a.real += a.imag
    np.multiply(x.real, 2, out=x.imag)
    np.multiply(a.real, 2, out=a.imag)
    mat.subtract(x.imag, x.real, out=x.real)
    np.subtract(a.imag, a.real, out=a.real)
    assert_array_equal(x.to_numpy(), a)
    assert_array_equal((x.real @ x.imag).to_numpy(), a.real @ a.imag)
    assert_array_equal(mat.concat([x.real, x.imag]).to_numpy(), np.concat([a.real, a.imag]))
    assert_array_equal(x.real[x.imag > 5].to_numpy(), a.real[a.imag > 5])


# On devices


def change_parts(z, ones):
    """Write parts by each of the ways that there are; return what was read of them meanwhile."""
    real, imaginary = z.real, z.imag
    found = [real + imaginary]
    real[0] = 5
    real += 1
    found.append(imaginary * real)
    z.imag = 7
    z.real[:, 1] = ones
    z.T.imag[2] -= ones
    np.negative(imaginary, out=imaginary)
    return [*found, imaginary * 1, np.real(z) * 2, z.T.real[1] * 1]


def check_parts_there(device):
    """Check that nothing of this goes to the host, for packed and other Mats."""
    a = np.arange(48.0).view(np.complex128).reshape(6, 4)
    for part, n in ((np.s_[:3], 4), (np.s_[::2, ::-1], 4), (np.s_[1:4, 1:], 3)):
        z, ones, b = mat.array(a)[part], mat.ones(3), a.copy()[part]
        for x in (z, ones):
            with x.facet(device.facet, "io"):
                pass
        with mat.debug.count_copies() as copies:
            found = change_parts(z, ones)
        assert (copies.d2h, copies.fallbacks) == (0, 0)
        for one, other in zip(found, change_parts(b, np.ones(3)), strict=True):
            assert_array_equal(one.to_numpy(), other)
        assert_array_equal(z.to_numpy(), b)
        assert z.shape == (3, n)


@pytest.mark.host
def test_parts_stay_on_the_device():
    with mat.use_device("emulated", required=True) as device:
        check_parts_there(device)


@pytest.mark.host
def test_parts_follow_from_one_memory_to_another():
    z, b = both()
    with mat.use_device("emulated", required=True):
        part = z.real
        z *= 2
        assert_array_equal((part + 1).to_numpy(), 2 * b.real + 1)
    z[0] = 1j
    assert_array_equal(part.to_numpy()[0], np.zeros(4))
    with mat.use_device("emulated", required=True):
        part += 1
        with pytest.raises(mat.ConflictError), part.facet("array", "io"):
            z *= 2
    assert_array_equal(z.to_numpy()[0], [2 + 2j] * 4)


@pytest.mark.host
def test_a_block_on_a_device_that_fails_changes_neither():
    z, b = both()
    with mat.use_device("emulated", required=True) as device:
        part = z.imag
        with pytest.raises(RuntimeError), part.facet(device.facet, "io"):
            raise RuntimeError
        assert_array_equal((part + 0).to_numpy(), b.imag)
    assert_array_equal(z.to_numpy(), b)


@pytest.mark.host
@pytest.mark.parametrize("test", [test_a_part_shows_elements_that_were_written_to_the_whole,
                                  test_parts_of_what_is_read_only_are_read_only,
                                  test_changes_of_both_at_once_are_refused,
                                  test_a_part_can_be_written_in_a_block_of_the_whole])
def test_what_holds_on_the_host_holds_on_devices(test):
    with mat.use_device("emulated", required=True):
        test()
