"""Facets of other libraries over the memory of a GPU: the mock driver stands for one, and doubles
for the libraries, which themselves were not tried there.
"""

import sys
import types

import pytest

import mat
from mat.core.registry import all_facets
from mat.extend import register_facet

from ..facets.test_library_facets import GpuOnly, HostOnly, Numpy
from ..support.mock_memories import registered

pytestmark = pytest.mark.host


@pytest.fixture(autouse=True)
def facets(dev):  # the memory of the device is registered before, and remains
    with registered():
        yield [register_facet(kind()) for kind in (Numpy, HostOnly, GpuOnly)]


def test_the_gpu_in_use_is_presented(dev, facets):
    x = mat.ones(3) + 1
    with mat.debug.count_copies() as n, x.facet("numpy", "io") as t:
        assert type(t).__name__ == "CudaArray"
        with x.facet("cuda", "input") as a:
            assert t.address == a.address
        with pytest.raises(mat.ConflictError, match="facet 'numpy on cuda' for 'io'"):
            x.facet("array", "input").__enter__()
    assert (n.h2d, n.d2h) == (0, 0)
    assert x.fresh == {"cuda:0"}
    assert "Q" in repr(x).split()[2]
    with x.facet("numpy on cuda", "input") as t, x.facet("there", "input"):
        assert t.address == a.address
    with pytest.raises(mat.DeviceError, match=r"use_device\('cpu'\)"):
        x.facet("here").__enter__()
    x.device_enabled = False
    with x.facet(facets[0], "input") as t:
        assert t.tolist() == [2, 2, 2]
    assert {f.name for f in all_facets() if f.letter == "Q"} == {"numpy", "numpy on cuda"}


def test_an_access_chooses_again_whenever_it_begins(dev):
    x = mat.ones(3)
    access = x.facet("numpy", "input")
    with access as t:
        assert type(t).__name__ == "CudaArray"
    with mat.use_device("cpu"), access as t:
        assert t.tolist() == [1, 1, 1]
    with access as t:
        assert type(t).__name__ == "CudaArray"


def test_cupy_is_given_the_address(dev, monkeypatch):
    """The logic of the facet; CuPy itself needs a GPU, and was not tried."""
    fake = types.ModuleType("cupy")
    fake.asarray = lambda a: a.__cuda_array_interface__
    monkeypatch.setitem(sys.modules, "cupy", fake)
    x = mat.ones(2, 3)
    with x.T.facet("cupy") as found, x.facet("cuda", "input") as a:
        assert found["data"] == (a.address, False)
        assert found["shape"] == (3, 2)
        assert found["strides"] == (8, 24)
    with mat.use_device("cpu"), pytest.raises(mat.DeviceError, match="no GPU is in use"):
        x.facet("cupy", "input").__enter__()
    with pytest.raises(mat.DTypeError, match="bfloat16"):
        mat.ones(2, dtype="bfloat16").facet("cupy", "input").__enter__()


def test_a_value_that_outlives_its_block_there(dev):
    with mat.debug.check_directions() as c:
        x = mat.ones(3)
        with x.facet("numpy", "input") as t:
            pass
        with pytest.raises(mat.DirectionError, match=r"facet 'numpy on cuda'.*after its end"):
            repr(t.address)
    assert len(c.faults) == 1
