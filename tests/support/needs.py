"""What some tests cannot do without, as marks that skip them visibly."""

import importlib

import pytest

from mat.support.native import lib

native = pytest.mark.skipif(lib is None, reason="it is about the compiled kernels, and there are "
                                                "none")


def module(name):
    """The module of ours of that name; the test is skipped if it needs cuda-python and that is
    missing.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "cuda":
            raise
        return pytest.skip("cuda-python is not installed")
