"""The kit for a GPU machine without a network: what is in it, its parts, and the environment that
is made of it.
"""

import argparse
import ensurepip
import hashlib
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from ..support.needs_nvrtc import needs_nvrtc
from ..tools.gpu import kit

pytestmark = [pytest.mark.host, pytest.mark.once]
ROOT = Path(__file__).parents[2]
FREEZE = """
# what the machine prints
numpy==2.5.2
ml_dtypes 0.6.0
Torch==2.11.0+cu130
nvidia-cuda-nvrtc==13.0.88
cffi
"""


def test_what_a_machine_has():
    assert kit.parse_have(FREEZE) == {"numpy": "2.5.2", "ml-dtypes": "0.6.0",
                                      "torch": "2.11.0+cu130", "nvidia-cuda-nvrtc": "13.0.88",
                                      "cffi": ""}


def test_its_versions_are_taken():
    found = kit.constraints(kit.parse_have(FREEZE))
    assert {"numpy==2.5.2", "ml-dtypes==0.6.0", "nvidia-cuda-nvrtc==13.0.88",
            "nvidia-cuda-sanitizer-api==13.0.*"} <= set(found)
    assert not [c for c in found if c.startswith("cffi")]


def test_what_it_has_is_left_out():
    packages = {"numpy": "2.5.2", "cffi": "2.1", "pip": "25", "pycparser": "3"}
    assert kit.split(packages, {"numpy": "2.5.2", "cffi": "", "pip": "24"}) == (
        {"pip": "25", "pycparser": "3"}, ["numpy 2.5.2", "cffi"])


def test_what_is_needed():
    names = [kit.normal(one.split(">")[0]) for one in kit.requirements(["torch"])]
    assert {"numpy", "cffi", "cuda-core", "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-cublas",
            "nvidia-cusolver", "nvidia-cuda-sanitizer-api", "pytest", "torch"} <= set(names)


