"""Modules in the place of `numpy`, `numpy.linalg` and the like: their names are NumPy's, and mean
what `mat` has of them, else NumPy's own objects.

Files of the program get them where they import `numpy`, all other importers NumPy itself. The file
that imports decides, so the hook is `builtins.__import__`, which is told of it. Calls that Mats
refuse, as of texts, dates and objects, fall back to NumPy's, and are counted.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import linecache
import operator
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from mat import errors

from ..core.compiled import IN_USE, Relay, RelayMethod
from ..core.export import KEPT_BY_EXPORTS
from ..core.source_line import cell_of, warn
from ..errors import MatError, PerformanceWarning, SettingError
from ..matrix.creation import adopted
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..matrix.operators import OPERATORS, UNCHANGING
from ..matrix.reading import rebuilt
from ..numpy.namespace.lookup import (
    ABSENT,
    FUNCTION,
    MODULES,
    SAME,
    UFUNC,
    kinds,
    numpy_module,
)
from ..ops.engine.by_numpy import KEPT
from ..support.plugins import plugin
from ..support.types import Arguments, Function, Keywords, Operand

# errors that NumPy's function would not prevent
OURS = (errors.ConflictError, errors.DeviceError, errors.DiskError, errors.GraphError,
        errors.KernelError, errors.LinAlgError, errors.TornError, errors.UninitialisedError)
Counter = Callable[[str], object]  # is given the name of a function that NumPy carries out

EXPORTED = "a copy of what a library has"  # among the names that are counted
_counters: list[Counter] = []


@contextmanager
def falling_back(counted: Counter) -> Iterator[None]:
    """Return NumPy's arrays for results that no Mat can be, and count them, in this block."""
    _counters.append(counted)
    KEPT.append(_count)
    KEPT_BY_EXPORTS.append(_count_export)
    try:
        yield
    finally:
        _counters.remove(counted)
        KEPT.remove(_count)
        KEPT_BY_EXPORTS.remove(_count_export)


def _count(name: str) -> None:
    for counted in tuple(_counters):
        counted(name)


def _count_export() -> None:
    _count(EXPORTED)
    warn("an array is written that a library still has: it keeps the former elements",
         PerformanceWarning)


def by_numpy(name: str, function: Function, args: Arguments, kwargs: Keywords) -> Operand:
    """Return the result of NumPy's function, with Mats for arrays that can be Mats."""
    _count(name)
    found = delegate(function, args, kwargs, name=name)
    # without axes NumPy's scalar, unless a device is in use
    return found._as_number() if type(found) is Mat else found


def function_of(name: str, ours: Function, numpys: Function, *, numbers: bool) -> Function:
    """Return `ours` with NumPy's function for calls that it refuses.

    With `numbers`, results without axes are numbers on the host, as NumPy's are. As an attribute
    of a class it is a method if NumPy's is one.
    """
    result = Mat._as_number if numbers else Mat._as_array
    if numbers and name in _OF_SEVERAL:
        ours = _with_numbers(ours)
    kind = RelayMethod if hasattr(type(numpys), "__get__") else Relay
    call: Function = kind(ours, Mat, result, OURS, (MatError,), partial(by_numpy, name, numpys))
    call.__dict__.update(__name__=name.rpartition(".")[2], __qualname__=name, __module__=__name__,
                         __doc__=numpys.__doc__, __wrapped__=numpys)
    return call


# functions with several results, some of which have no axes
_OF_SEVERAL = frozenset(("average", "divmod", "frexp", "linalg.lstsq", "linalg.slogdet", "modf",
                         "polyfit", "unravel_index", "unstack"))


def _with_numbers(function: Function) -> Function:
    """Return `function` with numbers for the results without axes in a tuple of several."""
    def call(*args: Operand, **kwargs: Operand) -> Operand:
        found = function(*args, **kwargs)
        if not isinstance(found, tuple):
            return found
        return rebuilt(found, [x._as_number() if type(x) is Mat else x for x in found])

    return call


