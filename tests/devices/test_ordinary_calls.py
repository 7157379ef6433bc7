"""Ordinary calls on a device: which of them compute there, and which go to the host and back."""

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
