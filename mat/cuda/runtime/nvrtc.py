"""Programs: CUDA C++ source that NVRTC compiles when it is first needed, and compiled code that is
kept on disk.

`COMPILER` compiles; the tests, where there is no GPU, replace only that.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from cuda.bindings import nvrtc

from ...errors import DeviceError
from ...support.c_compiler import HEADERS, CompileError
from ...support.cache_dir import cache, cached, directory
from ...support.cuda_probe import INSTALL

NvrtcObject: TypeAlias = Any  # of cuda.bindings, which has no types for its results
FAST, EXACT = "--use_fast_math", "--fmad=false"
INCLUDES = [str(HEADERS / "shared"), str(HEADERS / "cuda")]


class Nvrtc:
    """NVIDIA's run-time compiler of programs to cubins."""

    def version(self) -> str:
        """Return its name and version: cubins of another compiler are not used."""
        status, major, minor = self._version()
        if status:
            raise DeviceError(f"NVRTC does not tell its version: error {status}")
        return f"NVRTC {major}.{minor}"

    def _version(self) -> tuple[int, int, int]:
        try:
            status, major, minor = nvrtc.nvrtcVersion()
            return int(status), major, minor
        except RuntimeError as error:
            raise DeviceError("NVRTC, which compiles kernels for the device, is not installed: "
                              f"{INSTALL} ({error})") from None

    def compile(self, text: str, options: Sequence[str], arch: str) -> bytes:
        """Return the cubin for `arch`, with headers in `INCLUDES`; `CompileError` if it fails."""
        unknown = [o for o in options if not o.startswith("-D") and o not in (FAST, EXACT)]
        if unknown:
            raise ValueError(f"options are -DNAME, -DNAME=VALUE, {FAST} and {EXACT}, got {unknown}")
        words = [f"-arch={arch}", *options, *(f"--include-path={path}" for path in INCLUDES),
                 "--std=c++17", "--no-cache"]  # we have our own
        status, source = nvrtc.nvrtcCreateProgram(text.encode(), b"program.cu", 0, [], [])
        if status:
            raise DeviceError(f"NVRTC makes no program: {status.name}")
        try:
            (status,) = nvrtc.nvrtcCompileProgram(source, len(words), [w.encode() for w in words])
            if status:
                log = _read(source, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
                raise CompileError(f"{status.name}\n{log.rstrip(bytes(1)).decode()}")
            return _read(source, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        finally:
            nvrtc.nvrtcDestroyProgram(source)


def _read(source: NvrtcObject, size_of: NvrtcObject, read: NvrtcObject) -> bytes:
    """Return the output of `read` as bytes, their number given by `size_of`."""
    status, size = size_of(source)
    found = bytes(size)
    if status or read(source, found)[0]:
        raise DeviceError(f"NVRTC does not return what it has compiled: {status.name}")
    return found


COMPILER = Nvrtc()


class Program(NamedTuple):
    """CUDA C++ source, complete with its ``#include`` lines, and options.

    Options are ``-DNAME=VALUE``, ``--use_fast_math`` and ``--fmad=false``, with which products and
    sums are rounded separately.
    """

    text: str
    options: tuple[str, ...] = ()

    def cubin(self, arch: str) -> bytes:
        """Return the compiled program; raise `CompileError` with the messages if there are errors.

        It is read from disk if this compiler has compiled it before with the same headers.
        """
        target = self._target(arch)
        found = cached(target)
        if found is None:
            found = COMPILER.compile(self.text, self.options, arch)
            with suppress(OSError):  # the disk is full: it is compiled again next time
                cache(target, found)
        return found

    def is_compiled(self, arch: str) -> bool:
        """Return whether this compiler has compiled it before, so that it is on disk."""
        return cached(self._target(arch)) is not None

    def _target(self, arch: str) -> Path:
        """Return the file of the compiled program."""
        parts = self.text, *self.options, arch, COMPILER.version()
        key = hashlib.sha256(_headers() + "\0".join(parts).encode()).hexdigest()[:40]
        return directory() / f"{key}.cubin"


@functools.cache
def _headers() -> bytes:
    """Return a hash of all headers."""
    digest = hashlib.sha256()
    for path in sorted(p for p in HEADERS.rglob("*") if p.suffix in (".cuh", ".h", ".def")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()
