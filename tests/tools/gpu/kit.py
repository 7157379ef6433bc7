"""A folder with all that a GPU machine without a network needs: wheels, the tests, the kernels
compiled beforehand by the same NVRTC, and the script that makes an environment of them.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from .jobs import ROOT

CUDA = ("cuda-core>=1.2,<1.3", "cuda-bindings>=13,<14", "nvidia-cuda-nvrtc>=13,<14",
        "nvidia-cublas>=13", "nvidia-cusolver>=12", "nvidia-cufft>=12")
SANITIZER = "nvidia-cuda-sanitizer-api"
TESTS = ("pytest>=8", "hypothesis>=6.100", "ml_dtypes>=0.4", "mpmath>=1.3", "setuptools>=77",
         "array-api-strict>=2.5", "pip")
PEERS = {"torch": "torch", "cupy": "cupy-cuda13x"}
README = """What a GPU machine without a network needs to test mat: `python3 {folder}install.py ENV`
makes an environment there, from this folder alone, and then
`ENV/run --report FILE.md --minutes 10` tests and measures.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a kit."""
    group = parser.add_argument_group("a kit for a machine without a network")
    group.add_argument("--kit", metavar="DIR", help="gather it in that new folder")
    group.add_argument("--python", default=sys.executable, metavar="PATH",
                       help="a Python with pip, of the version that the machine has")
    group.add_argument("--with", nargs="*", default=[], choices=sorted(PEERS), dest="peers",
                       help="also these, to compare with")
    group.add_argument("--have", metavar="FILE", help="what the machine has, as `pip freeze` there "
                       "prints it, or names only: the kit fits these versions and leaves them out")
    group.add_argument("--parts", type=float, metavar="MB",
                       help="split it into folders of at most so many MB (of 2**20 bytes)")
    group.add_argument("--arch", nargs="*", default=["sm_90"], help="compile the kernels for these")
    group.add_argument("--wheel", metavar="FILE", help="a wheel of mat; to make one takes minutes")


def main(given: argparse.Namespace) -> int:
    folder = Path(given.kit).resolve()
    folder.mkdir(parents=True)  # a new one: there is nothing of an earlier kit in it
    have = parse_have(Path(given.have).read_text(encoding="utf-8")) if given.have else {}
    packages, left_out = split(resolve(given.python, given.peers, have), have)
    check_compiler(packages, have)
    download(given.python, packages, folder)
    make_wheel(given.python, given.wheel, folder)
    pack_sources(folder)
    count = pack_kernels(folder, given.arch)
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    about = {"python": _output(given.python, "-c", ask).strip(), "arch": given.arch,
             "left out": left_out}
    shutil.copy(Path(__file__).with_name("install.py"), folder)
    finish(folder, about, given.parts)
    print(f"{count} programs compiled for {', '.join(given.arch)}")
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        print(f"{path.stat().st_size / 2**20:8.1f} MB  {path.relative_to(folder)}")
    for part in sorted(folder.glob("part*")) or [folder]:
        print(f"{size_of(part) / 2**20:8.1f} MB  in {part}")
    print(f"left out, since the machine has them: {', '.join(left_out) or 'nothing'}")
    return 0


def _output(python: str, *words: str, **environment: str) -> str:
    """Return what a Python prints; its messages go where ours go."""
    return subprocess.run([python, *words], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **environment}).stdout


# Packages


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_have(text: str) -> dict[str, str]:
    """Return the packages that a machine has, by name: their versions, or "" if not known."""
    found = {}
    for line in text.splitlines():
        word = re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:(?:==|(?<=\s))\s*([\w.+!-]+))?", line)
        if word:
            found[normal(word[1])] = word[2] or ""
    return found


def requirements(peers: Iterable[str]) -> list[str]:
    """Return what the kit has to meet, with the compute-sanitizer of NVRTC's CUDA version."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        ours = tomllib.load(file)["project"]["dependencies"]
    return [*ours, *CUDA, SANITIZER, *TESTS, *(PEERS[name] for name in peers)]


