"""Requirements of tests: marks and functions that skip a test where they are not met."""

import importlib

import pytest

from mat.support.native import lib

native = pytest.mark.skipif(lib is None, reason="there are no compiled kernels")


def module(name):
    """Return the module of `mat` of that name; skip the test if it needs cuda-python or dask, which
    is missing.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("cuda", "dask", "distributed"):
            raise
        return pytest.skip(f"{missing} is not installed")
