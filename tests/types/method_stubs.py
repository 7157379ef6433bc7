"""The stub of ``mat/matrix/methods.py``: the methods of `Mat` as the files that implement them have
bound them, with types for callers.
"""

import ast
import inspect
import re

import mat
from mat.matrix import methods
from mat.matrix.methods import Methods

from . import numpy_stubs

FILE = "matrix/methods"
HEAD = '''"""Types of the methods of `Mat`.

Written by ``python -m tests.types.stubs``: not to be edited.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal, NoReturn, Self, SupportsIndex, TypeAlias, TypeVar

import numpy as np

from ..devices.device import Device
from ..layout.shapes import Ints
from ..layout.strided import Layout
from ..numpy.attributes import MemoryFlags
from ..numpy.flat_iterator import FlatIterator
from ..support.types import ArrayLike, AxisLike, DeviceName, DType, DTypeLike, Entry
from ..support.types import Arguments, File, Function, Index, Keywords, Scalar, ShapeLike
from .generator import Rng

Pair: TypeAlias = tuple[int, int]
# called with the number of bytes that are done and the number of all bytes; True for a bar
Progress: TypeAlias = Callable[[int, int], object] | bool
F = TypeVar("F", bound=Function)
'''
# types of parameters in annotations, and what callers give
GIVEN = {"Mat": "Self", "Input": "Self", "Output": "Self", "InOut": "Self", "Accumulated": "Self",
         "InputOrNumber": "ArrayLike", "Scalar": "Scalar", "Operand": "ArrayLike",
         "Number": "Scalar", "Nested": "ArrayLike", "Setting": "AxisLike",
         "Callback": "Progress", "Iterable[type[Array]]": "Arguments"}
# of parameters without annotations, those of NumPy's functions: others are in `numpy_stubs`
BY_NAME = {"out": "Self | None", "axis": "AxisLike", "keepdims": "bool", "dtype": "DTypeLike",
           "decimals": "int", "axis1": "int", "axis2": "int", "offset": "int", "ddof": "float",
           "correction": "float", "kind": "str | None", "order": "None", "mode": "str",
           "side": "str", "stable": "bool | None", "descending": "bool", "mean": "ArrayLike"}
OF_ONE_AXIS = {"argmax", "argmin", "argsort", "cumprod", "cumsum", "repeat", "take"}
# parameters that take less, or more, than the annotations say
PARAMETERS = {"dump.file": "File", "swap_.x": "Self", "__array_ufunc__.**kwargs": "Any",
              "__dlpack__.stream": "int | None"}
class Text(str):
    """A type or default that is shown as it is."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


# a parameter that NumPy's function has from NumPy 2.5 on, and the method with any
LATER = inspect.Parameter("descending", inspect.Parameter.KEYWORD_ONLY, default=Text("..."),
                          annotation=Text("bool"))
# results that are no Mats, where annotations do not say so to callers
RETURNED = {"slogdet": "tuple[Scalar, float]", "_get_by": "Any", "nonzero": "tuple[Self, ...]",
            "__imatmul__": "Self", "__round__": "Entry", "ctypes": "Any",
            "__array_function__": "object", "__array_ufunc__": "object",
            "__array_namespace__": "ModuleType", "__dlpack__": "object",
            "__jax_array__": "object", "__arrow_array__": "object", "__arrow_c_array__": "object",
            "__dask_tokenize__": "object"}


def stub():
    """The text of the stub."""
    lines = [HEAD, "class Methods:"]
    for name in sorted(bound()):
        lines += declaration(name, vars(Methods)[name])
    return "\n".join([*lines, "", *functions(), ""])


def bound():
    """The names of the methods that files of mat have bound."""
    for name in list(vars(Methods)):
        getattr(mat.Mat, name)  # some are bound at first use
    return {name for name, found in vars(Methods).items()
            if getattr(getattr(found, "fget", found), "__module__", "mat.").startswith("mat")
            and (callable(found) or isinstance(found, property))}


def functions():
    """The declarations of the module's functions, whose annotations are those for callers."""
    with open(methods.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield f"def {node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}: ..."


def declaration(name, found):
    """The lines that declare a method or a property."""
    if isinstance(found, property):
        lines = ["    @property", f"    def {name}(self) -> {returned(name, found.fget)}: ..."]
        if found.fset is not None:
            lines += [f"    @{name}.setter", f"    def {name}(self, value: ArrayLike) -> None: ..."]
        return lines
    first, *others = inspect.signature(found).parameters.values()
    own = [first.replace(name="self", annotation=first.empty),
           *(p.replace(annotation=Text(given(name, p)), default=default(p)) for p in others)]
    if name == "argsort" and own[-1].name != "descending":
        own.append(LATER)
    return [f"    def {name}{inspect.Signature(own)} -> {returned(name, found)}: ..."]


def default(parameter):
    """The default as a stub has it: ``...`` for a mark that is not given."""
    value = parameter.default
    plain = value is parameter.empty or value is None or type(value) in (bool, int, float, str)
    return value if plain else Text("...")


def given(name, parameter):
    """The type of a parameter for callers."""
    stars = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
    known = PARAMETERS.get(f"{name}.{stars}{parameter.name}")
    if known is not None:
        return known
    text = plain(parameter.annotation)
    if not text:
        text = BY_NAME.get(parameter.name) or numpy_stubs.BY_NAME.get(parameter.name, "object")
        if parameter.name == "axis" and name in OF_ONE_AXIS:
            text = "int | None"
    has_none = parameter.default is not None or text == "AxisLike"
    return text if has_none else numpy_stubs.with_none(text)


def plain(annotation):
    """An annotation with types for callers; "" if there is none."""
    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else annotation.__name__
    text = str(text).strip("'")
    return GIVEN.get(text) or re.sub(r"\w+", lambda match: GIVEN.get(match[0], match[0]), text)


def returned(name, function):
    """The type of the result for callers."""
    if name in RETURNED:
        return RETURNED[name]
    text = plain(getattr(function, "__annotations__", {}).get("return", "Mat"))
    return "Self" if text in ("ArrayLike", "object") else text
