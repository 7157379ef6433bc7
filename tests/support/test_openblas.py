"""BLAS's routines are found in the library of SciPy's wheels, and otherwise in SciPy itself."""

import ctypes
import os

import numpy as np
import pytest

import mat
from mat.support import blas_library

pytestmark = pytest.mark.host
NAMES = ("daxpy", "sgemm", "idamax", "dasum", "scnrm2", "ztrsm")


@pytest.fixture
def without(monkeypatch):
    """Return a function that has the library be looked for in these paths only."""
    def look_in(*paths):
        monkeypatch.setattr(blas_library, "_openblas_files", lambda: iter(paths))
        blas_library._openblas.cache_clear()
    yield look_in
    monkeypatch.undo()
    blas_library._openblas.cache_clear()


def test_a_wheel_of_scipy_has_the_library_where_it_is_looked_for():
    wheel = [path for path in blas_library._openblas_files() if os.path.isfile(path)]
    if not wheel:
        pytest.skip("SciPy is not a wheel with OpenBLAS")
    assert all(blas_library.routine_address(name) for name in NAMES)
    assert blas_library.routine_address("dnothing") == 0


@pytest.mark.parametrize("paths", [(), ("/nowhere/libscipy_openblas.so",), (__file__,)])
def test_without_a_library_scipy_is_asked(paths, without):
    without(*paths)
    for name in NAMES:
        assert blas_library.routine_address(name) == 0
        assert blas_library.address(name) == blas_library._address_in_scipy(name) != 0


def test_both_give_the_same(without):
    def total(address):
        function = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_void_p] * 3)(address)
        return function(ctypes.byref(ctypes.c_int(5)), x.ctypes.data, ctypes.byref(ctypes.c_int(1)))

    x = np.arange(5) - 2.5
    found = total(blas_library.address("dasum"))
    without()
    assert found == total(blas_library.address("dasum")) == np.abs(x).sum()


@pytest.mark.parametrize("verb", ["dotu", "dotc"])
@pytest.mark.parametrize("prefix", "cz")
def test_complex_numbers_are_returned_by_scipys_functions(prefix, verb):
    name = prefix + verb
    assert blas_library.address(name) == blas_library._address_in_scipy(name)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products_of_complex_vectors(dtype):
    a, b = np.array([1 + 2j, 3 - 1j], dtype), np.array([0.5j, 2 + 1j], dtype)
    x, y = mat.array(a), mat.array(b)
    assert mat.blas.dot(x, y) == (a * b).sum()
    assert mat.vdot(x, y) == (a.conj() * b).sum()
