"""Modules that are imported when they are first needed, registered by name.

`mat/__init__.py` registers those of this package, so that a lower folder can use a higher one that
is expensive to import, such as ``mat.cuda``, without importing it.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

_modules: dict[str, str] = {}


def register_plugin(name: str, module: str) -> None:
    """Register `module`, given by its full dotted name, for import by `plugin(name)`."""
    _modules[name] = module


def has_plugin(name: str) -> bool:
    """Return whether a module is registered as `name`."""
    return name in _modules


def plugin(name: str) -> ModuleType:
    """Return the module registered as `name`, imported at the first call."""
    return importlib.import_module(_modules[name])


def loaded_plugin(name: str) -> ModuleType | None:
    """Return the same module if it has been imported already, else None."""
    return sys.modules.get(_modules[name])


def library(name: str) -> ModuleType | None:
    """Return the module of another library, None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # it is installed, and lacks something itself
            raise
    return None


class AttributeAtFirstUse:
    """Stands for an attribute of a class that a plugin sets there when it is imported."""

    def __init__(self, module: str, name: str) -> None:
        self.module: str = module
        self.name: str = name

    def __get__(self, instance: object, owner: type) -> Any:
        plugin(self.module)
        return getattr(owner if instance is None else instance, self.name)
