"""NumPy's functions that are made of other operations, on a GPU."""

import numpy as np
import pytest

import mat

from ..matrix.test_typed_views import check_parts_there
from ..numpy.test_composed_on_devices import check_is_numpys
from ..support.composed_calls import ASKED, READING, THERE
from ..support.layouts import numbers
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


@pytest.mark.parametrize(("call", "reads"), READING)
@pytest.mark.sample(12)
def test_how_often_the_host_reads(call, reads):
    with mat.use_device("cuda", required=True) as device:
        found, copies = call_there(call, device)
    assert (copies.d2h, copies.fallbacks) == (reads, 0)
    check_is_numpys(found, call, rtol=1e-9)


def test_complex_parts_stay_on_the_device():
    with mat.use_device("cuda", required=True) as device:
        check_parts_there(device)


@pytest.mark.parametrize("name", ["exp2", "log2", "log10", "arcsin", "arccos", "arctan", "arcsinh",
                                  "arccosh", "arctanh", "fmax", "fmin"])
@pytest.mark.sample(4)
def test_functions_without_kernels_for_complex_numbers_go_to_the_host(name, rng):
    function = getattr(np, name)
    operands = [numbers(rng, 5, "complex128") for _ in range(function.nin)]
    with mat.use_device("cuda", required=True), mat.debug.count_copies() as copies:
        found = function(*map(mat.array, operands))
    assert copies.fallbacks == 1
    np.testing.assert_allclose(found.to_numpy(), function(*operands), rtol=1e-12)
