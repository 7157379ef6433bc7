"""Inventories in the format of Sphinx, version 2: names, what they are, and the addresses of their
descriptions.

Other projects' documentation refers to names in them by ``intersphinx``, and so do editors.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A name, its role in the domain of Python, its address in the site, and how it is shown."""

    name: str
    role: str
    address: str
    shown: str = "-"  # as the name


def role(path: str, thing: Any, owner: type | None = None) -> str:
    """Return the role of an object: class, exception, function, method, property or data."""
    if isinstance(thing, type):
        return "exception" if issubclass(thing, BaseException) else "class"
    member = owner is not None or path.startswith("mat.Mat.")
    if inspect.isdatadescriptor(thing) and not inspect.ismemberdescriptor(thing):
        return "property"
    if callable(thing):
        return "method" if member else "function"
    return "attribute" if member else "data"


def written(project: str, version: str, entries: Iterable[Entry]) -> bytes:
    """Return the inventory as a file has it: four lines, and compressed entries."""
    head = (f"# Sphinx inventory version 2\n# Project: {project}\n# Version: {version}\n"
            "# The remainder of this file is compressed using zlib.\n")
    lines = [f"{e.name} py:{e.role} 1 {e.address} {e.shown}\n"
             for e in sorted(dict.fromkeys(entries))]
    return head.encode() + zlib.compress("".join(lines).encode())
