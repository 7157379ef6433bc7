"""Selection by integers, masks and conditions on the device, and accumulation at positions: the
kernels of ``native/cuda/select.cuh`` and ``accumulate.cuh``, and their frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import prod

from ...layout.merged_axes import magic, merged
from ...layout.shapes import Ints
from ...support.dtypes import BY_CHAR, DISTINCT
from ...support.types import Operand
from ..runtime.kernel import THREADS, CudaKernel, blocks_for, in_blocks
from ..runtime.nvrtc import EXACT, Program
from .compare import finding_nothing
from .elementwise import StridedLoop, lines, of_equal, strided_loop, type_of

EACH = 4  # elements of a thread
TILE = 16 * THREADS  # bytes of a mask
CHOSEN = 8  # axes that are chosen of, at most
BLOCKS = 1024  # that look for integers out of range, at most: each reads on
_UNITS = 1, 2, 4, 8, 16  # bytes
WAYS = {"steps": "uint32_t", "long": "uint64_t"}
RULES = ("add", "subtract", "multiply", "maximum", "minimum")  # of accumulation
KINDS = tuple(BY_CHAR[char].suffix for char in DISTINCT)
_SLOTS = 2  # of the table of places, for each position


@cache
def _program(*lines: str) -> Program:
    return Program("\n".join(['#include "select.cuh"', *lines, ""]))


@cache
def unit_program(macro: str, unit: int) -> Program:
    """Return the kernels for units of so many bytes of "GATHERING", "SELECT" or "JOIN"."""
    return _program(*(f"MAT_{macro}({unit}, mat_words<{unit}>::type, {way}, {count})"
                      for way, count in WAYS.items()))


@cache
def pick_program(unit: int) -> Program:
    """Return the kernel that copies units of so many bytes where a mask is true."""
    return _program(f"MAT_PICK({unit}, mat_words<{unit}>::type)")


@cache
def position_program() -> Program:
    """Return the kernels that compute positions, or check them."""
    return _program("MAT_MASKS()", "MAT_WINS()", "MAT_OUTSIDE()")


def programs() -> Iterator[Program]:
    """Return every program of this module."""
    for unit in _UNITS:
        yield unit_program("GATHERING", unit)
        yield unit_program("SELECT", unit)
        yield unit_program("JOIN", unit)
        yield pick_program(unit)
    yield position_program()
    yield from map(accumulating_program, KINDS)


# Gathers and scatters


def prepare_gather(x: Operand, at: Operand, out: Operand, place: int, chosen: Ints) -> CudaKernel:
    """Return the kernel that copies the items of `x` at the positions `at` to `out`; these count
    the items of the axes `chosen` by rows, and their axes are at `place` of those of `out`.
    """
    rest, steps = apart(x, chosen)
    ndim = at.layout.ndim
    to_x = (*rest[:place], *(0,) * ndim, *rest[place:])
    to_at = _around(at, place, len(rest))
    found = _loop(out.layout.shape, to_x, to_at, out.layout.strides)
    return _kernel(f"gather_{out.itemsize}", found, (*found.frame, 0, *steps))


def prepare_gather_along(x: Operand, at: Operand, out: Operand, axis: int) -> CudaKernel:
    """Return the kernel that copies, for each element of `at`, the element of `x` at that index of
    an axis and at the same place of the others; `x` is broadcast along these.
    """
    shape = out.layout.shape
    strides = x.layout.strides
    to_x = tuple(0 if k == axis or x.layout.shape[k] == 1 else s for k, s in enumerate(strides))
    to_at = at.layout.broadcast_to(shape).strides
    found = _loop(shape, to_x, to_at, out.layout.strides)
    return _kernel(f"gather_{out.itemsize}", found, (*found.frame, 0, *_chosen_axes(x, (axis,))))


def prepare_scatter(at: Operand, source: Operand, x: Operand, place: int, chosen: Ints,
                    unique: bool) -> CudaKernel:
    """Return the kernel that copies `source` to the items of `x` at the positions `at`; the last
    of several for one place, unless these are `unique`.
    """
    rest, steps = apart(x, chosen)
    shape = source.layout.shape
    to_x = (*rest[:place], *(0,) * at.layout.ndim, *rest[place:])
    found = _loop(shape, to_x, _around(at, place, len(rest)), source.layout.strides)
    frame = (*found.frame, 0, *steps)
    if unique:
        return _kernel(f"scatter_{x.itemsize}", found, frame)
    n, length = at.layout.size, prod(x.layout.shape[k] for k in chosen)
    last = _kernel(f"scatter_last_{x.itemsize}", found, frame)
    return _winning(n, length, last)


def apart(x: Operand, chosen: Ints) -> tuple[Ints, list[int]]:
    """Return the strides of the axes that are not chosen, and the frame's part of the others."""
    rest = tuple(s for k, s in enumerate(x.layout.strides) if k not in chosen)
    return rest, _chosen_axes(x, chosen)


def _chosen_axes(x: Operand, chosen: Ints) -> list[int]:
    axes = merged((x.layout.shape[k], x.layout.strides[k]) for k in chosen) or [(1, 0)]
    pad = [0] * (CHOSEN - len(axes))
    factors, shifts = zip(*(magic(n, 64) for n, _ in axes), strict=True)
    return [len(axes), *(n for n, _ in axes), *pad, *factors, *pad, *shifts, *pad,
            *(s for _, s in axes), *pad]


def _around(at: Operand, place: int, rest: int) -> Ints:
    """Return the strides of positions, equal along all axes that are not chosen."""
    return (*(0,) * place, *at.layout.strides, *(0,) * (rest - place))


