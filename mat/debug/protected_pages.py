"""Host memory in pages of its own, which can be made read-only or taken away, and who touches it
then is noted by line.

Where the system cannot do that (it wants Linux and its C library), memory is ordinary, and nothing
here ever notes anything.
"""

from __future__ import annotations

import platform
import signal
import struct
import sys
import threading
import weakref
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from cffi import FFI

from ..core.access_record import line_of, thread_name, user_line

PAGE = 4096
OPEN, READ_ONLY, GONE = 3, 1, 0  # as mmap() has it: PROT_READ and PROT_WRITE, one of them, none
_PRIVATE_ANONYMOUS, _DO_NOT_NEED, _FAILED, _SIGNAL_INFO, _NO_DEFER = 0x22, 4, 2**64 - 1, 4, 0x40000000
_DECLARATIONS = """
    void *mmap(void *, size_t, int, int, int, long);
    int munmap(void *, size_t);
    int mprotect(void *, size_t, int);
    int madvise(void *, size_t, int);
    typedef struct { void *handler; unsigned long mask[16]; int flags; void *restorer; } mat_action;
    typedef struct { int number, error, code, padding; uintptr_t address; } mat_fault;
    int sigaction(int, const mat_action *, mat_action *);
"""


class System:
    """The C library, and the function of ours that it calls."""

    def __init__(self) -> None:
        self.ffi = FFI()
        self.ffi.cdef(_DECLARATIONS)
        library = self.ffi.dlopen(None)
        self.mmap, self.munmap, self.mprotect, self.madvise = library.mmap, library.munmap, library.mprotect, library.madvise
        self.sigaction = library.sigaction
        self.callback = self.ffi.callback("void(int, mat_fault *, void *)", _on_fault)
        self.handler = self.ffi.cast("void *", self.callback)

    def at(self, address: int) -> Any:
        """A pointer."""
        return self.ffi.cast("void *", address)


@cache
def system() -> System | None:
    """What this module needs of the system, None if that or the machine is not what the
    declarations are made for.
    """
    fits = sys.platform == "linux" and struct.calcsize("P") == 8 and platform.machine() in ("x86_64", "aarch64")
    return System() if fits and sys.implementation.name == "cpython" else None


def _system() -> System:
    """The same where it is there."""
    found = system()
    assert found is not None, "there are no pages without it"
    return found


class Touch(NamedTuple):
    """That something touched what it must not: at which byte, in which thread, and the line, if
    Python was running one.
    """

    offset: int
    thread: int
    line: str

    def __str__(self) -> str:
        name = thread_name(self.thread)
        return f"at {self.line} in thread {name}" if self.line else f"by compiled code in thread {name}"


class Pages:
    """Some pages; `touched` is the first thing that went against `protect` since that was
    called.
    """

    __slots__ = ("__weakref__", "address", "allowed", "nbytes", "system", "tell", "touched")

    def __init__(self, nbytes: int) -> None:
        self.address = 0
        self.nbytes = -(-nbytes // PAGE) * PAGE
        self.system = c = _system()  # kept for the end, when modules may be gone
        found = int(c.ffi.cast("uintptr_t",
                               c.mmap(c.ffi.NULL, self.nbytes, OPEN, _PRIVATE_ANONYMOUS, -1, 0)))
        if found == _FAILED:
            raise MemoryError(f"the system has no {self.nbytes} bytes in pages of their own")
        self.address = found
        self.allowed = OPEN
        self.touched: Touch | None = None
        self.tell: Callable[[Pages], None] | None = None  # is called when something touched them
        _all[found] = self

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False),
                "version": 3}

    def protect(self, allowed: int) -> None:
        """From now on only what is `allowed` goes unnoticed."""
        if allowed != self.allowed:
            self.touched = None
            self.allowed = allowed
            if allowed != OPEN:
                WATCH.check()
            self._allow()

    def forget(self) -> None:
        """Give what is in them back to the system."""
        c = _system()
        c.madvise(c.at(self.address), self.nbytes, _DO_NOT_NEED)

    def _allow(self) -> None:
        c = _system()
        c.mprotect(c.at(self.address), self.nbytes, self.allowed)

    def note(self, offset: int, frame: FrameType | None) -> None:
        """Something went against it: let that, and what follows, happen."""
        self.allowed = OPEN
        self._allow()
        place = None if frame is None else user_line(frame)
        self.touched = Touch(offset, threading.get_ident(), line_of(place))
        if self.tell is not None:
            self.tell(self)

    def __del__(self) -> None:
        if self.address:
            self.system.munmap(self.system.at(self.address), self.nbytes)


