"""The system's C compiler: finding it, having it make a shared library of a text, and keeping what
it made for the next time.

Libraries lie in a directory of the user's alone, named by a hash of all that they depend on.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from cffi import FFI

from ..errors import KernelError
from .cache_dir import directory

HEADERS = Path(__file__).parent.parent / "native"  # in folders: shared, cpu, cuda, python
FLAGS = ("-O3", "-std=gnu11", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math",
         "-fdiagnostics-color=never",
         "-Wall", "-Wno-unused", "-Wno-unknown-pragmas", "-Werror=uninitialized",
         "-Werror=maybe-uninitialized",
         "-Werror=implicit-function-declaration")
LACKING = ("mat.kernel needs a C compiler at run time, and found none (looked for {}). Install one "
           "(Debian, Ubuntu: "
           "apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install), or name it "
           "in the variable CC")


class CompileError(Exception):
    """The compiler refused: its messages, as it gave them."""


def compiler() -> str:
    """The path of the compiler: that of ``CC``, of Python itself, or any that is there.
    `KernelError` if there is none.
    """
    wanted: list[str | None] = [os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc",
                                "clang"]
    names = [name.split()[0] for name in wanted if name]
    if os.environ.get("CC"):
        names = names[:1]  # asked for by name, it is no other
    for name in names:
        found = shutil.which(name)
        if found and _works(found):
            return found
    raise KernelError(LACKING.format(", ".join(dict.fromkeys(names))))


@cache
def _version(path: str) -> str:
    """What the compiler says it is; nothing if it does not run."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60,
                              check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _works(path: str) -> bool:
    return bool(_version(path))


@cache
def _headers() -> bytes:
    """A hash of what texts include."""
    digest = hashlib.sha256()
    for path in sorted(HEADERS.glob("[cs]*/*.h")):
        digest.update(path.read_bytes())
    return digest.digest()


def library(text: str, function: str) -> int:
    """The address of `function` in the C `text`, compiled and loaded; taken from the directory, if
    it was compiled before.

    `KernelError` without a compiler, `CompileError` with its messages if it refuses.
    """
    path = compiler()
    parts = (text, path, _version(path), " ".join(FLAGS), os.name, sys.platform)
    key = hashlib.sha256(_headers() + "\0".join(parts).encode()).hexdigest()[:40]
    target = directory() / f"{key}.so"
    if target.exists():
        try:
            return _loaded(target, function)
        except (OSError, AttributeError):  # damaged: made anew
            target.unlink(missing_ok=True)
    _compile([path, *FLAGS], text, target)
    return _loaded(target, function)


_LOADED: list[Any] = []  # libraries stay, since their addresses are in plans


def _loaded(target: Path, function: str) -> int:
    ffi = FFI()
    ffi.cdef(f"void {function}(void);")
    found = ffi.dlopen(str(target))
    address = int(ffi.cast("uintptr_t", getattr(found, function)))
    _LOADED.append(found)
    return address


def _compile(command: list[str], text: str, target: Path) -> None:
    """Compile to a file beside `target` and rename it: others see the whole library or none."""
    with tempfile.TemporaryDirectory(prefix="compile-", dir=target.parent) as place:
        source, made = Path(place) / "kernel.c", Path(place) / "kernel.so"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([*command, f"-I{HEADERS / 'shared'}", f"-I{HEADERS / 'cpu'}",
                               str(source), "-o", str(made), "-lm"], capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C"}, check=False)
        if done.returncode != 0:
            raise CompileError(done.stderr)
        made.replace(target)
