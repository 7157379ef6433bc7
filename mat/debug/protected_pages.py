"""Host memory in pages of its own that can be protected: the first access against the protection is
recorded with its thread and line. Arrays of NumPy between pages that nobody may access.

This needs Linux and its C library. On other systems memory is ordinary, and nothing is noted.
"""

from __future__ import annotations

import ctypes
import linecache
import os
import platform
import signal
import struct
import sys
import threading
import weakref
from bisect import bisect_right, insort
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from types import FrameType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from cffi import FFI

from ..core.compiled import THREADS
from ..core.source_line import cell_of, line_of, thread_name, user_line
from ..errors import KernelError
from ..support.c_compiler import CompileError, library
from ..support.open_blocks import Block
from ..support.types import Array, CData, DType

PAGE = 4096
# PROT_READ and PROT_WRITE of mprotect(), the first of them, and neither
READ_WRITE, READ_ONLY, NO_ACCESS = 3, 1, 0
_PRIVATE_ANONYMOUS, _DO_NOT_NEED = 0x22, 4  # of mmap() and madvise()
_FAILED = 2**64 - 1  # what mmap() returns then
_SIGNAL_INFO, _NO_DEFER = 4, 0x40000000  # of sigaction()
# the modules that copy elements between memories, or write those that were never written
_COPYING = tuple(f"{__name__.partition('.')[0]}.{folder}."
                 for folder in ("core", "memories", "devices", "cuda"))
_DECLARATIONS = """
    void *mmap(void *, size_t, int, int, int, long);
    int munmap(void *, size_t);
    int mprotect(void *, size_t, int);
    int madvise(void *, size_t, int);
    int memcmp(const void *, const void *, size_t);
    typedef struct { void *handler; unsigned long mask[16]; int flags; void *restorer; } mat_action;
    typedef struct { int number, error, code, padding; uintptr_t address; } mat_fault;
    int sigaction(int, const mat_action *, mat_action *);
"""


class System:
    """The functions of the C library that are called here, and the handler that it calls."""

    def __init__(self) -> None:
        self.ffi: CData = FFI()
        self.ffi.cdef(_DECLARATIONS)
        library = self.ffi.dlopen(None)
        self.mmap: CData = library.mmap
        self.munmap: CData = library.munmap
        self.mprotect: CData = library.mprotect
        self.madvise: CData = library.madvise
        self.memcmp: CData = library.memcmp
        self.sigaction: CData = library.sigaction
        self.callback: CData = self.ffi.callback("void(int, mat_fault *, void *)", _on_fault)
        self.handler: CData = self.ffi.cast("void *", self.callback)

    def pointer(self, address: int) -> CData:
        """Return `address` as a C pointer."""
        return self.ffi.cast("void *", address)


@cache
def system() -> System | None:
    """Return the system's functions, None where the declarations do not fit system or machine."""
    fits = (sys.platform == "linux" and struct.calcsize("P") == 8
            and platform.machine() in ("x86_64", "aarch64"))
    return System() if fits and sys.implementation.name == "cpython" else None


def _required_system() -> System:
    found = system()
    assert found is not None, "there are no pages without it"
    return found


class Touch(NamedTuple):
    """An access against the protection: its byte, its thread, and the line if Python ran one."""

    offset: int
    thread: int
    line: str

    def __str__(self) -> str:
        name = thread_name(self.thread)
        if self.line:
            return f"at {self.line} in thread {name}"
        return f"by compiled code in thread {name}"


def mapped(nbytes: int) -> int:
    """Return the address of new pages that nothing else has."""
    c = _required_system()
    address = int(c.ffi.cast("uintptr_t", c.mmap(c.ffi.NULL, nbytes, READ_WRITE,
                                                 _PRIVATE_ANONYMOUS, -1, 0)))
    if address == _FAILED:
        raise MemoryError(f"the system has no {nbytes} bytes in pages of their own")
    return address


def unmap(address: int, nbytes: int) -> None:
    """Give such pages back."""
    c = _required_system()
    c.munmap(c.pointer(address), nbytes)


