"""All programs that our code can ever ask for: what modules of `mat.cuda` give by their function
``programs``.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import mat.cuda


@cache
def listed():
    """Each program once, with the name of a module that gives it, in the order of modules."""
    program_type = import_module("mat.cuda.nvrtc").Program
    found = {}
    for info in iter_modules(mat.cuda.__path__):
        module = import_module(f"mat.cuda.{info.name}")
        for program in getattr(module, "programs", tuple)():
            # some modules give texts, of which another makes programs
            if isinstance(program, program_type):
                found.setdefault(program, info.name)
    return found


def is_ours(text):
    """Whether a text includes headers of ours beyond the one that tests do with, and is not that of
    a user's kernel.
    """
    included = (line for line in text.splitlines() if line.startswith("#include"))
    return "mat_user(" not in text and any("device.cuh" not in line for line in included)


def unlisted(program):
    """Whether the program should be listed and is not."""
    return is_ours(program.text) and program not in listed()
