"""The build of ``mat._native``, a cffi extension of the C files in ``cpu``; of the modules compiled
by Cython, Python files with a ``.pxd`` of the same name beside them and ``mat/_core.pyx``; of the
stubs for type checkers; and of distributions.

Setuptools runs it; `mat` never imports it. Both the C compiler and cffi read the headers in ``cpu``
whose names end neither in ``_inline.h`` nor in ``mat.h``, so that these have plain declarations
only.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import cffi
import numpy as np
from setuptools import Distribution, Extension
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info
from setuptools.command.sdist import sdist
from setuptools.errors import CompileError

HERE = Path(__file__).resolve().parent
# where headers are included from
FOLDERS = [*(HERE / name for name in ("shared", "cpu", "python")), Path(np.get_include())]
PACKAGE = HERE.parent
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
# kernels whose results are those of other devices, bit by bit: products and sums are rounded
# separately, but for fma()
SEPARATELY = "-ffp-contract=off"
EXACT = {"elementwise.c", "elementwise_complex.c", "pow.c", "random.c", "scan.c", "vmath.c",
         "wide.c"}
# sources for which -O3 of GCC takes longer without a gain: the last elements of a row, which fill
# no vector, one by one instead of in a loop, and versions of loops for strides and limits that do
# not occur
ROWS = {"elementwise.c", "elementwise_integers.c"}
LEAN = ("--param", "max-completely-peel-times=4", "-fno-split-loops", "-fno-split-paths",
        "-fno-version-loops-for-strides")
CYTHON_FLAGS = ["-O2", "-g0", "-fwrapv", "-fno-strict-aliasing", "-fvisibility=hidden", "-w",
                *os.environ.get("MAT_CORE_CFLAGS", "").split()]
DIRECTIVES = {"language_level": 3, "annotation_typing": False, "binding": True, "cdivision": True,
              "wraparound": True, "boundscheck": True, "embedsignature": False,
              "auto_pickle": False}
MODULES = runpy.run_path(str(PACKAGE / "support" / "compiled_modules.py"))  # what is in it, by name
CYTHON = Lock()  # Cython is for one thread, the compilers of C beside it are processes
# Modules of classes of which there are many objects, in no cycles: as NumPy's arrays, these are not
# tracked by the garbage collector. The memory of layouts is used again; they are asked only for
# axes that they have.
SMALL_OBJECTS = {"mat.core.coherence": {"no_gc": True}, "mat.core.cube": {"no_gc": True},
                 "mat.core.pending": {"freelist": 64},
                 "mat.ops.expressions.nodes": {"freelist": 64},
                 "mat.core.dropping": {"no_gc": True}, "mat.matrix.storage": {"no_gc": True},
                 "mat.layout.strided": {"no_gc": True, "freelist": 64, "boundscheck": False,
                                        "wraparound": False},
                 "mat.matrix.base": {"no_gc": True}, "mat.matrix.elements": {"no_gc": True},
                 "mat.matrix.operators": {"no_gc": True}, "mat.matrix.views": {"no_gc": True},
                 "mat.ops.indexing.selection": {"no_gc": True, "freelist": 8}}
NOTICE = """
====================================================================================================
mat: the compiled kernels could not be built ({reason}).
Everything works without them, on NumPy, slower. To have them, install a C compiler (Debian, Ubuntu:
apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install; Windows: MinGW or clang)
and install mat again.
====================================================================================================
"""
PURE = "mat: built without compiled kernels, for every machine, since {reason}"
MICROSOFT = ("they are written in GNU C, which Microsoft's compiler does not compile; MinGW and "
             "clang do, with `compiler = mingw32` under `[build_ext]` in setup.cfg")


def headers() -> list[Path]:
    """Return the headers for cffi, beginning with ``call.h``, needed by the others."""
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
    flags = [*FLAGS, *os.environ.get("MAT_KERNEL_CFLAGS", "").split()]
    return extension("_native", [str(target), *sources], inputs, flags, py_limited_api=True)


def extension(name: str, sources: list[str], depends: list[str], flags: Sequence[str],
              **options: bool) -> Extension:
    """Return an extension module.

    The environment can add flags, as for sanitizers.
    """
    flags = [*flags, *os.environ.get("MAT_CFLAGS", "").split()]
    return Extension(f"mat.{name}", sources, include_dirs=list(map(str, FOLDERS)), depends=depends,
                     extra_compile_args=flags,
                     define_macros=[("MAT_FLAGS", f'"{" ".join(flags)}"')],  # for show_config
                     extra_link_args=os.environ.get("MAT_LDFLAGS", "").split(), **options)


def names() -> list[str]:
    """Return the names of the modules that Cython compiles: those with declarations."""
    return sorted(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
                  for path in PACKAGE.rglob("*.pxd"))


def compiled() -> list[Extension]:
    """Return the extensions of the modules that Cython compiles, one for each."""
    return [extension(name.removeprefix("mat."), [os.path.relpath(MODULES["source_of"](name)), *(
                os.path.relpath(path) for path in sorted((HERE / "python").glob("*.c"))
                if name == MODULES["CORE"])], [], CYTHON_FLAGS) for name in names()]


def as_c(ext: Extension, record: dict[str, str]) -> list[str]:
    """Return the sources of a module in C, written by Cython once for every Python and all flags.

    Annotations are for readers and type checkers; the types of C are in the ``.pxd`` files.
    """
    digest = f"{record[ext.name]} {of_cython()}"
    written = Path("build", "cython", *ext.name.split(".")).with_suffix(".c")
    note = written.with_suffix(".digest")
    with CYTHON:
        if not (written.exists() and note.exists() and note.read_text() == digest):
            note.unlink(missing_ok=True)
            write_c(ext)
            note.write_text(digest)
    return [str(written), *ext.sources[1:]]


def write_c(ext: Extension) -> None:
    """Write a module in C by Cython, below ``build/cython``."""
    # without Cython, what is said is the notice
    from Cython.Build import cythonize
    from Cython.Compiler.Options import get_directive_defaults

    # so that they can be set for a module, not by decorators only, which uncompiled code would
    # need, too
    get_directive_defaults().update(no_gc=False, freelist=0)
    directives = DIRECTIVES | SMALL_OBJECTS.get(ext.name, {})
    cythonize([ext], build_dir=str(Path("build") / "cython"), quiet=True, force=True,
              compiler_directives=directives)


def of_cython() -> str:
    """Return a digest of what Cython's C depends on besides the sources of modules."""
    from Cython import __version__ as version

    # the declarations of NumPy's functions are its own
    return digest_of(version, np.__version__, DIRECTIVES, SMALL_OBJECTS)


