"""`CudaKernel`: a kernel for the device, and whatever operands of one form settle: what an
operation's body can be on a GPU.

A kernel is defined by ``MAT_KERNEL`` (``native/cuda/device.cuh``) and gets two structs by value:
the frame, which is packed once for all operands of the same forms, and the call, `mat_call`:
addresses and numbers. Nothing here waits for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from struct import Struct, pack
from typing import Any

from cuda.bindings import driver

from ..errors import DeviceError
from ..support.native import ffi
from .gpu import NOT_CURRENT, Gpu, check
from .nvrtc import Program

OPERANDS, NUMBERS = 16, 24  # as mat_call has them
LONGEST_FRAME = 3 << 10  # bytes; all that a kernel is given has to stay below 4 KB
# where mat_call begins, behind the pointers to the two structs; the whole
_CALL, _BYTES = 16, 16 + 8 * OPERANDS + 16 * NUMBERS
_LIMITS = (2**31 - 1, 65535, 65535)

# what one launch at a time is given, its address, and what keeps it there
Packet = tuple[bytearray, int, object]
# writes what a call is given, and the address of its room
Gather = Callable[[bytearray, tuple[Any, ...], int], None]



class CudaKernel:
    """Call it with what facets present: the kernel is queued on the device's stream. `Op` binds it
    first, as a `CpuKernel`.

    `kernel` is the name in the program, `frame` its struct of int64_t; `grid` and `block` have
    three lengths, and a grid with a 0 is not launched. `shared`: bytes of dynamic shared memory.
    `room`: bytes of device memory for the time of the call, which the kernel finds as the operand
    after the last. `then`: what is launched next, with the same operands and room.
    """

    __slots__ = ("block", "frame", "gather", "grid", "idle", "kernel", "numbers", "operands",
                 "program", "ready", "room",
                 "shared", "then", "there")

    def __init__(self, program: Program, kernel: str, frame: Sequence[int],
                 grid: tuple[int, int, int],
                 block: tuple[int, int, int], *, shared: int = 0, room: int = 0,
                 then: CudaKernel | None = None) -> None:
        if any(not 0 <= n <= limit for n, limit in zip(grid, _LIMITS, strict=True)):
            raise DeviceError(f"kernel {kernel!r}: a grid of {grid} blocks; at most {_LIMITS} can "
                              "be launched")
        data = pack(f"{max(len(frame), 1)}q", *(frame or (0,)))
        if len(data) > LONGEST_FRAME:
            raise DeviceError(f"kernel {kernel!r}: a frame of {len(data)} bytes; {LONGEST_FRAME} "
                              "are the most")
        self.program = program
        self.kernel = kernel
        self.frame = ffi.new("char[]", data)
        self.grid = grid
        self.block = block
        self.shared = shared
        self.room = room
        self.then = then
        self.ready: dict[Gpu, Callable[..., Any]] = {}  # cuLaunchKernel with all but the packet
        self.idle: list[Packet] = []  # packets that no launch uses now; pop and append are atomic
        self.operands: Sequence[int] = ()
        self.numbers: Sequence[int] = ()
        self.gather: Gather | None = None
        self.there = 0  # where in a call an operand is that lies on the device

    def bind(self, operands: Sequence[int], numbers: Sequence[int]) -> CudaKernel:
        """Say at which positions of a call the operands are, and the numbers; return self."""
        self.operands, self.numbers, self.gather = operands, numbers, None
        if self.then is not None:
            self.then.bind(operands, numbers)
        return self

    def __call__(self, *values: Any) -> None:
        gather = self.gather
        if gather is None:
            gather = self._learn(values)
        gpu: Gpu = values[self.there].gpu
        launch = self.ready.get(gpu)
        if launch is None or self.room or self.then is not None or not gpu.alone:
            self._walk(gpu, values)
            return
        try:
            packet = self.idle.pop()
        except IndexError:
            packet = self._packet()
        gather(packet[0], values, 0)
        (status,) = launch(packet[1], 0)
        if status:
            self._retry(gpu, status, packet)
        self.idle.append(packet)

    def _walk(self, gpu: Gpu, values: tuple[Any, ...]) -> None:
        """The long way: with room, with what is launched next, the first time, or where there are
        several devices.
        """
        with gpu.current():
            if not self.room:
                self._all(gpu, values, 0)
                return
            with gpu.room(self.room) as address:
                self._all(gpu, values, address)

    def _all(self, gpu: Gpu, values: tuple[Any, ...], room: int) -> None:
        launch: CudaKernel | None = self
        while launch is not None:
            if 0 not in launch.grid:
                launch._one(gpu, values, room)
            launch = launch.then

    def _one(self, gpu: Gpu, values: tuple[Any, ...], room: int) -> None:
        launch = self.ready.get(gpu) or self._prepare(gpu)
        try:
            packet = self.idle.pop()
        except IndexError:
            packet = self._packet()
        (self.gather or self._learn(values))(packet[0], values, room)
        (status,) = launch(packet[1], 0)
        if status:
            self._retry(gpu, status, packet)
        self.idle.append(packet)

    def _prepare(self, gpu: Gpu) -> Callable[..., Any]:
        function = gpu.kernel(self.program, self.kernel, self.shared)
        self._compare(function)
        launch = partial(driver.cuLaunchKernel, function, *self.grid, *self.block, self.shared,
                         gpu.stream)
        self.ready[gpu] = launch
        return launch

    def _compare(self, function: Any) -> None:
        """`DeviceError` unless the kernel takes a frame and a call as long as ours; what is missing
        would be arbitrary.
        """
        ours = (len(self.frame) - 1, _BYTES - _CALL)
        found = [driver.cuFuncGetParamInfo(function, k) for k in (0, 1)]
        if any(int(status) for status, *_ in found):  # an older driver does not tell
            return
        theirs = tuple(int(size) for _, _, size in found)
        if theirs != ours and theirs != (1, ours[1]):  # a struct without members has one byte
            raise DeviceError(f"kernel {self.kernel!r} takes a frame of {theirs[0]} bytes and a "
                              f"call of {theirs[1]}; given are "
                              f"{ours[0]} and {ours[1]}")

    def _packet(self) -> Packet:
        """The array of pointers to the two structs, and behind it the call."""
        data = bytearray(_BYTES)
        keep = ffi.from_buffer(data)
        address = int(ffi.cast("uintptr_t", keep))
        data[:_CALL] = pack("QQ", int(ffi.cast("uintptr_t", self.frame)), address + _CALL)
        return data, address, keep

    def _learn(self, values: tuple[Any, ...]) -> Gather:
        """How values of these kinds are packed: which operands are on the device, and which are
        numbers.
        """
        there = tuple(k for k in self.operands if hasattr(values[k], "gpu"))
        given = (*self.numbers, *(k for k in self.operands if k not in there))
        if not there or len(self.operands) >= OPERANDS or len(self.numbers) + len(self.operands) > NUMBERS:
            raise DeviceError(f"kernel {self.kernel!r} takes 1 to {OPERANDS - 1} operands, one of "
                              "them on the device, and "
                              f"{NUMBERS} numbers; got {len(self.operands)} and "
                              f"{len(self.numbers)}")
        after = OPERANDS - 1 - len(self.operands)  # addresses behind that of the room
        kinds = "".join("Q" if k in there else "8x" for k in self.operands) + "Q" + f"{8 * after}x"
        kinds += "dd" * len(self.numbers) + "".join("16x" if k in there else "dd"
                                                    for k in self.operands)
        self.there = there[0]
        self.gather = gather = _gatherer(Struct("=" + kinds).pack_into, there, given)
        return gather

    def _retry(self, gpu: Gpu, status: Any, packet: Packet) -> None:
        """Once more, if the device was not the thread's current one, as in a thread that is new;
        else the error.
        """
        result = (status,)
        if int(status) in NOT_CURRENT:
            gpu.enter()
            result = self.ready[gpu](packet[1], 0)
        check(result, f"kernel {self.kernel!r} of {self.grid} blocks of {self.block} threads")


def _gatherer(put: Callable[..., None], there: tuple[int, ...], given: tuple[int, ...]) -> Gather:
    """What packs the addresses of the values `there`, the room, and the numbers `given`; unrolled
    for frequent kinds.
    """
    i, j, h = (*there, 0, 0)[:3]
    if not given and len(there) == 1:
        return lambda data, v, room: put(data, _CALL, v[i].address, room)
    if not given and len(there) == 2:
        return lambda data, v, room: put(data, _CALL, v[i].address, v[j].address, room)
    if not given and len(there) == 3:
        return lambda data, v, room: put(data, _CALL, v[i].address, v[j].address, v[h].address,
                                         room)

    def gather(data: bytearray, v: tuple[Any, ...], room: int) -> None:
        put(data, _CALL, *[v[k].address for k in there], room,
            *[part for k in given for part in _pair(v[k])])

    def with_number(data: bytearray, v: tuple[Any, ...], room: int) -> None:
        value = v[given[0]]
        put(data, _CALL, v[i].address, v[j].address, room,
            *((value, 0.0) if type(value) is float else _pair(value)))

    return with_number if len(given) == 1 and len(there) == 2 else gather


def _pair(value: Any) -> tuple[float, float]:
    number = complex(value)
    return number.real, number.imag
