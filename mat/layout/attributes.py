"""What attributes are before they are set, in classes that may be compiled."""

from __future__ import annotations

from types import FunctionType


def begin_as_nothing(kind: type) -> None:
    """Have the attributes that the class `kind` annotates be None, 0 or False until they are set,
    as they are where it is compiled.
    """
    if isinstance(kind.__dict__["__init__"], FunctionType):  # it is not compiled
        numbers = {"int": 0, "bool": False}
        for name, annotation in kind.__annotations__.items():
            setattr(kind, name, numbers.get(annotation))
