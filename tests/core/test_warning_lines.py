"""The lines that warnings name are the program's."""

import io
import os
import warnings

import numpy as np
import pytest

import mat


def line_of_warning(call, start):
    with pytest.warns(RuntimeWarning, match=start) as caught:
        call()
    assert len(caught) == 1
    return caught[0].filename


@pytest.mark.host  # on a device, to find out would be a wait
@pytest.mark.parametrize("call", [
    lambda x: mat.nanmean(x), lambda x: np.nanmean(x), lambda x: mat.nanvar(x)],
    ids=["mat", "numpy", "variance"])
def test_of_a_result_that_is_not_there(call):
    assert line_of_warning(lambda: call(mat.array([np.nan, np.nan])), "") == __file__


def torn():
    x = mat.array([1.0, 2, 3])
    with pytest.raises(ZeroDivisionError), x.facet("array", "io"):
        raise ZeroDivisionError
    return x


@pytest.mark.unchecked("the check reads as well")
def test_of_torn_data():
    x = torn()
    with mat.settings(torn="warn"):
        assert line_of_warning(lambda: x + 1, "reading torn data") == __file__


@pytest.mark.unchecked("the check reads as well")
def test_a_line_warns_once():
    x = torn()
    with mat.settings(torn="warn"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            x + 1
        x + 1
    assert len(caught) == 2


# What NumPy warns of: it names the line that called its function, which is not to be one of ours

NAN = np.full(3, np.nan)
OF_NUMPY = {
    "nanmedian": lambda: mat.nanmedian(mat.array(NAN)),
    "its array": lambda: mat.nanmedian(NAN),
    "its list": lambda: mat.nanmedian([np.nan, np.nan]),
    "an axis": lambda: mat.nanmedian(mat.array(NAN), axis=0),
    "nanmax": lambda: mat.nanmax(mat.array(NAN)),
    "cov": lambda: mat.cov(mat.array([1.0])),
    "polyfit": lambda: mat.polyfit(mat.ones(3), mat.ones(3), 5),
    "genfromtxt": lambda: mat.genfromtxt(io.StringIO("")),
    "loadtxt": lambda: mat.loadtxt(io.StringIO("")),
    "fft": lambda: mat.fft.rfftn(mat.ones((3, 3)), s=(2, 2)),
    "row_stack": lambda: mat.row_stack([mat.ones(2), mat.ones(2)]),
}
if np.lib.NumpyVersion(np.__version__) < "2.5.0":  # which refuses vectors in the plane
    OF_NUMPY["cross"] = lambda: mat.cross(mat.ones(2), mat.ones(2))
COMPLEX = {
    "greater": lambda z: z > z, "less": mat.less, "of the standard": mat.array_api.greater_equal,
    "in place": lambda z: np.less_equal(z, z), "x.dot": lambda z: (z.real * 1e308).dot(1e308)}


@pytest.mark.host
@pytest.mark.skipif(os.environ.get("MAT_NATIVE") == "0", reason="about compiled functions")
@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("what", OF_NUMPY)
def test_what_numpy_warns_of_names_the_program(what, device):
    with mat.use_device(device), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        OF_NUMPY[what]()
    of_others = os.path.dirname(np.__file__)  # some of NumPy's functions name their own lines
    assert device != "cpu" or __file__ in {w.filename for w in caught}
    assert all(w.filename == __file__ or w.filename.startswith(of_others) for w in caught)


@pytest.mark.parametrize("what", COMPLEX)
def test_operations_warn_of_nothing(what):
    z = mat.array([complex(np.nan, 1), 1 + 1j])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        args = (z,) if what not in ("less", "of the standard") else (z, z)
        COMPLEX[what](*args)
