"""Keys of plans: calls that mean the same find one plan, and no call finds the plan of one that
means something else.
"""

import numpy as np
import pytest

import mat
from mat.core.observers import OBSERVERS, Observer
from mat.layout.sliding_window import WindowAxis
from mat.ops.linear.blas_gemm import gemm
from mat.ops.nn.nn import pooling
from mat.ops.primitives.elementwise import clip

ADD, CLIP, EXP, SUM = mat.add.op, clip.op, mat.exp.op, mat.sum.op


@pytest.fixture(autouse=True)
def no_plans():
    """Begin and end without plans."""
    for operation in (ADD, CLIP, EXP, SUM, gemm, pooling):
        operation.forget()
    yield
    for operation in (ADD, CLIP, EXP, SUM, gemm, pooling):
        operation.forget()


def node_of(operation, args, kwargs):
    return operation.walk(operation.root, args, kwargs, False)


def plan_of(operation, *args, **kwargs):
    """Return the plan that a call on the host would find."""
    node = node_of(operation, args, kwargs)
    return None if node is None else node.plan


def matrices(count=3):
    return [mat.ones(2, 3) for _ in range(count)]


# Which calls have a plan in common


@pytest.mark.host
def test_calls_of_equal_forms_find_one_plan():
    x, y, out = matrices()
    assert plan_of(ADD, x, y, out) is None
    ADD(x, y, out)
    plan = plan_of(ADD, x, y, out)
    assert plan is not None
    u, v, other = matrices()
    assert plan_of(ADD, u, v, other) is plan
    ADD(u, v, other)
    assert plan_of(ADD, x, y, out) is plan
    assert ADD.count == 1


@pytest.mark.host
def test_numbers_of_one_type_find_one_plan():
    x, *_ = matrices()
    x.add_(1.5)
    assert plan_of(ADD, x, 2.5, x) is plan_of(ADD, x, 1.5, x) is not None
    assert plan_of(ADD, x, 3, x) is None
    x.add_(3)
    assert plan_of(ADD, x, 4, x) is plan_of(ADD, x, 3, x) is not plan_of(ADD, x, 1.5, x)


@pytest.mark.host
@pytest.mark.parametrize(("dtype", "first", "second", "beyond"), [
    ("int8", -100, -3, -129), ("int8", 100, 127, 128), ("uint8", 200, 255, 256),
    ("int64", -2**40, -1, -2**53), ("uint64", 2**50, 2**53 - 1, 2**53),
    ("float32", -1000, -1, -2**60)])
def test_integers_in_the_range_of_a_dtype_find_one_plan(dtype, first, second, beyond):
    x, out = mat.ones(2, dtype=dtype), mat.ones(2, dtype=dtype)
    CLIP(x, first, 100, out)
    plan = plan_of(CLIP, x, first, 100, out)
    assert plan_of(CLIP, x, second, 100, out) is plan is not None
    assert plan_of(CLIP, x, beyond, 100, out) is None


@pytest.mark.host
def test_a_negative_integer_finds_another_plan_than_a_positive_one():
    x, out = mat.ones(2, dtype="int16"), mat.ones(2, dtype="int16")
    ADD(x, 300, out)
    assert plan_of(ADD, x, 3, out) is plan_of(ADD, x, 300, out) is not None
    assert plan_of(ADD, x, -3, out) is None
    ADD(x, -3, out)
    assert plan_of(ADD, x, -300, out) is plan_of(ADD, x, -3, out) is not None


@pytest.mark.host
def test_integers_are_judged_by_every_mat():
    x, small = mat.ones(2, dtype="int16"), mat.ones(2, dtype="int8")
    assert CLIP.walk(CLIP.root, (x, 200, 300, x.copy()), {}, True) is not None
    for args in ((x, small, 300, x.copy()), (small, x, 300, x.copy()), (x, 200, 300, small)):
        assert CLIP.walk(CLIP.root, args, {}, True) is None


@pytest.mark.host
def test_an_operand_that_is_written_too_is_told_from_another_one():
    x, y, out = matrices()
    mat.exp(x, out=y)
    assert plan_of(EXP, x, x) is None
    x.exp_()
    assert plan_of(EXP, y, y) is plan_of(EXP, x, x) is not plan_of(EXP, x, y)
    x.add_(y)
    assert plan_of(ADD, x, y, y) is plan_of(ADD, x, y, out) is plan_of(ADD, x, x, x) is None