def digest_of(*values: object) -> str:
    """Return a digest of values, by their `repr`."""
    return MODULES["source_hash"](repr(values).encode()).hex()


def record_of_build() -> dict[str, str]:
    """Return the record of modules that are compiled now: a digest of each, and how."""
    from Cython import __version__ as version

    stamp = MODULES["stamp"](names())  # before they are read
    how = digest_of(of_cython(), CYTHON_FLAGS, os.environ.get("MAT_CFLAGS"),
                    os.environ.get("MAT_LDFLAGS"))
    return {**MODULES["digests"](names()), "how": how, "by": f"Cython {version}", "stamp": stamp}


def for_source(source: str, gcc: bool = False) -> tuple[str, ...]:
    """Return the flags of one source of an extension, for GCC or for any compiler."""
    name = Path(source).name
    return (*((SEPARATELY,) if name in EXACT else ()), *(LEAN if gcc and name in ROWS else ()))


def is_gcc(compiler: Sequence[str]) -> bool:
    """Return whether a compiler has the flags that only GCC has."""
    asked = [*compiler, *LEAN, "-Werror", "-fsyntax-only", "-x", "c", os.devnull]
    try:
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0
    except OSError:  # there is none, as compiling will say
        return False


def beside_one_another(compile_all: Callable[..., list[str]], compilers: Executor, gcc: bool
                       ) -> Callable[..., list[str]]:
    """Return `compile_all`, of setuptools, so that it compiles the sources of an extension at once.

    `compilers` bounds how many there are, of all extensions.
    """
    def several(sources: list[str], *args: object, extra_postargs: Sequence[str] | None = None,
                **options: object) -> list[str]:
        objects = [compilers.submit(compile_all, [source], *args, **options,
                                    extra_postargs=[*(extra_postargs or ()),
                                                    *for_source(source, gcc)])
                   for source in sources]
        return [path for made in objects for path in made.result()]

    return several


