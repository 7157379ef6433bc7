"""Compiled locks and identities of threads (``mat._core``), or where nothing is compiled, Python's.

`IN_USE` is here since nothing below operations knows of devices.
"""

from __future__ import annotations

import inspect
import sys
import threading
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from itertools import count
from numbers import Number
from types import CodeType, FrameType, MethodType
from typing import TYPE_CHECKING, Any, TypeAlias

from ..support.fork import in_child
from ..support.native import core, ffi, lib
from ..support.source_files import BETWEEN

SourceLine = tuple[CodeType, int] | tuple[CodeType, int, bool] | None
# one item for each block, of any thread, with a device in use: calls then find out which one
IN_USE: list[object] = []
_PACKAGE = __file__.rpartition("core")[0]  # the folder


def line_above(frame: FrameType | None) -> SourceLine:
    """Return the line of the user that led to `frame`, as ``THREADS.line`` returns it."""
    inside, inner = False, None
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(_PACKAGE):
            inside = True
        else:
            found = (code, frame.f_lasti, True) if inside else (code, frame.f_lasti)
            if BETWEEN.match(code.co_filename) is None:
                return found
            inner = inner or found
        frame = frame.f_back
    return inner


class _ThreadId(threading.local):
    """An identity for each thread, never reused."""

    next = count(16)  # lower ones are in records of what is not a thread

    def __init__(self) -> None:
        self.id = next(self.next)
        _THREADS[self.id] = threading.current_thread()


_THREADS: dict[int, threading.Thread] = {}


class _PythonThreads:
    """The identities of threads, never reused, and the source lines that they execute."""

    def __init__(self, package: str, is_between: Callable[[str], object]) -> None:
        self.package = package
        self.ids = _ThreadId()

    def current(self) -> int:
        return self.ids.id

    def ident(self, thread: int) -> int:
        """Return the value of `threading.get_ident` in a thread; 0 if the thread has ended."""
        known = _THREADS.get(thread)
        if known is not None and not known.is_alive():
            del _THREADS[thread]
            known = None
        return 0 if known is None else known.ident or 0

    def task(self) -> object:
        """Return the task of asyncio that this thread is running, or None."""
        asyncio = sys.modules.get("asyncio")
        if asyncio is None or asyncio._get_running_loop() is None:
            return None
        return asyncio.current_task()

    def line(self) -> SourceLine:
        """Return the line of the user that led to this one: code and instruction, and a third item
        if the line that called the caller is one of the package.

        Lines of Python's library and of NumPy count only where there are no others.
        """
        return line_above(sys._getframe(2))

    def consumer_line(self, is_installed: Callable[[str], object]) -> SourceLine:
        """Return the line of the user that called the library that called the package; if all are
        of libraries, that of the innermost one. `is_installed` says of a file whether it is one.
        """
        frame: FrameType | None = sys._getframe(2)
        inner = None
        while frame is not None:
            code = frame.f_code
            if not code.co_filename.startswith(self.package):
                inner = inner or (code, frame.f_lasti)
                if not is_installed(code.co_filename):
                    return code, frame.f_lasti
            frame = frame.f_back
        return inner


# How often this process was forked: locks of threads that a child does not have are free in it.
_forks = [0]
_renewing = [threading.Lock()]  # held by the thread that frees a lock in a child


@in_child
def _begin_child() -> None:
    _forks[0] += 1
    _renewing[0] = threading.Lock()  # a thread that the child does not have may hold the old one


