"""A plugin of pytest that writes each test's outcome to the journal when it ends.

What has an outcome already is left out, and what does not use the device. After an error that the
device does not recover from, the process ends, and another one goes on.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from .day import REST, SUITE
from .jobs import LOST
from .journal import FAILED, LEFT_OUT, OK, Recorder

RECORDER = Recorder.from_environment()
REAL = os.environ.get("MAT_TEST_CUDA") == "1"
_failed: dict[str, str] = {}
_seconds: dict[str, float] = {}
_skipped: dict[str, str] = {}


def uses_the_device(item: Any) -> bool:
    """Check whether a test, with the device in use for all that are not of the host, needs it."""
    names = item.fixturenames
    if "mock" in names:
        return False
    ours = item.nodeid.startswith("tests/cuda/")  # those that need it say so
    return "cuda" in names or not (ours or item.get_closest_marker("host"))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    finished = RECORDER.finished()
    if RECORDER.part == REST:
        finished |= RECORDER.journal.progress(SUITE, RECORDER.job).finished
    left_out = [item for item in items
                if item.nodeid in finished or (REAL and not uses_the_device(item))]
    config.hook.pytest_deselected(items=left_out)
    gone = {id(item) for item in left_out}
    items[:] = [item for item in items if id(item) not in gone]


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        RECORDER.end(f"{report.nodeid} (collection)", FAILED, str(report.longrepr)[-2000:])


def pytest_runtest_logstart(nodeid: str) -> None:
    RECORDER.begin(nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if report.failed:
        _failed.setdefault(report.nodeid, str(report.longrepr)[-2000:])
    elif report.skipped and not hasattr(report, "wasxfail"):
        _skipped[report.nodeid] = str(report.longrepr)[-200:]


def pytest_runtest_logfinish(nodeid: str) -> None:
    failed, skipped = _failed.pop(nodeid, None), _skipped.pop(nodeid, None)
    outcome = FAILED if failed is not None else OK if skipped is None else LEFT_OUT
    RECORDER.end(nodeid, outcome, failed or skipped or "",
                 seconds=round(_seconds.pop(nodeid, 0.0), 3))
    failures = sys.modules.get("mat.cuda.runtime.gpu")
    if failures is not None and failures.FAILURES:
        print(f"the device has failed: {list(failures.FAILURES.values())}", flush=True)
        os._exit(LOST)


def pytest_sessionfinish(exitstatus: int) -> None:
    if int(exitstatus) in (0, 1, 2, 5):  # not after an interrupt or an error of pytest itself
        RECORDER.done(f"pytest ended with {int(exitstatus)}")
