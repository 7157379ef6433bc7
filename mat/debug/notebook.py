"""The IPython extension, ``%load_ext mat``: ``%%mat_trace`` traces a cell, and names in
``x.facet("`` are completed.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeAlias

from ..core.registry import listed_facets, listed_memories
from ..core.source_line import cell_of
from ..devices.device import kinds
from .trace import Trace, trace

Shell: TypeAlias = Any  # an IPython.InteractiveShell
_OPEN = re.compile(r"""\.(facet|drop|keep|use_device|set_device)\(\s*(["'])([\w:]*)$""")


def names_for(method: str) -> list[str]:
    """Return the possible values of the string argument of a method."""
    if method == "facet":
        return listed_facets()
    return (["cpu", *kinds()] if method.endswith("device")
            else [m.name for m in listed_memories()])


def complete(text: str) -> list[str]:
    """Return the names of facets, memories and devices that complete the open string in `text`."""
    found = _OPEN.search(text)
    return [] if found is None else [n for n in names_for(found[1]) if n.startswith(found[3])]


class FacetNames:
    """A matcher for IPython's completer: the names that complete the string at the cursor."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def matches(self, text: str) -> list[str]:
        """Return the completions of the word `text` before the cursor."""
        line = self.shell.Completer.line_buffer
        opened = _OPEN.search(line)
        if opened is None:
            return []
        before = text[:len(text) - len(opened[3])] if text.endswith(opened[3]) else ""
        return [before + name for name in complete(line)]


@contextlib.contextmanager
def _as_its_cell(shell: Shell, frame: FrameType | None) -> Iterator[None]:
    """Give code that the shell runs in this block the name of the cell of the frame."""
    number = getattr(shell, "execution_count", None)
    while frame is not None and (cell := cell_of(frame.f_code.co_filename)) is None:
        frame = frame.f_back
    if number is None or frame is None or cell is None or not (found := re.search(r"\d+", cell)):
        yield
        return
    shell.execution_count = int(found[0])
    try:
        yield
    finally:
        shell.execution_count = number


def load_ipython_extension(shell: Shell) -> None:
    """Load the extension into an IPython shell; ``%load_ext mat`` calls this."""
    def mat_trace(line: str, cell: str) -> Trace:
        """Run the cell under ``mat.debug.trace()`` and show the trace.

        A timeline is written to the file that the line names, if it names one.
        """
        with trace() as t, _as_its_cell(shell, sys._getframe(1)):
            # the first line of the cell is that of this magic; another one has to be the first
            before = "" if cell.startswith("%%") else "# %%mat_trace\n"
            shell.run_cell(f"{before}{cell}").raise_error()
        if line.strip():
            t.save(line.strip())
        return t

    shell.register_magic_function(mat_trace, "cell", "mat_trace")
    matchers: list[Callable[[str], list[str]]] | None = getattr(shell.Completer, "custom_matchers",
                                                                None)
    known = (isinstance(getattr(m, "__self__", None), FacetNames) for m in matchers or ())
    if matchers is not None and not any(known):
        matchers.append(FacetNames(shell).matches)
