"""The stubs of the public modules, made of what they have when they run.

``python -m tests.types.stubs`` writes them, as do an installation and a build
(``mat/native/build.py``). A name that is defined, with types, in a module of `mat` is imported from
there; an operation is declared with the types of its roles; and a function of NumPy with what
NumPy's own stubs say, with Mats for arrays.
"""

import ast
import importlib
import inspect
import itertools
import re
import sys
from pathlib import Path

import numpy as np

import mat
from mat.numpy.namespace import lookup as table
from mat.numpy.namespace import objects
from mat.ops.engine.functions import Ufunc
from mat.ops.engine.operation import Op
from mat.support.unbound import Unbound

from . import method_stubs, numpy_stubs
from .method_stubs import Text as _Text

ROOT = Path(mat.__file__).parent
# a module, with its file
MODULES = {"": "__init__", "blas": "blas", "nn": "nn", "linalg": "linalg", "fft": "fft",
           "lib": "lib/__init__", "lib.stride_tricks": "lib/stride_tricks",
           "emath": "numpy/namespace/emath", "random": "random"}
WIDEST = 100
HEAD = '''"""Types of `{name}`.

Written by ``python -m tests.types.stubs``, with NumPy {numpy}: not to be edited.
"""

import builtins
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeVar, overload

import numpy as np
'''
ROLES = {"Input": "Mat", "Output": "Mat", "InOut": "Mat", "Accumulated": "Mat",
         "InputOrNumber": "ArrayLike", "Scalar": "Scalar", "Operand": "ArrayLike",
         "Number": "Scalar", "Nested": "ArrayLike"}
VAGUE = {"Operand", "Number", "Nested"}
RESULTS = {"asum": "float", "nrm2": "float", "iamax": "int", "blas.dot": "float",
           "blas.vdot": "float", "allclose": "bool", "meshgrid": "tuple[Mat, ...]"}
RESULTS |= dict.fromkeys(("random.seed", "random.shuffle", "random.set_state", "random.__init__",
                          "random.set_bit_generator"), "None")
RESULTS |= {"random.bytes": "bytes", "random.get_state": "object",
            "random.spawn": "list[Generator]", "random.get_bit_generator": "Rng",
            "random.default_rng": "Generator"}
# functions of ours with NumPy's overloads, and what is other than NumPy's results
RESULTS_BY_ARGUMENTS = {"linspace": {"tuple[Mat, Mat]": "tuple[Mat, Entry]"}}
PROPERTIES = {"bit_generator": "Rng"}
_HOW = """dtype: DTypeLike = None, order: Literal["C", "F"] = 'C',
    device: DeviceName | Device | None = None, like: object = None"""
LENGTHS = [(f"*lengths: SupportsIndex, {_HOW}", "Mat"),
           (f"shape: ShapeLike, {_HOW}", "Mat")]  # which the signature cannot say
UFUNC = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True,
         "signature": None}
FROM_TYPES = ["Array", "ArrayLike", "AxisLike", "CudaName", "DeviceArray", "DeviceName",
              "DirectionName", "DTypeLike", "EmulatedName", "Entry", "File", "Presents", "Scalar",
              "ShapeLike"]
INTERNAL = {"Mat": "matrix.mat", "Device": "devices.device", "DeviceLike": "devices.device",
            "Direction": "core.direction",
            "EmulatedArray": "devices.emulated_array", "ForeignArray": "support.c_pointers",
            "Facet": "core.registry", "Rng": "matrix.generator", "Memory": "core.registry",
            **dict.fromkeys(FROM_TYPES, "support.types")}


def main():
    """Write the stubs: also those that stay the same, so that all are newer than the modules."""
    texts = stubs()
    for name, text in texts.items():
        (ROOT / f"{name}.pyi").write_text(text, encoding="utf-8")
    print(f"written: {len(texts)} stubs of {ROOT}")


def stubs():
    """The text of each stub, by its file without the suffix."""
    texts = {file: stub(module) for module, file in MODULES.items()
             if (ROOT / f"{file}.py").exists()}
    return {**texts, method_stubs.FILE: method_stubs.stub()}


def stub(module):
    """The text of the stub of a module."""
    numpy_stubs.NAMED.clear()
    there = public(module)
    entries = [_with_builtins(entry(module, name, thing), there) for name, thing in there.items()]
    if not module:
        entries += [entry for entry in (with_facets(),) if entry]
    imports = sorted({e for e in entries if e.startswith(("from ", "import "))})
    others = [e for e in entries if e and not e.startswith(("from ", "import "))]
    body = "\n".join([*named_tuples(), *others])
    head = HEAD.format(name=f"mat.{module}".rstrip("."), numpy=np.__version__)
    parts = [head, *_internal(module, body, imports), *imports, "", listed(there), "", body]
    return _without_unused("\n".join(parts) + "\n")