def pure() -> str:
    """Return why nothing is to be compiled; an empty text if it is."""
    wanted = os.environ.get("MAT_NATIVE")
    if MODULES["FREE_THREADED"] and wanted == "required":
        raise CompileError(f"MAT_NATIVE is required, but {MODULES['NO_GIL']}")
    if wanted == "0":
        return "MAT_NATIVE is 0"
    return MODULES["NO_GIL"] if MODULES["FREE_THREADED"] else ""


class BuildKernels(build_ext):
    """The command that builds the extensions, or prints a notice if there is no compiler.

    It builds none if the environment says so, or for a Python without the GIL. What is in the tree
    and was built of the same sources is not built again.
    """

    def finalize_options(self) -> None:
        # pyproject.toml only says that there are extensions
        self.distribution.ext_modules = [native(), *compiled()]
        super().finalize_options()
        if pure():
            self.extensions = []
        self.compilers = self.parallel if isinstance(self.parallel, int) else os.cpu_count()
        self.parallel = len(self.extensions)  # they wait for compilers
        self.force = True  # times of files say less than the record, see `usable`

    def build_extensions(self) -> None:
        if self.compiler.compiler_type == "msvc":
            raise CompileError(MICROSOFT)
        # nothing is searched for where this Python was built
        self.compiler.linker_so = [word for word in getattr(self.compiler, "linker_so", ())
                                   if not word.startswith("-Wl,-rpath")]
        with ThreadPoolExecutor(self.compilers) as compilers:
            self.compiler.compile = beside_one_another(self.compiler.compile, compilers,
                                                       is_gcc(self.compiler.compiler))
            super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        """Compile, unless the tree has that extension."""
        made = self.usable(ext)
        if made is None:
            if ext.name in self.record:
                ext.sources = as_c(ext, self.record)
            super().build_extension(ext)
        elif made.resolve() != Path(self.get_ext_fullpath(ext.name)).resolve():
            target = Path(self.get_ext_fullpath(ext.name))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(made, target)

    def usable(self, ext: Extension) -> Path | None:
        """Return the extension in the tree if it was compiled of these sources, else None.

        The kernels are for every Python, so another one may have compiled them.
        """
        if ext.name in self.record:
            made = [Path(MODULES["path_of"](ext.name, MODULES["SUFFIX"]))]
            same = all(self.record[name] == self.found.get(name) for name in (ext.name, "how"))
            return made[0] if same and made[0].exists() else None
        inputs = [path for path in (*ext.sources, *ext.depends) if not path.startswith("build")]
        newest = max(Path(path).stat().st_mtime for path in inputs)
        name = Path(self.get_ext_filename(ext.name)).name
        made = [PACKAGE / name, *Path("build").glob(f"lib*/mat/{name}")]
        return None if os.environ.get("MAT_CFLAGS") else next(
            (path for path in made if path.exists() and path.stat().st_mtime > newest), None)

    def run(self) -> None:
        if not self.extensions:
            self.warn(PURE.format(reason=pure()))
            for path in [] if self.inplace else Path(self.build_lib).rglob("*"):
                if path.suffix in (".so", ".pyd"):
                    path.unlink()  # of an earlier build
            return
        try:
            self.record, self.found = record_of_build(), MODULES["recorded"]()
            self.record_path(inplace=False).unlink(missing_ok=True)
            super().run()
            self.write_record(self.inplace)
        except Exception as error:
            if os.environ.get("MAT_NATIVE") == "required":
                raise
            self.warn(NOTICE.format(reason=str(error).splitlines()[0] if str(error)
                                    else type(error).__name__))
            for path in () if self.inplace else map(Path, self.get_outputs()):
                path.unlink(missing_ok=True)  # mat needs all extensions, of the same sources
            self.extensions = []

    def copy_extensions_to_source(self) -> None:
        # so that an interrupted copy is not taken for a whole one
        self.record_path(inplace=True).unlink(missing_ok=True)
        super().copy_extensions_to_source()

    def record_path(self, inplace: bool) -> Path:
        return (PACKAGE if inplace else Path(self.build_lib, "mat")) / MODULES["RECORD"]

    def write_record(self, inplace: bool) -> None:
        path = self.record_path(inplace)
        # a copy elsewhere has other times, and a wheel that is built again the same record
        path.write_text("".join(f"{name} {text}\n" for name, text in self.record.items()
                                if inplace or name != "stamp"),
                        encoding="utf-8")

    def get_outputs(self) -> list[str]:
        made = super().get_outputs()
        return [*made, str(self.record_path(inplace=False))] if made else made


