"""MAT_BLAS chooses the library of BLAS's routines."""

import os
import subprocess
import sys

import pytest

import mat
from mat.support import blas_library

pytestmark = [pytest.mark.host, pytest.mark.once]
SOURCE = "double dnrm2_(int *n, double *x, int *step) { return 42; }\n"


@pytest.fixture
def library(tmp_path):
    """Return a library that has one routine."""
    (tmp_path / "blas.c").write_text(SOURCE)
    found = tmp_path / "libblas_of_test.so"
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", found, tmp_path / "blas.c"]
    try:
        subprocess.run(command, check=True)
    except OSError as error:
        pytest.skip(f"there is no C compiler: {error}")
    return str(found)


def run(code, chosen):
    """Return what a new process prints, with MAT_BLAS in its environment."""
    environment = {**os.environ, "MAT_BLAS": chosen}
    done = subprocess.run([sys.executable, "-c", f"import mat; {code}"], env=environment, text=True,
                          capture_output=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.sample(2)
def test_routines_are_taken_from_the_library_that_has_them(library):
    # norms of adjacent elements are not left to it
    code = ("x = mat.array([3., 4.]); print(mat.nrm2(x[::-1]), mat.blas.dot(x, x)); "
            "print(mat.show_config()['BLAS'])")
    assert run(code, library).splitlines() == ["42.0 25.0", f"{library}, chosen by MAT_BLAS"]
    assert run(code, "scipy").startswith("5.0 25.0")


def test_a_library_that_is_missing_is_an_error():
    found = run("mat.blas.dot(mat.ones(2), mat.ones(2))", "/nowhere/libblas.so")
    assert "SettingError: MAT_BLAS='/nowhere/libblas.so' names no library" in found


def test_packages_of_the_environment_come_first(tmp_path, monkeypatch):
    (tmp_path / "lib").mkdir()
    file = tmp_path / "lib" / "libmkl_rt.so.2"
    file.write_text("")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert blas_library._paths("mkl")[:2] == [str(file), "libmkl_rt.so.3"]


def test_mkl_is_the_default_of_intels_processors_only(monkeypatch):
    monkeypatch.delenv("MAT_BLAS", raising=False)
    tried = []
    monkeypatch.setattr(blas_library, "_paths", lambda wanted: tried.append(wanted) or [])
    for intel in (False, True):
        monkeypatch.setattr(blas_library, "_is_intel", lambda intel=intel: intel)
        assert blas_library.chosen_library.__wrapped__() is None
    assert tried == ["mkl"]
    assert mat.blas.dot(mat.ones(2), mat.ones(2)) == 2