def constraints(have: dict[str, str]) -> list[str]:
    """Return the versions to take: those of the machine, and NVIDIA's as they are here, where they
    have been tried, unless the machine has others.
    """
    here = {normal(d.metadata["Name"]): d.version for d in importlib.metadata.distributions()}
    found = {name: version for name, version in here.items()
             if name.startswith(("nvidia-", "cuda-")) and "-cu1" not in name}
    found |= {name: version for name, version in have.items() if version}
    nvrtc = found.get("nvidia-cuda-nvrtc", "")
    if SANITIZER not in found and nvrtc:
        found[SANITIZER] = ".".join(nvrtc.split(".")[:2]) + ".*"
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def resolve(python: str, peers: Iterable[str], have: dict[str, str]) -> dict[str, str]:
    """Return the versions of all packages that are needed together, as pip finds them."""
    with tempfile.TemporaryDirectory() as folder:
        limits = Path(folder) / "constraints.txt"
        limits.write_text("\n".join(constraints(have)), encoding="utf-8")
        report = Path(folder) / "report.json"
        _output(python, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
                "--disable-pip-version-check", "--only-binary", ":all:", "--report", str(report),
                "-c", str(limits), *requirements(peers))
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {normal(one["metadata"]["name"]): one["metadata"]["version"] for one in found}


