"""Requirements of tests: marks and functions that skip a test where they are not met."""

import importlib

import pytest

from mat.support.native import lib

native = pytest.mark.skipif(lib is None, reason="there are no compiled kernels")


def module(name):
    """Return the module of `mat` of that name; skip the test if it needs cuda-python, which is
    missing.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "cuda":
            raise
        return pytest.skip("cuda-python is not installed")
