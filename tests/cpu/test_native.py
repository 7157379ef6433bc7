"""The compiled kernels as a part that may be missing: built or not, wanted or not, after a fork,
and what is told of it.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import mat
from mat.support import c_compiler, native
from mat.support.c_compiler import HEADERS as HEADER_FOLDER

from ..support import needs
from ..support.packing import COMPUTE, ROOT, python

pytestmark = pytest.mark.host


# Without the kernels, on purpose


@pytest.mark.slow
def test_kernels_can_be_done_without_silently():
    assert python(COMPUTE, ROOT, MAT_NATIVE="0") == ["132.0 144.0",
                                                     "none, NumPy does their work: MAT_NATIVE is 0"]


def test_no_dtype_is_compiled_for_without_kernels():
    code = "from mat.support.native import compiled\nprint(repr(compiled('fd')))"
    assert python(code, ROOT, MAT_NATIVE="0") == ["''"]


# What is told


@needs.native
def test_the_extension_is_for_this_python_and_newer_ones():
    import mat._native

    assert ".abi3." in Path(mat._native.__file__).name


def test_the_configuration_is_told():
    config = mat.show_config()
    assert {"mat", "Python", "NumPy", "SciPy", "kernels", "BLAS", "BLAS threads", "threads",
            "devices"} <= set(config)
    assert config["NumPy"] == np.__version__
    assert all(isinstance(v, str) and v and "\n" not in v for v in config.values())
    assert [row.split()[0] for row in repr(config).splitlines()] == [name.split()[0]
                                                                     for name in config]
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
    numbers = np.array([mat.blas.dot(x, x), mat.nrm2(x)])
    return np.concatenate([*(p.reshape(-1) for p in parts), numbers])


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
@pytest.mark.sample(2)
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


# The sources


HEADERS = sorted((*HEADER_FOLDER.glob("shared/*_inline.h"),
                  HEADER_FOLDER / "cpu" / "vmath_inline.h"))


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_headers_include_what_they_use(header, tmp_path):
    """They are included in any order, by C here, by CUDA C++ in `tests/cuda/test_compile.py`."""
    try:
        compiler = c_compiler.compiler()
    except mat.KernelError as error:
        pytest.skip(str(error))
    source = tmp_path / "alone.c"
    source.write_text(f'#include "{header.name}"\n', encoding="utf-8")
    folders = [f"-I{HEADER_FOLDER / name}" for name in ("shared", "cpu")]
    done = subprocess.run([*compiler, "-std=gnu11", "-fsyntax-only", *folders, str(source)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
