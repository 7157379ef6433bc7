"""The modules compiled by Cython and the digests of their sources: all of them are used, or none.

The record of a build has a line ``NAME DIGEST`` for each of them, and lines for how and by what it
was made, and for the times of the sources if they are beside it. If a text has changed since, a
module is missing or ``MAT_NATIVE=0`` asks for it, `use_sources` has Python import the ``.py`` files
instead, also where a compiled module lies beside. ``mat/native/build.py`` runs this file by itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import source_hash
from types import ModuleType

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# what Python's own modules for this interpreter end with, and the record of them
SUFFIX = EXTENSION_SUFFIXES[0] if EXTENSION_SUFFIXES else ".so"
RECORD = f"compiled{os.path.splitext(SUFFIX)[0]}.txt"
CORE = "mat._core"
EXTENSIONS = (CORE, "mat._native")  # without a Python file
# Python without the GIL, whose garbage collector reads objects that the compiled core has freed
FREE_THREADED = any(part[-2:-1].isdigit() and part[-1] == "t" for part in SUFFIX.split("-"))
NO_GIL = "there are none for a free-threaded Python"
# parts of `mat._core`, and of what it offers the others
PARTS = ("native/cpu/call.h", "native/python/dlpack.c", "native/python/dlpack.h",
         "native/python/limited_api.h", "native/python/arrays.pxi", "native/python/few.pxi",
         "native/python/threads.pxi", "native/python/methods.pxi", "native/python/objects.pxi",
         "native/python/cuda_calls.pxi")


def path_of(name: str, suffix: str) -> str:
    """Return the path of a file of the module `name`."""
    return os.path.join(PACKAGE, *name.split(".")[1:]) + suffix


def source_of(name: str) -> str:
    """Return the path of the source of the module `name`."""
    return path_of(name, ".pyx" if name == CORE else ".py")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def digests(names: Iterable[str]) -> dict[str, str]:
    """Return a digest for each module, of its own text and of the declarations of all."""
    names = sorted(names)
    shared = source_hash(b"".join([*(_read(path_of(name, ".pxd")) for name in names),
                                   *(_read(os.path.join(PACKAGE, part)) for part in PARTS)]))
    return {name: source_hash(shared + _read(source_of(name))).hex() for name in names}


def stamp(names: Iterable[str]) -> str:
    """Return a digest of when the texts that `digests` reads were changed, and of their lengths."""
    paths = [path for name in sorted(names) for path in (path_of(name, ".pxd"), source_of(name))]
    found: list[tuple[int, int, int]] = []
    for path in [*paths, *(os.path.join(PACKAGE, part) for part in PARTS)]:
        try:
            state = os.stat(path)
        except FileNotFoundError:
            found.append((0, 0, 0))
        else:
            found.append((state.st_mtime_ns, state.st_ctime_ns, state.st_size))
    return source_hash(repr(found).encode()).hex()


def recorded(path: str = os.path.join(PACKAGE, RECORD)) -> dict[str, str]:
    """Return the contents of a record; an empty dict if there is none."""
    lines = _read(path).decode().splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


def build() -> str:
    """Return the number of compiled modules, their compiler, and an identifier of their sources."""
    record = recorded()
    count = sum(name.startswith("mat.") for name in record)
    record.pop("stamp", None)
    identifier = source_hash(repr(sorted(record.items())).encode()).hex()[:8]
    return f"{count} modules compiled by {record.get('by', 'Cython')}, build {identifier}"


def fault() -> str:
    """Return why the compiled modules cannot be used; an empty text if they can."""
    if os.environ.get("MAT_NATIVE") == "0":
        return "MAT_NATIVE is 0"
    if FREE_THREADED:
        return NO_GIL
    record = recorded()
    built = {name: digest for name, digest in record.items() if name.startswith("mat.")}
    if CORE not in built:
        return "they were not built for this Python"
    # what was not touched since it was compiled there need not be read, which takes longer
    same = "stamp" in record and record["stamp"] == stamp(built)
    for name, digest in (built if same else digests(built)).items():
        if not os.path.exists(path_of(name, SUFFIX)):
            return f"{name} is missing"
        if digest != built[name] and os.path.exists(source_of(name)):
            return f"{name} has changed since it was compiled"
    return ""


class SourceFinder:
    """Finds the ``.py`` files of the package only, and refuses its extensions."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.finders: dict[str, FileFinder] = {}  # for each folder

    def find_spec(self, fullname: str, path: Sequence[str] | None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        """Return how the module is loaded; None if it is not one of the package."""
        if not fullname.startswith("mat."):
            return None
        if fullname in EXTENSIONS:
            raise ModuleNotFoundError(f"{fullname} is not used: {self.reason}", name=fullname)
        found = (self._finder(folder).find_spec(fullname, target) for folder in path or ())
        return next((spec for spec in found if spec is not None), None)

    def _finder(self, folder: str) -> FileFinder:
        if folder not in self.finders:
            self.finders[folder] = FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES))
        return self.finders[folder]


def use_sources(reason: str) -> None:
    """Import Python's sources of modules from now on, for that reason."""
    sys.meta_path.insert(0, SourceFinder(reason))
