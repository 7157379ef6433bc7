"""Small Mats that are copied, converted, sorted, assigned and counted at once: with NumPy's
elements, and under the rules of accesses.
"""

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import ConflictError, DirectionError, TornError
from mat.errors import AliasError, IndexOutOfRange

from ..support.mock_memories import registered
from ..support.needs import native

pytestmark = pytest.mark.host
TYPES = ("bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64")


def values(shape, dtype):
    """Distinct elements, as far as the dtype has so many."""
    return (np.arange(np.prod(shape, dtype=int)) * 7 % 31).reshape(shape).astype(dtype)


# Assignments

PARTS = [  # the index of the target, and that of the source
    (np.s_[1:], np.s_[:-1]), (np.s_[:], np.s_[:]), (np.s_[...], np.s_[...]),
    (np.s_[2:5], np.s_[3:6]), (np.s_[-3:], np.s_[1:4]), (np.s_[5:2], np.s_[3:3]),
    (np.s_[::2], np.s_[1::2]),
    (np.s_[3], np.s_[-1]), (np.s_[2, ...], np.s_[1]), (np.s_[None, 4], np.s_[0:1]),
    (np.s_[1:3, :], np.s_[0:2]), (np.s_[:, 1], np.s_[:, 0]), (np.s_[4, 2:], np.s_[5, :-2]),
    (np.s_[2:4], np.s_[1:2]), (np.s_[2:4], np.s_[1]), (np.s_[np.int64(2)], np.s_[3])]


@pytest.mark.parametrize("there", TYPES[3:8:2])
@pytest.mark.parametrize(("to", "at"), PARTS, ids=str)
def test_parts_are_assigned_as_numpy_does(to, at, there):
    a, b = np.zeros((6, 4), "float64"), values((6, 4), there)
    z, x = mat.array(a), mat.array(b)
    for _ in range(2):
        z[to] = x[at]
        a[to] = b[at]
    assert_array_equal(z.to_numpy(), a, strict=True)
    assert_array_equal(x.to_numpy(), b, strict=True)
    y = mat.array(b)
    y[to], b[to] = y[at], b[at].copy()  # of one storage
    assert_array_equal(y.to_numpy(), b, strict=True)


@pytest.mark.parametrize(("dtype", "value"), [
    (dtype, value) for dtype in ("int32", "int64", "float16", "float32", "float64", "complex64")
    for value in (0.5, -3, 2**53 + 1, 1e300, float("nan"), True)
    if "float" in dtype or "complex" in dtype or abs(value) < 2**31 or (
        dtype == "int64" and type(value) is int)])
def test_numbers_are_assigned_as_numpy_does(dtype, value):
    a = values((6, 4), dtype)
    x = mat.array(a)
    with np.errstate(all="ignore"):
        for index in (np.s_[1:], np.s_[...], np.s_[2], np.s_[-1, 2], np.s_[3:3], np.s_[::2],
                      np.s_[:, 1], np.s_[0, ...], np.s_[2, 1:3], np.s_[np.int64(3)]):
            x[index] = a[index] = value
            assert_array_equal(x.to_numpy(), a, strict=True)
            x[1:3] = a[1:3] = 7


def test_parts_of_one_mat_overlap():
    for to, at in ((np.s_[1:], np.s_[:-1]), (np.s_[:-2], np.s_[2:]), (np.s_[::2], np.s_[1::2]),
                   (np.s_[::-1], np.s_[:]), (np.s_[:4], np.s_[-1:-5:-1])):
        for shape in ((8,), (8, 3)):
            a = values(shape, "float32")
            x = mat.array(a)
            x[to], a[to] = x[at], a[at].copy()
            assert_array_equal(x.to_numpy(), a)
    x, a = mat.ones(4, 4), np.ones((4, 4))
    before = x.storage.version
    for index in (np.s_[1:], np.s_[:, 1], np.s_[::2, 1:], np.s_[2]):
        a[index] += 1.0
        x[index] += 1.0  # which assigns the view to itself
        x[index] = x[index]
    assert x.storage.version == before + 4
    assert_array_equal(x.to_numpy(), a)


def test_integers_that_do_not_fit_are_refused():
    x = mat.array([1, 2, 3])
    for index in (0, slice(1, None), ...):
        for value in (2**63, -(2**63) - 1, 10**400):
            with pytest.raises(TypeError, match="value is"):
                x[index] = value
        with pytest.raises(TypeError):
            mat.ones(3)[index] = 10**400
    x[1:] = 2**63 - 1
    x[0] = -(2**63)
    assert x.tolist() == [-(2**63), 2**63 - 1, 2**63 - 1]