@pytest.mark.host
def test_parts_of_one_storage_have_a_plan_where_they_are_apart():
    x = mat.arange(12.0).reshape(4, 3)
    a = x.to_numpy()
    for _ in range(2):
        x[:2] += x[2:]
        x[1:] += x[:-1]
        a[:2] += a[2:]
        a[1:] += a[:-1].copy()
    np.testing.assert_array_equal(x.to_numpy(), a)
    first = x[:2]
    assert plan_of(ADD, first, x[2:], first) is not None
    assert plan_of(ADD, first, mat.ones(2, 3), first) is None
    assert ADD.walk(ADD.root, (first, x[1:3], first), {}, True) is None


@pytest.mark.parametrize("other", [
    lambda: mat.ones(3, 2), lambda: mat.ones(3, 2).T, lambda: mat.ones(6),
    lambda: mat.ones(2, 3, dtype="float32"), lambda: mat.ones(4, 3)[:2],
    lambda: mat.ones(1, 3).broadcast_to((2, 3)),
    lambda: mat.from_numpy(np.broadcast_to(1.0, (2, 3)))])
def test_other_forms_have_other_plans(other):
    x, y, out = matrices()
    ADD(x, y, out)
    assert plan_of(ADD, other(), y, out) is None
    assert plan_of(ADD, x, other(), out) is None
    assert plan_of(ADD, x, y, other()) is None


@pytest.mark.host
def test_a_changed_layout_has_another_plan():
    x, y, out = matrices()
    ADD(x, y, out)
    x.reshape_(3, 2)
    assert plan_of(ADD, x, y, out) is None
    x.reshape_(2, 3)
    assert plan_of(ADD, x, y, out) is not None


@pytest.mark.host
def test_settings_count_with_their_types():
    x, out = mat.ones(2, 2), mat.zeros(2)
    SUM(x, out, 1, False)
    assert plan_of(SUM, x, out, 1, False) is not None
    for axis, keepdims in ((True, False), (1.0, False), (1, 0), (0, False), ((1,), False)):
        assert plan_of(SUM, x, out, axis, keepdims) is None
    SUM(x, out, (1,), False)
    assert plan_of(SUM, x, out, (1,), False) is not plan_of(SUM, x, out, 1, False)


@pytest.mark.host
def test_settings_may_be_tuples_of_tuples_of_integers():
    x, y = mat.ones(4), mat.ones(2)
    axes = (WindowAxis(2, 4, 2, 2, 0),)
    pooling(x, y, axes=axes)
    assert plan_of(pooling, x, y, axes=axes) is not None
    assert plan_of(pooling, x, y, axes=(axes[0]._replace(off=-1),)) is None
    assert node_of(pooling, (x, y), {"axes": (axes[0]._replace(step=2.0),)}) is None


@pytest.mark.host
def test_a_zero_factor_counts():
    a, b, c = (mat.ones(2, 2) for _ in range(3))
    gemm(1.0, a, b, 0.0, c)
    plan = plan_of(gemm, 1.0, a, b, 0.0, c)
    assert plan_of(gemm, 2.0, a, b, -0.0, c) is plan is not None
    assert plan_of(gemm, 1.0, a, b, 1.0, c) is None
    assert plan_of(gemm, 1.0, a, b, 0.0, c, transpose_a=True) is None


# Calls whose plans cannot be used again


@pytest.mark.parametrize("args", [
    lambda x: (x[:, :2], x[:, 1:], x[:, 1:]),  # parts of one storage that may overlap
    lambda x: (x[:, :2], mat.ones(2, 2), x[:, 1:]),
    lambda x: (x, 10**30, x), lambda x: (x, np.uint64(2**63), x),
    lambda x: (x, "1", x), lambda x: (x, x.to_numpy(), x), lambda x: (x, x),
    lambda x: (1.0, 2.0, 3.0)])
def test_what_checks_look_at_beyond_forms_has_no_key(args):
    x, *_ = matrices()
    assert ADD.walk(ADD.root, args(x), {}, True) is None


def test_numbers_have_keys_by_their_types():
    x, *_ = matrices()
    kinds = (True, 1, -1, 1.0, 1j, np.True_, np.int64(1), np.int64(-1), np.float32(1),
             np.float64(1))
    nodes = [ADD.walk(ADD.root, (x, number, x), {}, True) for number in kinds]
    assert None not in nodes
    assert len(set(map(id, nodes))) == len(kinds)
    assert ADD.walk(ADD.root, (x, np.float64(3), x), {}, True) is nodes[-1]


