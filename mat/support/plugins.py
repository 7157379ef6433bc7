"""Modules that are imported when they are first needed, registered by name; functions that are
called when another library has been imported; imports of NumPy's modules by mat's name.

`mat/__init__.py` registers those of this package, so that a lower folder can use a higher one that
is expensive to import, such as ``mat.cuda``, without importing it.
"""

from __future__ import annotations

import importlib
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .fork import at_fork

_modules: dict[str, str] = {}


def register_plugin(name: str, module: str) -> None:
    """Register `module`, given by its full dotted name, for import by `plugin(name)`."""
    _modules[name] = module


def has_plugin(name: str) -> bool:
    """Return whether a module is registered as `name`."""
    return name in _modules


def plugin(name: str) -> ModuleType:
    """Return the module registered as `name`, imported at the first call."""
    return imported(_modules[name])


class PluginAtFirstUse:
    """Stands for the module registered as `name`: imported when an attribute of it is first read.

    ``ufuncs = at_first_use("ops.primitives.ufuncs")`` is used as an imported module is. What was
    read is kept, and then read as fast.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        found = vars(self)[attribute] = getattr(plugin(self._name), attribute)
        return found


def at_first_use(name: str) -> Any:
    """Return a stand-in for the module registered as `name`, for those who may not need it."""
    return PluginAtFirstUse(name)


def loaded_plugin(name: str) -> ModuleType | None:
    """Return the same module if it has been imported already, else None."""
    return sys.modules.get(_modules[name])


def library(name: str) -> ModuleType | None:
    """Return the module of another library, None if it is not installed."""
    try:
        return imported(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # it is installed, and lacks something itself
            raise
    return None


class AttributeAtFirstUse:
    """Stands for an attribute of the class `of` that a plugin sets there when it is imported."""

    def __init__(self, module: str, name: str, of: type) -> None:
        self.module: str = module
        self.name: str = name
        self.of: type = of

    def __get__(self, instance: object, owner: type) -> Any:
        plugin(self.module)
        return vars(self.of)[self.name].__get__(instance, owner)


# A fork while another thread imports a module: in the child its lock would stay locked for ever


PATIENCE = 5.0  # seconds that a fork waits for imports

_done: set[str] = set()  # modules that `imported` has returned
_under_way: set[int] = set()  # the threads that import one
_forking = threading.RLock()  # held by a thread that forks


def imported(name: str) -> ModuleType:
    """Return a module, given by its full dotted name, imported at the first call."""
    thread = threading.get_ident()
    if name in _done or thread in _under_way:
        return importlib.import_module(name)
    with _forking:
        _under_way.add(thread)
    try:
        found = importlib.import_module(name)
    finally:
        _under_way.discard(thread)
    _done.add(name)
    return found


def _before_fork() -> None:
    """Let no import begin, and wait until those of other threads have ended."""
    _forking.acquire()
    end = time.monotonic() + PATIENCE
    while _under_way - {threading.get_ident()} and time.monotonic() < end:
        time.sleep(0.001)


def _in_child() -> None:
    _under_way.intersection_update({threading.get_ident()})
    _forking.release()


at_fork(before=_before_fork, after_in_parent=_forking.release, after_in_child=_in_child)


# Functions called after the import of a library, in whichever order that and `mat` are imported


Function = Callable[[ModuleType], object]


class _Finder:
    """Finds the modules that functions wait for, by means of the other finders."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[Function]] = {}

    def find_spec(self, name: str, path: Sequence[str] | None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in self.waiting:
            return None
        others = (f for f in sys.meta_path if f is not self)
        spec = next((s for f in others if (s := f.find_spec(name, path, target))), None)
        loader = None if spec is None else spec.loader
        if hasattr(loader, "exec_module") and not isinstance(loader, type):
            self._watch(name, loader)
        return spec

    def _watch(self, name: str, loader: object) -> None:
        """Make the loader, private to this module, call the functions at its end."""
        execute: Function = loader.exec_module  # type: ignore[attr-defined]

        def exec_module(module: ModuleType) -> None:
            execute(module)
            for function in self.waiting.pop(name, ()):
                _call(function, module)

        loader.exec_module = exec_module  # type: ignore[attr-defined]


_FINDER = _Finder()


def after_import(name: str, function: Function) -> None:
    """Call `function` with the module `name` at once or once imported; errors are warnings."""
    module = sys.modules.get(name)
    if module is not None:
        __import__(name)  # which waits for another thread that is still importing it
        _call(function, module)
        return
    _FINDER.waiting.setdefault(name, []).append(function)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def _call(function: Function, module: ModuleType) -> None:
    try:
        function(module)
    except Exception as error:
        warnings.warn(f"mat knows nothing of this version of {module.__name__}: {error!r}",
                      RuntimeWarning, stacklevel=2)


# Imports by mat's name of modules of NumPy's, which are attributes of `mat` that are made when they
# are first used, not files of it: ``import mat.testing``, ``from mat.typing import NDArray``


OWN = __name__.partition(".")[0]


def attribute(name: str) -> ModuleType | None:
    """Return the module that is the attribute `name` of a module of mat that is imported."""
    parent, _, last = name.rpartition(".")
    if parent.partition(".")[0] != OWN or last.startswith("_"):
        return None
    found = getattr(sys.modules.get(parent), last, None)
    return found if isinstance(found, ModuleType) else None


class Attributes:
    """The last finder of imports: it finds modules that are attributes of `mat`, not files."""

    def find_spec(self, fullname: str, path: Sequence[str] | None,  # noqa: ARG002
                  target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return the specification of such a module, or None."""
        loader: Any = self  # not made as a subclass of Loader: importlib.abc takes long to import
        return None if attribute(fullname) is None else ModuleSpec(fullname, loader)

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: the import makes an empty module, replaced by `exec_module`."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the new module by the attribute, and register the modules inside of it.

        Otherwise ``import mat.polynomial.polynomial`` would load NumPy's file a second time.
        """
        name = module.__name__
        found = attribute(name)
        assert found is not None
        inner = f"{found.__name__}."
        sys.modules[name] = found
        for other in [m for m in sys.modules if m.startswith(inner)]:
            sys.modules[f"{name}.{other.removeprefix(inner)}"] = sys.modules[other]


sys.meta_path.append(Attributes())
