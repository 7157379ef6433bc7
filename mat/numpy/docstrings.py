"""Docstrings of NumPy's functions in `mat`: a line and an example each, from ``summaries.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from textwrap import dedent

_DOC = """{summary}

Parameters
----------
{parameters}
    As for ``numpy.{name}``, whose arrays may be Mats, arrays, sequences and numbers.

Returns
-------
object
    A Mat, with NumPy's dtype, for each array and each scalar that ``numpy.{name}`` returns.

Notes
-----
{where}

References
----------
https://numpy.org/doc/stable/reference/generated/numpy.{name}.html
"""
_EXAMPLE = """
Examples
--------
>>> import mat
{example}
"""


def docstring(summarized: str, name: str, parameters: Iterable[str], where: str) -> str:
    """Return the docstring for ``numpy.{name}``, with the summary of the function `summarized`."""
    summary, example = _summaries().get(summarized, (f"The function ``numpy.{name}`` of Mats.", ""))
    made = _DOC.format(summary=summary, name=name, where=where,
                       parameters=", ".join(parameters) or "none")
    return made + _EXAMPLE.format(example=dedent(example)) if example else made


@cache
def _summaries() -> dict[str, tuple[str, str]]:
    text = Path(__file__).with_name("summaries.txt").read_text(encoding="utf-8")
    entries = (entry.partition("\n") for entry in re.split(r"\n(?=\S)", text.rstrip()))
    named = ((first.partition(": "), example) for first, _, example in entries)
    return {name: (summary, example) for (name, _, summary), example in named}
