"""The shape of the project: imports point down and stand at the top of the file; files and functions stay small.

`ROWS` is the order, from top to bottom. A module imports from rows below its own only, so there can be no cycle.
"""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "mat"
ROWS = """
    __main__
    array_api.__init__
    array_api.info  array_api.linalg  array_api.fft  array_api.dlpack
    array_api.creation  array_api.products  array_api.searching  array_api.statistical
    array_api.elementwise  array_api.manipulation  array_api.data_types
    array_api.arguments
    __init__
    extend  debug  notebook
    directions
    houses  pictures
    ledger
    interop.dask
    interop.arrow  interop.methods  interop.pickling
    ops.random  ops.kernel
    interop.functions
    interop.ours
    interop.ufuncs  interop.views
    ops.linalg  ops.nn
    ops.level3
    ops.index  ops.shape  ops.reduce  ops.level1  interop.operators
    ops.elementwise
    ops.ufuncs
    ops.op
    ops.body  ops.run  ops.overlap  ops.rowmajor  ops.sizes  ops.roles  ops.tiled  ops.philox
    report  interop.delegate  interop.dlpack
    files.public
    files.mapped  files.npz
    files.npy  files.safetensors
    files.elements
    files.streams
    access  config  create  prefetch  scratch  show
    mat
    leases
    emulated  cuda.runtime
    cuda.memory
    cuda.transfers  cuda.fill
    cuda.pinned
    facets.array  facets.cuda_host  facets.foreign
    facets.backing  facets.pointers
    looks  shaping  timeline
    printing
    cube
    copies
    flights  loans
    cuda.engine
    cuda.convert  cuda.factor
    cuda.assign  cuda.compare  cuda.elementwise  cuda.nn  cuda.random  cuda.blas
    cuda.reduce
    cuda.product
    cuda.launch  cuda.array  cuda.cublas  cuda.facts
    cuda.gpu
    cuda.programs
    pooled
    devices
    cuda.driver
    cpu.engine
    cpu.intgemm  cpu.level1  cpu.nn  cpu.permute  cpu.random  cpu.reduce  cpu.shims
    cpu.elementwise
    cpu.prepared  cuda.cublas_table  cuda.permute
    cuda.division
    cpu.blas  cpu.ieee  cpu.pool  interop.capsule
    quick
    cpu.native  cpu.compiler
    disk  pages  poison
    holders  rng  settings  windows
    layout  dtypes  direction  places  barriers  observers
    errors  version
"""
LEVEL = {name: -k for k, row in enumerate(ROWS.split("\n")) for name in row.split()}
PACKAGES = {"cpu", "cuda", "facets", "files", "interop", "ops"}  # their __init__ is a docstring only
MODULES = {".".join(p.relative_to(ROOT).with_suffix("").parts): p for p in sorted(ROOT.rglob("*.py"))
           if p.parent.name != "native"}  # what is there is for building, and is not imported
FILES = {name: path for name, path in MODULES.items() if name.removesuffix(".__init__") not in PACKAGES}
LONGEST_FILE, LONGEST_FUNCTION = 450, 45
UNROLLED = {"ops.run": 60}  # the path of every operation, unrolled on purpose: a call saved is worth a line


def imported(name, node):
    """The modules of ours that an import statement of the module `name` names."""
    if isinstance(node, ast.Import):
        found = [a.name for a in node.names if a.name.partition(".")[0] == "mat"]
        return [n.removeprefix("mat").removeprefix(".") or "__init__" for n in found]
    parts = name.split(".")[:-node.level] if node.level else []
    base = ".".join(parts + ([node.module] if node.module else []))
    if not node.level:
        if base.partition(".")[0] != "mat":
            return []
        base = base.removeprefix("mat").removeprefix(".")
    return [_module(f"{base}.{a.name}".strip("."), base) for a in node.names]


def _module(full, base):
    """`full` if that is a module, else the module `base` that it is a name in."""
    return full if full in LEVEL else base or "__init__"


def imports(name, tree):
    return [(node.lineno, target) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
            for target in imported(name, node)]


def not_below(name, tree):
    """Imports that do not point down: ``line: target``."""
    return [f"{line}: {target}" for line, target in imports(name, tree) if not LEVEL.get(target, 0) < LEVEL[name]]


def hidden(tree):
    """The lines of imports that stand below something else than the docstring and imports, or inside of something."""
    body = tree.body[1:] if ast.get_docstring(tree) else tree.body
    top = 0
    while top < len(body) and isinstance(body[top], ast.Import | ast.ImportFrom):
        top += 1
    open_ones = set(map(id, body[:top]))
    statements = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) and id(n) not in open_ones]
    return statements + [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Call) and _imports_ours(n)]


