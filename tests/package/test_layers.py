"""The layers of the package: imports point down and are at the top of the file.

`ROWS` is the order of the folders, from top to bottom. A module imports from rows below its own and
from its own folder, where no imports form a circle. Folders in a folder have rows of their own.
"""

import ast
import re
import sys
from pathlib import Path

import pytest

from ..support.parsing import nodes, parsed

REPOSITORY = Path(__file__).parents[2]
ROOT = REPOSITORY / "mat"
ROWS = """
    __main__
    __init__  array_api
    dask  fft  lib  linalg  random  running
    blas  interop  nn
    numpy
    extend
    debug  io
    ops  ops.nn  ops.indexing
    ops.primitives
    ops.linear  ops.expressions
    ops.engine
    ops.tiles
    cuda  matrix
    cuda.libraries
    cuda.kernels
    cuda.runtime
    devices
    facets
    cpu  memories
    core
    support
    layout
    errors  version  _core
"""
LEVEL = {name: -k for k, row in enumerate(ROWS.split("\n")) for name in row.split()}
MODULES = {".".join(p.relative_to(ROOT).with_suffix("").parts): p
           for p in sorted(ROOT.rglob("*.py"))
           if p.parent.name != "native"}  # what is there is for building, and is not imported
# files for Cython; `mat._core` has no others
DECLARATIONS = {".".join(p.relative_to(ROOT).with_suffix("").parts): p
                for p in sorted(ROOT.rglob("*.pxd")) + sorted(ROOT.rglob("*.pyx"))}
PACKAGES = sorted(name.removesuffix(".__init__") for name in MODULES if name.endswith(".__init__"))
PUBLIC = {"debug", "extend", "lib", "numpy"}  # packages that offer names; others are a docstring
# the only modules that import others, of mat or of libraries, by a computed name
COMPUTED = {"support.plugins", "support.native", "numpy.registry"}
AT_ROOT = {"__init__", "__main__", "errors", "extend", "facets", "version", "blas", "nn", "linalg",
           "fft", "random", "lib", "dask", "array_api", "_core"}


def folder(name):
    """Return the folder of a module that has a row, or the module itself if it is at the root."""
    inner = ".".join(name.split(".")[:2])
    return inner if inner in LEVEL else name.partition(".")[0]


def imported(name, node):
    """Return the modules of `mat` that an import statement of the module `name` names."""
    if isinstance(node, ast.Import):
        found = [a.name for a in node.names if a.name.partition(".")[0] == "mat"]
        return [_module(n.removeprefix("mat").removeprefix("."), "") for n in found]
    parts = name.split(".")[:-node.level] if node.level else []
    base = ".".join(parts + ([node.module] if node.module else []))
    if not node.level:
        if base.partition(".")[0] != "mat":
            return []
        base = base.removeprefix("mat").removeprefix(".")
    return [_module(f"{base}.{a.name}".strip("."), base) for a in node.names]


def _module(full, base):
    """Return the module `full` if there is one, else the module `base` that it is a name in."""
    for name in (full, base):
        found = next((n for n in (name, f"{name}.__init__".strip("."))
                      if n in MODULES or n in DECLARATIONS), None)
        if found:
            return found
    return base or "__init__"


