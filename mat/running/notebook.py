"""The IPython extension ``%load_ext mat.numpy``: cells import stand-ins of NumPy's modules, and
``%mat_report`` shows what their lines have cost.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from ..devices.device import in_use
from .command import in_place_of_numpy
from .imports import ProgramFiles
from .report import Report
from .stand_in import stand_in

Shell: TypeAlias = Any  # an IPython.InteractiveShell
_open: list[ExitStack] = []  # the block of the extension, while it is loaded


def load(shell: Shell) -> None:
    """Give the cells of a shell, and modules in its folder, `mat` in place of NumPy."""
    if _open:
        return
    block = ExitStack()
    profile = block.enter_context(in_place_of_numpy(ProgramFiles([os.getcwd()])))
    _open.append(block)

    def mat_report(line: str) -> Report:
        """Show what the lines of cells have cost; write it as HTML to the file that is named."""
        profile.seconds = perf_counter() - profile.begun
        report = Report(profile, "notebook", str(in_use().name))
        if line.strip():
            report.save(line.strip())
        return report

    shell.register_magic_function(mat_report, "line", "mat_report")
    names = shell.user_ns
    for name in [n for n, value in names.items() if value is np]:
        names[name] = stand_in("numpy")


def unload(shell: Shell) -> None:
    """Let further cells import NumPy itself."""
    while _open:
        _open.pop().close()
    names, ours = shell.user_ns, stand_in("numpy")
    for name in [n for n, value in names.items() if value is ours]:
        names[name] = np