class Pages:
    """A run of memory pages; `touched`: the first forbidden access since `protect`."""

    __slots__ = ("__weakref__", "address", "allowed", "nbytes", "notify", "system", "touched")

    def __init__(self, nbytes: int) -> None:
        self.nbytes: int = -(-nbytes // PAGE) * PAGE
        self.system: System = _required_system()  # needed by __del__, when modules may be gone
        c = self.system
        null, cast = c.ffi.NULL, c.ffi.cast
        # one statement, so that an interrupt does not lose the pages
        self.address: int = int(cast("uintptr_t", c.mmap(null, self.nbytes, READ_WRITE,
                                                         _PRIVATE_ANONYMOUS, -1, 0)))
        if self.address == _FAILED:
            self.address = 0
            raise MemoryError(f"the system has no {self.nbytes} bytes in pages of their own")
        self.allowed: int = READ_WRITE
        self.touched: Touch | None = None
        self.notify: Callable[[Pages], None] | None = None  # called after such an access
        _all[self.address] = self

    @property
    def __array_interface__(self) -> dict[str, object]:
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False),
                "version": 3}

    def protect(self, allowed: int) -> None:
        """From now on note an access that is not `allowed`."""
        if allowed != self.allowed:
            self.touched = None
            self.allowed = allowed
            if allowed != READ_WRITE:
                FAULT_HANDLER.ensure_installed()
            self._set_protection(allowed)

    def discard(self) -> None:
        """Return the contents to the system; the pages read as zeros from now on."""
        c = _required_system()
        c.madvise(c.pointer(self.address), self.nbytes, _DO_NOT_NEED)

    def _set_protection(self, allowed: int) -> None:
        c = self.system
        c.mprotect(c.pointer(self.address), self.nbytes, allowed)

    def unprotect(self) -> None:
        """Allow every access, also where an interrupt came between two steps of `protect`."""
        if self.address:
            self._set_protection(READ_WRITE)
            self.allowed, self.touched, self.notify = READ_WRITE, None, None

    def note(self, offset: int, frame: FrameType | None) -> None:
        """Record a forbidden access, also again after an interrupt, and allow later ones."""
        self._set_protection(READ_WRITE)
        # in copies by this package elements are copied that nobody reads
        if self.allowed != READ_WRITE and (
                frame is None or not frame.f_globals.get("__name__", "").startswith(_COPYING)):
            place = None if frame is None else user_line(frame)
            self.touched = Touch(offset, THREADS.current(), line_of(place))
            if self.notify is not None:
                self.notify(self)
        self.allowed = READ_WRITE

    def __del__(self) -> None:
        if getattr(self, "address", 0):  # an interrupt may have come before it
            self.system.munmap(self.system.pointer(self.address), self.nbytes)


class PageRange(Pages):
    """Pages that are a part of memory of others, which `keep` keeps."""

    __slots__ = ("keep",)

    def __init__(self, address: int, nbytes: int, keep: object) -> None:
        self.address = address
        self.nbytes = nbytes
        self.system = _required_system()
        self.allowed = READ_WRITE
        self.touched = self.notify = None
        self.keep = keep
        _all[address] = self

    def unprotect(self) -> None:
        """Leave the pages as they are: who made this knows its end."""

    def __del__(self) -> None:
        """Leave the memory to its owner."""


def is_watched(address: int, nbytes: int) -> bool:
    """Return whether accesses to some of these bytes are noted already."""
    return any(p.address < address + nbytes and address < p.address + p.nbytes for p in _alive())


_all: weakref.WeakValueDictionary[int, Pages] = weakref.WeakValueDictionary()


def unprotect_all() -> None:
    """Allow every access to all pages."""
    for pages in _alive():
        pages.unprotect()


def _alive() -> list[Pages]:
    # a list: other threads add and remove meanwhile
    return [found for ref in _all.valuerefs() if (found := ref()) is not None]


def empty(size: int, dtype: DType) -> Array:
    """Do as ``numpy.empty``, in pages of their own where that is possible."""
    nbytes = size * dtype.itemsize
    if system() is None or not nbytes:
        return np.empty(size, dtype)
    try:
        return np.asarray(Pages(nbytes))[:nbytes].view(dtype)
    except MemoryError:  # as many separate pieces as the system allows
        return np.empty(size, dtype)


def pages_of(a: object) -> Pages | None:
    """Return the pages that the memory of an array consists of, None if it is ordinary memory."""
    found = owner_of(a)
    return found if isinstance(found, Pages) else None


def owner_of(a: object) -> object:
    """Return the owner of an array's memory: the last object along ``base``."""
    while True:
        base = a.obj if isinstance(a, memoryview) else getattr(a, "base", None)
        if base is None or not isinstance(a, np.ndarray | memoryview):
            return a
        a = base


# Noticing


