"""The operators ``// % & | ^ ~ << >>``, divmod and +x of Mats, against NumPy; where a Mat is; the
way to the namespace.
"""

import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import DTypeError

from ..support.layouts import INTEGERS, LAYOUTS, NUMPY_DTYPES, check_hidden, place

ARITHMETIC = {"floordiv": operator.floordiv, "mod": operator.mod}
LOGIC = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
SHIFTS = {"lshift": operator.lshift, "rshift": operator.rshift}
IN_PLACE = {"floordiv": operator.ifloordiv, "mod": operator.imod, "and": operator.iand,
            "or": operator.ior,
            "xor": operator.ixor, "lshift": operator.ilshift, "rshift": operator.irshift}
REALS = (*INTEGERS, "float16", "float32", "float64")
CASES = [*((n, f, d) for n, f in ARITHMETIC.items() for d in REALS),
         *((n, f, d) for n, f in LOGIC.items() for d in ("bool", *INTEGERS)),
         *((n, f, d) for n, f in SHIFTS.items() for d in INTEGERS)]
IDS = [f"{n}-{d}" for n, _, d in CASES]


@pytest.fixture(params=["cpu", "emulated"])
def device(request):
    with mat.use_device(request.param) as found:
        yield found


def values(dtype, shape=(2, 3)):
    """Small numbers, so that shifts are defined, and a 0 among the first ones."""
    return (np.arange(np.prod(shape, dtype=int))
            % 5).reshape(shape).astype(dtype), np.full(shape, 2).astype(dtype)


def same(found, wanted):
    assert isinstance(found, mat.Mat)
    assert found.dtype == wanted.dtype
    assert_array_equal(found.to_numpy(), wanted)


@pytest.mark.parametrize(("name", "function", "dtype"), CASES, ids=IDS)
def test_they_do_what_numpy_does(device, name, function, dtype):
    a, b = values(dtype)
    x, y = mat.array(a), mat.array(b)
    same(function(x, y), function(a, b))
    number = b.item(0)
    same(function(x, number), function(a, number))
    same(function(number, y), function(number, b))
    same(function(x, b), function(a, b))
    same(function(x, b[0, 0]), function(a, b[0, 0]))
    same(function(a, y), function(a, b))
    same(function(a[0, 1], y), function(a[0, 1], b))
    same(function(x, y[0]), function(a, b[0]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "function", "dtype"), CASES[::3], ids=IDS[::3])
@pytest.mark.sample(3)
def test_in_place_they_write_what_is_visible_only(device, name, function, dtype, layout):
    a, b = values(dtype)
    x, y = place(a, layout), place(b, "strided")
    wanted = function(a, b)
    held = x
    x = IN_PLACE[name](x, y)
    assert x is held
    same(x, wanted)
    check_hidden(x)
    same(function(x, y), function(wanted, b))
    x = IN_PLACE[name](x, b.item(0))
    same(x, function(wanted, b.item(0)))


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_with_itself(device, name):
    a = np.array([1, 2, 3], "int64")
    x = mat.array(a)
    same(IN_PLACE[name](x, x), IN_PLACE[name](a.copy(), a))


