"""The documentation as a site: the scripts that write its pages, and how it is built."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"


def load(path: Path) -> ModuleType:
    """Load a script of the documentation, with its folder among the paths of modules."""
    sys.path.insert(0, str(path.parent))
    try:
        return importlib.import_module(path.stem)
    finally:
        sys.path.remove(str(path.parent))


reference = load(SITE / "reference.py")
prepare = load(SITE / "prepare.py")


def built(docs, target):
    """Build the documentation in `docs` into ``site`` of the folder `target`, and return the
    finished process.
    """
    prepare.prepare(docs, target)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "-f",
               str(target / "mkdocs.yml")]
    return subprocess.run(command, cwd=target, capture_output=True, text=True, timeout=300,
                          check=False)