def imports(name, tree):
    return [(node.lineno, target) for node in nodes(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for target in imported(name, node)]


def cimports(text):
    """Parse the ``cimport`` and ``import`` statements in a file for Cython, as if all were the
    latter.
    """
    found = re.findall(r"^\s*((?:from [\w.]+ )?c?import (?:\([^)]*\)|[^\n(#]+))", text, re.M)
    return ast.parse("\n".join(re.sub(r"\bcimport\b", "import", line).strip() for line in found))


def not_below(name, tree):
    """Find imports that point neither down nor to the module's own folder: ``line: target``."""
    own = folder(name)
    return [f"{line}: {target}" for line, target in imports(name, tree)
            if folder(target) != own and not LEVEL.get(folder(target), 0) < LEVEL[own]]


def circles(graph):
    """Find the circles in a graph, each as the list of nodes on the way around."""
    found, done = [], set()

    def visit(node, path):
        if node in path:
            found.append([*path[path.index(node):], node])
        elif node not in done:
            for other in sorted(graph.get(node, ())):
                visit(other, [*path, node])
            done.add(node)

    for node in sorted(graph):
        visit(node, [])
    return found


def hidden(tree):
    """Find the lines of imports that are below something else than the docstring and imports, or
    inside of something.
    """
    body = tree.body[1:] if ast.get_docstring(tree) else tree.body
    top = 0
    while top < len(body) and isinstance(body[top], ast.Import | ast.ImportFrom):
        top += 1
    open_ones = set(map(id, body[:top]))
    return [n.lineno for n in nodes(tree) if isinstance(n, ast.Import | ast.ImportFrom)
            and id(n) not in open_ones]


def computed(tree):
    """Find the lines of calls that import a module of a computed name, or a module of `mat`."""
    return [n.lineno for n in nodes(tree) if isinstance(n, ast.Call) and _may_import_mat(n)]


def _may_import_mat(call):
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name not in ("import_module", "__import__"):
        return False
    text = getattr(call.args[0], "value", None) if call.args else None
    return name == "__import__" or not isinstance(text, str) or text.startswith((".", "mat."))


def includes(folder):
    """Return the files that each file of C, C++ or CUDA includes."""
    paths = [p for p in folder.rglob("*")
             if p.suffix in (".c", ".h", ".cuh", ".def", ".cpp", ".hpp")]
    return {p.name: set(re.findall(r'^#include "([^"]+)"', p.read_text(encoding="utf-8"), re.M))
            for p in paths}


def tree_of(name):
    return parsed(MODULES[name].read_text(encoding="utf-8"))


def declared(name):
    return cimports(DECLARATIONS[name].read_text(encoding="utf-8"))


# The project


def test_every_folder_has_its_row():
    folders = {folder(name) for name in (*MODULES, *DECLARATIONS)}
    assert folders == set(LEVEL), "every folder and every module at the root is in ROWS"
    assert len(LEVEL) == len(ROWS.split()), "a folder is in two rows"
    assert len([row for row in ROWS.split("\n") if row.strip()]) <= 23


def test_only_public_modules_are_at_the_root():
    assert {name for name in (*MODULES, *DECLARATIONS) if "." not in name} <= AT_ROOT


def test_imports_point_down():
    assert {name: found for name in MODULES if (found := not_below(name, tree_of(name)))} == {}


def test_declarations_import_from_below():
    assert {name: found for name in DECLARATIONS
            if (found := not_below(name, declared(name)))} == {}


def test_no_imports_form_a_circle():
    trees = [*((name, tree_of(name)) for name in MODULES),
             *((name, declared(name)) for name in DECLARATIONS)]
    graph = {}
    for name, tree in trees:
        graph.setdefault(name, set()).update(target for _, target in imports(name, tree))
    assert circles(graph) == []


@pytest.mark.parametrize("folder", [ROOT / "native", REPOSITORY / "tests/tools/mock_driver"],
                         ids=lambda p: p.name)
def test_no_headers_form_a_circle(folder):
    assert circles(includes(folder)) == []


def test_imports_are_at_the_top():
    assert {name: found for name in MODULES if (found := hidden(tree_of(name)))} == {}


def test_modules_of_mat_are_not_imported_by_a_computed_name():
    assert {name for name in MODULES if computed(tree_of(name))} <= COMPUTED


@pytest.mark.parametrize("name",
                         [name for name in PACKAGES if name not in PUBLIC and name != "__init__"])
def test_packages_are_a_docstring_only(name):
    tree = tree_of(f"{name}.__init__")
    assert ast.get_docstring(tree)
    assert len(tree.body) == 1


OF_ARRAYS = {"core.runs"}  # sets of many runs are arrays of integers


@pytest.mark.parametrize("name", [name for name in MODULES if folder(name) in ("core", "layout")
                                  and name not in OF_ARRAYS])
def test_the_core_knows_nothing_of_numbers(name):
    found = nodes(tree_of(name))
    roots = {alias.name.partition(".")[0] for node in found if isinstance(node, ast.Import)
             for alias in node.names}
    roots |= {node.module.partition(".")[0] for node in found if isinstance(node, ast.ImportFrom)
              and not node.level}
    assert roots <= set(sys.stdlib_module_names)


# The tests of the tests


@pytest.mark.parametrize(("name", "source", "found"), [
    ("core.cube", "from ..matrix.mat import Mat", ["1: matrix.mat"]),
    ("core.cube", "from ..matrix import mat", ["1: matrix.mat"]),
    ("core.cube", "import mat.matrix.mat", ["1: matrix.mat"]),
    ("core.cube", "import mat", ["1: __init__"]),
    ("core.cube", "from mat.ops.engine.operation import op", ["1: ops.engine.operation"]),
    ("core.cube", "from mat import Mat", ["1: __init__"]),
    ("core.cube", "from .. import debug", ["1: debug.__init__"]),
    ("ops.indexing.indexing", "from ...interop.dlpack import x\nfrom .advanced import op",
     ["1: interop.dlpack"]),
    ("facets", "from .matrix.mat import Mat", ["1: matrix.mat"]),
    ("memories.pooled", "from . import file_pages", []),
    ("layout.strided", "from .unheard import of", []),
    ("support.dtypes", "from ..unheard import of", ["1: unheard"]),
    ("layout.strided", "from ..errors import ShapeError\nimport numpy, os.path", []),
    ("ops.engine.operation", "from ...core.cube import IO\nfrom .plan import Plan\n"
                             "from matplotlib import cm", []),
])
def test_imports_that_do_not_point_down_are_found(name, source, found):
    assert not_below(name, ast.parse(source)) == found


def test_imports_of_declarations_are_found():
    text = """cimport cython
from libc.stdint cimport int64_t  # of C
from mat.ops.engine.plan cimport (Plan,
                           Calls)
import mat.debug
cdef class A:
    cdef Plan plan"""
    assert not_below("core.cube", cimports(text)) == ["3: ops.engine.plan",
                                                   "3: ops.engine.plan",
                                                   "5: debug.__init__"]


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}}) == [["a", "b", "c", "a"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}}) == []


@pytest.mark.parametrize(("source", "lines"), [
    ('"""Doc."""\nfrom __future__ import annotations\nimport os\nx = 1', []),
    ("x = 1\nimport os", [2]),
    ("def f():\n    import os", [2]), ("if TYPE_CHECKING:\n    from .mat import Mat", [2]),
    ("try:\n    import os\nexcept ImportError:\n    pass", [2]),
])
def test_hidden_imports_are_found(source, lines):
    assert hidden(ast.parse(source)) == lines


@pytest.mark.parametrize(("source", "lines"), [
    ("import importlib\nimportlib.import_module('mat.ops')", [2]),
    ("import_module('.mat', 'mat')", [1]),
    ("__import__('os')", [1]), ("import_module(f'{__name__}.ops')", [1]),
    ("import_module(name)", [1]),
    ("import importlib\nimportlib.import_module('scipy.special')", []),
])
def test_computed_imports_are_found(source, lines):
    assert computed(ast.parse(source)) == lines
