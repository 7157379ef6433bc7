"""The lines that warnings name are the program's."""

import warnings

import numpy as np
import pytest

import mat


def line_of_warning(call, start):
    with pytest.warns(RuntimeWarning, match=start) as caught:
        call()
    assert len(caught) == 1
    return caught[0].filename


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
