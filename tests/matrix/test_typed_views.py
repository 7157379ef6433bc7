"""Views of the bytes of a storage as other dtypes: `real`, `imag` and ``view(dtype)``."""

import copy
import pickle
from contextlib import nullcontext

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
    with pytest.raises(mat.ConflictError):
        x[0] = 9
    assert exported[0] == 0
    del exported
    x[0] = 9
    assert (part[0], part.tolist()[0], np.asarray(part)[0], float(part[:1].sum())) == (9, 9, 9, 9)
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


def test_a_failed_block_leaves_only_what_it_wrote_torn():
    x, a = both()
    part = x.real

    def fail():
        with part.facet("array") as p:
            p[...] = 5
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert "torn" in repr(part)
    assert_array_equal(x.imag.to_numpy(), a.imag)
    with pytest.raises(mat.TornError):
        x.to_numpy()
    part[...] = 3
    assert x[0, 0] == 3 + 1j


def test_parts_of_what_is_read_only_are_read_only():
    a = np.ones(2, "complex128")
    a.setflags(write=False)
    x = mat.from_numpy(a)
    for part in (x.real, x.imag, x.view("int64")):
        with pytest.raises(mat.DirectionError, match="read-only"):
            part[0] = 1
    with pytest.raises(mat.AliasError):
        mat.ones(1, dtype="complex128").broadcast_to(2).real[0] = 1


def test_changes_of_both_at_once_are_those_of_nested_blocks():
    x, _ = both((12,))
    part = x.real
    with part.facet("array") as p:
        p[0] = 3
        with x.facet("array") as a:
            a[1] = 2
    assert (x[0], x[1], part[0], part[1]) == (3 + 1j, 2, 3, 2)


def test_halves_conflict_with_the_whole_only():
    z, _ = both((12,))
    with z.real.facet("array") as r, z.imag.facet("array") as i:
        r[...], i[...] = 1, 2
    assert_array_equal(z.to_numpy(), [1 + 2j] * 12)
    exported = np.asarray(z.real)
    z.imag[...] = 5
    for write in (lambda: z.fill_(0), lambda: z.view("uint8").fill_(0)):
        with pytest.raises(mat.ConflictError):
            write()
    assert exported[0] == 1
    assert not np.shares_memory(z.real, z.imag)
    assert np.may_share_memory(z.real, z.imag)
    assert np.shares_memory(z, z.real)
    assert np.shares_memory(z.view("uint8")[16:], z.imag[1:])


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
    with part.facet("array", "io") as p:
        p *= 2
    assert_array_equal(z.to_numpy()[0], [2 + 1j] * 4)


@pytest.mark.host
def test_a_block_on_a_device_that_fails_changes_no_other_memory():
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
                                  test_halves_conflict_with_the_whole_only])
def test_what_holds_on_the_host_holds_on_devices(test):
    with mat.use_device("emulated", required=True):
        test()


# Random programs, beside NumPy

DTYPES = ("float64", "complex128", "int64", "float32", "int32", "uint8", "complex64", "int16")
PLACES = {"host": nullcontext, "emulated": lambda: mat.use_device("emulated"),
          "tiles": lambda: mat.use_device("emulated", pool_bytes=3000)}


def one_view(draw, a, x):
    """Return views of another kind of the array and the Mat, or None where there is none."""
    kind = draw(st.sampled_from(["dtype", "real", "imag", "part", "row", "turned"]))
    if kind == "dtype":
        dtype = draw(st.sampled_from(DTYPES))
        try:
            return a.view(dtype), x.view(dtype)
        except ValueError:  # of NumPy, or ours where elements are no multiples of their size apart
            return None
    if kind in ("real", "imag"):
        return (getattr(a, kind), getattr(x, kind)) if a.dtype.kind == "c" else None
    index = {"part": np.s_[..., draw(st.integers(0, 2))::draw(st.integers(1, 2))],
             "row": -1, "turned": np.s_[..., ::-1]}[kind]
    return (a[index], x[index]) if a.ndim > 1 or kind != "row" else None


