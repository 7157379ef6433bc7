"""NumPy's functions of views whose elements have another size than those of the storage."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from ..support.numpy_calls import FUNCTIONS, Operands
from ..support.numpy_outcomes import ARBITRARY, check_same, outcome
from .test_numpys_signatures import attribute

# not those of dtypes that Mats cannot have, and those that ask elements, not operands
NAMES = [name for name in FUNCTIONS if name not in ("poly", "roots") and not name.startswith((
    "lib.rec", "polynomial.", "busday", "is_busday"))]
AROUND = 64  # bytes of the storage before and after a view


def of_another_type(other):
    """Return a function that makes a Mat of an array: a part of a view of elements of `other`."""
    def wrap(a):
        around = np.ones(AROUND // a.itemsize, a.dtype)
        rest = -a.nbytes % 16 // a.itemsize
        flat = np.concatenate([around, a.ravel(), around[:1].repeat(rest), around])
        whole = mat.array(flat.view(other)).view(a.dtype.name)
        return whole[len(around):len(around) + a.size].reshape(a.shape)
    return wrap


@pytest.mark.sample(12)
@pytest.mark.parametrize(("dtype", "other"), [*product(
    ["float64", "int64", "float32", "uint8"], ["uint8", "float32", "complex128"])])
@pytest.mark.parametrize("name", NAMES)
def test_functions(name, dtype, other):
    function = attribute(np, name)
    for call in FUNCTIONS[name]:
        wanted = outcome(call, function, Operands(dtype, np.array))
        operands = Operands(dtype, of_another_type(other))
        got = outcome(call, function, operands)
        if not isinstance(wanted, Exception):
            check_same(got, wanted, 1e-9 if name in ARBITRARY else 1e-6, operands.arrays)


@pytest.mark.parametrize(("dtype", "other"), [("int32", "float64"), ("float64", "int32"),
                                              ("uint8", "complex128"), ("complex128", "uint8")])
@pytest.mark.parametrize("size", [1, 6, 40, 4000])
def test_joining(dtype, other, size):
    a = np.arange(16 * size).astype(dtype).reshape(size, 16)
    x = mat.array(a.reshape(-1).view(other)).view(dtype).reshape(size, 16)
    for function in (np.concat, np.stack, np.vstack, np.hstack):
        assert_array_equal(function([x, x]).to_numpy(), function([a, a]))
        assert_array_equal(function([x, x[::-1]]).to_numpy(), function([a, a[::-1]]))
    assert_array_equal(mat.array(list(x)).to_numpy(), a)
    assert_array_equal(np.array([x, x]), [a, a])
    assert_array_equal(x.copy().to_numpy(), a)
