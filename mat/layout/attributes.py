"""Default values of attributes, in classes that may be compiled."""

from __future__ import annotations

from types import FunctionType


def begin_as_nothing(kind: type) -> None:
    """Default annotated attributes of a class to None, 0 or False, as compiled classes do."""
    if any(isinstance(value, FunctionType) for value in vars(kind).values()):  # it is not compiled
        numbers = {"int": 0, "bool": False}
        for name, annotation in kind.__annotations__.items():
            setattr(kind, name, numbers.get(annotation))
