"""The docstrings of element-wise functions and methods, made from their formulas."""

from __future__ import annotations

import numpy as np

_TEMPLATE = """{summary}

Parameters
----------
{parameters}
Returns
-------
Mat
    {returns}

Raises
------
DTypeError
    If {name} is not defined for the {dtypes}, or {written} cannot take the result.
ShapeError
    If {operands} not broadcast to the shape of {written}.
AliasError
    If two elements of {written} are one, as after `broadcast_to`.
"""
_OTHERS = ("where, casting, order, dtype, subok, signature\n    As for NumPy's function, which "
           "computes on the host with them.\n")
_X = "x : Mat, array, sequence or number\n    Operand, of any shape.\n"
_X_AND_Y = "x, y : Mat, array, sequence or number\n    Operands, which broadcast.\n"
_Y = "y : Mat, array, sequence or number\n    Operand, which broadcasts to the shape of self.\n"
_OUT = "out : Mat, optional\n    Is overwritten with the result; it may be an operand.\n"
# of methods without operands
_NO_PARAMETERS = "Parameters\n----------\n\n"
_NO_SHAPES = "ShapeError\n    If `y` does not broadcast to the shape of self.\n"
_NEW = "`out`, or a new Mat of the dtype that NumPy gives."


def unary_doc(name: str, doc: str, example: str = "", *, method: bool = False) -> str:
    """Return the docstring of ``name(x, out=None)``, or of the method."""
    text = _TEMPLATE.format(
        summary=f"Return {doc}.", parameters=(_OUT if method else _X + _OUT + _others(name)),
        returns=_NEW, name=name, written="`out`",
        dtypes="dtype of self" if method else "dtype of `x`",
        operands="self does" if method else "`x` does")
    return _with_example(text, example)


def binary_doc(name: str, doc: str, example: str) -> str:
    """Return the docstring of ``name(x, y, out=None)``."""
    text = _TEMPLATE.format(
        summary=f"Return {doc}.", parameters=_X_AND_Y + _OUT + _others(name), returns=_NEW,
        name=name, written="`out`", dtypes="dtypes of the operands", operands="the operands do")
    return _with_example(text, example)


def in_place_doc(name: str, doc: str, *, binary: bool = False) -> str:
    """Return the docstring of ``x.name_()`` or ``x.name_(y)``."""
    more = "\n\nHere `x` is self." if binary else ""
    text = _TEMPLATE.format(
        summary=f"Overwrite self with {doc}.{more}", parameters=_Y if binary else "",
        returns="self.", name=name, written="self", operands="`y` does",
        dtypes="dtypes of self and `y`" if binary else "dtype of self")
    if binary:
        return text
    return text.replace(_NO_PARAMETERS, "").replace(_NO_SHAPES, "")


def _others(name: str) -> str:
    """Return the parameters of NumPy's functions beside operands and `out`."""
    return _OTHERS if hasattr(np, name) else ""


def _with_example(text: str, example: str) -> str:
    return f"{text}\nExamples\n--------\n{example}" if example else text
