"""Signatures of NumPy's functions, read from NumPy's own stubs, with Mats for arrays."""

import ast
import copy
import functools
from pathlib import Path

import numpy as np

ROOT = Path(np.__file__).parent
FILES = {
    "": ["_core/fromnumeric", "_core/multiarray", "_core/numeric", "_core/shape_base",
         "_core/function_base", "_core/einsumfunc", "_core/arrayprint", "lib/_arraypad_impl",
         "lib/_arraysetops_impl", "lib/_function_base_impl", "lib/_histograms_impl",
         "lib/_index_tricks_impl", "lib/_nanfunctions_impl", "lib/_npyio_impl",
         "lib/_polynomial_impl", "lib/_shape_base_impl", "lib/_stride_tricks_impl",
         "lib/_twodim_base_impl", "lib/_type_check_impl", "lib/_ufunclike_impl",
         "lib/_utils_impl"],
    "linalg": ["linalg/_linalg"], "fft": ["fft/_pocketfft", "fft/_helper"],
    "emath": ["lib/_scimath_impl"], "lib.stride_tricks": ["lib/_stride_tricks_impl"],
}
SEQUENCE = "Sequence[ArrayLike] | Mat"
AXIS = "SupportsIndex | Sequence[SupportsIndex] | None"
ARRAYS = """a a1 a2 b x x1 x2 y ary arr array m v val values condition weights where initial q p
            prepend append fill_value p1 p2 u c1 c2 element test_elements ar ar1 ar2 start stop xp
            fp object start_or_stop N M deg roots decimals indices repeats pad_width shift obj
            sorter deltas scale loc df dfnum dfden lam sigma mu kappa nonc low high left right
            alpha pvals cov ngood nbad nsample beta"""
# of parameters, by their names; what is not here has the type that NumPy's stub gives
BY_NAME = {
    **dict.fromkeys(ARRAYS.split(), "ArrayLike"),
    **dict.fromkeys(("arrays", "arys", "tup", "seq", "choices", "choicelist", "condlist"),
                    SEQUENCE),
    "mask": "ArrayLike", "size": "ShapeLike", "dtype": "DTypeLike", "out": "Mat | None",
    "keepdims": "bool", "descending": "bool",
    "shape": "ShapeLike", "newshape": "ShapeLike", "axes": "object",
    "subok": "bool", "like": "None", "device": "DeviceName | Device | None",
    "order": 'Literal["C", "F", "A", "K"] | None', "func": "Callable[..., object]",
    "func1d": "Callable[..., object]", "funclist": "Sequence[object]", "range": "object",
    "bins": "ArrayLike | str", "indices_or_sections": "ArrayLike", "optimize": "object",
    "file": "File", "fname": "object", "signature": "object",
}
SAME = {"bool", "int", "float", "complex", "str", "bytes", "object", "SupportsIndex", "None"}
TYPES = {
    "py_bool": "bool", "_ShapeLike": "ShapeLike", "_AnyShape": "ShapeLike",
    "_Shape": "ShapeLike", "_OrderKACF": 'Literal["C", "F", "A", "K"] | None',
    "_OrderCF": 'Literal["C", "F"] | None', "_OrderACF": 'Literal["C", "F", "A"] | None',
    "_ModeKind": 'Literal["raise", "wrap", "clip"]',
    "_CastingKind": 'Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"]',
    "_SortKind": 'Literal["Q", "quick", "quicksort", "M", "merge", "mergesort", "H", "heap", '
                 '"heapsort", "S", "stable", "stablesort"]',
    "_SortSide": 'Literal["L", "left", "R", "right"]', "ArrayLike": "ArrayLike",
    "_ArrayLike": "ArrayLike", "NDArray": "ArrayLike",
}
IGNORED = {"_NoValueType", "_NoValue"}
NO_MATS = {"bool": "bool", "int": "int", "str": "str", "bytes": "bytes", "None": "None",
           "py_bool": "bool", "str_": "str", "dtype": "np.dtype[Any]", "slice": "slice",
           "_DTypeKind": "str", "_AnyShape": "tuple[int, ...]", "_Shape": "tuple[int, ...]",
           "_ShapeLike": "tuple[int, ...]"}
NAMED: dict[str, list[str]] = {}  # named tuples that were met, with their fields


@functools.cache
def aliases(file):
    """The names of types that one of NumPy's stubs defines for itself."""
    return {node.target.id: node.value for node in _tree(file).body
            if isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation)}


def _tree(file):
    path = ROOT / f"{file}.pyi"
    return ast.parse(path.read_text(encoding="utf-8") if path.exists() else "")


@functools.cache
def definitions(module):
    """The definitions in NumPy's stubs of a module, by name, each a list of overloads."""
    found = {}
    for file in FILES.get(module, ()):
        for node in _tree(file).body:
            if isinstance(node, ast.FunctionDef):
                node.known = aliases(file)
                found.setdefault((file, node.name), []).append(node)
    return {name: nodes for (_, name), nodes in found.items()}


def overloads(module, name):
    """The overloads of a function that give different results, as ``(parameters, result)``."""
    found = {}
    for node in definitions(module).get(name, ()):
        found.setdefault(parameters(node), []).append(result(node))
    chosen = [(text, "Mat" if "Mat" in results else results[0])
              for text, results in found.items()]
    chosen = _told_apart(chosen)
    return chosen if len({returned for _, returned in chosen}) > 1 else []


