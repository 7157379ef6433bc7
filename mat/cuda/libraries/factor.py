"""Factors of stacks of matrices on the device: LU and Cholesky, for inverses, solutions and
determinants; QR, singular values and eigenvalues.

cuSOLVER factors large matrices one by one, cuBLAS stacks of small ones at once. They count along
columns, and so see the transposes of packed matrices, which cost nothing. That a matrix cannot be
factored is an error that the host has to raise, so each call waits for the factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from .cublas import LIMIT, SIZES, CublasRoutine, DeviceOperand, areas, calls_for, ffi
from .cublas_table import DATA, FILL, OP
from .cusolver import StackRoutine, lacks, parameters, solver_routine, workspace

SIDE = 256  # of the largest matrices of stacks that cuBLAS factors at once. Not yet measured
FactorStep = Function  # with the `Areas` of a call, and if it solves, what x is


# Inverses, solutions, Cholesky factors and determinants. Of a = P L U libraries factor the
# transpose, and of a = L L^H the conjugate


class Areas(NamedTuple):
    """The memory of a call: matrices, pivots, statuses, addresses of two stacks, packed result."""

    a: At
    pivots: At
    infos: At
    places: At
    others: At
    result: At

    def after(self, k: int, pivots: int) -> Areas:
        """Return those of the matrices from the k-th on, each with so many bytes of pivots."""
        return self._replace(pivots=self.pivots.after(k * pivots), infos=self.infos.after(4 * k),
                             places=self.places.after(8 * k), others=self.others.after(8 * k))


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

    def send_addresses(self, first: DeviceOperand, to: At) -> None:
        """Write the addresses of the matrices from `first` on to an area."""
        found = first.address + self.each * np.arange(self.many, dtype=np.uint64)
        transfers.send(to.gpu, to.address, found)


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
            return self._in_calls(lambda at, count: call(
                at.a.gpu, n, at.places.address, n, at.pivots.address, at.infos.address, count))
        return self._each("getrf", (n, n), self.pivots)

    def cholesky(self) -> FactorStep:
        """Return the step that factors lower triangles by Cholesky; BLAS sees upper ones."""
        form, n, fill = self.form, self.n, FILL["U"]
        if self.at_once:
            call = solver_routine("potrfBatched", self.reported, form.letter)
            return self._in_calls(lambda at, count: call(
                at.a.gpu, fill, n, at.places.address, n, at.infos.address, count))
        return self._each("potrf", (fill, n))

    def _in_calls(self, call: Callable[[Areas, int], None],
                  sides: PackedStack | None = None) -> FactorStep:
        """Return the step of calls for as many matrices at a time as the libraries take: each gets
        the areas from the first of them on, and their number. `sides` is the stack x.
        """
        calls = list(calls_for(self.form.many, self.n**2))

        def step(at: Areas, x: At | None = None) -> None:
            if sides is not None and x is not None:
                sides.send_addresses(x, at.others)
            else:
                self.form.send_addresses(at.a, at.places)
            for first, count in calls:
                call(at.after(first, self.pivots), count)
        return step

    def _each(self, name: str, sizes: Ints, pivots: int = 0) -> FactorStep:
        """Return the step that factors matrices one by one, each with pivots of so many bytes."""
        form, n, given = self.form, self.n, (*sizes, self.type)
        compute = StackRoutine(f"X{name}", form.many, self.reported)

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
            return self._in_calls(lambda at, count: many(
                at.a.gpu, op, n, columns, at.places.address, n, at.pivots.address,
                at.others.address, n, ffi.new("int *"), count), sides)
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
            return self._in_calls(lambda at, count: call(
                at.a.gpu, n, at.places.address, n, at.pivots.address, at.others.address, n,
                at.infos.address, count), form)
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


# QR, singular values and eigenvalues. A wide matrix is to libraries its packed, tall transpose,
# whose factors lie as those of the matrix do: nothing is transposed. Each call waits, since whether
# a computation converged is known when it has ended

NO_VECTORS, VECTORS = 0, 1
JACOBI = 32  # the longest side of matrices of which cuSOLVER decomposes a stack at once
NO_SVD = "SVD did not converge"
NO_EIGENVALUES = "Eigenvalues did not converge"


class _Result:
    """A result of a call: written by the library where it is to be, or packed, and then copied."""

    def __init__(self, stack: PackedStack, out: MatrixOperand) -> None:
        steps = (*out.batch, out.row, out.column)
        direct = all(n == 1 or step == own
                     for n, step, own in zip(stack.shape, steps, stack.own, strict=True))
        self.stack = stack
        self.store: Aligned | None = None if direct else stack.store(out)
        self.room: int = 0 if direct else stack.nbytes

    def place(self, to: DeviceOperand, room: At) -> DeviceOperand:
        """Return where the library writes."""
        return to if self.store is None else room

    def finish(self, to: DeviceOperand, room: At) -> None:
        """Copy the library's result to the operand."""
        if self.store is not None:
            self.store(room, to)


