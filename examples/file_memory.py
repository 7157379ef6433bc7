"""A memory of your own in thirty lines: data kept in a memory-mapped file, as one more place where
a Mat can be.

It imports nothing of `mat` but its public names. No operation knows of files, and yet every
operation works on data that is in one: the library brings it to the host when something computes
there. Run: python examples/file_memory.py
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
    """One temporary file for each storage. The handle is the mapped file as a 1-d array: allocate,
    free, in, out.
    """

    name = "file"

    def allocate(self, cube: Any) -> np.memmap:
        number, path = tempfile.mkstemp(prefix=PREFIX)
        os.close(number)
        # no system maps an empty file
        return np.memmap(path, cube.dtype, "w+", shape=(max(1, cube.size),))

    def free(self, handle: np.memmap) -> None:
        os.remove(handle.filename)  # the mapping itself goes with the last array that uses it

    def copy_in(self, cube: Any, handle: np.memmap, host: np.ndarray) -> None:
        handle[:cube.size] = host

    def copy_out(self, cube: Any, handle: np.memmap, host: np.ndarray) -> None:
        host[:] = handle[:cube.size]


class FileFacet(Facet):
    """The visible elements, in the Mat's shape and strides, right in the mapped file."""

    name, letter, memory = "file", "L", File()

    def present(self, view: Any, handle: np.memmap, writable: bool) -> np.ndarray:
        strides = [s * view.itemsize for s in view.strides]
        a = np.ndarray(view.shape, view.dtype, handle, view.displacement * view.itemsize, strides)
        a.flags.writeable = writable
        return a


register_facet(FileFacet())


def files() -> int:
    return len(list(Path(tempfile.gettempdir()).glob(PREFIX + "*")))


def moving() -> None:
    """The host's copy goes, the file's stays, and the next operation brings the data back."""
    x = mat.array([[1, 2, 3], [4, 5, 6]])
    with x.facet("file", "input") as a:  # read only: now both memories are fresh
        print("in the file:    ", a.tolist())
    print("two copies:     ", x, sorted(x.fresh))
    x.drop("host")  # free, because the file has it; an error if it had not
    print("in the file only:", x, sorted(x.fresh))  # to print it, just a temporary copy is made
    with mat.debug.count_copies() as n:
        y = x @ x.T
    print("x @ x.T:        ", y, f"({n.d2h} copy to the host)")
    print("fresh again in: ", sorted(x.fresh))
    x.scal_(10)  # written on the host: the file is stale, its letter small
    print("after x.scal_:  ", x, sorted(x.fresh))
    mat.show(x)


def viewing() -> None:
    """A view of data that is in a file is a view of the file: all freshness lives in the
    storage.
    """
    x = mat.zeros(3, 4)
    with x[1:, ::2].facet("file") as a:
        a += 1
    x.drop("host")
    print("written through a strided view of the file:")
    print(x)


def fencing() -> None:
    """At the end of a barrier the files made inside are gone, and nothing is lost."""
    x = mat.ones(2, 2)
    with mat.barrier(ensure="host", drop="file") as fence:
        with x.facet("file", "io") as a:
            a *= 7
        print(f"inside:  {x} fresh in {sorted(x.fresh)}, copies to drop: {fence.count}, files: "
              f"{files()}")
    print(f"outside: {x} fresh in {sorted(x.fresh)}, files: {files()}")


def main() -> None:
    moving()
    print("\n-- views")
    viewing()
    print("\n-- a barrier")
    fencing()
    print("\n-- garbage")
    x = mat.Mat(1000, "float32", fill=3)
    with x.facet("file", "io") as a:
        a[0] = 0
    print(f"a Mat that is in a file only:  {files()} file")
    del a, x
    print(f"after the Mat becomes garbage: {files()} files")


if __name__ == "__main__":
    main()
