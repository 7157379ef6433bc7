"""Building ``mat._native``: a cffi extension of all C files in this folder. Run by setuptools, never imported by `mat`.

Every ``NAME.h`` but ``mat.h`` holds plain declarations only, since both the C compiler and cffi read it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import cffi
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).parent
FLAGS = ["-O3", "-std=gnu11", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-Wall", "-Wextra",
         "-Wno-unused-parameter", "-Wno-unknown-pragmas", "-Wno-missing-field-initializers"]
NOTICE = """
========================================================================================================================
mat: the compiled kernels could not be built ({reason}).
Everything works without them, on NumPy, slower. To have them, install a C compiler (Debian, Ubuntu: apt install gcc;
Fedora: dnf install gcc; macOS: xcode-select --install) and install mat again.
========================================================================================================================
"""


def headers() -> list[Path]:
    """The declarations that Python sees."""
    return sorted(p for p in HERE.glob("*.h") if p.name != "mat.h" and not p.stem.endswith("_inline"))


def native() -> Extension:
    """The extension of kernels, its C source written from the headers."""
    ffi = cffi.FFI()
    for header in headers():
        ffi.cdef(header.read_text(encoding="utf-8"))
    include = "".join(f'#include "{header.name}"\n' for header in headers())
    ffi.set_source("mat._native", '#include "mat.h"\n' + include, py_limited_api=True)
    target = Path("build") / "_native.c"
    target.parent.mkdir(exist_ok=True)
    ffi.emit_c_code(str(target))
    sources = sorted(str(p.relative_to(Path.cwd())) for p in HERE.glob("*.c"))
    inputs = [str(p.relative_to(Path.cwd())) for p in HERE.iterdir() if p.suffix in (".h", ".def", ".py")]
    flags = [] if os.name == "nt" else [*FLAGS, *os.environ.get("MAT_CFLAGS", "").split()]
    return Extension("mat._native", [str(target), *sources], include_dirs=[str(HERE)], depends=inputs,
                     define_macros=[("MAT_FLAGS", f'"{" ".join(flags)}"')],  # show_config tells them
                     extra_compile_args=flags, extra_link_args=os.environ.get("MAT_LDFLAGS", "").split(),
                     py_limited_api=True)


class BuildKernels(build_ext):
    """Builds the extension where a compiler is, and says so, once, where not."""

    def finalize_options(self) -> None:
        self.distribution.ext_modules = [native()]  # pyproject.toml can only say that there is one
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            if os.environ.get("MAT_NATIVE") == "required":
                raise
            self.warn(NOTICE.format(reason=str(error).splitlines()[0] if str(error) else type(error).__name__))
            self.extensions = []


def main() -> None:
    """Build in place, for those who work on the kernels: ``python mat/native/build.py``."""
    os.chdir(HERE.parent.parent)
    command = BuildKernels(Distribution({"name": "facetmat", "packages": ["mat"]}))
    command.inplace = True
    command.ensure_finalized()
    os.environ.setdefault("MAT_NATIVE", "required")
    command.run()
    sys.stdout.write("built " + ", ".join(command.get_outputs()) + "\n")


if __name__ == "__main__":
    main()