def public(module):
    """What a module offers, by name, without what is there to say that it is not."""
    found = importlib.import_module(f"mat.{module}".rstrip(".")) if module != "emath" else mat.emath
    kinds = table.kinds(module) if module in table.MODULES else {}
    names = dir(found) if module in ("", "emath") else found.__all__
    return {name: getattr(found, name) for name in sorted(names) if kinds.get(name) != table.ABSENT
            and (not name.startswith("_") or name.endswith("__"))}


def listed(there):
    """The list of public names, which says that a stub's imports are public."""
    lines, line = [], "   "
    for name in sorted(there):
        if len(line) + len(name) + 5 > WIDEST:
            lines, line = [*lines, line], "   "
        line += f' "{name}",'
    return "\n".join(["__all__ = [", *lines, line, "]"])


def _with_builtins(text, there):
    """The declaration with Python's own types where the module has others of their names."""
    if text.startswith("from "):
        return text
    for name in ("bool", "int", "float", "complex", "str", "bytes", "object"):
        if name in there:
            text = re.sub(rf"(?<![.\w\"])(?<!def ){name}\b", f"builtins.{name}", text)
    return text


# One name


def entry(module, name, thing):
    """The text that declares one name."""
    dots = "." * (MODULES[module].count("/") + 1)
    qualified = f"{module}.{name}".lstrip(".")
    if name == "with_facets" and not module:
        return ""
    if thing is mat:
        return f"import mat as {name}"
    if inspect.ismodule(thing):
        return _module(module, name, thing, dots)
    if thing is mat.Mat and name != "Mat":
        return f"from {dots}matrix.mat import Mat as {name}"
    if name == "__version__":
        return "from .version import __version__ as __version__"
    if module == "random" and inspect.isclass(thing) and thing.__module__.startswith("mat."):
        return class_declaration(name, thing)
    is_object = module in table.MODULES and table.kinds(module).get(name) == table.WRAPPED
    if is_object and name in vars(objects):
        return f"from {dots}numpy.namespace.objects import {name} as {name}"
    if isinstance(thing, float | str) or thing is None:
        return f"{name}: {type(thing).__name__ if thing is not None else None}"
    if isinstance(thing, type) and thing.__module__ == "numpy":
        return f"from numpy import {thing.__name__} as {name}"
    defined = "" if qualified in RESULTS_BY_ARGUMENTS else _defined(thing, name)
    if defined and module != "random" and (module or name not in ("zeros", "ones", "empty")):
        return f"from {dots}{defined} import {name} as {name}"
    if _is_numpys(module, name, thing):
        path = f"numpy.{module}".rstrip(".") if hasattr(_numpy(module), name) else "numpy"
        return f"from {path} import {name} as {name}"
    where = _bound(module, name)
    if (not callable(thing) and where) or (where and not _is_function(thing)):
        return f"from {dots}{where[0]} import {where[1]} as {name}"
    return declaration(module, name, thing)


def _numpy(module):
    found = np
    for part in filter(None, module.split(".")):
        found = getattr(found, part, found)
    return found


def _is_numpys(module, name, thing):
    return table.kinds(module).get(name) == table.SAME if module in table.MODULES else False


def _is_function(thing):
    return isinstance(thing, Op | Ufunc | Unbound) or inspect.isroutine(thing)


def _module(module, name, thing, dots):
    if thing.__name__.startswith("numpy"):
        parent = f"numpy.{module}".rstrip(".")
        return f"from {parent} import {name} as {name}"
    if name == "testing":
        return "from .numpy.namespace import testing as testing"
    if name == "emath":
        return "from .numpy.namespace import emath as emath"
    is_package = MODULES[module].endswith("__init__")
    return f"from {'.' if is_package else dots} import {name} as {name}"


def _defined(thing, name):
    """The module of `mat` that defines a class or function under its name, with types."""
    home = getattr(thing, "__module__", None) or ""
    if not home.startswith("mat.") or isinstance(thing, Op):
        return ""
    path = ROOT / (home.removeprefix("mat.").replace(".", "/") + ".py")
    if not path.exists():
        path = path.with_suffix("") / "__init__.py"
    for node in _tree(path).body if path.exists() else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            return home.removeprefix("mat.")
        if isinstance(node, ast.FunctionDef) and node.name == name and node.returns is not None:
            return "" if _is_vague(node) else home.removeprefix("mat.")
    return ""


