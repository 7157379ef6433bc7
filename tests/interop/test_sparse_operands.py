"""Sparse arrays of SciPy as operands of operators: results are those beside NumPy's arrays."""

import operator

import numpy as np
import pytest
from scipy import sparse

import mat

from ..support.layouts import place

MAKERS = [sparse.csr_array, sparse.csr_matrix, sparse.coo_array, sparse.csc_matrix,
          sparse.dia_array]
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul,
             operator.eq, operator.ne, operator.lt, operator.ge]
DENSE = np.array([[1.0, 2, 0], [0, -1, 3], [4, 0, 2]])


def values(function, *operands):
    """Return the elements of what a function returns, or the class of its error."""
    try:
        with np.errstate(all="ignore"):
            found = function(*operands)
    except (TypeError, ValueError) as error:
        return type(error)
    if sparse.issparse(found):
        return True, found.toarray()
    assert isinstance(found, mat.Mat | np.ndarray)
    return False, np.asarray(found)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("layout", ["packed", "transposed", "displaced"])
@pytest.mark.parametrize("rule", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("maker", MAKERS, ids=lambda f: f.__name__)
def test_operators(maker, rule, layout, device):
    s, a = maker(np.diag([1.0, 2, 3])), DENSE
    x = place(a, layout)
    with mat.use_device(device):
        x += 0
        for ours, theirs in (((s, x), (s, a)), ((x, s), (a, s))):
            found, wanted = values(rule, *ours), values(rule, *theirs)
            if isinstance(wanted, type):
                assert issubclass(found, wanted)
            else:
                assert found[0] == wanted[0]
                np.testing.assert_array_equal(found[1], wanted[1])
                assert found[1].dtype == wanted[1].dtype
    np.testing.assert_array_equal(x.to_numpy(), a)


def test_a_sum_is_a_mat():
    x, s = mat.array(DENSE), sparse.csr_array(np.eye(3))
    assert type(x + s) is type(s - x) is mat.Mat
    assert type(x + sparse.csr_matrix(s)) is np.matrix  # as NumPy's arrays give


def test_reads_only():
    x, s = mat.array(DENSE), sparse.csr_array(np.eye(3))
    with x.facet("array", "input"):
        assert (x + s).equals(s + x)
