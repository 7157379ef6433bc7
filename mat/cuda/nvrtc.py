"""Programs: texts of CUDA C++ that NVRTC compiles when they are first needed, kept on disk for the
next time.

`COMPILER` does it; whoever replaces that, as the tests do, where there is no GPU, has the whole
rest as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

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
    """What makes cubins of texts."""

    def version(self) -> str:
        """What it is: cubins of another one are not used."""

    def compile(self, text: str, options: Sequence[str], arch: str) -> bytes:
        """The cubin for `arch`; `CompileError` with the messages if it refuses. `INCLUDES` is where
        includes are found.
        """


class Nvrtc:
    """NVIDIA's run-time compiler."""

    def version(self) -> str:
        status, major, minor = self._asked()
        if int(status):
            raise DeviceError(f"NVRTC does not say what it is: error {int(status)}")
        return f"NVRTC {major}.{minor}"

    def _asked(self) -> Any:
        try:
            return nvrtc.nvrtcVersion()
        except RuntimeError as error:
            raise DeviceError("NVRTC, which compiles kernels for the device, is not there: "
                              f"{INSTALL} ({error})") from None

    def compile(self, text: str, options: Sequence[str], arch: str) -> bytes:
        # one that needs no driver: the type's names, the repr of what is made, and PTX all do
        given = ProgramOptions(arch=arch, include_path=INCLUDES, std="c++17", no_cache=True,
                               name="program.cu",
                               define_macro=_macros(options), use_fast_math=FAST in options or None,
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
    """A text of CUDA C++, complete with its ``#include`` lines, and options.

    These are ``-DNAME=VALUE``, ``--use_fast_math`` and ``--fmad=false``: products and sums are
    rounded each by itself.
    """

    text: str
    options: tuple[str, ...] = ()

    def cubin(self, arch: str) -> bytes:
        """The compiled program, from disk if it was compiled before by this compiler from this text
        and these headers.

        `CompileError` with the compiler's messages if it refuses.
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
    """What was written to `target`; None if nothing was, or if it is damaged."""
    try:
        data = target.read_bytes()
    except OSError:
        return None
    found, digest = data[:-_DIGEST], data[-_DIGEST:]
    return found if hashlib.sha256(found).digest() == digest else None


@cache
def _headers() -> bytes:
    """A hash of what texts include."""
    digest = hashlib.sha256()
    for path in sorted(p for p in HEADERS.rglob("*") if p.suffix in (".cuh", ".h", ".def")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()
