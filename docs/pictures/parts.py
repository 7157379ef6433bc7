"""Draw parts.png, the picture of docs/bigger.md: ``python docs/pictures/parts.py``.

Needs matplotlib.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, Rectangle

INK, PAPER = "#26324a", "white"
HOST, DEVICE, FRESH, STALE = "#dbe7f6", "#ddf0df", "#fff1d6", "#c9ced8"
UNITS = 10  # of the width of a storage


def write(axes, x, y, text, size=10, **more):
    axes.text(x, y, text, va="center", fontsize=size, color=INK, **more)


def runs(axes, x, y, parts):
    """Draw a copy as runs, each with a length, a colour and a text."""
    for length, color, text in parts:
        axes.add_patch(Rectangle((x, y), length, 0.6, facecolor=color, edgecolor=INK))
        write(axes, x + length / 2, y + 0.3, text, 9, ha="center")
        x += length


def arrow(axes, start, end, text, side):
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=INK))
    write(axes, (start[0] + end[0]) / 2 + 0.12 * side, (start[1] + end[1]) / 2, text, 9,
          ha="left" if side > 0 else "right")


def main():
    figure, axes = plt.subplots(figsize=(8.8, 3.6), dpi=110, facecolor=PAPER)
    axes.set(xlim=(0, 11), ylim=(0, 4.4))
    axes.set_position((0, 0, 1, 1))
    axes.axis("off")
    axes.add_patch(Rectangle((0.2, 2.6), 10.6, 1.6, facecolor=HOST, edgecolor=INK))
    axes.add_patch(Rectangle((0.2, 0.2), 10.6, 1.5, facecolor=DEVICE, edgecolor=INK))
    write(axes, 0.5, 3.9, "host: the copy of all elements, in memory or in a file", 11,
          weight="bold")
    write(axes, 0.5, 0.5, "device: copies of parts, within pool_bytes", 11, weight="bold")
    runs(axes, 0.5, 2.85, [(2, FRESH, "fresh"), (1.5, STALE, "stale"), (1.5, FRESH, "fresh"),
                           (1.5, FRESH, "fresh"), (UNITS - 6.5, FRESH, "fresh")])
    for x, color, text in ((2.5, FRESH, "tile k - 1"), (4, FRESH, "tile k"),
                           (5.5, STALE, "tile k + 1")):
        runs(axes, x + 0.1, 0.85, [(1.3, color, text)])
    arrow(axes, (3.25, 1.45), (3.25, 2.85), "results are\ncopied back", -1)
    write(axes, 4.75, 2.15, "computed now", 9, ha="center")
    arrow(axes, (6.25, 2.85), (6.25, 1.45), "copied ahead", 1)
    figure.savefig(Path(__file__).with_name("parts.png"))


if __name__ == "__main__":
    main()
