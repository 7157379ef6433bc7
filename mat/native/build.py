"""Building ``mat._native``, a cffi extension of the C files in this folder, ``mat._core`` of
``core.c``, and distributions.

Run by setuptools, never imported by `mat`.
Every ``NAME.h`` but ``mat.h`` and ``dlpack.h`` holds plain declarations only, since both the C
compiler and cffi read it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import cffi
from setuptools import Distribution, Extension
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.egg_info import egg_info
from setuptools.command.sdist import sdist

HERE = Path(__file__).parent
FOLDERS = [HERE / name for name in ("shared", "cpu", "python")]  # where headers are included from
APART = ("mat.h", "call.h")  # headers that are not for cffi, or come first
# what else whoever has the sources has use for
BESIDE = ("tests", "docs", "examples", ".ci", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
          "CITATION.cff", ".gitignore")
RELATIVE_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")  # in Markdown
MADE = {"__pycache__", ".pyc", ".so", ".o", ".hypothesis", ".pytest_cache"}
# -fwrapv: integers wrap around, as NumPy's do; most Pythons build extensions so, but not all.
# Many ask for debugging information too, which would be three quarters of a wheel: -g0, unless
# MAT_CFLAGS asks again
FLAGS = ["-O3", "-g0", "-std=gnu11", "-fno-math-errno", "-fno-trapping-math", "-fwrapv",
         "-fvisibility=hidden", "-Wall",
         "-Wextra", "-Wno-unused-parameter", "-Wno-unknown-pragmas",
         "-Wno-missing-field-initializers"]
NOTICE = """
========================================================================================================================
mat: the compiled kernels could not be built ({reason}).
Everything works without them, on NumPy, slower. To have them, install a C compiler (Debian, Ubuntu: apt install gcc;
Fedora: dnf install gcc; macOS: xcode-select --install) and install mat again.
========================================================================================================================
"""


def headers() -> list[Path]:
    """The declarations that Python sees; first ``call.h``, on which the others stand."""
    found = sorted(p for p in (HERE / "cpu").glob("*.h") if p.name not in APART
                   and not p.stem.endswith("_inline"))
    return [HERE / "cpu" / "call.h", *found]


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
    sources = sorted(str(p.relative_to(Path.cwd())) for p in (HERE / "cpu").glob("*.c"))
    inputs = [str(p.relative_to(Path.cwd())) for p in HERE.rglob("*")
              if p.suffix in (".h", ".def", ".py")]
    return extension("_native", [str(target), *sources], inputs)


def extension(name: str, sources: list[str], depends: list[str]) -> Extension:
    """An extension for all Pythons from 3.11 on; sanitizers come in by the environment."""
    flags = [] if os.name == "nt" else [*FLAGS, *os.environ.get("MAT_CFLAGS", "").split()]
    return Extension(f"mat.{name}", sources, include_dirs=list(map(str, FOLDERS)), depends=depends,
                     extra_compile_args=flags,
                     # show_config tells them
                     define_macros=[("MAT_FLAGS", f'"{" ".join(flags)}"')],
                     extra_link_args=os.environ.get("MAT_LDFLAGS", "").split(), py_limited_api=True)


def core() -> Extension:
    """The extension that calls small kernels and makes DLPack's capsules: Python's own C interface,
    no cffi.
    """
    paths = [*(HERE / "python").iterdir(), HERE / "cpu" / "call.h"]
    parts = sorted(str(path.relative_to(Path.cwd())) for path in paths)
    return extension("_core", [p for p in parts if p.endswith(".c")],
                     [p for p in parts if p.endswith(".h")])


class BuildKernels(build_ext):
    """Builds the extension where a compiler is, and says so, once, where not."""

    def finalize_options(self) -> None:
        # pyproject.toml can only say that there is one
        self.distribution.ext_modules = [native(), core()]
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extension(self, ext: Extension) -> None:
        """Compile, unless the tree has what another Python compiled of the same sources: it serves
        all of them.
        """
        made, target = Path("mat") / f"{ext.name.partition('.')[2]}.abi3.so", Path(self.get_ext_fullpath(ext.name))
        inputs = [path for path in (*ext.sources, *ext.depends) if not path.startswith("build")]
        fresh = made.exists() and all(Path(path).stat().st_mtime < made.stat().st_mtime
                                      for path in inputs)
        if fresh and made.resolve() != target.resolve() and not os.environ.get("MAT_CFLAGS"):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(made, target)
        else:
            super().build_extension(ext)

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            if os.environ.get("MAT_NATIVE") == "required":
                raise
            self.warn(NOTICE.format(reason=str(error).splitlines()[0] if str(error)
                                    else type(error).__name__))
            for path in () if self.inplace else map(Path, self.get_outputs()):
                # one of the two, or an earlier one: with a part of them mat would
                # not do
                path.unlink(missing_ok=True)
            self.extensions = []


class Wheel(bdist_wheel):
    """A wheel whose name tells what is in it: without compiled kernels it is one for every
    machine.
    """

    def get_tag(self) -> tuple[str, str, str]:
        self.root_is_pure = not any(path.suffix in (".so", ".pyd")
                                    for path in Path(self.bdist_dir).rglob("*"))
        return super().get_tag()


class Metadata(egg_info):
    """The metadata, in which the README's links are absolute: a package index shows it alone."""

    def finalize_options(self) -> None:
        super().finalize_options()
        metadata = self.distribution.metadata
        if metadata.long_description:
            metadata.long_description = with_absolute_links(metadata.long_description,
                                                            metadata.project_urls["Source"])


def with_absolute_links(readme: str, url: str) -> str:
    """Return `readme` with links to files of the repository at `url` instead of relative ones."""
    def absolute(link: re.Match[str]) -> str:
        picture, text, path = link.groups()
        return f"{picture}[{text}]({url}/{'raw' if picture else 'blob'}/HEAD/{path})"

    return RELATIVE_LINK.sub(absolute, readme)


class Sources(sdist):
    """The sources with all that is beside them in the repository, and nothing that was made from
    them.
    """

    def make_distribution(self) -> None:
        self.filelist.extend(sorted(str(path) for name in BESIDE for path in files_of(Path(name))))
        super().make_distribution()


def files_of(path: Path) -> list[Path]:
    """The file, or those below the folder, but for what was made from others."""
    found = [path] if path.is_file() else path.rglob("*")
    return [p for p in found if p.is_file() and not MADE & {p.suffix, *p.parts}]


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
