"""``%load_ext mat``: what IPython and notebooks get. ``%%mat_trace`` traces a cell; names in
``x.facet("`` are completed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..core.registry import all_facets, memories
from ..devices.device import kinds
from .trace import trace

_OPEN = re.compile(r"""\.(facet|drop|keep|use_device|set_device)\(\s*(["'])([\w:]*)$""")


def names_for(method: str) -> list[str]:
    """What a string argument of that method may be."""
    if method == "facet":
        return [f.name for f in all_facets()]
    return ["cpu", *kinds()] if method.endswith("device") else list(memories)


def complete(text: str) -> list[str]:
    """The rest of names of facets, memories and devices that fit the open string at the end of
    `text`, whole.
    """
    found = _OPEN.search(text)
    return [] if found is None else [n for n in names_for(found[1]) if n.startswith(found[3])]


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext mat`` calls."""
    def mat_trace(line: str, cell: str) -> Any:
        """Run the cell under ``mat.trace()``, show the ledger, and write a timeline to the file
        named, if there is one.
        """
        with trace() as t:
            shell.run_cell(cell).raise_error()
        if line.strip():
            t.save(line.strip())
        return t

    shell.register_magic_function(mat_trace, "cell", "mat_trace")
    matchers = getattr(shell.Completer, "custom_matchers", None)
    if matchers is not None and not any(getattr(m, "of_mat", False) for m in matchers):
        matchers.append(_matcher(shell))


def _matcher(shell: Any) -> Callable[[str], list[str]]:
    def facet_names(text: str) -> list[str]:
        line = shell.Completer.line_buffer
        found = complete(line)
        opened = _OPEN.search(line)
        if opened is None:
            return []
        before = text[:len(text) - len(opened[3])] if text.endswith(opened[3]) else ""
        return [before + name for name in found]

    facet_names.of_mat = True  # type: ignore[attr-defined]  # functions take attributes
    return facet_names
