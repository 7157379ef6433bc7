"""Tables of HTML, for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable


def html_table(title: str, cells: Iterable[tuple[str, ...]], *, headed: bool = True) -> str:
    """Return rows of cells as a table of HTML; the first row is its head if `headed`."""
    rows = []
    for k, row in enumerate(cells):
        tag = "th" if headed and not k else "td"
        inside = "".join(f'<{tag} style="text-align:left">{html.escape(cell)}</{tag}>'
                         for cell in row)
        rows.append(f"<tr>{inside}</tr>")
    return f"<table><caption>{html.escape(title)}</caption>{''.join(rows)}</table>"
