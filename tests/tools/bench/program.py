"""Run a program several times after importing its package; print the seconds that took.

``python program.py PATH PACKAGE TIMES``
"""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from time import process_time


def seconds(path: str, package: str, times: int) -> float:
    """The processor time of `main` of the program, after the import of the package."""
    code = compile(Path(path).read_text(encoding="utf-8"), path, "exec")
    import_module(package)
    begun = process_time()
    with redirect_stdout(io.StringIO()):
        names: dict[str, object] = {"__name__": "program"}
        exec(code, names)
        for _ in range(times):
            names["main"]()  # type: ignore[operator]
    return process_time() - begun


if __name__ == "__main__":
    print(seconds(sys.argv[1], sys.argv[2], int(sys.argv[3])))
