"""Whether the files of the package are those that were installed.

The distribution `mat` on the package index is another project with a folder of the same name; pip
lets it overwrite ``mat/__init__.py`` of ours, and removes that file when it uninstalls the other.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from ..version import __version__

DISTRIBUTION = "facetmat"
PACKAGE = __name__.partition(".")[0]
FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEND = (f"`pip uninstall {PACKAGE}` and then `pip install --force-reinstall --no-deps "
        f"{DISTRIBUTION}` mends this")


def check_package() -> None:
    """Raise ImportError if the package that is imported is not ours, though this file of it is."""
    package = sys.modules[PACKAGE]
    if getattr(package, "__version__", None) != __version__:  # ours has it before all else
        raise ImportError(replaced(), name=PACKAGE)


def replaced() -> str:
    """Return what hides or has damaged ``__init__.py``, and the remedy."""
    path = os.path.join(FOLDER, "__init__.py")
    package = sys.modules[PACKAGE]
    if getattr(package, "__file__", None) is None and os.path.exists(path):
        hiding = [p for p in package.__path__ if os.path.abspath(p) != FOLDER]
        if hiding:
            return (f"Python imports the folder {hiding[0]}, which has the name of the library and "
                    f"comes before {FOLDER}: rename that folder, or run Python in another one")
    others = _and(map(_describe, others_with_the_folder()))
    if not os.path.exists(path):
        happened = "is missing, as after the uninstallation of another distribution with that file"
    elif others:
        happened = f"is of another distribution with a folder of that name: {others}"
    else:
        happened = "is of another project with a folder of that name"
    return (f"{path} {happened}; what is beside it is of {DISTRIBUTION} {__version__}, which does "
            f"not work without its own. {MEND}")


def findings() -> dict[str, str]:
    """Return the faults of the installed files, if any, for `mat.show_config()`."""
    others, changed = others_with_the_folder(), changed_files()
    found = {}
    if others:
        found["other mat"] = (f"{_and(map(_describe, others))}: another project with a folder of "
                              f"the same name. Whichever is installed last overwrites the other's "
                              f"files. {MEND}")
    if changed:
        found["changed files"] = f"{_and(changed)}: not as installed. {MEND}"
    return found


def others_with_the_folder() -> list[Any]:
    """Return the distributions with files in a folder of the package's name, but ours."""
    metadata = importlib.import_module("importlib.metadata")  # slow, and seldom needed
    names = metadata.packages_distributions().get(PACKAGE, [])
    return [metadata.distribution(name) for name in sorted({*names} - {DISTRIBUTION})]


def changed_files() -> list[str]:
    """Return the files that are missing or not as installed; none of an editable installation."""
    metadata = importlib.import_module("importlib.metadata")
    try:
        installed = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return []
    # not `installed.files`, which leaves out missing ones from Python 3.12 on
    rows = importlib.import_module("csv").reader((installed.read_text("RECORD") or "").splitlines())
    return [path for path, digest, *_ in rows if path.startswith(f"{PACKAGE}/") and digest
            and not _as_installed(installed.locate_file(path), digest)]


def _as_installed(path: Any, recorded: str) -> bool:
    """Return whether the digest of a file is the one in the record of the installation."""
    base64, hashlib = map(importlib.import_module, ("base64", "hashlib"))
    mode, _, wanted = recorded.partition("=")
    try:
        digest = hashlib.new(mode, path.read_bytes()).digest()
    except OSError:
        return False
    return bool(base64.urlsafe_b64encode(digest).decode().rstrip("=") == wanted)


def _describe(other: Any) -> str:
    return f"{other.metadata['Name']} {other.version} in {other.locate_file(PACKAGE)}"


def _and(texts: Iterator[str] | list[str], most: int = 3) -> str:
    """Return the first texts with commas, and how many more there are."""
    texts = list(texts)
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more
