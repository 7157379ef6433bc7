"""Running sums, products and extremes along an axis. NumPy's functions and the method
``accumulate`` of its ufuncs are made of them.

Sums and products of floating-point numbers are computed in one order on every device
(``mat/layout/merged_axes.py``), so that their bits are the same, and NumPy's up to 4,096 elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np

from ...errors import DTypeError, ShapeError
from ...layout.merged_axes import CHUNK, PIECE, is_in_order
from ...layout.orders import only_by_columns
from ...layout.shapes import as_axis
from ...matrix.joined import new_transposed
from ...matrix.mat import Mat, new_like
from ...support.dtypes import BOOL, BY_CHAR, BY_NAME, DISTINCT, EVERY
from ...support.native import compiled
from ...support.plugins import at_first_use
from ...support.types import Arguments, Array, DType, Engine, Function, Keywords
from ..engine.functions import check_is_mat
from ..engine.operation import InOut, Input, MatOp, Op, Output, op
from ..tiles.overlap import must_copy
from ..tiles.tile import Cutter, Tile, nothing, over
from . import elementwise
from .declare_reduce import DEVICE_RANK, ON_DEVICE, RANK
from .joining import concat
from .shape import along

signatures = at_first_use("ops.tiles.signatures")


def by_lines(operation: Op, continued: Op | None, step: Function) -> Cutter:
    """Return the cutter of an operation with the parameters ``x, out, axis``, each of whose results
    is `step` of the one before it and an element; they are the same bits as uncut. Where their
    order matters, `continued` goes on after a result.
    """
    operation.reads_once = True

    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        x, out, axis = args[0], args[1], as_axis(args[2], args[0].ndim)
        if continued is not None and is_in_order(operation.__name__, out.dtype, x.shape[axis]):
            return _along_chunks(operation, continued, (x, out, axis), budget)
        return _along_lines(operation, step, (x, out, axis), budget)

    return over(operation, lambda *call: signatures.lines_along(*call), cut, free=True)


def _along_lines(operation: Op, step: Function, args: tuple[Mat, Mat, int],
                 budget: int) -> Iterator[Tile]:
    """Yield tiles that cut the lines."""
    x, out, axis = args
    every = tuple(range(x.ndim))
    grid = signatures.TileGrid(x.shape, {0: every, 1: every}, args, besides=[(out, every)] * 2)
    for window in grid.windows(grid.blocks(budget), last=(axis,)):
        part, target, _ = grid.arguments(window)
        first = window[axis].start
        before = None
        if first:
            last = (*window[:axis], slice(first - 1, first), *window[axis + 1:])
            before = out.over(out.layout.part(last))
        yield Tile(partial(_continue, operation, step, part, target, axis, before),
                   (part,) if before is None else (part, before), (target,), passed=nothing)


def _along_chunks(operation: Op, continued: Op, args: tuple[Mat, Mat, int],
                  budget: int) -> Iterator[Tile]:
    """Yield tiles of at least two whole chunks; without room for these the host computes."""
    x, out, axis = args
    every = tuple(range(x.ndim))
    grid = signatures.TileGrid(x.shape, {0: every, 1: every}, args, besides=[(out, every)] * 2)
    lengths = list(grid.blocks(budget))
    if lengths[axis] < 2 * CHUNK:
        lengths = [1] * x.ndim
    lengths[axis] = max(2, lengths[axis] // CHUNK) * CHUNK
    if grid.nbytes(tuple(lengths)) > budget:
        yield signatures.by_host(operation, args, {})
        return
    for window in grid.windows(tuple(lengths), last=(axis,)):
        part, target, _ = grid.arguments(window)
        first = window[axis].start
        run: Op = operation
        if first:
            longer = (*window[:axis], slice(first - 1, window[axis].stop), *window[axis + 1:])
            run, target = continued, out.over(out.layout.part(longer))
        yield Tile(partial(_on_part, run, part, target, axis),
                   (part, target) if first else (part,), (target,), passed=nothing)


def _on_part(operation: Op, x: Mat, out: Mat, axis: int) -> None:
    """Carry out the operation on a part of lines, which is copied if it lies in `out`."""
    operation(x.copy() if must_copy(x, out) else x, out, axis)


def _continue(operation: Op, step: Function, x: Mat, out: Mat, axis: int,
              before: Mat | None) -> None:
    """Carry out the operation on a part of lines, beginning with the result before it."""
    if before is not None:
        found = new_like(x, x.shape, out.dtype).assign_(x)
        first = along(found, axis, slice(0, 1))
        step(before, first, first)
        x = found
    operation(x, out, axis)


# Types of elements that there are kernels for

_SAME = {BY_CHAR[char].suffix for char in DISTINCT if char != BOOL}
_LARGER = {*((f"i{n}", "i64") for n in (8, 16, 32, 64)), ("b1", "i64"),
           *((f"u{n}", "u64") for n in (8, 16, 32, 64))}
_PAIRS = _LARGER | {(t, t) for t in _SAME}
_EXTREMES = {(t, t) for t in (*_SAME, "b1")}
_STEPS: dict[np.ufunc, Function] = {
    np.add: elementwise.add, np.multiply: elementwise.multiply, np.maximum: elementwise.maximum,
    np.minimum: elementwise.minimum}
_UNCOMPILED = {"f16", "bf16"}  # NumPy computes extremes of these on the host


def pairs_of(name: str) -> set[tuple[str, str]]:
    return _EXTREMES if name in ("cummax", "cummin") else _PAIRS


def _operation(name: str, rule: np.ufunc, doc: str) -> MatOp:
    """Declare the operation: ``x`` is read along an axis, and ``out`` is written."""
    def check(x: Input, out: Output, axis: int) -> None:
        if out.layout.shape != x.layout.shape:
            raise ShapeError(f"{name} gives shape {x.shape}, out has {out.shape}")
        dtype = _dtype_of(rule, x.dtype)
        if not np.can_cast(dtype, out.dtype, "same_kind"):
            raise DTypeError(f"{name} gives {dtype}, which {out.dtype} cannot take")
        as_axis(axis, x.ndim)

    check.__name__, check.__doc__, check.__module__ = name, doc, __name__
    kernel = op(check, method="", by_form=True)
    kernel.result_of = lambda x, out, axis: (x.layout.shape, _dtype_of(rule, x.dtype))
    continued = _continued(name, rule) if rule.identity is not None else None
    kernel.cut_by(by_lines(kernel, continued, _STEPS[rule]))
    _implement(kernel, name, rule, False)
    return kernel


def _continued(name: str, rule: np.ufunc) -> MatOp:
    """Declare the operation that computes a tile of another, after the first result in ``out``."""
    def check(x: Input, out: InOut, axis: int) -> None:
        pass

    check.__name__, check.__module__ = f"{name}_continued", __name__
    check.__doc__ = "Compute the results after the first one in `out`."
    found = op(check, method="", by_form=True)
    found.is_computed_whole("it is a tile of another operation")
    _implement(found, name, rule, True)
    return found


def _implement(operation: MatOp, name: str, rule: np.ufunc, begun: bool) -> None:
    """Implement an operation or, if `begun`, that of its tiles."""
    def prepare(engine: Engine, x: Mat, out: Mat, axis: int) -> Function:
        return engine.prepare_scan(name, x, out, as_axis(axis, x.ndim), begun)

    operation.prepare("foreign", dtypes=compiled(EVERY), when=_fits_compiled(name))(prepare)
    operation.prepare("cuda", dtypes=ON_DEVICE, when=_fits_device(name))(prepare)

    @operation.on("array", bare=True)
    def by_numpy(x: Array, out: Array, axis: int) -> None:
        if begun or is_in_order(name, out.dtype, x.shape[axis]):
            _in_order(rule, np.moveaxis(x, axis, -1), np.moveaxis(out, axis, -1), begun)
        else:
            rule.accumulate(x, axis, out.dtype, out)


def _in_order(rule: np.ufunc, x: Array, out: Array, begun: bool) -> None:
    """Compute the results along the last axis by pieces and chunks."""
    *others, length = x.shape
    chunks = -(-length // CHUNK)
    found = np.full((*others, chunks * CHUNK), rule.identity, out.dtype)
    found[..., :length] = x
    pieces = found.reshape(*others, chunks, CHUNK // PIECE, PIECE)
    rule.accumulate(pieces, -1, out.dtype, pieces)
    _after_others(rule, pieces, None)
    _after_others(rule, found.reshape(*others, chunks, CHUNK), out[..., :1] if begun else None)
    out[..., int(begun):] = found[..., :length]


def _after_others(rule: np.ufunc, parts: Array, first: Array | None) -> None:
    """Combine each row of running totals with those of `first` and the rows before it."""
    totals = parts[..., -1] if first is None else np.concatenate([first, parts[..., -1]], -1)
    before = rule.accumulate(totals, -1, parts.dtype)[..., :-1, None]
    later = parts[..., int(first is None):, :]
    if rule is np.multiply and parts.dtype.kind == "c":  # NumPy's rounds otherwise, once
        real = before.real * later.real - before.imag * later.imag
        later.imag = before.real * later.imag + before.imag * later.real
        later.real = real
    else:
        rule(before, later, later)


def _running(name: str, rule: np.ufunc, doc: str, of_bools: Function | None = None) -> Function:
    """Declare ``name(x, axis=None, dtype=None, out=None)``; `of_bools` has totals of bools."""
    kernel, pairs = _operation(name, rule, doc), pairs_of(name)

    def running(x: Mat, axis: int | None = None, dtype: DType | None = None,
                out: Mat | None = None) -> Mat:
        if axis is None:
            x, axis = (x if x.ndim == 1 else x.contiguous().reshape(-1)), 0
        if dtype is not None:
            x = x if x.dtype == dtype else x.astype(dtype)
            if out is None and _dtype_of(rule, dtype) != dtype:
                out = new_like(x, x.shape, dtype)  # integers that are not made larger
        if out is None and only_by_columns(x.layout):  # so NumPy stores the result
            return new_transposed(kernel.new((x.T, None, x.ndim - 1 - as_axis(axis, x.ndim))))
        if out is None:
            return kernel.new((x, None, axis))
        out = check_is_mat(out)
        if of_bools is not None and x.dtype == out.dtype == np.bool_:
            return of_bools(x, axis, None, out)
        return _into(kernel, pairs, x, out, axis)

    vars(running)["op"] = kernel
    return running


def _into(kernel: MatOp, pairs: set[tuple[str, str]], x: Mat, out: Mat, axis: int) -> Mat:
    """Carry out the operation on `x`, converted to the type of `out` if kernels do not convert."""
    if x.layout.shape == out.layout.shape and np.can_cast(x.dtype, out.dtype, "same_kind"):
        if _suffixes(x, out) not in pairs:
            x = x.astype(out.dtype)
        elif must_copy(x, out):
            x = x.copy()
    return kernel(x, out, axis)


@cache
def _dtype_of(rule: np.ufunc, dtype: DType) -> DType:
    """Return the dtype of the result; sums and products of integers are at least int64."""
    try:
        return rule.accumulate(np.ones(1, dtype)).dtype
    except TypeError:
        raise DTypeError(f"{rule.__name__} is not defined for {dtype}") from None


def _suffixes(x: Mat, out: Mat) -> tuple[str, str]:
    return BY_NAME[x.dtype.name].suffix, BY_NAME[out.dtype.name].suffix


def _fits_compiled(name: str) -> Function:
    """Return a test whether there is a kernel of the host for the operands."""
    extremes = name in ("cummax", "cummin")
    small = {(t, t) for t in _SAME if t[0] in "iu" and t[1:] != "64"}
    other = {("c64", "c64"), ("c128", "c128"), ("b1", "b1"), *((t, t) for t in _UNCOMPILED)}
    pairs = _EXTREMES - other if extremes else _PAIRS - small

    def fits(x: Mat, out: Mat) -> bool:
        if x.ndim > RANK or not x.size or must_copy(x, out):
            return False
        of, to = _suffixes(x, out)
        return (of, to) in pairs and (of == to or x.storage is not out.storage)

    return fits


def _fits_device(name: str) -> Function:
    """Return a test whether there is a kernel of a device for the operands."""
    pairs = pairs_of(name)

    def fits(x: Mat, out: Mat) -> bool:
        of, to = _suffixes(x, out)
        return ((of, to) in pairs and x.ndim <= DEVICE_RANK and not must_copy(x, out)
                and (of == to or x.storage is not out.storage))

    return fits


cummax = _running("cummax", np.maximum, "Compute the largest of the elements up to each.")
cummin = _running("cummin", np.minimum, "Compute the smallest of the elements up to each.")
cumsum = _running("cumsum", np.add, "Compute the sums of the elements up to each along `axis`.",
                  cummax)
cumprod = _running("cumprod", np.multiply,
                   "Compute the products of the elements up to each along `axis`.", cummin)
BY_UFUNC: dict[np.ufunc, Function] = {
    np.add: cumsum, np.multiply: cumprod, np.maximum: cummax, np.minimum: cummin}


# What is made of them


def cumulative(function: Function, x: Mat, axis: int | None, dtype: DType | None,
               first: int | None) -> Mat:
    """Return running totals along the only axis or `axis`, after `first`, unless that is None."""
    if axis is None and x.ndim != 1:
        raise ShapeError(f"axis may be omitted for one axis only, got shape {x.shape}")
    k = as_axis(0 if axis is None else axis, x.ndim)
    totals: Mat = function(x, k, dtype)
    if first is None:
        return totals
    begin = new_like(x, (*x.shape[:k], 1, *x.shape[k + 1:]), totals.dtype).fill_(first)
    return concat([begin, totals], axis=k)


def differences(parts: Sequence[Mat], n: int, axis: int) -> Mat:
    """Return the differences of neighbours, taken `n` times, along `axis` of the joined parts."""
    found: Mat = concat(parts, axis=axis) if len(parts) > 1 else parts[0]
    difference = elementwise.not_equal if found.dtype.kind == "b" else elementwise.subtract
    for _ in range(n):
        found = difference(along(found, axis, slice(1, None)), along(found, axis, slice(None, -1)))
    return found
