"""The source distribution has all files, wheels have the package, and names and metadata are right.

The tests build them, the wheels without a compiler, which is fast; if MAT_DISTRIBUTIONS is set,
those in that folder are tested, too.
"""

import email
import io
import os
import re
import runpy
import stat
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from setuptools import Extension

import mat
from mat.support import compiled_modules as modules

from ..support.packing import (
    COMPUTE,
    ROOT,
    files_of_repository,
    files_of_sdist,
    make_sdist,
    make_wheel,
    need_sources_and_tools,
    python,
)
from ..types.method_stubs import FILE as METHODS
from ..types.stubs import MODULES

pytestmark = [pytest.mark.host, pytest.mark.once, pytest.mark.slow]

# with one source distribution, and a wheel for this Python, as .ci/wheels makes them
GIVEN = os.environ.get("MAT_DISTRIBUTIONS")
MADE = (".so", ".pyd", ".o", ".pyc", ".whl", modules.RECORD)
STUBS = {f"mat/{file}.pyi" for file in (*MODULES.values(), METHODS)}
THIS = f"cp{sys.version_info[0]}{sys.version_info[1]}"  # as wheels call it


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    need_sources_and_tools()
    return make_sdist(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def uncompiled(sources, tmp_path_factory):
    """Build a wheel with a compiler that fails; return it and the output of pip."""
    return make_wheel(sources, tmp_path_factory.mktemp("wheel"), "/bin/false")


def given(*patterns):
    if GIVEN is None:
        pytest.skip("MAT_DISTRIBUTIONS is not set")
    return next(path for pattern in patterns for path in Path(GIVEN).glob(pattern))


@pytest.fixture(params=["made here", "given"])
def any_sources(request):
    return request.getfixturevalue("sources") if request.param == "made here" else given("*.tar.gz")


@pytest.fixture(params=["made here", "given"])
def any_wheel(request):
    if request.param == "made here":
        return request.getfixturevalue("uncompiled")[0]
    return given(f"*-{THIS}-*.whl", "*-any.whl")


def text_of(wheel, ending):
    with zipfile.ZipFile(wheel) as packed:
        return next(packed.read(name).decode() for name in packed.namelist()
                    if name.endswith(ending))


# Contents


def test_a_source_distribution_is_the_repository(any_sources):
    beside = {"PKG-INFO", "setup.cfg"}  # added by setuptools
    found = {name for name in files_of_sdist(any_sources)
             if not name.startswith("facetmat.egg-info/")}
    assert files_of_repository() - found == set()
    assert found - beside - files_of_repository("--others") == STUBS


def test_a_source_distribution_has_no_generated_files(any_sources):
    found = files_of_sdist(any_sources)
    assert [name for name in found if name.endswith(MADE) or "__pycache__" in name
            or "_cache/" in name] == []
    assert {"LICENSE", "pyproject.toml", "mat/py.typed", "mat/native/cpu/mat.h",
            "tests/tools/mock_driver/fibres.hpp", "docs/README.md", "CHANGELOG.md", "CITATION.cff",
            "CONTRIBUTING.md", "SECURITY.md"} <= found


def test_a_wheel_has_the_package_and_the_files_read_at_run_time(any_wheel):
    wanted = {name for name in files_of_repository() if name.startswith("mat/")} | STUBS
    assert {"mat/py.typed", "mat/native/shared/elementwise.def", "mat/native/cuda/elementwise.cuh",
            "mat/native/shared/philox_inline.h"} <= wanted
    with zipfile.ZipFile(any_wheel) as packed:
        assert packed.testzip() is None
        found = {name for name in packed.namelist() if not name.endswith("/")}
    assert wanted <= found
    extra = {name for name in found - wanted
             if not name.startswith(f"facetmat-{mat.__version__}.dist-info/")}
    assert extra in (made_by_compilers(), set())
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in found)


def test_pytest_finds_its_plugin(any_wheel):
    plugin = "mat.debug.pytest_hooks"
    assert f"[pytest11]\n{plugin} = {plugin}" in text_of(any_wheel, "entry_points.txt")


def test_files_of_a_wheel_can_be_read_by_everybody(any_wheel):
    with zipfile.ZipFile(any_wheel) as packed:
        modes = {info.filename: info.external_attr >> 16 for info in packed.infolist()}
    assert [name for name,
            mode in modes.items() if mode & 0o444 != 0o444 or stat.S_ISLNK(mode)] == []


def test_the_metadata_of_a_wheel(any_wheel):
    told = metadata(any_wheel)
    assert (told["Name"], told["Version"],
            told["License-Expression"]) == ("facetmat", mat.__version__, "MIT")
    assert told["Requires-Python"] == ">=3.11"
    assert {"cuda", "test", "examples", "docs"} <= set(told.get_all("Provides-Extra"))
    plain = [line for line in told.get_all("Requires-Dist") if "extra ==" not in line]
    assert sorted(line.partition(">")[0] for line in plain) == ["cffi", "numpy", "scipy"]
    assert {f"Programming Language :: Python :: 3.{k}"
            for k in (11, 12, 13)} <= set(told.get_all("Classifier"))
    assert told.get_payload().lstrip().startswith("# mat")  # the README


