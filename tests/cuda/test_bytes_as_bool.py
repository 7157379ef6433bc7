"""Views of other elements as bool, whose bytes may be any, on a GPU."""

import numpy as np
import pytest

import mat

from ..ops.test_bytes_as_bool import BYTES, OF_ONE

pytestmark = pytest.mark.usefixtures("cuda")


@pytest.mark.parametrize("name", OF_ONE)
def test_all_but_zero_is_true(name):
    want = OF_ONE[name](np, BYTES.view(bool))
    with mat.use_device("cuda", required=True):
        got = np.asarray(OF_ONE[name](mat, mat.array(BYTES).view(bool)))
    assert got.dtype == want.dtype
    assert np.array_equal(np.add(got, 0), np.add(want, 0))
