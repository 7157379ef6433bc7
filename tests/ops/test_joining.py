"""Copies in another shape, order or dtype; joining; comparing as a whole; mapping over parts."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import mat
from mat.errors import AliasError, ConflictError, DTypeError, IndexOutOfRange, MatError, ShapeError

DTYPES = mat.supported_dtypes


def host(x):
    with x.facet("array", "input") as a:
        return a.copy()


def numpy_dtype(name):
    of_ml_dtypes = name.startswith(("bfloat", "float8"))
    return np.dtype(getattr(pytest.importorskip("ml_dtypes"), name) if of_ml_dtypes else name)


def layouts(dtype="float64"):
    """2 x 3 Mats with the elements 0 ... 5 in every layout."""
    a = np.arange(6).reshape(2, 3).astype(dtype)
    flat = mat.Mat(40, dtype)
    return {"packed": mat.array(a), "displaced": flat.view((2, 3), 3).replace_(a),
            "transposed": flat.view((3, 2), 10).T.replace_(a),
            "strided": flat.view((4, 6), 16)[::2, ::2].replace_(a),
            "reversed": mat.array(a[::-1, ::-1].copy())[::-1, ::-1],
            "adopted": mat.from_numpy(np.asfortranarray(a))}


KINDS = list(layouts())


# Copies


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DTYPES)
def test_copy_contiguous_and_transpose(name, kind):
    dtype = numpy_dtype(name)
    a = np.arange(6).reshape(2, 3).astype(dtype)
    x = layouts(dtype)[kind]
    for made, wanted in ((x.copy(), a), (x.contiguous(), a), (x.T.copy(), a.T),
                         (mat.transpose(x, (1, 0)).copy(), a.T)):
        assert made.is_contiguous
        assert made.dtype == dtype
        assert_array_equal(host(made), wanted, strict=True)
    y = x.copy()
    y.fill_(1)
    assert_array_equal(host(x), a)
    assert (x.contiguous() is x) == x.is_contiguous


@pytest.mark.parametrize("nbytes", [(1 << 18) - 8, 1 << 18, (1 << 20) + 24, (1 << 21) - 8, 1 << 21])
def test_copies_of_all_sizes(rng, nbytes):
    """Also those that are copied at once, by one thread or two, between parts of storages."""
    a = rng.integers(0, 1 << 30, nbytes // 8)
    x, y = mat.array(a), mat.zeros(nbytes // 8, dtype="int64")
    for threads in (1, 2):
        with mat.settings(threads=threads):
            for _ in range(2):
                assert_array_equal(x.copy(), a)
                y.fill_(7)
                y[...] = x
                assert_array_equal(y, a)
                y[1:] = x[:-1]
                assert_array_equal(y[:1], a[:1])
                assert_array_equal(y[1:], a[:-1])
                assert_array_equal(mat.concat([x, y[:5], x]), [*a, *y[:5].to_numpy(), *a])


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.sample(6)
def test_astype(source, target):
    a = np.array([[0, 1, 5], [2, 3, 4]]).astype(numpy_dtype(source))
    x = mat.array(a).T
    if source.startswith("complex") and not target.startswith(("complex", "bool")):
        with pytest.raises(DTypeError, match="complex"):
            x.astype(target)
        return
    made = x.astype(target)
    assert made.storage is not x.storage
    assert_array_equal(host(made), a.T.astype(numpy_dtype(target)), strict=True)


def test_astype_rounds_towards_zero_and_refuses_what_is_no_dtype():
    x = mat.array([1.9, -1.9, 250])
    assert x.astype("int8").tolist() == np.array([1.9, -1.9, 250]).astype("int8").tolist()
    for bad in ("float128", None, "no such", ">f4", object):
        with pytest.raises(DTypeError):
            x.astype(bad)


def test_transpose_of_any_rank_into_out():
    x = mat.arange(24.0).reshape(2, 3, 4)
    a = np.arange(24.0).reshape(2, 3, 4)
    out = mat.Mat((4, 2, 3), displacement=2, max_size=30)
    assert mat.transpose(x, (2, 0, 1), out=out) is out
    assert_array_equal(host(out), a.transpose(2, 0, 1))
    assert_array_equal(host(mat.transpose(x)), a.T)
    assert_array_equal(host(mat.transpose(x, (-1, 1, 0))), a.transpose(-1, 1, 0))
    assert mat.transpose(mat.full((), 3.0)).item() == 3
    with mat.debug.count_copies() as n:
        _ = x.T
    assert n.packs == 0
    with mat.debug.count_copies() as n:
        assert mat.transpose(x).storage is x.storage
        assert mat.transpose(x, (1, 2, 0)).element_strides == (4, 1, 12)
    assert n.packs == 0


# Joining


@st.composite
def parts(draw):
    """Arrays that agree but on one axis."""
    ndim = draw(st.integers(1, 3))
    axis = draw(st.integers(-ndim, ndim - 1))
    shape = draw(st.lists(st.integers(0, 3), min_size=ndim, max_size=ndim))
    arrays = []
    for k in range(draw(st.integers(1, 3))):
        shape[axis] = draw(st.integers(0, 3))
        dtype = draw(st.sampled_from(["float64", "float32", "int16", "complex64"]))
        arrays.append((np.arange(np.prod(shape)).reshape(shape) + 100 * k).astype(dtype))
    return arrays, axis


@given(parts())
def test_concat_is_numpys(case):
    arrays, axis = case
    wanted = np.concatenate(arrays, axis)
    mats = [mat.array(a.T).T if k % 2 else mat.array(a) for k, a in enumerate(arrays)]
    made = mat.concat(mats, axis)
    assert_array_equal(host(made), wanted, strict=True)
    out = mat.Mat(wanted.shape, "complex128", displacement=1, max_size=wanted.size + 2)
    assert mat.concat(iter(mats), axis=axis, out=out) is out
    assert_array_equal(host(out), wanted)
    with out.facet("backing", "input") as whole:
        assert_array_equal(whole[[0, -1]], [0, 0])


@given(st.lists(st.integers(0, 3), max_size=3), st.integers(1, 3), st.data())
def test_stack_is_numpys(shape, count, data):
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    arrays = [np.arange(np.prod(shape, dtype=int)).reshape(shape) + 10.0 * k for k in range(count)]
    assert_array_equal(host(mat.stack([mat.array(a) for a in arrays], axis)),
                       np.stack(arrays, axis), strict=True)


@pytest.mark.parametrize("name", DTYPES)
def test_joining_keeps_the_dtype(name):
    x = mat.ones(2, dtype=numpy_dtype(name))
    assert mat.concat([x, x]).dtype == mat.stack([x, x]).dtype == x.dtype
    assert mat.concat([x, x, x]).shape == (6,)


@pytest.mark.parametrize("join", ["concatenate", "stack", "vstack", "hstack"])
@pytest.mark.parametrize(("made", "seen"), [("float64", "int32"), ("float64", "uint8"),
                                            ("int16", "float64"), ("float32", "complex64")])
def test_joining_views_of_another_element_type(made, seen, join):
    """Each element is as long as those of the view, not as those of the storage."""
    a = np.arange(48).astype(made)
    x = mat.array(a).view(seen)
    assert_array_equal(getattr(mat, join)([x, x]), getattr(np, join)([a.view(seen)] * 2))
    assert_array_equal(getattr(mat, join)([x[3:], x[3:]]),
                       getattr(np, join)([a.view(seen)[3:]] * 2))


def test_concat_of_views_of_one_storage():
    x = mat.arange(6.0).reshape(2, 3)
    assert_array_equal(host(mat.concat([x, x[::-1], x[:1]])),
                       [[0, 1, 2], [3, 4, 5], [3, 4, 5], [0, 1, 2], [0, 1, 2]])
    y = mat.zeros(3, 2)
    mat.concat([x[:, 0], x[:, 1]], out=y.view(4))  # another storage
    assert_array_equal(host(y), [[0, 3], [1, 4], [0, 0]])


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: mat.concat([]), ShapeError, "at least one"),
    (lambda x: mat.stack([]), ShapeError, "at least one"),
    (lambda x: mat.concat([x, 1]), ShapeError, r"\(\)"),
    (lambda x: mat.stack([x, ["a"]]), DTypeError, "'a'"),
    (lambda x: mat.concat([x, x.T]), ShapeError, r"\(2, 3\) and \(3, 2\)"),
    (lambda x: mat.concat([x, x[0]]), ShapeError, r"\(2, 3\) and \(3,\)"),
    (lambda x: mat.concat([x], 2), ShapeError, "axis 2"),
    (lambda x: mat.concat([mat.zeros(())]), ShapeError, "axis 0"),
    (lambda x: mat.concat([x], "a"), ShapeError, "'a'"),
    (lambda x: mat.stack([x, x.T]), ShapeError, "equal shapes"),
    (lambda x: mat.stack([x], 3), ShapeError, "axis 3"),
    (lambda x: mat.concat([x, x], out=mat.zeros(4, 4)), ShapeError, r"\(4, 3\).*\(4, 4\)"),
    (lambda x: mat.concat([x], out=np.zeros((2, 3))), DTypeError, "ndarray"),
    (lambda x: mat.concat([x.astype("complex64")], out=mat.zeros(2, 3)), DTypeError, "complex"),
    (lambda x: mat.concat([x, x], out=mat.zeros(4, 1).broadcast_to(4, 3)), AliasError, "overlap"),
    (lambda x: mat.concat([x.astype("float16"), x.astype("bfloat16")]), DTypeError, "float16"),
    (lambda x: mat.transpose(x, (0, 0)), ShapeError, "twice"),
    (lambda x: mat.transpose(x, 0), ShapeError, "2 axes"),
    (lambda x: mat.transpose("text"), DTypeError, "text"),
    (lambda x: mat.transpose(x, out=mat.zeros(2, 3)), ShapeError, r"\(3, 2\)"),
    (lambda x: mat.transpose(x, out=x.T), AliasError, "overlaps"),
    (lambda x: mat.transpose(x, out=3), DTypeError, "int"),
    (lambda x: mat.transpose(x.astype("complex64"), out=mat.zeros(3, 2)), DTypeError, "complex"),
])
def test_bad_joining_and_transposing_touches_nothing(call, error, message):
    if message == "float16":
        pytest.importorskip("ml_dtypes")
    x = mat.arange(6.0).reshape(2, 3)
    version = x.storage.version
    with pytest.raises(error, match=message):
        call(x)
    assert x.storage.version == version
    assert_array_equal(host(x), np.arange(6).reshape(2, 3))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("block", [nullcontext, mat.fused])
@pytest.mark.parametrize("size", [12, 30_000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bfloat16"])
def test_what_is_joined_may_overlap_the_output(dtype, size, block, device):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    a = np.arange(size).astype(numpy_dtype(dtype))
    half, wide = size // 2, (2, size // 2)
    for call in (lambda m, y, x: m.concatenate([x[2:], x[:2]], out=y),
                 lambda m, y, x: m.concatenate([x[half:], x[:half]], out=y),
                 lambda m, y, x: m.concatenate([x.reshape(wide)[:, 1:], x.reshape(wide)[:, :1]], 1,
                                               y.reshape(wide)),
                 lambda m, y, x: m.concatenate([x[::-1], x[:0]], out=y),
                 lambda m, y, x: m.concatenate([m.broadcast_to(x[3:4], (half,)), x[:half]], out=y),
                 lambda m, y, x: m.concatenate([x[:half], x[:half]], out=y, dtype=None),
                 lambda m, y, x: m.stack([x[half:], x[:half]], out=y.reshape(wide)),
                 lambda m, y, x: m.stack([x[half:], x[:half]], 1, y.reshape(wide).T)):
        x, b = mat.array(a), a.copy()
        with mat.use_device(device), block():
            x += 0
            call(np, x, x)
        call(np, b, a)  # of what was there before
        assert_array_equal(host(x), b)


# Comparing


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DTYPES)
def test_equals_and_allclose(name, kind):
    x = layouts(numpy_dtype(name))[kind]
    y = layouts(numpy_dtype(name))["packed"]
    assert x.equals(y) is True
    assert mat.allclose(x, y) is True
    y[1, 2] = 0
    assert x.equals(y) is False
    assert mat.allclose(x, y) is False


def test_equals_needs_equal_shapes_and_knows_nan():
    x = mat.arange(6.0)
    assert not x.equals(x.reshape(2, 3))
    with pytest.raises(ValueError, match="broadcast"):
        mat.allclose(x, x.reshape(2, 3))
    assert x.equals(x)
    assert x.equals(x.astype("int8"))
    assert mat.zeros(0).equals(mat.zeros(0))
    assert not mat.zeros(0, 2).equals(mat.zeros(2, 0))
    nan = mat.full(2, np.nan)
    assert not nan.equals(nan)
    assert not mat.allclose(nan, nan)
    assert mat.allclose(nan, nan, equal_nan=True)


@pytest.mark.parametrize(("a", "b", "rtol", "atol"), [
    (1.0, 1.0 + 1e-9, 1e-5, 1e-8), (1.0, 1.1, 1e-5, 1e-8), (1.0, 1.1, 0.2, 0), (0.0, 1e-9, 0, 1e-8),
    (0.0, 1e-7, 0, 1e-8),
    (np.inf, np.inf, 0, 0),
    (np.inf, -np.inf, 1, 1), (100.0, 101.0, 0.01, 0), (101.0, 100.0, 0.0099, 0),
])
def test_allclose_is_numpys(a, b, rtol, atol):
    x, y = mat.full(3, a), mat.full(3, b)
    assert mat.allclose(x, y, rtol, atol) == np.allclose(a, b, rtol, atol)
    assert mat.allclose(x, y, rtol=rtol, atol=atol) == np.allclose(a, b, rtol, atol)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: x.equals(np.zeros(3)), DTypeError, "ndarray"),
    (lambda x: x.equals(None), DTypeError, "NoneType"),
])
def test_bad_comparisons(call, error, message):
    with pytest.raises(error, match=message):
        call(mat.arange(3.0))


# Mapping


def test_map_concat_gives_each_its_stretch():
    x = mat.Mat(10, displacement=2, max_size=14)
    mats = [mat.full(2, 1.0), mat.full((2, 2), 2.0), mat.full((), 3.0)]
    seen = []

    def copy(m, part):
        seen.append((m, part.shape, part.displacement))
        part.copy_(m)
    assert mat.map_concat(copy, mats, x) is x
    assert_array_equal(host(x), [1, 1, 2, 2, 2, 2, 3, 0, 0, 0])
    assert [(shape, d) for _, shape, d in seen] == [((2,), 2), ((2, 2), 4), ((), 8)]
    assert [m for m, _, _ in seen] == mats or all(m is n for (m, _, _),
                                                  n in zip(seen, mats, strict=True))


def test_map_concat_with_a_key_and_back_again():
    x = mat.arange(6.0)
    pairs = [("a", mat.zeros(2)), ("b", mat.zeros(2, 2))]
    mat.map_concat(lambda pair, part: mat.blas.copy(part, pair[1]), pairs, x,
                   key=lambda pair: pair[1])
    assert [m.tolist() for _, m in pairs] == [[0, 1], [[2, 3], [4, 5]]]


def test_map_displacements_walks_while_the_window_fits():
    x = mat.arange(8.0)[1:]
    found = []
    assert mat.map_displacements(lambda w: found.append(w.tolist()), x, (1, 3)) is x
    assert found == [[[1, 2, 3]], [[4, 5, 6]]]
    found.clear()
    mat.map_displacements(lambda w: found.append(w.tolist()), x, 3, start=1, step=2)
    assert found == [[2, 3, 4], [4, 5, 6]]
    found.clear()
    mat.map_displacements(lambda w: found.append(w.displacement), x, 8)
    assert found == []
    mat.map_displacements(lambda w: w.fill_(w.displacement), x, 2, step=5)
    assert_array_equal(host(x), [1, 1, 3, 4, 5, 6, 6])


def test_map_into():
    x, y = mat.arange(4.0).reshape(2, 2), mat.array([10.0, 20, 30, 40])
    out = mat.Mat(4, "int16", displacement=1, max_size=6)
    assert mat.map_into(out, lambda a, b: a * b, x, y) is out
    assert out.tolist() == [0, 20, 60, 120]
    assert mat.map_into(x, lambda a: -a, x).tolist() == [[0, -1], [-2, -3]]
    assert mat.map_into(x.T, lambda a: a + 1, x.T).tolist() == [[1, -1], [0, -2]]
    kinds = set()
    mat.map_into(x, lambda a: kinds.add(type(a)) or 1, x)
    assert kinds == {float}


def test_map_into_writes_nothing_when_the_function_fails():
    x = mat.arange(4.0)
    with pytest.raises(ZeroDivisionError):
        mat.map_into(x, lambda a: 1 / (a - 2), x)
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: mat.map_concat(print, [mat.zeros(3), mat.zeros(4)], x), ShapeError,
     "more than the 6"),
    (lambda x: mat.map_concat(print, [1], x), DTypeError, "int"),
    (lambda x: mat.map_concat(print, [x], [1]), DTypeError, "list"),
    (lambda x: mat.map_concat(print, [x], x.reshape(2, 3).T), ShapeError, "packed"),
    (lambda x: mat.map_displacements(print, x, 2, step=0), ShapeError, "step 0"),
    (lambda x: mat.map_displacements(print, x, 2, step=-1), ShapeError, "-1"),
    (lambda x: mat.map_displacements(print, x, 2, start=-1), ShapeError, "-1"),
    (lambda x: mat.map_displacements(print, x, 2, start=0.5), ShapeError, "0.5"),
    (lambda x: mat.map_displacements(print, x, -2), ShapeError, "-2"),
    (lambda x: mat.map_displacements(print, x, 0), ShapeError, "step 0"),
    (lambda x: mat.map_displacements(print, x[::2], 2), ShapeError, "packed"),
    (lambda x: mat.map_displacements(print, np.zeros(2), 2), DTypeError, "ndarray"),
    (lambda x: mat.map_into(x, lambda a: a, mat.zeros(5)), ShapeError, r"\(6,\), \(5,\)"),
    (lambda x: mat.map_into(x, lambda: 1), ShapeError, "at least one"),
    (lambda x: mat.map_into(x, lambda a: a, [1] * 6), DTypeError, "list"),
    (lambda x: mat.map_into(x, lambda a: "a", x), DTypeError, "numbers"),
    (lambda x: mat.map_into(x, lambda a: None, x), DTypeError, "numbers"),
    (lambda x: mat.map_into(x, lambda a: [a, a], x), ShapeError, "one number"),
    (lambda x: mat.map_into(x, lambda a: 1j, x), DTypeError, "complex"),
    (lambda x: mat.map_into(mat.zeros(6, dtype="int8"), lambda a: 300, x), DTypeError, "300"),
    (lambda x: mat.map_into(mat.zeros(1).broadcast_to(6), lambda a: a, x), AliasError, "overlap"),
])
def test_bad_mapping_touches_nothing(call, error, message, capsys):
    x = mat.arange(6.0)
    with pytest.raises(error, match=message):
        call(x)
    assert capsys.readouterr().out == ""
    assert_array_equal(host(x), np.arange(6))


def test_errors_while_mapping_leave_the_shape_alone():
    x = mat.arange(6.0)
    with pytest.raises(IndexOutOfRange):
        mat.map_displacements(lambda w: w[2], x, 2)
    with pytest.raises(ConflictError), x.facet("array", "input"):
        mat.map_concat(lambda m, part: part.view_(1).displace_(0) and x.view_(2), [mat.zeros(2)], x)
    assert x.shape == (6,)
    assert issubclass(ConflictError, MatError)
