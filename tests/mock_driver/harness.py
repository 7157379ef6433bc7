"""`run`: a kernel of a program's text, compiled by the C++ compiler and run on NumPy arrays: no
GPU, no CUDA, no `mat` needed.

`build` makes the shared library that the mock driver (``libcuda.cpp``) takes for a cubin.
"""

import atexit
import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
# of the one that is tested, which may be installed
NATIVE = Path(importlib.util.find_spec("mat").origin).parent / "native"
CHECKED = ("-fsanitize=alignment,bounds",)  # with handlers of our own, in fibres.hpp
FLAGS = ("-std=c++17", "-O1", "-g1", "-fPIC", "-fno-gnu-unique", "-fvisibility=hidden",
         "-fno-strict-aliasing", "-w",
         "-ffp-contract=off", "-DMAT_ON_CPU", f"-I{NATIVE / 'shared'}", f"-I{NATIVE / 'cuda'}",
         f"-I{HERE}")
SANITIZED = tuple(os.environ.get("MAT_MOCK_CFLAGS", "").split())  # in place of CHECKED
SEED = int(os.environ.get("MAT_MOCK_SEED", "0"))  # the order of threads where a test does not say
ADDRESSES, PAIRS = 16, 24  # of struct mat_call


class KernelFault(AssertionError):
    """A kernel did what a GPU would fault at, or answer with wrong numbers."""


def compiler():
    """The C++ compiler, or None."""
    name = os.environ.get("CXX") or "g++"
    return shutil.which(name.split()[0]) and name.split()


@cache
def scratch():
    """Where libraries lie: for this session, or for several of them if MAT_TEST_CACHE names a
    directory.
    """
    if os.environ.get("MAT_TEST_CACHE"):
        return Path(os.environ["MAT_TEST_CACHE"])
    path = tempfile.mkdtemp(prefix="mat-mock-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


@cache
def build(text, options=()):
    """The path of a shared library made of a program's text."""
    def make(folder):
        compiled = folder / "program.o"
        # in two steps: linking must not bring the sanitizer's own library where we have
        # its handlers
        command(*_translate(folder, text, options), "-c", "-o", compiled)
        command(*compiler(), *SANITIZED, "-shared", compiled, "-o", folder / "program.so")
    return kept("\0".join((*_words(), *options, text, _headers())), make) / "program.so"


def check(text, options=()):
    """Have the compiler read a program's text, no more; `KernelFault` if it refuses."""
    with tempfile.TemporaryDirectory(prefix="mat-mock-") as folder:
        command(*_translate(Path(folder), text, options), "-fsyntax-only")


def _words():
    return *compiler(), *FLAGS, *(SANITIZED or CHECKED)


def _translate(folder, text, options):
    source = folder / "program.cpp"
    source.write_text(text, encoding="utf-8")
    return *_words(), "-include", _precompiled() / "device.hpp", *options, source


@cache
def _precompiled():
    """The folder of ``device.hpp``, and what the compiler keeps of it, which saves it a third of
    its time.
    """
    def make(folder):
        (folder / "device.hpp").write_text('#include "device.cuh"\n', encoding="utf-8")
        command(*_words(), "-x", "c++-header", folder / "device.hpp", "-o",
                folder / "device.hpp.gch")
    return kept("\0".join(("precompiled", *_words(), _headers())), make)


@cache
def _headers():
    paths = *HERE.glob("*.hpp"), *(p for p in NATIVE.rglob("*")
                                   if p.suffix in (".cuh", ".h", ".def"))
    return "\0".join(map(read, sorted(paths)))


def kept(key, make):
    """The folder with what `make` makes; it is made where another process has not done so
    before.
    """
    folder = scratch() / hashlib.sha256(key.encode()).hexdigest()[:20]
    if not folder.exists():
        scratch().mkdir(parents=True, exist_ok=True)
        ours = Path(tempfile.mkdtemp(prefix="making-", dir=scratch()))
        make(ours)
        try:
            ours.rename(folder)
        except OSError:  # somebody else was faster
            shutil.rmtree(ours, ignore_errors=True)
    return folder


def read(path):
    return path.read_text(encoding="utf-8")


def command(*words):
    """Run a compiler; `KernelFault` with its messages if it refuses."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise KernelFault(f"{' '.join(map(str, words))}\n{done.stderr}")


@cache
def loaded(text, options=()):
    """The library of a program's text."""
    # holds the interpreter's lock: fibres run one grid at a time
    library = ctypes.PyDLL(str(build(text, options)))
    library.on_cpu_error.restype = ctypes.c_char_p
    return library


def run(text, kernel, frame, arrays, numbers=(), grid=(1, 1, 1), block=(1, 1, 1), shared=0,
        seed=None):
    """Run `kernel` of the program `text` on NumPy arrays, in place; `KernelFault` for what a GPU
    would not forgive.

    `frame`: ints; `arrays`: in the operation's order, None where the operand is a number, views as
    they are (their address is that of the first visible element); `numbers`: of the operation's
    numbers, then of those of the operands, complex or not. A `seed` other than 0 shuffles the order
    of threads (None: MAT_MOCK_SEED). The arrays lie, for the run, between guards that must stay
    untouched.
    """
    library = loaded(text) if isinstance(text, str) else loaded(text.text,
                                                                tuple(o for o in text.options
                                                                      if o[:2] == "-D"))
    blocks = _Guarded([a for a in arrays if a is not None])
    call = (ctypes.c_char
            * (8 * (ADDRESSES + 2 * PAIRS))).from_buffer_copy(_call(blocks, arrays, numbers))
    words = np.array([int(v) for v in frame], np.int64)
    find = getattr(library, kernel)
    find.restype = ctypes.c_void_p
    sizes = ((ctypes.c_uint * 3)(*_three(s)) for s in (grid, block))
    failed = library.on_cpu_run(ctypes.c_void_p(find()), *sizes,
                                ctypes.c_uint64(shared),
                                ctypes.c_uint64(SEED if seed is None else seed),
                                ctypes.c_void_p(words.ctypes.data),
                                ctypes.c_uint64(words.nbytes), call)
    if failed:
        raise KernelFault(f"{kernel}: {library.on_cpu_error().decode()}")
    blocks.give_back(kernel)


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
    """Copies of the memory that arrays lie in, each at a multiple of 256 as on a device, with
    guards around.

    Where AddressSanitizer guards memory, they are of just that size.
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
        return self.rooms[self.ranges.index((low,
                                             high))].address + a.__array_interface__["data"][0] - low

    def give_back(self, kernel):
        for (low, high), room in zip(self.ranges, self.rooms, strict=True):
            size = high - low
            places = np.arange(len(room.all)) - self.GUARD
            touched = places[(room.all != self.PATTERN) & ((places < 0) | (places >= size))]
            if len(touched):
                raise KernelFault(f"{kernel}: wrote outside of an array of {size} bytes, at its "
                                  f"bytes {touched[:4]}")
            old = _bytes(low, high)
            # an array that is only read may lie where nothing can be written
            if not np.array_equal(old, room.inner):
                old[:] = room.inner


class _Room:
    """Memory from the C library, with a guard before and after: `all` of it, and what is `inner`,
    as arrays of bytes.
    """

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
    """First and last address of the memory that an array is a view of."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return np.lib.array_utils.byte_bounds(a) if a.size else (a.ctypes.data,) * 2


def _bytes(low, high):
    return np.frombuffer((ctypes.c_uint8 * (high - low)).from_address(low),
                         np.uint8) if high > low else np.empty(0, np.uint8)
