"""A user-defined operation through `mat.extend`: checks, directions, implementations and the
declaration.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.extend import Accumulated, InOut, Input, Output, Scalar, op
from mat.matrix.methods import Methods


@pytest.fixture
def declared(monkeypatch):
    """Declares operations that are removed after the test, their methods too."""
    known = set(vars(Methods))
    monkeypatch.setattr(mat.ops.operation, "REGISTRY", dict(mat.ops.operation.REGISTRY))
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