class _PythonLock:
    """A reentrant lock."""

    def __init__(self) -> None:
        self.own: threading.RLock = threading.RLock()
        self.forks: int = _forks[0]
        self.interrupts: list[BaseException] = []

    @property
    def lock(self) -> Any:
        """The lock of Python, in a child a new one unless the thread that forked has the old."""
        if self.forks != _forks[0]:
            with _renewing[0]:
                self._renew()
        return self.own

    def _renew(self) -> None:
        """Replace the lock of Python, unless another thread did meanwhile."""
        if self.forks != _forks[0]:
            if not self.own._is_owned():  # type: ignore[attr-defined]  # as `Condition` asks
                self.own = threading.RLock()
            self.forks = _forks[0]

    def acquire(self) -> None:
        self.lock.acquire()

    @property
    def count(self) -> int:
        """1 if a thread has self, else 0."""
        own: bool = self.lock._is_owned()
        if not own and self.try_acquire():
            self.release()
            return 0
        return 1

    def acquire_surely(self) -> None:
        """Acquire self to end something; interrupts come after that, when it is released."""
        while True:
            try:
                self.lock.acquire()
                break
            except BaseException as interrupt:
                self.interrupts.append(interrupt)

    def try_acquire(self) -> bool:
        """Acquire self if no other thread has it; return True if it was acquired."""
        return self.lock.acquire(blocking=False)

    def acquire_free(self) -> bool:
        """Acquire self if no thread has it, this one included; return True if it was acquired."""
        return not self.count and self.try_acquire()

    def release(self) -> None:
        """Undo one `acquire`; raise `RuntimeError` unless this thread has the lock."""
        interrupts, self.interrupts = self.interrupts, []
        self.lock.release()
        if interrupts:
            raise interrupts[0]

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class _PythonClosedLock(_PythonLock):
    """A lock that nobody can acquire: to acquire it raises an error."""

    count = 1  # as if another thread had it

    def __init__(self, error: Callable[[], Exception]) -> None:
        super().__init__()
        self.error = error

    @property
    def lock(self) -> Any:
        raise self.error()

    def acquire_surely(self) -> None:
        raise self.error()

    def try_acquire(self) -> bool:
        return False


class _NoBlocks:
    """The allocator of blocks of host memory where there is none: handles are NumPy's arrays."""

    enabled = False
    largest = sys.maxsize  # bytes of an array that is in memory; larger ones may be files

    def allocate(self, nbytes: int) -> int:  # that of the compiled one
        """Return 0: there is no block."""
        return 0

    def free(self, address: int, nbytes: int) -> None:
        """Do nothing."""

    def number_of(self, dtype: Any) -> int:
        return dtype.num


class _PythonLiveObjects:
    """A list of objects that does not keep them."""

    def __init__(self) -> None:
        # by identity: Mats cannot be hashed
        self.found: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def add(self, one: object) -> int:
        """Add an object; return its place, a nonzero number."""
        self.found[id(one)] = one
        return id(one)

    def remove(self, place: int) -> None:
        """Do nothing."""

    def at(self, place: int) -> Any:
        return self.found.get(place)

    def all(self) -> list[Any]:
        refs = self.found.valuerefs()  # a copy, while other threads add objects
        return [one for ref in refs if (one := ref()) is not None]


class _PythonMaker:
    """Makes objects of a class without calling its `__init__`."""

    making = False

    def set_type(self, kind: Any, operators: type) -> None:
        """Make objects of that class from now on."""
        def new(kind: Any, *_: object, **__: object) -> Any:
            made = object.__new__(kind)
            made.__cinit__()  # the name that Cython has for it
            return made

        self.kind = kind
        kind.__signature__ = inspect.signature(kind)  # which is not that of `new`
        kind.__new__ = staticmethod(new)

    def make(self) -> Any:
        """Return a new object, whose attributes are still to be set."""
        return object.__new__(self.kind)

    def make_like(self, other: object) -> Any:
        """Return a new object of the class of `other`: the maker's, or a derived one."""
        return object.__new__(type(other))


class _PythonPackedMethod:
    """A method whose function gets its arguments as a tuple, self among them, and a dictionary."""

    def __init__(self, function: Callable[[tuple[Any, ...], dict[str, Any] | None], Any]) -> None:
        self.function = function

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(args, kwargs)


class _PythonRelay:
    """A function that passes its arguments on to `function`.

    For an object of the class `kind` that this returns, unless it is one of the arguments,
    `returned` gives the result; after an error of the classes `errors`, but not of those in
    `passing`, `failed` does, which gets the tuple and the dictionary of the arguments. Calls with
    nothing but numbers by position go to `of_numbers` instead, if there is one.
    """

    def __init__(self, function: Callable[..., Any], kind: type | None = None,
                 returned: Any = None, passing: tuple[type[BaseException], ...] = (),
                 errors: tuple[type[BaseException], ...] = (), failed: Any = None) -> None:
        self.function, self.kind, self.returned = function, kind, returned
        self.passing, self.errors, self.failed = passing, errors, failed
        self.of_numbers: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (self.of_numbers is not None and args and not kwargs
                and all(isinstance(value, Number) for value in args)):
            return self.of_numbers(*args)
        try:
            found = self.function(*args, **kwargs)
        except self.passing:
            raise
        except self.errors:
            found = None
        else:
            if type(found) is not self.kind or any(
                    found is given for given in (*args, *kwargs.values())):
                return found
            return self.returned(found)
        return self.failed(args, kwargs)

    def __reduce__(self) -> str:
        name: str = vars(self)["__qualname__"]
        return name

    def __repr__(self) -> str:
        return repr(self.function)


