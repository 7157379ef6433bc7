"""Docstrings of NumPy's functions in `mat`: a line and an example each, from ``summaries.txt``."""

from __future__ import annotations

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
    {returns}

Notes
-----
{where}

References
----------
https://numpy.org/doc/stable/reference/{page}.html
"""
_RETURNS = """A Mat, with NumPy's dtype, for each array and each of NumPy's scalars that
    ``numpy.{name}`` returns; Python's objects as they are."""
_EXAMPLE = """
Examples
--------
>>> import mat
{example}
"""


def docstring(summarized: str, name: str, parameters: Iterable[str], where: str,
              returns: str = _RETURNS) -> str:
    """Return the docstring for ``numpy.{name}``, with the summary of the function `summarized`."""
    summary, example = summary_of(summarized) or (f"The function ``numpy.{name}`` of Mats.", "")
    made = _DOC.format(summary=summary, name=name, where=where, page=_page_of(name),
                       returns=returns.format(name=name),
                       parameters=", ".join(parameters) or "none")
    return made + _EXAMPLE.format(example=dedent(example)) if example else made


def _page_of(name: str) -> str:
    """Return where NumPy's reference describes a function."""
    if name == "random.RandomState.tomaxint":  # has no page of its own
        return "random/legacy"
    name = name.replace("lib.stride_tricks.broadcast", "broadcast")  # described under the latter
    return f"{'random/' * name.startswith('random.')}generated/numpy.{name}"


def summary_of(name: str) -> tuple[str, str] | None:
    """Return the line and the example of a function, or None."""
    text = _summaries()
    start = text.find(f"\n{name}: ")
    if start < 0:
        return None
    line = end = text.index("\n", start + 1)
    while text[end + 1].isspace():  # the lines of the example
        end = text.index("\n", end + 1)
    return text[start + len(name) + 3:line], text[line + 1:end]


@cache
def _summaries() -> str:
    """Return the text, with an end that is no example."""
    text = Path(__file__).with_name("summaries.txt").read_text(encoding="utf-8")
    return f"\n{text.rstrip()}\n."
