"""Draw memories.svg, the picture of facets.md: ``python docs/pictures/memories.py``."""

from pathlib import Path

from drawing import BLUE, GREEN, ORANGE, Drawing

TEXT = ("A Mat with a copy of its elements on the host, accessed as array, backing and foreign, "
        "and one on a device")
HOST = (('"array"', "NumPy array"), ('"backing"', "flat NumPy array"), ('"foreign"', "C pointer"))
DEVICE = (('"cuda"', "GPU array"),)


def memory(drawing: Drawing, x: float, width: float, color: str, title: str, copy: str,
           facets: tuple[tuple[str, str], ...]) -> None:
    """Draw a memory space: its name, its copy of the elements, and its facets below."""
    drawing.box(x, 70, width, 180, color, strength=0.15)
    drawing.write(x + width / 2, 91, title, bold=True, anchor="middle")
    drawing.box(x + 12, 103, width - 24, 32, ORANGE)
    drawing.write(x + width / 2, 124, copy, anchor="middle")
    step = (width - 24) / len(facets)
    for k, (name, view) in enumerate(facets):
        left = x + 12 + k * step
        drawing.box(left + 4, 178, step - 8, 58)
        drawing.write(left + step / 2, 202, name, anchor="middle", code=True)
        drawing.write(left + step / 2, 222, view, size=11, anchor="middle")
        drawing.arrow((left + step / 2, 136), (left + step / 2, 176))


def draw() -> Drawing:
    """Return the picture."""
    drawing = Drawing(690, 258, TEXT)
    drawing.box(205, 8, 260, 34, ORANGE)
    drawing.write(335, 30, "one Mat: shape, strides, dtype", bold=True, anchor="middle")
    memory(drawing, 8, 400, BLUE, "memory: host", "copy of the elements, fresh or stale", HOST)
    memory(drawing, 530, 152, GREEN, "memory: device", "another copy", DEVICE)
    drawing.arrow((260, 43), (260, 68))
    drawing.line([(450, 43), (450, 55), (606, 55)])
    drawing.arrow((606, 55), (606, 68))
    drawing.arrow((470, 119), (540, 119))
    drawing.arrow((470, 119), (398, 119))
    drawing.write(468, 112, "transfer,", size=11, anchor="middle")
    drawing.write(468, 135, "only if stale", size=11, anchor="middle")
    return drawing


if __name__ == "__main__":
    draw().save(Path(__file__).with_name("memories.svg"))
