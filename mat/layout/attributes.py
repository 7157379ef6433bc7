"""Default values of attributes, in classes that may be compiled."""

from __future__ import annotations

_HEAP = 1 << 9  # flag of types that class statements have made, unlike compiled ones


def begin_as_nothing(kind: type) -> None:
    """Default annotated attributes of a class to None, 0 or False, as compiled classes do."""
    if kind.__flags__ & _HEAP:
        numbers = {"int": 0, "bool": False}
        for name, annotation in kind.__annotations__.items():
            setattr(kind, name, numbers.get(annotation))
