"""The HTML of a Mat, made from its elements."""

from __future__ import annotations

import html

import numpy as np

from .formatting import contents
from .types import Array


def html_table(caption: str, a: Array | None, message: str) -> str:
    """Return an HTML table of the elements, at most NumPy's edge items of each axis.

    It shows `message` if `a` is None, and lines of text if `a` is not 1-d or 2-d.
    """
    title = f"<caption><code>{html.escape(caption)}</code></caption>"
    if a is None or a.ndim > 2 or a.ndim == 0:
        text = message if a is None else contents(a)
        return f"<table>{title}<tr><td><pre>{html.escape(text)}</pre></td></tr></table>"
    grid = np.atleast_2d(a)
    rows = "".join("<tr>" + "".join(f"<td>{_cell(grid, i, j)}</td>" for j in _edges(grid.shape[1]))
                   + "</tr>" for i in _edges(grid.shape[0]))
    return f"<table>{title}{rows}</table>"


def _edges(n: int) -> list[int | None]:
    """Return the indices to show of `n`, with None for the gap."""
    k = np.get_printoptions()["edgeitems"]
    if n <= 4 * k:
        return list(range(n))
    return [*range(k), None, *range(n - k, n)]


def _cell(grid: Array, i: int | None, j: int | None) -> str:
    if i is None or j is None:
        return "&hellip;"
    return html.escape(np.array2string(grid[i, j]))