def split(packages: dict[str, str], have: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return what the kit has, and what it leaves out. pip itself is needed to install."""
    kept = {name: version for name, version in packages.items() if name not in have
            or name == "pip"}
    return kept, [f"{name} {have[name]}".strip() for name in packages if name not in kept]


def check_compiler(packages: dict[str, str], have: dict[str, str]) -> None:
    """Raise an error if the machine's NVRTC is not the one that compiles the kernels here."""
    from mat.cuda.runtime.nvrtc import Nvrtc  # here: it needs cuda-python

    there = have.get("nvidia-cuda-nvrtc") or packages.get("nvidia-cuda-nvrtc", "")
    ours = Nvrtc().version().partition(" ")[2]
    if there and there.split(".")[:2] != ours.split("."):
        raise SystemExit(f"the machine is to have NVRTC {there}, and here is {ours}: its kernels "
                         f"would be compiled again; install nvidia-cuda-nvrtc=={there} here")


def download(python: str, packages: dict[str, str], folder: Path) -> None:
    pinned = [f"{name}=={version}" for name, version in packages.items()]
    _output(python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
            "--only-binary", ":all:", "-d", str(folder), *pinned)


# What is ours


def make_wheel(python: str, given: str | None, folder: Path) -> None:
    """Add a wheel of mat, made by that Python if none is given."""
    if given is None:
        with tempfile.TemporaryDirectory() as tree:  # where nothing is compiled yet
            for name in tracked():
                (Path(tree) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, Path(tree) / name)
            _output(python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check",
                    "--no-deps", "-w", str(folder), tree, MAT_NATIVE="required")
        given = str(next(folder.glob("facetmat-*.whl")))
    else:
        shutil.copy(given, folder)
    fault = fault_of(Path(given))
    if fault:
        raise SystemExit(f"{given} {fault}")


def fault_of(wheel: Path) -> str:
    """Return why a wheel is of no use, or "": kernels are known by all headers."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        changed = [name for name in names
                   if name.startswith("mat/") and name.endswith((".py", ".cuh", ".h", ".def"))
                   and not _is_here(name, archive.read(name))]
    if changed:
        return f"is not of these sources: {', '.join(changed[:5])}"
    compiled = any(name.startswith("mat/_core.") and name.endswith(".so") for name in names)
    return "" if compiled else "has no compiled modules, without which calls take far longer"


def _is_here(name: str, data: bytes) -> bool:
    path = ROOT / name
    return path.is_file() and path.read_bytes() == data


def pack_sources(folder: Path) -> None:
    """Add the tests and what they read, but not the package, which the wheel has."""
    with tarfile.open(folder / "source.tar.xz", "w:xz", preset=1) as archive:
        for name in tracked():
            if not name.startswith("mat/"):
                archive.add(ROOT / name, name)


def tracked() -> list[str]:
    """Return the names of the files of this checkout that git tracks, or would."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in names.split("\0") if name and (ROOT / name).is_file())


def pack_kernels(folder: Path, arches: Iterable[str], most: int | None = None) -> int:
    """Add all programs, compiled for these architectures, as the cache has them; return how many
    there are. `most`: only so many of them.
    """
    from ..mock_driver.programs import listed  # here: it imports all of mat.cuda

    count = len(list(listed())[:most])
    with tempfile.TemporaryDirectory() as cache:
        before = os.environ.get("MAT_CACHE")
        os.environ["MAT_CACHE"] = cache
        try:
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(os.cpu_count(), mp_context=spawn) as pool:
                for arch in arches:
                    list(pool.map(partial(_compile, arch), range(count), chunksize=8))
        finally:
            os.environ.pop("MAT_CACHE")
            if before is not None:
                os.environ["MAT_CACHE"] = before
        with tarfile.open(folder / "kernels.tar.xz", "w:xz") as archive:
            for path in sorted(Path(cache).glob("*.cubin")):
                archive.add(path, path.name)
    return count


def _compile(arch: str, number: int) -> None:
    from ..mock_driver.programs import listed

    list(listed())[number].cubin(arch)


# The folder


def finish(folder: Path, about: dict[str, Any], megabytes: float | None) -> None:
    """Add the list of all files, and split the folder into parts of at most so many MB."""
    files = sorted(p for p in folder.iterdir() if p.name != "install.py")
    entries = [{"name": p.name, "sha256": hashlib.sha256(p.read_bytes()).hexdigest(), "pieces": []}
               for p in files]
    manifest = folder / "manifest.json"
    if megabytes is not None:
        most = int(megabytes * 2**20) - (1 << 16)  # the rest is for the list and the script
        if most <= 0:
            raise SystemExit(f"--parts {megabytes}: a part has at least 0.1 MB")
        for entry, path in zip(entries, files, strict=True):
            entry["pieces"] = cut(path, most)
    manifest.write_text(json.dumps({**about, "files": entries}, indent=1), encoding="utf-8")
    if megabytes is not None:
        distribute(folder, most)
    start = folder / "part01" if megabytes is not None else folder
    (start / "README.txt").write_text(README.format(folder=f"{start.name}/"), encoding="utf-8")


def cut(path: Path, most: int) -> list[str]:
    """Cut a file that is larger than `most` bytes into pieces; return their names."""
    size = path.stat().st_size
    if size <= most:
        return []
    names = []
    with path.open("rb") as file:
        while data := file.read(most):
            names.append(f"{path.name}.{len(names) + 1:02}")
            path.with_name(names[-1]).write_bytes(data)
    path.unlink()
    return names


def distribute(folder: Path, most: int) -> None:
    """Move the files into parts, the largest first, each into the first part that has room. The
    first part has the list and the script besides.
    """
    besides = ("install.py", "manifest.json")
    files = [p for p in folder.iterdir() if p.name not in besides]
    room: list[int] = []
    places: list[list[Path]] = []
    for path in sorted(files, key=lambda p: (-p.stat().st_size, p.name)):
        size = path.stat().st_size
        k = next((k for k, free in enumerate(room) if free >= size), len(room))
        if k == len(room):
            room.append(most)
            places.append([])
        room[k] -= size
        places[k].append(path)
    places[0] += [folder / name for name in besides]
    for k, paths in enumerate(places, 1):
        part = folder / f"part{k:02}"
        part.mkdir()
        for path in paths:
            path.rename(part / path.name)


def size_of(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