class _PythonRelayMethod(_PythonRelay):
    """A relay that is a method where it is an attribute of a class."""

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)


class _NoKernels:
    """A call of a kernel where there are none."""


def share_by(threads: int) -> None:
    """Divide large work of compiled calls among running threads; with 0, leave it to Python."""
    if core is not None:
        core.share_by(_SHARE, threads)


def give_buffer(kind: type) -> None:
    """Give objects of a class a buffer by `_exported`, as `__buffer__` does from Python 3.12 on."""
    if core is not None:
        core.give_buffer(kind)


_SHARE = 0 if lib is None else int(ffi.cast("uintptr_t", ffi.addressof(lib, "mat_share")))
share_by(0)
if TYPE_CHECKING:  # the compiled classes have the methods of those in Python
    reference_to = weakref.ref
    referent = weakref.ref.__call__
    reference_count = sys.getrefcount
    context_value = ContextVar.get
    Lock: TypeAlias = _PythonLock
    ClosedLock: TypeAlias = _PythonClosedLock
    KernelCall: TypeAlias = Any
    DriverCall: TypeAlias = Any
    CudaLaunch: TypeAlias = Any
    CudaLaunches: TypeAlias = Any
    CublasCall: TypeAlias = Any
    CublasProduct: TypeAlias = Any
    CublasTypedProduct: TypeAlias = Any
    CublasVectorProduct: TypeAlias = Any
    CublasUpdate: TypeAlias = Any
    CublasScale: TypeAlias = Any
    CudaFetch: TypeAlias = Any
    CudaFill: TypeAlias = Any
    CudaSend: TypeAlias = Any
else:
    reference_to = core.reference_to if core is not None else weakref.ref
    referent = core.referent if core is not None else weakref.ref.__call__
    reference_count = core.reference_count if core is not None else sys.getrefcount
    context_value = core.context_value if core is not None else ContextVar.get
    Lock = core.Lock if core is not None else _PythonLock
    ClosedLock = core.ClosedLock if core is not None else _PythonClosedLock
    KernelCall = core.KernelCall if core is not None else _NoKernels
    globals().update({name: getattr(core, name, None) for name in (
        "DriverCall", "CudaLaunch", "CudaLaunches", "CublasCall", "CublasProduct",
        "CublasTypedProduct", "CublasVectorProduct", "CublasUpdate", "CublasScale", "CudaFetch",
        "CudaFill", "CudaSend")})
Threads: Any = core.Threads if core is not None else _PythonThreads
HostBlock: Any = core.HostBlock if core is not None else None
LiveObjects: Any = core.LiveObjects if core is not None else _PythonLiveObjects
# lets objects of a class derived from `Callee` of the core be called without a tuple of arguments
give_vectorcall: Callable[[type], object] = (
    core.give_vectorcall if core is not None else lambda _: None)
PackedMethod: Any = core.PackedMethod if core is not None else _PythonPackedMethod
Relay: Any = core.Relay if core is not None else _PythonRelay
RelayMethod: Any = core.RelayMethod if core is not None else _PythonRelayMethod
Maker: Any = core.Maker if core is not None else _PythonMaker

# what lends a NumPy array to one block after the other
ArrayLender: Any = core.ArrayLender if core is not None else None

THREADS = Threads(_PACKAGE, BETWEEN.match)
BLOCKS: Any = core.BLOCKS if core is not None else _NoBlocks()
if core is not None:
    BLOCKS.use(*(int(ffi.cast("uintptr_t", ffi.addressof(lib, name)))
                 for name in ("mat_host_allocate", "mat_host_free")))