class Package(build_py):
    """The command that copies the package, or leaves it where it is, with the stubs."""

    def run(self) -> None:
        make_stubs()
        super().run()


def make_stubs() -> None:
    """Write the stubs, ``mat/*.pyi``, unless they are newer than all modules.

    A source distribution has them. The Pythons of a checkout share them, whatever NumPy they have.
    """
    written = [path.stat().st_mtime for path in PACKAGE.rglob("*.pyi")]
    newest = max(path.stat().st_mtime for path in PACKAGE.rglob("*.py"))
    if (PACKAGE.parent / "PKG-INFO").exists() or (written and min(written) >= newest):
        return
    uncompiled = {**os.environ, "MAT_NATIVE": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-m", "tests.types.stubs"], cwd=PACKAGE.parent, env=uncompiled,
                   check=True)


class Wheel(bdist_wheel):
    """The command that makes a wheel, for every machine if it has no compiled kernels."""

    def get_tag(self) -> tuple[str, str, str]:
        self.root_is_pure = not any(path.suffix in (".so", ".pyd")
                                    for path in Path(self.bdist_dir).rglob("*"))
        return super().get_tag()


class Metadata(egg_info):
    """The metadata, with absolute links in the README: a package index shows it alone."""

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
    """The command that makes a source distribution: all files but built ones, and the stubs."""

    def run(self) -> None:
        make_stubs()
        super().run()

    def make_distribution(self) -> None:
        self.filelist.extend(sorted(str(path) for name in BESIDE for path in files_of(Path(name))))
        super().make_distribution()
        for archive in self.archive_files:
            if archive.endswith(".tar.gz"):
                make_reproducible(Path(archive))


def make_reproducible(archive: Path) -> None:
    """Write a source distribution again: in order, without owners, all with SOURCE_DATE_EPOCH."""
    date = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    with tarfile.open(archive) as tar:
        files = [(info, tar.extractfile(info).read()) for info in tar if info.isfile()]
    with (archive.open("wb") as raw, gzip.GzipFile("", "wb", mtime=date, fileobj=raw) as packed,
          tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar):
        for info, content in sorted(files, key=lambda file: file[0].name):
            made = tarfile.TarInfo(info.name)
            made.size, made.mtime = info.size, date
            made.mode = 0o755 if info.mode & 0o100 else 0o644
            tar.addfile(made, io.BytesIO(content))


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
    if not (PACKAGE / "__init__.pyi").exists():
        make_stubs()


if __name__ == "__main__":
    main()
