"""Factors of a matrix for which a device has no room: block by block, each updated by products of
those before it, so that each block of the result is copied there and back about once.

The operations on single blocks are given by those that are cut.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial, update_wrapper
from math import isqrt

import numpy as np

from ...devices.in_use import CPU, in_use
from ...errors import LinAlgError
from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...support.plugins import imported
from ...support.types import Arguments, Array, Function, Keywords
from ..engine.operation import InOut, Input, MatOp, Output, op
from ..tiles.cut_products import room_within
from ..tiles.signatures import StagedResult, on_host, staged
from ..tiles.tile import Cuttable, Cutter, Tile, TileTooLarge, nothing, over
from ..tiles.tiling import note_origin
from .blas_gemm import gemm
from .blas_level23 import trsm, trsm_tiles

# how many times narrower panels are than the block that they update, and groups of reflectors
_THIN = 4


def slices(start: int, stop: int, width: int) -> Iterator[slice]:
    for begin in range(start, stop, width):
        yield slice(begin, min(begin + width, stop))


def _even(length: int, most: int) -> int:
    """Return the length of equal parts of an axis that have at most so many elements."""
    return -(-length // -(-length // most))


def block(x: Mat, *at: slice) -> Mat:
    return x.over(x.layout.part(at))


def after() -> Tile:
    """Return a tile that does nothing: what follows it is asked for when those ahead are done."""
    return Tile(nothing)


def each_matrix(*stacks: Mat) -> Iterator[tuple[Mat, ...]]:
    """Yield the matrices of stacks with the same leading axes."""
    for index in np.ndindex(stacks[0].layout.shape[:-2]):
        yield tuple(x.over(x.layout.part(index)) for x in stacks)


# Steps on arrays of the host


def host_step(name: str, **roles: object) -> Callable[[Function], MatOp]:
    """Return a decorator that makes a function of arrays and settings, with the `roles` of Mats,
    an operation that only the host computes, as a step of the operation `name`.
    """
    def declare(function: Function) -> MatOp:
        def check(*args: object) -> None:
            pass

        update_wrapper(check, function)
        check.__annotations__ = roles
        vars(check)["__signature__"] = inspect.signature(function)
        step = op(check, method="", by_form=True, name=name)
        step.is_computed_whole("it is a step of another operation, which the host computes")
        return step.on("array", bare=True)(function)

    return declare


@host_step("conjugate", x=Input, out=Output)
def _write_conjugate(x: Array, out: Array) -> None:
    """Compute the conjugate of each number."""
    np.conjugate(x, out=out)


def conjugated(x: Mat) -> Mat:
    """Return the conjugate of a staged part, made on the host; of real numbers, the part."""
    if x.element_type.kind != "c":
        return x
    found = _write_conjugate(on_host(x), on_host(new_like(x, x.layout.shape, x.element_type)))
    found.device_enabled = True
    return found


class _Block(StagedResult):
    """A block of a result that begins with the elements of a block of an operand."""

    def __init__(self, source: Mat, view: Mat) -> None:
        self.view = view
        self.target: Mat = on_host(source).astype(view.element_type, "K")
        self.target.device_enabled = True
        note_origin(self.target, source)


# Cholesky's factor


def cholesky_tiles(factor: Cuttable) -> Cutter:
    """Return the cutter of a Cholesky factor: between matrices, or into square blocks."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        for a, out in each_matrix(*args):
            yield from _Cholesky(factor, a, out, room_within(budget)).tiles()

    return over(factor, "...__", cut, free=True)


