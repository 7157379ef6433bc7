"""NumPy's functions that are made of other operations, on a GPU."""

import pytest

import mat

from ..interop.test_composed_on_devices import check_is_numpys
from ..matrix.test_derived import check_parts_there
from ..support.composed_calls import ASKED, THERE
from ..support.ordinary_calls import call_there

pytestmark = pytest.mark.usefixtures("cuda")


@pytest.mark.parametrize("call", [*THERE, *ASKED])
@pytest.mark.sample(40)
def test_computes_on_the_device(call):
    with mat.use_device("cuda", required=True) as device:
        found, copies = call_there(call, device)
    assert copies.fallbacks == 0
    assert call in ASKED or not copies.d2h
    check_is_numpys(found, call, rtol=1e-9)


def test_complex_parts_stay_on_the_device():
    with mat.use_device("cuda", required=True) as device:
        check_parts_there(device)
