"""Compile the source of kernels with a C++ compiler, and run them on NumPy arrays: no GPU, no CUDA
and no `mat` needed.

The shared libraries that `build` makes are what the mock driver (``libcuda.cpp``) has for cubins.
"""

import ctypes
import importlib.util
import os
import shutil
import subprocess
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np

from .cache import cached

HERE = Path(__file__).parent
# of the one that is tested, which may be installed
NATIVE = Path(importlib.util.find_spec("mat").origin).parent / "native"
# with handlers of our own, in undefined.hpp
RACES = os.environ.get("MAT_MOCK_RACES") == "1"  # races are looked for, in races.hpp
CHECKED = (("-fsanitize=thread", "-fno-threadsafe-statics", "-DMAT_RACES") if RACES
           else ("-fsanitize=alignment,bounds,float-cast-overflow",))
FLAGS = ("-std=c++17", "-O1", "-g1", "-fPIC", "-fno-gnu-unique", "-fvisibility=hidden",
         "-fno-strict-aliasing", "-w",
         "-ffp-contract=off", "-DMAT_ON_CPU")
FOLDERS = (f"-I{NATIVE / 'shared'}", f"-I{NATIVE / 'cuda'}", f"-I{HERE}")  # of headers
SANITIZED = tuple(os.environ.get("MAT_MOCK_CFLAGS", "").split())  # in place of CHECKED
SEED = int(os.environ.get("MAT_MOCK_SEED", "0"))  # the order of threads where a test does not say
ADDRESSES, PAIRS = 16, 24  # of struct mat_call


class KernelFault(AssertionError):
    """An error of a kernel that causes a fault or wrong numbers on a GPU."""


def compiler():
    """Return the command of the C++ compiler, or None."""
    name = os.environ.get("CXX") or "g++"
    return shutil.which(name.split()[0]) and name.split()


@cache
def build(text, options=()):
    """Compile the source of a program; return the path of the shared library."""
    def make(folder):
        compiled = folder / "program.o"
        # in two steps: linking must not bring the sanitizer's own library where we have
        # its handlers
        command(*_translate(folder, text, options), "-c", "-o", compiled)
        command(*compiler(), *SANITIZED, "-shared", compiled, "-o", folder / "program.so")
    return cached("\0".join((_identity(), *options, text)), make) / "program.so"


def check(text, options=()):
    """Raise `KernelFault` unless the compiler accepts the source of a program."""
    with tempfile.TemporaryDirectory(prefix="mat-mock-") as folder:
        command(*_translate(Path(folder), text, options), "-fsyntax-only")


@cache
def version():
    """Return the version of the compiler, in its words."""
    return subprocess.run([*compiler(), "--version"], capture_output=True, text=True,
                          check=False).stdout


def _words():
    return *compiler(), *FLAGS, *(SANITIZED or CHECKED)


@cache
def _identity():
    """Return all that a compiled program depends on beside its source; no path of a checkout."""
    return "\0".join((version(), *_words(), headers()))


def _translate(folder, text, options):
    source = folder / "program.cpp"
    source.write_text(text, encoding="utf-8")
    return *_words(), *FOLDERS, "-include", _precompiled() / "device.hpp", *options, source


@cache
def _precompiled():
    """Return the folder of the precompiled ``device.hpp``, which saves a third of the time."""
    def make(folder):
        (folder / "device.hpp").write_text('#include "device.cuh"\n', encoding="utf-8")
        command(*_words(), *FOLDERS, "-x", "c++-header", folder / "device.hpp", "-o",
                folder / "device.hpp.gch")
    return cached(f"precompiled {_identity()}", make, "lock-precompiled")


@cache
def headers():
    paths = *HERE.glob("*.hpp"), *(p for folder in ("cuda", "shared")
                                   for p in (NATIVE / folder).iterdir()
                                   if p.suffix in (".cuh", ".h", ".def"))
    return "\0".join(map(read, sorted(paths)))


def read(path):
    return path.read_text(encoding="utf-8")


