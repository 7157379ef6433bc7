"""Classes of NumPy's own tests, which all pass with `mat` in place of `numpy`; the dtypes are those
that Mats have. ``python -m tests.numpy.numpys_own`` runs all of its tests.
"""

import importlib.util
import inspect
import warnings
from functools import cache
from unittest import mock

import numpy as np
import pytest

from .numpys_own import NUMPY, replace_names

if np.lib.NumpyVersion(np.__version__) < "2.4.0":
    pytest.skip("the names of tests are those of NumPy 2.4", allow_module_level=True)
# and tests of them about types of scalars, objects, the words of messages, and whether another
# class's `__array_function__` gets lists as they are
CLASSES = {
    "_core/test_multiarray": {
        "TestMatmulOperator": {"test_array_priority_override", "test_matmul_raises",
                               "test_result_types"},
        "TestMatmul": {"test_out_arg", "test_empty_out", "test_matmul_exception_multiply",
                       "test_matmul_exception_add", "test_matmul_object", "test_result_types",
                       "test_matmul_object_type_scalar", "test_matmul_empty"},
        "TestChoose": set(), "TestCompress": set(),
    },
    "lib/test_index_tricks": {"TestRavelUnravelIndex": set(), "TestFillDiagonal": set()},
    "lib/test_twodim_base": {"TestDiag": set(), "TestVander": set(),
                             "TestHistogram2d": {"test_dispatch"}},
}


@cache
def module(name):
    """Return a file of NumPy's tests as a module of its own, with the names of `mat`."""
    folder, file = name.split("/")
    spec = importlib.util.spec_from_file_location(f"numpys_{file}",
                                                  NUMPY / folder / "tests" / f"{file}.py")
    found = importlib.util.module_from_spec(spec)
    # its marks are registered in NumPy's configuration
    with warnings.catch_warnings(), mock.patch.object(pytest.mark, "_config", None):
        warnings.simplefilter("ignore")
        spec.loader.exec_module(found)
    replace_names(found)
    return found


def chosen():
    for name, classes in CLASSES.items():
        for kind, others in classes.items():
            found = getattr(module(name), kind)
            for test, function in inspect.getmembers(found, inspect.isfunction):
                plain = list(inspect.signature(function).parameters) == ["self"]
                if test.startswith("test") and plain and test not in others:
                    yield pytest.param(found, test, id=f"{kind}.{test}")


@pytest.mark.parametrize(("kind", "test"), list(chosen()))
@pytest.mark.filterwarnings("ignore")
def test_of_numpys(kind, test):
    getattr(kind(), test)()
