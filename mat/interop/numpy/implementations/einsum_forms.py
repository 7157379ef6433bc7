"""Other forms of the arguments of `einsum`: axes as lists of integers, ellipses, and operands of
different dtypes.
"""

from __future__ import annotations

from string import ascii_letters

import numpy as np

from ....matrix.mat import Mat
from ....support.types import Arguments, Operand
from .there import as_dtype

_DOTS = "..."


def as_text(operands: Arguments) -> tuple[str, Arguments]:
    """Return the subscripts of operands, each followed by a list of its axes, and the operands; an
    empty text if NumPy is to understand them.
    """
    lists = [*operands[1::2], *(operands[-1:] if len(operands) % 2 else ())]
    found = [_letters(axes) for axes in lists]
    if None in found:
        return "", ()
    texts = [text for text in found if text is not None]
    if len(operands) % 2:
        return ",".join(texts[:-1]) + "->" + texts[-1], operands[:-1:2]
    return ",".join(texts), operands[::2]


def _letters(axes: Operand) -> str | None:
    if not isinstance(axes, list | tuple) or not all(
            axis is Ellipsis or (type(axis) is int and 0 <= axis < len(ascii_letters))
            for axis in axes):
        return None
    return "".join(_DOTS if axis is Ellipsis else sorted(ascii_letters)[axis] for axis in axes)


def plain(subscripts: str, mats: list[Mat]) -> tuple[str, list[Mat]]:
    """Return subscripts without ellipses, and operands of one dtype."""
    dtype = np.result_type(*(m.dtype for m in mats))
    return _without_dots(subscripts.replace(" ", ""), mats), [as_dtype(m, dtype) for m in mats]


def _without_dots(subscripts: str, mats: list[Mat]) -> str:
    """Return subscripts with letters for the axes of ellipses, if all have equally many axes."""
    if _DOTS not in subscripts:
        return subscripts
    left, arrow, result = subscripts.partition("->")
    terms = left.split(",")
    counts = {m.ndim - len(term.replace(_DOTS, "")) for term, m in zip(terms, mats, strict=False)
              if _DOTS in term}
    free = [letter for letter in sorted(ascii_letters) if letter not in subscripts]
    if len(terms) != len(mats) or len(counts) != 1 or not 0 <= min(counts) <= len(free):
        return subscripts
    names = "".join(free[:min(counts)])
    if not arrow:
        letters = left.replace(",", "").replace(_DOTS, "")
        result = _DOTS + "".join(sorted(n for n in set(letters) if letters.count(n) == 1))
    return f"{left}->{result}".replace(_DOTS, names)
