"""Inverses, solutions, Cholesky factors and determinants on the device
(``native/cuda/factor.cuh``), for stacks of matrices.

Small matrices are factored by a block of threads each, large ones by panels, between which cuBLAS
brings the rest up to date. That a matrix cannot be factored is an error that the host has to raise,
so it waits for the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import numpy as np
from cuda.bindings import driver

from ..cpu.integer_matmul import MatrixOperand
from ..errors import LinAlgError
from ..layout.strided import Ints
from ..support.blas_library import REAL
from ..support.dtypes import COMPLEX_TYPES
from . import blas
from .gpu import Gpu, check
from .kernel import CudaKernel
from .nvrtc import Program

# columns of a panel; sides of matrices that are not worth panels. Not yet measured
PANEL, SMALL = 64, 128
MOST_AXES, THREADS, ALIGN = 8, 256, 256
TYPES = {char: f"complex_number<{real}>" if char in COMPLEX_TYPES else real
         for char, real in REAL.items()}
PROGRAMS = {letter: Program(f'#include "factor.cuh"\nMAT_FACTOR({name})\n') for letter,
            name in TYPES.items()}
ALL, LOWER, IDENTITY = 0, 1, 2
Step = Callable[..., None]


def programs() -> Iterator[Program]:
    """Everything that there is to compile."""
    yield from PROGRAMS.values()


class At:
    """A place in the memory of a device, as kernels and cuBLAS take operands."""

    __slots__ = ("address", "gpu")

    def __init__(self, gpu: Gpu, address: int) -> None:
        self.gpu = gpu
        self.address = address

    def plus(self, offset: int) -> At:
        """So many bytes further on."""
        return At(self.gpu, self.address + offset)


class Room(NamedTuple):
    """Where the factors of a call are, their pivots, the flag, one that nobody reads, a diagonal, a
    result not yet in place.
    """

    factors: At
    pivots: At
    flag: At
    other: At
    diagonal: At
    result: At


class FactorForm(NamedTuple):
    """What matrices are factored: their type, side, and how many there are."""

    letter: str
    n: int
    many: int

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return blas.SIZES[self.letter]

    @contextmanager
    def room(self, gpu: Gpu, columns: int = 0) -> Iterator[Room]:
        """Memory for the time of a call, with a result of so many columns."""
        each = self.many * self.n * self.size
        sizes = (each * self.n, self.many * self.n * 4, 4, 4, self.n * self.size, each * columns)
        starts = [0]
        for size in sizes:
            starts.append(starts[-1] + -(-size // ALIGN) * ALIGN)
        with gpu.room(starts[-1]) as address:
            yield Room(*(At(gpu, address + start) for start in starts[:-1]))

    def launch(self, kernel: str, frame: Ints, blocks: int, operands: int) -> CudaKernel:
        """A kernel of this type."""
        made = CudaKernel(PROGRAMS[self.letter], f"mat_factor_{kernel}", frame, (blocks, 1, 1),
                          (THREADS, 1, 1))
        return made.bind(tuple(range(operands)), ())

    def each(self, step: Callable[[Any, Any, Any], None], bytes_of_last: int = 0) -> Step:
        """`step` for each matrix of the stack, given its factors, its pivots, and a last operand
        that goes on by so many.
        """
        def all_of_them(factors: At, pivots: At, last: At) -> None:
            for k in range(self.many):
                step(factors.plus(k * self.n * self.n * self.size), pivots.plus(4 * k * self.n),
                     At(last.gpu, last.address
                     + k * bytes_of_last))
        return all_of_them

    # Steps, each called with (to, from, flag) or (factors, pivots, what else)

    def load(self, columns: int, x: MatrixOperand, batch: Ints, what: int = ALL) -> CudaKernel:
        """A stack of n x columns, packed; `x` says how it lies where it comes from."""
        padding = (0,) * (MOST_AXES - len(batch))
        frame = (self.n, columns, x.row, x.column, self.many, what, len(batch), *batch, *padding,
                 *x.batch, *padding)
        return self.launch("load", frame, -(-self.n * columns * self.many // THREADS), 3)

    def store(self, columns: int, x: MatrixOperand, batch: Ints) -> CudaKernel:
        """The other way: ``(packed, to)``."""
        padding = (0,) * (MOST_AXES - len(batch))
        frame = (self.n, columns, x.row, x.column, self.many, ALL, len(batch), *batch, *padding,
                 *x.batch, *padding)
        return self.launch("store", frame, -(-self.n * columns * self.many // THREADS), 2)

    def panel(self, kernel: str, rows: int, columns: int, first: int, blocks: int) -> CudaKernel:
        """Left columns from row `first` on."""
        return self.launch(kernel, (rows, columns, self.n, first, self.n * self.n, self.n), blocks,
                           3)

    def lu(self) -> Step:
        """LU of all matrices: ``(factors, pivots, flag)``."""
        if self.n <= SMALL:
            return self.panel("lu", self.n, self.n, 0, self.many)
        return self.each(_in_turn([self._lu_panel(first) for first in range(0, self.n, PANEL)]))

    def _lu_panel(self, first: int) -> Step:
        n, size, letter = self.n, self.size, self.letter
        wide = min(PANEL, n - first)
        after, rest = first + wide, n - first - wide
        panel = self.panel("lu", n - first, wide, first, 1)
        swap = self.launch("swap", (wide, first, n, n, first, after), -(-n // THREADS), 2)
        at = [size * (i * n + j) for i,
              j in ((first, first), (first, after), (after, first), (after, after))]
        trsm = blas.prepare_trsm(letter, "R", "U", "N", "U", rest, wide, n, n) if rest else None
        gemm = blas.prepare_gemm(letter, "N", "N", rest, rest, wide, n, n, n,
                                 False) if rest else None

        def step(factors: At, pivots: At, flag: At) -> None:
            corner, right, below, others = (factors.plus(offset) for offset in at)
            panel(corner, pivots.plus(4 * first), flag)
            swap(factors, pivots.plus(4 * first))
            if trsm is not None and gemm is not None:  # BLAS sees everything transposed
                trsm(1.0, corner, right)
                gemm(-1.0, right, below, 1.0, others)
        return step

    def solve(self, columns: int) -> Step:
        """Packed right sides are solved for: ``(factors, pivots, right sides)``."""
        n, letter = self.n, self.letter
        if n <= SMALL:
            return self.launch("solve", (n, columns, self.many), -(-columns * self.many // THREADS),
                               3)
        swap = self.launch("swap", (n, 0, columns, columns, 0, 0), -(-columns // THREADS), 2)
        lower = blas.prepare_trsm(letter, "R", "U", "N", "U", columns, n, n, columns)
        upper = blas.prepare_trsm(letter, "R", "L", "N", "N", columns, n, n, columns)

        def step(factors: At, pivots: At, x: At) -> None:
            swap(x, pivots)
            lower(1.0, factors, x)
            upper(1.0, factors, x)
        return self.each(step, n * columns * self.size)

    def cholesky(self) -> Step:
        """Cholesky's factors of packed lower triangles, in place: ``(factors, nothing, flag)``."""
        if self.n <= SMALL:
            return self.panel("cholesky", self.n, self.n, 0, self.many)
        return self.each(_in_turn([self._cholesky_panel(first)
                                   for first in range(0, self.n, PANEL)]))

    def _cholesky_panel(self, first: int) -> Step:
        n, size, letter = self.n, self.size, self.letter
        wide = min(PANEL, n - first)
        after, rest = first + wide, n - first - wide
        panel = self.panel("cholesky", wide, wide, 0, 1)
        at = [size * (i * n + j) for i, j in ((first, first), (after, first), (after, after))]
        trsm = blas.prepare_trsm(letter, "L", "U", "C", "N", wide, rest, n, n) if rest else None
        gemm = blas.prepare_gemm(letter, "C", "N", rest, rest, wide, n, n, n,
                                 False) if rest else None

        def step(factors: At, pivots: At, flag: At) -> None:
            corner, below, others = (factors.plus(offset) for offset in at)
            panel(corner, pivots, flag)
            if trsm is not None and gemm is not None:
                trsm(1.0, corner, below)
                gemm(-1.0, below, below, 1.0, others)
        return step