@pytest.mark.parametrize("sizes", [[10], [1 << 20, 3 << 20, 100], [200_000] * 7])
def test_parts_are_no_larger_than_asked(tmp_path, sizes):
    data = {f"file{k}": bytes([k + 1]) * n for k, n in enumerate(sizes)}
    for name, text in data.items():
        (tmp_path / name).write_bytes(text)
    (tmp_path / "install.py").write_text("")
    kit.finish(tmp_path, {"python": "3"}, 0.6)
    parts = sorted(tmp_path.iterdir())
    assert [p.name for p in parts] == [f"part{k:02}" for k in range(1, len(parts) + 1)]
    assert all(kit.size_of(p) <= 0.6 * 2**20 for p in parts)
    assert len(parts) <= -(-2 * sum(sizes) // (1 << 19)) + 1
    files = {p.name: p.read_bytes() for part in parts for p in part.iterdir()}
    for entry in json.loads(files["manifest.json"])["files"]:
        whole = b"".join(files[name] for name in entry["pieces"] or [entry["name"]])
        assert whole == data[entry["name"]]
        assert hashlib.sha256(whole).hexdigest() == entry["sha256"]


def test_a_wheel_of_other_sources_is_noticed(tmp_path):
    path = tmp_path / "facetmat.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(ROOT / "mat/errors.py", "mat/errors.py")
        archive.writestr("mat/_native.so", b"compiled")
        archive.writestr("mat/version.py", "__version__ = '0'\n")
        archive.writestr("mat/native/cuda/gone.cuh", "")
    assert kit.fault_of(path) == ("is not of these sources: mat/version.py, "
                                  "mat/native/cuda/gone.cuh")


def test_a_wheel_without_compiled_modules_is_refused(tmp_path):
    path = tmp_path / "facetmat.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(ROOT / "mat/errors.py", "mat/errors.py")
    with pytest.raises(SystemExit, match="has no compiled modules"):
        kit.make_wheel(sys.executable, str(path), tmp_path / "kit")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("mat/_core.cpython-311-x86_64-linux-gnu.so", b"compiled")
    kit.make_wheel(sys.executable, str(path), tmp_path / "kit")


@pytest.mark.slow
def test_the_tests_are_packed_and_the_package_is_not(tmp_path):
    kit.pack_sources(tmp_path)
    with tarfile.open(tmp_path / "source.tar.xz") as archive:
        names = set(archive.getnames())
    assert {"tests/tools/gpu/__main__.py", "tests/conftest.py", "pyproject.toml",
            "tests/tools/mock_driver/cubin.py", "examples/digits.py"} <= names
    assert not [name for name in names if name.startswith("mat/")]


@needs_nvrtc
@pytest.mark.slow
def test_kernels_are_not_compiled_again(tmp_path, monkeypatch):
    from mat.cuda.runtime import nvrtc

    from ..tools.mock_driver.programs import listed

    assert kit.pack_kernels(tmp_path, ["sm_80"], 2) == 2
    with tarfile.open(tmp_path / "kernels.tar.xz") as archive:
        archive.extractall(tmp_path / "kernels", filter="data")
    (tmp_path / "kernels").chmod(0o700)
    monkeypatch.setenv("MAT_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setattr(nvrtc.Nvrtc, "compile", lambda *_: pytest.fail("it is compiled again"))
    assert all(len(program.cubin("sm_80")) > 1000 for program in list(listed())[:2])


@needs_nvrtc
def test_another_nvrtc_there_is_an_error(monkeypatch):
    from mat.cuda.runtime import nvrtc

    monkeypatch.setattr(nvrtc, "COMPILER", None)  # which may be the mock driver's
    ours = nvrtc.Nvrtc().version().partition(" ")[2]
    kit.check_compiler({"nvidia-cuda-nvrtc": f"{ours}.7"}, {})
    with pytest.raises(SystemExit, match=r"NVRTC 12\.9\.86, and here is"):
        kit.check_compiler({"nvidia-cuda-nvrtc": f"{ours}.7"}, {"nvidia-cuda-nvrtc": "12.9.86"})


def wheel(folder, name, files):
    """Write a wheel of a package without anything compiled."""
    info = f"{name}-1.dist-info"
    texts = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
                              "Tag: py3-none-any\n"}
    texts[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*texts, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as archive:
        for path, text in texts.items():
            archive.writestr(path, text)


def archive(folder, name, files):
    with tarfile.open(folder / f"{name}.tar.xz", "w:xz") as out:
        for path, text in files.items():
            (folder / "entry").write_text(text)
            out.add(folder / "entry", path)
    (folder / "entry").unlink()


@pytest.mark.slow
def test_an_environment_is_made_of_the_parts(tmp_path):
    """Of the folders alone: with pip from its wheel, and with what this Python has."""
    pip = next((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"), None)
    if pip is None:
        pytest.skip("this Python brings no pip")
    folder, target = tmp_path / "kit", tmp_path / "environment"
    folder.mkdir()
    (folder / pip.name).write_bytes(pip.read_bytes())
    (folder / "install.py").write_bytes((ROOT / "tests/tools/gpu/install.py").read_bytes())
    wheel(folder, "facetmat", {"mat/__init__.py": "toy = 7\n"})
    archive(folder, "kernels", {"key.cubin": "compiled"})
    archive(folder, "source", {"tests/__init__.py": "", "tests/tools/gpu/__init__.py": "",
                               "tests/tools/gpu/__main__.py":
                               "import os, sys, mat, numpy\n"
                               "print(os.getcwd(), mat.toy, os.environ['MAT_CACHE'],\n"
                               "      *sys.argv[1:])\n"})
    kit.finish(folder, {"python": "{}.{}".format(*sys.version_info)}, 1.0)
    assert len(list(folder.iterdir())) > 1
    done = subprocess.run([sys.executable, folder / "part01/install.py", target],
                          capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    for name in ("mat", "tests"):  # as in a checkout, which is not used
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    ran = subprocess.run([target / "run", "--report", "a b"], capture_output=True, text=True,
                         cwd=tmp_path, check=True)
    assert ran.stdout.strip() == f"{tmp_path} 7 {target / 'kernels'} --report a b"
    assert (target / "kernels" / "key.cubin").read_text() == "compiled"
    assert not (target / "kernels").stat().st_mode & 0o077
    (folder / "part02" / next((folder / "part02").iterdir()).name).write_bytes(b"damaged")
    done = subprocess.run([sys.executable, folder / "part01/install.py", target],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is damaged" in done.stderr


def test_options():
    parser = argparse.ArgumentParser()
    kit.arguments(parser)
    given = parser.parse_args(["--kit", "there", "--parts", "60", "--with", "torch"])
    assert (given.parts, given.peers, given.arch) == (60.0, ["torch"], ["sm_90"])