def ufunc_of(name: str, ours: Any, numpys: np.ufunc) -> Function:
    """Return a ufunc of `mat` as a function, with NumPy's for numbers and calls that it refuses."""
    call: Any = function_of(name, ours, numpys, numbers=True)
    call.of_numbers = numpys
    for attribute in (a for a in dir(numpys) if not a.startswith("_")):
        theirs = getattr(numpys, attribute)
        found = getattr(ours, attribute, theirs)
        call.__dict__[attribute] = found if not callable(found) else function_of(
            f"{name}.{attribute}", found, theirs, numbers=True)
    return call


# Methods


_NUMBERS = ("all", "any", "argmax", "argmin", "clip", "conj", "conjugate", "dot", "max", "mean",
            "min", "prod", "round", "searchsorted", "std", "sum", "trace", "var")
_COPIES = ("__copy__", "__deepcopy__", "byteswap", "copy")
_NO_NUMBERS = "OSU"  # the kinds of dtypes of objects and texts
_ASSIGNMENT = "_set_by"  # what ``x[index] = value`` calls, unless `value` is simple
_PRODUCTS = ("__matmul__", "__rmatmul__")
_TESTS = {"__eq__": operator.eq, "__ne__": operator.ne}
# of dates, objects and the like
_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or",
              "xor", "lshift", "rshift")


@contextmanager
def as_in_numpy() -> Iterator[None]:
    """Give Mats NumPy's ways in this block."""
    makers: dict[str, Function] = {
        **dict.fromkeys(_NUMBERS, partial(_by_either, Mat._as_number)),
        **dict.fromkeys(_COPIES, _array), "view": _view, _ASSIGNMENT: _assignment,
        "astype": partial(_by_either, Mat._as_array)}
    changes: dict[str, Any] = {name: _AtFirstUse(name, make) for name, make in makers.items()}
    changes |= _SHOWN
    before = {name: vars(Mat)[name] for name in changes if name in vars(Mat)}
    for name, change in changes.items():
        setattr(Mat, name, change)
    for name, numpys in _TESTS.items():
        OPERATORS[name].refused = partial(_test, name, numpys)
    for name in _PRODUCTS:
        OPERATORS[name].gives_numbers = True
    operators = _by_numpys_operators()
    for name, numpys in operators.items():
        OPERATORS[name].by_numpy = numpys
    UNCHANGING.append(changes)
    try:
        yield
    finally:
        UNCHANGING[:] = [item for item in UNCHANGING if item is not changes]
        for name in _TESTS:
            OPERATORS[name].refused = None
        for name in _PRODUCTS:
            OPERATORS[name].gives_numbers = False
        for name in operators:
            OPERATORS[name].by_numpy = None
        for name in changes:
            if name in before:
                setattr(Mat, name, before[name])
            else:
                delattr(Mat, name)


def _shown(self: Mat) -> Any:
    """Return the elements as NumPy prints them, None if there are none to be had."""
    if self._is_closed():
        return None
    self.storage.settle_pending(False)
    a = self._peek()
    return a if a is None or self.is_view else a[()]  # results without axes as NumPy's scalars


def _as_shown(show: Callable[[Any], str], plain: Function) -> Function:
    """Return a method that shows elements as NumPy does, or by `plain` where that cannot be."""
    def method(self: Mat, *spec: str) -> str:
        a = None if any(spec) else _shown(self)
        return plain(self, *spec) if a is None else show(a)

    return method


_SHOWN = {"__repr__": _as_shown(repr, Mat.__repr__), "__str__": _as_shown(str, Mat.__repr__),
          "__format__": _as_shown(format, Mat.__format__)}


class _AtFirstUse:
    """Stands for a method until it is used: what computes it may still be imported only then."""

    def __init__(self, name: str, change: Function) -> None:
        self.name, self.change = name, change

    def __get__(self, instance: Mat | None, owner: type[Mat]) -> Any:
        changed: Any = self.change(getattr(super(Mat, owner), self.name))
        setattr(Mat, self.name, changed)
        return changed.__get__(instance, owner)