def test_what_cannot_be_assigned_raises_errors():
    x, z = mat.ones(4), mat.zeros(4, 3)
    with pytest.raises(IndexOutOfRange):
        z[4] = x[1:]
    with pytest.raises(IndexOutOfRange):
        z[:, 0, 0] = x
    with pytest.raises(ValueError, match="broadcast"):
        z[0] = x
    read_only = mat.from_numpy(np.broadcast_to(np.float64(1), 4).copy())
    read_only.storage.writable = False
    with pytest.raises(DirectionError):
        read_only[...] = x
    several = mat.zeros(1).broadcast_to((4,))
    for index in (slice(0, 1), slice(None), ...):
        with pytest.raises(AliasError):
            several[index] = x[index]
    assert z.to_numpy().max() == 0


@pytest.mark.parametrize("direction", ["input", "io"])
def test_assignments_conflict_with_accesses_of_other_threads(direction):
    x, z, found = mat.ones(4), mat.zeros(4), []

    def attempt():
        try:
            z[1:] = x[:-1]
        except ConflictError as error:
            found.append(str(error))

    with z.facet("array", direction):
        other = threading.Thread(target=attempt)
        other.start()
        other.join()
    kept = np.asarray(z)
    with pytest.raises(ConflictError, match=r"test_small_copies\.py"):
        z[1:] = x[:-1]
    assert len(found) == 1
    assert kept.max() == 0
    z = mat.zeros(4)
    with z.facet("array", "io") as a:  # the block decides
        z[1:] = x[:-1]
        assert a.tolist() == [0, 1, 1, 1]
        assert z.storage.version == 0
    assert z.storage.version == 1


def test_stale_elements_are_made_fresh_first_and_others_become_stale():
    with registered():
        x, z = mat.ones(4), mat.zeros(4)
        for one, value in ((x, 2), (z, 3)):
            with one.facet("far", "io") as a:
                a[...] = value
        z[1:] = x[:-1]
        assert z.fresh == {"host"}
        assert z.to_numpy().tolist() == [3, 2, 2, 2]
        with z.facet("far", "io") as a:
            a[...] = 5
        z[...] = x
        assert z.fresh == {"host"}
        assert z.copy().to_numpy().tolist() == [2, 2, 2, 2]


def test_torn_elements_are_not_assigned_nor_copied():
    x, z = mat.ones(4), mat.zeros(4)
    x[0] = 2.0
    with pytest.raises(ZeroDivisionError), x.facet("array", "io") as a:
        print(1 / int(a[0] - 2))
    for use in (lambda: z.__setitem__(slice(1, None), x[:-1]), x.copy, lambda: np.sort(x),
                lambda: x.astype("float32"), lambda: np.concatenate([z, x])):
        with pytest.raises(TornError):
            use()
    x[...] = z  # overwrites all
    assert x.to_numpy().max() == 0


@pytest.mark.unchecked("the check finds that two Mats share memory")
@pytest.mark.parametrize("shift", [-1000, -1, 0, 1, 1000, 20_000])
@pytest.mark.parametrize("n", [1000, 20_000])  # more are not promised: docs/layout.md
def test_arrays_of_one_memory(n, shift):
    memory = np.arange(2.0 * n + max(n, shift))
    wanted = memory.copy()
    source, target = slice(n, 2 * n), slice(n + shift, 2 * n + shift)
    wanted[target] = memory[source]
    x, y = mat.from_numpy(memory[source]), mat.from_numpy(memory[target])
    with mat.settings(threads=2):
        y[...] = x
    assert_array_equal(memory, wanted)


# Sorted, converted and joined copies


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_sorted_copies_are_numpys(dtype, axis):
    a = values((5, 7), dtype)
    if np.dtype(dtype).kind in "fc":
        a[2, 3] = np.nan
    x = mat.array(a)
    found = np.sort(x, axis)
    assert type(found) is mat.Mat
    assert_array_equal(found.to_numpy(), np.sort(a, axis), strict=True)
    assert_array_equal(np.sort(x, axis=axis).to_numpy(), np.sort(a, axis), strict=True)
    assert_array_equal(np.sort(x[1:4], axis, kind="stable").to_numpy(), np.sort(a[1:4], axis))
    assert_array_equal(np.sort(x.T, axis).to_numpy(), np.sort(a.T, axis))
    assert_array_equal(x.to_numpy(), a)
    found[...] = x
    assert_array_equal(found.to_numpy(), a)


def test_sorting_refuses_what_it_refused():
    x = mat.ones(3)
    for axis in (1, -2, 10**30):
        with pytest.raises(ValueError, match="axis"):
            np.sort(x, axis)
    with pytest.raises(TypeError):
        np.sort(x, 0.5)
    assert np.sort(mat.zeros(0)).shape == (0,)
    assert np.sort(mat.array([[2, 1]]), None).tolist() == [1, 2]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("wanted", [*TYPES, float, np.int16, np.dtype("float32")])
