"""Make the pictures of docs/gallery.md: ``python docs/pictures/gallery.py [--to FOLDER] NAME ...``.

NAME is that of an example without ``.py``; without names, all pictures are made. The example runs
in an empty folder. Its picture is one that it leaves there, or else what it prints. Needs
matplotlib, and what the example needs; Chromium, for pages of HTML.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

ROOT = Path(__file__).parents[2]
ARGUMENTS = {"ping_pong": ["timeline.html"], "clients": ["emulated"], "gpu_layer": ["emulated"]}
INK, PAPER = "#26324a", "#f5f6f8"
COLUMNS, LINES, DPI = 124, 36, 96
WIDTH, COLOURS = 1000, 64  # of pictures: the most pixels, and the colours of the palette


def run(name: str, folder: Path) -> str:
    """Run an example in `folder`, and return what it prints."""
    paths = filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    given = {"PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "Agg", "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, str(ROOT / "examples" / f"{name}.py"),
                           *ARGUMENTS.get(name, [])],
                          cwd=folder, env={**os.environ, **given}, stdout=subprocess.PIPE,
                          text=True, check=True)
    return done.stdout


def shorter(text: str) -> str:
    """Return text with short names of the examples' files; columns of tables stay in line."""
    long = f"{ROOT}/"
    return text.replace(long, "").replace("line" + " " * len(long), "line")


def draw(text: str, path: Path) -> None:
    """Draw lines of text as a terminal shows them."""
    lines = [line[:COLUMNS - 3] + "..." if len(line) > COLUMNS else line
             for line in text.rstrip().splitlines()]
    if len(lines) > LINES:
        lines = [*lines[:LINES - 2], "...", lines[-1]]
    size = 0.087 * max(map(len, lines)) + 0.4, 0.169 * len(lines) + 0.28  # in inches
    figure = plt.figure(figsize=size, dpi=min(DPI, WIDTH // size[0]), facecolor=PAPER)
    figure.text(0.2 / size[0], 1 - 0.14 / size[1], "\n".join(lines), family="DejaVu Sans Mono",
                size=10, color=INK, va="top", linespacing=1.22)
    figure.savefig(path)
    plt.close(figure)


def photograph(page: Path, path: Path) -> None:
    """Make a picture of a page of HTML, as high as its contents."""
    page.write_text(shorter(page.read_text(encoding="utf-8")), encoding="utf-8")
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if program is None:
        raise SystemExit("chromium is not installed")
    subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    f"--user-data-dir={page.parent}/user", f"--window-size={WIDTH},440",
                    f"--screenshot={path}", page.as_uri()], check=True, capture_output=True)


def shrink(path: Path) -> None:
    """Write the picture again in at most `WIDTH` pixels and few colours."""
    with Image.open(path) as file:
        picture = file.convert("RGB")
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)),
                                 Image.Resampling.LANCZOS)
    picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(path, optimize=True)


def make(name: str, target: Path) -> None:
    """Make the picture of one example."""
    path = target / f"{name}.png"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        printed = run(name, folder)
        if pages := sorted(folder.glob("*.html")):
            photograph(pages[0], path)
        elif drawn := sorted(folder.glob("*.png")):
            shutil.copyfile(drawn[0], path)
        else:
            draw(shorter(printed), path)
    shrink(path)
    sys.stdout.write(f"{path}: {path.stat().st_size:,} bytes\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=Path(__file__).parent / "gallery")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    for name in given.names or sorted(path.stem for path in ROOT.glob("examples/*.py")):
        make(name, given.to)


if __name__ == "__main__":
    main()