def _loop(shape: Ints, *strides: Ints) -> StridedLoop:
    return strided_loop(shape, strides, 1, tuple(WAYS))


def _kernel(name: str, found: StridedLoop, frame: Sequence[int]) -> CudaKernel:
    unit = int(name.rpartition("_")[2])
    macro = name.partition("_")[0].upper()
    program = unit_program(macro if macro in ("SELECT", "JOIN") else "GATHERING", unit)
    return in_blocks(program, f"mat_{name}_{found.way}", frame, blocks_for(found.items, EACH))


def _winning(n: int, length: int, then: CudaKernel) -> CudaKernel:
    """Return kernels that mark the last of `n` positions of each place, then `then`."""
    bits = max(_SLOTS * n - 1, 1).bit_length()
    table = -(-n // 8) * 8
    frame = n, length, table, 1 << bits, 64 - bits
    kernel = then
    for name, count in (("decide", n), ("enter", n), ("clear", 2 << bits)):
        kernel = in_blocks(position_program(), f"mat_wins_{name}", frame, blocks_for(count),
                           then=kernel, room=table + (16 << bits) if name == "clear" else 0)
    return kernel


# Conditions


def prepare_select(condition: Operand, a: Operand, b: Operand, out: Operand) -> CudaKernel:
    """Return the kernel that copies elements of `a` where `condition` is true, else of `b`."""
    shape = out.layout.shape
    strides = [v.layout.broadcast_to(shape).strides for v in (condition, a, b, out)]
    found = _loop(shape, *strides)
    return _kernel(f"select_{out.itemsize}", found, (*found.frame, 0))


def prepare_join(a: Operand, b: Operand, out: Operand, axis: int) -> CudaKernel:
    """Return the kernel that copies `a`, and along an axis after it `b`, to `out`."""
    shape, length = out.layout.shape, a.layout.shape[axis]
    places = tuple(int(k == axis) for k in range(len(shape)))
    found = _loop(shape, places, a.layout.strides, b.layout.strides, out.layout.strides)
    return _kernel(f"join_{out.itemsize}", found,
                   (*found.frame, 0, length, length * b.layout.strides[axis]))


# Positions


def prepare_mask_starts(mask: Operand) -> CudaKernel:
    """Return the kernel that counts true elements before each tile of a packed mask, and in all."""
    n = mask.layout.size
    tiles = -(-n // TILE)
    total = _positions("mask_sum", (n, tiles), 1)
    counts = _positions("mask_count", (n, tiles), tiles)
    counts.then = total
    return counts


def prepare_mask_positions(mask: Operand) -> CudaKernel:
    """Return the kernel that writes the positions of true elements in a packed mask."""
    n = mask.layout.size
    tiles = -(-n // TILE)
    return _positions("mask_positions", (n, tiles), tiles)


def prepare_pick(mask: Operand, x: Operand) -> CudaKernel:
    """Return the kernel that copies the items of `x` where a packed, counted mask is true."""
    n, axes = mask.layout.size, tuple(range(x.layout.ndim))
    chosen, other = axes[:mask.layout.ndim], axes[mask.layout.ndim:]
    rest = prod(x.layout.shape[k] for k in other)
    # a thread copies 16 elements, unless there are more tiles than blocks for each
    blocks = min(-(-rest * min(n, TILE) // TILE), 65535)
    frame = (n, -(-n // TILE), rest, *magic(rest, 64), *_chosen_axes(x, chosen),
             *_chosen_axes(x, other))
    return CudaKernel(pick_program(x.itemsize), f"mat_pick_{x.itemsize}", frame,
                      (-(-n // TILE), blocks, 1), (THREADS, 1, 1))


def _positions(name: str, frame: Sequence[int], blocks: int) -> CudaKernel:
    return in_blocks(position_program(), f"mat_{name}", frame, blocks)


def prepare_within(at: Operand, low: int, high: int) -> Callable[..., bool]:
    """Return ``call(at, ...)``: whether all packed integers are in ``range(low, high)``."""
    n = at.layout.size
    return finding_nothing(_positions("outside", (n, low, high), min(BLOCKS, blocks_for(n))), 1)


# Items at positions combined with others, in a fixed order


@cache
def accumulating_program(kind: str) -> Program:
    """Return the kernels for elements of a type."""
    rules = " ".join(f"MAT_RULE{of_equal(name, kind)}({name})" for name in RULES
                     if lines()[name].computes(kind))
    kernels = (f"MAT_ACCUMULATE({kind}, {way}, {count})" for way, count in WAYS.items())
    return Program("\n".join(['#include "accumulate.cuh"', f"MAT_RULES({kind}, {rules})",
                              *kernels, ""]), (EXACT,))


def prepare_accumulate(at: Operand, source: Operand, x: Operand, rule: str,
                       chosen: Ints) -> CudaKernel:
    """Return the kernel that combines the items of `x` at positions with those of `source`, whose
    first axis is that of the positions. Its arguments: positions, their sorting kernel, `x` and
    `source`.
    """
    rest, steps = apart(x, chosen)
    strides = source.layout.strides
    n = at.layout.size
    more = (0,) * len(rest)
    found = strided_loop(source.layout.shape, [(0, *rest), (1, *more), (0, *strides[1:])], 1,
                         tuple(WAYS))
    kind = type_of(x.dtype)
    frame = (*found.frame, 0, *steps, n, strides[0], list(lines()).index(rule))
    return in_blocks(accumulating_program(kind), f"mat_accumulate_{kind}_{found.way}", frame,
                     blocks_for(found.items))