class FaultHandler:
    """The handler of segmentation faults, installed while at least one `begin` has not ended."""

    def __init__(self) -> None:
        self._users: list[object] = []
        # returns a message for the address of a fault elsewhere, in the frame given
        self.explain: Callable[[int, FrameType | None], str] | None = None
        self._before: CData = None
        self._lock = threading.RLock()

    def begin(self, user: object) -> None:
        """Allow the handler to be installed, for `user`."""
        with self._lock:
            self._users.append(user)

    def end(self, user: object) -> None:
        """End such a time, if it has begun; after the last one, uninstall the handler."""
        with self._lock:
            self._users = [other for other in self._users if other is not user]
            if not self._users:
                self.uninstall()

    def ensure_installed(self) -> None:
        """Install the handler, also over one that `faulthandler` or others installed since."""
        c = _required_system()
        found = c.ffi.new("mat_action *")
        with self._lock:
            c.sigaction(signal.SIGSEGV, c.ffi.NULL, found)
            if found.handler != c.handler:
                self._before = found
                action = c.ffi.new("mat_action *")
                action.handler, action.flags = c.handler, _SIGNAL_INFO | _NO_DEFER
                c.sigaction(signal.SIGSEGV, action, c.ffi.NULL)

    def uninstall(self) -> None:
        """Put the handler back that was there before, or the system's if there was none."""
        c = system()
        if c is None:
            return
        found = c.ffi.new("mat_action *")
        c.sigaction(signal.SIGSEGV, c.ffi.NULL, found)
        if found.handler == c.handler:
            before, self._before = self._before, None
            c.sigaction(signal.SIGSEGV, c.ffi.new("mat_action *") if before is None else before,
                        c.ffi.NULL)


FAULT_HANDLER = FaultHandler()


def _on_fault(number: int, fault: CData, context: CData) -> None:  # noqa: ARG001
    """Handle the system's signal, in the thread that accessed a page and in the middle of that.

    Python must not run in most signal handlers. Here it may: an access to such pages interrupts
    code that moves elements, which has none of the interpreter's locks but the GIL, if that. Any
    other fault is left to the handler that was there before: this one is uninstalled, and the fault
    happens again at once. What is known of its address is printed first.

    An interrupt cannot be raised through the code that made the access. It is raised after that.
    """
    interrupts: list[type[BaseException]] = []
    while True:
        try:
            _handle(fault.address, sys._getframe().f_back)
            break
        except Exception:  # the access must not come here again and again
            FAULT_HANDLER.uninstall()
            raise
        except BaseException as interrupt:
            interrupts.append(type(interrupt))
    for kind in interrupts[:1]:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()),
                                                   ctypes.py_object(kind))


def _handle(address: int, frame: FrameType | None) -> None:
    """Record a fault at an address of `Pages`; leave any other to the previous handler."""
    found = next((p for p in _alive() if p.address <= address < p.address + p.nbytes), None)
    if found is not None:
        found.note(address - found.address, frame)
        return
    if FAULT_HANDLER.explain is not None:
        os.write(2, FAULT_HANDLER.explain(address, frame).encode())
    FAULT_HANDLER.uninstall()


# Memory of NumPy's arrays between pages that nobody may access: NumPy's allocator is replaced while
# a block runs (NEP 49), which needs a C compiler. An array ends where its last page does, or up to
# 15 bytes before. The page after it, and the one before its first page, are protected. What is left
# of its own pages has a pattern, which is compared when the array is freed


MOST = 8000  # arrays at a time, each of which takes three of the system's 65,530 mappings
_SPARE = 16  # freed arrays of a size that are kept, and their pages
_ALIGNED = 16  # bytes, as the C library's memory is
_PATTERN = 0xA7  # of bytes beside an array
_SET_HANDLER = 304  # the place of PyDataMem_SetHandler() in NumPy's table of functions
# NumPy frees arrays while exceptions are being raised, when no Python may run
_SOURCE = """
#include <stddef.h>
#include <stdint.h>
typedef struct { uint64_t head; void *at[65536]; } queue;
void mat_release(queue *freed, void *pointer, size_t nbytes) {
    void **slot = &freed->at[__atomic_fetch_add(&freed->head, 1, __ATOMIC_RELAXED) & 65535];
    if (*slot == NULL) *slot = pointer;
}
"""
_ALLOCATOR = """
    typedef struct { uint64_t head; void *at[65536]; } mat_queue;
    typedef struct {
        char name[127]; uint8_t version; void *ctx;
        void *(*allocate)(void *, size_t);
        void *(*allocate_zeros)(void *, size_t, size_t);
        void *(*reallocate)(void *, void *, size_t);
        void (*release)(void *, void *, size_t);
    } mat_allocator;
    void *malloc(size_t);
    void *calloc(size_t, size_t);
    void *realloc(void *, size_t);
    void free(void *);
"""


