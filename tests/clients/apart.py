"""Rows of libraries that read an environment variable when they are imported."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from .rows import ROOT, Rows, rows_checked


def rows_checked_apart(rows: Rows, **environment: str) -> Any:
    """Return `rows_checked` in a process with that environment, else a test that starts one."""
    if all(os.environ.get(name) == value for name, value in environment.items()):
        return rows_checked(rows)

    @pytest.mark.host
    @pytest.mark.slow
    def test() -> None:
        path = rows.names["__file__"]
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p",
                               "no:xdist", path],
                              cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, **environment})
        assert done.returncode == 0, done.stdout + done.stderr

    return test
