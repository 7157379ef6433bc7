"""Operations added as ``docs/extending.md`` says: an element-wise function and a reduction from
outside, and a reduction by its class.
"""

from pathlib import Path

import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose

import mat
from mat.extend import Accumulated, Input, Output, op
from mat.matrix.methods import Methods
from mat.ops.engine import operation
from mat.ops.primitives import declare_reduce, reduce
from mat.support import types

from ..support import blocks, needs
from ..support.layouts import LAYOUTS, check_hidden, place

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
BLOCKS = blocks.blocks(PAGE.read_text(encoding="utf-8"))


@pytest.fixture
def forgotten(monkeypatch):
    """Forget operations and methods that the test declares."""
    monkeypatch.setattr(operation, "REGISTRY", dict(operation.REGISTRY))
    known = set(vars(Methods))
    yield
    for name in set(vars(Methods)) - known:
        delattr(Methods, name)


@pytest.fixture
def added(forgotten):
    """What the Python blocks of the page define."""
    names = {"__name__": "added"}
    for block in BLOCKS:
        if block.is_python and not block.is_session:
            exec(compile(block.text, str(PAGE), "exec"), names)
    return names


def added_lines(text):
    """The lines that the diff with that text adds."""
    diff = next(b.text for b in BLOCKS if b.language == "diff" and text in b.text)
    return "".join(line[1:] for line in diff.splitlines(keepends=True) if line.startswith("+"))


@needs.native
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softplus_from_outside(added, rng, layout, dtype):
    x = (100 * rng.standard_normal((3, 4))).astype(dtype)
    y = place(np.full_like(x, np.nan), layout)
    assert added["softplus"](place(x, layout), y) is y
    assert_allclose(y.to_numpy(), np.logaddexp(x, 0), rtol=8 * np.finfo(dtype).eps)
    check_hidden(y)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logsumexp_from_outside(added, rng, dtype, axis):
    x = (100 * rng.standard_normal((2, 3, 4))).astype(dtype)
    for layout in LAYOUTS:
        found = added["logsumexp"](place(x, layout), axis)
        assert found.dtype == x.dtype
        assert_allclose(found.to_numpy(), scipy.special.logsumexp(x, axis),
                        rtol=8 * np.finfo(dtype).eps)
    infinite = mat.array([[-np.inf, np.inf], [-np.inf, 0]])
    assert added["logsumexp"](infinite).tolist() == [-np.inf, np.inf]


def test_the_check_refuses_and_the_directions_are_kept(added):
    into, x = added["logsumexp_into"], mat.ones(2, 3)
    with pytest.raises(mat.ShapeError, match="over axis 5"):
        into(x, mat.empty(3), 5)
    with pytest.raises(mat.ShapeError, match="no elements"):
        into(mat.ones(0, 3), mat.empty(3), 0)
    with pytest.raises(mat.DTypeError, match="must be a Mat"):
        into([1.0], mat.empty(3), 0)
    with x.facet("array", "output") as a:
        a[...] = 0
    assert into(x, mat.empty(3), 0).tolist() == pytest.approx([np.log(2)] * 3)
    assert not hasattr(mat.Mat, "logsumexp_into_")


def test_methods_of_the_library_stay(forgotten):
    def exp(x: Input, out: Output):
        """Compute something else."""

    with pytest.raises(mat.DTypeError, match=r"method 'exp_' of every Mat; .*method=''"):
        op(exp)
    with pytest.raises(mat.DTypeError, match="replace the method 'fill_'"):
        op(exp, method="fill_")
    assert mat.zeros(2).exp_().fill_(3).tolist() == [3, 3]
    op(exp, method="")
    op(exp, method="exp_of_mine_")
    op(exp, method="exp_of_mine_")  # as by a cell of a notebook that is run again


def test_accumulated_operands_have_a_beta():
    def add(x: Input, y: Accumulated):
        """Compute ``y <- x + beta y``."""

    with pytest.raises(mat.DTypeError, match=r"Accumulated.*'beta'"):
        op(add, method="")


@pytest.mark.host  # the docstring shows the letter of the host's facet
def test_logsumexp_as_a_class(forgotten, rng):
    names = {**vars(types), **vars(declare_reduce), **vars(reduce), "__name__": "mat.ops.added"}
    exec(compile(added_lines("class LogSumExp"), str(PAGE), "exec"), names)
    logsumexp, x = names["logsumexp"], rng.standard_normal((2, 3, 4))
    for axis in (None, 0, -1, (0, 2)):
        for keepdims in (False, True):
            wanted = scipy.special.logsumexp(x, axis, keepdims=keepdims)
            found = logsumexp(mat.array(x), axis, keepdims=keepdims)
            assert found.shape == np.shape(wanted)
            assert_allclose(found.to_numpy(), wanted, rtol=1e-13)
            assert_allclose(mat.array(x).logsumexp(axis, None, None, keepdims).to_numpy(),
                            wanted, rtol=1e-13)
    out = mat.empty(3, 4)
    assert logsumexp(x, 0, out=out) is out
    assert logsumexp(mat.array([1.0, 2])).dtype == np.float64
    assert repr(logsumexp(mat.zeros(2))) in logsumexp.__doc__
    with pytest.raises(mat.ShapeError, match="logsumexp of no elements"):
        logsumexp(mat.empty(0))
    with pytest.raises(mat.ShapeError, match="out has"):
        logsumexp(x, 0, out=mat.empty(3))
    with pytest.raises(mat.DTypeError, match="logsumexp does not compute with where"):
        logsumexp(x, where=x > 0)


@pytest.mark.parametrize("name", ["UNARY(softplus, f, HEAVY,", "class LogSumExp(Reduction)"])
def test_the_page_shows_the_lines_inside(name):
    assert any(name in b.text for b in BLOCKS)
