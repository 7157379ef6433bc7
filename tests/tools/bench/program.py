"""Run a program once for each line of the input, after importing its package; print the seconds
that each run took.

``python program.py PATH PACKAGE``
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from time import process_time


def runs(path: str, package: str) -> Iterator[float]:
    """The processor time of `main` of the program, again and again; the first with what the
    program does before, but without the import of the package.
    """
    code = compile(Path(path).read_text(encoding="utf-8"), path, "exec")
    import_module(package)
    names: dict[str, object] = {"__name__": "program"}
    while True:
        with redirect_stdout(io.StringIO()):
            begun = process_time()
            if "main" not in names:
                exec(code, names)
            names["main"]()  # type: ignore[operator]
            took = process_time() - begun
        yield took


if __name__ == "__main__":
    for _, seconds in zip(sys.stdin, runs(sys.argv[1], sys.argv[2]), strict=False):
        print(seconds, flush=True)
