"""Run by an interpreter that starts with this folder in its path: the mock driver is the machine's,
with one device, and the C++ compiler is NVRTC.

All else is as on a machine with a GPU.
"""

import ctypes
import os
import sys
from importlib.machinery import PathFinder

MEMORY = 8 << 30


class Finder:
    """Finds the module of NVRTC, and replaces the compiler in it when it is loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != "mat.cuda.runtime.nvrtc":
            return None
        spec = PathFinder.find_spec(name, path)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            from tests.tools.mock_driver.driver import Compiler  # here, since it imports mat

            module.COMPILER = Compiler()

        spec.loader.exec_module = exec_module
        return spec


class Finders(list):
    """Finders of modules of which the first remains the first: pytest inserts one, which would load
    `mat` where its plugin is installed.
    """

    def insert(self, at, finder):
        super().insert(max(at, 1), finder)


if "MAT_REHEARSAL" in os.environ:
    library = ctypes.CDLL(os.environ["MAT_REHEARSAL"], mode=ctypes.RTLD_GLOBAL)
    library.mock_configure(1, ctypes.c_size_t(MEMORY))
    sys.meta_path = Finders([Finder(), *sys.meta_path])
