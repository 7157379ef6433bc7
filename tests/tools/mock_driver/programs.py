"""All programs that `mat` can ever compile: each module of `mat.cuda` lists its own in its function
``programs``.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import mat.cuda


@cache
def listed():
    """Return each program with the name of the first module that lists it."""
    program_type = import_module("mat.cuda.runtime.nvrtc").Program
    found = {}
    for info in iter_modules(mat.cuda.__path__):
        module = import_module(f"mat.cuda.{info.name}")
        for program in getattr(module, "programs", tuple)():
            # some modules return sources, of which another makes programs
            if isinstance(program, program_type):
                found.setdefault(program, info.name)
    return found


def is_ours(text):
    """Check whether a source is of `mat`: it includes more than ``device.cuh`` and is no user's."""
    included = (line for line in text.splitlines() if line.startswith("#include"))
    return "mat_user(" not in text and any("device.cuh" not in line for line in included)


def unlisted(program):
    """Check whether a program should be listed and is not."""
    return is_ours(program.text) and program not in listed()