def _array(plain: Function) -> Function:
    """Return a method with arrays for results without axes, which can be written, not numbers."""
    return _described(RelayMethod(plain, Mat, Mat._as_array), plain)


def _by_either(result: Function, plain: Function) -> Function:
    """Return a method that calls NumPy's, of a copy, for calls that `plain` refuses; `result` makes
    numbers or arrays of results without axes.
    """
    name = plain.__name__

    def numpys(args: Arguments, kwargs: Keywords) -> Operand:
        return by_numpy(name, lambda a, *others, **named: getattr(np.array(a), name)(
            *others, **named), args, kwargs)

    return _described(RelayMethod(plain, Mat, result, OURS, (MatError,), numpys), plain)


def _view(plain: Function) -> Function:
    """Return the method `view`, for which the class of all arrays changes nothing."""
    converted = _by_either(Mat._as_array, plain)

    def view(self: Mat, *args: Operand, **kwargs: Operand) -> Operand:
        kind: Any = kwargs.get("type")
        if kind is ndarray or kind is np.ndarray:
            del kwargs["type"]
        elif kind is not None:
            return by_numpy("view", np.ndarray.view, (self, *args), kwargs)
        return converted(self, *(a for a in args if a is not ndarray and a is not np.ndarray),
                         **kwargs)

    return _described(view, plain)


def _assignment(plain: Function) -> Function:
    """Return the assignment that reads texts and objects as numbers, and takes the real parts of
    complex elements, as NumPy's does.
    """
    def assign(self: Mat, index: Operand, value: Any) -> None:
        if isinstance(value, str | bytes) or (type(value) is np.ndarray
                                              and value.dtype.kind in _NO_NUMBERS):
            value = np.asarray(value).astype(self.dtype)
        real = _without_imaginary_parts(value) if self.dtype.kind not in "cb" else value
        if real is not value:
            warn("Casting complex values to real discards the imaginary part",
                 np.exceptions.ComplexWarning)
        plain(self, index, real)

    return _described(assign, plain)


def _without_imaginary_parts(value: Any) -> Operand:
    """Return the real parts of Mats, of NumPy's arrays and of its numbers; all else as it is."""
    if isinstance(value, (Mat, np.ndarray, np.complexfloating)) and value.dtype.kind == "c":
        return value.real
    return value


def _described(method: Function, plain: Function) -> Function:
    method.__dict__.update(__name__=plain.__name__, __doc__=plain.__doc__,
                           __qualname__=f"Mat.{plain.__name__}")
    return method


def _by_numpys_operators() -> dict[str, Function]:
    """Return functions of two operands that carry out Python's operators by NumPy."""
    found: dict[str, Function] = {}
    for name, rule in {**{name: getattr(operator, f"__{name}__") for name in _OPERATORS},
                       "divmod": divmod}.items():
        found[f"__{name}__"] = partial(_operator, name, rule)
        found[f"__r{name}__"] = partial(_operator, name, lambda x, y, rule=rule: rule(y, x))
    return found


def _operator(name: str, rule: Function, x: Mat, y: Operand) -> Operand:
    """Return the result of an operator, computed by NumPy."""
    return by_numpy(name, rule, (x, y), {})


def _test(name: str, numpys: Function, x: Mat, y: Operand) -> Operand:
    """Compare with a text or None element by element, as NumPy does."""
    if y is None or isinstance(y, str):
        return by_numpy(name, numpys, (x, y), {})
    return NotImplemented


_OF_NUMPY = "numpy"
_INSTALLED = ("site-packages", "dist-packages")
_MAIN = "__main__"
_IMPORTS_MAT = re.compile(r"^\s*(?:import mat|from mat)\b", re.MULTILINE)


