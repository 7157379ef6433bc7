"""A user-defined operation through `mat.extend`: checks, directions, implementations and the
declaration.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.extend import Accumulated, InOut, Input, Output, Scalar, op
from mat.matrix.methods import Methods
from mat.ops.engine import operation as engine


@pytest.fixture
def declared(monkeypatch):
    """Declares operations that are removed after the test, their methods too."""
    known = set(vars(Methods))
    monkeypatch.setattr(engine, "REGISTRY", dict(engine.REGISTRY))
    yield op
    for name in set(vars(Methods)) - known:
        delattr(Methods, name)


def test_a_check_that_reads_values_runs_at_every_call(declared):
    calls = []

    @declared
    def grow(factor: Scalar, x: InOut):
        """``x <- factor * x``, for factors above 1."""
        calls.append(factor)
        if factor <= 1:
            raise mat.ShapeError(f"factor {factor} does not grow anything")

    @grow.on("array")
    def grow(np, factor, x):
        x *= factor

    x = mat.ones(3)
    grow(2.0, x)
    grow(3.0, x)
    with pytest.raises(mat.ShapeError, match=r"0\.5"):
        grow(0.5, x)
    with pytest.raises(mat.ShapeError, match=r"0\.25"):
        x.grow_(0.25)
    assert calls == [2.0, 3.0, 0.5, 0.25]
    assert_array_equal(x.to_numpy(), [6, 6, 6])


def test_a_check_by_form_runs_once_for_a_form(declared):
    calls = []

    @declared(by_form=True)
    def plus_one(x: Input, y: Output):
        """``y <- x + 1``"""
        calls.append(x.shape)
        if x.shape != y.shape:
            raise mat.ShapeError(f"{x.shape} is not {y.shape}")

    @plus_one.on("array")
    def _(np, x, y):
        np.add(x, 1, out=y)

    for n in (2, 2, 3, 2):
        assert_array_equal(plus_one(mat.zeros(n), mat.empty(n)).to_numpy(), np.ones(n))
    assert calls == [(2,), (3,)]
    for _ in range(2):
        with pytest.raises(mat.ShapeError):
            plus_one(mat.zeros(2), mat.empty(3))


def test_the_name_of_an_implementation_is_the_operation(declared):
    @declared
    def twice(x: Input, y: Output):
        """``y <- 2 x``"""

    operation = twice

    @twice.on("array")
    def twice(np, x, y):
        np.multiply(x, 2, out=y)

    assert twice is operation
    assert repr(twice).startswith("<operation twice(x")
    assert_array_equal(mat.empty(2).twice_(mat.ones(2)).to_numpy(), [2, 2])


def test_directions_are_those_of_the_signature(declared):
    seen = []

    class Watch(mat.extend.Observer):
        def entered(self, record):
            seen.append(record.direction.value)

    @declared
    def blend(alpha: Scalar, x: Input, beta: Scalar, y: Accumulated):
        """``y <- alpha x + beta y``"""

    @blend.on("array")
    def _(np, alpha, x, beta, y):
        y[...] = alpha * x + (0 if beta == 0 else beta * y)

    with mat.extend.observe(Watch()):
        blend(1, mat.ones(2), 1, mat.ones(2))
        blend(1, mat.ones(2), 0, mat.empty(2))
        blend(1, mat.ones(2), 0, mat.empty(4)[:2])
    assert seen == ["io", "input", "output", "input", "io", "input"]


def test_an_operation_without_an_implementation_says_so(declared):
    @declared
    def nothing(x: Input):
        """Nothing."""

    with pytest.raises(mat.DTypeError, match="nothing has no implementation"):
        nothing(mat.ones(2))
    with pytest.raises(mat.DTypeError, match="must be a Mat"):
        nothing([1])


ANNOTATED = """
from __future__ import annotations
import mat
from mat.ops.engine import operation as engine
from mat.extend import Input as Given, InOut as Changed, Scalar as Factor
from mat import extend as more

def f({}) -> None:
    "Add."
"""


@pytest.mark.parametrize("parameters", [
    "a: Factor, x: Given, y: Changed", "a: more.Scalar, x: more.Input, y: more.InOut",
    "a: mat.extend.Scalar, x: mat.extend.Input, y: mat.extend.InOut",
    "a: 'Factor', x: 'more.Input', y: 'Changed'"])
def test_annotations_may_be_strings_by_any_name(declared, parameters):
    names = {"__name__": "a_program"}
    exec(ANNOTATED.format(parameters), names)
    f = declared(names["f"], method="")

    @f.on("array")
    def on_array(np, a, x, y):
        y += a * x

    x, y = mat.arange(3.0), mat.ones(3)
    assert f(2.0, x, y) is y
    assert_array_equal(y, [1, 3, 5])
    assert_array_equal(x, [0, 1, 2])
    assert str(f.__signature__) == "(a: Scalar, x: Input, y: InOut)"


@pytest.mark.parametrize("parameters", ["x, y", "x: mat.Mat, y: Unknown", "a: Factor", ""])
def test_a_function_without_operands_is_refused(declared, parameters):
    names = {"__name__": "a_program"}
    exec(ANNOTATED.format(parameters), names)
    with pytest.raises(mat.DTypeError, match=r"^f\(.*\) has no operand; annotate"):
        declared(names["f"])
