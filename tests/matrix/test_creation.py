"""Making Mats: of values, of nested sequences, of arrays with and without copying; dtypes,
displacement and slack.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal, assert_equal

import mat
from mat.errors import AliasError, ConflictError, DirectionError, DTypeError, MatError, ShapeError

DTYPES = mat.supported_dtypes


def numpy_dtype(name):
    of_ml_dtypes = name.startswith(("bfloat", "float8"))
    return np.dtype(getattr(pytest.importorskip("ml_dtypes"), name) if of_ml_dtypes else name)


def host(x):
    """The elements as an access to them shows them."""
    with x.facet("array", "input") as a:
        return a.copy()


# Mat and the makers of one value


def test_a_new_mat_is_nowhere_until_it_is_looked_at():
    x = mat.Mat((2, 3))
    assert x.fresh == set()
    assert dict(x.facets) == {}
    assert (x.shape, x.ndim, x.size, x.nbytes, x.itemsize,
            x.element_strides) == ((2, 3), 2, 6, 48, 8, (3, 1))
    assert (x.displacement, x.max_size, x.fill_value, x.dtype,
            x.is_contiguous) == (0, 6, 0, np.float64, True)
    assert_array_equal(host(x), np.zeros((2, 3)))
    assert x.fresh == {"host"}
    assert set(x.facets) == {"array"}


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(name):
    dtype = numpy_dtype(name)
    x = mat.Mat((2, 2), name, fill=1, displacement=1, max_size=7)
    assert x.dtype == dtype == mat.Mat(1, dtype).dtype
    assert (x.nbytes, x.itemsize) == (4 * dtype.itemsize, dtype.itemsize)
    assert host(x).dtype == dtype
    assert_array_equal(host(x), np.ones((2, 2), dtype))
    with x.facet("backing", "input") as whole:
        assert_array_equal(whole, np.ones(7, dtype))
    assert_array_equal(mat.zeros(3, dtype=name).to_numpy(), np.zeros(3, dtype))
    assert_array_equal(mat.ones(3, dtype=name).to_numpy(), np.ones(3, dtype))
    assert_array_equal(mat.full(3, 1, dtype=name).to_numpy(), np.full(3, 1, dtype))
    assert_array_equal(mat.eye(2, 3, 1, dtype=name).to_numpy(), np.eye(2, 3, 1, dtype))
    assert_array_equal(mat.arange(2, dtype=name).to_numpy(), np.arange(2).astype(dtype))
    assert mat.empty(3, dtype=name).dtype == dtype
    assert mat.zeros(2, dtype=name).tolist() == [0, 0]


def test_no_dtype_is_missing_from_the_list():
    wanted = {"bool", "float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64",
              "complex64", "complex128",
              *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
    assert set(DTYPES) == wanted


@pytest.mark.parametrize(("made", "wanted"), [
    (lambda: mat.zeros(2, 3), np.zeros((2, 3))), (lambda: mat.zeros((2, 3)), np.zeros((2, 3))),
    (lambda: mat.zeros(),
     np.zeros(())),
    (lambda: mat.zeros(0, 3), np.zeros((0, 3))), (lambda: mat.zeros([4]), np.zeros(4)),
    (lambda: mat.ones(()), np.ones(())),
    (lambda: mat.full(2, -1.5), np.full(2, -1.5)),
    (lambda: mat.full((2, 1), np.nan), np.full((2, 1), np.nan)),
    (lambda: mat.full(2, np.float32(0.1)), np.full(2, np.float32(0.1))),
    (lambda: mat.full(2, 3), np.full(2, 3)), (lambda: mat.full(2, True), np.full(2, True)),
    (lambda: mat.full(2, fill_value=1j), np.full(2, 1j)),
    (lambda: mat.eye(3), np.eye(3)), (lambda: mat.eye(2, 3, -1), np.eye(2, 3, -1)),
    (lambda: mat.eye(0), np.eye(0)),
    (lambda: mat.arange(5), np.arange(5)), (lambda: mat.arange(2, 9, 3), np.arange(2, 9, 3)),
    (lambda: mat.arange(3, 0, -0.5), np.arange(3, 0, -0.5)),
    (lambda: mat.arange(3, 0), np.arange(3, 0)),
    (lambda: mat.arange(2**62, 2**62 + 2, dtype="int64"), np.arange(2**62, 2**62 + 2)),
])
def test_makers(made, wanted):
    x = made()
    assert x.dtype == wanted.dtype
    assert x.shape == wanted.shape
    assert_equal(host(x), wanted)


def test_empty_and_fill_none_can_be_written_whole():
    x = mat.empty(2, 2)
    assert x.fill_value is None
    with x.facet("array", "output") as a:
        a[:] = 5
    assert_array_equal(host(x), np.full((2, 2), 5.0))


def test_the_default_dtype_is_a_setting():
    with mat.settings(dtype="float32"):
        made = [mat.zeros(1), mat.ones(1), mat.full(1, 2.0), mat.empty(1), mat.eye(1),
                mat.arange(1.0), mat.linspace(0, 1), mat.logspace(0, 1), mat.geomspace(1, 2),
                mat.identity(1), mat.Mat(1), mat.array([1.5]), mat.array([[1, 2.5]]), mat.array([]),
                mat.array(1.5), mat.asarray([1, 2.5]), mat.array([np.float32(1), 2.5])]
        assert {x.dtype.name for x in made} == {"float32"}
        kept = [mat.array(np.zeros(1)), mat.array([np.float64(1), 2.5]), mat.full(1, np.float64(1)),
                mat.array([[np.zeros(1)], [[1.0]]]), mat.array([np.float32(1), 2])]
        assert {x.dtype.name for x in kept} == {"float64"}
        others = [mat.array([1]), mat.array(True), mat.array([1j]), mat.arange(2), mat.full(1, 2)]
        assert [x.dtype.name for x in others] == ["int64", "bool", "complex128", "int64", "int64"]


def test_the_default_of_floats_is_floating_whatever_the_setting():
    with mat.settings(dtype="int8"):
        assert mat.zeros(1).dtype == np.int8
        assert mat.array([1.5]).dtype == mat.arange(1.0).dtype == mat.full(1, 1.5).dtype == float


# Displacement and slack


def test_displacement_and_slack_are_invisible_and_survive():
    x = mat.Mat((2, 2), fill=3, displacement=2, max_size=9)
    assert (x.displacement, x.max_size, x.size) == (2, 9, 4)
    with x.facet("array", "output") as a:  # not all of the storage: the rest must survive
        a[:] = [[1, 2], [3, 4]]
    with x.facet("backing", "input") as whole:
        assert_array_equal(whole, [3, 3, 1, 2, 3, 4, 3, 3, 3])


def test_displaced_to_shares_the_storage_also_backwards():
    base = mat.arange(10.0).view(4, 3)
    before = mat.Mat((2, 2), displaced_to=base, displacement=-3)
    after = mat.Mat(5, displaced_to=base, displacement=2, dtype="float64")
    same = mat.Mat((2, 2), displaced_to=base)
    assert (before.displacement, after.displacement, same.displacement) == (0, 5, 3)
    assert_array_equal(host(before), [[0, 1], [2, 3]])
    assert_array_equal(host(after), [5, 6, 7, 8, 9])
    after.fill_(-1)
    same[0, 0] = 7
    assert_array_equal(host(base), [7, 4, -1, -1])
    assert before.max_size == after.max_size == 10
    assert before.fresh == base.fresh


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda y: mat.Mat((2, -1)), ShapeError, r"\(2, -1\)"),
    (lambda y: mat.Mat("ab"), ShapeError, "'ab'"),
    (lambda y: mat.Mat(1.5), ShapeError, "1.5"),
    (lambda y: mat.zeros("float32"), ShapeError, "'float32'"),
    (lambda y: mat.zeros([2, 3], [1]), ShapeError, r"one shape .*\[2, 3\], \[1\]"),
    (lambda y: mat.zeros((2, 3), 4), ShapeError, r"one shape .*\(2, 3\), 4"),
    (lambda y: mat.zeros(2, float, dtype=int), DTypeError, "two dtypes"),
    (lambda y: mat.Mat([[1, 2], [3, 4]]), ShapeError, r"\[3, 4\]\]; mat.array"),
    (lambda y: mat.array(1, 2, 3), DTypeError, r"one list: mat.array\(\[1, 2"),
    (lambda y: mat.arange(), DTypeError, "end of the interval"),
    (lambda y: mat.Mat(2, displacement=-1), ShapeError, "-1"),
    (lambda y: mat.Mat(2, displacement=1.0), ShapeError, "1.0"),
    (lambda y: mat.Mat(2, displacement=2, max_size=3), ShapeError, "max_size 3 .* takes 4"),
    (lambda y: mat.Mat(2, max_size=-1), ShapeError, "-1"),
    (lambda y: mat.Mat(2**62, dtype="bool", displacement=2**63), ShapeError, "64 bits"),
    (lambda y: mat.Mat(2**61), ShapeError, "64 bits"),
    (lambda y: mat.Mat(1, max_size=2**61), ShapeError, "64 bits"),
    (lambda y: mat.Mat(2, displaced_to=y, displacement=-3), ShapeError, "-3.* at 2"),
    (lambda y: mat.Mat(5, displaced_to=y), ShapeError, "storage of 6 elements"),
    (lambda y: mat.Mat(2, "float32", displaced_to=y), DTypeError, "float32.*float64"),
    (lambda y: mat.Mat(2, displaced_to=np.zeros(3)), DTypeError, "ndarray"),
    (lambda y: mat.Mat(2, "float128"), DTypeError, "float128"),
    (lambda y: mat.Mat(2, ">f8"), DTypeError, ">f8"),
    (lambda y: mat.Mat(2, "no such"), DTypeError, "no such"),
    (lambda y: mat.Mat(2, object), DTypeError, "object"),
    (lambda y: mat.Mat(2, {"f": 1}), DTypeError, "'f'"),
    (lambda y: mat.Mat(2, fill="1"), DTypeError, "'1'"),
    (lambda y: mat.Mat(2, fill=1j), DTypeError, "1j"),
    (lambda y: mat.Mat(2, fill=[1]), DTypeError, r"\[1\]"),
    (lambda y: mat.Mat(2, "int8", fill=128), DTypeError, "128"),
    (lambda y: mat.Mat(2, "uint8", fill=-1), DTypeError, "-1"),
    (lambda y: mat.Mat(2, "int32", fill=np.nan), DTypeError, "nan"),
    (lambda y: mat.Mat(2, "int32", fill=np.inf), DTypeError, "inf"),
    (lambda y: mat.full(2, None), DTypeError, "None"),
    (lambda y: mat.eye(-1), ShapeError, "-1"),
    (lambda y: mat.eye(2.5), ShapeError, "2.5"),
    (lambda y: mat.eye(2, k="a"), ShapeError, "'a'"),
    (lambda y: mat.arange("3"), DTypeError, "'3'"),
    (lambda y: mat.arange(0, 5, 0), ShapeError, "steps of 0"),
    (lambda y: mat.arange(np.inf), ShapeError, "inf"),
    (lambda y: mat.arange(np.nan, 3), ShapeError, "nan"),
    (lambda y: mat.arange(127, 130, dtype="int8"), DTypeError, "from 127 to 130 in steps of 1:"),
])
def test_bad_arguments_of_makers(make, error, message):
    y = mat.arange(6.0).view(2, 2)
    assert issubclass(error, MatError)
    with pytest.raises(error, match=message):
        make(y)
    assert_array_equal(host(y), [2, 3])


# array


@pytest.mark.parametrize("obj", [
    [[1, 2], [3, 4]], ((1, 2.5), (3, -4)), 3.5, [], [[], []], [[[1], [2]]], range(4), [True, False],
    [np.float32(1), 2],
    [(1, 2), [3, 4]],
    [np.arange(3), [4, 5, 6]], [[np.arange(2), np.ones(2)], [[7, 8], (9, 10)]],
    [range(2), range(2, 4)], [np.array(1), 2],
])
def test_array_of_nested_sequences_has_numpys_dtype(obj):
    assert_array_equal(host(mat.array(obj)), np.array(obj), strict=True)
    assert_array_equal(host(mat.array(obj, float)), np.array(obj, float), strict=True)


def test_array_takes_mats_and_views_of_mats_as_leaves():
    x = mat.arange(6.0).reshape(2, 3)
    made = mat.array([x[1], [1, 2, 3], np.arange(3), x.T[:, 0]])
    assert_array_equal(host(made), [[3, 4, 5], [1, 2, 3], [0, 1, 2], [0, 1, 2]])
    assert_array_equal(host(mat.array([[mat.array(1), 2], [x[0, 1], mat.full((), 4)]])),
                       [[1, 2], [1, 4]])
    assert_array_equal(host(mat.array((x, x))), np.stack([np.arange(6.0).reshape(2, 3)] * 2))


@pytest.mark.parametrize("name", DTYPES)
def test_array_keeps_the_dtype_of_arrays_mats_and_numpy_scalars(name):
    a = np.array([[0, 1], [1, 0]]).astype(numpy_dtype(name))
    for obj in (a, mat.from_numpy(a), a[0, 1]):
        x = mat.array(obj)
        assert x.dtype == a.dtype
        assert_array_equal(host(x), a if x.ndim else a[0, 1])


@pytest.mark.parametrize("name", [d for d in DTYPES if not d.startswith("complex")])
def test_array_converts(name):
    assert_array_equal(host(mat.array([[0, 1]], name)),
                       np.array([[0, 1]]).astype(numpy_dtype(name)), strict=True)
    assert_array_equal(host(mat.array(np.ones(2, numpy_dtype(name)), "float32")),
                       np.ones(2, np.float32), strict=True)


def test_array_copies():
    a = np.arange(3.0)
    x, y = mat.array(a), mat.array(mat.from_numpy(a))
    a[:] = -1
    assert_array_equal(host(x), [0, 1, 2])
    assert_array_equal(host(y), [0, 1, 2])
    z = mat.array(x)
    z.fill_(9)
    assert_array_equal(host(x), [0, 1, 2])


def test_array_packs_what_is_strided():
    a = np.arange(12.0).reshape(3, 4)
    for view in (a.T, a[::-1, ::2], np.broadcast_to(a[0], (2, 4)), a[:, 1]):
        for order in "CFAK":
            x = mat.array(view, order=order)
            assert x.max_size == x.size
            assert_array_equal(host(x), view)
            wanted = np.array(view, order=order)
            assert tuple(8 * s for s in x.element_strides) == wanted.strides
            x.fill_(0)
    assert_array_equal(a, np.arange(12.0).reshape(3, 4))


def test_array_keeps_large_integers_exact():
    assert mat.array([2**63 - 1, -2**63], "int64").tolist() == [2**63 - 1, -2**63]
    assert mat.array([2**63 - 1, -2**63]).tolist() == [2**63 - 1, -2**63]
    assert mat.array([2**63, 2**64 - 1]).tolist() == [2**63, 2**64 - 1]
    assert mat.array([2**64 - 1], "uint64").tolist() == [2**64 - 1]
    assert mat.array(2**53 + 1, "int64").item() == 2**53 + 1


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_booleans_become_integers_of_any_size(name):
    """NumPy will not compare its booleans with the limits of 64 unsigned bits."""
    x = mat.array([True, False], dtype=name)
    x[1] = np.True_
    assert_array_equal(host(x), np.array([1, 1], name))


def test_array_reads_foreign_byte_order_if_told_the_dtype():
    assert_array_equal(host(mat.array(np.array([1.0, 2.0], ">f8"), "float64")), [1.0, 2.0])


@pytest.mark.parametrize(("obj", "dtype", "error", "message"), [
    ([[1, 2], [3]], None, ShapeError, "ragged"), ([1, [2]], None, ShapeError, "ragged"),
    ([[1, 2], 3],
     None, ShapeError, "ragged"),
    ([np.zeros(2), np.zeros(3)], None, ShapeError, "ragged"), ([np.zeros((2, 2)), np.zeros((2, 3))],
                                                               None, ShapeError, "ragged"),
    ([mat.zeros(2), [1]], None, ShapeError, "ragged"),
    ([mat.zeros(2), 1], None, ShapeError, "ragged"),
    ("abc", None, DTypeError, "str"), (["a", "b"], None, DTypeError, "list"),
    ([1, "2"], None, DTypeError, "numbers"),
    (b"ab", None, DTypeError, "bytes"),
    (None, None, DTypeError, "NoneType"), ([1, None], None, DTypeError, "numbers"),
    ({1, 2}, None, DTypeError, "set"),
    ({1: 2}, None, DTypeError, "dict"), (object(), None, DTypeError, "object"),
    (iter([1]), None, DTypeError, "iterator"),
    (np.array(["a"]), None, DTypeError, "U1"), (np.array([None]), None, DTypeError, "object"),
    ("ab", "float64", DTypeError, "'ab'"), (["1", "x"], float, DTypeError, "'x'"),
    ([2**64, 1], None, DTypeError, "64 bits; dtype='float64'"),
    (np.zeros(2, "f8,i4"), None, DTypeError, "each field"),
    (np.array(["2020-01-01"], "M8[D]"), "float64", DTypeError, "datetime"),
    (np.zeros(1, "f8,i4"), "float64", DTypeError, "numbers"),
    ([1j], float, DTypeError, "complex"), (np.array([1j]), "float32", DTypeError, "complex"),
    ([1j], "int8", DTypeError, "complex"),
    ([1, 300], "int8", DTypeError, "300"), ([-1], "uint64", DTypeError, "-1"),
    ([2**63], "int64", DTypeError, str(2**63)),
    ([0, np.nan], "int32", DTypeError, "nan"), ([np.inf], "int64", DTypeError, "inf"),
    ([1], "float128", DTypeError, "float128"),
    (np.array([1.0], ">f8"), None, DTypeError, "byte order"),
])
def test_array_refuses(obj, dtype, error, message):
    with pytest.raises(error, match=message):
        mat.array(obj, dtype)


# from_numpy


def _arrays(dtype):
    """Arrays of every layout."""
    a = np.arange(24).astype(dtype).reshape(4, 6)
    return {"c": a, "fortran": a.T, "strided": a[::2, 1::3], "negative": a[::-1, ::-2],
            "column": a[:, 2], "empty": a[:0],
            "0-d": a[1, 2:3].reshape(()),
            "empty strided": a[:0, ::2], "length 1": a[2:3, ::-4][:, :1],
            "3-d": a.reshape(2, 2, 6)[:, :, ::-5],
            "inner": a[1:3, 2:4]}


@pytest.mark.host
@pytest.mark.parametrize("kind", list(_arrays("float64")))
@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.sample(3)
def test_from_numpy_shares_memory_both_ways(name, kind):
    a = _arrays(numpy_dtype(name))[kind]
    x = mat.from_numpy(a)
    assert (x.shape, x.dtype) == (a.shape, a.dtype)
    assert x.fresh == {"host"}
    assert_array_equal(host(x), a)
    with x.facet("array", "io") as seen:
        assert np.shares_memory(seen, a) == bool(a.size)
        assert seen.strides == a.strides or a.size < 2 or 1 in a.shape
    if a.size:
        a[...] = 0
        a[(0,) * a.ndim] = 1
        assert x.to_numpy().ravel()[0] == 1
        x.fill_(1)
        assert_array_equal(a, np.ones(a.shape, a.dtype))


@pytest.mark.host
@pytest.mark.parametrize("kind", list(_arrays("float64")))
def test_from_numpy_leaves_what_the_array_does_not_see(kind):
    a = _arrays("float64")[kind]
    base = a.base if a.base is not None else a
    wanted = base.copy()
    mine = np.lib.stride_tricks.as_strided  # the same view of the copy
    offset = (a.__array_interface__["data"][0]
              - base.__array_interface__["data"][0]) // 8 if a.size else 0
    mine(wanted.reshape(-1)[offset:], a.shape, a.strides)[...] = -7
    mat.from_numpy(a).fill_(-7)
    assert_array_equal(base, wanted)


def test_from_numpy_of_a_read_only_array_is_read_only():
    a = np.arange(4.0)
    a.flags.writeable = False
    x = mat.from_numpy(a)
    assert_array_equal(host(x), a)
    for write in (lambda: x.fill_(1), lambda: x.facet("array", "io"), lambda: x[:2].exp_(),
                  lambda: x.facet("foreign", "output")):
        with pytest.raises(DirectionError, match="read-only"):
            write()
    with pytest.raises(DirectionError, match="read-only"):
        x[0] = 1
    assert_array_equal(a, np.arange(4.0))
    assert_array_equal(host(x.copy().fill_(1)), np.ones(4))


def test_from_numpy_of_a_broadcast_array_reads_but_cannot_be_written():
    a = np.array([1.0, 2.0])
    x = mat.from_numpy(np.broadcast_to(a, (3, 2)))
    assert x.element_strides == (0, 1)
    assert_array_equal(host(x), [[1, 2]] * 3)
    with pytest.raises((AliasError, DirectionError)):
        x.fill_(0)
    a[0] = 9
    assert_array_equal(host(x), [[9, 2]] * 3)
    y = mat.from_numpy(np.lib.stride_tricks.as_strided(a, (3, 2), (0, 8), writeable=True))
    with pytest.raises(AliasError, match="overlap"):
        y.fill_(0)
    assert_array_equal(a, [9, 2])


def test_from_numpy_memory_stays_the_users():
    a = np.ones(3)
    x = mat.from_numpy(a)
    with pytest.raises(ConflictError, match="from_numpy"):
        x.drop("host")
    with pytest.raises(ConflictError, match="from_numpy"):
        x.drop("host", force=True)
    x.close()
    assert x.fresh == set()
    assert_array_equal(a, np.ones(3))
    x.fill_(2)
    assert_array_equal(a, np.ones(3))


@pytest.mark.parametrize(("obj", "error", "message"), [
    ([1, 2], DTypeError, "list"), (1.0, DTypeError, "float"), (mat.zeros(2), DTypeError, "Mat"),
    (np.float64(1),
     DTypeError, "float64"),
    (np.ma.array([1, 2], mask=[0, 1]), DTypeError, "MaskedArray"),
    (np.array(["a"]), DTypeError, "U1"),
    (np.array([1.0], ">f8"), DTypeError, "byte order"), (np.zeros(2, "f8,i4"), DTypeError, "f8"),
    (np.zeros(2, np.dtype([("a", "i1"), ("b", "f8")]))["b"], ShapeError, "copies"),
    (np.zeros(9, np.uint8)[1:].view("f8"), ShapeError, "copies"),
])
def test_from_numpy_refuses(obj, error, message):
    with pytest.raises(error, match=message):
        mat.from_numpy(obj)
