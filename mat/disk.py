"""Where compiled things are kept for the next process: a directory of the user's alone, whose files are whole or absent."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


def directory() -> Path:
    """Where they are kept: ``$MAT_CACHE``, or the user's cache. A temporary one if that cannot be written or trusted."""
    for place in _places():
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _ours(place) and os.access(place, os.W_OK | os.X_OK):
                return place
        except OSError:
            continue
    return _temporary()


def _places() -> list[Path]:
    given = os.environ.get("MAT_CACHE")
    if given:
        return [Path(given)]
    try:
        home = Path.home()
    except RuntimeError:
        return []
    usual = home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
    return [Path(os.environ.get("XDG_CACHE_HOME") or usual) / "mat"]


def _ours(place: Path) -> bool:
    """Whether nobody else can write there: what is loaded from it is run."""
    status = place.stat()
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


_temporaries: list[tempfile.TemporaryDirectory[str]] = []  # one at most; gone at exit


def _temporary() -> Path:
    if not _temporaries:
        _temporaries.append(tempfile.TemporaryDirectory(prefix="mat-"))
    return Path(_temporaries[0].name)


def write_whole(target: Path, data: bytes) -> None:
    """Write `data` to a file beside `target` and rename it: others see the whole file or none."""
    with tempfile.NamedTemporaryFile(prefix="write-", dir=target.parent, delete=False) as file:
        made = Path(file.name)
        try:
            file.write(data)
            file.close()
            made.replace(target)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
