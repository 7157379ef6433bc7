"""Every example runs as a script, in its own directory, and prints the expected results."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from ..support import needs

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(p.name for p in (ROOT / "examples").glob("*.py"))
NEEDS = {"digits.py": ("sklearn", "matplotlib"), "bigger.py": ("sklearn",),
         "precision.py": ("sklearn", "ml_dtypes"), "clients.py": ("sklearn", "pandas"),
         "cluster.py": ("dask.array", "distributed")}
PRINTS = {
    "bigger.py": ["45 MB of features; pool of the device 15 MB", "accuracy 94.2%, in memory 94.2%"],
    "digits.py": ["test accuracy", "transposes and packing copies: 0", "digits.png"],
    "precision.py": ["597 digits to read, on cpu", "\nfloat8_e4m3fn   9", "\nint8            9"],
    "linear_layer.py": ["dgemm(trans=TN", "dgemm(trans=NN", "dgemm(trans=NT", "packed operands: 0"],
    "adam.py": ["the same weights: True"],
    "small_cnn_layers.py": ["loss 0.2429 by windows, 0.2429 by layers",
                            "differ by less than 1e-15: True", "accuracy 100.0%"],
    "swap_tiles.py": ["packing copies: 0"],
    "clients.py": ["<Mat 178x13> became <Mat 0+178x2", "class_2  -2.75    1.24",
                   "z is exported: cannot access", "clients.py:"],
    "gpu_layer.py": ["the next 99 steps copied 0 to the device, 0 back",
                     "largest error of a weight"],
    "edges.py": ["    ::        ######        ..####        ::",
                 "24 x 24 places, 446 of them flat"],
    "ping_pong.py": ["<Mat 64x10> moved back and forth 9 times",
                     "2 copies to the device, 1 back; before: 6 and 5"],
    "cluster.py": ["dashboard: http", "40000 x 64 in 8 chunks, each a Mat",
                   "4 axes have 87% of the variance",
                   "sizes of the clusters: 7956 7978 8004 8009 8053",
                   "rows in the right cluster: 100.0%"],
    "strips.py": ["fresh in parts; 1,600,000 bytes copied", "the sum was 2.3"],
    "file_memory.py": ["in the file only", "after the Mat becomes garbage: 0 files"],
}


def run(name, directory, *arguments):
    """Return what the example of that name, or a program, prints."""
    for package in NEEDS.get(name, ()):
        pytest.importorskip(package)
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run([sys.executable, str(ROOT / "examples" / name), *arguments],
                          cwd=directory, capture_output=True,
                          text=True, timeout=600, check=False,
                          env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


PROGRAMS = ["image_pipeline.py", "kalman.py", "kmeans.py", "logistic_regression.py",
            "small_cnn.py", "waves.py"]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sample(4)
def test_a_program_prints_with_mat_what_it_prints_with_numpy(name, tmp_path):
    text = (ROOT / "examples" / name).read_text(encoding="utf-8")
    assert text.count("import mat as np\n") == 1
    (tmp_path / name).write_text(text.replace("import mat as np", "import numpy as np"),
                                 encoding="utf-8")
    with_numpy = run(tmp_path / name, tmp_path)
    assert len(with_numpy.splitlines()) > 3
    assert run(name, tmp_path) == with_numpy


COMPILED = {"adam.py"}  # these are about user kernels, for which there has to be a compiler


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [pytest.param(n, marks=needs.native if n in COMPILED else ())
                                  for n in EXAMPLES
                                  if n not in ("digits.py", "precision.py", "clients.py",
                                               "cluster.py", *PROGRAMS)])
def test_example_runs(name, tmp_path):
    out = run(name, tmp_path)
    for text in PRINTS.get(name, ()):
        assert text in out


@pytest.mark.parametrize(("device", "there", "back"), [("cpu", 0, 0), ("emulated", 2, 3)])
@pytest.mark.sample(2)
def test_a_layer_is_trained_on_any_device(device, there, back, tmp_path):
    out = run("gpu_layer.py", tmp_path, device)
    assert f"computing on {device}" in out
    assert f"the first step copied {there} matrices to the device, 0 back" in out
    assert "the next 99 steps copied 0 to the device, 0 back" in out
    assert f"the end of the block copied {back} to the host; operations that fell back" in out
    assert "fell back to the host: 0" in out


def test_a_layer_is_trained_by_cuda(cuda, capsys, monkeypatch):
    """In this process, where there is a device."""
    monkeypatch.setattr(sys, "argv", ["gpu_layer.py", "cuda"])
    runpy.run_path(str(ROOT / "examples" / "gpu_layer.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert "operations that fell back to the host: 0" in out
    assert "computing on cuda" in out
    assert "the first step copied 2 matrices to the device, 0 back" in out
    assert "the next 99 steps copied 0 to the device, 0 back" in out


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_clients_compute_with_mats(device, tmp_path, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    out = run("clients.py", tmp_path, device)
    for text in (*PRINTS["clients.py"], f"on {device}: ",
                 f"memory of {'host' if device == 'cpu' else device}\n"):
        assert text in out


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_cluster_computes_with_mats(device, tmp_path):
    out = run("cluster.py", tmp_path, "local", device)
    for text in PRINTS["cluster.py"]:
        assert text in out


def test_the_table_names_only_examples_that_exist():
    assert set(PRINTS) <= set(EXAMPLES)


@pytest.mark.slow
def test_digits_learns_to_read(tmp_path):
    out = run("digits.py", tmp_path)
    for text in PRINTS["digits.py"]:
        assert text in out
    assert reported_accuracy(out) >= 97
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "digits.png").stat().st_size > 10_000


@pytest.mark.slow
def test_digits_are_read_with_few_bits(tmp_path):
    out = run("precision.py", tmp_path)
    for text in PRINTS["precision.py"]:
        assert text in out


@pytest.mark.once
@pytest.mark.slow
def test_digits_on_a_device(tmp_path):
    out = run("digits.py", tmp_path, "emulated")
    assert "hidden units; on emulated" in out
    assert "packing copies: 0" in out
    assert reported_accuracy(out) >= 97


def reported_accuracy(out):
    """The percentage that the example reports at its end."""
    return float(re.search(r"test accuracy\D*(\d+(?:\.\d+)?) ?%", out)[1])
