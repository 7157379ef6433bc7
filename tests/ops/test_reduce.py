"""Reductions over every combination of axes against NumPy; ``sum_``; rows and columns scaled."""

import inspect
import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import AliasError, DTypeError, ShapeError

from ..support import selection
from ..support.layouts import FLOATS, MIXES, check_hidden, numbers, place, tolerance

ANY_AXES = ("sum", "prod", "mean", "max", "min")
ONE_AXIS = ("argmax", "argmin")


def axes_of(ndim, one_axis):
    """Every way to name axes of so many dimensions."""
    single = [None, *range(-ndim, ndim)]
    if one_axis:
        return single
    return single + [t for k in range(ndim + 1)
                     for t in itertools.permutations(range(ndim), k)] + [(-1,)] * (ndim > 0)


def agree(got, wanted):
    wanted = np.asarray(wanted)
    assert isinstance(got, mat.Mat)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    assert_allclose(got.to_numpy(), wanted, **tolerance(wanted.dtype))


@pytest.mark.parametrize("name", [*ANY_AXES, *ONE_AXIS])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4)], ids=str)
def test_every_combination_of_axes(rng, name, shape):
    x = rng.standard_normal(shape)
    for axis in axes_of(len(shape), name in ONE_AXIS):
        for keepdims in (False, True):
            wanted = getattr(np, name)(x, axis=axis, keepdims=keepdims)
            agree(getattr(mat, name)(mat.array(x), axis, keepdims=keepdims), wanted)
            agree(getattr(mat.array(x), name)(axis=axis, keepdims=keepdims), wanted)
            out = mat.from_numpy(np.empty_like(np.asarray(wanted)))
            assert getattr(mat, name)(mat.array(x), axis=axis, keepdims=keepdims, out=out) is out
            agree(out, wanted)


@pytest.mark.parametrize("name", [*ANY_AXES, *ONE_AXIS])
def test_dtypes_as_numpys(rng, name, numpy_dtype):
    x = numbers(rng, (3, 4), numpy_dtype)
    agree(getattr(mat, name)(mat.array(x), axis=0), getattr(np, name)(x, axis=0))
    agree(getattr(mat, name)(mat.array(x)), getattr(np, name)(x))