def write(draw, a, x, others):
    """Write an array and a Mat in the same way."""
    kind = draw(st.sampled_from(["add", "fill", "element", "block", "copy", "add another"]))
    if kind == "add":
        a += 1
        x += 1
    elif kind == "fill":
        a[..., 1:] = 3
        x[..., 1:] = 3
    elif kind == "element" and a.size:
        a[(0,) * a.ndim] = x[(0,) * a.ndim] = 5
    elif kind == "block" and a.size:
        a[...] = 2
        with x.facet("array", "output") as v:
            v[...] = 2
    elif kind in ("copy", "add another"):
        b, y = draw(st.sampled_from(others))
        if b.shape == a.shape and np.can_cast(b.dtype, a.dtype, "same_kind"):
            for one, other in ((a, b), (x, y)):
                if kind == "copy":
                    np.copyto(one, other)
                else:
                    one += other


@pytest.mark.host
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(st.data())
def test_views_of_several_dtypes_are_those_of_numpy(place, data):
    n = data.draw(st.sampled_from([4, 8, 512]))
    a = np.arange(1.0, 4 * n + 1).view(data.draw(st.sampled_from(DTYPES[:5]))).reshape(2, -1)
    pairs = [(a, mat.array(a))]
    for _ in range(data.draw(st.integers(1, 12))):
        a, x = data.draw(st.sampled_from(pairs))
        with data.draw(st.sampled_from([nullcontext, PLACES[place]]))():
            if data.draw(st.booleans()):
                write(data.draw, a, x, pairs)
            else:
                made = one_view(data.draw, a, x)
                pairs += [made] if made and made[0].size else []
    for a, x in pairs:
        assert (x.dtype, x.shape, x.flags.c_contiguous) == (a.dtype, a.shape, a.flags.c_contiguous)
        assert x.to_numpy().tobytes() == a.tobytes()


def test_views_that_have_no_whole_elements_are_refused():
    x = mat.arange(9.0).reshape(3, 3)
    for make in (lambda: x.view("complex128"), lambda: x[:, 1:].view("complex128"),
                 lambda: x.T.view("int32"), lambda: mat.array(1.0).view("int32"),
                 lambda: mat.arange(4.0)[1:3].view("complex128")):
        with pytest.raises(mat.ShapeError, match="has no view"):
            make()


@pytest.mark.host
def test_reading_an_attribute_moves_nothing():
    for dtype in ("float64", "complex128"):
        for written in (False, True):
            with mat.use_device("emulated"):
                x = mat.ones((3, 4), dtype=dtype)
                if written:
                    x += 1
                before, fresh = set(x.storage.handles), x.fresh
                with mat.debug.count_copies() as copies:
                    for name in (*dir(type(x)), "__array_interface__", "__cuda_array_interface__"):
                        getattr(x, name, None)
                assert copies.bytes == 0
                assert (set(x.storage.handles), x.fresh) == (before, fresh)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize(("of", "seen"), [("int32", "uint32"), ("int32", "float32"),
                                          ("float32", "int16"), ("int64", "float32"),
                                          ("uint8", "int32"), ("float64", "int64")])
@pytest.mark.parametrize("write", [lambda out, x: out.assign_(x),
                                   lambda out, x: out.__setitem__(..., x),
                                   lambda out, x: np.copyto(out, x, casting="unsafe")])
def test_elements_convert_into_a_view_of_their_own_bytes(device, of, seen, write):
    for n in (16, 300):
        for of_out, of_x in ((slice(1, None), slice(None, -1)), (slice(None), slice(None)),
                             (slice(None), slice(None, None, -1)), (slice(2, None, 2), slice(3))):
            a = np.arange(n).astype(of)
            x = mat.array(a)
            out, source = a.view(seen)[of_out], a[of_x]
            k = min(len(out), len(source))
            out[:k] = source[:k].copy()
            with mat.use_device(device):
                write(x.view(seen)[of_out][:k], x[of_x][:k])
            assert_array_equal(x.to_numpy(), a)


def test_a_view_of_larger_elements_leaves_bytes_at_the_end():
    a = np.arange(12, dtype="int8")
    x = mat.array(a)
    with mat.use_device("emulated"):
        x[:8] *= x[:8].view("int64")
        assert x[:8].view("int64").tolist() == (a[:8] * a[:8].view("int64")).astype("int8").view(
            "int64").tolist()
