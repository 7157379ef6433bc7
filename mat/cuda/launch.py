"""`Launch`: a kernel for the device, and whatever operands of one form settle: what an operation's body can be on a GPU.

A kernel is defined by ``MAT_KERNEL`` (``native/device.cuh``) and gets two structs by value: the frame, which is packed once for
all operands of the same forms, and the call, `mat_call`: addresses and numbers. Nothing here waits for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct, pack
from typing import Any

from cuda.bindings import driver

from ..cpu.native import ffi
from ..errors import DeviceError
from .gpu import NOT_CURRENT, Gpu, check
from .programs import Program

OPERANDS, NUMBERS = 16, 24  # as mat_call has them
LONGEST_FRAME = 3 << 10  # bytes; all that a kernel is given has to stay below 4 KB
_CALL, _BYTES = 16, 16 + 8 * OPERANDS + 16 * NUMBERS  # where mat_call begins, behind the pointers to the two structs; the whole
_LIMITS = (2**31 - 1, 65535, 65535)
_launch: Callable[..., Any] = driver.cuLaunchKernel


class _Packet:
    """What one launch at a time is given: the array of pointers to its two structs, and behind it the call."""

    __slots__ = ("address", "data", "keep")

    def __init__(self, frame: Any) -> None:
        self.data = bytearray(_BYTES)
        self.keep = ffi.from_buffer(self.data)
        self.address = int(ffi.cast("uintptr_t", self.keep))
        self.data[:_CALL] = pack("QQ", int(ffi.cast("uintptr_t", frame)), self.address + _CALL)


class Launch:
    """Call it with what facets present: the kernel is queued on the device's stream. `Op` binds it first, as a `Prepared`.

    `kernel` is the name in the program, `frame` its struct of int64_t; `grid` and `block` have three lengths, and a grid with
    a 0 is not launched. `shared`: bytes of dynamic shared memory. `room`: bytes of device memory for the time of the call,
    which the kernel finds as the operand after the last. `then`: what is launched next, with the same operands and room.
    """

    __slots__ = ("block", "frame", "functions", "grid", "idle", "kernel", "numbers", "operands", "packing", "program", "room",
                 "shared", "source", "then")

    def __init__(self, program: Program, kernel: str, frame: Sequence[int], grid: tuple[int, int, int],
                 block: tuple[int, int, int], *, shared: int = 0, room: int = 0, then: Launch | None = None) -> None:
        if any(not 0 <= n <= limit for n, limit in zip(grid, _LIMITS, strict=True)):
            raise DeviceError(f"kernel {kernel!r}: a grid of {grid} blocks; at most {_LIMITS} can be launched")
        data = pack(f"{max(len(frame), 1)}q", *(frame or (0,)))
        if len(data) > LONGEST_FRAME:
            raise DeviceError(f"kernel {kernel!r}: a frame of {len(data)} bytes; {LONGEST_FRAME} are the most")
        self.program = program
        self.kernel = kernel
        self.frame = ffi.new("char[]", data)
        self.grid = grid
        self.block = block
        self.shared = shared
        self.room = room
        self.then = then
        self.functions: dict[Gpu, Any] = {}
        self.idle: list[_Packet] = []  # packets that no launch uses now; its methods are atomic
        self.operands: Sequence[int] = ()
        self.numbers: Sequence[int] = ()
        self.packing: Callable[..., None] | None = None
        self.source: tuple[int, tuple[int, ...], tuple[int, ...]] = (0, (), ())

    def bind(self, operands: Sequence[int], numbers: Sequence[int]) -> Launch:
        """Say at which positions of a call the operands are, and the numbers; return self."""
        self.operands, self.numbers, self.packing = operands, numbers, None
        if self.then is not None:
            self.then.bind(operands, numbers)
        return self

    def __call__(self, *values: Any) -> None:
        if self.packing is None:
            self._learn(values)
        gpu: Gpu = values[self.source[0]].gpu
        if not self.room:
            self._launch_all(gpu, values, 0)
            return
        with gpu.room(self.room) as address:
            self._launch_all(gpu, values, address)

    def _launch_all(self, gpu: Gpu, values: tuple[Any, ...], room: int) -> None:
        launch: Launch | None = self
        while launch is not None:
            if 0 not in launch.grid:
                launch._launch(gpu, values, room)
            launch = launch.then

    def _learn(self, values: tuple[Any, ...]) -> None:
        """How values of these kinds are packed: which operands are on the device, and which are numbers."""
        there = tuple(k for k in self.operands if hasattr(values[k], "gpu"))
        given = (*self.numbers, *(k for k in self.operands if k not in there))
        if not there or len(self.operands) >= OPERANDS or len(self.numbers) + len(self.operands) > NUMBERS:
            raise DeviceError(f"kernel {self.kernel!r} takes 1 to {OPERANDS - 1} operands, one of them on the device, and "
                              f"{NUMBERS} numbers; got {len(self.operands)} and {len(self.numbers)}")
        after = OPERANDS - 1 - len(self.operands)  # addresses behind that of the room
        kinds = "".join("Q" if k in there else "8x" for k in self.operands) + "Q" + f"{8 * after}x"
        kinds += "dd" * len(self.numbers) + "".join("16x" if k in there else "dd" for k in self.operands)
        self.source = (there[0], there, given)
        self.packing = Struct("=" + kinds).pack_into
        if self.then is not None:
            self.then._learn(values)

    def _launch(self, gpu: Gpu, values: tuple[Any, ...], room: int) -> None:
        function = self.functions.get(gpu)
        if function is None:
            function = self.functions[gpu] = gpu.kernel(self.program, self.kernel, self.shared)
        try:
            packet = self.idle.pop()
        except IndexError:
            packet = _Packet(self.frame)
        _, there, given = self.source
        addresses = [values[k].address for k in there]
        if given:
            numbers = [part for k in given for part in _pair(values[k])]
            self.packing(packet.data, _CALL, *addresses, room, *numbers)  # type: ignore[misc]  # learnt before
        else:
            self.packing(packet.data, _CALL, *addresses, room)  # type: ignore[misc]
        if not gpu.alone:
            gpu.enter()
        arguments = function, *self.grid, *self.block, self.shared, gpu.stream, packet.address, 0
        (status,) = _launch(*arguments)
        if status:
            self._retry(gpu, status, arguments)
        self.idle.append(packet)

    def _retry(self, gpu: Gpu, status: Any, arguments: tuple[Any, ...]) -> None:
        """Once more, if the device was not the thread's current one, as in a thread that is new; else the error."""
        result = (status,)
        if int(status) in NOT_CURRENT:
            gpu.enter()
            result = _launch(*arguments)
        check(result, f"kernel {self.kernel!r} of {self.grid} blocks of {self.block} threads")


def _pair(value: Any) -> tuple[float, float]:
    if type(value) is float:
        return value, 0.0
    number = complex(value)
    return number.real, number.imag
