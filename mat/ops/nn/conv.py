"""Convolution of images with several channels, and its derivatives.

Images are (n, channels, *spatial), weights (outputs, channels / groups, *window). The operations
have their sizes as a setting, and the operand that they write last; the public functions make the
sizes of the settings that users give.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from math import prod
from typing import Any, NamedTuple

from ...errors import ShapeError
from ...layout.shapes import Ints, integer
from ...layout.sliding_window import (
    MOST_SPATIAL,
    Channels,
    Setting,
    WindowAxis,
    regions,
    setting,
    spaced,
)
from ...matrix.base import form_of_result
from ...matrix.mat import Mat
from ...support.dtypes import FLOATING
from ...support.types import Arguments, Array, Engine, Function, Keywords
from ...support.unbound import documented
from ..engine.operation import InOut, Input, Op, Output, op
from ..primitives.elementwise import assign
from ..tiles.overlap import check_disjoint
from ..tiles.signatures import StagedResult, StagedSum, TileGrid, staged
from ..tiles.tile import Tile, TileTooLarge, over
from .nn import (
    DERIVATIVES,
    FLOATS,
    check_accumulators,
    check_mats,
    check_real,
    few_short_axes,
    sum_dtype,
)


# the parameters are shapes and the settings of `conv`
def channels(name: str, x: Ints, w: Ints, y: Ints | None = None, stride: Setting = None,
             padding: Setting = None, dilation: Setting = None, groups: int = 1) -> Channels:
    """Return the sizes for x and w; `ShapeError` unless they fit, and y has all points."""
    return _channels(name, x, w, y, setting(stride, "stride"), setting(padding, "padding"),
                     setting(dilation, "dilation"), integer(groups, "groups"))


# the parameters are those of `channels`
@lru_cache
def _channels(name: str, x: Ints, w: Ints, y: Ints | None, stride: Setting, padding: Setting,
              dilation: Setting, groups: int) -> Channels:
    if not 3 <= len(x) <= 2 + MOST_SPATIAL or len(w) != len(x):
        raise ShapeError(f"{name} requires x of shape (n, channels, *spatial), with 1 to "
                         f"{MOST_SPATIAL} spatial axes, and w of shape (outputs, channels / groups,"
                         f" *window), got x {x} and w {w}; x[None] adds the first axis")
    if groups < 1 or w[0] % groups or w[1] * groups != x[1]:
        raise ShapeError(f"{name}: x {x} and w {w} do not fit with groups={groups}: groups is at "
                         f"least 1 and divides the {w[0]} outputs, and the {x[1]} channels of x "
                         f"are groups times the {w[1]} of w")
    found = Channels(x[0], groups, w[1], w[0] // groups,
                     spaced(name, x[2:], w[2:], stride, padding, dilation))
    if y not in (None, found.shape):
        raise ShapeError(f"{name} of x {x} with w {w}, stride {stride or 1}, padding {padding or 0}"
                         f" and dilation {dilation or 1} has the shape {found.shape}, the output "
                         f"has shape {y}")
    return found


def _some(*mats: Mat) -> bool:
    """Return whether there are elements: without any, NumPy writes the zeros."""
    return all(m.size for m in mats)


# Tiles: between images, between outputs, and where one of each is too large in slabs along the
# first spatial axis, with the elements that their windows see

_LEAST = 4  # slabs are at least so many windows high as long as outputs can be cut
_AXES: dict[str, tuple[int | None, int | None]] = {  # of the grid: images, outputs
    "x": (0, None), "w": (1, None), "y": (0, 1)}


class _Images(TileGrid):
    """The grid of images; outputs are not cut."""

    def __init__(self, roles: str, args: Arguments, kwargs: Keywords) -> None:
        super().__init__(args[roles.index("y")].shape[:2], {
            k: (*_AXES[role], *(None,) * (args[k].ndim - 2)) for k, role in enumerate(roles)},
            args, whole=(1,))

    def block(self, window: tuple[slice, ...], kwargs: Keywords) -> tuple[Arguments, Keywords]:
        images: Channels = kwargs["sizes"]
        return self.arguments(window), {
            "sizes": images._replace(n=window[0].stop - window[0].start)}


def _parts_of_images(operation: Op, roles: str, args: Arguments, kwargs: Keywords,
                     budget: int) -> Iterator[Tile]:
    sizes: Channels = kwargs["sizes"]
    if sizes.groups > 1:
        assert operation.cutter is not None
        for group in range(sizes.groups):
            yield from operation.cutter(_of_group(args, roles, group, sizes.groups),
                                        {"sizes": sizes._replace(groups=1)}, budget)
        return
    grid = _Images(roles, args, kwargs)
    for window in grid.windows((1, grid.shape[1])):
        yield from slab_tiles(operation, roles, sizes._replace(n=1), grid.arguments(window), budget)


def _of_group(args: Arguments, roles: str, group: int, groups: int) -> Arguments:
    """Return the operands with the channels and outputs of one group."""
    found = []
    for x, role in zip(args, roles, strict=True):
        axis = 0 if role == "w" else 1
        length = x.shape[axis] // groups
        part = slice(group * length, (group + 1) * length)
        found.append(x.over(x.layout.part((part,) if axis == 0 else (slice(None), part))))
    return tuple(found)


def slab_tiles(operation: Function, roles: str, sizes: Channels, args: Arguments,
               budget: int) -> Iterator[Tile]:
    """Yield the tiles of an image by outputs and slabs of the first axis that fit."""
    x, w, y = (args[roles.index(role)] for role in "xwy")
    if not y.size:
        return
    axis, *others = sizes.axes
    outputs, length = _lengths(axis, (x, w, y), budget)
    for first in range(0, axis.n, length):
        points = slice(first, min(first + length, axis.n))
        part, inner = axis.part(points.start, points.stop)
        seen = x[:, :, part]
        if roles[-1] != "x":
            seen = staged(seen)  # once, for all outputs
        for k in range(0, y.shape[1], outputs):
            some = slice(k, k + outputs)
            views = {"x": seen, "w": w[some], "y": y[:, some, points]}
            if seen.size:
                found = sizes._replace(outputs=len(views["w"]), axes=(inner, *others))
                yield _tile_of_slab(operation, [views[role] for role in roles], found,
                                    roles[-1] != "y")
            elif roles[-1] == "y":  # these windows see nothing but padding
                yield Tile(partial(assign, 0, views["y"]), (), (views["y"],))


def _lengths(a: WindowAxis, mats: Arguments, budget: int) -> tuple[int, int]:
    """Return how many outputs and points there are in a slab."""
    outputs, length = mats[2].shape[1:3]
    while (needed := _bytes(a, mats, outputs, length)) > budget:
        if length > _LEAST * a.k or (outputs == 1 and length > 1):
            length = -(-length // 2)
        elif outputs > 1:
            outputs = -(-outputs // 2)
        else:
            raise TileTooLarge(needed)
    return outputs, length


def _bytes(a: WindowAxis, mats: Arguments, outputs: int, length: int) -> int:
    """Return the bytes that so many outputs of so many points need at most."""
    x, w, y = mats
    rows = min(a.nx, (length - 1) * a.step + a.length)
    per_output: int = w.nbytes // len(w) + y.nbytes // (y.shape[1] * a.n) * length
    of_image: int = x.nbytes // max(a.nx, 1) * rows
    return outputs * per_output + of_image


def _tile_of_slab(operation: Function, views: list[Mat], sizes: Channels, adds: bool) -> Tile:
    """Return the tile that writes to the last view, or adds to it."""
    view = views[-1]
    result = StagedSum(view) if adds else StagedResult(view, view.dtype, False)
    mats = *map(staged, views[:-1]), result.target

    def run() -> None:
        operation(*mats, sizes=sizes)
        result.finish()

    return Tile(run, mats[:-1], mats[-1:])


def _over_images(operation: Op, roles: str, prepare: Function) -> None:
    """Register cutter and kernels; `roles`: the role of each operand, or of its derivative."""
    operation.cut_by(over(operation, partial(_Images, roles), partial(
        _parts_of_images, operation, roles)))
    operation.prepare("cuda", dtypes=FLOATING, when=lambda *mats: (
        _some(*mats) and few_short_axes(*mats)))(prepare)
    operation.prepare("foreign", dtypes=FLOATS, when=_some)(prepare)


@op(method="", by_form=True, name="conv")
def correlation(x: Input, w: Input, y: Output, *, sizes: Channels) -> None:
    """Write to y, for each output, the sum over channels and taps of w times x."""
    check_real("conv", x, w, y)
    check_disjoint("conv", y, x, w)


_over_images(correlation, "xwy", lambda engine, *mats, sizes: engine.prepare_conv(sizes, *mats))


@op(method="", by_form=True, name="derive_conv")
def correlation_to_x(yd: Input, w: Input, xd: InOut, *, sizes: Channels) -> None:
    """Add to `xd` the derivative by x of the sum of ``yd * conv(x, w)``."""
    check_real("derive_conv", yd, w, xd)
    check_disjoint("derive_conv", xd, yd, w)


_over_images(correlation_to_x, "ywx",
             lambda engine, *mats, sizes: engine.prepare_conv_to_x(sizes, *mats))


@op(method="", by_form=True, name="derive_conv")
def correlation_to_w(x: Input, yd: Input, wd: InOut, *, sizes: Channels) -> None:
    """Add to `wd` the derivative by w of the sum of ``yd * conv(x, w)``."""
    check_real("derive_conv", x, yd, wd)
    check_disjoint("derive_conv", wd, x, yd)


_over_images(correlation_to_w, "xyw",
             lambda engine, *mats, sizes: engine.prepare_conv_to_w(sizes, *mats))


# NumPy: one product of matrices for each tap


Index = Any  # an ellipsis with integers or slices after it


class Grouped(NamedTuple):
    """Arrays with an axis for the groups, in the type to add up in, and views of them by taps."""

    np: Engine
    sizes: Channels

    def images(self, x: Array) -> Array:
        """Return images as (n, groups, channels of a group, *spatial); a view if x has the type."""
        groups = self.sizes.groups
        split = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
        return split.astype(sum_dtype(self.np, x.dtype), copy=False)

    def weights(self, w: Array) -> Array:
        """Return weights as (groups, outputs of a group, channels of a group, *window)."""
        split = w.reshape(self.sizes.groups, self.sizes.outputs, *w.shape[1:])
        return split.astype(sum_dtype(self.np, w.dtype), copy=False)

    def regions(self) -> Iterator[tuple[Index, Index, Index]]:
        """Yield the index of each tap, of the input that it reads, and of the points."""
        for p, positions, points in regions(self.sizes.axes):
            yield (..., *p), (..., *positions), (..., *points)


def _matrix(x: Array, spatial: int) -> Array:
    return x.reshape(*x.shape[:-spatial], prod(x.shape[-spatial:]))


@correlation.on("array")
def correlate_numpy(np: Engine, x: Array, w: Array, y: Array, *, sizes: Channels) -> None:
    grouped = Grouped(np, sizes)
    images, weights, spatial = grouped.images(x), grouped.weights(w), len(sizes.axes)
    sums = np.zeros((sizes.n, sizes.groups, sizes.outputs, *y.shape[2:]), images.dtype)
    for p, positions, points in grouped.regions():
        product = weights[p] @ _matrix(images[positions], spatial)
        sums[points] += product.reshape(sums[points].shape)
    y[...] = sums.reshape(y.shape).astype(y.dtype, copy=False)


@correlation_to_x.on("array")
def correlate_to_x_numpy(np: Engine, yd: Array, w: Array, xd: Array, *, sizes: Channels) -> None:
    grouped = Grouped(np, sizes)
    errors, weights, spatial = grouped.images(yd), grouped.weights(w), len(sizes.axes)
    sums = np.zeros((sizes.n, sizes.groups, sizes.channels, *xd.shape[2:]), errors.dtype)
    for p, positions, points in grouped.regions():
        product = weights[p].swapaxes(-1, -2) @ _matrix(errors[points], spatial)
        sums[positions] += product.reshape(sums[positions].shape)
    xd += sums.reshape(xd.shape).astype(xd.dtype, copy=False)


@correlation_to_w.on("array")
def correlate_to_w_numpy(np: Engine, x: Array, yd: Array, wd: Array, *, sizes: Channels) -> None:
    grouped = Grouped(np, sizes)
    images, errors, spatial = grouped.images(x), grouped.images(yd), len(sizes.axes)
    sums = np.zeros((sizes.groups, sizes.outputs, *wd.shape[1:]), images.dtype)
    for p, positions, points in grouped.regions():
        seen = _matrix(images[positions], spatial).swapaxes(-1, -2)
        sums[p] = np.sum(_matrix(errors[points], spatial) @ seen, axis=0, dtype=sums.dtype)
    wd += sums.reshape(wd.shape).astype(wd.dtype, copy=False)


# The public functions


# the parameters are those that neural networks have
def conv(x: Mat, w: Mat, *, stride: Setting = None, padding: Setting = None,
         dilation: Setting = None, groups: int = 1, out: Mat | None = None) -> Mat:
    """Return the convolution of images with several channels, as neural networks define it.

    ``y[n, o, i] = sum over c and p of w[o, c, p] * x[n, c, i * stride + p * dilation - padding]``,
    where i and p have an entry for each spatial axis, and elements outside of `x` add nothing.

    Parameters
    ----------
    x : Mat
        Images, of shape (n, channels, *spatial) with 1 to 3 spatial axes.
    w : Mat
        Weights, of shape (outputs, channels / groups, *window), and of the dtype of `x`.
    stride : int or tuple of int, optional
        Step from one window to the next, one for all spatial axes or each; default 1.
    padding : int or tuple of int, optional
        How far windows reach out of `x` at both ends of an axis; default 0.
    dilation : int or tuple of int, optional
        Distance of the elements that a window meets; default 1.
    groups : int, optional
        Number of equal parts of the channels and of the outputs; outputs of a part see the channels
        of that part only.
    out : Mat, optional
        Mat for the result, of its shape and dtype.

    Returns
    -------
    Mat
        Of shape (n, outputs, *points); along each spatial axis there are ``1 + (length + 2 *
        padding - dilation * (window - 1) - 1) // stride`` points.

    Raises
    ------
    ShapeError
        If shapes and settings do not fit.
    DTypeError
        Unless all are of one dtype of real numbers.

    Examples
    --------
    >>> import mat
    >>> x = mat.arange(8.0).reshape(1, 2, 4)
    >>> w = mat.array([[[1.0, 1.0], [0.0, 10.0]]])
    >>> mat.nn.conv(x, w).tolist()
    [[[51.0, 63.0, 75.0]]]
    >>> mat.nn.conv(x, w, stride=2, padding=1).tolist()
    [[[40.0, 63.0, 3.0]]]
    """
    check_mats("conv", {"x": x, "w": w} if out is None else {"x": x, "w": w, "out": out})
    y = None if out is None else out.layout.shape
    sizes = channels("conv", x.layout.shape, w.layout.shape, y, stride, padding, dilation, groups)
    if out is None:
        check_real("conv", x, w)
        out = form_of_result(sizes.shape, x.dtype).new(x.device_enabled, None)
    return correlation(x, w, out, sizes=sizes)


# the parameters are those of `derive_convolve`, with the settings of `conv`
@documented(DERIVATIVES, function="conv", operands="Images and weights", call="conv(x, w)",
            y="``conv(x, w)``", settings="stride, padding, dilation, groups", example="""\
x, w = mat.array([[[1.0, 2, 3]]]), mat.array([[[1.0, 10]]])
>>> xd, wd = mat.nn.derive_conv(x, mat.zeros(1, 1, 3), w, mat.zeros(1, 1, 2),
...                             mat.ones(1, 1, 2))
>>> xd.tolist(), wd.tolist()
([[[1.0, 11.0, 10.0]]], [[[3.0, 5.0]]])""")
def derive_conv(x: Mat, xd: Mat | None, w: Mat, wd: Mat | None, yd: Mat, *, stride: Setting = None,
                padding: Setting = None, dilation: Setting = None,
                groups: int = 1) -> tuple[Mat | None, Mat | None]:
    check_accumulators("derive_conv", x, xd, w, wd, yd)
    sizes = channels("derive_conv", x.layout.shape, w.layout.shape, yd.layout.shape, stride,
                     padding, dilation, groups)
    if xd is not None:
        correlation_to_x(yd, w, xd, sizes=sizes)
    if wd is not None:
        correlation_to_w(x, yd, wd, sizes=sizes)
    return xd, wd