@pytest.mark.parametrize("shape", [(), (0, 2), (1,)])
def test_any_shape(device, shape):
    a, b = values("int32", shape)
    same(mat.array(a) // mat.array(b), np.asarray(a // b))
    same(~mat.array(a), np.asarray(~a))


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_all_bits_the_other_way_round(device, dtype):
    limits = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    a = np.array([*limits, 1, 0], dtype)
    same(~mat.array(a), ~a)


def test_of_booleans_the_logic_stays_on_the_device():
    with mat.use_device("emulated") as device:
        x, y = mat.array([1.0, 0, 2]) > 0, mat.array([1.0, 1, 0]) > 0
        before, launches = dict(device.transfers), device.launches
        found = [x & y, x | y, x ^ y, ~x]
        assert device.transfers["d2h"] == before["d2h"]
        assert device.launches == launches + 4
        assert [v.tolist() for v in found] == [[True, False, False], [True, True, True],
                                               [False, True, True],
                                               [False, True, False]]


def test_floating_point_specials_are_no_news(device):
    a = np.array([1.0, -1.0, 0.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        same(mat.array(a) // 0, a // 0)
        same(mat.array(a) % 0, a % 0)


def test_divmod_and_plus(device):
    a = np.array([7, -7, 3])
    x = mat.array(a)
    for found, wanted in ((divmod(x, 2), divmod(a, 2)), (divmod(20, x), divmod(20, a))):
        for v, w in zip(found, wanted, strict=True):
            same(v, w)
    same(+x, a)
    assert (+x).storage is not x.storage


def test_what_is_no_operand_is_left_to_the_other_side():
    class Other:
        def __rfloordiv__(self, x):
            return "mine"

        __rdivmod__ = __rfloordiv__

    x = mat.ones(2)
    assert x // Other() == "mine"
    assert divmod(x, Other()) == "mine"
    with pytest.raises(TypeError):
        x & "text"
    with pytest.raises(TypeError):
        "text" | x


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_cannot_be_done_touches_nothing(name):
    x = mat.array([True, False])
    x = x.astype("float32")
    before = x.to_numpy()
    with pytest.raises(mat.DTypeError):
        IN_PLACE[name](x, mat.array([1j, 2], dtype="complex64"))
    assert_array_equal(x.to_numpy(), before)


# Where


def test_to_device():
    x = mat.array([1.0, 2])
    assert x.to_device("cpu") is x or x.device != "cpu"
    with mat.use_device("emulated") as device:
        y = mat.array([1.0, 2])
        assert y.to_device("emulated") is y
        z = y.to_device("cpu")
        assert (z.device, y.device) == ("cpu", device)
        assert z.tolist() == y.tolist()
        assert (z + 1).device == "cpu"
        assert (z // 1).device == "cpu"
        z[0] = 5
        assert y.tolist() == [1, 2]
        w = z.to_device(device)
        assert w.device == device
        assert w.to_numpy().tolist() == [5, 2]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_mT_is_a_view(dtype):
    a = np.arange(12).reshape(2, 2, 3).astype(dtype)
    x = mat.array(a)
    same(x.mT, a.mT)
    assert x.mT.storage is x.storage


# The namespace


@pytest.mark.parametrize("version", [None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"])
def test_the_namespace_is_found(version):
    assert mat.ones(1).__array_namespace__(api_version=version) is mat.array_api


def test_looking_for_it_moves_nothing():
    with mat.use_device("emulated") as device:
        x = mat.ones(3).exp()
        before = dict(device.transfers)
        assert x.mT if x.ndim > 1 else True
        for name in ("__array_namespace__", "to_device", "device", "T", "__floordiv__"):
            getattr(x, name)
        x.__array_namespace__()
        assert device.transfers == before
        assert x.fresh == {"emulated"}


def test_other_attributes_are_still_missed():
    with pytest.raises(AttributeError, match="no attribute 'array_ap'"):
        mat.array_ap  # noqa: B018


@pytest.mark.parametrize("rule", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("number", [Decimal(1), Fraction(3, 2), np.longdouble(1)], ids=repr)
def test_comparisons_with_numbers_of_other_classes(device, rule, number):
    a = np.arange(4.0)
    same(rule(mat.array(a), number), rule(a, number))
    same(operator.ge(mat.array(a), number), operator.le(number, a))


@pytest.mark.skipif(np.dtype("longdouble") == np.float64, reason="no wider floats here")
@pytest.mark.parametrize("rule", [operator.add, operator.mul, operator.pow, mat.maximum],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["int8", "float64"])
def test_no_result_has_elements_that_mats_cannot_have(device, rule, dtype):
    x = mat.ones(3, dtype=dtype)
    for _ in range(2):
        with pytest.raises(DTypeError, match=r"use numpy\.\w+ and its array"):
            rule(x, np.longdouble(2))
    x = x.astype("float64")
    x += np.longdouble(1)
    same(x, np.full(3, 2.0))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "bool", "complex128"])
@pytest.mark.parametrize("form", ["rows", "columns", "apart", "backwards", "element", "read-only"])
def test_arrays_of_few_elements_beside_mats(form, dtype, device):
    whole = (np.arange(24) % 3 + 1).reshape(4, 6).astype(dtype)
    a = {"rows": whole[:, :3].copy(), "columns": whole[:, :3].copy("F"), "apart": whole[:, ::2],
         "backwards": whole[::-1, :3], "element": whole[1, 1, None][0:1].reshape(()),
         "read-only": np.broadcast_to(whole[0, :3], (4, 3))}[form]
    b = (np.arange(12.0) + 1).reshape(4, 3)
    y = mat.array(b)
    for rule in (operator.add, operator.mul, operator.truediv, operator.gt, operator.pow):
        for found, wanted in ((rule(y, a), rule(b, a)), (rule(a, y), rule(a, b))):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-15, strict=True)
    np.testing.assert_allclose(mat.sqrt(a).to_numpy(), np.sqrt(a), rtol=1e-3)
    with mat.fused():
        found, wanted = (y + a) * 2, (b + a) * 2
        if a.flags.writeable:
            a[...] = 0
    np.testing.assert_array_equal(found.to_numpy(), wanted)
    if form != "element":
        np.testing.assert_allclose(mat.dot(a.T, y).to_numpy(), a.T @ b)
