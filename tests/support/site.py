"""The documentation as a site: its hook, as MkDocs loads it, and how it is built."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"


def load(path: Path) -> ModuleType:
    """Load a script of the documentation, with its folder among the paths of modules, as MkDocs
    loads hooks.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    sys.path.remove(str(path.parent))
    return module


reference = load(SITE / "reference.py")


def built(folder, target):
    """Build the documentation in `folder`, and return the finished process."""
    code = "from mkdocs.__main__ import cli; cli()"
    command = [sys.executable, "-c", code, "build", "--strict", "-f",
               str(folder / "site" / "mkdocs.yml"), "-d", str(target)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300,
                          check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "MAT_DEBUG": "",
                               "NO_MKDOCS_2_WARNING": "1"})
