"""Make what docs/gallery.md shows of the examples: ``python docs/pictures/gallery.py NAME ...``.

NAME is that of an example without ``.py``; without names, all are shown anew. Eight have a drawing
(`DRAWINGS`), and of the others the page has what they print. An example runs in an empty folder,
and needs what it imports.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from drawing import BLUE, GREEN, GREY, ORANGE, VIOLET, Drawing

import mat
from mat.debug import Trace
from mat.debug.show import _lines

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gallery.md"
ARGUMENTS = {"clients": ["emulated"], "gpu_layer": ["emulated"]}
COLUMNS, LINES = 110, 14  # of text that the page shows


# The drawings


def digits() -> Drawing:
    """Draw how the loss falls, and the digits that the network misreads."""
    example = module("digits")
    train, test = example.load()
    losses, network = learned(example, train)
    drawing = Drawing(690, 312, "The training loss falls over 30 epochs; beside it, the test "
                                "digits that are misread")
    loss_curve(drawing, losses)
    guesses, truth = (mat.argmax(rows, axis=1).tolist()
                      for rows in (example.probabilities(test, network), test.labels))
    wrong = [k for k, guess in enumerate(guesses) if guess != truth[k]]
    drawing.write(395, 18, f"{len(wrong)} of {len(truth)} test digits are misread")
    for at, k in enumerate(wrong[:8]):
        x, y = 395 + 74 * (at % 4), 60 + 120 * (at // 4)
        drawing.write(x, y, f"{guesses[k]}, is {truth[k]}", size=12)
        drawing.image(x, y + 12, 8, ((test.pixels[k] + 1) / 2).reshape(8, 8).tolist())
    return drawing


def learned(example: Any, data: Any) -> tuple[list[float], Any]:
    """Return the loss after each epoch of the training, and the network."""
    network, scratch = example.new_network(data.pixels.shape[1]), example.new_scratch()
    parts, losses = example.batches(data), []
    for _ in range(example.EPOCHS):
        example.train_epoch(parts, network, scratch)
        losses.append(example.evaluate(data, network)[0])
    return losses, network


def loss_curve(drawing: Drawing, losses: list[float]) -> None:
    """Draw the losses on a logarithmic axis, with lines at powers of ten and numbers of epochs."""
    def place(epoch: float, loss: float) -> tuple[float, float]:
        return 45 + 10 * epoch, 50 - 115 * math.log10(loss)

    drawing.write(45, 18, "training loss (cross-entropy)")
    for power in (0, -1, -2):
        (left, y), (right, _) = place(0, 10**power), place(30, 10**power)
        drawing.line([(left, y), (right, y)], width=1, strength=0.4)
        drawing.write(left - 6, y + 4, f"{10**power:g}", size=11, anchor="end")
    for epoch in range(0, 31, 10):
        drawing.write(place(epoch, 1)[0], 306, f"{epoch}", size=11, anchor="middle")
    drawing.write(place(25, 1)[0], 306, "epoch", size=11, anchor="middle")
    drawing.line([place(k, loss) for k, loss in enumerate(losses, 1)], BLUE, width=2.2)


def ping_pong() -> Drawing:
    """Draw the copies and operations of both loops, in their order."""
    example = module("ping_pong")
    drawing = Drawing(690, 400, "Two loops: in the first, data moves to the device and back in "
                                "each of five steps; in the second, it moves once")
    lanes(drawing, 0, "clip_by_numpy: the weights move in each step",
          example.train(example.clip_by_numpy)[0])
    lanes(drawing, 190, "clip_on_device: they stay", example.train(example.clip_on_device)[0])
    key(drawing, 394, (("operation", GREY), ("copied to the device", BLUE), ("copied back", GREEN)))
    return drawing


def lanes(drawing: Drawing, top: float, title: str, trace: Trace) -> None:
    """Draw the events of a trace from left to right: operations as boxes in the lane of the device,
    copies as bars from lane to lane.
    """
    drawing.write(20, top + 20, title, size=12, code=True)
    for y, name in ((top + 30, "host"), (top + 120, "device")):
        drawing.box(20, y, 650, 50, GREY, strength=0.12, line=False)
        drawing.write(28, y + 29, name)
    events = sorted([*trace.copies, *trace.operations], key=lambda event: event.at)
    step = 580 / len(events)
    for k, event in enumerate(events):
        x = 85 + step * k
        if event.kind == "operation":
            drawing.box(x, top + 131, 0.7 * step, 28, GREY, strength=0.6, line=False)
        else:
            color = GREEN if event.target == "host" else BLUE
            drawing.box(x, top + 42, 0.5 * step, 116, color, strength=0.8, line=False)


def edges() -> Drawing:
    """Draw the picture, and its edges."""
    example = module("edges")
    drawing = Drawing(690, 320, "A disc in front of a square, and the outlines of both")
    image = example.picture(96)
    for x, shown, title in ((20, image, "the picture"), (370, example.edges(image), "its edges")):
        drawing.write(x + 144, 18, title, anchor="middle")
        drawing.image(x, 28, 3, (shown / shown.max()).to_numpy().tolist())
    return drawing


def kmeans() -> Drawing:
    """Draw the points with the colours of their groups, and the groups' centres."""
    example = module("kmeans")
    points = example.make_points(2000)
    centres, labels = example.kmeans(points, 4)
    drawing = Drawing(690, 420, "Points in four groups of one colour each, with their centres")
    around, groups = points.tolist(), labels.tolist()

    def place(point: list[float]) -> tuple[float, float]:
        return 345 + 42 * (point[0] - 0.5), 205 - 38 * (point[1] - 2.3)

    for k, color in enumerate((BLUE, GREEN, ORANGE, VIOLET)):
        mine = [place(p) for p, label in zip(around, groups, strict=True) if label == k]
        drawing.dots(mine[::3], color)
    for centre in centres.tolist():
        x, y = place(centre)
        drawing.line([(x - 9, y), (x + 9, y)], width=3)
        drawing.line([(x, y - 9), (x, y + 9)], width=3)
    return drawing


