"""Draw memories.png, the picture of the README: ``python docs/pictures/memories.py``.

Needs matplotlib.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

INK, PAPER = "#26324a", "white"
HOST, DEVICE, FACET, MAT = "#dbe7f6", "#ddf0df", "#ffffff", "#fff1d6"


def box(axes, x, y, width, height, color):
    """Draw a rounded box whose lower left corner is at (x, y)."""
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.12",
                                  facecolor=color, edgecolor=INK, linewidth=1.2))


def arrow(axes, start, end, style="-|>"):
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle=style, mutation_scale=14, color=INK,
                                   linewidth=1.3, shrinkA=0, shrinkB=0))


def write(axes, x, y, text, size=10, **more):
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=INK, **more)


def memory(axes, x, width, color, title, storage, facets):
    """Draw one memory space: its name, its copy of the elements, and its facets below."""
    box(axes, x, 0.15, width, 3.15, color)
    write(axes, x + width / 2, 3.0, title, 11, weight="bold")
    box(axes, x + 0.25, 2.05, width - 0.5, 0.62, MAT)
    write(axes, x + width / 2, 2.36, storage)
    step = (width - 0.5) / len(facets)
    for k, (name, view) in enumerate(facets):
        left = x + 0.25 + k * step
        box(axes, left + 0.06, 0.35, step - 0.12, 1.0, FACET)
        write(axes, left + step / 2, 1.06, name, 10, family="monospace")
        write(axes, left + step / 2, 0.66, view, 8.5)
        arrow(axes, (left + step / 2, 2.05), (left + step / 2, 1.35))


def main():
    figure, axes = plt.subplots(figsize=(8.8, 4.0), dpi=110, facecolor=PAPER)
    axes.set(xlim=(0, 11), ylim=(0, 5))
    axes.set_position((0, 0, 1, 1))
    axes.axis("off")
    box(axes, 3.6, 4.1, 3.8, 0.7, MAT)
    write(axes, 5.5, 4.45, "one Mat: shape, strides, dtype", 11, weight="bold")
    memory(axes, 0.2, 5.9, HOST, "memory space: host", "copy of the elements, fresh or stale",
           [('"array"', "NumPy array"), ('"backing"', "flat NumPy array"),
            ('"foreign"', "C pointer")])
    memory(axes, 8.15, 2.7, DEVICE, "memory space: device", "another copy",
           [('"cuda"', "GPU array")])
    arrow(axes, (4.6, 4.1), (3.4, 3.3))
    arrow(axes, (6.4, 4.1), (9.3, 3.3))
    arrow(axes, (6.1, 2.36), (8.15, 2.36), "<|-|>")
    write(axes, 7.13, 2.6, "transfer,", 8.5)
    write(axes, 7.13, 2.12, "only if stale", 8.5)
    figure.savefig(Path(__file__).with_name("memories.png"), bbox_inches="tight", pad_inches=0.1)


if __name__ == "__main__":
    main()