def made_by_compilers():
    """An extension for each file of declarations, the kernels, and the record."""
    declared = [name for name in files_of_repository("--others", "--cached")
                if name.startswith("mat/") and name.endswith(".pxd")]
    return {*(name.removesuffix(".pxd") + modules.SUFFIX for name in declared),
            "mat/_native.abi3.so", f"mat/{modules.RECORD}"}


def metadata(wheel):
    return email.message_from_string(text_of(wheel, ".dist-info/METADATA"))


def test_links_of_the_description_are_absolute_and_lead_to_files(any_wheel):
    """A package index shows the README without the files beside it."""
    told = metadata(any_wheel)
    urls = dict(line.split(", ") for line in told.get_all("Project-URL"))
    links = re.findall(r"\]\(([^)\s]+)\)", told.get_payload())
    assert [link for link in links if not link.startswith("https://")] == []
    paths = [re.sub(r"^(blob|raw)/HEAD/|#.*", "", link.removeprefix(urls["Source"] + "/"))
             for link in links if link.startswith(urls["Source"])]
    assert {"docs/tutorial.md", "LICENSE", "docs/pictures/front.svg"} <= set(paths)
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_url_of_the_project_is_one():
    """It is in pyproject.toml; CITATION.cff and the first page, which stand alone, repeat it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = project["urls"]["Source"]
    assert [url for url in project["urls"].values() if not url.startswith(source)] == []
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nrepository-code: {source}\n" in cited
    assert f"\nversion: {mat.__version__}\n" in cited
    assert project["authors"]
    assert project["keywords"]
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
    assert [page for page in pages if source in page.read_text(encoding="utf-8")] == [
        ROOT / "docs" / "README.md"]


def test_the_name_of_a_wheel(any_wheel):
    with zipfile.ZipFile(any_wheel) as packed:
        compiled = [name for name in packed.namelist() if name.endswith((".so", ".pyd"))]
    told = email.message_from_string(text_of(any_wheel, ".dist-info/WHEEL"))
    pure = "true" if not compiled else "false"
    assert told["Root-Is-Purelib"] == pure
    start = f"facetmat-{mat.__version__}-"
    assert any_wheel.name.startswith(start + (f"{THIS}-{THIS}-" if compiled else "py3-none-any."))
    interface, _, platforms = any_wheel.stem.removeprefix(start).rpartition("-")
    # auditwheel writes several
    assert {f"{interface}-{name}" for name in platforms.split(".")} == {*told.get_all("Tag")}


# Without a compiler


def test_without_a_compiler_a_wheel_is_built_and_says_so_once(uncompiled):
    assert uncompiled[0].name.endswith("-py3-none-any.whl")
    assert uncompiled[1].count("could not be built") == 1
    assert "install a C compiler" in uncompiled[1]


def test_a_wheel_without_kernels_warns_once_and_computes(uncompiled, tmp_path):
    zipfile.ZipFile(uncompiled[0]).extractall(tmp_path)
    numbers, kernels, *said = python(COMPUTE, tmp_path)
    assert numbers == "132.0 144.0"
    assert kernels.startswith("none, NumPy does their work: ")
    assert "MAT_NATIVE is 0" not in kernels
    assert len(said) == 1, said
    assert said[0].startswith("RuntimeWarning mat computes without its compiled kernels")
    assert "Install a C compiler" in said[0]


def test_a_wheel_without_kernels_is_refused_where_they_are_required(uncompiled, tmp_path):
    zipfile.ZipFile(uncompiled[0]).extractall(tmp_path)
    code = "try:\n    import mat\nexcept ImportError as error:\n    print('refused', error)"
    assert python(code, tmp_path, MAT_NATIVE="required")[0].startswith("refused")


HALF = """#!/bin/sh
# a mock compiler that fails for one of the extensions
target=
for word in "$@"; do
    case "$word" in *WRONG*) exit 1;; esac
    if [ "$last" = -o ]; then target=$word; fi
    last=$word
