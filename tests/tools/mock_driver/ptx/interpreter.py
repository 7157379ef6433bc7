"""The interpreter of PTX (``libptx.cpp``) for programs of the mock driver, or for arrays.

With MAT_MOCK_PTX=N one of N programs, chosen by their text, is compiled by NVRTC and interpreted,
and the others are compiled by the C++ compiler; MAT_MOCK_PTX=1 interprets all.
"""

import ctypes
import os
from functools import cache
from importlib import import_module
from zlib import crc32

from ..cache import cached
from ..harness import (
    FLAGS,
    HERE,
    SANITIZED,
    KernelFault,
    command,
    compiler,
    headers,
    read,
    run_by,
    version,
)
from ..programs import is_ours

ARCH = "sm_80"  # all that later devices have is added to it
SHARE = int(os.environ.get("MAT_MOCK_PTX") or 0)
FLAGS = (*(flag for flag in FLAGS if flag != "-DMAT_ON_CPU"), "-frounding-math", "-Wall")


def is_interpreted(text, options):
    """Check whether a program is one of those that are interpreted; those of tests are not."""
    return (SHARE > 0 and is_ours(text)
            and crc32("\0".join((text, *options)).encode()) % SHARE == 0)


@cache
def compiled(text, options=(), arch=ARCH):
    """Return the PTX that NVRTC makes of a program."""
    nvrtc = import_module("tests.tools.mock_driver.ptx.nvrtc_ptx")

    def make(there):
        (there / "program.ptx").write_text(nvrtc.ptx(text, options, arch), encoding="utf-8")
    key = "\0".join(("PTX", nvrtc.version(), arch, text, *options, headers()))
    return read(cached(key, make) / "program.ptx")


@cache
def library():
    """Return the loaded interpreter, which the mock driver finds in the process."""
    def make(there):
        command(*words, HERE / "ptx" / "libptx.cpp", "-shared", "-o", there / "libptx.so", "-ldl")
    words = (*compiler(), *FLAGS, *SANITIZED)
    sources = map(read, sorted((*(HERE / "ptx").glob("*.?pp"), *HERE.glob("*.hpp"))))
    made = cached("\0".join((version(), *words, *sources)), make)
    # a PyDLL keeps the interpreter's lock: fibres run one grid at a time
    found = ctypes.PyDLL(str(made / "libptx.so"), mode=ctypes.RTLD_GLOBAL)
    found.ptx_load.restype = found.ptx_find.restype = ctypes.c_void_p
    found.ptx_problem.restype = found.ptx_error.restype = ctypes.c_char_p
    return found


@cache
def loaded(text):
    """Return a program, read by the interpreter; raise `KernelFault` if it does not know it."""
    program = library().ptx_load(text.encode())
    if not program:
        raise KernelFault(library().ptx_problem().decode())
    return program


def run(text, kernel, frame, arrays, numbers=(), **launch):
    """Run a kernel of PTX on NumPy arrays, in place, as `harness.run` does of CUDA C++.

    Accesses outside of the arrays are faults.
    """
    found = library().ptx_find(ctypes.c_void_p(loaded(text)), kernel.encode())
    if not found:
        raise KernelFault(f"there is no kernel {kernel}")
    run_by((found, library().ptx_run, library().ptx_error, library().ptx_ranges), kernel, frame,
           arrays, numbers, **launch)