def _vectors(letter: str, n: int, batch: Ints, out: MatrixOperand) -> _Result:
    """Return the result that has a vector of `n` elements for each matrix."""
    return _Result(PackedStack(letter, n, 1, batch), out)


def _check_converged(reason: str, infos: At, many: int, values: DeviceOperand | None = None,
           size: int = 0, letter: str = "d") -> None:
    """Raise `LinAlgError` if a computation did not converge, or if a value is NaN."""
    found = np.empty(many, np.int32)
    transfers.fetch(infos.gpu, found, infos.address)
    bad = bool(found.any())
    if values is not None and not bad:
        numbers = np.empty(size, letter)
        transfers.fetch(infos.gpu, numbers, values.address)
        bad = bool(np.isnan(numbers).any())
    if bad:
        raise LinAlgError(reason)


# Singular values


class _SingularValues:
    """The decomposition of one packed, tall matrix after another."""

    def __init__(self, form: PackedStack, load: Aligned, values: _Result) -> None:
        short, long = form.shape[-2:]
        self.form, self.load, self.values = form, load, values
        self.compute = StackRoutine("Xgesvd", form.many,
                                    {"m": long, "n": short, "count": form.many})

    def run(self, job: str, a: DeviceOperand, s: DeviceOperand,
            *factors: tuple[_Result, DeviceOperand]) -> None:
        """Decompose `a`; write the values to `s`, and factors to the operands beside them."""
        form, values, real = self.form, self.values, self.form.letter.lower()
        (short, long), data, real_data = form.shape[-2:], DATA[form.letter], DATA[real]
        with areas(s.gpu, form.nbytes, values.room, 4 * form.many,
                   *(result.room for result, _ in factors)) as (x, room, infos, *rooms):
            self.load(a, x)
            w = values.place(s, room)
            at = [result.place(to, own) for (result, to), own in zip(factors, rooms, strict=True)]
            u, v = at or (x, x)  # where there are none, nothing is written
            steps = [result.stack.each for result, _ in factors] or (0, 0)

            def arguments(k: int) -> Arguments:
                return (ord(job), ord(job), long, short, data, x.address + k * form.each, long,
                        real_data, w.address + k * short * SIZES[real], data,
                        u.address + k * steps[0], long, data, v.address + k * steps[1], short, data)

            self.compute(s.gpu, infos.address, arguments)
            _check_converged(NO_SVD, infos, form.many, w, form.many * short, real)
            values.finish(s, room)
            for (result, to), own in zip(factors, rooms, strict=True):
                result.finish(to, own)


# the parameters are those of the operation, and the layouts of its operands
def prepare_svd(letter: str, sizes: tuple[int, int], full: bool, a: MatrixOperand, s: MatrixOperand,
                factors: tuple[MatrixOperand, MatrixOperand] | None, batch: Ints) -> Function:
    """Prepare ``a = u diag(s) vh`` of ``(a, u, vh, s)``, or without `factors` of ``(a, s)``."""
    tall = sizes[0] > sizes[1]
    long, short = max(sizes), min(sizes)
    form = PackedStack(letter, short, long, batch)
    load = form.load(a.transpose() if tall else a)
    values = _vectors(letter.lower(), short, batch, s)
    if form.many > 1 and long <= JACOBI:
        return _prepare_small(form, tall, full, load, values, factors, batch)
    svd = _SingularValues(form, load, values)
    if factors is None:
        return lambda a, s, *_: svd.run("N", a, s)
    u, vh = factors
    # the factors of what the library sees: the first of its columns, the second of its rows
    first = _Result(PackedStack(letter, long if full else short, long, batch),
                    u.transpose() if tall else vh)
    second = _Result(PackedStack(letter, short, short, batch), vh.transpose() if tall else u)

    def run(a: DeviceOperand, u: DeviceOperand, vh: DeviceOperand, s: DeviceOperand,
            *_: object) -> None:
        left, right = (u, vh) if tall else (vh, u)
        svd.run("A" if full else "S", a, s, (first, left), (second, right))

    return run


