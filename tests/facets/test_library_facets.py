"""Facets of other libraries: their rules, with NumPy in place of torch, CuPy and JAX, which are
tested in tests/clients as far as they are installed; tests/cuda has those of a GPU.
"""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.extend import Facet, LibraryFacet, register_facet

from ..support.mock_memories import registered

pytestmark = pytest.mark.host


class Numpy(LibraryFacet):
    name, letter, library = "numpy", "Q", "numpy"

    def array_of(self, library, value):
        return library.asarray(value) if isinstance(value, library.ndarray) else value

    def check(self, library, view):
        if view.ndim > 2:
            raise mat.ShapeError(f"{view.ndim} axes")


class HostOnly(Numpy):
    name, letter, on_gpu = "here", "W", False


class GpuOnly(Numpy):
    name, letter, on_host = "there", "V", False


class Immutable(Numpy):
    name, letter, immutable = "constant", "I", True


class Missing(Numpy):
    name, letter, library = "missing", "M", "a_library_that_is_not_there"


@pytest.fixture(autouse=True)
def facets():
    with registered():
        yield [register_facet(kind()) for kind in (Numpy, HostOnly, GpuOnly, Immutable, Missing)]


LAYOUTS = {"packed": lambda a: a, "transposed": lambda a: a.T, "column": lambda a: a[:, 1],
           "steps": lambda a: a[::2, ::-1], "row": lambda a: a[1], "none": lambda a: a[:0]}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_blocks_see_the_memory_of_the_mat(layout):
    reference = np.arange(12.0).reshape(3, 4)
    whole = mat.array(reference)
    x = LAYOUTS[layout](whole)
    with x.facet("numpy", "input") as t, x.facet("array", "input") as a:
        assert np.shares_memory(t, a) or not a.size
        assert (t.shape, t.strides) == (a.shape, a.strides)
    with x.facet("numpy") as t:
        t += 1
    LAYOUTS[layout](reference)[...] += 1
    assert_array_equal(whole.to_numpy(), reference)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # of NumPy 2.5
def test_every_block_has_an_array_of_its_own():
    x = mat.zeros(6)
    with x.facet("numpy", "output") as t:
        t[...] = 3
        t.shape = (2, 3)
    with x.facet("numpy", "input") as t:
        assert t.shape == (6,)


def test_they_follow_directions_and_commit_on_success():
    x = mat.ones(3)
    with mat.use_device("emulated"):
        x += 1
        with x.facet("numpy", "input") as t:  # for others the emulated device is the host
            assert t.tolist() == [2, 2, 2]
        assert x.fresh == {"host", "emulated"}
        with pytest.raises(ZeroDivisionError), x.facet("numpy") as t:
            t[0] = 1 / t[0].item() + 7 // 0
        assert x.fresh == {"emulated"}
        with x.facet("numpy", "output") as t:
            t[...] = 5
        assert x.fresh == {"host"}
    assert x.tolist() == [5, 5, 5]


def test_they_conflict_as_other_facets_do():
    x = mat.ones(3)
    with mat.use_device("emulated"), x.facet("emulated", "io"):  # noqa: SIM117
        with pytest.raises(mat.ConflictError, match="facet 'numpy' for 'input'"):
            x.facet("numpy", "input").__enter__()
    exported = np.asarray(x)
    with pytest.raises(mat.ConflictError, match="exported"):
        x.facet("numpy").__enter__()
    with mat.with_facets((x, "numpy", "input"), (x[:2], "array", "input")) as (t, a):
        assert t[:2].tolist() == a.tolist() == exported[:2].tolist()


def test_read_only_memory_is_presented_for_input_only():
    a = np.arange(3.0)
    a.flags.writeable = False
    x = mat.from_numpy(a)
    with x.facet("numpy", "input") as t:
        assert t.ctypes.data == a.ctypes.data
    with pytest.raises(mat.DirectionError, match="read-only"):
        x.facet("numpy")


@pytest.mark.parametrize(("name", "direction", "error", "text"), [
    ("missing", "input", mat.FacetError, "pip install a_library_that_is_not_there"),
    ("constant", "io", mat.DirectionError, "takes direction 'input' only, got 'io'"),
    ("constant", "output", mat.DirectionError, "got 'output'"),
    ("there", "input", mat.DeviceError, "no GPU is in use for <Mat 2>"),
    ("numpi", "input", mat.FacetError, "did you mean 'numpy'"),
])
def test_errors_before_anything_is_touched(name, direction, error, text):
    x = mat.ones(2)
    with pytest.raises(error, match=text):
        x.facet(name, direction).__enter__()
    with pytest.raises(error, match=text), mat.with_facets((x, name, direction)):
        pass
    assert x.fresh == set()  # it was never written


def test_the_check_of_the_library_comes_first():
    x = mat.ones(1, 1, 1)
    with pytest.raises(mat.ShapeError, match="3 axes"):
        x.facet("numpy").__enter__()
    assert x.fresh == set()


def test_a_letter_is_shared_by_the_memories_only(facets):
    with pytest.raises(mat.FacetError, match="unused letter"):
        register_facet(type("Other", (Numpy,), {"name": "other"})())
    with pytest.raises(mat.FacetError, match="already registered"):
        register_facet(Numpy())
    x = mat.ones(2)
    with x.facet("numpy"):
        pass
    assert repr(x) == "<Mat 2 Q [1. 1.]>"
    with x.facet(facets[0], "input") as t:
        assert t.tolist() == [1, 1]


def test_arrays_that_outlive_their_block_are_found():
    with mat.debug.check_directions() as c:
        x = mat.ones(3)
        with x.facet("numpy", "input") as t:
            pass
        t.sum()
        with pytest.raises(mat.DirectionError, match=r"facet 'numpy'.*used after its end"):
            x.sum()
        with pytest.raises(mat.DirectionError, match="promised to only read"):  # noqa: SIM117
            with x.facet("numpy", "input") as t:
                t[0] = 7
    assert len(c.faults) == 2


def test_import_mat_imports_no_library():
    code = ("import mat, sys; mat.ones(2).facet('array', 'input').__enter__()\n"
            "assert not {'torch', 'cupy', 'jax', 'nvtx', 'logging'} & set(sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_facets_without_a_letter():
    with pytest.raises(mat.FacetError, match=r"needs a letter and a memory.*letter = 'T'"):
        register_facet(type("Nameless", (Facet,), {"name": "nameless"})())