def kalman() -> Drawing:
    """Draw the track, what was measured, and what the filter makes of it."""
    example = module("kalman")
    track, measurements = example.measured()
    states, spreads = example.filtered(measurements)
    drawing = Drawing(690, 290, "Scattered measurements, and a band around a smooth curve near the "
                                "true track")
    found, error = states[:, 0].tolist(), mat.sqrt(spreads[:, 0, 0]).tolist()

    def curve(values: list[float]) -> list[tuple[float, float]]:
        return [(20 + 5.5 * k, 140 - 21 * value) for k, value in enumerate(values)]

    low, high = ([f + side * e for f, e in zip(found, error, strict=True)] for side in (-1, 1))
    drawing.area([*curve(low), *curve(high)[::-1]], BLUE)
    drawing.dots(curve(measurements.tolist()), ORANGE)
    drawing.line(curve(track.tolist()), dashed=True)
    drawing.line(curve(found), BLUE, width=2.2)
    key(drawing, 282, (("measured", ORANGE), ("filtered, and its error", BLUE)))
    drawing.line([(330, 278), (360, 278)], dashed=True)
    drawing.write(366, 282, "in truth")
    return drawing


def waves() -> Drawing:
    """Draw the string at several times, one below the other."""
    example = module("waves")
    shapes = example.waves()
    drawing = Drawing(690, 440, "A bump moves along a string, and is in part turned over and "
                                "reflected where the string becomes heavier")
    x = 60 + 2 * example.HEAVY
    drawing.box(x, 30, 2 * (example.POINTS - example.HEAVY), 405, GREY, strength=0.2, line=False)
    drawing.write(60, 20, "light")
    drawing.write(x, 20, "heavy: half as fast")
    for k in range(0, example.STEPS, 24):
        y = 70 + 24.5 * (k // 24)
        drawing.write(10, y, f"{k}", size=11)
        drawing.line([(60 + 2 * j, y - 36 * u) for j, u in
                      list(enumerate(shapes[k].tolist()))[::2]], BLUE, width=1.8)
    return drawing


def bigger() -> Drawing:
    """Draw when each part of an array is on the device, by the trace of an operation in tiles."""
    x = mat.ones(100_000)
    x[0] = 2  # has memory now
    with mat.debug.trace() as trace, mat.use_device("emulated", pool_bytes=200_000):
        x *= 2
    drawing = Drawing(690, 330, "Parts of an array are copied to the device one after the other, "
                                "computed there, and copied back")
    drawing.write(20, 20, "elements of x, from the first to the last")
    drawing.write(20, 318, "time goes down")
    copies = [event for event in trace.events if event.kind == "copy"]
    there: dict[str, float] = {}  # where parts were drawn that are on the device
    for k, event in enumerate(copies):
        y = 34 + 260 / len(copies) * k
        found = re.search(r"\[\d+:\d+\]", event.mat)
        part = found[0] if found else next(iter(there))
        left, right = (20 + 650 * int(end) / x.size for end in part.strip("[]").split(":"))
        if event.target == "host":
            top = there.pop(part) + 10
            drawing.box(left, top, right - left, y - top, ORANGE, line=False)
        else:
            there[part] = y
        color = GREEN if event.target == "host" else BLUE
        drawing.box(left, y, right - left, 10, color, strength=0.8, line=False)
    key(drawing, 318, (("copied to the device", BLUE), ("there", ORANGE), ("copied back", GREEN)),
        150)
    return drawing


def strips() -> Drawing:
    """Draw which parts of the copies on the host and on the device are current."""
    colors = {"fresh": (ORANGE, 0.65), "stale": (GREY, 0.25)}
    drawing = Drawing(690, 350, "After each line, two strips: which elements are current on the "
                                "host, and which on the device")
    for row, (line, x) in enumerate(module("strips").steps("emulated")):
        top = 12 + 53 * row
        drawing.write(10, top + 18, line, size=12, code=True)
        for name, pieces in _lines(x.storage):
            y = top + 20 * (name != "host")
            drawing.write(320, y + 14, "host" if name == "host" else "GPU", size=11)
            for piece in pieces:
                color, strength = colors[piece.state]
                left, right = (360 + 320 * end / x.size for end in (piece.low, piece.high))
                drawing.box(left, y, right - left, 17, color, strength=strength)
    key(drawing, 342, (("current", ORANGE), ("outdated", GREY)))
    return drawing


def key(drawing: Drawing, y: float, entries: tuple[tuple[str, str], ...], x: float = 20) -> None:
    """Write what colours mean in a line."""
    for text, color in entries:
        drawing.box(x, y - 11, 18, 12, color, strength=0.6)
        drawing.write(x + 24, y, text)
        x += 40 + 7.2 * len(text)


DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "edges": edges, "kmeans": kmeans, "kalman": kalman, "waves": waves, "bigger": bigger,
    "strips": strips, "digits": digits, "ping_pong": ping_pong}


