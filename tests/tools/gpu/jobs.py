"""Jobs: each is done by a process of its own, with a limit of time. One that crashes, hangs or
loses its device is started again, and goes on after the item that did that.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from .journal import CRASHED, CUT, UNFINISHED, Journal, Line, Recorder

ROOT = Path(__file__).parents[3]
LOST = 77  # the exit status of a process whose device has failed: what it knew is written
TAIL = 1500  # characters of the output of a process that has failed
RUNNING: set[subprocess.Popen[bytes]] = set()


@dataclass
class Job:
    """The work of a process: `words` are its command, `silence` the seconds for one item."""

    part: str
    name: str
    words: list[str]
    limit: float
    silence: float
    environment: dict[str, str] = field(default_factory=dict)
    # given the status (None: there was no time) and all output, at the end of each process
    ended: Callable[[Job, Journal, int | None, str], None] | None = None


def run_all(jobs: Iterable[Job], journal: Journal, until: float, at_once: int,
            seen: Callable[[], None]) -> None:
    """Run jobs, so many at a time, until a time; call `seen` now and then."""
    with ThreadPoolExecutor(at_once) as pool:
        left = {pool.submit(run, job, journal, until) for job in jobs}
        while left:
            ended, left = wait(left, 1.0, FIRST_COMPLETED)
            for found in ended:
                found.result()
            seen()


def run(job: Job, journal: Journal, until: float) -> None:
    """Run a job; what it does not come to is written as well."""
    until = min(until, monotonic() + job.limit)
    while not (progress := journal.progress(job.part, job.name)).done:
        before = len(progress.finished)
        if until - monotonic() <= 0.2:
            journal.write(Line(job.part, job.name, "", CUT, "there was no more time"))
            return
        progress.open = ""
        status, output = _process(job, journal, until)
        progress = journal.progress(job.part, job.name)
        if job.ended is not None:
            job.ended(job, journal, status, output)
        if progress.done:
            return
        if progress.open:
            outcome, text = _ended(job, status, output, until)
            journal.write(Line(job.part, job.name, progress.open, outcome, text))
        elif status is not None and len(progress.finished) == before:
            text = _why(status, output)
            journal.write(Line(job.part, job.name, "", CRASHED, text))
            return


def _ended(job: Job, status: int | None, output: str, until: float) -> tuple[str, str]:
    """Return the outcome of what was being done when a process ended, or was ended."""
    if status is not None:
        return CRASHED, _why(status, output)
    if monotonic() > until:
        return UNFINISHED, "its part ended while it ran"
    return CUT, f"it took longer than its {job.silence:.0f} s"


def _why(status: int, output: str) -> str:
    name = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    said = output.partition("\nExtension modules:")[0]  # which faulthandler lists at the end
    return f"{name}: {said[-TAIL:].strip()}"


def _process(job: Job, journal: Journal, until: float) -> tuple[int | None, str]:
    """Start the process of a job and wait; return its status, None if it had to be ended, and its
    output.
    """
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1", "PYTHONUNBUFFERED": "1",
                   **job.environment, **Recorder.environment(journal.path, job.part, job.name)}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(job.words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        RUNNING.add(process)
        try:
            status = _wait(process, job, journal, until)
        finally:
            end(process)
            RUNNING.discard(process)
        output.seek(0)
        return status, output.read().decode(errors="replace")


def _wait(process: subprocess.Popen[bytes], job: Job, journal: Journal,
          until: float) -> int | None:
    begun = monotonic()
    while True:
        try:
            return process.wait(0.1)
        except subprocess.TimeoutExpired:
            since = max(begun, journal.progress(job.part, job.name).since)
            if monotonic() > min(until, since + job.silence):
                return None


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
