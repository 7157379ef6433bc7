"""Draw parts.svg, the picture of bigger.md: ``python docs/pictures/parts.py``."""

from pathlib import Path

from drawing import BLUE, GREEN, GREY, ORANGE, Drawing

TEXT = ("A Mat whose copy on the host has runs of fresh and stale elements, and three tiles on a "
        "device: one whose results are copied back, one that is computed, one that is copied ahead")
LEFT, UNIT, TILE = 20, 54, 81  # of the strips: their beginning, a unit of elements, a tile
FRESH, STALE = (ORANGE, 0.6), (GREY, 0.25)


def runs(drawing: Drawing, y: float, *lengths: tuple[float, tuple[str, float], str]) -> None:
    """Draw the runs of a strip, each with its length in units, its look and its name."""
    x = float(LEFT)
    for length, (color, strength), name in lengths:
        drawing.box(x, y, UNIT * length, 34, color, strength=strength)
        drawing.write(x + UNIT * length / 2, y + 22, name, anchor="middle")
        x += UNIT * length


def draw() -> Drawing:
    """Return the picture."""
    drawing = Drawing(690, 290, TEXT)
    drawing.box(8, 8, 674, 84, BLUE, strength=0.12)
    drawing.write(LEFT, 30, "host: the copy of all elements, in memory or in a file", bold=True)
    runs(drawing, 44, (2, FRESH, "fresh"), (1.5, STALE, "stale"), (1.5, FRESH, "fresh"),
         (1.5, FRESH, "fresh"), (5.5, FRESH, "fresh"))
    drawing.box(8, 188, 674, 92, GREEN, strength=0.12)
    for k, (name, look) in enumerate((("tile k - 1", FRESH), ("tile k", FRESH),
                                      ("tile k + 1", STALE))):
        x = LEFT + 2 * UNIT + TILE * k
        drawing.box(x + 3, 200, TILE - 6, 34, look[0], strength=look[1])
        drawing.write(x + TILE / 2, 222, name, anchor="middle")
    drawing.write(LEFT, 266, "device: copies of parts, within pool_bytes", bold=True)
    back, now, ahead = (LEFT + 2 * UNIT + TILE * (k + 0.5) for k in range(3))
    drawing.arrow((back, 198), (back, 80))
    drawing.write(back - 8, 142, "results are copied back", size=12, anchor="end")
    drawing.write(now, 142, "computed now", size=12, anchor="middle")
    drawing.arrow((ahead, 80), (ahead, 198))
    drawing.write(ahead + 8, 142, "copied ahead", size=12)
    return drawing


if __name__ == "__main__":
    draw().save(Path(__file__).with_name("parts.svg"))