def _is_vague(function):
    """Whether a function's parameters have types that mean nothing outside of `mat`, and are all
    known here.
    """
    names = {n.id for a in ast.walk(function.args) if isinstance(a, ast.arg) and a.annotation
             for n in ast.walk(a.annotation) if isinstance(n, ast.Name)}
    simple = re.fullmatch(r"Mat|bool|int|float|str|None|list\[Mat\]|tuple\[Mat, .*\]",
                          ast.unparse(function.returns))
    known = {*ROLES, *INTERNAL, *HEAD.split(), "bool", "int", "float", "str", "object"}
    return bool(simple and names & VAGUE) and names <= known


def _tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def _bound(module, name):
    """The module that a public module imports a name from, and the name there."""
    for node in _tree(ROOT / f"{MODULES[module]}.py").body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return node.module, alias.name
    late = {} if module else mat._AT_FIRST_USE
    return (late[name], name) if name in late else None


# Functions


def declaration(module, name, function):
    """The declaration of a function: with the overloads of NumPy's, else by its signature."""
    ours = isinstance(function, Op) or hasattr(function, "op")
    qualified = f"{module}.{name}".lstrip(".")
    found = [] if ours else numpy_stubs.overloads(module, name)
    others = RESULTS_BY_ARGUMENTS.get(qualified, {})
    found = [(text, others.get(result, result)) for text, result in found]
    found = LENGTHS if qualified in ("zeros", "ones", "empty") else found
    if not found:
        types = {} if ours else numpy_stubs.types(module, name)
        given = "" if ours else numpy_stubs.result_of(module, name)
        found = [(parameters(name, function, types),
                  RESULTS.get(qualified) or given or returned(name, function))]
    doc = (inspect.getdoc(function) or "").partition("\n")[0]
    return "\n".join(_definition(name, text, result, doc, len(found) > 1)
                     for text, result in found)


def class_declaration(name, kind):
    """The declaration of a class whose methods are made when it is defined."""
    lines = [f"class {name}:", f'    """{inspect.getdoc(kind).partition(chr(10))[0]}"""', ""]
    numpys = getattr(np.random, name)
    own = ["__init__", *(n for n in dir(kind) if not n.startswith("_") and hasattr(numpys, n))]
    for method in own:
        thing = inspect.getattr_static(kind, method)
        if isinstance(thing, property):
            lines += ["    @property", f"    def {method}(self) -> {PROPERTIES[method]}: ..."]
            continue
        if not inspect.isroutine(thing) or inspect.ismemberdescriptor(thing):
            continue
        signature = inspect.signature(getattr(kind, method))
        rest = list(signature.parameters.values())[1:]
        thing = _WithSignature(signature.replace(parameters=rest), thing)
        text = ", ".join(["self", parameters(method, thing, {})]).removesuffix(", ")
        result = RESULTS.get(f"random.{method}") or returned("", thing)
        lines.append(f"    def {method}({text}) -> {result}: ...")
    return "\n".join(lines) + "\n"


class _WithSignature:
    """A function with another signature."""

    def __init__(self, signature, function):
        self.__signature__ = signature
        self.__annotations__ = getattr(function, "__annotations__", {})

    def __call__(self): ...


def _definition(name, text, result, doc, is_one_of_several):
    first = "@overload\n" if is_one_of_several else ""
    body = f'\n    """{doc}"""\n' if doc and not is_one_of_several else " ..."
    line = f"{first}def {name}({text}) -> {result}:{body}"
    if max(map(len, line.splitlines())) > WIDEST and f"def {name}({text})" in line:
        line = line.replace(f"({text})", "(\n" + _folded(text) + "\n)", 1)
    return line


def _folded(text):
    """The parameters, one a line."""
    arguments = ast.parse(f"def f({text}): ...").body[0].args
    parts, current, depth = [], "", 0
    for character in text:
        depth += (character in "[(") - (character in "])")
        if character == "," and not depth:
            parts, current = [*parts, current.strip()], ""
        else:
            current += character
    assert arguments
    return "\n".join(f"    {part}," for part in [*parts, current.strip()])


