"""``pytest --mat-directions``: tests under the checks of `mat.debug`.

pytest imports this file in every run where `mat` is installed, and `mat` only for that option.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("mat").addoption(
        "--mat-directions", action="store_true",
        help="find writes to read-only arrays, and beside arrays of NumPy, by C code, and accesses "
             "to Mats against their direction")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--mat-directions"):
        from mat.debug.pytest_hooks import Directions

        config.pluginmanager.register(Directions(), "mat-directions")