_all: weakref.WeakValueDictionary[int, Pages] = weakref.WeakValueDictionary()


def empty(size: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """As ``numpy.empty``, in pages of its own where that can be done."""
    nbytes = size * dtype.itemsize
    if system() is None or not nbytes:
        return np.empty(size, dtype)
    try:
        return np.asarray(Pages(nbytes))[:nbytes].view(dtype)
    except MemoryError:  # as many separate pieces as the system allows
        return np.empty(size, dtype)


def pages_of(a: Any) -> Pages | None:
    """The pages that an array is in, if they are its own."""
    found = root(a)
    return found if isinstance(found, Pages) else None


def root(a: Any) -> Any:
    """What holds the memory of an array: another array, or something that is none."""
    while isinstance(a, np.ndarray) and a.base is not None:
        a = a.base
    return a


# Noticing


class Watch:
    """Notes who touches pages against their protection, while at least one is on. `begin` and `end`
    it.
    """

    def __init__(self) -> None:
        self._count = 0
        self._before: Any = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        with self._lock:
            self._count += 1

    def end(self) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                self.give_up()

    def check(self) -> None:
        """See to it that we are told; others, such as `faulthandler`, may have come since and want
        to be told first.
        """
        c = _system()
        found = c.ffi.new("mat_action *")
        with self._lock:
            c.sigaction(signal.SIGSEGV, c.ffi.NULL, found)
            if found.handler != c.handler:
                self._before = found
                action = c.ffi.new("mat_action *")
                action.handler, action.flags = c.handler, _SIGNAL_INFO | _NO_DEFER
                c.sigaction(signal.SIGSEGV, action, c.ffi.NULL)

    def give_up(self) -> None:
        """Whoever handled such signals before does so again; if that is nobody any more, the
        system.
        """
        c = system()
        if c is None:
            return
        found = c.ffi.new("mat_action *")
        c.sigaction(signal.SIGSEGV, c.ffi.NULL, found)
        if found.handler == c.handler:
            before, self._before = self._before, None
            c.sigaction(signal.SIGSEGV, c.ffi.new("mat_action *") if before is None else before,
                        c.ffi.NULL)


WATCH = Watch()


def _on_fault(number: int, fault: Any, context: Any) -> None:  # noqa: ARG001
    """The system's signal, in the thread that touched a page and in the middle of that.

    That is no place to run Python, but for this case: the access was one to our pages, so what was
    interrupted is code that moves elements, which holds none of the interpreter's locks but the big
    one, if that. To any other fault we do nothing but step aside; it comes again at once, to
    whoever handled it before.
    """
    try:
        found = _owner(fault.address)
        if found is not None:
            found.note(fault.address - found.address, sys._getframe().f_back)
            return
    except BaseException:  # the access must not come here again and again
        WATCH.give_up()
        raise
    WATCH.give_up()


def _owner(address: int) -> Pages | None:
    """The pages which that is in, if they are protected."""
    alive = (ref() for ref in _all.valuerefs())  # a list: other threads may come and go meanwhile
    pages = next((p for p in alive if p is not None
                  and p.address <= address < p.address + p.nbytes), None)
    return pages if pages is not None and pages.allowed != OPEN else None
