"""The registry of programs that break the promise of a direction, and of correct ones."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager

import numpy as np
from cffi import FFI

import mat
from mat.extend import InOut, Input, Output, op

ffi = FFI()
ffi.cdef("void *memset(void *, int, size_t); void *memcpy(void *, const void *, size_t);")
libc = ffi.dlopen(None)
ONLY_READ, UNSEEN, LEFT, LATE = "only read", "does not see", "left as it was", "after its end"
BUGS = []


def planted(text, *, device="host", loud=False, pages=False):
    """Register a bug, of which the check says `text`; `pages`: only protected pages notice it."""
    def register(function):
        BUGS.append((function, text, device, loud, pages))
        return function
    return register


def file_of_ones(n):
    """An open file of `n` doubles."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(np.ones(n).tobytes())
    file.seek(0)
    return file


CORRECT = []


def correct(function):
    """Register a program that the check does not reject."""
    CORRECT.append(function)
    return function


def operation(facet, implementation, **directions):
    """An operation that checks nothing, with such directions and that implementation."""
    roles = {"input": Input, "output": Output, "io": InOut}
    space = {"__name__": __name__}
    exec(f"def {implementation.__name__}({', '.join(directions)}): pass", space)
    check = space[implementation.__name__]
    check.__annotations__ = {name: roles[d] for name, d in directions.items()}
    found = op(check, method="")
    found.on(facet)(lambda engine, *args: implementation(*args))
    return found


@contextmanager
def in_use(device):
    with mat.use_device(device, required=True) as dev:
        yield dev
