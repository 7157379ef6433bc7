"""The user's cache directory of compiled code, with digests, and `replacing` for atomic writes of a
file.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache as cache_result
from pathlib import Path

from .descriptors import nameless, opened


def directory() -> Path:
    """Return ``$MAT_CACHE``, the user's cache, or a temporary one if it is read-only or unsafe."""
    for candidate in _candidates():
        try:
            candidate.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_private(candidate) and os.access(candidate, os.W_OK | os.X_OK):
                return candidate
        except OSError:
            continue
    return Path(_temporary().name)


def _candidates() -> list[Path]:
    given = os.environ.get("MAT_CACHE")
    if given:
        return [Path(given)]
    try:
        home = Path.home()
    except RuntimeError:
        return []
    usual = home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
    return [Path(os.environ.get("XDG_CACHE_HOME") or usual) / "mat"]


def _is_private(folder: Path) -> bool:
    """Return True if no other user can write in `folder`: libraries loaded from it are run."""
    status = folder.stat()
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid()
                                         and not status.st_mode & 0o022)


@cache_result
def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mat-")  # removed at exit


# Writing


_DIGEST = hashlib.sha256().digest_size  # of the data, which is at the end of a file


def cached(target: Path) -> bytes | None:
    """Return the data that `cache` wrote to `target`; None if there is none, or it is damaged."""
    try:
        data = target.read_bytes()
    except OSError:
        return None
    found, digest = data[:-_DIGEST], data[-_DIGEST:]
    return found if hashlib.sha256(found).digest() == digest else None


def cache(target: Path, data: bytes) -> None:
    """Write `data` to `target` at once, with its digest, by which damage is found."""
    write_whole(target, data + hashlib.sha256(data).digest())


def write_whole(target: Path, data: bytes) -> None:
    """Write `data` to `target`: others see the whole file or none."""
    with replacing(target) as file:
        file.write(data)


@contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[io.BufferedWriter]:
    """Open a file for writing; it replaces `target` when the block ends without an error.

    If the block raises an error, `target` remains as it was. The file is on disk before it replaces
    `target`. Links are followed. The mode of a file that is replaced is kept,
    and its owner if that is allowed; a new file has the mode that the umask allows. A pipe, a
    device or another file that is not regular is written in place.
    """
    path = os.path.realpath(target)
    old = _status(path)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(path, "wb") as file:
            yield file
        return
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    # known before there is such a file: an interrupt removes it
    made = os.path.join(os.path.dirname(path), f".mat-{secrets.token_hex(8)}.tmp")
    try:
        file, is_there = _created(path, made)
        with file:
            yield file
            file.flush()
            number = file.fileno()
            if old is not None:
                _copy_status(number, old)
            os.fsync(number)
            if not is_there:
                # to an absolute path: the directory of descriptors is not used. Without dst_dir_fd
                # it would link to the link in /proc, instead of following that
                os.link(f"/proc/self/fd/{number}", made, dst_dir_fd=number, follow_symlinks=True)
        os.replace(made, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(made)
        raise


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _created(path: str, made: str) -> tuple[io.BufferedWriter, bool]:
    """Create a file beside `path`; return whether its path is `made`, or it has none yet."""
    file = nameless(os.path.dirname(path), 0o666)
    if file is not None:
        return io.BufferedWriter(file), False
    try:
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
        return io.BufferedWriter(opened(os.open, made, flags, 0o666)), True
    except OSError as error:
        raised = OSError(error.errno, error.strerror, path)
        raised.add_note("a new file is written in the same directory first; to write in place, "
                        "open the file and pass the open file")
        raise raised from None


def _copy_status(number: int, old: os.stat_result) -> None:
    """Set the mode of the open file to that of `old`, and its owner if that is allowed."""
    if not hasattr(os, "fchown"):
        return
    new = os.fstat(number)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            os.fchown(number, old.st_uid, old.st_gid)
    os.fchmod(number, stat.S_IMODE(old.st_mode))
