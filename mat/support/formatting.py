"""Turning what a Mat is into text and HTML; knows no Mat, only the pieces it is handed."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..layout.strided import Layout


def extent(layout: Layout, storage_size: int) -> str:
    """``2x3``, or ``displacement+2x3+slack`` where not all of the storage is visible; with strides
    if not packed.
    """
    shape = "x".join(map(str, layout.shape)) or "()"
    if layout.size != storage_size:
        shape = f"{layout.displacement}+{shape}+{storage_size - layout.bounds[1]}"
    if not layout.contiguous:
        shape += f" strides {layout.strides}"
    return shape


def letters(states: Iterable[tuple[str, bool]]) -> str:
    """Facet letters, capital where fresh; ``-`` if there are none."""
    return "".join(letter.upper() if fresh else letter.lower() for letter,
                   fresh in sorted(states)) or "-"


def contents(a: np.ndarray[Any, Any], indent: str = " ") -> str:
    """The elements under NumPy's print options."""
    return np.array2string(a, separator=" ", prefix=indent)


def bracket(head: str, body: str) -> str:
    """``<head body>`` on one line if it fits NumPy's line width, else the body below the head."""
    line = f"<{head} {' '.join(body.split()).replace('[ ', '[').replace(' ]', ']')}>"
    if len(line) <= np.get_printoptions()["linewidth"] and "..." not in body:
        return line
    return f"<{head}\n {body}>" if "\n" in body else f"<{head} {body}>"


def formatted(a: np.ndarray[Any, Any], spec: str) -> str:
    """Each element under the format `spec`; a single element without brackets."""
    if a.ndim == 0:
        return format(a.item(), spec)
    return np.array2string(a, separator=" ",
                           formatter={"all": lambda v: format(v.item(),
                                                              spec)})  # type: ignore[arg-type]
    # NumPy's stubs know fewer keys than NumPy


def table(cells: list[tuple[str, ...]]) -> str:
    """Rows of cells in columns that line up."""
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
                     for row in cells)


def html_table(caption: str, a: np.ndarray[Any, Any] | None, message: str) -> str:
    """A notebook's view: the header as caption, and the elements, at most NumPy's edge items of
    each axis.
    """
    title = f"<caption><code>{html.escape(caption)}</code></caption>"
    if a is None or a.ndim > 2 or a.ndim == 0:
        text = message if a is None else contents(a)
        return f"<table>{title}<tr><td><pre>{html.escape(text)}</pre></td></tr></table>"
    grid = np.atleast_2d(a)
    rows = "".join("<tr>" + "".join(f"<td>{_cell(grid, i, j)}</td>" for j in _edges(grid.shape[1]))
                   + "</tr>"
                   for i in _edges(grid.shape[0]))
    return f"<table>{title}{rows}</table>"


def _edges(n: int) -> list[int | None]:
    """The indices to show of `n`, None for the gap."""
    k = np.get_printoptions()["edgeitems"]
    if n <= 4 * k:
        return list(range(n))
    return [*range(k), None, *range(n - k, n)]


def _cell(grid: np.ndarray[Any, Any], i: int | None, j: int | None) -> str:
    if i is None or j is None:
        return "&hellip;"
    return html.escape(np.array2string(grid[i, j]))
