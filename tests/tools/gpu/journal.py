"""The journal of a run: a line of JSON for each outcome, written when it is known, by whichever
process knows it. What a run that was cut off has found is in it.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic, time
from typing import Any

BEGUN, DONE = "begun", "done"
OK, FAILED, CRASHED, CUT, LEFT_OUT = "ok", "failed", "crashed", "cut off", "left out"
UNFINISHED = "no time"  # its part ended while it ran: nothing is known of it
BAD = (FAILED, CRASHED, CUT)


@dataclass
class Line:
    """An outcome: of an item of a job, or, without a name, of the job itself; `extra` has what only
    some parts know.
    """

    part: str
    job: str
    name: str
    outcome: str
    text: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    at: float = 0.0


@dataclass
class Progress:
    """How far a job is, as its lines tell."""

    finished: set[str] = field(default_factory=set)
    open: str = ""  # what has begun and not ended
    done: bool = False
    since: float = field(default_factory=monotonic)  # its last line


class Journal:
    """The file, which several processes append to; `refresh` reads what is new."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.lines: list[Line] = []
        self._jobs: dict[tuple[str, str], Progress] = {}
        self._read = 0
        self._lock = threading.Lock()

    def write(self, line: Line) -> None:
        """Append a line; others see the whole of it, and a process that is killed leaves it."""
        line.at = line.at or round(time(), 3)
        number = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(number, (json.dumps(asdict(line)) + "\n").encode())
            if line.outcome != BEGUN and not line.name.startswith("tests/"):
                os.fsync(number)  # not for each of thousands of tests
        finally:
            os.close(number)

    def refresh(self) -> None:
        """Read the lines that were appended since the last call."""
        with self._lock:
            try:
                with self.path.open("rb") as file:
                    file.seek(self._read)
                    data = file.read()
            except FileNotFoundError:
                return
            whole = data.rpartition(b"\n")[0]
            self._read += len(whole) + bool(whole)
            for text in whole.splitlines():
                self._take(text)

    def _take(self, text: bytes) -> None:
        try:
            line = Line(**json.loads(text))
        except (ValueError, TypeError):  # the machine stopped within it
            return
        progress = self._progress(line.part, line.job)
        progress.since = monotonic()
        if line.outcome == BEGUN:
            progress.open = line.name
            return
        if not line.name:
            progress.done = progress.done or line.outcome == DONE
        else:
            if line.outcome != UNFINISHED:
                progress.finished.add(line.name)
            progress.open = "" if progress.open == line.name else progress.open
        self.lines.append(line)

    def _progress(self, part: str, job: str) -> Progress:
        return self._jobs.setdefault((part, job), Progress())

    def progress(self, part: str, job: str) -> Progress:
        """Return how far a job is by now."""
        self.refresh()
        with self._lock:
            return self._progress(part, job)


@dataclass
class Recorder:
    """What writes the lines of one job, in the process that does it."""

    journal: Journal
    part: str
    job: str

    @staticmethod
    def environment(path: Path, part: str, job: str) -> dict[str, str]:
        """Return what `from_environment` reads in a process started with it."""
        return {"MAT_GPU_RECORD": json.dumps([str(path.resolve()), part, job, os.getpid()])}

    @classmethod
    def from_environment(cls) -> Recorder:
        """Return the recorder of this process, which ends when the one that started it does."""
        path, part, job, parent = json.loads(os.environ["MAT_GPU_RECORD"])
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
        return cls(Journal(path), part, job)

    def finished(self) -> set[str]:
        """Return what has an outcome already, of an earlier process for the same job."""
        return self.journal.progress(self.part, self.job).finished

    def begin(self, name: str) -> None:
        self.journal.write(Line(self.part, self.job, name, BEGUN))

    def end(self, name: str, outcome: str, text: str = "", **extra: Any) -> None:
        self.journal.write(Line(self.part, self.job, name, outcome, text, extra))

    def done(self, text: str = "") -> None:
        """The job is complete, whatever its items came to."""
        self.end("", DONE, text)


def _end_with(parent: int) -> None:
    """End this process when another one is there no longer."""
    pause = threading.Event()
    while not pause.wait(0.5):
        try:
            os.kill(parent, 0)
        except OSError:
            os._exit(70)
