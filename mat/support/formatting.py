"""The text of a Mat, made from its layout, letters and elements."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..layout.strided import Layout
from .plugins import plugin
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


def contents(a: Array) -> str:
    """Return the elements under NumPy's print options."""
    return np.array2string(a, separator=" ", prefix=" ")


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


def counted(number: int, noun: str, several: str = "") -> str:
    """Return ``1 copy`` or ``2 copies``; without `several`, the plural has an s."""
    return f"{number} {noun if number == 1 else several or noun + 's'}"


def table(cells: list[tuple[str, ...]]) -> str:
    """Return rows of cells as lines, with the cells of each column aligned."""
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
                     for row in cells)


def html_page(title: str, style: str, body: str) -> str:
    """Return a page that a browser shows without a network."""
    return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>'
            ":root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:1.5em}"
            f"{style}</style></head><body>{body}</body></html>")


def html_table(title: str, cells: Iterable[tuple[str, ...]], *, headed: bool = True) -> str:
    """Return rows of cells as a table of HTML; the first row is its head if `headed`."""
    rows, escape = [], plugin("html").escape
    for k, row in enumerate(cells):
        tag = "th" if headed and not k else "td"
        inside = "".join(f'<{tag} style="text-align:left">{escape(cell)}</{tag}>' for cell in row)
        rows.append(f"<tr>{inside}</tr>")
    return f"<table><caption>{escape(title)}</caption>{''.join(rows)}</table>"
