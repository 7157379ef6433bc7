"""``python -m tests.clients``: runs every row with the installed clients, and writes the table of
docs/interop.md.

``python -m tests.clients NAME`` prints the section of one client; this runs in a process of its own
for each. Clients that are not installed keep their sections.
"""

import datetime
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .rows import BEGIN, END, PAGE, ROOT, measure, shown, surroundings

MISSING = 3  # exit status: the client is not installed
HERE = Path(__file__).parent


def section(name: str) -> str:
    """Return the section of one file's rows."""
    module = importlib.import_module(f"tests.clients.test_{name}")
    return shown(name, module.row, [measure(row) for row in module.row])


def measured(name: str) -> str:
    """Return the section, measured in another process; empty if the client is not installed."""
    special = {"SCIPY_ARRAY_API": "1"} if name.endswith("_array_api") else {}
    if name == "cubed":
        special = {"CUBED_BACKEND_ARRAY_API_MODULE": "mat"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-m", "tests.clients", name], cwd=ROOT,
                          capture_output=True,
                          text=True, env={**os.environ, **special}, check=False)
    if done.returncode not in (0, MISSING):
        sys.exit(f"{name}: {done.stderr}")
    return done.stdout


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    old, _, tail = rest.partition(END)
    parts = {part.partition(" -->")[0]: part for part in old.split("<!-- client: ")[1:]}
    for name in sorted(p.stem.removeprefix("test_") for p in HERE.glob("test_*.py")):
        found = measured(name)
        print(name, "" if found else "is not installed")
        if found:
            parts[name] = found.removeprefix("<!-- client: ")
    stamp = f"Measured on {datetime.date.today()} with {surroundings()}.\n\n"
    body = "".join(f"<!-- client: {parts[name]}" for name in sorted(parts))
    PAGE.write_text(f"{head}{BEGIN}\n{stamp}{body}{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        try:
            print(section(sys.argv[1]), end="")
        except pytest.skip.Exception:
            sys.exit(MISSING)