def command(*words):
    """Run a compiler; raise `KernelFault` with its messages if it fails."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise KernelFault(f"{' '.join(map(str, words))}\n{done.stderr}")


@cache
def loaded(text, options=()):
    """Return the loaded library of a program."""
    # a PyDLL keeps the interpreter's lock: fibres run one grid at a time
    library = ctypes.PyDLL(str(build(text, options)))
    library.on_cpu_error.restype = ctypes.c_char_p
    return library


def run(text, kernel, frame, arrays, numbers=(), grid=(1, 1, 1), block=(1, 1, 1), shared=0,
        seed=None):
    """Run a kernel on NumPy arrays, in place; raise `KernelFault` for errors that a GPU may not
    report.

    `frame`: ints; `arrays`: in the operation's order, None where the operand is a number, views as
    they are (their address is that of the first visible element); `numbers`: of the operation's
    numbers, then of those of the operands, complex or not. A `seed` other than 0 shuffles the order
    of threads (None: MAT_MOCK_SEED). During the run the arrays are copied to memory between guards
    that must not change.
    """
    options = () if isinstance(text, str) else text.options
    text = text if isinstance(text, str) else text.text
    ptx = import_module("tests.tools.mock_driver.ptx.interpreter")
    if ptx.is_interpreted(text, options):
        return ptx.run(ptx.compiled(text, options), kernel, frame, arrays, numbers, grid=grid,
                       block=block, shared=shared, seed=seed)
    library = loaded(text, tuple(o for o in options if o[:2] == "-D"))
    find = getattr(library, kernel)
    find.restype = ctypes.c_void_p
    return run_by((find(), library.on_cpu_run, library.on_cpu_error, None), kernel, frame, arrays,
                  numbers, grid, block, shared, seed)


def run_by(found, kernel, frame, arrays, numbers=(), grid=(1, 1, 1), block=(1, 1, 1), shared=0,
           seed=None):
    """Run a kernel by functions of C: `found` are the kernel's address, what runs it, what says
    the error, and None or what takes the ranges of memory that it may reach.
    """
    address, function, error, limit = found
    blocks = _Guarded([a for a in arrays if a is not None])
    call = (ctypes.c_char
            * (8 * (ADDRESSES + 2 * PAIRS))).from_buffer_copy(_call(blocks, arrays, numbers))
    words = np.array([int(v) for v in frame], np.int64)
    sizes = ((ctypes.c_uint * 3)(*_three(s)) for s in (grid, block))
    if limit:
        ranges = np.array(blocks.inner_ranges(), np.uint64)
        limit(ctypes.c_void_p(ranges.ctypes.data), ctypes.c_uint64(len(ranges)))
    failed = function(ctypes.c_void_p(address), *sizes, ctypes.c_uint64(shared),
                      ctypes.c_uint64(SEED if seed is None else seed),
                      ctypes.c_void_p(words.ctypes.data), ctypes.c_uint64(words.nbytes), call)
    if limit:
        limit(None, ctypes.c_uint64(0))
    if failed:
        raise KernelFault(f"{kernel}: {error().decode()}")
    blocks.copy_back(kernel)


def _three(sizes):
    sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    return sizes + (1,) * (3 - len(sizes))


def _call(blocks, arrays, numbers):
    addresses = np.zeros(ADDRESSES, np.uint64)
    addresses[:len(arrays)] = [0 if a is None else blocks.address(a) for a in arrays]
    pairs = np.full(PAIRS, complex(np.nan, np.nan))
    pairs[:len(numbers)] = numbers
    return addresses.tobytes() + pairs.tobytes()


class _Guarded:
    """Copies of the memory of arrays, aligned as on a device, with guards before and after.

    Under AddressSanitizer there are no guards, since it has its own.
    """

    GUARD, PATTERN = (0 if SANITIZED else 4096), 0x5A

    def __init__(self, arrays):
        self.ranges = sorted({_range(a) for a in arrays})
        self.rooms = []
        for low, high in self.ranges:
            room = _Room(high - low, self.GUARD)
            room.all[:] = self.PATTERN
            room.inner[:] = _bytes(low, high)
            self.rooms.append(room)

    def address(self, a):
        low, high = _range(a)
        room = self.rooms[self.ranges.index((low, high))]
        return room.address + a.__array_interface__["data"][0] - low

    def inner_ranges(self):
        """Return the first address of each array's memory, and the one after its end."""
        return [(room.address, room.address + high - low)
                for (low, high), room in zip(self.ranges, self.rooms, strict=True)]

    def copy_back(self, kernel):
        for (low, high), room in zip(self.ranges, self.rooms, strict=True):
            size = high - low
            places = np.arange(len(room.all)) - self.GUARD
            touched = places[(room.all != self.PATTERN) & ((places < 0) | (places >= size))]
            if len(touched):
                raise KernelFault(f"{kernel}: wrote outside of an array of {size} bytes, at its "
                                  f"bytes {touched[:4]}")
            old = _bytes(low, high)
            # an array that is only read may be in read-only memory
            if not np.array_equal(old, room.inner):
                old[:] = room.inner


class _Room:
    """Memory from the C library with guards: `all` of it, and the `inner` part, as bytes."""

    libc = ctypes.CDLL(None)

    def __init__(self, size, guard):
        place = ctypes.c_void_p()
        if self.libc.posix_memalign(ctypes.byref(place), ctypes.c_size_t(4096),
                                    ctypes.c_size_t(size + 2 * guard)):
            raise MemoryError(f"{size} bytes")
        self.place = place
        self.address = (place.value or 0) + guard
        self.all = _bytes(self.address - guard, self.address + size + guard)
        self.inner = self.all[guard:guard + size]

    def __del__(self):
        self.libc.free(self.place)


def _range(a):
    """Return the first and last address of the memory that an array is a view of."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return np.lib.array_utils.byte_bounds(a) if a.size else (a.ctypes.data,) * 2


def _bytes(low, high):
    if high <= low:
        return np.empty(0, np.uint8)
    return np.frombuffer((ctypes.c_uint8 * (high - low)).from_address(low), np.uint8)
