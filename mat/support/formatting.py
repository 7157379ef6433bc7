"""The text and HTML of a Mat, made from its layout, letters and elements."""

from __future__ import annotations

import html
from collections.abc import Iterable

import numpy as np

from ..layout.strided import Layout
from .types import Array


def extent(layout: Layout, storage_size: int) -> str:
    """Return the shape as ``2x3``, or as ``displacement+2x3+slack`` if not all is visible.

    Strides follow if they are not packed.
    """
    shape = "x".join(map(str, layout.shape)) or "()"
    if layout.size != storage_size:
        shape = f"{layout.displacement}+{shape}+{storage_size - layout.bounds[1]}"
    if not layout.contiguous:
        shape += f" strides {layout.strides}"
    return shape


def letters(states: Iterable[tuple[str, bool]]) -> str:
    """Return the letters of facets, capital where fresh; ``-`` if there are none."""
    return "".join(letter.upper() if fresh else letter.lower()
                   for letter, fresh in sorted(states)) or "-"


def contents(a: Array, indent: str = " ") -> str:
    """Return the elements under NumPy's print options."""
    return np.array2string(a, separator=" ", prefix=indent)


def bracket(head: str, body: str) -> str:
    """Return ``<head body>``, with the body below the head if it exceeds NumPy's line width."""
    line = f"<{head} {' '.join(body.split()).replace('[ ', '[').replace(' ]', ']')}>"
    if len(line) <= np.get_printoptions()["linewidth"] and "..." not in body:
        return line
    return f"<{head}\n {body}>" if "\n" in body else f"<{head} {body}>"


def formatted(a: Array, spec: str) -> str:
    """Return each element under the format `spec`; a 0-d array without brackets."""
    if a.ndim == 0:
        return format(a.item(), spec)
    # NumPy's stubs lack this key of `formatter`
    one = {"all": lambda v: format(v.item(), spec)}
    return np.array2string(a, separator=" ", formatter=one)  # type: ignore[arg-type]


def table(cells: list[tuple[str, ...]]) -> str:
    """Return rows of cells as lines, with the cells of each column aligned."""
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
                     for row in cells)


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
