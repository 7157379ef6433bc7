"""The system's C compiler: find it, compile a shared library from C source, and cache the library.

Libraries are cached in a directory of the user (`cache_dir`), under a hash of all that they depend
on.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import suppress
from pathlib import Path

from cffi import FFI

from ..errors import KernelError
from .cache_dir import cache, cached, directory
from .native import ffi as types
from .native import lib
from .types import CData

HEADERS = Path(__file__).parent.parent / "native"  # in folders: shared, cpu, cuda, python
FLAGS = ("-O3", "-std=gnu11", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math",
         "-fwrapv", "-ffp-contract=off",  # integers and bits as on devices
         "-fno-strict-aliasing",
         "-fdiagnostics-color=never", "-Wall", "-Wno-unused", "-Wno-unknown-pragmas",
         # products of bools are elements; clang knows other warnings
         "-Wno-int-in-bool-context", "-Wno-unknown-warning-option", "-Werror")
NO_COMPILER = ("mat.kernel needs a C compiler at run time, and found none (tried {}). Install "
               "one (Debian, Ubuntu: apt install gcc; Fedora: dnf install gcc; macOS: "
               "xcode-select --install), or name it in the variable CC")


class CompileError(Exception):
    """An error of the compiler; its messages are the argument."""


def compiler() -> tuple[str, ...]:
    """Return the command of the compiler: ``CC``, Python's, or any; `KernelError` without."""
    requested = shlex.split(os.environ.get("CC") or "")  # as in "ccache gcc"
    usual = (*shlex.split(sysconfig.get_config_var("CC") or "")[:1], "cc", "gcc", "clang")
    commands = [requested] if requested else [[name] for name in dict.fromkeys(usual)]
    for name, *options in commands:
        found = shutil.which(name)
        if found and _version(found, *options):
            return found, *options
    raise KernelError(NO_COMPILER.format(", ".join(map(" ".join, commands))))


@functools.cache
def _version(*command: str) -> str:
    """Return the version that the compiler reports; "" if it does not run."""
    try:
        return subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60,
                              check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


@functools.cache
def _headers() -> bytes:
    """Return a hash of the headers that kernel source includes."""
    digest = hashlib.sha256()
    for path in sorted(HEADERS.glob("[cs]*/*.h")):
        digest.update(path.read_bytes())
    return digest.digest()


def library(source: str, function: str, *flags: str) -> int:
    """Compile and load C source, unless it is cached, and return the address of `function` in it;
    `flags` are more ones for the compiler.

    Raise `KernelError` if there is no compiler, `CompileError` with its messages if it fails.
    """
    command = (*compiler(), *FLAGS, *flags)
    parts = (source, " ".join(command), _version(*compiler()), os.name, sys.platform)
    key = hashlib.sha256(_headers() + "\0".join(parts).encode()).hexdigest()[:40]
    target = directory() / f"{key}.so"
    if cached(target) is not None:  # to load a damaged one could end the process
        try:
            return _load(target, function)
        except (OSError, AttributeError):  # of another system, in a shared directory
            pass
    _compile(command, source, target)
    return _load(target, function)


def kernels(source: str, count: int, *flags: str) -> list[int]:
    """Return the addresses of the `count` kernels that C source names by MAT_KERNELS."""
    table = types.cast("mat_apart *", library(source, "mat_kernels", *flags))
    table.walk = types.addressof(lib, "mat_walk_strided")
    return [int(types.cast("uintptr_t", table.kernels[k])) for k in range(count)]


_LOADED: list[CData] = []  # libraries are never unloaded, since plans contain their addresses


def _load(target: Path, function: str) -> int:
    ffi = FFI()
    ffi.cdef(f"void {function}(void);")
    found = ffi.dlopen(str(target))
    address = int(ffi.cast("uintptr_t", getattr(found, function)))
    _LOADED.append(found)
    return address


def _compile(command: tuple[str, ...], source: str, target: Path) -> None:
    """Compile in a folder beside `target`, and write the library there."""
    folder = Path(tempfile.mkdtemp(prefix="compile-", dir=target.parent))
    try:
        file, made = folder / "kernel.c", folder / "kernel.so"
        file.write_text(source, encoding="utf-8")
        _run([*command, f"-I{HEADERS / 'shared'}", f"-I{HEADERS / 'cpu'}", str(file), "-o",
              str(made), "-lm"], folder)
        cache(target, made.read_bytes())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_RUNNING: dict[subprocess.Popen[str], Path] = {}  # compilers, with their folders


def _run(command: list[str], folder: Path) -> None:
    """Run the compiler; raise `CompileError` with its messages if it fails."""
    # in a group of its own: an interrupt at the terminal is for us, and perhaps for no compiler
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "LC_ALL": "C"}, process_group=0) as process:
        _RUNNING[process] = folder
        try:
            messages = process.communicate()[1]
        except BaseException:
            _kill(process)
            raise
        finally:
            _RUNNING.pop(process, None)
    if process.returncode != 0:
        raise CompileError(messages)


def _stop_running() -> None:
    """End the compilers of threads that will not run any more, at interpreter exit."""
    for process, folder in tuple(_RUNNING.items()):
        _kill(process)
        shutil.rmtree(folder, ignore_errors=True)


def _kill(process: subprocess.Popen[str]) -> None:
    """End a compiler and the programs that it has started."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


atexit.register(_stop_running)
