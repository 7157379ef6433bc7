"""Write the numbers of README.md and of the pages from the files of the benchmarks.

They stand between ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``, where NAME is one of
`SECTIONS`. Run it after a measurement: ``python docs/measured.py``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GPU = (ROOT / "docs/benchmarks/gpu-h100.md").read_text(encoding="utf-8")
CPU: dict[str, Any] = json.loads((ROOT / "docs/benchmarks/cpu.json").read_text(encoding="utf-8"))
ON_GPU = {  # row of gpu-h100.md: how a reader calls it
    "add, float32": "`x + y`, 67 million float32",
    "matmul, float32, 8192": "`a @ b`, 8192 x 8192, float32",
    "(0, 2, 1) of 64x1024x1024, 4 bytes": "transposing 64 matrices of 1024 x 1024, float32",
}
MORE_ON_GPU = {
    "page-locked, to the device, 256 MB": "a copy of 256 MB to the device, page-locked",
    "step of a network of 4096 units, 4096 rows, float32": "a step of a network of 4096 units",
    "epoch of the digits example": "an epoch of `examples/digits.py`",
    "add, a new result, of ten elements": "`x + y`, ten elements",
    "a step of 30 short launches": "30 short launches",
    "the same, as a graph": "the same by `mat.graph`",
}
OTHERS = ("CuPy", "cuBLAS", "bus")
HEAD = ("| | `mat` | torch | others |", "|---|---|---|---|")
ON_CPU = {  # group and row of cpu.json
    ("eager", "x + y, new, 1e6"): "`x + y`, a million float64",
    ("products", "matmul(out=), 1024, float32"): "`a @ b`, 1024 x 1024, float32",
    ("eager", "x + y"): "`x + y`, ten float64",
}


def seconds(value: float) -> str:
    """Return a time as text, with three digits."""
    unit, factor = next((u, f) for u, f in (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9))
                        if value * f >= 1 or u == "ns")
    digits = max(2 - math.floor(math.log10(value * factor)), 0)
    return f"{value * factor:.{digits}f} {unit}"


def rows(title: str = "") -> dict[str, dict[str, str]]:
    """Return the rows of the tables in gpu-h100.md: cells by the heads of columns.

    With a title, those of that section only.
    """
    found: dict[str, dict[str, str]] = {}
    for name, part in re.findall(r"^##+ ([^\n]+)\n(.*?)(?=^##|\Z)", GPU, re.MULTILINE | re.DOTALL):
        table = [[cell.strip() for cell in line.strip("|").split(" | ")]
                 for line in part.splitlines() if line.startswith("|")]
        if table and title in ("", name):
            heads = [head.partition(":")[0].strip() for head in table[0]]
            # a head may come twice: the first is that of our own time
            found |= {line[0].strip("| "): dict(zip(heads[:0:-1], line[:0:-1], strict=False))
                      for line in table[2:]}
    return found


def measured() -> Iterator[str]:
    """Yield the lines of the table: three measurements on the GPU, three on a CPU."""
    yield from HEAD
    device = next(iter(rows("Where")["cuda:0"].values())).partition(",")[0]
    yield f"| **{device.removesuffix(' 80GB HBM3')}** | | | |"
    yield from gpu_lines(ON_GPU)
    cpu = CPU["eager"]["environment"]
    yield f"| **{cpu['machine'].partition(' (')[0]}, {cpu['cores']} cores** | | | |"
    for (group, name), words in ON_CPU.items():
        found = row(group, name)["seconds"]
        torch = seconds(found["torch"]) if "torch" in found else ""
        yield (f"| {words} | {seconds(found['mat'])} | {torch} | "
               f"NumPy {seconds(found['numpy'])} |")


def on_gpu() -> Iterator[str]:
    """Yield the lines of a table of measurements on the GPU, also of slow ones."""
    yield from HEAD
    yield from gpu_lines(ON_GPU | MORE_ON_GPU)


def gpu_lines(named: dict[str, str]) -> Iterator[str]:
    """Yield the lines of a table for rows of the report."""
    found = rows()
    for name, words in named.items():
        cells = found[name]
        others = ", ".join(f"{other} {cells[other].partition(',')[0]}" for other in OTHERS
                           if cells.get(other))
        torch = cells.get("torch", "").partition(",")[0]
        yield f"| {words} | {cells['mat']} | {torch} | {others} |"


def row(group: str, name: str) -> dict[str, Any]:
    """Return a row of cpu.json."""
    return next(r for r in CPU[group]["rows"] if r["name"] == name)


def slower() -> Iterator[str]:
    """Yield the sentences about what is slower than elsewhere."""
    gpu = rows()
    axpy, epoch = (1 / float(gpu[name]["torch"].split()[-1]) for name in
                   ("axpy of ten elements", "epoch of the digits example"))
    ratios = {name: row("eager", name)["ratios"]["numpy"]
              for name in ("mat.zeros(10)", "np.add(x, y)", "x[2:7]")}
    yield (f"Not everything is faster. Of NumPy's time, `mat.zeros(10)` takes "
           f"{ratios['mat.zeros(10)']:.1f}, `np.add(x, y)` of ten elements "
           f"{ratios['np.add(x, y)']:.1f} and a slice {ratios['x[2:7]']:.1f}.")
    channels = sorted(r["ratios"]["torch"] for r in CPU["nn"]["rows"] if "float32" in r["name"]
                      and re.match("conv(,|'s)", r["name"]))
    yield (f"Convolutions of images with channels, float32, took {channels[0]:.1f} to "
           f"{channels[-1]:.1f} times torch's time, half of them "
           f"{channels[len(channels) // 2]:.1f} or more.")
    yield (f"On the H100, an `axpy` of ten elements took {axpy:.1f} times torch's time, and an "
           f"epoch of the small digits network {epoch:.1f} times.")


def outcomes() -> Iterator[str]:
    """Yield the sentences about the tests that ran on the GPU."""
    found = rows("Outcomes")
    total, cuda = counted(found, "tests/"), counted(found, "tests/cuda")
    date = next(iter(rows("Where")["date"].values()))
    yield f"The CUDA code has run on an H100 for some minutes ({date}), and later on an H200."
    for of, counts in (("the tests of `tests/cuda`", cuda), ("all tests that ran", total)):
        said = ", ".join(f"{number:,} {'passed' if kind == 'ok' else kind}"
                         for kind, number in counts.items() if number)
        yield f"Of {of} on the H100: {said}."


def counted(found: dict[str, dict[str, str]], path: str) -> dict[str, int]:
    """Return how many tests of a folder had each outcome."""
    counts = {"ok": 0, "failed": 0, "cut off": 0, "left out": 0}
    for part, cells in found.items():
        if re.match(r"(Tests|The other tests): ", part) and path in part:
            for number, kind in re.findall(r"(\d+) (ok|failed|cut off|left out)",
                                           cells["outcomes"]):
                counts[kind] += int(number)
    return counts


SECTIONS: dict[str, Callable[[], Iterator[str]]] = {
    "measured": measured, "on_gpu": on_gpu, "slower": slower, "outcomes": outcomes}


def current(text: str) -> str:
    """Return a page with its numbers made anew."""
    for name, lines in SECTIONS.items():
        begin, end = f"<!-- {name}: begin -->\n\n", f"\n<!-- {name}: end -->"
        before, mark, rest = text.partition(begin)
        if mark:
            text = before + begin + "\n".join(lines()) + "\n" + end + rest.partition(end)[2]
    return text


def main() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (new := current(text)) != text:
            page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
