"""Users' kernels on the device: their source around that of ``native/cuda/user.cuh``, and the frame
of their operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from ...cpu.elementwise import KernelPlaces
from ...devices.device import in_use
from ...layout.shapes import Ints
from ...support.types import Operand
from ..runtime.kernel import CudaKernel
from ..runtime.nvrtc import EXACT, Program
from .elementwise import MANY, OWN, blocks_of, strided_loop, strides_of


class UserKernel(NamedTuple):
    """A function `mat_user` in C++, how it is called for element `m`, and how it is launched."""

    function: str
    # of x0[m], x1[m] ..., the values of operands, and number0 ...
    call: str
    numbers: tuple[tuple[str, str], ...]  # their types and values
    elements: tuple[tuple[str, str], ...]  # of each operand, the types in memory and of values
    reads: int  # which operands, as bits
    writes: int
    walked: int  # those whose values are pointers to the elements
    counters: int  # further values: indices
    facts: int  # numbers at the end of the frame, the first ones the first indices
    grid: int | None
    block: int

    @property
    def heavy(self) -> bool:
        """True if threads do fewer elements."""
        return len(self.elements) > MANY


def prepare_user_kernel(kernel: UserKernel, mats: Sequence[Operand], shape: Ints, last: int,
                        places: KernelPlaces | None = None) -> CudaKernel:
    """Return a user's kernel for `mats` that broadcast to `shape`, compiled for the device in use;
    the operand `last` is written. Raise `CompileError` if it cannot be compiled.
    """
    group = 16 // max(m.element_type.itemsize for m in mats)
    strides = [strides_of(m.layout, shape) for m in mats] if places is None else [
        s or strides_of(m.layout, shape) for m, s in zip(mats, places.strides, strict=True)]
    facts: list[int] = []
    if places is not None:
        strides += [steps for steps, _ in places.counters]
        facts = [*(first for _, first in places.counters), *places.facts]
    found = strided_loop(shape, strides, group, OWN, by=last)
    blocks = blocks_of(found, group, kernel.heavy, kernel.block)
    program = Program(user_source(kernel, group), (EXACT,))
    # devices whose implementations are here are of cuda
    program.cubin(in_use().gpu.arch)  # type: ignore[attr-defined]
    return CudaKernel(program, f"mat_user_{found.way}", (*found.frame, blocks, *facts),
                      (min(blocks, kernel.grid or blocks), 1, 1),
                      (kernel.block, 1, 1))


@cache
def user_source(kernel: UserKernel, group: int) -> str:
    """Return the source of a user's kernel, whose widest elements are so many in 16 bytes; fewer
    blocks than it takes do several shares each.
    """
    count = len(kernel.elements) + kernel.counters
    each = ("for (int64_t block = blockIdx.x; block < frame.line; block += gridDim.x)"
            if kernel.grid else "const uint32_t block = blockIdx.x;")
    starts = {"flat": f"flat<U, {group}>(frame, call, (int64_t)block * (int)(blockDim.x * U * "
                      f"{group}))",
              "rows": f"rows<U, {group}>(frame, call, (uint32_t)block * (blockDim.x * U))",
              "steps": "steps<M, uint32_t>(frame, call, (uint32_t)block * (blockDim.x * M), here)",
              "long": "steps<M, uint64_t>(frame, call, (uint64_t)block * (blockDim.x * M), here)"}
    kernels = (f"MAT_KERNEL(mat_user_{way}, mat_frame_of_users, {kernel.block}) {{ "
               f"constexpr int U = mat_groups({group}, mat_users::HEAVY), "
               f"M = mat_elements(mat_users::HEAVY); const mat_users::as_they_are here; "
               f"(void)U, (void)M, (void)here; "
               f"{each} mat_walk<{count}, mat_users>::template {start}; }}"
               for way, start in starts.items())
    return "\n".join(['#include "user.cuh"', kernel.function, *_users(kernel), *kernels, ""])


def _frame(kernel: UserKernel) -> str:
    count = len(kernel.elements) + kernel.counters
    return f"mat_user_frame<{count}, {kernel.counters + kernel.facts}>" if (
        kernel.counters + kernel.facts) else f"mat_axes<{count}>"


class _Value(NamedTuple):
    """A value of an element: number, type, and statements that load it, one or a group."""

    k: int
    type: str
    load: str
    load_groups: str


def _values(kernel: UserKernel) -> list[_Value]:
    found = []
    for k, (stored, value) in enumerate(kernel.elements):
        if kernel.walked >> k & 1:
            found.append(_Value(k, f"const {stored} *",
                                f"mat_point<{stored}, {k}>(call, at, x{k});",
                                f"mat_point_groups<{stored}, {k}, W>(call, frame.step[{k}], at, "
                                f"x{k});"))
        elif kernel.reads >> k & 1:
            found.append(_Value(k, value, f"mat_take<{stored}, {value}, {k}>(call, at, there, "
                                f"x{k});", f"mat_take_groups<{stored}, {value}, {k}, W>(call, "
                                f"frame.step[{k}], at, x{k});"))
        else:
            found.append(_Value(k, value, "", ""))
    for c in range(kernel.counters):
        k = len(kernel.elements) + c
        found.append(_Value(k, "int64_t", f"mat_count<{k}>(f.firsts[{c}], at, x{k});",
                            f"mat_count_groups<{k}, W>(f.firsts[{c}], frame.step[{k}], at, x{k});"))
    return found


def _compute(kernel: UserKernel, values: list[_Value]) -> list[str]:
    """Return the lines of the function that computes the elements that are there. Threads without
    one have arbitrary values and positions: a read could fail, and a loop never end.
    """
    return ["    template <int M> INLINE void compute(const bool (&there)[M], "
            + ", ".join(f"{v.type} (&x{v.k})[M]" for v in values) + ") const {",
            "#pragma unroll",
            f"        for (int m = 0; m < M; m++) if (there[m]) {{ {kernel.call}; }}", "    }"]


def _users(kernel: UserKernel) -> list[str]:
    """Return the lines of the class `mat_users`."""
    values = _values(kernel)
    every = range(len(kernel.elements))
    writes = [k for k in every if kernel.writes >> k & 1]
    aligned = " && ".join(f"(!frame.step[{k}] || !((uint64_t)call.at[{k}] & (W * "
                          f"sizeof({kernel.elements[k][0]}) - 1)))" for k in every
                          if not kernel.walked >> k & 1)
    given = ", ".join(f"x{v.k}" for v in values)
    return [
        f"typedef {_frame(kernel)} mat_frame_of_users;", "struct mat_users {",
        f"    enum {{ HEAVY = {kernel.heavy:d}, N = {len(values)} }};",
        "    typedef mat_users functor;", "    struct as_they_are {};",
        *(f"    {kind} number{k};" for k, (kind, _) in enumerate(kernel.numbers)),
        "    const int64_t *firsts, *facts;",
        "    INLINE mat_users(const mat_axes<N> &frame, const mat_call &call) {",
        *(f"        number{k} = {value};" for k, (_, value) in enumerate(kernel.numbers)),
        *([f"        firsts = ((const mat_frame_of_users &)frame).facts, facts = firsts + "
           f"{kernel.counters};"] if kernel.counters + kernel.facts else []),
        "    }",
        *_compute(kernel, values),
        "    template <int M> static INLINE void elements(const mat_call &call, "
        "const mat_users &f, const int64_t (&at)[M][N], const bool (&there)[M], "
        "const as_they_are &) {",
        *(f"        {v.type} x{v.k}[M]; {v.load}" for v in values),
        f"        f.compute(there, {given});",
        *(f"        mat_put<{', '.join(kernel.elements[k])}, {k}>(call, at, there, x{k});"
          for k in writes), "    }",
        "    template <int U, int W> static INLINE void groups(const mat_axes<N> &frame, "
        "const mat_call &call, const mat_users &f, const int64_t (&at)[U][N]) {",
        "        bool there[U * W];", "#pragma unroll",
        "        for (int m = 0; m < U * W; m++) there[m] = true;",
        *(f"        {v.type} x{v.k}[U * W]; {v.load_groups}" for v in values),
        f"        f.compute(there, {given});",
        *(f"        mat_put_groups<{', '.join(kernel.elements[k])}, {k}, W>(call, at, x{k});"
          for k in writes), "    }",
        "    template <int W> static INLINE bool aligned(const mat_axes<N> &frame, "
        f"const mat_call &call) {{ return {aligned}; }}", "};"]