class _Cholesky:
    """The walk down the columns of blocks, of which each is finished before the next one begins.

    A block stays on the device while panels of the rows to its left pass by, and until the solution
    with the triangle above it.
    """

    def __init__(self, factor: Function, a: Mat, out: Mat, room: int) -> None:
        self.factor, self.a, self.out = factor, a, out
        self.n = len(out)
        # a block and two panels, and two more for the next tile; or two blocks
        elements = room // out.element_size
        if elements < 2 + _THIN:
            raise TileTooLarge((2 + _THIN) * out.element_size)
        whole = self.n * self.n <= elements
        self.side = self.n if whole else _even(self.n, max(1, isqrt(elements // 2)))
        self.width = max(1, self.side // _THIN)

    def tiles(self) -> Iterator[Tile]:
        for columns in slices(0, self.n, self.side):
            for rows in slices(columns.start, self.n, self.side):
                yield from self.block(rows, columns)
                if rows == columns:
                    yield after()
            yield Tile(partial(self.clear, columns))

    def clear(self, rows: slice) -> None:
        """Write zeros right of the block on the diagonal, on the host."""
        on_host(block(self.out, rows, slice(rows.stop, self.n))).fill_(0)

    def block(self, rows: slice, columns: slice) -> Iterator[Tile]:
        """Yield the tiles of a block: the products, and the factor or the solution."""
        result = _Block(block(self.a, rows, columns), block(self.out, rows, columns))
        target = result.target
        for inner in slices(0, columns.start, self.width):
            left = staged(block(self.out, rows, inner))
            right = conjugated(left if rows == columns else staged(block(self.out, columns, inner)))
            yield Tile(partial(gemm, -1, left, right.T, 1, target), (left, right, target),
                       (target,))
        if rows == columns:
            yield Tile(partial(self.finish, result), (target,), (target,))
            return
        triangle = conjugated(staged(block(self.out, columns, columns)))
        yield Tile(partial(self.finish, result, triangle), (triangle, target), (target,))

    def finish(self, result: _Block, triangle: Mat | None = None) -> None:
        target = result.target
        if triangle is None:
            self.factor(target, target)
        else:
            trsm(1, triangle, target, side="right", transpose=True)
        result.finish()


# Solutions, inverses and determinants: by LU with partial pivoting


@host_step("rows", x=Input, order=Input, out=Output)
def _write_rows(x: Array, order: Array, out: Array) -> None:
    """Compute ``out <- x[order]``."""
    out[...] = x[order]


@host_step("rows", order=Input, x=InOut)
def _exchange_rows(order: Array, x: Array) -> None:
    """Compute ``x <- x[order]``."""
    x[...] = x[order]


@host_step("rows", order=Input, out=Output)
def _write_unit_rows(order: Array, out: Array) -> None:
    """Compute ``out <- I[order]``."""
    out[...] = 0
    out[np.arange(len(order)), order] = 1


@host_step("lu", panel=InOut, order=Output)
def _factor_panel(panel: Array, order: Array, name: str) -> None:
    """Write L and U with ``panel[order] = L U`` in place of a panel, for the operation `name`."""
    (getrf,) = imported("scipy.linalg").get_lapack_funcs(("getrf",), dtype=panel.dtype)
    panel[...], pivots, info = getrf(panel)
    if info > 0 and not name.endswith("det"):
        raise LinAlgError(f"{name}: the matrix is singular")
    order[...] = np.arange(len(panel))
    for k, pivot in enumerate(pivots):
        order[[k, pivot]] = order[[pivot, k]]


@host_step("slogdet", lu=Input, order=Input, sign=Output, logarithm=Output)
def _write_determinant(lu: Array, order: Array, sign: Array, logarithm: Array) -> None:
    """Compute the sign and the logarithm of the modulus of a determinant from LU."""
    pivots = np.diagonal(lu)
    size = np.abs(pivots)
    exists = size.all()  # also where it is NaN
    logarithm[...] = np.log(size).sum() if exists else -np.inf
    sign[...] = _parity(order.tolist()) * np.prod(pivots / size) if exists else 0


def _parity(order: list[int]) -> int:
    """Return 1 for an even permutation, -1 for an odd one; exchange until all are in place."""
    found = 1
    for k in range(len(order)):
        while order[k] != k:
            to = order[k]
            order[k], order[to] = order[to], to
            found = -found
    return found


_PANEL = ("a panel of some columns with all of their rows stays on the device, beside two columns "
          "that update it")
_LEAST_PANELS = 8  # the host factors panels: of LU, a part of the work as small as 3/2 of a panel's


class _LU:
    """``a[order] = L U``, both of which become `lu`, panel by panel of columns.

    A panel stays on the device while the columns of L to its left pass by. Then the host factors
    it, and exchanges the rows of L.
    """

    def __init__(self, name: str, a: Mat, result: Mat, budget: int) -> None:
        self.name, self.a, self.n = name, a, len(a)
        self.lu: Mat = new_like(result, (self.n, self.n), result.element_type)
        self.order: Mat = adopted(np.arange(self.n))
        self.order.device_enabled = False
        column = max(1, self.n) * self.lu.element_size
        columns = room_within(budget) * 7 // 8 // column  # blocks of memory are larger
        if columns < 2 + 1:
            raise TileTooLarge((2 + 1 + 1) * column, _PANEL)
        # a panel of columns, and two of the columns that update it
        self.inner = max(1, columns // (_THIN + 2))
        most = max(1, -(-self.n // _LEAST_PANELS))
        self.width = _even(max(1, self.n), min(columns - 2 * self.inner, most))

    def tiles(self) -> Iterator[Tile]:
        for columns in slices(0, self.n, self.width):
            yield after()
            view = block(self.a, slice(None), columns)
            panel = new_like(self.lu, view.layout.shape, self.lu.element_type)
            _write_rows(on_host(view), self.order, on_host(panel))
            note_origin(panel, view)
            for inner in slices(0, columns.start, self.inner):
                left = staged(block(self.lu, slice(inner.start, None), inner))
                yield Tile(partial(_eliminate, left, panel, inner), (left, panel), (panel,))
            yield Tile(partial(self.finish, panel, columns), writes=(panel,))
        yield after()

    def finish(self, panel: Mat, columns: slice) -> None:
        """Factor an updated panel, and exchange the rows of those before it, on the host."""
        here, below = on_host(panel), slice(columns.start, None)
        order = adopted(np.arange(self.n - columns.start))
        order.device_enabled = False
        _factor_panel(block(here, below), order, self.name)
        on_host(block(self.lu, slice(None), columns)).assign_(here)
        _make_room(panel)
        for before in slices(0, columns.start, self.width):
            _exchange_rows(order, on_host(block(self.lu, below, before)))
        _exchange_rows(order, block(self.order, below))


def _eliminate(left: Mat, panel: Mat, inner: slice) -> None:
    """Update a panel by columns of L: these rows by their triangle, and those below."""
    count = inner.stop - inner.start
    rows = block(panel, inner)
    trsm(1, block(left, slice(0, count)), rows, unit=True)
    if inner.stop < len(panel):
        gemm(-1, block(left, slice(count, None)), rows, 1, block(panel, slice(inner.stop, None)))


def solution_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut solutions with matrices for which there is no room: LU, and solutions with triangles."""
    a, b, out = args
    if b.ndim == 1:
        b, out = b.reshape((len(b), 1)), out.reshape((*out.layout.shape, 1))
    lead = out.layout.shape[:-2]
    a, b = (x.broadcast_to((*lead, *x.layout.shape[-2:])) for x in (a, b))
    for matrix, sides, to in each_matrix(a, b, out):
        lu = _LU("solve", matrix, out, budget)
        yield from lu.tiles()
        yield Tile(partial(_write_rows, on_host(sides), lu.order, on_host(to)))
        yield from _solved(lu, to, budget)


def inverse_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut inverses of matrices for which there is no room."""
    for a, out in each_matrix(*args):
        lu = _LU("inv", a, out, budget)
        yield from lu.tiles()
        yield Tile(partial(_write_unit_rows, lu.order, on_host(out)))
        yield from _solved(lu, out, budget)


def _solved(lu: _LU, sides: Mat, budget: int) -> Iterator[Tile]:
    """Yield tiles that replace right-hand sides, in the order of LU, by the solutions."""
    for flags in {"unit": True}, {"lower": False}:
        yield after()
        yield from trsm_tiles((1, lu.lu, sides), flags, budget)
        yield Tile(partial(leave_device, sides), writes=(sides,))
    yield after()


def leave_device(x: Mat) -> None:
    """Copy elements to the host, and free the copy on the device: tiles count on its room."""
    with x.facet("array", "input"):
        pass
    _make_room(x)


def _make_room(x: Mat) -> None:
    """Free the copy on the device."""
    device = in_use()
    if device is not CPU:
        x.drop(device.memory)


def determinant_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut determinants, signs and logarithms, of matrices for which there is no room."""
    a, *results = args
    for index in np.ndindex(a.layout.shape[:-2]):
        parts = [on_host(x.over(x.layout.part(index))) for x in results]
        lu = _LU("slogdet", a.over(a.layout.part(index)), results[0], budget)
        yield from lu.tiles()
        yield Tile(partial(_write_determinant, on_host(lu.lu), lu.order, *parts))


def one_determinant_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut the determinant of one matrix, returned as two numbers."""
    (a,) = args
    dtype = a.element_type if a.element_type.kind in "fc" else np.dtype(np.float64)
    results = [new_like(a, (), t) for t in (dtype, np.dtype(dtype.char.lower()))]
    yield from determinant_tiles((a, *results), kwargs, budget)
    yield after()
    yield Tile(lambda: tuple(x.item() for x in results))


# QR factors: panels of columns stay on the device while reflectors of the panels to their left pass
# by, several at once. The host factors the panels


@host_step("qr", panel=InOut, tau=Output)
def _factor_columns(panel: Array, tau: Array) -> None:
    """Write R, and reflectors below it, in place of a panel."""
    panel.T[...], tau[...] = np.linalg.qr(panel, "raw")


@host_step("qr", panel=Input, out=Output)
def _write_reflectors(panel: Array, out: Array) -> None:
    """Write the vectors of a factored panel's reflectors, columns that begin with 1."""
    out[...] = np.tril(panel[:, :out.shape[1]], -1)
    np.fill_diagonal(out, 1)


@host_step("qr", panel=Input, out=Output)
def _write_upper(panel: Array, start: int, out: Array) -> None:
    """Write the columns of R from `start` on, zeros below it."""
    out[...] = np.triu(panel[:len(out)], -start)


@host_step("qr", v=Input, tau=Input, out=Output)
def _write_coupling(v: Array, tau: Array, out: Array) -> None:
    """Write the upper triangle T with which ``I - v T v^H`` is the product of reflectors."""
    products = v.conj().T @ v
    out[...] = 0
    for k, factor in enumerate(tau):
        out[:k, k] = -factor * (out[:k, :k] @ products[:k, k])
        out[k, k] = factor


@host_step("qr", out=Output)
def _write_unit_columns(start: int, out: Array) -> None:
    """Write the columns of the identity from `start` on."""
    out[...] = np.eye(len(out), out.shape[1], -start)


def triangle_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut R of matrices for which there is no room."""
    for a, r in each_matrix(*args):
        yield from _Reflectors(a, r, budget).tiles()


def factor_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut Q and R of matrices for which there is no room."""
    for a, q, r in each_matrix(*args):
        found = _Reflectors(a, r, budget)
        yield from found.tiles()
        yield from found.products(q)


class _Reflectors:
    """The reflectors of a matrix, in groups: their vectors, and the triangle that couples them."""

    def __init__(self, a: Mat, r: Mat, budget: int) -> None:
        self.a, self.r = a, r
        m, self.n = a.layout.shape
        self.count = min(m, self.n)
        self.dtype = r.element_type
        self.vectors: Mat = new_like(r, (m, self.count), self.dtype)
        self.groups: list[tuple[slice, Mat]] = []
        # for each column of a group: it and that of the next one, conjugates too; two products
        # with the panel, and the triangle
        each = (4 if self.dtype.kind == "c" else 2) + 2 + 1
        column = m * r.element_size
        columns = room_within(budget) * 7 // 8 // column  # blocks of memory are larger
        if columns < each + 1:
            raise TileTooLarge((each + 2) * column, f"{_PANEL}, and products of both")
        self.inner = max(1, columns // (each + _THIN))
        self.width = min(columns - each * self.inner, max(1, -(-self.n // _LEAST_PANELS)))

    def tiles(self) -> Iterator[Tile]:
        """Yield the tiles that find R and the reflectors."""
        for columns in slices(0, self.n, self.width):
            yield after()
            view = block(self.a, slice(None), columns)
            panel = on_host(view).astype(self.dtype, "K")
            panel.device_enabled = True
            note_origin(panel, view)
            for group in self.groups:
                yield self.reflected(panel, group, True)
            yield Tile(partial(self.finish, panel, columns), writes=(panel,))
        yield after()

    def products(self, q: Mat) -> Iterator[Tile]:
        """Yield the tiles that write the columns of Q."""
        for columns in slices(0, q.layout.shape[1], self.width):
            view = block(q, slice(None), columns)
            panel = new_like(q, view.layout.shape, self.dtype)
            _write_unit_columns(columns.start, on_host(panel))
            note_origin(panel, view)
            for group in reversed(self.groups):
                yield self.reflected(panel, group, False)
            yield Tile(partial(_store, panel, view), writes=(panel,))

    def reflected(self, panel: Mat, group: tuple[slice, Mat], adjoint: bool) -> Tile:
        """Return the tile that applies the reflectors of a group, or their adjoint, to a panel."""
        at, coupling = group
        vectors = staged(block(self.vectors, slice(at.start, None), at))
        conjugates = conjugated(vectors)
        if adjoint:
            coupling = conjugated(coupling).T
        rows = block(panel, slice(at.start, None))
        return Tile(partial(_reflect, vectors, conjugates, coupling, rows),
                    (vectors, conjugates, panel), (panel,))

    def finish(self, panel: Mat, columns: slice) -> None:
        """Factor an updated panel on the host, and keep its part of R and its reflectors."""
        leave_device(panel)
        here, first = on_host(panel), columns.start
        if first < self.count:
            below = block(here, slice(first, None))
            own = slice(first, min(columns.stop, self.count))
            tau = on_host(new_like(self.r, (own.stop - first,), self.dtype))
            _factor_columns(below, tau)
            _write_reflectors(below, on_host(block(self.vectors, slice(first, None), own)))
            self.couple(own, tau)
        _write_upper(here, first, on_host(block(self.r, slice(None), columns)))

    def couple(self, own: slice, tau: Mat) -> None:
        """Add the reflectors of a panel, in groups."""
        for at in slices(own.start, own.stop, self.inner):
            count = at.stop - at.start
            coupling = new_like(self.r, (count, count), self.dtype)
            _write_coupling(on_host(block(self.vectors, slice(at.start, None), at)),
                            block(tau, slice(at.start - own.start, at.stop - own.start)),
                            on_host(coupling))
            self.groups.append((at, coupling))


def _reflect(vectors: Mat, conjugates: Mat, coupling: Mat, rows: Mat) -> None:
    """Compute ``rows <- rows - vectors coupling vectors^H rows``."""
    shape = coupling.layout.shape[0], rows.layout.shape[1]
    parts, coupled = (new_like(rows, shape, rows.element_type) for _ in range(2))
    gemm(1, conjugates.T, rows, 0, parts)
    gemm(1, coupling, parts, 0, coupled)
    gemm(-1, vectors, coupled, 1, rows)


def _store(panel: Mat, view: Mat) -> None:
    leave_device(panel)
    on_host(view).assign_(on_host(panel))
