"""Define a memory space in thirty lines: Mats whose data is stored in memory-mapped files.

The example uses only public names of `mat`. The operations know nothing about files, but all of
them work on data in a file, because the library copies it to the host when it is needed there.
Run: python examples/file_memory.py
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import mat
from mat.extend import Facet, Memory, register_facet

PREFIX = f"mat-{os.getpid()}-"


class File(Memory):
    """A memory with one temporary file for each storage; a handle is a mapped 1-d array."""

    name = "file"

    def allocate(self, cube: Any) -> np.memmap:
        number, path = tempfile.mkstemp(prefix=PREFIX)
        os.close(number)
        # an empty file cannot be mapped
        return np.memmap(path, cube.dtype, "w+", shape=(max(1, cube.size),))

    def free(self, handle: np.memmap) -> None:
        os.remove(handle.filename)  # the mapping is freed with the last array that uses it

    def copy_in(self, cube: Any, handle: np.memmap, host: np.ndarray) -> None:
        handle[:cube.size] = host

    def copy_out(self, cube: Any, handle: np.memmap, host: np.ndarray) -> None:
        host[:] = handle[:cube.size]


class FileFacet(Facet):
    """A facet that presents the visible elements in the mapped file, as a NumPy array."""

    name, letter, memory = "file", "L", File()

    def present(self, view: Any, handle: np.memmap, writable: bool) -> np.ndarray:
        strides = view.strides
        a = np.ndarray(view.shape, view.dtype, handle, view.displacement * view.itemsize, strides)
        a.flags.writeable = writable
        return a


FILE = register_facet(FileFacet())


def files() -> int:
    return len(list(Path(tempfile.gettempdir()).glob(PREFIX + "*")))


def moving() -> None:
    """Drop the host's copy, keep the file's, and compute, which copies the data to the host."""
    x = mat.array([[1.0, 2, 3], [4, 5, 6]])
    with x.facet(FILE, "input") as a:  # read-only: afterwards both copies are fresh
        print("in the file:    ", a.tolist())
    print("two copies:     ", x, sorted(x.fresh))
    x.drop("host")  # possible because the file has a copy; an error otherwise
    print("in the file only:", x, sorted(x.fresh))  # printing makes a temporary copy only
    with mat.debug.count_copies() as n:
        y = x @ x.T
    print("x @ x.T:        ", y, f"({n.d2h} copy to the host)")
    print("fresh again in: ", sorted(x.fresh))
    x.scal_(10)  # written on the host: the file is stale, its letter small
    print("after x.scal_:  ", x, sorted(x.fresh))
    mat.show(x)


def viewing() -> None:
    """Write data in a file through a view: freshness is a property of the storage."""
    x = mat.zeros(3, 4)
    with x[1:, ::2].facet(FILE) as a:
        a += 1
    x.drop("host")
    print("written through a strided view of the file:")
    print(x)


def dropping() -> None:
    """Remove the files made inside a barrier at its end, without losing data."""
    x = mat.ones(2, 2)
    with mat.barrier(ensure="host", drop=FILE) as barrier:
        with x.facet(FILE, "io") as a:
            a *= 7
        print(f"inside:  {x} fresh in {sorted(x.fresh)}, copies to drop: {barrier.count}, files: "
              f"{files()}")
    print(f"outside: {x} fresh in {sorted(x.fresh)}, files: {files()}")


def main() -> None:
    moving()
    print("\n-- views")
    viewing()
    print("\n-- a barrier")
    dropping()
    print("\n-- garbage")
    x = mat.Mat(1000, "float32", fill=3)
    with x.facet(FILE, "io") as a:
        a[0] = 0
    print(f"a Mat that is in a file only:  {files()} file")
    del a, x
    print(f"after the Mat becomes garbage: {files()} files")


if __name__ == "__main__":
    main()