def _in_turn(steps: list[Step]) -> Step:
    def all_of_them(*operands: At) -> None:
        for step in steps:
            step(*operands)
    return all_of_them


def _read(host: Any, at: At) -> None:
    """Copy to the array `host`, after all that was queued."""
    with at.gpu.current():
        check(driver.cuMemcpyDtoHAsync(host.ctypes.data, at.address, host.nbytes, at.gpu.stream),
              "reading what was computed")
        at.gpu.synchronize()


def _check(name: str, reason: str, flag: At) -> None:
    """`LinAlgError` if the flag is up."""
    found = np.zeros(1, np.int32)
    _read(found, flag)
    if found[0]:
        raise LinAlgError(f"{name}: the matrix is {reason}")


def _result(form: FactorForm, columns: int, out: MatrixOperand | None, batch: Ints,
            compute: Callable[[Room, Any, At], None]) -> Callable[[Any, Any], None]:
    """``call(a, out)`` for what computes a packed result: in `out` itself, or, if it lies as told,
    by way of the room.
    """
    if out is None:
        def at_once(a: Any, to: Any) -> None:
            with form.room(to.gpu) as room:
                compute(room, a, At(to.gpu, to.address))
        return at_once
    store = form.store(columns, out, batch)

    def unpacked(a: Any, to: Any) -> None:
        with form.room(to.gpu, columns) as room:
            compute(room, a, room.result)
            store(room.result, to)
    return unpacked


