"""Programs in this process: by NumPy, and with `mat` in the place of their NumPy."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from mat.running.command import in_place_of_numpy
from mat.running.stand_in import ProgramFiles

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]


def run(*arguments, cwd=None):
    """Run the command in a process of its own."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run([sys.executable, "-m", "mat", "run", *map(str, arguments)], cwd=cwd,
                          capture_output=True, text=True, timeout=600, check=False,
                          env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"})


def printed(path, text=None):
    """Return what a program prints, in a new main module."""
    main = ModuleType("__main__", None)
    main.__dict__.update(__file__=str(path))
    code = compile(path.read_text(encoding="utf-8") if text is None else text, str(path), "exec",
                   dont_inherit=True)
    modules, out, options = set(sys.modules), io.StringIO(), np.get_printoptions()
    sys.path.insert(0, str(path.parent))
    try:
        with contextlib.redirect_stdout(out):
            exec(code, main.__dict__)
    finally:
        sys.path.remove(str(path.parent))
        for name in set(sys.modules) - modules:
            if getattr(sys.modules[name], "__file__", None) and Path(
                    sys.modules[name].__file__).is_relative_to(path.parent):
                del sys.modules[name]
        np.set_printoptions(**options)
    return out.getvalue()


def by_mat(path, text=None):
    """Return what a program prints with `mat`, and the costs of its lines."""
    with in_place_of_numpy(ProgramFiles([path.parent])) as profile:
        return printed(path, text), profile
