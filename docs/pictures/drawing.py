"""Pictures as SVG, which are legible in light and in dark: what has no colour is `currentColor`.

On the site a picture is part of the page and has the colour of its text; elsewhere a rule in the
picture sets it (`RULE`, which the site leaves out).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

RULE = ("<style>svg{color:#26324a}@media(prefers-color-scheme:dark){svg{color:#d5dae6}}</style>")
# colours in the middle between light and dark: they stand out from either
BLUE, GREEN, ORANGE, VIOLET, GREY = "#3d85d6", "#3c9d58", "#d9822b", "#a262c9", "#808895"
Point = tuple[float, float]


class Drawing:
    """A picture of `width` by `height` units.

    `text` says what it shows.
    """

    def __init__(self, width: float, height: float, text: str) -> None:
        self.head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                     f'width="{width}" height="{height}" '
                     f'font-family="sans-serif" font-size="13" fill="currentColor" stroke="none" '
                     f'role="img" aria-label="{escape(text)}">')
        self.parts: list[str] = []

    def write(self, x: float, y: float, text: str, *, size: float = 13, anchor: str = "start",
              bold: bool = False, code: bool = False) -> None:
        """Write a line of text with its base line at `y`."""
        style = ' font-weight="bold"' * bold
        style += ' font-family="monospace" xml:space="preserve"' * code
        style += f' text-anchor="{anchor}"' * (anchor != "start")
        style += f' font-size="{size}"' * (size != 13)
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{style}>{escape(text, quote=False)}</text>')

    def box(self, x: float, y: float, width: float, height: float, color: str = "none", *,
            strength: float = 0.35, line: bool = True) -> None:
        """Draw a rectangle, filled by a translucent colour."""
        edge = ' stroke="currentColor" stroke-opacity="0.7"' if line else ""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
                          f'rx="3" fill="{color}" fill-opacity="{strength:g}"{edge}/>')

    def line(self, points: Iterable[Point], color: str = "currentColor", *, width: float = 1.3,
             dashed: bool = False, strength: float = 1) -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
        more = ' stroke-dasharray="4 3"' * dashed + f' opacity="{strength:g}"' * (strength != 1)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" '
                          f'stroke-width="{width:g}"{more}/>')

    def arrow(self, start: Point, end: Point) -> None:
        """Draw an arrow along an axis."""
        (x, y), (to, down) = start, end
        back = 6 if (to, down) > (x, y) else -6
        head = f"m-{abs(back) * 0.7:.2g} {-back}l{abs(back) * 0.7:.2g} {back}l4.2 {-back}"
        if y == down:
            head = f"m{-back} -4.2l{back} 4.2l{-back} 4.2"
        self.parts.append(f'<path d="M{x:g} {y:g}L{to:g} {down:g}{head}" fill="none" '
                          'stroke="currentColor" stroke-width="1.4"/>')

    def dots(self, points: Iterable[Point], color: str = "currentColor", *, radius: float = 2,
             strength: float = 0.8) -> None:
        """Draw points as discs."""
        arc = "".join(f"a{radius:g} {radius:g} 0 1 0 {side * radius:g} 0" for side in (2, -2))
        path = "".join(f"M{x - radius:.4g} {y:.4g}{arc}" for x, y in points)
        self.parts.append(f'<path d="{path}" fill="{color}" fill-opacity="{strength:g}"/>')

    def area(self, points: Iterable[Point], color: str, *, strength: float = 0.25) -> None:
        """Fill the area that points surround."""
        path = " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
        self.parts.append(f'<polygon points="{path}" fill="{color}" '
                          f'fill-opacity="{strength:g}"/>')

    def image(self, x: float, y: float, step: float, rows: Sequence[Sequence[float]],
              levels: int = 8) -> None:
        """Draw numbers from 0 to 1 as squares of that strength, those in a row together."""
        paths: dict[int, list[str]] = {}
        for down, row in enumerate(rows):
            marks = [round(value * levels) for value in row]
            begin = 0
            for end in range(1, len(marks) + 1):
                if end == len(marks) or marks[end] != marks[begin]:
                    paths.setdefault(marks[begin], []).append(
                        f"M{begin} {down}h{end - begin}v1h{begin - end}z")
                    begin = end
        inner = "".join(f'<path fill-opacity="{mark / levels:.2g}" d="{"".join(runs)}"/>'
                        for mark, runs in sorted(paths.items()) if mark > 0)
        self.parts.append(f'<g transform="translate({x:g} {y:g}) scale({step:g})" '
                          f'shape-rendering="crispEdges">{inner}</g>')

    def text(self) -> str:
        """Return the file's contents."""
        return "\n".join((self.head, RULE, *self.parts, "</svg>")) + "\n"

    def save(self, path: Path) -> None:
        """Write the file."""
        path.write_text(self.text(), encoding="utf-8")