def _imports_ours(call):
    """Whether a call is ``__import__`` or imports a module of ours by name."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    text = getattr(call.args[0], "value", "") if call.args else ""
    return name == "__import__" or (name == "import_module" and str(text).startswith((".", "mat")))


def long_functions(tree, limit):
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [f"{n.lineno}: {n.name}" for n in nodes if n.end_lineno - n.lineno + 1 > limit]


def parsed(name):
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


# The project


def test_every_module_has_its_row():
    assert set(FILES) - set(LEVEL) == set(), "a new module needs a place in ROWS"
    assert set(LEVEL) - set(FILES) == set(), "these are gone: take them out of ROWS"
    assert len(LEVEL) == len(ROWS.split()), "a module stands in two rows"


@pytest.mark.parametrize("name", FILES)
def test_imports_point_down(name):
    assert not_below(name, parsed(name)) == []


@pytest.mark.parametrize("name", MODULES)
def test_imports_stand_at_the_top(name):
    assert hidden(parsed(name)) == []


@pytest.mark.parametrize("name", sorted(PACKAGES))
def test_packages_are_a_docstring_only(name):
    tree = parsed(f"{name}.__init__")
    assert ast.get_docstring(tree)
    assert len(tree.body) == 1


@pytest.mark.parametrize("name", MODULES)
def test_files_open_with_what_they_are_and_stay_small(name):
    text = MODULES[name].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE
    if name == "version":
        return
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring
    assert name == "__init__" or len(docstring.splitlines()) <= 7  # five, and paragraphs


@pytest.mark.parametrize("name", MODULES)
def test_functions_stay_small(name):
    assert long_functions(parsed(name), UNROLLED.get(name, LONGEST_FUNCTION)) == []


@pytest.mark.parametrize("name", ["cube", "copies", "direction", "places", "holders", "barriers", "observers", "looks"])
def test_the_cube_knows_nothing_of_numbers(name):
    roots = {alias.name.partition(".")[0] for node in ast.walk(parsed(name)) if isinstance(node,
                                                                                           ast.Import) for alias in node.names}
    roots |= {node.module.partition(".")[0] for node in ast.walk(parsed(name)) if isinstance(node,
                                                                                             ast.ImportFrom) and not node.level}
    assert roots <= set(sys.stdlib_module_names)


# The tests of the tests


@pytest.mark.parametrize(("name", "source", "found"), [
    ("cube", "from .mat import Mat", ["1: mat"]), ("cube", "from . import mat", ["1: mat"]),
    ("cube", "import mat.mat", ["1: mat"]),
    ("cube", "import mat", ["1: __init__"]), ("cube", "from mat.ops.op import op", ["1: ops.op"]),
    ("cube", "from mat import Mat", ["1: __init__"]),
    ("ops.index", "from .shape import x\nfrom .op import op", ["1: ops.shape"]),
    ("facets.array", "from ..mat import Mat", ["1: mat"]), ("facets.array", "from . import foreign", ["1: facets.foreign"]),
    ("create", "from .access import with_facets", ["1: access"]), ("create", "from .create import zeros", ["1: create"]),
    ("layout", "from .unheard import of", ["1: unheard"]), ("layout", "from .errors import ShapeError\nimport numpy, os.path",
                                                            []),
    ("ops.op", "from ..cube import IO\nfrom .run import Plan\nfrom matplotlib import cm", []),
])
def test_imports_that_do_not_point_down_are_found(name, source, found):
    assert not_below(name, ast.parse(source)) == found


@pytest.mark.parametrize(("source", "lines"), [
    ('"""Doc."""\nfrom __future__ import annotations\nimport os\nx = 1', []), ("x = 1\nimport os", [2]),
    ("def f():\n    import os", [2]),
    ("if TYPE_CHECKING:\n    from .mat import Mat", [2]), ("try:\n    import os\nexcept ImportError:\n    pass", [2]),
    ("import importlib\nimportlib.import_module('mat.ops')", [2]), ("import_module('.mat', 'mat')", [1]),
    ("__import__('os')", [1]),
    ("import importlib\nimportlib.import_module('scipy.special')", []),
])
def test_hidden_imports_are_found(source, lines):
    assert hidden(ast.parse(source)) == lines


def test_long_functions_are_found():
    source = "class A:\n    def f(self):\n        x = 1\n        return x\n\ndef g():\n    return 1"
    assert long_functions(ast.parse(source), 2) == ["2: f"]