# the parameters are those of `prepare_svd`, as far as it has used them
def _prepare_small(form: PackedStack, tall: bool, full: bool, load: Aligned, values: _Result,
                   factors: tuple[MatrixOperand, MatrixOperand] | None, batch: Ints) -> Function:
    """Prepare the same for a stack of small matrices, by Jacobi's method."""
    (short, long), letter, many = form.shape[-2:], form.letter, form.many
    reported: dict[str, object] = {"m": long, "n": short, "count": many}
    ask, call = (solver_routine(f"gesvdjBatched{end}", about, letter)
                 for end, about in (("_bufferSize", None), ("", reported)))
    real, size = letter.lower(), form.item
    left, right = (PackedStack(letter, n, n, batch) for n in (long, short))
    job, room_of = (VECTORS, 1) if factors else (NO_VECTORS, 0)
    stores = _stores(left, right, short, tall, full, factors) if factors else ()
    negate = letter.isupper() and prepare_scale(
        real, (many * short * short,), (2,), at=0, number=0).bind((0,), (1,))
    calls, steps = list(calls_for(many, long * long)), (room_of * left.each, room_of * right.each)

    def run(a: DeviceOperand, *results: DeviceOperand) -> None:
        *to, s = results
        with areas(s.gpu, form.nbytes, values.room, room_of * left.nbytes, room_of * right.nbytes,
                   4 * many) as (x, room, u, v, infos):
            load(a, x)
            w, need, jacobi = values.place(s, room), ffi.new("int[1]"), parameters("GesvdjInfo")

            def given(k: int) -> Arguments:
                return (job, long, short, x.address + k * form.each, long,
                        w.address + k * values.stack.each, u.address + k * steps[0], long,
                        v.address + k * steps[1], short)

            ask(s.gpu, *given(0), need, jacobi, calls[0][1])
            with workspace(s.gpu, need[0], size) as work:
                for k, count in calls:
                    call(s.gpu, *given(k), work, need[0], infos.address + 4 * k, jacobi, count)
            _check_converged(NO_SVD, infos, many, w, many * short, real)
            values.finish(s, room)
            if negate and to:  # the conjugates of v
                negate(v.after(size // 2), -1.0)
            for store, part, out in zip(stores, (u, v), to if tall else to[::-1], strict=bool(to)):
                store(part, out)

    return run


def _stores(left: PackedStack, right: PackedStack, short: int, tall: bool, full: bool,
            factors: tuple[MatrixOperand, MatrixOperand]) -> tuple[Aligned, Aligned]:
    """Return how the factors, along columns, get to their operands: of the first one not all."""
    u, vh = factors
    first, second = (u.transpose(), vh) if tall else (vh, u.transpose())
    *batch, columns, rows = left.shape
    shape = (*batch, columns if full else short, rows)
    return (prepare_moves(shape, (*first.batch, first.row, first.column), left.own, left.item),
            right.store(second))


# Eigenvalues


# the parameters are those of the operation, and the layouts of its operands
def prepare_eigh(letter: str, n: int, lower: bool, a: MatrixOperand, w: MatrixOperand,
                 v: MatrixOperand | None, batch: Ints) -> Function:
    """Prepare eigenvalues of Hermitian matrices by a triangle, of ``(a, v, w)`` or ``(a, w)``."""
    form, real = PackedStack(letter, n, n, batch), letter.lower()
    load, values = form.load(a.transpose()), _vectors(real, n, batch, w)
    store = v and form.store(v.transpose())
    many, each = form.many, n * SIZES[real]
    at_once = many > 1 and n * n <= LIMIT and not lacks("XsyevBatched")
    compute = StackRoutine("XsyevBatched" if at_once else "Xsyevd", many, {"n": n, "count": many},
                           n * n)
    given = VECTORS if v else NO_VECTORS, FILL["L" if lower else "U"], n, DATA[letter]

    def run(a: DeviceOperand, v: DeviceOperand | None, w: DeviceOperand) -> None:
        with areas(w.gpu, form.nbytes, values.room, 4 * many) as (x, room, infos):
            load(a, x)
            found = values.place(w, room)
            compute(w.gpu, infos.address, lambda k: (
                *given, x.address + k * form.each, n, DATA[real], found.address + k * each,
                DATA[letter]))
            # LAPACK computes smaller ones without asking
            _check_converged(NO_EIGENVALUES, infos, many, found if n > 2 else None, many * n, real)
            values.finish(w, room)
            if store:
                store(x, v)

    return _with_vectors(run, v is not None)


def prepare_eig(letter: str, n: int, a: MatrixOperand, w: MatrixOperand, v: MatrixOperand | None,
                batch: Ints) -> Function:
    """Prepare eigenvalues, complex numbers, as a function of ``(a, v, w)`` or ``(a, w)``.

    Vectors are columns of v, of the type of a; those of two conjugate eigenvalues are two columns,
    of the real and of the imaginary parts.
    """
    form, spectrum = PackedStack(letter, n, n, batch), letter.upper()
    load, values = form.load(a.transpose()), _vectors(spectrum, n, batch, w)
    store = v and form.store(v.transpose())
    many, each, data = form.many, n * SIZES[spectrum], DATA[letter]
    compute = StackRoutine("Xgeev", many, {"n": n, "count": many})

    def run(a: DeviceOperand, v: DeviceOperand | None, w: DeviceOperand) -> None:
        with areas(w.gpu, form.nbytes, values.room, form.nbytes if store else 0,
                   4 * many) as (x, room, vectors, infos):
            load(a, x)
            found = values.place(w, room)
            compute(w.gpu, infos.address, lambda k: (
                NO_VECTORS, VECTORS if store else NO_VECTORS, n, data, x.address + k * form.each, n,
                DATA[spectrum], found.address + k * each, data, 0, n, data,
                vectors.address + k * form.each, n, data))
            _check_converged(NO_EIGENVALUES, infos, many)
            values.finish(w, room)
            if store:
                store(vectors, v)

    return _with_vectors(run, v is not None)


def _with_vectors(run: Function, vectors: bool) -> Function:
    """Return `run` as a function of two operands, or of three with those for `vectors` between."""
    if vectors:
        return lambda a, v, w, *_: run(a, v, w)
    return lambda a, w, *_: run(a, None, w)


# QR


# the parameters are those of the operation, and the layouts of its operands
def prepare_qr(letter: str, sizes: tuple[int, int], a: MatrixOperand, r: MatrixOperand, rows: int,
               q: MatrixOperand | None, batch: Ints) -> Function:
    """Prepare ``a = q r`` with `rows` rows of r, as a function of ``(a, q, r)`` or ``(a, r)``."""
    m, n = sizes
    k, wide = min(m, n), max(n, rows)
    form, upper = PackedStack(letter, wide, m, batch), PackedStack(letter, rows, n, batch)
    item, many, data = form.item, form.many, DATA[letter]
    *stack, column, row = form.own
    load = prepare_moves((*batch, m, n), (*stack, row, column), (*a.batch, a.row, a.column), item)
    triangle = _Result(upper, r)
    unpack = prepare_moves(upper.shape, upper.own, (*stack, row, column), item)
    clear = prepare_scale(letter, (many, rows - 1, n), (rows * n, n, 1), at=0, number=0,
                          triangle=-1).bind((0,), (1,)) if rows > 1 else None
    reported: dict[str, object] = {"m": m, "n": n, "count": many}
    factor = StackRoutine("Xgeqrf", many, reported)
    store = q and prepare_moves((*batch, m, rows), (*q.batch, q.row, q.column),
                                (*stack, row, column), item)
    expand = _Columns(letter, (m, rows, k), form, reported) if q else None

    def run(a: DeviceOperand, q: DeviceOperand | None, r: DeviceOperand) -> None:
        gpu = r.gpu
        with areas(gpu, form.nbytes, many * k * item, triangle.room, 4 * many) as (
                x, tau, room, infos):
            load(a, x)
            factor(gpu, infos.address, lambda j: (
                m, n, data, x.address + j * form.each, m, data, tau.address + j * k * item, data))
            to = triangle.place(r, room)
            unpack(x, to)
            if clear is not None:
                clear(At(gpu, to.address + n * item), 0.0)
            triangle.finish(r, room)
            if expand is not None and store:
                expand(gpu, x.address, tau.address, infos.address)
                store(x, q)
            _check_converged("QR did not work", infos, many)

    return _with_vectors(run, q is not None)


class _Columns:
    """How the columns of q are made, in place, of the result of geqrf."""

    def __init__(self, letter: str, sizes: Ints, form: PackedStack,
                 reported: dict[str, object]) -> None:
        self.sizes, self.form, self.letter = sizes, form, letter
        self.ask = solver_routine("orgqr_bufferSize", None, letter)
        self.call = solver_routine("orgqr", reported, letter)

    def __call__(self, gpu: Gpu, x: int, tau: int, infos: int) -> None:
        (m, _, k), form, need = self.sizes, self.form, ffi.new("int[1]")
        self.ask(gpu, *self.sizes, x, m, tau, need)
        with workspace(gpu, need[0], form.item) as room:
            for j in range(form.many):
                self.call(gpu, *self.sizes, x + j * form.each, m, tau + j * k * form.item, room,
                          need[0], infos + 4 * j)
