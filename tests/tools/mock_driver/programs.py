"""All programs that `mat` can ever compile: each module of `mat.cuda` lists its own in its function
``programs``.
"""

from functools import cache
from importlib import import_module
from pkgutil import walk_packages

import mat.cuda


@cache
def listed():
    """Return each program with the name of the first module that lists it."""
    program_type = import_module("mat.cuda.runtime.nvrtc").Program
    found = {}
    for info in walk_packages(mat.cuda.__path__, "mat.cuda."):
        module = import_module(info.name)
        for program in getattr(module, "programs", tuple)():
            # some modules return sources, of which another makes programs
            if isinstance(program, program_type):
                found.setdefault(program, info.name.rpartition(".")[2])
    return found


def is_ours(text):
    """Check whether a source is of `mat`, perhaps with a user's statements: it includes more than
    ``device.cuh``.
    """
    included = (line for line in text.splitlines() if line.startswith("#include"))
    return any("device.cuh" not in line for line in included)


def unlisted(program):
    """Check whether a program should be listed and is not: those that are composed for a call are
    too many.
    """
    composed = any(word in program.text for word in ("mat_user(", "struct mat_composed"))
    return is_ours(program.text) and not composed and program not in listed()
