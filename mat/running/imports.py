"""The import hook: files of the program get the stand-ins of NumPy's modules where they import
`numpy`, all other importers NumPy itself.

The file that imports decides, so the hook is `builtins.__import__`, which is told of it.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from ..core.source_line import cell_of
from ..errors import SettingError

_OF_NUMPY = "numpy"
_INSTALLED = ("site-packages", "dist-packages")
_MAIN = "__main__"
_IMPORTS_MAT = re.compile(r"^\s*(?:import mat|from mat)\b", re.MULTILINE)


class ProgramFiles:
    """The files that belong to a program: files and folders, without installed packages."""

    def __init__(self, places: Iterable[str | os.PathLike[str]]) -> None:
        self.places = [Path(place).resolve() for place in places]
        self.importing: dict[str, bool] = {}  # by files: whether they get stand-ins
        self.known: dict[str, bool] = {}  # by the names of files, as code objects have them
        self.libraries = [Path(p).resolve() for p in (
            sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"),
            Path(__file__).parents[1])]

    def has(self, file: str) -> bool:
        """Return whether a file belongs to the program."""
        found = self.known.get(file)
        if found is None:
            found = self.known[file] = self._has(file)
        return found

    def _has(self, file: str) -> bool:
        if cell_of(file) is not None:  # of a notebook
            return True
        if file.startswith("<"):
            return False
        path = Path(file).resolve()
        for place in self.places:
            if path == place or (place in path.parents and self._is_own(path, place)):
                return True
        return False

    def _is_own(self, path: Path, place: Path) -> bool:
        """Return whether a file in a folder of the program is no library installed there."""
        inner = path.relative_to(place).parts
        return not any(part in _INSTALLED for part in inner) and not any(
            library in path.parents and library not in (place, *place.parents)
            for library in self.libraries)

    def imports(self, importer: Mapping[str, Any]) -> bool:
        """Return whether a module gets stand-ins: one of the program that does not import `mat`."""
        file = importer.get("__file__")
        if isinstance(file, str):
            found = self.importing.get(file)
            if found is None:
                found = self.importing[file] = self.has(file) and not _IMPORTS_MAT.search(
                    "".join(linecache.getlines(file)))
            return found
        return bool(importer.get("__name__") == _MAIN)


def package_place(name: str) -> Path:
    """Return the folder of a package, or the file of a module; raise `SettingError` without."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        raise SettingError(f"cannot import {name!r}: {error}") from None
    if spec is None or spec.origin is None:
        raise SettingError(f"no package or module {name!r} can be imported")
    place = Path(spec.origin)
    return place.parent if spec.submodule_search_locations else place


@contextmanager
def importing(program: ProgramFiles, stand_in: Callable[[str], ModuleType]) -> Iterator[None]:
    """Give the files of a program what `stand_in` returns for each module of NumPy."""
    plain, by_name, imports = builtins.__import__, importlib.import_module, program.imports

    def import_(name: str, globals: Mapping[str, Any] | None = None,  # noqa: A002
                locals: Mapping[str, Any] | None = None,  # noqa: A002
                fromlist: Sequence[str] | None = (), level: int = 0) -> ModuleType:
        found: ModuleType = plain(name, globals, locals, fromlist, level)
        if level or globals is None or not _is_numpys(name) or not imports(globals):
            return found
        return stand_in(name if fromlist else _OF_NUMPY)

    def import_module(name: str, package: str | None = None) -> ModuleType:
        found: ModuleType = by_name(name, package)
        if not _is_numpys(name) or not imports(sys._getframe(1).f_globals):
            return found
        return stand_in(name)

    builtins.__import__, importlib.import_module = import_, import_module
    try:
        yield
    finally:
        builtins.__import__, importlib.import_module = plain, by_name


def _is_numpys(name: str) -> bool:
    return name.startswith(_OF_NUMPY) and (name == _OF_NUMPY or name[len(_OF_NUMPY)] == ".")
