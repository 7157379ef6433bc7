"""Imports of NumPy's modules by mat's name: ``import mat.testing``, ``from mat.typing import
NDArray``.

They are attributes of `mat` that are made when they are first used, not files of it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

OWN = __name__.partition(".")[0]


def attribute(name: str) -> ModuleType | None:
    """Return the module that is the attribute `name` of a module of mat that is imported."""
    parent, _, last = name.rpartition(".")
    if parent.partition(".")[0] != OWN or last.startswith("_"):
        return None
    found = getattr(sys.modules.get(parent), last, None)
    return found if isinstance(found, ModuleType) else None


class Attributes:
    """The last finder of imports: it finds modules that are attributes of `mat`, not files."""

    # the parameters are those that imports pass
    def find_spec(self, fullname: str, path: Sequence[str] | None,  # noqa: ARG002
                  target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return the specification of such a module, or None."""
        loader: Any = self  # not made as a subclass of Loader: importlib.abc takes long to import
        return None if attribute(fullname) is None else ModuleSpec(fullname, loader)

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: the import makes an empty module, replaced by `exec_module`."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the new module by the attribute, and register the modules inside of it.

        Otherwise ``import mat.polynomial.polynomial`` would load NumPy's file a second time.
        """
        name = module.__name__
        found = attribute(name)
        assert found is not None
        inner = f"{found.__name__}."
        sys.modules[name] = found
        for other in [m for m in sys.modules if m.startswith(inner)]:
            sys.modules[f"{name}.{other.removeprefix(inner)}"] = sys.modules[other]


sys.meta_path.append(Attributes())