def parameters(name, function, types):
    """The parameters of a function, from its signature."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return "*args: ArrayLike, **kwargs: object"
    given = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD
             or not isinstance(getattr(np, name, None), np.ufunc)]
    if len(given) < len(signature.parameters):  # the keywords of a ufunc
        there = {p.name for p in given}
        given += [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=default)
                  for n, default in UFUNC.items() if n not in there]
    typed = [p.replace(annotation=_Text(_type(p, types)), default=_default(p)) for p in given]
    return str(inspect.Signature(typed))[1:-1]


def _default(parameter):
    value = parameter.default
    plain = type(value) in (bool, int, float) or value is None or value is parameter.empty
    if plain or (isinstance(value, str) and value.isalnum()):
        return value
    return _Text("...")


def _type(parameter, types):
    """The type of a parameter: that of its role, of NumPy's, or by its name."""
    given = parameter.annotation
    text = given if isinstance(given, str) else getattr(given, "__name__", "")
    if given is not parameter.empty and text and parameter.name not in ("out", "dtype", "where"):
        text = " | ".join(ROLES.get(part, part) for part in text.split(" | "))
        return numpy_stubs.with_none(text) if parameter.default is None else text
    if parameter.name == "casting":
        return numpy_stubs.TYPES["_CastingKind"]
    by_name = numpy_stubs.AXIS if parameter.name == "axis" else numpy_stubs.BY_NAME.get(
        parameter.name)
    text = types.get(parameter.name) or by_name or "object"
    return numpy_stubs.with_none(text) if parameter.default is None else text


def returned(name, function):
    """The type of the result of a function that NumPy's stubs do not declare."""
    given = getattr(function, "__annotations__", {}).get("return")
    if isinstance(given, str) and (given.islower() or given.startswith(("None", "list", "tuple"))):
        return given
    ufunc = getattr(np, name, None)
    if isinstance(ufunc, np.ufunc) and ufunc.nout > 1:
        return f"tuple[{', '.join(['Mat'] * ufunc.nout)}]"
    return RESULTS.get(name, "Mat")


def named_tuples():
    """The classes of results that have names."""
    return ["\n".join([f"class _{name}(NamedTuple):", *(f"    {f}: Mat" for f in fields), ""])
            for name, fields in sorted(numpy_stubs.NAMED.items())]


# `with_facets`

KINDS = {"A": ('Literal["array", "backing"]', "Array"),
         "F": ('Literal["foreign", "cuda_host"]', "ForeignArray"),
         "E": ("EmulatedName", "EmulatedArray"), "C": ("CudaName", "DeviceArray")}


def with_facets():
    """The overloads of `with_facets`: for each facet of a few requests, what its block is given."""
    lines = ["_Direction = DirectionName | Direction", *(f'_P{k} = TypeVar("_P{k}")'
                                                         for k in range(3))]
    for letter, (names, _) in KINDS.items():
        lines.append(f"_{letter} = tuple[Mat, {names}] | tuple[Mat, {names}, _Direction]")
    for k in range(3):
        facet = f"Presents[_P{k}]"
        lines.append(f"_O{k} = tuple[Mat, {facet}] | tuple[Mat, {facet}, _Direction]")
    combinations = [*itertools.product("AFECO", repeat=1), *itertools.product("AFECO", repeat=2),
                    *itertools.product("AFO", repeat=3), ("A",) * 4, ("A",) * 5]
    lines += [_one_of_with_facets(kinds) for kinds in combinations]
    anything = "Array | ForeignArray | EmulatedArray | DeviceArray"
    lines.append("@overload\ndef with_facets(*requests: _A | _F | _E | _C) -> "
                 f"AbstractContextManager[\n    tuple[{anything}, ...]\n]: ...")
    return "\n".join(lines)


def _one_of_with_facets(kinds):
    requests = [f"_{kind}" if kind != "O" else f"_O{k}[_P{k}]" for k, kind in enumerate(kinds)]
    given = ", ".join(f"_P{k}" if kind == "O" else KINDS[kind][1] for k, kind in enumerate(kinds))
    names = ", ".join(f"request{k}: {text}" for k, text in enumerate(requests))
    return (f"@overload\ndef with_facets(\n    {names}, /\n) -> "
            f"AbstractContextManager[tuple[{given}]]: ...")


# Imports


def _internal(module, body, imports):
    """The imports of the types that the body uses."""
    dots = "." * (MODULES[module].count("/") + 1)
    there = "\n".join(imports)
    return [f"from {dots}{home} import {name}" for name, home in sorted(INTERNAL.items())
            if re.search(rf"\b{name}\b", body) and f" as {name}\n" not in there + "\n"]


def _without_unused(text):
    """The text without the head's imports that it does not use."""
    out = []
    for line in text.split("\n"):
        match = re.match(r"from (collections.abc|contextlib|typing) import (.+)", line)
        if match:
            names = [n for n in match[2].split(", ")
                     if len(re.findall(rf"\b{n}\b", text)) > 1]
            if names:
                out.append(f"from {match[1]} import {', '.join(names)}")
        elif (line == "import builtins" and "builtins." not in text) or (
                line == "import numpy as np" and "np." not in text):
            continue
        else:
            out.append(line)
    return "\n".join(out)


if __name__ == "__main__":
    sys.exit(main())
