"""The build of ``mat._native``, a cffi extension of the C files in ``cpu``, of ``mat._core``, of
those in ``python``, and of distributions.

Setuptools runs it; `mat` never imports it. Both the C compiler and cffi read the headers in ``cpu``
whose names end neither in ``_inline.h`` nor in ``mat.h``, so that these have plain declarations
only.
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
# parts of the repository besides the package that belong to a source distribution
BESIDE = ("tests", "docs", "examples", ".ci", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
          "CITATION.cff", ".gitignore")
RELATIVE_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")  # in Markdown
MADE = {"__pycache__", ".pyc", ".so", ".o", ".hypothesis", ".pytest_cache"}
# -fwrapv: integers wrap around, as NumPy's do; most Pythons build extensions so, but not all.
# Many also request debugging information, which would be three quarters of a wheel: -g0, unless
# MAT_CFLAGS requests it again
FLAGS = ["-O3", "-g0", "-std=gnu11", "-fno-math-errno", "-fno-trapping-math", "-fwrapv",
         "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter",
         "-Wno-unknown-pragmas", "-Wno-missing-field-initializers"]
NOTICE = """
====================================================================================================
mat: the compiled kernels could not be built ({reason}).
Everything works without them, on NumPy, slower. To have them, install a C compiler (Debian, Ubuntu:
apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install) and install mat again.
====================================================================================================
"""


def headers() -> list[Path]:
    """Return the headers for cffi, first ``call.h``, which the others need."""
    found = sorted(p for p in (HERE / "cpu").glob("*.h") if p.name not in APART
                   and not p.stem.endswith("_inline"))
    return [HERE / "cpu" / "call.h", *found]


def native() -> Extension:
    """Return the extension of kernels, after writing its C source from the headers."""
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
    """Return an extension for all Pythons from 3.11 on.

    The environment can add flags, as for sanitizers.
    """
    flags = [] if os.name == "nt" else [*FLAGS, *os.environ.get("MAT_CFLAGS", "").split()]
    return Extension(f"mat.{name}", sources, include_dirs=list(map(str, FOLDERS)), depends=depends,
                     extra_compile_args=flags,
                     define_macros=[("MAT_FLAGS", f'"{" ".join(flags)}"')],  # for show_config
                     extra_link_args=os.environ.get("MAT_LDFLAGS", "").split(), py_limited_api=True)


def core() -> Extension:
    """Return the extension in Python's own C interface: accesses, calls and DLPack's capsules."""
    paths = [*(HERE / "python").iterdir(), HERE / "cpu" / "call.h"]
    parts = sorted(str(path.relative_to(Path.cwd())) for path in paths)
    return extension("_core", [p for p in parts if p.endswith(".c")],
                     [p for p in parts if p.endswith(".h")])


class BuildKernels(build_ext):
    """The command that builds the extensions, or prints a notice if there is no compiler."""

    def finalize_options(self) -> None:
        # pyproject.toml only says that there are extensions
        self.distribution.ext_modules = [native(), core()]
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extension(self, ext: Extension) -> None:
        """Compile, unless the tree has an extension that another Python compiled of these sources.

        One serves all of them.
        """
        made = Path("mat") / f"{ext.name.partition('.')[2]}.abi3.so"
        target = Path(self.get_ext_fullpath(ext.name))
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
                path.unlink(missing_ok=True)  # mat needs both extensions, of the same sources
            self.extensions = []


class Wheel(bdist_wheel):
    """The command that makes a wheel, which is for every machine if it has no compiled kernels."""

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
    """The command that makes a source distribution: all files of the repository but built ones."""

    def make_distribution(self) -> None:
        self.filelist.extend(sorted(str(path) for name in BESIDE for path in files_of(Path(name))))
        super().make_distribution()


def files_of(path: Path) -> list[Path]:
    """Return the file, or the files below the folder, but for built ones."""
    found = [path] if path.is_file() else path.rglob("*")
    return [p for p in found if p.is_file() and not MADE & {p.suffix, *p.parts}]


def main() -> None:
    """Build in place, for work on the kernels: ``python mat/native/build.py``."""
    os.chdir(HERE.parent.parent)
    command = BuildKernels(Distribution({"name": "facetmat", "packages": ["mat"]}))
    command.inplace = True
    command.ensure_finalized()
    os.environ.setdefault("MAT_NATIVE", "required")
    command.run()
    built = (command.get_ext_fullpath(ext.name) for ext in command.extensions)
    sys.stdout.write(f"built {', '.join(os.path.relpath(path) for path in built)}\n")


if __name__ == "__main__":
    main()
