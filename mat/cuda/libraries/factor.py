"""Inverses, solutions, Cholesky factors and determinants on the device, for stacks of matrices.

cuSOLVER factors large matrices one by one, cuBLAS stacks of small ones at once. They count along
columns, and so see the transposes of packed matrices, which cost nothing: of a = P L U they factor
the transpose, and of a = L L^H the conjugate. That a matrix cannot be factored is an error that the
host has to raise, so each call waits for the factors, before it writes its result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import NamedTuple

import numpy as np

from ...errors import LinAlgError
from ...layout.matrix_operand import MatrixOperand
from ...layout.shapes import Ints
from ...layout.strided import Layout, packed, packed_strides
from ...support.types import Arguments, Array, DType, Function, Number
from ..kernels.copy import Aligned, prepare_moves
from ..kernels.elementwise import prepare_filling
from ..kernels.integer_matmul import prepare_scale
from ..runtime import transfers
from ..runtime.blocks import At
from ..runtime.gpu import Gpu
from .cublas import SIZES, CublasRoutine, DeviceOperand, areas, ffi
from .cublas_table import DATA, FILL, OP
from .cusolver import OneByOne, parameters, solver_routine

SIDE = 256  # of the largest matrices of stacks that cuBLAS factors at once. Not yet measured
FactorStep = Function  # with the `Areas` of a call, and if it solves, what x is


class Areas(NamedTuple):
    """The memory of a call: matrices, pivots, statuses, addresses of two stacks, packed result."""

    a: At
    pivots: At
    infos: At
    places: At
    others: At
    result: At


class PackedStack:
    """Packed matrices of one type and size: how many there are, and how to copy to and from them.

    `rows` and `columns` are lengths; a copy begins with the leading axes `batch`.
    """

    def __init__(self, letter: str, rows: int, columns: int, batch: Ints) -> None:
        self.letter, self.batch, self.many = letter, batch, prod(batch)
        self.shape: Ints = (*batch, rows, columns)
        self.own: Ints = packed_strides(self.shape)
        self.item: int = SIZES[letter]
        self.each: int = rows * columns * self.item  # bytes of a matrix

    @property
    def nbytes(self) -> int:
        return self.many * self.each

    def load(self, x: MatrixOperand) -> Aligned:
        """Return the copying function ``(x, packed)`` for matrices with these steps."""
        return self._copy(self.own, (*x.batch, x.row, x.column))

    def store(self, x: MatrixOperand) -> Aligned:
        """Return the copying function ``(packed, x)`` for matrices with these steps."""
        return self._copy((*x.batch, x.row, x.column), self.own)

    def _copy(self, to: Ints, source: Ints) -> Aligned:
        return prepare_moves(self.shape, to, source, self.item)

    def as_operand(self) -> MatrixOperand:
        """Return the packed matrices as an operand."""
        *steps, row, column = self.own
        return MatrixOperand(self.letter, row, column, tuple(steps))

    def addresses(self, first: DeviceOperand, to: At) -> int:
        """Write the addresses of the matrices from `first` on to an area, and return its own."""
        found = first.address + self.each * np.arange(self.many, dtype=np.uint64)
        transfers.send(to.gpu, to.address, found)
        return to.address


class Factors:
    """How the square matrices of a stack are factored, in place, by one of the libraries."""

    def __init__(self, form: PackedStack) -> None:
        self.form, self.n = form, form.shape[-1]
        self.at_once: bool = form.many > 1 and self.n <= SIDE
        self.pivot: DType = np.dtype(np.int32 if self.at_once else np.int64)
        self.pivots: int = self.n * self.pivot.itemsize  # bytes of those of a matrix
        self.type: int = DATA[form.letter]
        self.reported: dict[str, object] = {"n": self.n, "count": form.many}

    @contextmanager
    def areas(self, gpu: Gpu, result: int = 0) -> Iterator[Areas]:
        """Yield the memory of a call, with a result of so many bytes."""
        many = self.form.many
        with areas(gpu, self.form.nbytes, many * self.pivots, 4 * many, 8 * many, 8 * many,
                    result) as found:
            yield Areas(*found)

    def lu(self) -> FactorStep:
        """Return the step that factors by LU."""
        form, n = self.form, self.n
        if self.at_once:
            call = CublasRoutine("getrfBatched", form.letter, (), self.reported)
            return lambda at: call(at.a.gpu, n, form.addresses(at.a, at.places), n,
                                   at.pivots.address, at.infos.address, form.many)
        return self._each("getrf", (n, n), self.pivots)

    def cholesky(self) -> FactorStep:
        """Return the step that factors lower triangles by Cholesky; BLAS sees upper ones."""
        form, n, fill = self.form, self.n, FILL["U"]
        if self.at_once:
            call = solver_routine("potrfBatched", self.reported, form.letter)
            return lambda at: call(at.a.gpu, fill, n, form.addresses(at.a, at.places), n,
                                   at.infos.address, form.many)
        return self._each("potrf", (fill, n))

    def _each(self, name: str, sizes: Ints, pivots: int = 0) -> FactorStep:
        """Return the step that factors matrices one by one, each with pivots of so many bytes."""
        form, n, given = self.form, self.n, (*sizes, self.type)
        compute = OneByOne(f"X{name}", form.many, self.reported)

        def step(at: Areas) -> None:
            def arguments(k: int) -> Arguments:
                places = (at.pivots.address + k * pivots,) if pivots else ()
                return *given, at.a.address + k * form.each, n, *places, self.type
            asked = *given, at.a.address, n, self.type
            compute(at.a.gpu, at.infos.address, arguments, asked)
        return step

    def solve(self, sides: PackedStack, trans: str) -> FactorStep:
        """Return the step that solves op(A) x = x by LU, for `sides` that are columns of x."""
        form, n, op, columns = self.form, self.n, OP[trans], sides.shape[-2]
        reported = {**self.reported, "columns": columns}
        if self.at_once:
            many = CublasRoutine("getrsBatched", form.letter, (), reported)
            return lambda at, x: many(
                x.gpu, op, n, columns, at.places.address, n, at.pivots.address,
                sides.addresses(x, at.others), n, ffi.new("int *"), form.many)
        call = solver_routine("Xgetrs", reported)

        def step(at: Areas, x: At) -> None:
            for k in range(form.many):
                call(x.gpu, parameters(), op, n, columns, self.type, at.a.address + k * form.each,
                     n, at.pivots.address + k * self.pivots, self.type, x.address + k * sides.each,
                     n, at.infos.address + 4 * k)
        return step

    def invert(self) -> FactorStep:
        """Return the step that writes the inverses to x, by LU."""
        form, n = self.form, self.n
        if self.at_once:
            call = CublasRoutine("getriBatched", form.letter, (), self.reported)
            return lambda at, x: call(
                x.gpu, n, at.places.address, n, at.pivots.address, form.addresses(x, at.others), n,
                at.infos.address, form.many)
        dtype, diagonal = np.dtype(form.letter), Layout((form.many, n), (n * n, n + 1), 0)
        zero, one = (prepare_filling(dtype, layout)
                     for layout in (packed((form.many * n * n,)), diagonal))
        solve = self.solve(form, "N")

        def step(at: Areas, x: At) -> None:
            zero(0, x)
            one(1, x)
            solve(at, x)
        return step


def _check(name: str, reason: str, at: Areas, form: PackedStack, nan: bool = False) -> None:
    """Raise `LinAlgError` if a matrix could not be factored.

    The libraries report matrices with NaN, too, which are no error to LAPACK's LU; with `nan`, as
    for Cholesky, where a pivot of NaN stands for a negative one, they are one.
    """
    found = np.empty(form.many, np.int32)
    transfers.fetch(at.infos.gpu, found, at.infos.address)
    for k in found.nonzero()[0].tolist():
        if nan or not _has_nan(at.a, form, k):
            raise LinAlgError(f"{name}: the matrix is {reason}")


def _has_nan(a: At, form: PackedStack, k: int) -> bool:
    """Return whether matrix `k` of a stack has an element that is NaN."""
    found = np.empty(form.shape[-2:], form.letter)
    transfers.fetch(a.gpu, found, a.address + k * form.each)
    return bool(np.isnan(found).any())


def prepare_inverse(letter: str, n: int, a: MatrixOperand, out: MatrixOperand | None,
                    batch: Ints) -> Function:
    """Prepare ``out <- a^-1`` as a function of ``(a, out)``; an `out` of None is packed."""
    form = PackedStack(letter, n, n, batch)
    factors, load, store = Factors(form), form.load(a), out and form.store(out)
    lu, invert = factors.lu(), factors.invert()

    def inverse(a: DeviceOperand, to: DeviceOperand) -> None:
        with factors.areas(to.gpu, form.nbytes if store else 0) as at:
            load(a, at.a)
            lu(at)
            _check("inv", "singular", at, form)
            invert(at, at.result if store else to)
            if store:
                store(at.result, to)
    return inverse


def prepare_solution(letter: str, sizes: tuple[int, int], a: MatrixOperand, b: MatrixOperand,
                     out: MatrixOperand | None, batch: Ints) -> Function:
    """Prepare ``out <- a^-1 b`` of ``(a, b, out)`` for these steps; an `out` of None is packed."""
    n, columns = sizes
    form, sides = PackedStack(letter, n, n, batch), PackedStack(letter, columns, n, batch)
    factors, load, right = Factors(form), form.load(a), sides.load(b.transpose())
    lu, solve = factors.lu(), factors.solve(sides, "T")
    store = sides.store((out or PackedStack(letter, n, columns, batch).as_operand()).transpose())

    def solution(a: DeviceOperand, b: DeviceOperand, to: DeviceOperand) -> None:
        with factors.areas(to.gpu, sides.nbytes) as at:
            load(a, at.a)
            lu(at)
            _check("solve", "singular", at, form)
            right(b, at.result)
            solve(at, at.result)
            store(at.result, to)
    return solution


def prepare_cholesky(letter: str, n: int, a: MatrixOperand, out: MatrixOperand | None,
                     batch: Ints) -> Function:
    """Prepare ``out <- L`` with ``a = L L^H`` as a function of ``(a, out)``."""
    form = PackedStack(letter, n, n, batch)
    factors, load, store = Factors(form), form.load(a), form.store(out or form.as_operand())
    factor, check_last = factors.cholesky(), _last_is_number(form)
    clear = prepare_scale(letter, (form.many, n - 1, n - 1), (n * n, n, 1), at=0, number=0,
                          triangle=1).bind((0,), (1,))

    def cholesky(a: DeviceOperand, to: DeviceOperand) -> None:
        with factors.areas(to.gpu, form.many * form.item) as at:
            load(a, at.a)
            factor(at)
            _check("cholesky", "not positive definite", at, form, nan=True)
            check_last(at)
            clear(at.a.after(form.item), 0.0)  # from the second column on
            store(at.a, to)
    return cholesky


def _last_is_number(form: PackedStack) -> FactorStep:
    """Return the function that raises `LinAlgError` if the last element of a factor is NaN.

    cuSOLVER reports no error where a pivot is not a number, as LAPACK does: that ends up there.
    """
    _, n = form.shape[-2:]
    pick = PackedStack(form.letter, 1, 1, (form.many,)).load(
        MatrixOperand(form.letter, 0, 0, (n * n,)))

    def check(at: Areas) -> None:
        last = np.empty(form.many, form.letter)
        pick(at.a.after(form.each - form.item), at.result)
        transfers.fetch(at.a.gpu, last, at.result.address)
        if np.isnan(last).any():
            raise LinAlgError("cholesky: the matrix is not positive definite")
    return check


def prepare_slogdet(letter: str, n: int, a: MatrixOperand) -> Function:
    """Prepare the sign and the logarithm of the modulus of the determinant of ``a``."""
    compute = _determinants(letter, n, a, ())

    def slogdet(a: DeviceOperand) -> tuple[Number, float]:
        sign, logarithm = compute(a)
        return sign.item(), logarithm.item()
    return slogdet


def prepare_slogdets(letter: str, n: int, a: MatrixOperand, results: list[MatrixOperand],
                     batch: Ints) -> Function:
    """Prepare the same for each of a stack, as a function of ``(a, sign, logarithm)``."""
    compute = _determinants(letter, n, a, batch)
    numbers = [PackedStack(x.char, 1, 1, batch) for x in results]
    stores = [form.store(x) for form, x in zip(numbers, results, strict=True)]

    def slogdets(a: DeviceOperand, *to: DeviceOperand) -> None:
        with areas(a.gpu, *(form.nbytes for form in numbers)) as rooms:
            for found, room, store, out in zip(compute(a), rooms, stores, to, strict=True):
                transfers.send(a.gpu, room.address, found)
                store(room, out)
    return slogdets


def _determinants(letter: str, n: int, a: MatrixOperand, batch: Ints) -> Function:
    """Return a function of ``a`` that finds signs and logarithms, two arrays."""
    form, lines = PackedStack(letter, n, n, batch), PackedStack(letter, 1, n, batch)
    factors, load = Factors(form), form.load(a)
    lu, pick = factors.lu(), lines.load(MatrixOperand(letter, 0, n + 1, form.own[:-2]))

    def compute(a: DeviceOperand) -> tuple[Array, Array]:
        diagonals = np.empty(form.many * n, letter)
        pivots = np.empty(form.many * n, factors.pivot)
        with factors.areas(a.gpu, lines.nbytes) as at:
            load(a, at.a)
            lu(at)
            pick(at.a, at.result)
            transfers.fetch(a.gpu, diagonals, at.result.address)
            transfers.fetch(a.gpu, pivots, at.pivots.address)
        exchanged = pivots.reshape(-1, n) != np.arange(1, n + 1)
        return _signs_and_logs(diagonals.reshape(-1, n), exchanged.sum(axis=1))
    return compute


def _signs_and_logs(diagonals: Array, exchanges: Array) -> tuple[Array, Array]:
    """Return signs and log-magnitudes of determinants from the pivots, a row for each."""
    sizes = np.abs(diagonals)
    with np.errstate(all="ignore"):
        signs = np.prod(diagonals / sizes, axis=1) * (1 - 2 * (exchanges % 2))
        logs = np.log(sizes).sum(axis=1)
    singular = (sizes == 0).any(axis=1)
    signs[singular], logs[singular] = 0, -np.inf
    return signs.astype(diagonals.dtype), logs.astype(sizes.dtype)