LONG = {"float64": (2000, 400.0), "float32": (300, 50.0)}  # and what is soon too large


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("dtype", LONG)
@pytest.mark.parametrize("n", [1, 40, 300])
def test_products_that_overflow_in_parts_are_those_in_turn(n, dtype, device):
    length, large = LONG[dtype]
    a = np.full((n * length // 10, 3), large, dtype)
    a[7, :2] = 0
    a[0, 1] = -1
    with np.errstate(all="ignore"), mat.use_device(device):
        for b in (a, a.T.copy().T, np.where(np.arange(len(a))[:, None] == 2, np.inf, a),
                  np.where(np.arange(len(a))[:, None] == 5, np.nan, a).astype(dtype)):
            x = mat.array(b.astype(dtype), order="K")
            assert_array_equal(mat.prod(x, axis=0).to_numpy(), np.prod(b.astype(dtype), axis=0))
            for k in range(3):
                assert_array_equal(mat.prod(x[:, k]).to_numpy(), np.prod(b[:, k].astype(dtype)))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("dtype", LONG)
@pytest.mark.parametrize("n", [1, 2000, 30_000])
def test_variances_of_large_numbers_are_infinite(n, dtype, device):
    large = np.finfo(dtype).max * 0.9
    for line in ([large, -large, 0], [large, large, large / 2], [large, -large, np.inf],
                 [np.nan, large, -large]):
        a = np.tile(np.array(line, dtype), n)
        rows = np.stack([a, a[::-1], np.ones_like(a)], 1)
        with np.errstate(all="ignore"), mat.use_device(device):
            x, y = mat.array(a), mat.array(rows)
            assert_array_equal(mat.var(x).to_numpy(), np.var(a))
            assert_array_equal(mat.var(y, axis=0).to_numpy(), np.var(rows, axis=0))
            assert_array_equal(mat.var(y.T.copy(), axis=1).to_numpy(), np.var(rows, axis=0))


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
def test_elements_are_converted_first(rng, name, dtype):
    x = numbers(rng, (3, 4), "int16")
    for axis in (None, 1):
        wanted = getattr(np, name)(x.astype(dtype), axis=axis).astype(dtype)
        agree(getattr(mat, name)(mat.array(x), axis, dtype), wanted)
        agree(getattr(place(x, "strided"), name)(axis=axis, dtype=np.dtype(dtype)), wanted)
        if name != "mean" or (dtype != "int8" and dtype != "int64"):
            agree(mat.array(getattr(x, name)(axis=axis, dtype=dtype)), wanted)  # as NumPy has it
    out = mat.empty(3, dtype="float64" if dtype != "complex128" else dtype)
    assert mat.sum(mat.array(x), 1, out=out, dtype=dtype) is out
    assert_array_equal(out.to_numpy(), x.sum(axis=1))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32"])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_elements_are_reduced_in_the_dtype_whatever_that_of_out(name, dtype):
    x = np.array([[100, 100, 0.1, 3], [1, 2, 3, 4]])
    for out in "float64", "float32":
        wanted = getattr(np, name)(x, axis=1, dtype=dtype, out=np.zeros(2, out))
        found = getattr(mat, name)(mat.array(x), axis=1, dtype=dtype, out=mat.zeros(2, dtype=out))
        assert_array_equal(found.to_numpy(), wanted)
    torn = mat.ones(3)
    with pytest.raises(ShapeError, match="out has"):
        getattr(mat, name)(mat.array(x), axis=1, dtype=dtype, out=torn)
    assert_array_equal(torn.to_numpy(), [1, 1, 1])


@pytest.mark.parametrize("name", [*ANY_AXES, *ONE_AXIS])
def test_parameters_are_numpys_in_numpys_order(name):
    def of(function):
        return [(p.name, p.kind) for p in inspect.signature(function).parameters.values()]

    assert of(getattr(mat, name)) == of(getattr(np, name))
    assert of(getattr(mat.Mat, name))[1:] == of(getattr(np, name))[1:]


W = np.array([[True, False, True], [False, True, True]])
MORE = {
    "sum": [(0, None, None, True), (None, None, None, False, 3), (1, None, None, False, 0, W)],
    "mean": [(0, None, None, True)],
    "max": [(0, None, True), (None, None, False, 7), (1, None, False, 0, W)],
    "argmax": [(0, None)]}
NAMED = {
    "sum": [{"initial": 2}, {"where": W, "axis": 0}, {"where": W, "dtype": "float64"},
            {"initial": 1, "keepdims": True, "axis": (0, 1)}],
    "mean": [{"where": W}, {"where": W, "axis": 1, "keepdims": True}],
    "max": [{"initial": 2}, {"where": W, "axis": 0, "initial": 1}, {"initial": 5, "axis": -1}],
    "argmax": [{"keepdims": True}, {"axis": 1, "keepdims": True}]}
LIKE = {"prod": "sum", "min": "max", "argmin": "argmax"}


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64"])
@pytest.mark.parametrize("name", [*ANY_AXES, *ONE_AXIS])
def test_by_position_and_by_keyword_as_numpys(rng, name, dtype):
    x = numbers(rng, (2, 3), dtype)
    kind = LIKE.get(name, name)
    calls = [(args, {}) for args in MORE[kind]] + [((), kwargs) for kwargs in NAMED[kind]]
    for args, kwargs in calls:
        if dtype == "bool" and "initial" in kwargs and kind == "max":
            continue  # of ints, NumPy has it
        wanted = getattr(x, name)(*args, **kwargs)
        agree(getattr(mat.array(x), name)(*args, **kwargs), wanted)
        agree(getattr(mat, name)(mat.array(x), *args, **kwargs), wanted)
        if "where" in kwargs:
            agree(getattr(mat, name)(x, **{**kwargs, "where": mat.array(kwargs["where"])}), wanted)
            kwargs = {**kwargs, "out": (out := mat.array(np.zeros_like(wanted)))}
            assert getattr(mat.array(x), name)(**kwargs) is out
            agree(out, wanted)


def test_numbers_and_sequences_are_reduced():
    assert type(mat.sum(3.0)) is np.float64
    agree(mat.max([1, 4, 2]), np.max([1, 4, 2]))
    agree(mat.sum([[1, 2], [3, 4]], 1, initial=2), np.array([5, 9]))


def test_a_sum_of_bools_is_a_bool_where_out_is():
    for x in ([[True, False], [False, False]], [[1, -1], [0, 0]]):
        x = np.array(x)
        for name in ("sum", "prod"):
            out = mat.zeros(2, dtype="bool")
            assert getattr(mat, name)(mat.array(x), 1, out=out) is out
            agree(out, getattr(np, name)(x, 1, out=np.zeros(2, bool)))
            agree(getattr(mat.array(x > 0), name)(1, "bool"), getattr(x > 0, name)(1, "bool"))


def test_a_bad_axis_is_an_axis_error_of_ours_and_numpys():
    for call in (lambda x: x.sum(2), lambda x: x.sum(-3, initial=1), lambda x: x.argmax(2),
                 lambda x: x.mean((0, 5)), lambda x: x.max(7, where=x > 0, initial=1)):
        for kind in (mat.AxisError, ShapeError, np.exceptions.AxisError, IndexError):
            with pytest.raises(kind):
                call(mat.ones(2, 3))


@pytest.mark.parametrize("name", [*ANY_AXES, *ONE_AXIS])
@pytest.mark.parametrize("layout", MIXES)
def test_layouts(rng, name, layout):
    x = rng.standard_normal((3, 4, 2))
    view = place(x, MIXES[layout][0])
    agree(getattr(view, name)(axis=1), getattr(np, name)(x, axis=1))
    agree(getattr(mat, name)(view), getattr(np, name)(x))
    out = place(np.empty((3, 2)), "strided")
    getattr(mat, name)(view, axis=1, out=out)
    assert_allclose(out.to_numpy(), getattr(np, name)(x, axis=1))
    check_hidden(out)


def test_axes_may_be_a_list_or_numpy_integers(rng):
    x = rng.standard_normal((2, 3, 4))
    agree(mat.sum(mat.array(x), axis=[0, 2]), x.sum((0, 2)))
    agree(mat.sum(mat.array(x), axis=np.int64(1)), x.sum(1))
    agree(mat.max(mat.array(x), axis=iter((0, -1))), x.max((0, -1)))
    agree(mat.array(x).argmax(np.int8(-1)), x.argmax(-1))


def test_arrays_are_taken_too(rng):
    x = rng.standard_normal((2, 3))
    agree(mat.sum(x, axis=0), x.sum(0))


def warned(call):
    """Return the messages of a call's warnings, but those of invalid values."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in found if not str(w.message).startswith("invalid value")]


WARNING = {
    **{name: lambda m, x, name=name: getattr(m, name)(x) for name in ("mean", "var", "std")},
    **{f"{name} along": lambda m, x, name=name: getattr(m, name)(x, axis=0, keepdims=True)
       for name in ("mean", "var", "std")},
    **{f"{name} where": lambda m, x, name=name: getattr(m, name)(
        x, where=False, out=m.zeros(())) for name in ("mean", "var", "std")},
    "some": lambda m, x: m.mean(x, axis=0, where=m.asarray(np.arange(x.size).reshape(x.shape) < 2)),
    "method": lambda m, x: x.mean(axis=-1), "into": lambda m, x: m.mean(x, out=m.zeros(())),
    "ddof": lambda m, x: m.var(x, ddof=6), "average": lambda m, x: m.average(x)}


@pytest.mark.host  # devices do not count what where= leaves
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0), (2, 3)])
@pytest.mark.parametrize("name", WARNING)
def test_warnings_are_numpys(name, shape):
    for dtype in ("float32", "float64", "int64", "complex128"):
        if dtype == "complex128" and ("where" in name or name == "into"):
            continue  # which a real `out` cannot take
        a = np.ones(shape, dtype)
        x, wanted = mat.array(a), warned(lambda a=a: WARNING[name](np, a))
        for m in (mat, np):
            assert warned(lambda m=m, x=x: WARNING[name](m, x)) == wanted
    if name in ("mean", "into"):
        with mat.use_device("emulated"):
            assert warned(lambda: WARNING[name](mat, x)) == wanted


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_of_nothing(shape):
    x, m = np.zeros(shape), mat.zeros(shape)
    for name in ("sum", "prod"):
        for axis in (None, *range(len(shape))):
            agree(getattr(m, name)(axis=axis), getattr(x, name)(axis=axis))
    agree(m.mean(), np.asarray(np.nan))
    for axis, n in enumerate(shape):
        agree(m.mean(axis=axis), np.full(shape[:axis] + shape[axis + 1:], np.nan))
        for name in ("max", "min", "argmax", "argmin"):
            if n:
                agree(getattr(m, name)(axis=axis), getattr(x, name)(axis=axis))
            else:
                with pytest.raises(ShapeError, match=f"axis {axis}"):
                    getattr(m, name)(axis=axis)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_the_first_of_equal_ones_is_found(dtype, rng):
    """Among blocks that are compared by their extremes, also where one has no number."""
    x = rng.integers(-50, 50, (3, 5000)).astype(dtype)
    every = [x, x[:, ::-1], np.zeros_like(x), -np.abs(x) * (np.arange(5000) > 1500)]
    if dtype != "int64":
        every += [np.where(np.arange(5000) % 2500 == k, np.nan, x) for k in (0, 1100, 2499)]
    for a in every:
        for name in ("argmax", "argmin"):
            for axis in (None, 0, 1):
                agree(getattr(mat.array(a), name)(axis=axis), getattr(a, name)(axis=axis))


ROWS = [*range(1, 70), 100, 127, 128, 129, 255, 256, 257, 511, 512, 513, 2047, 2048, 2049]


@pytest.mark.parametrize("char", "fdbhilBHIL")
def test_places_in_rows_of_every_length(char, rng):
    """Vectors of every width are filled in part, and rows lie apart, too."""
    few = [0.0, -0.0, 1, -1, math.inf, -math.inf, math.nan] if char in "fd" else \
        [0, np.iinfo(char).min, np.iinfo(char).max]
    for n in ROWS:
        many = rng.uniform(0, 100, (4, n)).astype(char)
        for a in (rng.choice(np.array(few, char), (4, n)), many):
            apart = mat.array(np.concatenate([a, a], axis=1))[:, :n]
            for name in ("argmax", "argmin", "max", "min"):
                for x in (mat.array(a), apart):
                    agree(getattr(x, name)(axis=1), getattr(a, name)(axis=1))


def test_specials_warn_of_nothing():
    inf, nan = math.inf, math.nan
    for dtype in FLOATS:
        x = mat.array([1, nan, 2], dtype)
        assert [x.argmax().item(), x.argmin().item()] == [1, 1]
        assert_array_equal([x.max().item(), x.min().item(), x.sum().item(), x.mean().item()],
                           [nan] * 4)
        assert math.isnan(mat.array([inf, -inf], dtype).sum().item())
        assert mat.full(4, float(np.finfo(dtype).max), dtype).sum().item() == inf


def test_a_nan_in_out_is_not_read():
    out = mat.full(3, np.nan)
    assert_array_equal(mat.sum(mat.ones(2, 3), axis=0, out=out).to_numpy(), [2, 2, 2])
    assert_array_equal(mat.mean(mat.ones(2, 3), axis=0, out=out.fill_(np.nan)).to_numpy(),
                       [1, 1, 1])


def test_out_of_another_dtype():
    x = mat.array([[1.0, 5], [7, 3]])
    assert_array_equal(mat.sum(x, 0, out=mat.zeros(2, dtype="float32")).to_numpy(), [8, 8])
    assert_array_equal(mat.argmax(x, 0, out=mat.zeros(2, dtype="int32")).to_numpy(), [1, 0])
    assert_array_equal(mat.argmin(x, 1, out=mat.zeros(2)).to_numpy(), [0, 1])
    with pytest.raises(DTypeError, match=r"complex128.*float64"):
        mat.sum(x * 1j, 0, out=mat.zeros(2))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "any", "all", "cumsum",
                                  "nansum", "nanmax", "argmax", "trace"])
def test_out_of_another_kind(name, device):
    """NumPy converts the elements to the dtype of `out` first, by any cast."""
    kinds = "?", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64"
    for of, into in itertools.product(kinds, kinds):
        a = np.array([[1.75, 0, 2.5], [0.75, 0, 3.5]]).astype(of)
        out = np.zeros({"cumsum": (2, 3), "trace": ()}.get(name, 3), into)
        axis = {} if name == "trace" else {"axis": 0}
        for module in (np, mat):
            with mat.use_device(device):
                y = mat.array(out)
                call = getattr(module, name)
                if name == "argmax" and out.dtype not in ("?", "int8", "uint8", "int32"):
                    with pytest.raises(TypeError):
                        np.argmax(a, out=out, **axis)
                    continue
                getattr(np, name)(a, out=out, **axis)
                assert call(mat.array(a), out=y, **axis) is y
                assert_array_equal(y.to_numpy(), out, err_msg=f"{of} {into} {module.__name__}")


@pytest.mark.parametrize("dtype", [*FLOATS, "float16", "complex64", "complex128"])
def test_sums_of_negative_zeros_are_zero(dtype):
    """As NumPy's, which begin at 0.0, along each axis, in parts, and of one element."""
    for shape in ((1,), (3, 4), (1, 70), (300, 1), (40, 4000), (4000, 40), (0, 3)):
        a = np.full(shape, -0.0, dtype)
        for x in (mat.array(a), mat.array(a.repeat(2, axis=-1))[..., ::2]):
            for axis in (None, *range(a.ndim)):
                for device in ("cpu", "emulated"):
                    for name in ("sum", "mean") if a.size else ("sum",):
                        with mat.use_device(device):
                            got = getattr(mat, name)(x, axis).to_numpy()
                        wanted = np.asarray(getattr(np, name)(a, axis))
                        assert_array_equal(got, wanted)
                        assert_array_equal(np.signbit(got.real), np.signbit(wanted.real))
                        assert_array_equal(np.signbit(got.imag), np.signbit(wanted.imag))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
def test_out_may_overlap_what_is_read(name, device):
    a = np.arange(1.0, 7).reshape(2, 3)
    with mat.use_device(device):
        for axis, place in ((0, np.s_[0]), (0, np.s_[1, ::-1]), (1, np.s_[:, 2])):
            x = mat.array(a)
            getattr(mat, name)(x, axis=axis, out=x[place])
            wanted = a.copy()
            wanted[place] = getattr(np, name)(a, axis=axis)
            assert_array_equal(x.to_numpy(), wanted)


# sum_


@pytest.mark.parametrize(("axis", "shape"), [(0, (4,)), (1, (3,)), (1, (3, 1)), (0, (2, 2)),
                                             (None, ()), (None, (1, 1)),
                                             ((0, 1), (1,)), ([0, 1], ())], ids=str)
@pytest.mark.parametrize(("alpha", "beta"), [(1, 0), (2, 0), (-1.5, 1), (0, 3), (2, -2)])
def test_sum_into(rng, axis, shape, alpha, beta):
    x, y = rng.standard_normal((3, 4)), rng.standard_normal(shape)
    wanted = alpha * x.sum(tuple(axis) if isinstance(axis, list)
                           else axis).reshape(shape) + beta * y
    for layout in ("packed", "strided", "negative"):
        into = place(np.full(shape, np.nan) if beta == 0 else y, layout)
        assert into.sum_(place(x, layout), axis, alpha, beta) is into
        assert_allclose(into.to_numpy(), wanted)
        check_hidden(into)
    assert_allclose(mat.array(y).sum_(mat.array(x), axis=axis, beta=beta, alpha=alpha).to_numpy(),
                    wanted)


def test_sum_into_must_fit():
    y = mat.ones(3)
    with pytest.raises(ShapeError, match=r"\(2, 4\).*\(4,\).*\(3,\)"):
        y.sum_(mat.ones(2, 4), 0)
    with pytest.raises(AliasError):
        y.sum_(y.reshape(1, 3), 0)
    with pytest.raises(DTypeError, match="float32"):
        y.sum_(mat.ones(2, 3, dtype="float32"), 0)
    with pytest.raises(DTypeError, match=r"0\.5"):
        mat.ones(3, dtype="int64").sum_(mat.ones(2, 3, dtype="int64"), 0, 0.5)
    assert_array_equal(y.to_numpy(), np.ones(3))


# Rows and columns


@pytest.mark.parametrize("layout", MIXES)
def test_scaled_rows_and_columns(rng, layout):
    a, down, across = rng.standard_normal((3, 4)), rng.standard_normal(3), rng.standard_normal(4)
    pa, pd, px = (place(v, MIXES[layout][0]) for v in (a, down, across))
    agree(mat.scale_rows(pd, pa), np.diag(down) @ a)
    agree(mat.scale_columns(px, pa), a @ np.diag(across))
    out = place(np.full((3, 4), np.nan), "block")
    assert mat.scale_rows(pd, pa, out=out) is out
    assert_allclose(out.to_numpy(), np.diag(down) @ a)
    assert mat.scale_columns(px, pa, out) is out
    assert_allclose(out.to_numpy(), a @ np.diag(across))
    check_hidden(out)
    assert pa.scale_rows_(pd) is pa
    assert pa.scale_columns_(px) is pa
    assert_allclose(pa.to_numpy(), np.diag(down) @ a @ np.diag(across))
    check_hidden(pa)


# Any shape, any axes


@settings(max_examples=selection.examples(80))
@given(st.data())
def test_any_array_and_axes(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    x = data.draw(hnp.arrays(np.int32, shape, elements=st.integers(-9, 9)))
    axis = data.draw(st.none() | hnp.valid_tuple_axes(len(shape)))
    keepdims = data.draw(st.booleans())
    name = data.draw(st.sampled_from(ANY_AXES))
    agree(getattr(mat, name)(mat.array(x), axis=axis, keepdims=keepdims),
          getattr(np, name)(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("axis", [0, -1, None, ()])
def test_a_number_has_an_axis_with_initial_and_where_too(axis):
    x = mat.array(3.0)
    assert x.sum(axis=axis, initial=2).item() == 5
    assert mat.max(x, axis=axis, initial=-1.5).item() == 3
    assert mat.prod(x, axis=axis, where=True).item() == 3
    assert mat.min(x, axis=axis, initial=9, where=False).item() == 9


@pytest.mark.host  # on a device, strides decide the order of additions
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64"])
@pytest.mark.parametrize("step", [2, 3, -2, 64])
def test_elements_that_are_apart_have_the_bits_of_adjacent_ones(rng, dtype, step):
    for n in (1, 15, 31, 543, 544, 545, 3001):
        a = numbers(rng, (n * abs(step),), dtype)
        x, a = mat.array(a)[::step], a[::step]
        adjacent = (x if step > 0 else x[::-1]).copy()  # no axis is read backwards
        for name in ("sum", "mean", "max", "min", "any", "all"):
            agree(getattr(x, name)(), getattr(a, name)())
            assert getattr(x, name)().item() == getattr(adjacent, name)().item()


@pytest.mark.parametrize("dtype", ["bool", "int16", "float64", "complex128"])
@pytest.mark.parametrize("n", [2047, 2048, 2049, 300_000])
def test_one_of_many_elements_decides(dtype, n):
    for at in (0, 5, n // 2, n - 1):
        a = np.zeros(n, dtype)
        a[at] = 1
        for b in (a, 1 - a if dtype != "bool" else ~a):
            for x, y in ((mat.array(b), b), (mat.array(b)[1:], b[1:]), (mat.array(b)[::2], b[::2])):
                assert (bool(x.any()), bool(x.all())) == (y.any(), y.all())
                assert mat.count_nonzero(x) == np.count_nonzero(y)
