"""Ordinary calls on a GPU: those that compute on the emulated device compute there, too."""

import pytest

import mat

from ..support.ordinary_calls import THERE, check_computes_there

pytestmark = pytest.mark.usefixtures("cuda")


@pytest.mark.parametrize("call", THERE)
def test_computes_on_the_device(call):
    with mat.use_device("cuda", required=True) as device:
        check_computes_there(call, device, rtol=1e-9)