def result_of(module, name):
    """What a function without such overloads gives; "" if NumPy's stubs do not have it."""
    results = [result(node) for node in definitions(module).get(name, ())]
    return "Mat" if "Mat" in results else (results or [""])[0]


def types(module, name):
    """The types of a function's parameters, by name: all that overloads have."""
    found = {}
    for node in definitions(module).get(name, ()):
        for argument in every(node.args):
            found.setdefault(argument.arg, []).append(
                parameter(node, argument))
    return {name: _union(texts) for name, texts in found.items()}


def _union(texts):
    if "object" in texts:
        return "object"
    parts = list(dict.fromkeys(part for text in texts for part in text.split(" | ")))
    if "bool" in parts or {"Literal[True]", "Literal[False]"} <= set(parts):
        parts = ["bool", *(p for p in parts if p not in ("bool", "Literal[True]",
                                                         "Literal[False]"))]
    return " | ".join(parts)


def _told_apart(overloads):
    """The overloads without those that differ from an earlier one in nothing that tells them
    apart: the literals among their parameters.
    """
    found = {}
    for text, returned in overloads:
        tree = ast.parse(f"def f({text}): ...").body[0].args
        key = tuple(sorted((a.arg, a in tree.kwonlyargs) for a in every(tree)
                           if "Literal[True]" in ast.unparse(a.annotation)))
        found.setdefault(key, (text, returned))
    return list(found.values())


def every(arguments):
    """All parameters of a function."""
    return [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg]),
            *arguments.kwonlyargs, *filter(None, [arguments.kwarg])]


def parameters(node):
    """The text of the parameters of a function of NumPy, with our types."""
    arguments = copy.deepcopy(node.args)
    for argument in every(arguments):
        text = parameter(node, argument)
        argument.annotation = ast.parse(text, mode="eval").body
    arguments.defaults = [plain(d) for d in arguments.defaults]
    arguments.kw_defaults = [d and plain(d) for d in arguments.kw_defaults]
    return ast.unparse(arguments)


def plain(default):
    """A default as a stub shows it: a constant, or ``...``."""
    return default if isinstance(default, ast.Constant) else ast.Constant(...)


def parameter(node, argument):
    """The type of a parameter."""
    text = _mapped(argument.annotation, _parameter_type, node.known)
    name = argument.arg
    if text in ("Literal[True]", "Literal[False]"):
        return text
    if name == "axis":
        return text if text in ("SupportsIndex", "int", "SupportsIndex | None") else AXIS
    return BY_NAME.get(name) or text or "object"


def with_none(text):
    """The type of a parameter whose default is None."""
    has_none = text in ("object", "DTypeLike", "DeviceLike") or "None" in text
    return text if has_none else f"{text} | None"


def result(node):
    """The type of a result: a Mat for what NumPy gives as an array or a scalar of its own."""
    return _mapped(node.returns, _result_type, node.known) or "Mat"


def _mapped(node, of_name, known):
    """The text of a type; "" if it is not known."""
    if node is None:
        return ""
    if isinstance(node, ast.Constant):
        return "None" if node.value is None else ""
    if isinstance(node, ast.BinOp):
        sides = [_mapped(n, of_name, known) for n in (node.left, node.right)]
        names = [ast.unparse(n) for n in (node.left, node.right)]
        sides = [s for s, n in zip(sides, names, strict=True) if n not in IGNORED]
        return "" if "" in sides else " | ".join(dict.fromkeys(" | ".join(sides).split(" | ")))
    if isinstance(node, ast.Subscript):
        return _subscript(node, of_name, known)
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return _mapped(known[name], of_name, known) if name in known else of_name(name)


def _subscript(node, of_name, known):
    name = ast.unparse(node.value).rpartition(".")[2]
    if name in ("Literal", "L"):
        plain_ones = all(isinstance(n, ast.Constant) for n in ast.walk(node.slice)
                         if isinstance(n, ast.expr) and not isinstance(n, ast.Tuple))
        return f"Literal[{ast.unparse(node.slice).strip('()')}]" if plain_ones else "object"
    if name in ("tuple", "list", "Sequence", "Iterable"):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        texts = ["..." if isinstance(n, ast.Constant) and n.value is ... else
                 _mapped(n, of_name, known) for n in items]
        return "" if "" in texts else f"{name}[{', '.join(texts) or '()'}]"
    if name == "Callable":
        return "Callable[..., object]"
    return of_name(name)


def _parameter_type(name):
    if name in SAME:
        return name
    if name.startswith(("_ArrayLike", "_NestedSequence")):
        return "ArrayLike"
    if "DType" in name:
        return "DTypeLike"
    return TYPES.get(name, "")


def _result_type(name):
    if name.endswith("Result"):
        fields = getattr(np.linalg._linalg, name, None) or getattr(
            np.lib._arraysetops_impl, name, None)
        if fields is not None:
            NAMED[name] = list(fields._fields)
            return f"_{name}"
    if name == "float":
        return "Mat"
    return NO_MATS.get(name, "Mat")
