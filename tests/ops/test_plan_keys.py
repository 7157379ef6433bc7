"""Keys of plans: what the short ways of frequent calls spell out is what `plan_key` makes."""

import pytest

import mat


@pytest.fixture
def mats():
    found = mat.ones(2, 3), mat.ones(2, 3), mat.zeros(3)
    mat.add(found[0], found[1], out=found[1])  # gives forms
    mat.sum(found[0], 0, out=found[2])
    return found


def test_in_place(mats):
    x, y, _ = mats
    x.add_(y).add_(1.5).sqrt_()
    add, sqrt = mat.add.op, mat.sqrt.op
    assert add.plan_key((x, y, x), {}) == ((x.form, 0), y.form)
    assert add.plan_key((x, 1.5, x), {}) == ((x.form, 0), float)
    assert sqrt.plan_key((x, x), {}) == (x.form, 0)


def test_pairs_and_reductions(mats):
    x, y, out = mats
    mat.exp(x, out=y)
    assert mat.exp.op.plan_key((x, y), {}) == (y.form, x.form)
    key = mat.sum.op.plan_key((x, out, 0, False), {})
    assert key == ((out.form, x.form), ((0, False), (int, bool)))


@pytest.mark.host
def test_calls_leave_plans_by_these_keys(mats):
    x, y, out = mats
    for op, args in ((mat.add.op, (x, y, y)), (mat.sum.op, (x, out, 0, False))):
        assert op.find(args, {}) is op.plans[op.plan_key(args, {})]


def test_settings_are_part_of_a_key_with_their_types(mats):
    x, _, out = mats
    one, true = (mat.sum.op.plan_key((x, out, axis, False), {}) for axis in (1, True))
    assert one != true
    with pytest.raises(KeyError):
        mat.sum.op.plan_key((x, out, [0], False), {})


def test_storage_that_is_shared_has_no_key(mats):
    x, *_ = mats
    with pytest.raises(KeyError):
        mat.add.op.plan_key((x[:1], x[1:], x[1:]), {})
