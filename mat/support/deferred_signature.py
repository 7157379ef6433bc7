"""`DeferredSignature`: a signature that is made when somebody asks for it, as ``help()`` does.

There are hundreds of operations and methods whose signatures are shown otherwise than their
functions have them; to make all of them would be a tenth of the time of ``import mat``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import MappingProxyType
from typing import Any


class DeferredSignature(inspect.Signature):
    """A signature made by `make()` at the first question."""

    __slots__ = ("_made", "make")

    def __init__(self, make: Callable[[], inspect.Signature]) -> None:
        self.make: Callable[[], inspect.Signature] = make
        self._made: inspect.Signature | None = None

    def made(self) -> inspect.Signature:
        """Return the signature itself."""
        if self._made is None:
            self._made = self.make()
        return self._made

    @property
    def parameters(self) -> MappingProxyType[str, inspect.Parameter]:
        """The parameters by name, as of any signature."""
        return self.made().parameters

    @property
    def return_annotation(self) -> Any:
        """The annotation of the result, as of any signature."""
        return self.made().return_annotation

    # the result is no deferred one
    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        """Return a signature with changes, as any signature does."""
        return self.made().replace(**changes)

    __replace__ = replace  # type: ignore[assignment]

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self.made().__reduce__()

