"""Programs: CUDA C++ source that NVRTC compiles when it is first needed, and compiled code that is
kept on disk.

`COMPILER` compiles; the tests, where there is no GPU, replace only that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

from cuda.bindings import nvrtc
from cuda.core import Program as Source
from cuda.core import ProgramOptions

from ..errors import DeviceError
from ..support.c_compiler import HEADERS, CompileError
from ..support.cache_dir import directory, write_whole
from ..support.cuda_probe import INSTALL

FAST, EXACT = "--use_fast_math", "--fmad=false"
INCLUDES = [str(HEADERS / "shared"), str(HEADERS / "cuda")]
_DIGEST = hashlib.sha256().digest_size


class Compiler(Protocol):
    """A compiler of programs to cubins."""

    def version(self) -> str:
        """Return its name and version: cubins of another compiler are not used."""

    def compile(self, text: str, options: Sequence[str], arch: str) -> bytes:
        """Return the cubin for `arch`; raise `CompileError` with the messages if there are errors.

        Headers are in the folders `INCLUDES`.
        """


class Nvrtc:
    """NVIDIA's run-time compiler."""

    def version(self) -> str:
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
        # these options need no driver; others of cuda.core do
        given = ProgramOptions(arch=arch, include_path=INCLUDES, std="c++17", no_cache=True,
                               name="program.cu", define_macro=_macros(options),
                               use_fast_math=FAST in options or None,
                               fma=False if EXACT in options else None)
        try:
            return bytes(Source(text, "c++", given).compile("cubin").code)
        except Exception as error:
            if type(error).__name__ == "NVRTCError":
                raise CompileError(str(error)) from None
            raise


def _macros(options: Sequence[str]) -> list[str] | None:
    found = [option.removeprefix("-D") for option in options if option.startswith("-D")]
    unknown = [option for option in options if not option.startswith("-D")
               and option not in (FAST, EXACT)]
    if unknown:
        raise ValueError(f"options are -DNAME, -DNAME=VALUE, {FAST} and {EXACT}, got {unknown}")
    return found or None


COMPILER: Compiler = Nvrtc()


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
        compiler = COMPILER
        parts = self.text, *self.options, arch, compiler.version()
        key = hashlib.sha256(_headers() + "\0".join(parts).encode()).hexdigest()[:40]
        target = directory() / f"{key}.cubin"
        found = _kept(target)
        if found is None:
            found = compiler.compile(self.text, self.options, arch)
            write_whole(target, found + hashlib.sha256(found).digest())
        return found


def _kept(target: Path) -> bytes | None:
    """Return the data of `target`; None if there is no such file, or it is damaged."""
    try:
        data = target.read_bytes()
    except OSError:
        return None
    found, digest = data[:-_DIGEST], data[-_DIGEST:]
    return found if hashlib.sha256(found).digest() == digest else None


@cache
def _headers() -> bytes:
    """Return a hash of all headers."""
    digest = hashlib.sha256()
    for path in sorted(p for p in HEADERS.rglob("*") if p.suffix in (".cuh", ".h", ".def")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()
