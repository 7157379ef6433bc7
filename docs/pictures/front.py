"""Draw front.png, the picture of the first page: ``python docs/pictures/front.py``.

Lines of a program, and where the elements of its two Mats are after each. Needs matplotlib.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

INK, PAPER = "#26324a", "white"
HOST, DEVICE, FRESH, STALE = "#dbe7f6", "#ddf0df", "#fff1d6", "#c9ced8"
NONE, ON, OFF = None, FRESH, STALE
ROWS = [  # a line; x and y on the host; x and y on the device; what is copied
    ("x = mat.array(data)", ON, NONE, NONE, NONE, ""),
    ('with mat.use_device("cuda"):', ON, NONE, NONE, NONE, ""),
    ("    y = mat.exp(x @ x.T)", ON, NONE, ON, ON, "x >"),
    ("    y /= y.sum(axis=1, keepdims=True)", ON, NONE, ON, ON, ""),
    ("    x += 1", OFF, NONE, ON, ON, ""),
    ("plot(x, y)", ON, ON, NONE, NONE, "< both"),
]
TOP, STEP = 5.05, 0.72
COLUMNS = {"x on the host": 6.1, "y on the host": 7.0, "x on the device": 9.9, "y": 10.8}


def write(axes, x, y, text, size=10.5, **more):
    axes.text(x, y, text, va="center", fontsize=size, color=INK, **more)


def box(axes, x, y, width, height, color):
    axes.add_patch(FancyBboxPatch((x, y), width, height, facecolor=color, edgecolor=INK,
                                  boxstyle="round,pad=0,rounding_size=0.08"))


def copy(axes, y, text):
    """Draw the copy that a line causes, to the device or back."""
    arrow = "-|>" if text.endswith(">") else "<|-"
    axes.add_patch(FancyArrowPatch((7.95, y), (9.7, y), arrowstyle=arrow, mutation_scale=15,
                                   color=INK))
    write(axes, 8.82, y + 0.2, f"copy {text.strip('<> ')}", 9, ha="center")


def main():
    figure, axes = plt.subplots(figsize=(9.2, 4.4), dpi=110, facecolor=PAPER)
    axes.set(xlim=(0, 11.9), ylim=(0.2, 6.0))
    axes.set_position((0, 0, 1, 1))
    axes.axis("off")
    for x, color, title in ((5.85, HOST, "host"), (9.65, DEVICE, "GPU")):
        box(axes, x, 0.95, 2.05, 4.95, color)
        write(axes, x + 1.02, 5.6, title, 11.5, ha="center", weight="bold")
    for k, (line, *states, copied) in enumerate(ROWS):
        y = TOP - STEP * k
        write(axes, 0.15, y, line, 10.5, family="monospace")
        for x, name, color in zip(COLUMNS.values(), "xyxy", states, strict=True):
            if color is not None:
                box(axes, x, y - 0.22, 0.65, 0.44, color)
                write(axes, x + 0.32, y, name, 10, ha="center", family="monospace")
        if copied:
            copy(axes, y, copied)
    for x, color, text in ((0.15, FRESH, "current"), (1.75, STALE, "outdated")):
        box(axes, x, 0.4, 0.4, 0.3, color)
        write(axes, x + 0.5, 0.55, text, 9.5)
    write(axes, 3.5, 0.55, "three copies: only what is needed there, and only when it is "
          "outdated", 9.5)
    figure.savefig(Path(__file__).with_name("front.png"))


if __name__ == "__main__":
    main()
