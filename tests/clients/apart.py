"""Rows of libraries that must be told something by the environment, before anything of them is
loaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from .rows import ROOT, Rows, rows_checked


def rows_checked_apart(rows: Rows, **environment: str) -> Any:
    """As `rows_checked`, but in a process with that environment; where it is another, one test is
    to run them there.
    """
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