# What examples print and leave


def module(name: str) -> Any:
    """Return the example as a module."""
    sys.path.insert(0, str(ROOT / "examples"))
    return importlib.import_module(name)


def run(name: str, folder: Path) -> str:
    """Run an example in `folder`, and return what it prints."""
    ours = str(Path(mat.__file__).parents[1])  # the installed one, if this program has that
    paths = filter(None, [ours, os.environ.get("PYTHONPATH")])
    given = {"PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "Agg", "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, str(ROOT / "examples" / f"{name}.py"),
                           *ARGUMENTS.get(name, [])],
                          cwd=folder, env={**os.environ, **given}, stdout=subprocess.PIPE,
                          text=True, check=True)
    return done.stdout


def excerpt(text: str) -> str:
    """Return the lines of a text that the page shows, with short names of the examples' files."""
    long = f"{ROOT}/"
    text = text.replace(long, "").replace("line" + " " * len(long), "line")
    lines = [line[:COLUMNS - 3] + "..." if len(line) > COLUMNS else line.rstrip()
             for line in text.rstrip().splitlines()]
    return "\n".join([*lines[:LINES - 2], "...", lines[-1]] if len(lines) > LINES else lines)


def make(name: str, target: Path) -> None:
    """Make what the page shows of one example."""
    with tempfile.TemporaryDirectory() as made:
        if name in DRAWINGS:
            DRAWINGS[name]().save(target / f"{name}.svg")
        else:
            text = PAGE.read_text(encoding="utf-8")
            PAGE.write_text(with_text(text, name, excerpt(run(name, Path(made)))),
                            encoding="utf-8")


def with_text(page: str, name: str, text: str) -> str:
    """Return the page with what an example prints below its heading."""
    block = re.compile(rf"(### \[{name}\.py\].*?```text\n).*?(```\n)", re.DOTALL)
    return block.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=Path(__file__).parent / "gallery")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    for name in given.names or sorted(path.stem for path in ROOT.glob("examples/*.py")):
        make(name, given.to)


if __name__ == "__main__":
    main()
