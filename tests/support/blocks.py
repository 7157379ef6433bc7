"""The blocks of a Markdown file. As a script: run the Python blocks of files that `Pages` names,
those of one file in order and in one namespace.

Blocks with ``>>>`` are doctests. A block that begins with ``# NAME.py`` is written to that file for
`import`. A block after the line ``<!-- not run: reason -->`` is left out, one after
``<!-- needs: module -->`` where that module is not installed.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*(.*?)\s*$")
REASON = re.compile(r"^\s*<!-- not run: (.*\S.*) -->\s*$")
FILE = re.compile(r"# (\w+\.py)\n")
NEEDS = re.compile(r"^\s*<!-- needs: (\w+) -->\s*$")


class Block(NamedTuple):
    """The text between two fences."""

    language: str  # the rest of the line of the opening fence
    line: int  # of its first line of text, counted from 1
    text: str
    reason: str  # why it is not run; empty: it is

    @property
    def is_python(self) -> bool:
        return self.language == "python"

    @property
    def is_session(self) -> bool:
        return ">>> " in self.text


def blocks(text: str) -> list[Block]:
    """All fenced blocks of `text`; `ValueError` if one is not closed."""
    lines, found, k = text.splitlines(), [], 0
    while k < len(lines):
        opening = FENCE.match(lines[k])
        if opening:
            end = next((j for j in range(k + 1, len(lines)) if lines[j].strip() == opening[1]),
                       None)
            if end is None:
                raise ValueError(f"the block that begins in line {k + 1} has no end")
            found.append(Block(opening[2], k + 2, "\n".join(lines[k + 1:end]) + "\n",
                               reason_in(lines[k - 1]) if k else ""))
            k = end
        k += 1
    return found


def reason_in(line: str) -> str:
    """Return why a block after that line is not run here; empty: it is."""
    reason, needs = REASON.match(line), NEEDS.match(line)
    if needs and importlib.util.find_spec(needs[1]) is None:
        return f"{needs[1]} is not installed"
    return reason[1] if reason else ""


def faults(text: str) -> list[str]:
    """Python that would be shown and not run: fences of another spelling, sessions under another
    name or outside.
    """
    given = blocks(text)
    wrong = [f"line {b.line}: a block called {b.language!r} is to be called 'python'" for b in given
             if not b.is_python and (b.language.lower().startswith("py") or b.is_session)]
    inside = {n for b in given for n in range(b.line, b.line + b.text.count("\n"))}
    return wrong + [f"line {n}: a session outside of a block" for n,
                    line in enumerate(text.splitlines(), 1)
                    if line.lstrip().startswith(">>> ") and n not in inside]


def run(path: Path) -> int:
    """Run the blocks of a file; the number of examples that failed."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    sys.path.insert(0, str(Path.cwd()))
    for block in blocks(path.read_text(encoding="utf-8")):
        if not block.is_python or block.reason:
            continue
        if name := FILE.match(block.text):
            Path(name[1]).write_text(block.text, encoding="utf-8")
        elif block.is_session:
            test = doctest.DocTestParser().get_doctest(block.text, namespace, path.name, str(path),
                                                       block.line - 1)
            test.globs = namespace  # the parser copied it
            runner.run(test, clear_globs=False)
        else:
            exec(compile("\n" * (block.line - 1) + block.text, str(path), "exec"), namespace)
    return runner.failures


def serve() -> int:
    """Read lines of a page, a folder and a file for output; run each page in a forked process.

    `mat` is imported once, before, so that a page costs a fork. Answer each line with the exit
    status; return that of the page in the process of a page, and 0 at the end.
    """
    importlib.import_module("mat")
    for line in sys.stdin:
        page, folder, output = json.loads(line)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads that BLAS started
            child = os.fork()
        if not child:
            return _alone(Path(page), folder, output)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return 0


def _alone(page: Path, folder: str, output: str) -> int:
    """Run the page with nothing of the server's; end the process if that takes long."""
    signal.alarm(300)
    os.chdir(folder)
    for number, path, flags in ((0, os.devnull, os.O_RDONLY),
                                (1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)):
        file = os.open(path, flags, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.dup2(1, 2)
    return bool(run(page))


class Pages:
    """Runs the blocks of pages, each in a process of its own with this environment."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen([sys.executable, "-W", "error", __file__], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment)

    def run(self, page: Path, folder: Path) -> tuple[int, str]:
        """Return the exit status, which is 0 if all is well, and all that was printed."""
        output = folder / "output of the page.txt"
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps([str(page), str(folder), str(output)]), file=self.process.stdin,
              flush=True)
        status = int(self.process.stdout.readline())
        return status, output.read_text(encoding="utf-8")

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


if __name__ == "__main__":
    sys.exit(serve())
