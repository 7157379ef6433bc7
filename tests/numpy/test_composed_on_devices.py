"""NumPy's functions that are made of other operations on a device: they give what NumPy gives, in
its dtypes, and nothing goes to the host but numbers that decide.
"""

import warnings

import numpy as np
import pytest

import mat

from ..support.composed_calls import ASKED, READING, THERE
from ..support.ordinary_calls import arrays, call_there, leaves

pytestmark = pytest.mark.host


def check_is_numpys(found, call, rtol=1e-12):
    """Check elements, dtypes and shapes."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy 2.5 has deprecated some
        wanted = eval(call, {"np": np, **arrays()})
    for one, other in zip(leaves(found), leaves(wanted), strict=True):
        got, known = np.asarray(one), np.asarray(other)
        assert (got.dtype, got.shape) == (known.dtype, known.shape)
        np.testing.assert_allclose(got, known, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("call", THERE)
def test_nothing_goes_to_the_host(call):
    with mat.use_device("emulated", required=True) as device:
        found, copies = call_there(call, device)
    assert (copies.d2h, copies.fallbacks) == (0, 0)
    check_is_numpys(found, call)


@pytest.mark.parametrize("call", ASKED)
def test_the_host_asks_for_numbers_only(call):
    with mat.use_device("emulated", required=True) as device:
        found, copies = call_there(call, device)
    assert copies.fallbacks == 0
    assert copies.bytes < 200
    check_is_numpys(found, call)


@pytest.mark.parametrize(("call", "reads"), READING)
def test_how_often_the_host_reads_what_a_shape_depends_on(call, reads):
    with mat.use_device("emulated", required=True) as device:
        found, copies = call_there(call, device)
    assert (copies.d2h, copies.fallbacks) == (reads, 0)
    check_is_numpys(found, call)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_negative_integers_are_not_counted(device, dtype):
    with mat.use_device(device, required=True):
        for a in ([-1, 2], [3, -100], [-4]):
            x = mat.array(a, dtype) + mat.array(0, dtype)
            for minlength in (0, 2, 1000):
                with pytest.raises(ValueError, match="negative"):
                    mat.bincount(x, minlength=minlength)


@pytest.mark.parametrize("step", [2, 2.0, np.float64(2)])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_steps_do_not_change_the_dtype_of_slopes(device, step):
    a = np.arange(5, dtype="float32") ** 2
    with mat.use_device(device, required=True):
        for gradient in (np.gradient, mat.gradient):
            found = gradient(mat.array(a), step)
            np.testing.assert_array_equal(found.to_numpy(), np.gradient(a, step), strict=True)


@pytest.mark.parametrize("launch", [1, 2, 3])
def test_an_output_that_is_rounded_in_place_is_unchanged_by_an_error(launch):
    x = mat.array([0.16, 1.25])
    with mat.use_device("emulated", required=True) as device:
        device.fail(launch=launch)
        with pytest.raises(mat.DeviceError, match="requested"):
            np.round(x, 1, out=x)
        assert x.tolist() == [0.16, 1.25]
        assert np.round(x, 1, out=x) is x
    assert x.tolist() == [0.2, 1.2]
