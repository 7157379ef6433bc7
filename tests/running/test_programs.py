"""NumPy programs print with `mat` in the place of NumPy what they print with NumPy: ours beside
this file, and the project's examples.
"""

import pytest

import mat

from .running import PROGRAMS, ROOT, by_mat, printed, run

NAMES = sorted(p.name for p in PROGRAMS.glob("*.py") if p.name != "__init__.py")
EXAMPLES = ["image_pipeline.py", "kmeans.py", "logistic_regression.py", "small_cnn.py"]
OTHERS = sorted(p.name for p in (ROOT / "examples").glob("*.py")
                if p.name not in (*EXAMPLES, "digits.py", "precision.py", "clients.py",
                                  "cluster.py"))

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore")]  # programs may warn


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", NAMES)
def test_a_program_prints_what_it_prints_with_numpy(name, device):
    with mat.use_device(device):
        found, _ = by_mat(PROGRAMS / name)
    assert found == printed(PROGRAMS / name)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_on_a_cuda_device(name, cuda):
    with mat.use_device("cuda", required=True):
        found, profile = by_mat(PROGRAMS / name)
    assert found == printed(PROGRAMS / name)
    waits = any(cost.waits for cost in profile.lines.values())
    assert waits or name in ("errors.py", "libraries.py")


@pytest.mark.sample(4)
@pytest.mark.parametrize("device", ["cpu", "emulated", "cuda"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_as_a_numpy_program(name, device, tmp_path, request):
    text = (ROOT / "examples" / name).read_text(encoding="utf-8")
    program = tmp_path / name
    program.write_text(text.replace("import mat as np", "import numpy as np"), encoding="utf-8")
    if device == "cuda":
        request.getfixturevalue("cuda")
    with mat.use_device(device, required=True):
        found, _ = by_mat(program)
    assert found == printed(program)


@pytest.mark.once
@pytest.mark.sample(6)
@pytest.mark.parametrize("name", OTHERS)
def test_an_example_that_imports_mat_runs(name, tmp_path):
    done = run(ROOT / "examples" / name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{name}: " in done.stderr