def prepare_solution(letter: str, n: int, columns: int, a: MatrixOperand, b: MatrixOperand,
                     out: MatrixOperand | None, batch: Ints) -> Step:
    """``call(a, b, out)`` for ``out <- a^-1 b``, n x columns, for stacks that lie so; an `out` of
    None is packed.
    """
    form = FactorForm(letter, n, prod(batch))
    load, right = form.load(n, a, batch), form.load(columns, b, batch)
    lu, solve = form.lu(), form.solve(columns)

    def solution(room: Room, given: tuple[Any, Any], x: At) -> None:
        load(room.factors, given[0], room.flag)
        right(x, given[1], room.flag)
        lu(room.factors, room.pivots, room.flag)
        solve(room.factors, room.pivots, x)
        _check("solve", "singular", room.flag)
    inner = _result(form, columns, out, batch, solution)
    return lambda a, b, out: inner((a, b), out)


def prepare_inverse(letter: str, n: int, a: MatrixOperand, out: MatrixOperand | None,
                    batch: Ints) -> Step:
    """``call(a, out)`` for ``out <- a^-1``."""
    form = FactorForm(letter, n, prod(batch))
    load, right = form.load(n, a, batch), form.load(n, MatrixOperand(letter, 0, 0, (0,)
                                                                     * len(batch)), batch, IDENTITY)
    lu, solve = form.lu(), form.solve(n)

    def inverse(room: Room, a: Any, x: At) -> None:
        load(room.factors, a, room.flag)
        right(x, x, room.flag)
        lu(room.factors, room.pivots, room.flag)
        solve(room.factors, room.pivots, x)
        _check("inv", "singular", room.flag)
    return _result(form, n, out, batch, inverse)


def prepare_cholesky(letter: str, n: int, a: MatrixOperand, out: MatrixOperand | None,
                     batch: Ints) -> Step:
    """``call(a, out)`` for ``out <- L`` with ``a = L L^H``."""
    form = FactorForm(letter, n, prod(batch))
    load, factor = form.load(n, a, batch, LOWER), form.cholesky()
    # products fill both triangles
    clear = form.load(n, MatrixOperand(letter, n, 1, (n * n,)), (form.many,), LOWER)

    def cholesky(room: Room, a: Any, x: At) -> None:
        load(x, a, room.flag)
        factor(x, room.pivots, room.flag)
        if n > SMALL:
            clear(x, x, room.other)
        _check("cholesky", "not positive definite", room.flag)
    return _result(form, n, out, batch, cholesky)


def prepare_slogdet(letter: str, n: int, a: MatrixOperand) -> Callable[[Any], tuple[Any, float]]:
    """``call(a)`` for the sign of the determinant and the logarithm of its modulus."""
    form = FactorForm(letter, n, 1)
    load, lu = form.load(n, a, ()), form.lu()
    pick = form.launch("diagonal", (n,), -(-n // THREADS), 2)

    def slogdet(a: Any) -> tuple[Any, float]:
        diagonal, pivots = np.empty(n, letter), np.empty(n, np.int32)
        with form.room(a.gpu) as room:
            load(room.factors, a, room.flag)
            lu(room.factors, room.pivots, room.flag)
            pick(room.factors, room.diagonal)
            _read(diagonal, room.diagonal)
            _read(pivots, room.pivots)
        exchanges = int((pivots != np.arange(n)).sum())
        sizes = np.abs(diagonal)
        with np.errstate(all="ignore"):
            if (sizes == 0).any():
                return diagonal.dtype.type(0).item(), float("-inf")
            sign = np.prod(diagonal / sizes) * diagonal.dtype.type(-1 if exchanges % 2 else 1)
            return sign.item(), np.log(sizes).sum().item()
    return slogdet
