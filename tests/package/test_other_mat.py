"""What is said where the distribution `mat` of the package index has overwritten files of ours.

A folder of links to our files stands for an installation; the metadata of both are written there.
"""

import base64
import hashlib
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import mat
from mat.support import installation

ROOT = Path(mat.__file__).parent
MEND = "`pip uninstall mat` and then `pip install --force-reinstall --no-deps facetmat`"
RECORDED = ["__init__.py", "blas.py", "nn.py"]
# what `python -m mat info` does where no other package of that name is installed
INFO_ALONE = """import os, runpy, sys
from importlib.machinery import PathFinder
class Here:  # ours may be installed beside what it needs, or be editable
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [os.getcwd()]) if name == "mat" else None
sys.meta_path.insert(0, Here)
sys.argv[1:] = ["info"]
runpy.run_module("mat", run_name="__main__", alter_sys=True)
"""


@pytest.fixture
def site(tmp_path):
    """A folder in which our distribution is installed."""
    package = tmp_path / "mat"
    package.mkdir()
    for path in ROOT.iterdir():
        if path.name != "__pycache__":
            (package / path.name).symlink_to(path)
    distribution(tmp_path, "facetmat", mat.__version__, RECORDED)
    return tmp_path


def distribution(folder, name, version, files):
    """Write the metadata of a distribution with these files in ``mat/``."""
    metadata = folder / f"{name}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"mat/{file},sha256={digest(folder / 'mat' / file)}," for file in files]
    (metadata / "RECORD").write_text("\n".join(lines))


def digest(path):
    sha = hashlib.sha256(path.read_bytes()).digest()
    return base64.urlsafe_b64encode(sha).decode().rstrip("=")


def install_the_other(site):
    """Overwrite what the other project overwrites, as pip does."""
    for name in ("__init__.py", "runner.py"):
        replace(site, name, "")
    distribution(site, "mat", "1.0.2", ["__init__.py", "runner.py"])


def replace(site, name, text):
    path = site / "mat" / name
    path.unlink(missing_ok=True)
    path.write_text(text)


def python(site, *arguments):
    return subprocess.run([sys.executable, *arguments], cwd=site, capture_output=True, text=True,
                          timeout=120, check=False)


def test_info_says_that_the_other_project_has_overwritten_the_package(site):
    install_the_other(site)
    done = python(site, "-m", "mat", "info")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(
        f"{site / 'mat' / '__init__.py'} is of another distribution with a folder of that name: "
        f"mat 1.0.2 in {site / 'mat'};")
    assert MEND in done.stderr


def test_importing_what_is_still_ours_says_so(site):
    install_the_other(site)
    code = """import importlib
for name in ["nn", "linalg", "debug", "array_api"]:
    try:
        importlib.import_module(f"mat.{name}")
    except ImportError as error:
        print(error.name, error)
"""
    lines = python(site, "-c", code).stdout.splitlines()
    assert len(lines) == 4
    assert all(line.startswith(f"mat {site}") and MEND in line and "mat 1.0.2" in line
               for line in lines)


def test_uninstalling_the_other_project_takes_our_file_along(site):
    (site / "mat" / "__init__.py").unlink()
    done = python(site, "-c", INFO_ALONE)
    assert done.returncode == 1
    assert f"{site / 'mat' / '__init__.py'} is missing" in done.stderr
    assert MEND in done.stderr


def test_the_other_project_and_changed_files_are_found(site, monkeypatch):
    install_the_other(site)
    (site / "mat" / "__init__.py").unlink()  # ours was installed last
    (site / "mat" / "__init__.py").symlink_to(ROOT / "__init__.py")
    replace(site, "blas.py", (ROOT / "blas.py").read_text() + "# changed")
    monkeypatch.syspath_prepend(str(site))
    found = installation.findings()
    assert found["other mat"].startswith(f"mat 1.0.2 in {site / 'mat'}: another project")
    assert MEND in found["other mat"]
    assert found["changed files"].startswith("mat/blas.py: not as installed")


def test_info_shows_what_is_found(monkeypatch):
    monkeypatch.setattr("mat.debug.show_config.findings", lambda: {"other mat": "mat 1.0.2"})
    assert mat.show_config()["other mat"] == "mat 1.0.2"


def test_nothing_is_found_where_ours_alone_is_installed(site, monkeypatch):
    importlib.import_module("csv")  # `findings` imports it
    monkeypatch.setattr(sys, "path", [str(site)])  # what else is installed here is not looked at
    assert installation.findings() == {}


def test_a_missing_file_is_a_changed_one(site, monkeypatch):
    monkeypatch.syspath_prepend(str(site))
    assert installation.changed_files() == []
    (site / "mat" / "nn.py").unlink()
    assert installation.changed_files() == ["mat/nn.py"]


def test_many_files_are_counted():
    assert installation._and(list("abcde")) == "a, b, c and 2 more"


def test_a_good_package_is_checked_without_looking_at_files(monkeypatch):
    monkeypatch.setattr(installation, "replaced", None)
    assert installation.check_package() is None


def test_a_folder_that_hides_the_package_is_named(tmp_path, monkeypatch):
    (tmp_path / "mat").mkdir()
    package = ModuleType("mat")
    package.__path__ = [str(tmp_path / "mat"), installation.FOLDER]
    monkeypatch.setitem(sys.modules, "mat", package)
    with pytest.raises(ImportError, match="rename that folder") as error:
        installation.check_package()
    assert f"imports the folder {tmp_path / 'mat'}," in str(error.value)
