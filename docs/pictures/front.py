"""Draw front.svg, the picture of the first page: ``python docs/pictures/front.py``.

Lines of a program, and where the elements of its two Mats are after each.
"""

from pathlib import Path

from drawing import BLUE, GREEN, GREY, ORANGE, Drawing

TEXT = ("Lines of a program, and where x and y are after each: x is copied to the GPU once, and "
        "both are copied back when they are needed")
NONE, ON, OFF = None, ORANGE, GREY
ROWS = [  # a line; x and y on the host; x and y on the device; what is copied
    ("x = mat.array(data)", ON, NONE, NONE, NONE, ""),
    ('with mat.use_device("cuda"):', ON, NONE, NONE, NONE, ""),
    ("    y = mat.exp(x @ x.T)", ON, NONE, ON, ON, "x >"),
    ("    y /= y.sum(axis=1, keepdims=True)", ON, NONE, ON, ON, ""),
    ("    x += 1", OFF, NONE, ON, ON, ""),
    ("plot(x, y)", ON, ON, NONE, NONE, "< both"),
]
COLUMNS = (317, 361, 482, 526)  # x and y on the host, x and y on the device


def draw() -> Drawing:
    """Return the picture."""
    drawing = Drawing(574, 250, TEXT)
    for x, color, title in ((308, BLUE, "host"), (473, GREEN, "GPU")):
        drawing.box(x, 8, 97, 205, color, strength=0.15)
        drawing.write(x + 48, 28, title, bold=True, anchor="middle")
    for k, (line, *states, copied) in enumerate(ROWS):
        y = 52 + 28 * k
        drawing.write(4, y, line, code=True)
        for x, name, color in zip(COLUMNS, "xyxy", states, strict=True):
            if color is not None:
                drawing.box(x, y - 16, 36, 22, color, strength=0.5 if color is ON else 0.25)
                drawing.write(x + 18, y, name, code=True, anchor="middle")
        if copied:
            ends = ((408, y - 4), (470, y - 4))
            drawing.arrow(*(ends if copied.endswith(">") else ends[::-1]))
            drawing.write(439, y - 10, f"copy {copied.strip('<> ')}", size=11, anchor="middle")
    for x, color, text in ((4, ON, "current"), (90, OFF, "outdated")):
        drawing.box(x, 226, 22, 16, color, strength=0.5 if color is ON else 0.25)
        drawing.write(x + 28, 239, text, size=12)
    drawing.write(190, 239, "three copies: only what is needed there, and only when it is outdated",
                  size=12)
    return drawing


if __name__ == "__main__":
    draw().save(Path(__file__).with_name("front.svg"))
