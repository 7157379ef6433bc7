"""The compiled kernels as a part that may be missing: built or not, wanted or not, after a fork, and what is told of it."""

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
import pytest

import mat
from mat.cpu import native

from . import needs

pytestmark = pytest.mark.host

ROOT = Path(__file__).parent.parent
COMPUTE = """
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import mat
    x = mat.arange(12).reshape(3, 4)
    print((x.exp().log() + x.T.contiguous().T).sum().item(), mat.axpy(2, x, mat.ones(3, 4)).sum().item())
    print(mat.show_config()["kernels"])
for w in said:
    print(w.category.__name__, w.message, w.filename)
"""


# an editable installation would lend its extensions to a package without any
ALONE = "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if 'ditable' not in repr(f)]\n"


def python(code, where, **environment):
    """What a new process prints that runs `code` with `where` as its path, and no other `mat` than the one there."""
    given = {k: v for k, v in os.environ.items() if not k.startswith("MAT_")}
    done = subprocess.run([sys.executable, "-c", ALONE + code], cwd=where, capture_output=True, text=True, timeout=120,
                          env={**given, "PYTHONPATH": str(where), **environment}, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


# Without a compiler


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory):
    """A wheel, and what pip said, made of a copy of this tree where the compiler fails."""
    if not {"pip", "setuptools", "cffi"} <= {d.name for d in distributions()}:
        pytest.skip("pip and setuptools are not installed")
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "tree"
    shutil.copytree(ROOT / "mat", tree / "mat", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    given = {k: v for k, v in os.environ.items() if not k.startswith("MAT_")}
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "-v", "--no-index", "--no-build-isolation", "--no-deps",
                           "-w", str(folder), str(tree)], env={**given, "CC": "/bin/false", "CXX": "/bin/false"},
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl")), done.stdout + done.stderr


def test_without_a_compiler_a_wheel_is_built_and_says_so_once(uncompiled):
    wheel, said = uncompiled
    assert said.count("could not be built") == 1
    assert "install a C compiler" in said
    names = zipfile.ZipFile(wheel).namelist()
    assert {"mat/py.typed", "mat/native/build.py", "mat/native/mat.h"} <= set(names)
    assert [n for n in names if n.endswith((".so", ".pyd", ".o"))] == []


def test_the_wheel_is_for_this_python_and_newer_ones(uncompiled):
    assert "-cp311-abi3-" in uncompiled[0].name


@needs.native
def test_the_extension_is_for_this_python_and_newer_ones():
    import mat._native

    assert ".abi3." in Path(mat._native.__file__).name


def test_a_wheel_without_kernels_warns_once_and_computes(uncompiled, tmp_path):
    zipfile.ZipFile(uncompiled[0]).extractall(tmp_path)
    numbers, kernels, *said = python(COMPUTE, tmp_path)
    assert numbers == "132.0 144.0"
    assert kernels.startswith("none, NumPy does their work: ")
    assert "MAT_NATIVE is 0" not in kernels
    assert len(said) == 1, said
    assert said[0].startswith("RuntimeWarning mat computes without its compiled kernels")
    assert "Install a C compiler" in said[0]


def test_a_wheel_without_kernels_is_refused_where_they_are_required(uncompiled, tmp_path):
    zipfile.ZipFile(uncompiled[0]).extractall(tmp_path)
    code = "try:\n    import mat\nexcept ImportError as error:\n    print('refused', error)"
    assert python(code, tmp_path, MAT_NATIVE="required")[0].startswith("refused")


# Without the kernels, on purpose


def test_kernels_can_be_done_without_silently():
    assert python(COMPUTE, ROOT, MAT_NATIVE="0") == ["132.0 144.0", "none, NumPy does their work: MAT_NATIVE is 0"]


def test_no_dtype_is_compiled_for_without_kernels():
    code = "from mat.cpu.native import compiled\nprint(repr(compiled('fd')))"
    assert python(code, ROOT, MAT_NATIVE="0") == ["''"]


# What is told


def test_the_configuration_is_told():
    config = mat.show_config()
    assert {"mat", "Python", "NumPy", "SciPy", "kernels", "BLAS", "BLAS threads", "threads", "devices"} <= set(config)
    assert config["NumPy"] == np.__version__
    assert all(isinstance(v, str) and v and "\n" not in v for v in config.values())
    assert [row.split()[0] for row in repr(config).splitlines()] == [name.split()[0] for name in config]
    with mat.settings(threads=3):
        assert mat.show_config()["threads"].startswith("3 ")


@needs.native
def test_compiler_and_flags_are_told():
    config = mat.show_config()
    assert native.missing == ""
    assert config["kernels"].startswith("compiled by ")
    assert "-std=gnu11" in config["compiler flags"]


# After a fork


def computed(x):
    """What large operations give, each shared by threads where it is compiled; as one array."""
    n = x.size
    y, m = x.copy().exp_(), x.reshape(1000, n // 1000)
    y.axpy_(2, x).multiply_(x)
    parts = [y.to_numpy(), m.T.contiguous().to_numpy(), (m[:, :200] @ m[:, :200].T).to_numpy(),
             *(a.to_numpy() for a in (m.sum(0), m.sum(1), m.max(1), mat.concat([x, x]), x.tanh()))]
    return np.concatenate([p.reshape(-1) for p in parts] + [np.array([mat.dot(x, x), mat.nrm2(x)])])


def leave(code):
    """End a forked child at once, so that nothing of the test runner runs in it."""
    os._exit(code)


def ended(child, seconds=60):
    """The exit code of a child; None if it had to be killed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("generations", [1, 2])
def test_a_forked_child_computes_what_its_parent_computed(generations, rng):
    x = mat.array(rng.standard_normal(2_000_000))
    with mat.settings(threads=3):
        wanted = computed(x)
        child = os.fork()
        if child == 0:
            try:
                grandchild = os.fork() if generations == 2 else 0
                same = np.array_equal(computed(x), wanted)
                leave(0 if same and (not grandchild or ended(grandchild) == 0) else 1)
            except BaseException:
                leave(2)
        assert ended(child) == 0
        assert np.array_equal(computed(x), wanted)  # and the parent still does