done
if [ -n "$target" ]; then : >"$target"; fi
"""


@pytest.mark.parametrize("wrong", ["mat/_core.c", "core/cube.c", "_native.c"])
def test_if_one_extension_fails_a_wheel_has_none(wrong, sources, tmp_path):
    compiler = tmp_path / "cc"
    compiler.write_text(HALF.replace("WRONG", wrong))
    compiler.chmod(0o755)
    wheel, said = make_wheel(sources, tmp_path, str(compiler))
    assert wheel.name.endswith("-py3-none-any.whl")
    assert said.count("could not be built") == 1
    assert [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(MADE)] == []


def test_the_mock_compiler_makes_all_extensions(sources, tmp_path):
    """Check the test above: if nothing fails, all extensions are built."""
    compiler = tmp_path / "cc"
    compiler.write_text(HALF.replace("WRONG", "nothing-of-it"))
    compiler.chmod(0o755)
    wheel, said = make_wheel(sources, tmp_path, str(compiler))
    assert f"-{THIS}-{THIS}-" in wheel.name
    assert "could not be built" not in said
    assert {name for name in zipfile.ZipFile(wheel).namelist()
            if name.endswith(MADE)} == made_by_compilers()


def test_a_wheel_without_kernels_can_be_requested(sources, tmp_path):
    """Also where there is a compiler; it need not be one that works."""
    wheel, said = make_wheel(sources, tmp_path, "/bin/false", MAT_NATIVE="0")
    assert wheel.name == f"facetmat-{mat.__version__}-py3-none-any.whl"
    assert said.count("without compiled kernels, for every machine, since MAT_NATIVE is 0") == 1
    assert "could not be built" not in said
    assert [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(MADE)] == []


# The same bytes


def test_source_distributions_of_the_same_files_are_the_same(tmp_path, monkeypatch):
    """Whenever the files were written, by whom, and in which order the folder has them."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    build = runpy.run_path(str(ROOT / "mat" / "native" / "build.py"))
    made = [tmp_path / name for name in ("one.tar.gz", "two.tar.gz")]
    for path, when in zip(made, (1, 2), strict=True):
        with tarfile.open(path, "w:gz") as tar:
            for name in ("b.py", "a.py")[::3 - 2 * when]:
                info = tarfile.TarInfo(f"facetmat/{name}")
                info.size, info.mtime, info.uid, info.mode = len(name), when, when, 0o600 + when
                tar.addfile(info, io.BytesIO(name.encode()))
        build["make_reproducible"](path)
    assert made[0].read_bytes() == made[1].read_bytes()
    with tarfile.open(made[0]) as tar:
        assert [(info.name, info.mtime, info.mode, info.uid, tar.extractfile(info).read())
                for info in tar] == [("facetmat/a.py", 1700000000, 0o644, 0, b"a.py"),
                                     ("facetmat/b.py", 1700000000, 0o644, 0, b"b.py")]


# Other compilers and Pythons, simulated


@pytest.mark.parametrize("compiler", ["/bin/false", "/no/compiler"])
def test_flags_that_only_gcc_has_are_for_gcc(compiler):
    build = runpy.run_path(str(ROOT / "mat" / "native" / "build.py"))
    source = "mat/native/cpu/elementwise.c"
    assert not build["is_gcc"]([compiler])
    assert set(build["LEAN"]) <= set(build["for_source"](source, gcc=True))
    assert not set(build["LEAN"]) & set(build["for_source"](source))


def test_cython_writes_a_module_once_for_all_flags_of_compilers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = []
    for flags in ("-O0", "-O2"):
        monkeypatch.setenv("MAT_CFLAGS", flags)
        monkeypatch.setenv("MAT_CORE_CFLAGS", flags)
        build = runpy.run_path(str(ROOT / "mat" / "native" / "build.py"))

        def write(extension, flags=flags):
            Path("build", "cython", "mat", "core", "cube.c").write_text(flags)
            written.append(flags)

        Path("build", "cython", "mat", "core").mkdir(parents=True, exist_ok=True)
        monkeypatch.setitem(build["as_c"].__globals__, "write_c", write)
        cube = Extension("mat.core.cube", ["mat/core/cube.py"])
        assert build["as_c"](cube, build["record_of_build"]()) == ["build/cython/mat/core/cube.c"]
    assert written == ["-O0"]
    build["as_c"](cube, {cube.name: "of another text"})
    assert written == ["-O0", "-O2"]


def test_microsofts_compiler_is_not_asked(sources, tmp_path):
    """With setuptools' own class for it, which would fail here if it were asked to compile."""
    tree = unpacked(sources, tmp_path)
    with (tree / "setup.cfg").open("a", encoding="utf-8") as settings:
        settings.write("\n[build_ext]\ncompiler = msvc\n")
    wheel, said = make_wheel(tree, tmp_path, "/bin/false")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert said.count("could not be built") == 1
    assert "GNU C, which Microsoft's compiler does not compile; MinGW and clang do" in said


WITHOUT_GIL = """import importlib.machinery, sys
importlib.machinery.EXTENSION_SUFFIXES.insert(0, ".cpython-313t-x86_64-linux-gnu.so")
sys._is_gil_enabled = lambda: False
"""


def test_without_the_gil_nothing_is_compiled(sources, tmp_path):
    """The wheel for a free-threaded Python, simulated, works, and says so at its import."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_GIL)
    wheel, said = make_wheel(sources, tmp_path, "/bin/false", PYTHONPATH=str(tmp_path))
    assert wheel.name.endswith("-py3-none-any.whl")
    assert said.count("built without compiled kernels") == 1
    assert "there are none for a free-threaded Python" in said
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    numbers, kernels, *warned = python(WITHOUT_GIL + COMPUTE, tmp_path / "installed")
    assert numbers == "132.0 144.0"
    assert "there are none for a free-threaded Python" in kernels
    assert len(warned) == 2
    assert "A Python with the GIL has them" in warned[0]
    assert "use each Mat and its views in one thread at a time" in warned[1]


def unpacked(sources, folder):
    with tarfile.open(sources) as tar:
        tar.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.name.startswith("facetmat-"))