class ProgramFiles:
    """The files that belong to a program: files and folders, without installed packages."""

    def __init__(self, places: Iterable[str | os.PathLike[str]]) -> None:
        self.places = [Path(place).resolve() for place in places]
        self.importing: dict[str, bool] = {}  # by files: whether they get stand-ins
        self.known: dict[str, bool] = {}  # by the names of files, as code objects have them
        self.libraries = [Path(p).resolve() for p in (
            sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"),
            Path(__file__).parents[1])]

    def has(self, file: str) -> bool:
        """Return whether a file belongs to the program."""
        found = self.known.get(file)
        if found is None:
            found = self.known[file] = self._has(file)
        return found

    def _has(self, file: str) -> bool:
        if cell_of(file) is not None:  # of a notebook
            return True
        if file.startswith("<"):
            return False
        path = Path(file).resolve()
        for place in self.places:
            if path == place or (place in path.parents and self._is_own(path, place)):
                return True
        return False

    def _is_own(self, path: Path, place: Path) -> bool:
        """Return whether a file in a folder of the program is no library installed there."""
        inner = path.relative_to(place).parts
        return not any(part in _INSTALLED for part in inner) and not any(
            library in path.parents and library not in (place, *place.parents)
            for library in self.libraries)

    def imports(self, importer: Mapping[str, Any]) -> bool:
        """Return whether a module gets stand-ins: one of the program that does not import `mat`."""
        file = importer.get("__file__")
        if isinstance(file, str):
            found = self.importing.get(file)
            if found is None:
                found = self.importing[file] = self.has(file) and not _IMPORTS_MAT.search(
                    "".join(linecache.getlines(file)))
            return found
        return bool(importer.get("__name__") == _MAIN)


