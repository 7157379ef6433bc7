"""The cache of compiled kernels: each is stored under a hash of all that it is made from.

It is the folder ``$MAT_TEST_CACHE``, ``$XDG_CACHE_HOME/mat-tests`` or ``~/.cache/mat-tests``, so it
is outside of the checkout and serves later runs. Several processes may use it at once. What was
not used for the longest time is removed when it grows beyond `LIMIT`.
"""

import atexit
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

LIMIT = 1 << 30  # bytes
RECENT = 3600  # seconds: entries used since then may be in use, and are not removed


@cache
def folder():
    """Return the folder of the cache, made if need be; a temporary one if it cannot be written."""
    given = os.environ.get("MAT_TEST_CACHE")
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mat-tests"
    path = Path(given) if given else usual
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        return scratch() / "compiled"


@cache
def scratch():
    """Return a folder for this process, removed at its end."""
    path = tempfile.mkdtemp(prefix="mat-mock-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def cached(key, make, lock="lock"):
    """Return the folder with what `make(folder)` makes, made if it is not there for this key.

    What one `make` needs of another call has another `lock`: keys share locks, and a process that
    waits for its own would wait for ever.
    """
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    found = folder() / name
    if not _used(found):
        found.parent.mkdir(parents=True, exist_ok=True)
        with _alone(name, lock):
            if not _used(found):
                _make(found, make)
    return found


def _used(entry):
    """Note that an entry is used now; return whether it is there."""
    try:
        os.utime(entry)
    except OSError:
        return False
    return True


def _make(entry, make):
    making = Path(tempfile.mkdtemp(prefix="making-", dir=entry.parent))
    try:
        make(making)
        making.rename(entry)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    _prune_at_exit()


@contextmanager
def _alone(name, lock):
    """Inside, no other thread or process makes an entry whose name begins in the same way."""
    with open(folder() / f"{lock}-{name[:2]}", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@cache
def _prune_at_exit():
    atexit.register(prune, folder(), os.getpid())


def prune(path, process=None, limit=LIMIT, recent=RECENT):
    """Remove entries until the rest has at most `limit` bytes, those first that were not used for
    the longest time.
    """
    if process not in (None, os.getpid()):  # a forked one
        return
    entries = []
    for entry in path.iterdir():
        with suppress(OSError):
            if entry.is_dir():
                entries.append((entry.stat().st_mtime, _size(entry), entry))
    total = sum(size for _, size, _ in entries)
    for used, size, entry in sorted(entries):
        if total <= limit or time.time() - used < recent:
            return
        shutil.rmtree(entry, ignore_errors=True)
        total -= size


def _size(entry):
    return sum(file.stat().st_size for file in entry.iterdir())
