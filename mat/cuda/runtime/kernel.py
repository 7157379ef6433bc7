"""`CudaKernel`: a kernel for the device with all arguments that depend only on the form of the
operands.

A kernel is defined by ``MAT_KERNEL`` (``native/cuda/device.cuh``) and gets two structs by value:
the frame, which is packed once for all operands of the same forms, and the call, `mat_call`:
addresses and numbers. Nothing here waits for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from struct import Struct, pack
from typing import TypeAlias

from ...core.compiled import CudaLaunch, CudaLaunches, DriverCall
from ...errors import DeviceError
from ...support.native import ffi
from ...support.types import Arguments, CData, Number, Presented
from .gpu import SCRATCH, DriverObject, Gpu, addresses, check, driver
from .nvrtc import Program

OPERANDS, NUMBERS = 16, 24  # as in mat_call
THREADS = 256  # of a block, of all kernels that do not say otherwise
LONGEST_FRAME = 3 << 10  # bytes; all arguments of a kernel have to be below 4 KB
# the offset of mat_call, after the pointers to the two structs; the size of all
_CALL, _BYTES = 16, 16 + 8 * OPERANDS + 16 * NUMBERS
_LIMITS = (2**31 - 1, 65535, 65535)

# the arguments of one launch at a time, their address, and the object that keeps it valid
Packet: TypeAlias = tuple[bytearray, int, object]
# writes the arguments of a call, and the address of its workspace
Gather: TypeAlias = Callable[[bytearray, Arguments, int], None]
Launch: TypeAlias = partial[tuple[DriverObject]]  # cuLaunchKernel, but for the packet

class CudaKernel:
    """A kernel for operands of one form: a call with presented operands queues it on the stream.

    `Op` binds it first, as a `CpuKernel`. `kernel` is the name in the program, `frame` its struct
    of int64_t; `grid` and `block` have three lengths, and a grid with a 0 is not launched.
    `shared`: bytes of dynamic shared memory. `room`: bytes of device memory for the time of the
    call, which the kernel gets as the operand after the last. `then`: the kernel that is launched
    next, with the same operands and room.
    """

    __slots__ = ("block", "frame", "gather", "grid", "idle", "kernel", "numbers", "operands",
                 "program", "ready", "room", "shared", "then", "there")

    # the signature is public: mat.extend
    def __init__(self, program: Program, kernel: str, frame: Sequence[int],
                 grid: tuple[int, int, int], block: tuple[int, int, int], *, shared: int = 0,
                 room: int = 0, then: CudaKernel | None = None) -> None:
        if any(not 0 <= n <= limit for n, limit in zip(grid, _LIMITS, strict=True)):
            raise DeviceError(f"kernel {kernel!r}: a grid of {grid} blocks; at most {_LIMITS} can "
                              "be launched")
        data = pack(f"{max(len(frame), 1)}q", *(frame or (0,)))
        if len(data) > LONGEST_FRAME:
            raise DeviceError(f"kernel {kernel!r}: a frame of {len(data)} bytes; at most "
                              f"{LONGEST_FRAME} are possible")
        self.program: Program = program
        self.kernel: str = kernel
        self.frame: CData = ffi.new("char[]", data)
        self.grid: tuple[int, int, int] = grid
        self.block: tuple[int, int, int] = block
        self.shared: int = shared
        self.room: int = room
        self.then: CudaKernel | None = then
        self.ready: dict[Gpu, Launch] = {}
        self.idle: list[Packet] = []  # packets that no launch uses; pop and append are atomic
        self.operands: Sequence[int] = ()
        self.numbers: Sequence[int] = ()
        self.gather: Gather | None = None
        self.there: int = 0  # the position in a call of an operand on the device

    def bind(self, operands: Sequence[int], numbers: Sequence[int]) -> CudaKernel:
        """Set the positions of operands and of numbers in a call; return self."""
        self.operands, self.numbers, self.gather = operands, numbers, None
        if self.then is not None:
            self.then.bind(operands, numbers)
        return self

    def __call__(self, *values: Presented) -> None:
        if self.gather is None:
            self._gather_for(values)
        self._launch_all(values[self.there].gpu, values)

    def _launch_all(self, gpu: Gpu, values: Arguments) -> None:
        """Launch this kernel and those after it, with a workspace and on any device."""
        with gpu.current():
            if not self.room:
                self._launch_each(gpu, values, 0)
                return
            with gpu.room(self.room) as address:
                self._launch_each(gpu, values, address)

    def _launch_each(self, gpu: Gpu, values: Arguments, room: int) -> None:
        kernel: CudaKernel | None = self
        while kernel is not None:
            if 0 not in kernel.grid:
                kernel._launch(gpu, values, room)
            kernel = kernel.then

    def _launch(self, gpu: Gpu, values: Arguments, room: int) -> None:
        launch = self.ready.get(gpu) or self._prepare(gpu)
        capture = gpu.capture_here()
        if capture is not None:
            launch = partial(launch.func, *launch.args[:-1], capture.stream)
        try:
            packet = self.idle.pop()
        except IndexError:
            packet = self._packet()
        (self.gather or self._gather_for(values))(packet[0], values, room)
        (status,) = launch(packet[1], 0)
        if status:
            self._failed(gpu, status)
        self.idle.append(packet)

    def _prepare(self, gpu: Gpu) -> Launch:
        function = gpu.kernel(self.program, self.kernel, self.shared)
        self._check_sizes(function)
        launch = partial(driver.cuLaunchKernel, function, *self.grid, *self.block, self.shared,
                         gpu.stream)
        self.ready[gpu] = launch
        return launch

    def launch_like(self, values: Arguments, integer_bits: int = 0) -> DriverCall | None:
        """Return the compiled launch for `values`, and of kernels after it, if there is one.

        With `integer_bits`, numbers are passed as the bits of integers of that size.
        """
        gpu: Gpu = values[self.there].gpu
        if self.room or self.then is not None:
            return None if integer_bits else launches_of(gpu, lambda *_: self.chain(gpu), self.room)
        if gpu not in self.ready or CudaLaunch is None:
            return None
        found = self._compiled(gpu)
        found.take_integers(integer_bits)
        return found

    def chain(self, gpu: Gpu) -> tuple[CudaLaunch, ...]:
        """Return the compiled launches of this kernel and of those after it."""
        found: list[CudaLaunch] = []
        kernel: CudaKernel | None = self
        while kernel is not None:
            if 0 not in kernel.grid:
                found.append(kernel._compiled(gpu))
            kernel = kernel.then
        return tuple(found)

    def _compiled(self, gpu: Gpu) -> CudaLaunch:
        with gpu.current():
            function = int(gpu.kernel(self.program, self.kernel, self.shared))
        launch, = addresses("cuLaunchKernel")
        made = CudaLaunch(launch, function, int(gpu.stream), self.grid, self.block, self.shared,
                          int(ffi.cast("uintptr_t", self.frame)), self.frame)
        return gpu.in_context(made, partial(self._failed, gpu))

    def _failed(self, gpu: Gpu, status: int) -> None:
        check((status,), f"kernel {self.kernel!r} of {self.grid} blocks of {self.block} threads",
              gpu)

    def _check_sizes(self, function: DriverObject) -> None:
        """Raise `DeviceError` unless frame and call have the sizes of the kernel's parameters.

        Missing bytes would be arbitrary.
        """
        given = (len(self.frame) - 1, _BYTES - _CALL)
        found = [driver.cuFuncGetParamInfo(function, k) for k in (0, 1)]
        if any(int(status) for status, *_ in found):  # an older driver has no such function
            return
        taken = tuple(int(size) for _, _, size in found)
        if taken != given and taken != (1, given[1]):  # a struct without members has one byte
            raise DeviceError(f"kernel {self.kernel!r} takes a frame of {taken[0]} bytes and a "
                              f"call of {taken[1]}; given are {given[0]} and {given[1]}")

    def _packet(self) -> Packet:
        """Return the array of pointers to the two structs, and after it the call."""
        data = bytearray(_BYTES)
        keep = ffi.from_buffer(data)
        address = int(ffi.cast("uintptr_t", keep))
        data[:_CALL] = pack("QQ", int(ffi.cast("uintptr_t", self.frame)), address + _CALL)
        return data, address, keep

    def _gather_for(self, values: Arguments) -> Gather:
        """Return a function that packs values of these kinds: on the device, or numbers."""
        there = tuple(k for k in self.operands if hasattr(values[k], "gpu"))
        given = (*self.numbers, *(k for k in self.operands if k not in there))
        arguments = len(self.numbers) + len(self.operands)
        if not there or len(self.operands) >= OPERANDS or arguments > NUMBERS:
            raise DeviceError(f"kernel {self.kernel!r} takes 1 to {OPERANDS - 1} operands, one of "
                              f"them on the device, and {NUMBERS} numbers; got "
                              f"{len(self.operands)} and {len(self.numbers)}")
        after = 8 * (OPERANDS - 1 - len(self.operands))  # bytes after the address of the room
        kinds = "".join("Q" if k in there else "8x" for k in self.operands) + f"Q{after}x"
        kinds += "dd" * len(self.numbers)
        kinds += "".join("16x" if k in there else "dd" for k in self.operands)
        self.there = there[0]
        put = Struct("=" + kinds).pack_into

        def gather(data: bytearray, v: Arguments, room: int) -> None:
            put(data, _CALL, *[v[k].address for k in there], room,
                *[part for k in given for part in _pair(v[k])])

        self.gather = gather
        return gather


def in_blocks(program: Program, kernel: str, frame: Sequence[int], blocks: int, *, room: int = 0,
              then: CudaKernel | None = None) -> CudaKernel:
    """Return a kernel of so many blocks of `THREADS`."""
    return CudaKernel(program, kernel, frame, (blocks, 1, 1), (THREADS, 1, 1), room=room, then=then)


def blocks_for(items: int, each: int = 1) -> int:
    """Return how many blocks it takes whose threads do `each` of the items."""
    return -(-items // (THREADS * each))


def launches_of(gpu: Gpu, make: Callable[[int, int], tuple[CudaLaunch, ...]], room: int,
                aligned: bool = False) -> DriverCall | None:
    """Return compiled launches one after another, made by `make` for the alignments of the first
    two operands if these matter; None if there are none of this kind.
    """
    pool = gpu.pool
    if CudaLaunches is None or (room > SCRATCH and pool is None):
        return None
    if room <= SCRATCH or pool is None:
        return CudaLaunches(make, aligned, gpu.launching, gpu.scratch if room else None, None, None)
    return CudaLaunches(make, aligned, gpu.launching, None, partial(pool.take, room), pool.free)


def _pair(value: Number) -> tuple[float, float]:
    number = complex(value)
    return number.real, number.imag
