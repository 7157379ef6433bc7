"""QR factors of a matrix for which a device has no room: panels of columns stay on the device while
reflectors of the panels to their left pass by, several at once. The host factors the panels.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ...matrix.mat import Mat, new_like
from ...support.types import Arguments, Array, Keywords
from ..engine.operation import InOut, Input, Output
from ..tiles.staging import on_host, staged
from ..tiles.tile import Tile, TileTooLarge
from ..tiles.tiling import note_origin
from .blas_gemm import gemm
from .blocked import (
    after,
    block,
    conjugated,
    each_matrix,
    host_step,
    leave_device,
    room_within,
    slices,
)

_REASON = ("a panel of some columns with all of their rows stays on the device, beside two columns "
           "that update it, and products of both")
_LEAST_PANELS = 8  # the host factors panels: a small part of the work
_THIN = 4  # how many times fewer reflectors pass at once than a panel has columns


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
            raise TileTooLarge((each + 2) * column, _REASON)
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