def test_settings_that_can_change_have_no_key():
    x, out = mat.ones(2, 3), mat.zeros(3)
    assert SUM.walk(SUM.root, (x, out, [0], False), {}, True) is None
    assert SUM.walk(SUM.root, (x, out, (0, 1.0), False), {}, True) is None


@pytest.mark.host
def test_a_search_adds_nothing():
    x, y, out = matrices()
    assert node_of(ADD, (x, y, out), {}) is None
    added = ADD.walk(ADD.root, (x, y, out), {}, True)
    assert node_of(ADD, (x, y, out), {}) is added
    assert added.plan is None


# Plans that are replaced


class Replacing(Observer):
    """Removes the plan of a call while the call is running, as another thread may."""

    def __init__(self, *args):
        self.args = args

    def entered(self, record):
        ADD.remember(ADD.root, self.args, {}, None)


@pytest.mark.host
def test_a_call_keeps_its_plan():
    x, y, out = matrices()
    ADD(x, y, out)
    assert plan_of(ADD, x, y, out) is not None
    OBSERVERS.append(Replacing(x, y, out))
    try:
        assert ADD(x, y, out) is out
    finally:
        OBSERVERS.pop()
    assert plan_of(ADD, x, y, out) is None
    assert out.equals(mat.full((2, 3), 2.0))
    assert not out.storage.accesses


# How many there are


@pytest.mark.host
def test_there_are_never_too_many():
    most = 0
    for n in range(1, 1200):
        x = mat.ones(n)
        ADD(x, x, x)
        most = max(most, ADD.count)
    assert 1000 < most < 1100
    assert ADD.count < 1000


# What a call gives does not depend on the calls before it


def outcome(call):
    """Return what a call gives: dtype, elements and type of the result, or the type of an error."""
    try:
        found = call()
    except mat.MatError as error:
        return type(error)
    return found.dtype, found.tolist(), found.shape


def added(dtype, other, shape=(2, 2)):
    """Return the calls of the addition to a Mat of that dtype: new and in place."""
    def operands():
        x = mat.ones(shape, dtype=dtype)
        return x, (other(x) if callable(other) else other)

    return [lambda: mat.add(*operands()), lambda: mat.Mat.add_(*operands())]


OTHERS = [1, 1.5, -1, 200, 300, 2**40, 2**60, 1j, np.float32(2), np.int8(3), lambda x: x,
          lambda x: x.T, lambda x: x[0], lambda x: x.copy(), lambda x: mat.ones(2, dtype="int8")]
ADDITIONS = [call for dtype in ("int8", "uint8", "int64", "float32", "complex64", "bool")
             for other in OTHERS for call in added(dtype, other)]
SUMS = [lambda axis=axis, keepdims=keepdims, dtype=dtype:
        mat.arange(4, dtype=dtype).reshape(2, 2).sum(axis, keepdims=keepdims)
        for axis in (None, 0, 1, -1, (0,), (0, 1), [0], True, 1.0) for keepdims in (False, True, 1)
        for dtype in ("int8", "float64")]


def product(beta, **kwargs):
    a = mat.array([[1.0, 2], [3, 4]])
    return gemm(1.0, a, a, beta, mat.full((2, 2), 5.0), **kwargs)


PRODUCTS = [lambda beta=beta, kwargs=kwargs: product(beta, **kwargs)
            for beta in (0, 0.0, -0.0, 1, 1.0, True, 2.5, "0")
            for kwargs in ({}, {"transpose_a": True}, {"transpose_b": True}, {"transpose_a": 1})]


@pytest.mark.parametrize(("operation", "calls"), [(ADD, ADDITIONS), (SUM, SUMS), (gemm, PRODUCTS)],
                         ids=["add", "sum", "gemm"])
def test_a_call_gives_the_same_after_any_others(operation, calls, rng):
    alone = []
    for call in calls:
        operation.forget()
        alone.append(outcome(call))
    assert len({repr(one) for one in alone}) > 5
    order = list(range(len(calls)))
    for _ in range(10):
        operation.forget()
        for k in (*order, *reversed(order)):
            assert outcome(calls[k]) == alone[k], k
        rng.shuffle(order)
