"""The scripts of the gate are bash, and name test files that exist."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(p for p in (ROOT / ".ci").glob("*") if p.is_file())


def named(text):
    """The test files in a script: whole paths, and ``folder/noun`` in its list of tests."""
    listed = re.search(r'^(?:some|tests)="([^"]+)"', text, re.MULTILINE)
    nouns = [name.partition("/") for name in (listed[1].split() if listed else ())]
    return re.findall(r"\btests/[\w/]+\.py\b", text) + [f"tests/{folder}/test_{noun}.py"
                                                        for folder, _, noun in nouns]


@pytest.mark.skipif(not SCRIPTS, reason="these are the tests alone, without the sources")
def test_the_gate_names_files_that_exist():
    found = {path.name: named(path.read_text(encoding="utf-8")) for path in SCRIPTS}
    assert len(found["sanitize"]) > 10
    assert {f for files in found.values() for f in files if not (ROOT / f).is_file()} == set()


@pytest.mark.skipif(not SCRIPTS or not shutil.which("bash"), reason="without the sources, or bash")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_bash(script):
    done = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
