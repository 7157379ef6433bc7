"""Inverses, solutions, Cholesky factors and determinants on the device, for stacks of matrices.

The kernels are in ``native/cuda/factor.cuh``. Small matrices are factored by a block of threads
each, large ones by panels, between which cuBLAS brings the rest up to date. That a matrix cannot be
factored is an error that the host has to raise, so each call waits for its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import NamedTuple

import numpy as np

from ..core.recorder import refuse_if_recorded
from ..errors import LinAlgError
from ..layout.matrix_operand import GemmForm, GemmSizes, MatrixOperand, TrsmForm
from ..layout.shapes import Ints
from ..support.blas_library import REAL
from ..support.dtypes import COMPLEX_TYPES
from ..support.types import Array, Function, Number
from . import blas
from .driver import driver
from .gpu import Gpu, check
from .kernel import CudaKernel
from .nvrtc import Program

# columns of a panel; sides of matrices that are not worth panels. Not yet measured
PANEL, SMALL = 64, 128
MOST_AXES, THREADS, ALIGN = 8, 256, 256
TYPES = {char: f"complex_number<{real}>" if char in COMPLEX_TYPES else real
         for char, real in REAL.items()}
PROGRAMS = {letter: Program(f'#include "factor.cuh"\nMAT_FACTOR({name})\n')
            for letter, name in TYPES.items()}
ALL, LOWER, IDENTITY = 0, 1, 2
FactorStep = Function  # with operands on the device


def programs() -> Iterator[Program]:
    """Yield all programs that there are to compile."""
    yield from PROGRAMS.values()


class At:
    """An address in the memory of a device, as kernels and cuBLAS take operands."""

    __slots__ = ("address", "gpu")

    def __init__(self, gpu: Gpu, address: int) -> None:
        self.gpu: Gpu = gpu
        self.address: int = address

    def plus(self, offset: int) -> At:
        """Return the address so many bytes further on."""
        return At(self.gpu, self.address + offset)


class Room(NamedTuple):
    """The device memory of a call.

    It has factors, pivots, the flag, one that nobody reads, a diagonal, and a packed result.
    """

    factors: At
    pivots: At
    flag: At
    other: At
    diagonal: At
    result: At


class FactorForm(NamedTuple):
    """The matrices that are factored: their type, side, and how many there are."""

    letter: str
    n: int
    many: int

    @property
    def size(self) -> int:
        """Return the bytes of an element."""
        return blas.SIZES[self.letter]

    @contextmanager
    def room(self, gpu: Gpu, columns: int = 0) -> Iterator[Room]:
        """Yield memory for the time of a call, with a result of so many columns."""
        each = self.many * self.n * self.size
        sizes = (each * self.n, self.many * self.n * 4, 4, 4, self.n * self.size, each * columns)
        starts = [0]
        for size in sizes:
            starts.append(starts[-1] + -(-size // ALIGN) * ALIGN)
        with gpu.room(starts[-1]) as address:
            yield Room(*(At(gpu, address + start) for start in starts[:-1]))

    def launch(self, kernel: str, frame: Ints, blocks: int, operands: int) -> CudaKernel:
        """Return a kernel for elements of this type."""
        made = CudaKernel(PROGRAMS[self.letter], f"mat_factor_{kernel}", frame, (blocks, 1, 1),
                          (THREADS, 1, 1))
        return made.bind(tuple(range(operands)), ())

    def each(self, step: FactorStep, bytes_of_last: int = 0) -> FactorStep:
        """Return `step` for each matrix of the stack, given its factors and pivots.

        A last operand is so many bytes further on for each.
        """
        def for_each_matrix(factors: At, pivots: At, last: At) -> None:
            for k in range(self.many):
                step(factors.plus(k * self.n * self.n * self.size), pivots.plus(4 * k * self.n),
                     At(last.gpu, last.address + k * bytes_of_last))
        return for_each_matrix

    # Steps, each called with (to, from, flag) or (factors, pivots, what else)

    def load(self, columns: int, x: MatrixOperand, batch: Ints, what: int = ALL) -> CudaKernel:
        """Return the step that packs a stack of n x columns; `x` has its strides."""
        padding = (0,) * (MOST_AXES - len(batch))
        frame = (self.n, columns, x.row, x.column, self.many, what, len(batch), *batch, *padding,
                 *x.batch, *padding)
        return self.launch("load", frame, -(-self.n * columns * self.many // THREADS), 3)

    def store(self, columns: int, x: MatrixOperand, batch: Ints) -> CudaKernel:
        """Return the step ``(packed, to)`` that unpacks a stack to the strides of `x`."""
        padding = (0,) * (MOST_AXES - len(batch))
        frame = (self.n, columns, x.row, x.column, self.many, ALL, len(batch), *batch, *padding,
                 *x.batch, *padding)
        return self.launch("store", frame, -(-self.n * columns * self.many // THREADS), 2)

    def panel(self, kernel: str, rows: int, columns: int, first: int, blocks: int) -> CudaKernel:
        """Return a kernel on the left columns, from row `first` on."""
        return self.launch(kernel, (rows, columns, self.n, first, self.n * self.n, self.n), blocks,
                           3)

    def lu(self) -> FactorStep:
        """Return the step that factors all matrices by LU: ``(factors, pivots, flag)``."""
        if self.n <= SMALL:
            return self.panel("lu", self.n, self.n, 0, self.many)
        return self.each(_in_turn([self._lu_panel(first) for first in range(0, self.n, PANEL)]))

    def _lu_panel(self, first: int) -> FactorStep:
        n, size = self.n, self.size
        wide = min(PANEL, n - first)
        after, rest = first + wide, n - first - wide
        panel = self.panel("lu", n - first, wide, first, 1)
        swap = self.launch("swap", (wide, first, n, n, first, after), -(-n // THREADS), 2)
        at = [size * (i * n + j)
              for i, j in ((first, first), (first, after), (after, first), (after, after))]
        trsm, gemm = self._updates(TrsmForm("R", "U", "N", "U", rest, wide, n, n), "N", rest, wide)

        def step(factors: At, pivots: At, flag: At) -> None:
            corner, right, below, others = (factors.plus(offset) for offset in at)
            panel(corner, pivots.plus(4 * first), flag)
            swap(factors, pivots.plus(4 * first))
            if rest:  # BLAS sees everything transposed
                trsm(1.0, corner, right)
                gemm(-1.0, right, below, 1.0, others)
        return step

    def _updates(self, solve: TrsmForm, trans: str, rest: int,
                 wide: int) -> tuple[FactorStep, FactorStep]:
        """Prepare the updates of the `rest` of a matrix after a panel `wide` columns wide."""
        n, letter = self.n, self.letter
        product = GemmForm(trans, "N", GemmSizes(rest, rest, wide), (n, n, n))
        if not rest:
            return _nothing, _nothing
        return blas.prepare_trsm(letter, solve), blas.prepare_gemm(letter, product)

    def solve(self, columns: int) -> FactorStep:
        """Return the step that solves for packed right sides: ``(factors, pivots, sides)``."""
        n, letter = self.n, self.letter
        if n <= SMALL:
            return self.launch("solve", (n, columns, self.many), -(-columns * self.many // THREADS),
                               3)
        swap = self.launch("swap", (n, 0, columns, columns, 0, 0), -(-columns // THREADS), 2)
        lower, upper = (blas.prepare_trsm(letter, TrsmForm("R", uplo, "N", diag, columns, n, n,
                                                           columns))
                        for uplo, diag in (("U", "U"), ("L", "N")))

        def step(factors: At, pivots: At, x: At) -> None:
            swap(x, pivots)
            lower(1.0, factors, x)
            upper(1.0, factors, x)
        return self.each(step, n * columns * self.size)

    def cholesky(self) -> FactorStep:
        """Return the step that factors packed lower triangles by Cholesky, in place.

        It is called with ``(factors, nothing, flag)``.
        """
        if self.n <= SMALL:
            return self.panel("cholesky", self.n, self.n, 0, self.many)
        return self.each(_in_turn([self._cholesky_panel(first)
                                   for first in range(0, self.n, PANEL)]))

    def _cholesky_panel(self, first: int) -> FactorStep:
        n, size = self.n, self.size
        wide = min(PANEL, n - first)
        after, rest = first + wide, n - first - wide
        panel = self.panel("cholesky", wide, wide, 0, 1)
        at = [size * (i * n + j) for i, j in ((first, first), (after, first), (after, after))]
        trsm, gemm = self._updates(TrsmForm("L", "U", "C", "N", wide, rest, n, n), "C", rest, wide)

        def step(factors: At, pivots: At, flag: At) -> None:
            corner, below, others = (factors.plus(offset) for offset in at)
            panel(corner, pivots, flag)
            if rest:
                trsm(1.0, corner, below)
                gemm(-1.0, below, below, 1.0, others)
        return step


def _nothing(*_: object) -> None:
    """Do nothing: there is no rest of the matrix."""


def _in_turn(steps: list[FactorStep]) -> FactorStep:
    def all_of_them(*operands: At) -> None:
        for step in steps:
            step(*operands)
    return all_of_them


def _read(host: Array, at: At) -> None:
    """Copy from the device to the array `host`, after all that was queued."""
    refuse_if_recorded(f"{host.nbytes} bytes are copied to the host, which checks them")
    with at.gpu.current():
        check(driver.cuMemcpyDtoHAsync(host.ctypes.data, at.address, host.nbytes, at.gpu.stream),
              "reading what was computed")
        at.gpu.synchronize()


def _check(name: str, reason: str, flag: At) -> None:
    """Raise `LinAlgError` if the flag is set."""
    found = np.zeros(1, np.int32)
    _read(found, flag)
    if found[0]:
        raise LinAlgError(f"{name}: the matrix is {reason}")


def _result(form: FactorForm, columns: int, out: MatrixOperand | None, batch: Ints,
            compute: Function) -> FactorStep:
    """Return ``call(a, out)`` for `compute`, which computes a packed result.

    That is `out` itself (None), or copied from the call's memory to one with these strides.
    """
    if out is None:
        def at_once(a: blas.DeviceOperand, to: blas.DeviceOperand) -> None:
            with form.room(to.gpu) as room:
                compute(room, a, At(to.gpu, to.address))
        return at_once
    store = form.store(columns, out, batch)

    def unpacked(a: blas.DeviceOperand, to: blas.DeviceOperand) -> None:
        with form.room(to.gpu, columns) as room:
            compute(room, a, room.result)
            store(room.result, to)
    return unpacked


def prepare_solution(letter: str, sizes: tuple[int, int], a: MatrixOperand, b: MatrixOperand,
                     out: MatrixOperand | None, batch: Ints) -> FactorStep:
    """Prepare ``out <- a^-1 b``, of these sizes, as a function of ``(a, b, out)``.

    Stacks have these strides; an `out` of None is packed.
    """
    n, columns = sizes
    form = FactorForm(letter, n, prod(batch))
    load, right = form.load(n, a, batch), form.load(columns, b, batch)
    lu, solve = form.lu(), form.solve(columns)

    def solution(room: Room, given: tuple[blas.DeviceOperand, blas.DeviceOperand], x: At) -> None:
        load(room.factors, given[0], room.flag)
        right(x, given[1], room.flag)
        lu(room.factors, room.pivots, room.flag)
        solve(room.factors, room.pivots, x)
        _check("solve", "singular", room.flag)
    inner = _result(form, columns, out, batch, solution)
    return lambda a, b, out: inner((a, b), out)


def prepare_inverse(letter: str, n: int, a: MatrixOperand, out: MatrixOperand | None,
                    batch: Ints) -> FactorStep:
    """Prepare ``out <- a^-1`` as a function of ``(a, out)``."""
    form = FactorForm(letter, n, prod(batch))
    nowhere = MatrixOperand(letter, 0, 0, (0,) * len(batch))
    load, right = form.load(n, a, batch), form.load(n, nowhere, batch, IDENTITY)
    lu, solve = form.lu(), form.solve(n)

    def inverse(room: Room, a: blas.DeviceOperand, x: At) -> None:
        load(room.factors, a, room.flag)
        right(x, x, room.flag)
        lu(room.factors, room.pivots, room.flag)
        solve(room.factors, room.pivots, x)
        _check("inv", "singular", room.flag)
    return _result(form, n, out, batch, inverse)


def prepare_cholesky(letter: str, n: int, a: MatrixOperand, out: MatrixOperand | None,
                     batch: Ints) -> FactorStep:
    """Prepare ``out <- L`` with ``a = L L^H`` as a function of ``(a, out)``."""
    form = FactorForm(letter, n, prod(batch))
    load, factor = form.load(n, a, batch, LOWER), form.cholesky()
    # products fill both triangles
    clear = form.load(n, MatrixOperand(letter, n, 1, (n * n,)), (form.many,), LOWER)

    def cholesky(room: Room, a: blas.DeviceOperand, x: At) -> None:
        load(x, a, room.flag)
        factor(x, room.pivots, room.flag)
        if n > SMALL:
            clear(x, x, room.other)
        _check("cholesky", "not positive definite", room.flag)
    return _result(form, n, out, batch, cholesky)


def prepare_slogdet(letter: str, n: int, a: MatrixOperand) -> Function:
    """Prepare the sign and the logarithm of the modulus of the determinant of ``a``."""
    form = FactorForm(letter, n, 1)
    load, lu = form.load(n, a, ()), form.lu()
    pick = form.launch("diagonal", (n,), -(-n // THREADS), 2)

    def slogdet(a: blas.DeviceOperand) -> tuple[Number, float]:
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
