"""The mock driver in place of the machine's, in the process of a job."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def driver(mock: bool) -> Iterator[None]:
    """Use the driver of the machine, or the mock driver."""
    if not mock:
        yield
        return
    from ..mock_driver.cache import scratch
    from ..mock_driver.driver import cublas, missing
    from ..mock_driver.fixtures import mock_driver

    if missing():
        raise SystemExit(f"there can be no mock driver here: {missing()}")
    os.environ["MAT_CUBLAS"] = str(cublas())
    os.environ["MAT_CACHE"] = str(scratch() / "cubins")
    with mock_driver():
        yield
