"""No operation calls functions of `mat/numpy` or `mat/interop`, not even through NumPy."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mat

from ..support.upward_calls import UpwardCalls


@pytest.mark.slow
def test_operations_call_nothing_above_them():
    """All of NumPy's functions and ufuncs are called, also by their names in `mat`."""
    done = subprocess.run([sys.executable, "-m", "tests.support.upward_calls"], text=True,
                          env={**os.environ, "MAT_NATIVE": "0"}, capture_output=True, check=True)
    assert done.stdout == ""


def test_calls_through_numpy_are_found():
    names = {"np": np}
    code = "def product(x):\n    return np.tensordot(x, x, 2)\n"
    exec(compile(code, f"{mat.__path__[0]}/ops/planted.py", "exec"), names)
    with UpwardCalls() as record:
        names["product"](mat.ones(2, 3))
    # compiled modules have no frames, but the function that they call has
    assert {place for place, _ in record.found} == {"planted.py:2 product"}
