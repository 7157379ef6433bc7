"""Ordinary calls on a device: which of them compute there, and which go to the host and back."""

import numpy as np
import pytest

import mat

from ..support.ordinary_calls import BACK, THERE, call_there, check_computes_there

pytestmark = pytest.mark.host


@pytest.mark.parametrize("call", THERE)
def test_computes_on_the_device(call):
    with mat.use_device("emulated") as device:
        check_computes_there(call, device)


@pytest.mark.parametrize("call", BACK)
def test_what_goes_to_the_host_is_counted(call):
    with mat.use_device("emulated") as device:
        assert call_there(call, device)[1].fallbacks > 0


@pytest.mark.parametrize("k", [-9, -2, 0, 1, 4])
def test_unit_matrices_and_numbers_are_made_on_the_device(k):
    with mat.use_device("emulated", required=True), mat.debug.count_copies() as copies:
        made = [(mat.eye(5, 3, k), np.eye(5, 3, k)),
                (mat.identity(3, "int8"), np.identity(3, "int8")),
                (mat.eye(2, 4, k=k, dtype=mat.complex64), np.eye(2, 4, k, "complex64"))]
        made += [(mat.asarray(v, dtype=dtype), np.asarray(v, dtype))
                 for v, dtype in ((k, "float32"), (-0.0, "float64"), (np.nan, "bool"), (2j, None))]
        added = [(x + x, a) for x, a in made]
    assert (copies.h2d, copies.d2h, copies.fallbacks) == (0, 0, 0)
    for (x, a), (y, _) in zip(made, added, strict=True):
        assert x.to_numpy().tobytes() == a.tobytes()
        np.testing.assert_array_equal(y.to_numpy(), a + a, strict=True)
