"""The bar of ``progress=True``: tqdm's where it is installed, else a line on standard error."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any, TypeAlias

Callback: TypeAlias = Callable[[int, int], object]  # called with bytes done and bytes in all
EACH = 0.1  # seconds between two texts of a line


def callback_of(progress: Callback | bool | None, name: str) -> Callback | None:
    """Return the callback for a `progress` argument: for True a new bar with that name."""
    if isinstance(progress, bool):
        return ProgressBar(name) if progress else None
    return progress


class ProgressBar:
    """A bar, shown from the first call on until all is done, or nobody has it any more."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.shown: Any = None
        self.done = 0
        self.ended = False

    def __call__(self, done: int, total: int) -> None:
        if self.ended:
            return
        if self.shown is None:
            self.shown = _tqdm_bar(self.name, total) or ProgressLine(self.name, total)
        self.shown.update(done - self.done)
        self.done = done
        if done >= total:
            self.ended = True
            self.shown.close()


class ProgressLine:
    """A line of text with the part of the bytes that are done, and no more than tqdm does."""

    def __init__(self, name: str, total: int) -> None:
        self.name, self.total, self.done = name, total, 0
        self.file = sys.stderr
        self.next = 0.0
        self.open = False

    def update(self, nbytes: int) -> None:
        """Count so many more bytes, and show it unless the last text is recent."""
        self.done += nbytes
        if monotonic() >= self.next or self.done >= self.total:
            self.next = monotonic() + EACH
            percent = 100 * self.done // self.total if self.total else 100
            self.open = True
            self._write(f"\r{self.name}: {percent:3d} % of {self.total:,} bytes")

    def close(self) -> None:
        """End the line."""
        if self.open:
            self.open = False
            self._write("\n")

    def _write(self, text: str) -> None:
        if self.file is not None:  # as it is in a program without a console
            self.file.write(text)
            self.file.flush()

    def __del__(self) -> None:
        self.close()


def _tqdm_bar(name: str, total: int) -> Any:
    """Return a bar of tqdm; None if it is not installed."""
    try:
        tqdm = importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=name, unit="B", unit_scale=True)
