"""`.ci/release` stops where a release is not as it says, before anything is built."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = {
    "mat/version.py": '__version__ = "1.2.3"\n',
    "CITATION.cff": "version: 1.2.3\n",
    "docs/packaging/conda/recipe.yaml": '  version: "1.2.3"\n',
    "CHANGELOG.md": "## 1.2.3, 2999-01-01\n",
    "docs/releases.md": "## 1.2.3, 2999-01-01\n",
    ".ci/wheels": "#!/bin/sh\necho built; exit 1\n",
}
PASSED = "Passed: MAT_WHOLE=1 .ci/run, on 31 December 2998"

pytestmark = [pytest.mark.host, pytest.mark.skipif(
    not (ROOT / ".ci").is_dir() or not shutil.which("git"), reason="it is about the repository")]


def git(folder, *arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder,
                   check=True, capture_output=True)


@pytest.fixture
def released(tmp_path):
    """A function that returns what `.ci/release` prints in a repository with these changes."""
    def run(changes, tag="v1.2.3", message=PASSED, left=None):
        for name, text in (FILES | changes).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)
        shutil.copy(ROOT / ".ci" / "release", tmp_path / ".ci")
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "Release")
        git(tmp_path, "tag", *(["-am", message] if message else []), tag)
        if left is not None:
            (tmp_path / left).touch()
        done = subprocess.run([tmp_path / ".ci" / "release", "python3"], capture_output=True,
                              text=True, timeout=60, check=False)
        assert done.returncode == 1
        return done.stdout
    return run


def test_a_release_with_one_version_and_date_is_built(released):
    said = released({})
    assert re.search(r"versions and dates, \d+ s\n1.2.3, 2999-01-01\n", said)
    assert re.search(r"built\n== release: distributions: FAILED, after \d+ s\n\Z", said)


@pytest.mark.parametrize(("changes", "message"), [
    ({"CITATION.cff": "version: 1.2.2\n"}, "CITATION.cff has another version than 1.2.3"),
    ({"docs/packaging/conda/recipe.yaml": ""}, "the conda recipe has another version"),
    ({"mat/version.py": '__version__ = "1.2.4"\n'}, "mat/version.py has 1.2.4"),
    ({"CHANGELOG.md": "## 1.2.3, unreleased\n"}, "CHANGELOG.md has no date of 1.2.3"),
    ({"CHANGELOG.md": "## 1.2.3, 2001-01-01\n"}, "2001-01-01, in CHANGELOG.md, is before"),
    ({"docs/releases.md": "## 1.2.3, 2999-01-02\n"}, "docs/releases.md does not have 1.2.3, 2999")])
def test_versions_and_dates_that_differ_are_named(released, changes, message):
    said = released(changes)
    assert message in said
    assert re.search(r"versions and dates: FAILED, after \d+ s\n\Z", said)


@pytest.mark.parametrize(("given", "message"), [
    ({"message": ""}, "v1.2.3 is not annotated"),
    ({"message": "good"}, "does not say that .ci/run has passed"),
    ({"tag": "1.2.3"}, "mat/version.py has 1.2.3"),
    ({"left": "old.so"}, "this is not a fresh clone")])
def test_a_tag_says_what_has_passed_and_the_clone_is_fresh(released, given, message):
    assert message in released({}, **given)
