"""Distributions built of this tree, and processes that import `mat` from a given path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", "build", "dist", "*.so", "*.pyc", "*.egg-info",
                                  "__pycache__", ".venv*", ".*_cache",
                                  ".hypothesis")
COMPUTE = """
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import mat
    x = mat.arange(12.0).reshape(3, 4)
    print((x.exp().log() + x.T.contiguous().T).sum().item(),
          mat.axpy(2, x, mat.ones(3, 4)).sum().item())
    print(mat.show_config()["kernels"])
for w in said:
    print(w.category.__name__, w.message, w.filename)
"""
# an editable installation would provide its extensions to a package without any
ALONE = "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if 'ditable' not in repr(f)]\n"


def environment(**more: str) -> dict[str, str]:
    """Return the environment without the variables of `mat`, and with `more`."""
    return {**{k: v for k, v in os.environ.items() if not k.startswith("MAT_")}, **more}


def python(code: str, where: Path, **more: str) -> list[str]:
    """Return what a new process prints that runs `code` with `where` as its path, and no `mat` but
    the one there.
    """
    done = subprocess.run([sys.executable, "-c", ALONE + code], cwd=where, capture_output=True,
                          text=True, timeout=120,
                          env=environment(PYTHONPATH=str(where), **more), check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def need_sources_and_tools() -> None:
    """Skip the test where distributions cannot be built."""
    if not (ROOT / "mat").is_dir():
        pytest.skip("these are the tests alone, without the sources")
    if not {"pip", "setuptools", "cffi", "Cython"} <= {d.name for d in distributions()}:
        pytest.skip("pip, setuptools, cffi or Cython is not installed")


def make_sdist(folder: Path) -> Path:
    """Build a source distribution of a copy of this tree in `folder`."""
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
    code = f"from setuptools import build_meta\nbuild_meta.build_sdist({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", code], cwd=tree, env=environment(),
                          capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.tar.gz"))


def make_wheel(sources: Path, folder: Path, compiler: str, **more: str) -> tuple[Path, str]:
    """Build a wheel of a source distribution in `folder`, and return it and the output of pip."""
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-index", "--no-build-isolation",
               "--no-deps", "-w", str(folder),
               str(sources)]
    done = subprocess.run(command, env=environment(CC=compiler, CXX=compiler, **more),
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl")), done.stdout + done.stderr


def files_of_sdist(path: Path) -> set[str]:
    """Return the files of a source distribution, relative to its folder."""
    with tarfile.open(path) as tar:
        return {m.name.partition("/")[2] for m in tar.getmembers() if m.isfile()}


def files_of_repository(*beside: str) -> set[str]:
    """Return the files that git tracks, and with ``--others`` could; skip the test where there is
    no git.
    """
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is no checkout of git")
    command = ["git", "ls-files", "--cached", "--exclude-standard", *beside]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.splitlines() if (ROOT / name).exists()}
