"""Singular values, eigenvalues and QR factors on the device, by cuSOLVER, for stacks of matrices.

Libraries count along columns. A wide matrix is to them its packed, tall transpose, whose factors
lie as those of the matrix do: nothing is transposed. Whether a computation converged is known when
it has ended, so each call waits for it.
"""

from __future__ import annotations

import numpy as np

from ...errors import LinAlgError
from ...layout.matrix_operand import MatrixOperand
from ...layout.shapes import Ints
from ...support.types import Arguments, Function
from ..kernels.copy import Aligned, prepare_moves
from ..kernels.integer_matmul import prepare_scale
from ..runtime import transfers
from ..runtime.blocks import At
from ..runtime.gpu import Gpu
from .cublas import SIZES, DeviceOperand, areas, ffi
from .cublas_table import DATA, FILL
from .cusolver import OneByOne, lacks, parameters, solver_routine
from .factor import PackedStack

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
        """Copy what the library wrote to the operand."""
        if self.store is not None:
            self.store(room, to)


def _vectors(letter: str, n: int, batch: Ints, out: MatrixOperand) -> _Result:
    """Return the result that has a vector of `n` elements for each matrix."""
    return _Result(PackedStack(letter, n, 1, batch), out)


def _check(reason: str, infos: At, many: int, values: DeviceOperand | None = None,
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
        self.compute = OneByOne("Xgesvd", form.many, {"m": long, "n": short, "count": form.many})

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
            _check(NO_SVD, infos, form.many, w, form.many * short, real)
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

    def run(a: DeviceOperand, *results: DeviceOperand) -> None:
        *to, s = results
        with areas(s.gpu, form.nbytes, values.room, room_of * left.nbytes, room_of * right.nbytes,
                   4 * many) as (x, room, u, v, infos):
            load(a, x)
            w, need, jacobi = values.place(s, room), ffi.new("int[1]"), parameters("GesvdjInfo")
            given = (job, long, short, x.address, long, w.address, u.address, long, v.address,
                     short)
            ask(s.gpu, *given, need, jacobi, many)
            with s.gpu.room(max(need[0], 1) * size) as work:
                call(s.gpu, *given, work, need[0], infos.address, jacobi, many)
            _check(NO_SVD, infos, many, w, many * short, real)
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
    at_once = many > 1 and not lacks("XsyevBatched")
    compute = OneByOne("XsyevBatched" if at_once else "Xsyevd", many, {"n": n, "count": many})
    given = VECTORS if v else NO_VECTORS, FILL["L" if lower else "U"], n, DATA[letter]

    def run(a: DeviceOperand, v: DeviceOperand | None, w: DeviceOperand) -> None:
        with areas(w.gpu, form.nbytes, values.room, 4 * many) as (x, room, infos):
            load(a, x)
            found = values.place(w, room)
            compute(w.gpu, infos.address, lambda k: (
                *given, x.address + k * form.each, n, DATA[real], found.address + k * each,
                DATA[letter]), count=(many,) if at_once else ())
            # LAPACK computes smaller ones without asking
            _check(NO_EIGENVALUES, infos, many, found if n > 2 else None, many * n, real)
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
    compute = OneByOne("Xgeev", many, {"n": n, "count": many})

    def run(a: DeviceOperand, v: DeviceOperand | None, w: DeviceOperand) -> None:
        with areas(w.gpu, form.nbytes, values.room, form.nbytes if store else 0,
                   4 * many) as (x, room, vectors, infos):
            load(a, x)
            found = values.place(w, room)
            compute(w.gpu, infos.address, lambda k: (
                NO_VECTORS, VECTORS if store else NO_VECTORS, n, data, x.address + k * form.each, n,
                DATA[spectrum], found.address + k * each, data, 0, n, data,
                vectors.address + k * form.each, n, data))
            _check(NO_EIGENVALUES, infos, many)
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
    factor = OneByOne("Xgeqrf", many, reported)
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
            _check("QR did not work", infos, many)

    return _with_vectors(run, q is not None)


class _Columns:
    """How the columns of q are made, in place, of what geqrf has left."""

    def __init__(self, letter: str, sizes: Ints, form: PackedStack,
                 reported: dict[str, object]) -> None:
        self.sizes, self.form, self.letter = sizes, form, letter
        self.ask = solver_routine("orgqr_bufferSize", None, letter)
        self.call = solver_routine("orgqr", reported, letter)

    def __call__(self, gpu: Gpu, x: int, tau: int, infos: int) -> None:
        (m, _, k), form, need = self.sizes, self.form, ffi.new("int[1]")
        self.ask(gpu, *self.sizes, x, m, tau, need)
        with gpu.room(max(need[0], 1) * form.item) as room:
            for j in range(form.many):
                self.call(gpu, *self.sizes, x + j * form.each, m, tau + j * k * form.item, room,
                          need[0], infos + 4 * j)