class Place:
    """A line of the program, as it is when this is made."""

    def __init__(self, file: str = "", line: int = 0) -> None:
        self.file, self.line = file, line

    def __str__(self) -> str:
        if not self.file:
            return "a line that is not known"
        text = linecache.getline(self.file, self.line).strip()
        return f"{cell_of(self.file) or self.file}:{self.line}" + (f" ({text})" if text else "")


def users(frame: FrameType | None) -> FrameType | None:
    """Return a frame, or the first one above it that is not of this package."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith("mat."):
        frame = frame.f_back
    return frame


def place_of(frame: FrameType | None) -> Place:
    """Return the line of that frame."""
    found = users(frame)
    return Place() if found is None else Place(found.f_code.co_filename, found.f_lineno)


class Guarded:
    """The memory of one array: `nbytes` from `start` on, in pages from `first` to `stop`."""

    def __init__(self, size: int, notify: Callable[[Guarded, Pages], None]) -> None:
        self.found = False  # a write beside it
        self.made = Place()
        self.start = self.nbytes = 0
        self.first = mapped(size + 2 * PAGE) + PAGE
        self.stop = self.first + size
        self.guards = PageRange(self.first - PAGE, PAGE, None), PageRange(self.stop, PAGE, None)
        for guard in self.guards:
            guard.notify = lambda pages: notify(self, pages)

    def begin(self, nbytes: int) -> None:
        """Be the memory of a new array."""
        self.found, self.nbytes = False, nbytes
        self.made = place_of(sys._getframe())
        self.start = self.stop - -(-nbytes // _ALIGNED) * _ALIGNED
        for begin, end in self.rest:
            ctypes.memset(begin, _PATTERN, end - begin)
        for guard in self.guards:
            guard.protect(NO_ACCESS)

    @property
    def rest(self) -> tuple[tuple[int, int], ...]:
        """The bytes of its pages before and after it."""
        return (self.first, self.start), (self.start + self.nbytes, self.stop)

    def label(self) -> str:
        """Return the array in words."""
        return f"an array of {self.nbytes} bytes, made at {self.made},"

    def unmap(self) -> None:
        """Give the pages back."""
        for guard in self.guards:
            guard.allowed, guard.notify = READ_WRITE, None  # nothing refers to self any more
        unmap(self.first - PAGE, self.stop - self.first + 2 * PAGE)


class Allocator:
    """NumPy's allocator, in place of its own while a block of `guarding` is open."""

    def __init__(self) -> None:
        self.ffi: CData = FFI()
        self.ffi.cdef(_ALLOCATOR)
        self.c: CData = self.ffi.dlopen(None)
        self.blocks: dict[int, Guarded] = {}
        self.starts: list[int] = []  # sorted
        self.reports: list[Report] = []
        self.freed: CData = self.ffi.new("mat_queue *")
        self._collected = 0  # of those that were freed
        self._spare: dict[int, list[Guarded]] = {}  # that were freed, by the bytes of their pages
        self._kept: list[object] = []
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))  # NumPy calls it until the very end

    def _address(self, pointer: CData) -> int:
        return int(self.ffi.cast("uintptr_t", pointer))

    def guarded(self, address: int) -> Guarded | None:
        """Return the memory of an array that has an address, or at whose end it is."""
        k = bisect_right(self.starts, address) - 1
        found = self.blocks.get(self.starts[k]) if k >= 0 else None
        return found if found is not None and address <= found.stop else None

    @property
    @cache  # noqa: B019  # there is one allocator
    def handler(self) -> object:
        """The object by which NumPy knows this allocator; None if there is no C compiler."""
        ffi, made = self.ffi, self.ffi.new("mat_allocator *")
        try:
            release = library(_SOURCE, "mat_release")
        except (KernelError, CompileError, OSError):
            return None
        kinds = {"allocate": "void *(void *, size_t)",
                 "allocate_zeros": "void *(void *, size_t, size_t)",
                 "reallocate": "void *(void *, void *, size_t)"}
        for name, kind in kinds.items():
            callback = ffi.callback(kind, getattr(self, f"_{name}"))
            setattr(made, name, callback)
            self._kept.append(callback)
        made.name, made.version, made.ctx = b"mat_guarded", 1, self.freed
        made.release = ffi.cast("void(*)(void *, void *, size_t)", release)
        self._kept.append(made)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p,
                                                       ctypes.c_void_p)
        return new(int(ffi.cast("uintptr_t", made)), _NAME, None)

    def _allocate(self, context: CData, nbytes: int) -> CData:
        self.collect()
        if len(self.blocks) >= MOST:
            return self.c.malloc(nbytes or 1)
        size = max(1, -(-nbytes // PAGE)) * PAGE
        spare = self._spare.get(size)
        try:
            block = spare.pop() if spare else Guarded(size, self._note)
        except MemoryError:
            return self.c.malloc(nbytes or 1)
        block.begin(nbytes)
        self.blocks[block.start] = block
        insort(self.starts, block.start)
        return self.ffi.cast("void *", block.start)

    def _allocate_zeros(self, context: CData, count: int, size: int) -> CData:
        nbytes = count * size
        found = self._allocate(context, nbytes)
        if found != self.ffi.NULL:
            ctypes.memset(self._address(found), 0, nbytes)
        return found

    def _reallocate(self, context: CData, pointer: CData, nbytes: int) -> CData:
        old = self.blocks.get(self._address(pointer))
        if old is None:
            return self.c.realloc(pointer, nbytes)
        new = self._allocate(context, nbytes)
        if new != self.ffi.NULL:
            self.ffi.memmove(new, pointer, min(nbytes, old.nbytes))
            self._release(pointer)
        return new

    def collect(self) -> None:
        """Give back the memory of arrays that were freed since the last call."""
        freed, null = self.freed, self.ffi.NULL
        while self._collected < freed.head:
            k = self._collected & 65535
            pointer, freed.at[k] = freed.at[k], null
            self._collected += 1
            if pointer != null:
                self._release(pointer)

    def _release(self, pointer: CData) -> None:
        block = self.blocks.pop(self._address(pointer), None)
        if block is None:
            self.c.free(pointer)
            return
        self.starts.remove(block.start)
        self.check(block)
        spare = self._spare.setdefault(block.stop - block.first, [])
        if len(spare) < _SPARE and block.stop - block.first <= _SPARE * PAGE:
            spare.append(block)
        else:
            block.unmap()

    def check(self, block: Guarded) -> None:
        """Record a write to the rest of the last page."""
        if not block.found and any(
                ctypes.string_at(begin, end - begin) != bytes([_PATTERN]) * (end - begin)
                for begin, end in block.rest):
            block.found = True
            self._report(block, "has memory beside it that was written")

    def check_all(self) -> None:
        """Record such writes of all arrays."""
        self.collect()
        for block in tuple(self.blocks.values()):
            self.check(block)

    def _note(self, block: Guarded, pages: Pages) -> None:
        assert pages.touched is not None
        block.found = True
        at, end = pages.address + pages.touched.offset, block.start + block.nbytes
        where = (f"{block.start - at} bytes before its start" if at < block.start
                 else f"{at - end} bytes after its end")
        self._report(block, f"was accessed {where} at {place_of(sys._getframe())}")

    def _report(self, block: Guarded, text: str) -> None:
        for report in self.reports[-1:]:
            report(block, text)


# receives the memory of an array, and what is wrong with it
Report: TypeAlias = Callable[[Guarded, str], None]
ALLOCATOR = Allocator()
_NAME = b"mem_handler"


@cache
def _set_handler() -> Callable[[Any], Any]:
    """Return NumPy's function that replaces the allocator and returns the one before."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    numpy: Any = np
    table = ctypes.cast(pointer(numpy._core.multiarray._ARRAY_API, None),
                        ctypes.POINTER(ctypes.c_void_p))
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])


class guarding(Block[None]):  # noqa: N801  # used as a function
    """A block in which new arrays of NumPy are guarded; `report` receives the faults.

    Nothing is guarded where the system has no pages to protect, or there is no C compiler.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.guards = False

    def begin(self) -> None:
        if system() is not None and ALLOCATOR.handler is not None:
            FAULT_HANDLER.begin(self)
            FAULT_HANDLER.ensure_installed()  # freed arrays that are kept are protected already
            ALLOCATOR.reports.append(self.report)
            self.guards = True
            before = _set_handler()(ALLOCATOR.handler)
            foreign, blocks = _OPEN.get()
            _OPEN.set((foreign if before is ALLOCATOR.handler else before, (*blocks, self)))

    def end(self, error: BaseException | None) -> None:
        if self.guards:
            self.guards = False
            foreign, blocks = _OPEN.get()
            left = tuple(block for block in blocks if block.guards)
            if blocks and not left:
                _set_handler()(foreign)
            _OPEN.set((foreign, left))
            ALLOCATOR.check_all()
            ALLOCATOR.reports.remove(self.report)
            FAULT_HANDLER.end(self)


# of each context, the allocator that guarded ones replaced, and the blocks that began in it
_OPEN: ContextVar[tuple[object, tuple[guarding, ...]]] = ContextVar("open", default=(None, ()))
