"""`mat.extend.testing.MemoryTests`: memories of arrays, of bytes, of files and with copies of parts
pass; memories with one fault each do not.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

from mat.extend import Facet, Memory, register_facet
from mat.extend.testing import MemoryTests

from ..support.mock_memories import registry_kept

TESTS = [name for name in vars(MemoryTests) if name.startswith("test_")]
EXAMPLE = Path(__file__).parents[2] / "examples" / "file_memory.py"


class Bytes(Memory):
    """Data in bytearrays."""

    name = "bytes"

    def allocate(self, cube):
        return bytearray(b"\x01" * cube.nbytes)

    def free(self, handle):
        handle.clear()

    def copy_in(self, cube, handle, host):
        handle[:] = host.tobytes()

    def copy_out(self, cube, handle, host):
        host[:] = np.frombuffer(handle, cube.dtype)


class Parts(Memory):
    """Data in arrays, with copies of parts, single elements and fills."""

    name = "parts"

    def allocate(self, cube):
        return np.ones(cube.size, cube.dtype)

    def free(self, handle):
        handle.resize(0, refcheck=False)

    def copy_in(self, cube, handle, host):
        handle[...] = host

    def copy_out(self, cube, handle, host):
        host[...] = handle

    def fill(self, cube, handle):
        handle[...] = cube.fill_value
        return True

    def read_part(self, cube, handle, host, start, stop):
        host[start:stop] = handle[start:stop]
        return True

    def write_part(self, cube, handle, part, start):
        handle[start:start + len(part)] = part
        return True

    def write_runs(self, cube, handle, host, runs):
        for start, stop in runs:
            handle[start:stop] = host[start:stop]
        return True

    def read_runs(self, cube, handle, host, runs):
        for start, stop in runs:
            host[start:stop] = handle[start:stop]
        return True

    def copy_runs(self, cube, handle, source, shift, runs):
        for start, stop in runs:
            handle[start:stop] = source[start + shift:stop + shift]
        return True


class Shown(Facet):
    """The visible elements in a buffer."""

    letter = "Q"

    def __init__(self, memory):
        self.name, self.memory = memory.name, memory

    def present(self, view, handle, writable):
        buffer = handle if view.size else b""
        offset = view.displacement * view.itemsize if view.size else 0
        a = np.ndarray(view.shape, view.dtype, buffer, offset, view.strides)
        a.flags.writeable = writable
        return a


@pytest.fixture
def suite(request):
    """The suite for the memory of the parameter, which is known during the test only."""
    kind, made = request.param, MemoryTests()
    with registry_kept(clear=False):
        facet = (runpy.run_path(str(EXAMPLE))["FILE"] if kind == "files"
                 else register_facet(Shown(kind())))
        made.facet = facet.name
        yield made


@pytest.mark.parametrize("suite", [Bytes, Parts, "files"], indirect=True)
@pytest.mark.parametrize("name", TESTS)
def test_a_memory_conforms(suite, name):
    getattr(suite, name)()


# Faults


class KeepsHalf(Bytes):
    def copy_in(self, cube, handle, host):
        half = cube.nbytes // 2
        handle[:half] = host.tobytes()[:half]


class ReturnsHalf(Bytes):
    def copy_out(self, cube, handle, host):
        host[:cube.size // 2] = np.frombuffer(handle, cube.dtype)[:cube.size // 2]


class FillsZeros(Parts):
    def fill(self, cube, handle):
        handle[...] = 0
        return True


class WritesOnePlaceLater(Parts):
    def write_part(self, cube, handle, part, start):
        handle[start + 1:start + 1 + len(part)] = part
        return True


class ReadsOnePlaceLater(Parts):
    def read_part(self, cube, handle, host, start, stop):
        host[start:stop] = handle[start - 1:stop - 1]
        return True


class LosesRuns(Parts):
    def read_runs(self, cube, handle, host, runs):
        for start, stop in list(runs)[:-1]:
            host[start:stop] = handle[start:stop]
        return True


class WritesNothing(Bytes):
    def write_part(self, cube, handle, part, start):
        return True


class HasOneHandle(Bytes):
    def __init__(self):
        self.handles = {}

    def allocate(self, cube):
        return self.handles.setdefault(cube.nbytes, super().allocate(cube))

    def free(self, handle):
        pass


class FreesNothing(Parts):
    def copy_in(self, cube, handle, host):
        super().copy_in(cube, self.allocate(cube), host)
        handle[...] = host


@pytest.mark.parametrize(("suite", "name"), [
    (KeepsHalf, "test_every_dtype_comes_back"), (ReturnsHalf, "test_every_dtype_comes_back"),
    (FillsZeros, "test_fill_values"), (WritesOnePlaceLater, "test_elements"),
    (ReadsOnePlaceLater, "test_elements"), (LosesRuns, "test_random_programs"),
    (WritesNothing, "test_elements"), (HasOneHandle, "test_mats_of_one_size"),
    (FreesNothing, "test_every_handle_is_freed_once")], indirect=["suite"])
def test_a_fault_is_found(suite, name):
    with pytest.raises(AssertionError):
        getattr(suite, name)()