def test_converted_copies_are_numpys(dtype, wanted):
    a = values((2, 5), dtype)
    x = mat.array(a)
    if a.dtype.kind == "c" and np.dtype(wanted).kind not in "cb":
        with pytest.raises(TypeError):
            x.astype(wanted)
        return
    for part in (np.s_[...], np.s_[1], np.s_[:, ::2]):
        found = x[part].astype(wanted)
        assert_array_equal(found.to_numpy(), a[part].astype(wanted), strict=True)
        assert found.storage is not x.storage
        assert not found.is_view


@pytest.mark.parametrize("given", [(), (0,), (1,), (-1,)])
def test_joined_copies_are_numpys(given):
    parts = [values((3, k), "float32") for k in (2, 2, 2)]
    mats = [mat.array(a) for a in parts]
    named = {"axis": given[0]} if given else {}
    for function in (np.concatenate, np.stack):
        wanted = function(parts, *given)
        assert_array_equal(function(mats, *given).to_numpy(), wanted, strict=True)
        assert_array_equal(function(mats, **named).to_numpy(), wanted, strict=True)
        assert_array_equal(function(mats, *given, dtype="float64").to_numpy(),
                           wanted.astype("float64"), strict=True)
    with pytest.raises(ValueError, match="axis"):
        np.concatenate(mats, 2)
    assert_array_equal(np.concatenate([mats[0], mats[1][:, :1].astype(int)], 1).to_numpy(),
                       np.concatenate([parts[0], parts[1][:, :1].astype(int)], 1), strict=True)


# Numbers at equal distances


@pytest.mark.parametrize("step", [None, 1, 2, 7, -1, -3, 2**61])
def test_counted_integers_are_numpys(step):
    for start, stop in ((0, 10), (3, 3), (5, 2), (-7, 9), (2, 3), (10**6, 10**6 + 20), (0, 9000),
                        (2**60 - 5, 2**60 + 5), (-(2**62), 5 - 2**62)):
        if abs(stop - start) < 10**5:
            wanted = np.arange(start, stop, step)
            assert_array_equal(mat.arange(start, stop, step).to_numpy(), wanted, strict=True)
    for stop in (0, 1, -1, 10, 4096, 10_000):
        assert_array_equal(mat.arange(stop).to_numpy(), np.arange(stop), strict=True)
        assert_array_equal(mat.arange(stop, dtype="int8").to_numpy(), np.arange(stop, dtype="int8"),
                           strict=True)


def test_counting_gives_a_mat_of_its_own():
    x = mat.arange(5, device="cpu")
    assert not x.device_enabled
    x[1:] = mat.arange(4)
    assert (x.tolist(), x.fresh, x.storage.torn) == ([0, 0, 1, 2, 3], {"host"}, None)
    with pytest.raises(TypeError):
        mat.arange(3, stop="a")
    with pytest.raises(ValueError, match="0"):
        mat.arange(0, 3, 0)


# Ufuncs


def test_ufuncs_can_be_called_by_the_protocol_itself():
    x, y, z = mat.ones(3), mat.array([1.0, 2.0, 3.0]), mat.zeros(3)
    given = {"out": (z,)}
    assert x.__array_ufunc__(np.add, "__call__", x, y, **given) is z
    assert mat.Mat.__array_ufunc__(x, np.multiply, "__call__", y, 2.0).tolist() == [2, 4, 6]
    assert z.tolist() == [2, 3, 4]
    assert x.__array_ufunc__(np.add, "reduce", y) == 6
    assert list(given) == ["out"]
    for arguments in ((), (np.add,)):
        with pytest.raises(TypeError, match="requires a ufunc"):
            x.__array_ufunc__(*arguments)


@native
@pytest.mark.unchecked("the check opens an access for each of many rows")
@pytest.mark.parametrize(("dtype", "columns"), [("float64", 30), ("uint8", 240)])
def test_more_rows_than_are_copied_at_once_are_joined(dtype, columns, rng):
    a = rng.integers(0, 99, (10_000, columns)).astype(dtype)
    rows = list(mat.array(a))
    for function in (np.stack, np.vstack, np.concatenate):
        assert_array_equal(function(rows).to_numpy(), function(list(a)))
    assert_array_equal(np.stack(rows[:9000], 1).to_numpy(), a[:9000].T)
    with mat.settings(spill_above=10_000):
        assert_array_equal(np.stack(rows).to_numpy(), a)
    rows[-1][:] = 1
    assert_array_equal(np.stack(rows)[-1].to_numpy(), [1] * columns)


@pytest.mark.unchecked("the check opens an access for each of many rows")
def test_many_exports_of_rows_end_in_any_order(rng):
    a = rng.standard_normal((3000, 4))
    x = mat.array(a)
    assert_array_equal(np.array(list(x)), a)
    held = [np.asarray(row) for row in x]
    for k in rng.permutation(3000)[:2900]:
        held[k] = None
    with pytest.raises(mat.ConflictError):
        x += 1
    del held
    x += 1
    assert_array_equal(x.to_numpy(), a + 1)
