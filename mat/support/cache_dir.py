"""Files that are whole or absent: `replacing`; and where compiled things are kept, a directory of
the user's alone.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def directory() -> Path:
    """Where they are kept: ``$MAT_CACHE``, or the user's cache. A temporary one if that cannot be
    written or trusted.
    """
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
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid()
                                         and not status.st_mode & 0o022)


_temporary_directory: tempfile.TemporaryDirectory[str] | None = None  # removed at exit


def _temporary() -> Path:
    global _temporary_directory
    if _temporary_directory is None:
        _temporary_directory = tempfile.TemporaryDirectory(prefix="mat-")
    return Path(_temporary_directory.name)


# Writing


def write_whole(target: Path, data: bytes) -> None:
    """Write `data` to `target`: others see the whole file or none. What is lost when the machine
    stops is made anew.
    """
    with replacing(target, sync=False) as file:
        file.write(data)


@contextmanager
def replacing(target: str | os.PathLike[str], *, sync: bool = True) -> Iterator[io.BufferedWriter]:
    """A file to write, which takes the place of `target` when the block ends well; when it does
    not, all is as before.

    ``sync``: it is on the disk before it takes that place. A link is followed; the mode, and if
    that is allowed the owner, of a file that is replaced are kept, a new one's mode is as the umask
    says. What is no regular file, such as a pipe or a device, is written as it is.
    """
    place = os.path.realpath(target)
    old = _status(place)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(place, "wb") as file:
            yield file
        return
    if old is not None and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), place)
    number, made = _created(place)
    try:
        with open(number, "wb") as file:
            yield file
            file.flush()
            if old is not None:
                _dress(number, old)
            if sync:
                os.fsync(number)
            made = made or _name(number, place)
        os.replace(made, place)
    except BaseException:
        if made:
            with suppress(OSError):
                os.unlink(made)
        raise


def _status(place: str) -> os.stat_result | None:
    try:
        return os.stat(place)
    except FileNotFoundError:
        return None


def _beside(place: str) -> str:
    """A path in the same directory that nobody has."""
    return os.path.join(os.path.dirname(place), f".mat-{secrets.token_hex(8)}.tmp")


def _created(place: str) -> tuple[int, str]:
    """A new file beside `place`, and its path; "" where it has none yet, so that it is gone if the
    process is killed.
    """
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        try:
            return os.open(os.path.dirname(place), os.O_TMPFILE | os.O_WRONLY, 0o666), ""
        except OSError:  # not every file system can do that
            pass
    made = _beside(place)
    try:
        return os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0),
                       0o666), made
    except OSError as error:
        told = OSError(error.errno, error.strerror, place)
        told.add_note("a file is written beside its place first; to write in place, open it and "
                      "give the open file")
        raise told from None


def _name(number: int, place: str) -> str:
    """Give the open file a path beside `place`, and return that."""
    made = _beside(place)
    folder = os.open(os.path.dirname(place), os.O_RDONLY)
    try:  # with dst_dir_fd it follows the link that /proc has, without it would link to that
        os.link(f"/proc/self/fd/{number}", made, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)
    return made


def _dress(number: int, old: os.stat_result) -> None:
    """Give the open file the owner, if that is allowed, and the mode of the one it replaces."""
    if not hasattr(os, "fchown"):
        return
    new = os.fstat(number)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            os.fchown(number, old.st_uid, old.st_gid)
    os.fchmod(number, stat.S_IMODE(old.st_mode))
