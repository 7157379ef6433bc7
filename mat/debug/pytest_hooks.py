"""The plugin of pytest, ``pytest --mat-directions``: the direction check and `watch` around each
test.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, TypeVar

import numpy as np
import pytest

from ..errors import DirectionError
from ..support.types import Array
from .counters import check_directions
from .protected_pages import Guarded, guarding
from .watching import INPUT, Watch, Watched

R = TypeVar("R")  # what a hook returns


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("mat").addoption(
        "--mat-directions", action="store_true",
        help="find writes to read-only arrays, and beside arrays of NumPy, by C code, and accesses "
             "to Mats against their direction")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--mat-directions"):
        config.pluginmanager.register(Directions(), "mat-directions")


class Directions:
    """The hooks: arrays of NumPy are guarded from the beginning of the session to its end."""

    def __init__(self) -> None:
        self.found: list[str] = []  # beside arrays, since the last test
        self.guard = guarding(self._note)

    def _note(self, block: Guarded, text: str) -> None:
        self.found.append(f"{block.label()} {text}")

    def pytest_sessionstart(self) -> None:
        self.guard.__enter__()

    def pytest_unconfigure(self) -> None:
        self.guard.__exit__(None, None, None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, R, R]:
        return (yield from self._raising())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, R, R]:
        return (yield from self._raising())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, R, R]:
        """Run a test; read-only arrays among its fixtures and parameters are inputs."""
        fixtures, seen = getattr(item, "funcargs", {}).items(), set[int]()
        inputs = [Watched(a, name, INPUT) for name, value in fixtures
                  for a in _read_only(value, seen)]
        with check_directions(), Watch(inputs):
            return (yield from self._raising())

    def _raising(self) -> Generator[None, R, R]:
        result = yield
        found, self.found = self.found, []
        if found:
            raise DirectionError("; ".join(found))
        return result


def _read_only(value: object, seen: set[int]) -> Iterator[Array]:
    """Yield the arrays in a value that nobody may write: itself, or in sequences and dictionaries.

    `seen` receives the identities of the values, each of which is looked at once.
    """
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        if value.size and not value.dtype.hasobject and _is_constant(value):
            yield value
    elif type(value) in (list, tuple, dict):
        items: Any = value.values() if isinstance(value, dict) else value
        for item in items:
            yield from _read_only(item, seen)


def _is_constant(a: Any) -> bool:
    """Return whether an array and its bases are read-only, and no other object's memory."""
    while isinstance(a, np.ndarray) and not a.flags.writeable:
        a = a.base
    return a is None or isinstance(a, bytes)
