"""Make an environment from a kit, without a network: ``python3 install.py [ENVIRONMENT]``.

It needs Python only, of the version that the kit is for. The environment sees the packages of that
Python, too, and prefers those of the kit. ENVIRONMENT/run then is ``python -m tests.tools.gpu``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NEEDED = ("numpy", "scipy", "cffi", "cuda.bindings.driver", "cuda.core", "pytest", "hypothesis",
          "mat")
SEES = """import site; site.PREFIXES.append({prefix!r})
{packages}
"""
# the folder where it is called may have a package of that name, too
RUN = """#!/bin/sh
# python -m tests.tools.gpu, with the packages and the kernels that the kit has
export PYTHONPATH={source!r} MAT_CACHE={kernels!r}
exec {python!r} -P -m tests.tools.gpu "$@"
"""


def folders() -> list[Path]:
    """Return the folder of the kit, or all of its parts, which lie side by side."""
    return sorted(HERE.parent.glob("part*")) if HERE.name.startswith("part") else [HERE]


def find(name: str) -> Path:
    """Return the path of a file of the kit, or of a piece of one."""
    found = next((f / name for f in folders() if (f / name).exists()), None)
    if found is None:
        raise SystemExit(f"{name} is missing: it should be in one of "
                         f"{', '.join(map(str, folders()))}")
    return found


def whole(entry: dict, joined: Path) -> Path:
    """Return the path of a file of the kit, whose pieces are joined if it has any; check it."""
    path = joined / entry["name"] if entry["pieces"] else find(entry["name"])
    if entry["pieces"]:
        with path.open("wb") as file:
            for piece in entry["pieces"]:
                file.write(find(piece).read_bytes())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != entry["sha256"]:
        raise SystemExit(f"{entry['name']} is damaged: its hash is {digest}, not "
                         f"{entry['sha256']}; copy it again")
    return path


def _paths(*options: str) -> list[str]:
    """Return where this Python finds modules, with folders that its .pth files add; with ``-S``
    only those of the standard library.
    """
    ask = "import sys; print(*sys.path, sep='\\n')"
    done = subprocess.run([sys.executable, "-I", *options, "-c", ask], check=True,
                          capture_output=True, text=True)
    return done.stdout.splitlines()


def make(target: Path) -> Path:
    """Make an empty environment that sees the packages of this Python; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--clear", str(target)],
                   check=True)
    python = target / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    packages = subprocess.run([python, "-c", ask], check=True, capture_output=True,
                              text=True).stdout.strip()
    standard = _paths("-S")
    seen = [p for p in _paths() if p not in standard and Path(p).is_dir()]
    text = SEES.format(prefix=sys.prefix, packages="\n".join(seen))
    # the name comes after those of the kit's own files
    Path(packages, "zz-of-the-machine.pth").write_text(text)
    return python


def install(manifest: dict, target: Path) -> None:
    """Install everything; the environment is complete when ``run`` is there."""
    python = make(target)
    with tempfile.TemporaryDirectory(dir=target) as joined:
        paths = {entry["name"]: whole(entry, Path(joined)) for entry in manifest["files"]}
        wheels = [str(path) for name, path in paths.items() if name.endswith(".whl")]
        pip = next(path for path in wheels if Path(path).name.startswith("pip-"))
        subprocess.run([str(python), f"{pip}/pip", "install", "--quiet", "--no-index", "--no-deps",
                        "--no-compile", "--ignore-installed", "--disable-pip-version-check",
                        *wheels], check=True)
        for name in ("source", "kernels"):
            folder = target / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            with tarfile.open(paths[f"{name}.tar.xz"]) as archive:
                archive.extractall(folder)
    run = target / "run"
    run.write_text(RUN.format(source=str(target / "source"), kernels=str(target / "kernels"),
                              python=str(python)))
    run.chmod(0o755)


TRY = """import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}")
"""


def missing(target: Path) -> list[str]:
    """Return which modules the environment cannot import, and why."""
    done = subprocess.run([target / "bin" / "python", "-c", TRY, *NEEDED], cwd=target,
                          capture_output=True, text=True, check=False)
    return done.stdout.splitlines() + ([done.stderr.strip()] if done.returncode else [])


def main() -> int:
    target = Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "gpu-environment").resolve()
    manifest = json.loads(find("manifest.json").read_text(encoding="utf-8"))
    ours = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if manifest["python"] != ours:
        print(f"the kit is for Python {manifest['python']}, and this is {ours}; compiled modules "
              "will be missing", file=sys.stderr)
    os.environ.pop("PYTHONPATH", None)
    install(manifest, target)
    failed = missing(target)
    print("\n".join(["cannot be imported:", *failed] if failed else [
        f"complete; {target}/run --report FILE.md --minutes 10"]))
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
