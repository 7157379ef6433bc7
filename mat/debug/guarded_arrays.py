"""Memory of NumPy's arrays between pages that nobody may access: NumPy's allocator is replaced
while a block runs (NEP 49). This needs Linux and a C compiler.

An array ends where its last page does, or up to 15 bytes before. The page after it, and the one
before its first page, are protected. What is left of its own pages has a pattern, which is compared
when the array is freed.
"""

from __future__ import annotations

import ctypes
import linecache
import sys
from bisect import bisect_right, insort
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from types import FrameType
from typing import Any, TypeAlias

import numpy as np
from cffi import FFI

from ..core.source_line import cell_of
from ..errors import KernelError
from ..support.c_compiler import CompileError, library
from ..support.open_blocks import Block
from ..support.types import CData
from .protected_pages import (
    FAULT_HANDLER,
    NO_ACCESS,
    PAGE,
    READ_WRITE,
    PageRange,
    Pages,
    mapped,
    system,
    unmap,
)

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
_DECLARATIONS = """
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

    __slots__ = ("file", "line")

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

    __slots__ = ("first", "found", "guards", "made", "nbytes", "start", "stop")

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
        self.ffi.cdef(_DECLARATIONS)
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
        """Note a write to the rest of the last page."""
        if not block.found and any(
                ctypes.string_at(begin, end - begin) != bytes([_PATTERN]) * (end - begin)
                for begin, end in block.rest):
            block.found = True
            self._report(block, "has memory beside it that was written")

    def check_all(self) -> None:
        """Note such writes of all arrays."""
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
    """A block in which new arrays of NumPy are guarded; `report` receives what is found.

    Nothing is guarded where the system has no pages to protect, or there is no C compiler.
    """

    __slots__ = ("guards", "report")

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