def package_place(name: str) -> Path:
    """Return the folder of a package, or the file of a module; raise `SettingError` without."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        raise SettingError(f"cannot import {name!r}: {error}") from None
    if spec is None or spec.origin is None:
        raise SettingError(f"no package or module {name!r} can be imported")
    place = Path(spec.origin)
    return place.parent if spec.submodule_search_locations else place


@contextmanager
def importing(program: ProgramFiles, stand_in: Callable[[str], ModuleType]) -> Iterator[None]:
    """Give the files of a program the result of `stand_in` for each module of NumPy.

    Where their classes have a method `__array__`, it returns NumPy's arrays: NumPy takes no others.
    """
    plain, by_name, imports = builtins.__import__, importlib.import_module, program.imports
    build: Any = builtins.__build_class__

    def import_(name: str, globals: Mapping[str, Any] | None = None,  # noqa: A002
                locals: Mapping[str, Any] | None = None,  # noqa: A002
                fromlist: Sequence[str] | None = (), level: int = 0) -> ModuleType:
        found: ModuleType = plain(name, globals, locals, fromlist, level)
        if level or globals is None or not _is_numpys(name) or not imports(globals):
            return found
        return stand_in(name if fromlist else _OF_NUMPY)

    def import_module(name: str, package: str | None = None) -> ModuleType:
        found: ModuleType = by_name(name, package)
        if not _is_numpys(name) or not imports(sys._getframe(1).f_globals):
            return found
        return stand_in(name)

    def build_class(body: Any, *args: Any, **kwargs: Any) -> Any:
        found = build(body, *args, **kwargs)
        own = getattr(found, "__dict__", {}).get("__array__")
        if own is not None and imports(body.__globals__):
            found.__array__ = _giving_arrays(own)
        return found

    builtins.__import__, importlib.import_module = import_, import_module
    vars(builtins)["__build_class__"] = build_class
    try:
        yield
    finally:
        builtins.__import__, importlib.import_module = plain, by_name
        vars(builtins)["__build_class__"] = build


def _giving_arrays(method: Function) -> Function:
    """Return a method ``__array__`` that returns a copy of the elements for a Mat."""
    @functools.wraps(method)
    def array(*args: Operand, **kwargs: Operand) -> Operand:
        found: Any = method(*args, **kwargs)
        return found.to_numpy() if isinstance(found, Mat) else found

    return array


def _is_numpys(name: str) -> bool:
    return name.startswith(_OF_NUMPY) and (name == _OF_NUMPY or name[len(_OF_NUMPY)] == ".")


# The class of arrays: Mats and NumPy's arrays are instances of it, and subclasses are NumPy's


class _ArrayType(type):
    """The class of `ndarray`."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any],
                **kwargs: Any) -> Any:
        if not any(isinstance(base, _ArrayType) for base in bases):
            return super().__new__(cls, name, bases, namespace)
        plain = tuple(np.ndarray if isinstance(base, _ArrayType) else base for base in bases)
        return type(plain[0])(name, plain, namespace, **kwargs)

    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, (Mat, np.ndarray))

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, (Mat, np.ndarray)) or kind is cls

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is Mat or other is np.ndarray

    def __hash__(cls) -> int:
        return hash(Mat)

    def __call__(cls, *args: Operand, **kwargs: Operand) -> Operand:
        try:
            return Mat(*args, **kwargs)
        except MatError:
            return np.ndarray(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        return _method(name)

    def __repr__(cls) -> str:
        return repr(np.ndarray)


def _method(name: str) -> Any:
    """Return a method for calls by the class; what is no method is NumPy's."""
    numpys = getattr(np.ndarray, name)
    # hasattr would import what Mats import at the first use of a method
    if not callable(numpys) or not any(name in vars(kind) for kind in Mat.__mro__):
        return numpys

    def call(self: Operand, *args: Operand, **kwargs: Operand) -> Operand:
        function: Callable[..., Any] = getattr(Mat if isinstance(self, Mat) else np.ndarray, name)
        return function(self, *args, **kwargs)

    call.__name__ = name
    return call


def _new(cls: type, *args: Operand, **kwargs: Operand) -> Operand:
    return np.ndarray.__new__(cls, *args, **kwargs)


class ndarray(metaclass=_ArrayType):  # noqa: N801  # NumPy's name
    """The class of arrays: of Mats, and of NumPy's arrays for what Mats cannot be."""

    __slots__ = ()
    __new__ = _new  # of subclasses, which are NumPy's
    __class_getitem__: Any = classmethod(GenericAlias)
    __module__ = "numpy"


for _name in ("__setitem__", "__getitem__", "__array_finalize__", "__array_wrap__", "__setstate__",
              "__reduce__", "__array_ufunc__", "__array_function__", "__array__", "__len__"):
    setattr(ndarray, _name, _method(_name))


# Arrays in files


class StoredArrays(NpzFile):
    """The arrays of an .npz file, read when they are asked for."""

    def __init__(self, numpys: NpzFile) -> None:
        self.__dict__.update(vars(numpys))
        numpys.fid = numpys.zip = None  # which self closes

    def __getitem__(self, key: str) -> Any:
        return delegate(super().__getitem__, (key,))


@functools.wraps(np.load)
def load(*args: Operand, **kwargs: Operand) -> Operand:
    found: Any = delegate(np.load, args, kwargs)
    if type(found) is NpzFile:
        found = StoredArrays(found)
    return found


# NumPy's own random numbers, for programs that have to draw the same as with NumPy: drawn on the
# host, and given as Mats


NUMPYS_RANDOM: list[bool] = []  # has an item if random numbers are to be those
_OF_NUMBERS = frozenset((int, float, np.float64))
_NOT_DRAWING = frozenset(("bit_generator", "spawn", "seed", "get_state", "set_state"))


def _drawing(name: str, numpys: Any) -> Operand:
    """Return the replacement of an object of `numpy.random`."""
    if name in ("Generator", "RandomState"):
        return _drawing_class(numpys)
    if name == "default_rng":
        return functools.wraps(numpys)(_drawing_rng)
    if isinstance(numpys, type) or name in _NOT_DRAWING:
        return numpys
    return functools.wraps(numpys)(lambda *args, **kwargs: _drawn(name, numpys, args, kwargs))


def _drawn(name: str, function: Function, args: Arguments, kwargs: Keywords) -> Operand:
    """Return a function's random numbers, arrays as Mats and numbers as they are."""
    if not kwargs and not IN_USE and _OF_NUMBERS.issuperset(map(type, args)):
        drawn = function(*args)
        return adopted(drawn) if type(drawn) is np.ndarray and drawn.ndim else drawn
    written = [x for x in args[:1] if name == "shuffle" and isinstance(x, Mat)]
    found = delegate(function, args, kwargs, name=f"random.{name}", written=written)
    return found.to_numpy()[()] if type(found) is Mat and not found.shape else found


@functools.cache
def _drawing_class(kind: type) -> Any:
    """Return the subclass of a class of generators whose methods draw so."""
    def drawing(name: str, plain: Function) -> Function:
        return functools.wraps(plain)(
            lambda self, *args, **kwargs: _drawn(name, partial(plain, self), args, kwargs))

    return type(kind.__name__, (kind,), {
        name: drawing(name, getattr(kind, name)) for name in dir(kind)
        if not name.startswith("_") and name not in _NOT_DRAWING})


def _drawing_rng(seed: Operand = None) -> Operand:
    if isinstance(seed, np.random.Generator):
        return seed
    return _drawing_class(np.random.Generator)(np.random.default_rng(seed).bit_generator)


# The modules


_FACTS = ("__file__", "__path__", "__spec__", "__package__", "__loader__", "__version__")
# what gives arrays without axes, in NumPy, too
_ARRAYS = frozenset(("array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray",
                     "asfortranarray", "astype", "block", "broadcast_to", "copy", "cov", "empty",
                     "empty_like", "fftn", "from_dlpack", "full", "full_like", "i0", "ifftn",
                     "imag", "ones", "ones_like", "permute_dims", "piecewise", "real",
                     "real_if_close", "require", "reshape", "select", "squeeze", "transpose",
                     "trim_zeros", "where", "zeros", "zeros_like"))
_CLASSES = frozenset(("vectorize", "poly1d", "ndenumerate", "ufunc", "r_", "c_", "mgrid", "ogrid",
                      "nditer", "testing", "__array_namespace_info__", "Generator", "RandomState"))


def _module_for(numpys: ModuleType, table: str) -> ModuleType:
    """Return a module in the place of NumPy's, whose objects are made at first use."""
    module = ModuleType(numpys.__name__, numpys.__doc__)

    def find(name: str) -> Operand:
        theirs = getattr(numpys, name)  # whose error names NumPy's module
        found = vars(module)[name] = _made(table, name, theirs)
        return found

    # a module of a class of its own, with these as methods, would be slower to look up names in
    module.__dict__.update({name: vars(numpys)[name] for name in _FACTS if name in vars(numpys)},
                           __all__=list(getattr(numpys, "__all__", ())),
                           __getattr__=find, __dir__=lambda: dir(numpys))
    return module


def _made(table: str, name: str, numpys: Any) -> Operand:
    inner = f"{table}.{name}".lstrip(".")
    if isinstance(numpys, ModuleType) and inner in MODULES:
        return stand_in(f"numpy.{inner}")
    if table == "random" and NUMPYS_RANDOM:
        return _drawing(name, numpys)
    kind = kinds(table).get(name)
    if kind in (None, SAME, ABSENT):
        return numpys
    if (table, name) == ("", "ndarray"):
        return ndarray
    if (table, name) == ("", "load"):
        return load
    ours = attrgetter(inner)(plugin("mat"))
    if name in _CLASSES:
        return ours
    if kind == UFUNC:
        return ufunc_of(name, ours, numpys)
    numbers = kind == FUNCTION and name not in _ARRAYS
    return function_of(inner, ours, numpys, numbers=numbers)


def stand_in(name: str) -> ModuleType:
    """Return the replacement of a NumPy module: itself, if `mat` has no such functions."""
    table = name.partition(".")[2]
    if table not in MODULES:
        found: ModuleType = attrgetter(table)(stand_in("numpy"))
        return found
    if table not in _made_modules:
        _made_modules[table] = _module_for(numpy_module(table) if table else np, table)
    return _made_modules[table]


_made_modules: dict[str, ModuleType] = {}


def __getattr__(name: str) -> Operand:
    """Return a function that stands in for NumPy's, for pickles of it."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(stand_in("numpy"), name)
