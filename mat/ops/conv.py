"""Convolution of images with several channels, and its derivatives.

Images are (n, channels, *spatial), weights (outputs, channels / groups, *window). Each public
function checks and completes its settings; the operations behind them have the operand that they
write last.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from ..errors import DTypeError, ShapeError
from ..layout.channel_window import MOST_SPATIAL, Channels, spaced
from ..layout.shapes import Ints, integer
from ..layout.sliding_window import Setting, regions, setting
from ..matrix.base import form_of_result
from ..matrix.mat import Mat
from ..support.dtypes import FLOATING
from ..support.types import Array, Engine, Function, Keyword, Keywords
from .cut_conv import by_images
from .nn import FLOATS, check_accumulators, check_real, few_short_axes, sum_dtype
from .operation import InOut, Input, Output, op
from .overlap import check_disjoint


# the parameters are those of `conv`
def sizes(name: str, x: Ints, w: Ints, stride: Setting = None, padding: Setting = None,
          dilation: Setting = None, groups: int = 1) -> Channels:
    """Return the sizes for x and w of these shapes; `ShapeError` if they do not fit."""
    if not 3 <= len(x) <= 2 + MOST_SPATIAL or len(w) != len(x):
        raise ShapeError(f"{name} requires x of shape (n, channels, *spatial), with 1 to "
                         f"{MOST_SPATIAL} spatial axes, and w of shape (outputs, channels / groups,"
                         f" *window), got x {x} and w {w}; x[None] adds the first axis")
    if groups < 1 or w[0] % groups or w[1] * groups != x[1]:
        raise ShapeError(f"{name}: x {x} and w {w} do not fit with groups={groups}: groups is at "
                         f"least 1 and divides the {w[0]} outputs, and the {x[1]} channels of x "
                         f"are groups times the {w[1]} of w")
    return Channels(x[0], groups, w[1], w[0] // groups,
                    spaced(name, x[2:], w[2:], stride, padding, dilation))


def given_settings(groups: object, **settings: object) -> Keywords:
    """Return the settings in a form that plans can be remembered by."""
    found: Keywords = {name: setting(value, name) for name, value in settings.items()
                       if value is not None}
    if groups != 1:
        found["groups"] = integer(groups, "groups")
    return found


def fitting(name: str, x: Mat, w: Mat, y: Mat, **settings: Keyword) -> Channels:
    """Return the sizes; `ShapeError` unless y has an element for each point."""
    found = sizes(name, x.layout.shape, w.layout.shape, **settings)
    if y.layout.shape != found.shape:
        raise ShapeError(f"{name} of x {x.shape} with w {w.shape} and {settings} has the shape "
                         f"{found.shape}, the output has shape {y.shape}")
    return found


def _some(*mats: Mat) -> bool:
    """Return whether there are elements: without any, NumPy writes the zeros."""
    return all(m.size for m in mats)


def _some_short(*mats: Mat) -> bool:
    return _some(*mats) and few_short_axes(*mats)


# the parameters are those of `conv`
@op(method="", by_form=True, name="conv")
def correlation(x: Input, w: Input, y: Output, *, stride: Setting = None, padding: Setting = None,
                dilation: Setting = None, groups: int = 1) -> None:
    """Write to y, for each output, the sum over channels and taps of w times x."""
    check_real("conv", x, w, y)
    fitting("conv", x, w, y, stride=stride, padding=padding, dilation=dilation, groups=groups)
    check_disjoint("conv", y, x, w)


# the parameters are those of `conv`
@op(method="", by_form=True, name="derive_conv")
def correlation_to_x(yd: Input, w: Input, xd: InOut, *, stride: Setting = None,
                     padding: Setting = None, dilation: Setting = None, groups: int = 1) -> None:
    """Add to `xd` the derivative by x of the sum of ``yd * conv(x, w)``."""
    check_real("derive_conv", yd, w, xd)
    fitting("derive_conv", xd, w, yd, stride=stride, padding=padding, dilation=dilation,
            groups=groups)
    check_disjoint("derive_conv", xd, yd, w)


# the parameters are those of `conv`
@op(method="", by_form=True, name="derive_conv")
def correlation_to_w(x: Input, yd: Input, wd: InOut, *, stride: Setting = None,
                     padding: Setting = None, dilation: Setting = None, groups: int = 1) -> None:
    """Add to `wd` the derivative by w of the sum of ``yd * conv(x, w)``."""
    check_real("derive_conv", x, yd, wd)
    fitting("derive_conv", x, wd, yd, stride=stride, padding=padding, dilation=dilation,
            groups=groups)
    check_disjoint("derive_conv", wd, x, yd)


def _sizes_of(x: int, w: int) -> Function:
    """Return a function of an operation's arguments and keywords that returns the sizes; the
    positions are those of the arguments with the shapes of x and w.
    """
    return lambda args, kwargs: sizes("conv", args[x].shape, args[w].shape, **kwargs)


correlation.cut_by(by_images(correlation, "xwy", _sizes_of(0, 1)))
correlation_to_x.cut_by(by_images(correlation_to_x, "ywx", _sizes_of(2, 1)))
correlation_to_w.cut_by(by_images(correlation_to_w, "xyw", _sizes_of(0, 2)))


@correlation.prepare("cuda", dtypes=FLOATING, when=_some_short)
@correlation.prepare("foreign", dtypes=FLOATS, when=_some)
def correlate_kernel(engine: Engine, x: Mat, w: Mat, y: Mat, **settings: Keyword) -> Engine:
    return engine.prepare_conv(fitting("conv", x, w, y, **settings), x, w, y)


@correlation_to_x.prepare("cuda", dtypes=FLOATING, when=_some_short)
@correlation_to_x.prepare("foreign", dtypes=FLOATS, when=_some)
def correlate_to_x_kernel(engine: Engine, yd: Mat, w: Mat, xd: Mat, **settings: Keyword) -> Engine:
    return engine.prepare_conv_to_x(fitting("derive_conv", xd, w, yd, **settings), yd, w, xd)


@correlation_to_w.prepare("cuda", dtypes=FLOATING, when=_some_short)
@correlation_to_w.prepare("foreign", dtypes=FLOATS, when=_some)
def correlate_to_w_kernel(engine: Engine, x: Mat, yd: Mat, wd: Mat,
                          **settings: Keyword) -> Engine:
    return engine.prepare_conv_to_w(fitting("derive_conv", x, wd, yd, **settings), x, yd, wd)


# NumPy: one product of matrices for each tap


Index = Any  # an ellipsis with integers or slices after it


class Grouped(NamedTuple):
    """Arrays with an axis for the groups, in the type to add up in, and views of them by taps."""

    np: Engine
    found: Channels

    def images(self, x: Array) -> Array:
        """Return images as (n, groups, channels of a group, *spatial); a view if x has the type."""
        groups = self.found.groups
        split = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
        return split.astype(sum_dtype(self.np, x.dtype), copy=False)

    def weights(self, w: Array) -> Array:
        """Return weights as (groups, outputs of a group, channels of a group, *window)."""
        split = w.reshape(self.found.groups, self.found.outputs, *w.shape[1:])
        return split.astype(sum_dtype(self.np, w.dtype), copy=False)

    def regions(self) -> Iterator[tuple[Index, Index, Index]]:
        """Yield the index of each tap, of the input that it reads, and of the points."""
        for p, positions, points in regions(self.found.axes):
            yield (..., *p), (..., *positions), (..., *points)


def _matrix(x: Array, spatial: int) -> Array:
    """Return x with its spatial axes as one."""
    return x.reshape(*x.shape[:-spatial], prod(x.shape[-spatial:]))


@correlation.on("array")
def correlate_numpy(np: Engine, x: Array, w: Array, y: Array, **settings: Keyword) -> None:
    found = sizes("conv", x.shape, w.shape, **settings)
    grouped = Grouped(np, found)
    images, weights, spatial = grouped.images(x), grouped.weights(w), len(found.axes)
    sums = np.zeros((found.n, found.groups, found.outputs, *y.shape[2:]), images.dtype)
    for p, positions, points in grouped.regions():
        product = weights[p] @ _matrix(images[positions], spatial)
        sums[points] += product.reshape(sums[points].shape)
    y[...] = sums.reshape(y.shape).astype(y.dtype, copy=False)


@correlation_to_x.on("array")
def correlate_to_x_numpy(np: Engine, yd: Array, w: Array, xd: Array, **settings: Keyword) -> None:
    found = sizes("conv", xd.shape, w.shape, **settings)
    grouped = Grouped(np, found)
    errors, weights, spatial = grouped.images(yd), grouped.weights(w), len(found.axes)
    sums = np.zeros((found.n, found.groups, found.channels, *xd.shape[2:]), errors.dtype)
    for p, positions, points in grouped.regions():
        product = weights[p].swapaxes(-1, -2) @ _matrix(errors[points], spatial)
        sums[positions] += product.reshape(sums[positions].shape)
    xd += sums.reshape(xd.shape).astype(xd.dtype, copy=False)


@correlation_to_w.on("array")
def correlate_to_w_numpy(np: Engine, x: Array, yd: Array, wd: Array, **settings: Keyword) -> None:
    found = sizes("conv", x.shape, wd.shape, **settings)
    grouped = Grouped(np, found)
    images, errors, spatial = grouped.images(x), grouped.images(yd), len(found.axes)
    sums = np.zeros((found.groups, found.outputs, *wd.shape[1:]), images.dtype)
    for p, positions, points in grouped.regions():
        seen = _matrix(images[positions], spatial).swapaxes(-1, -2)
        sums[p] = np.sum(_matrix(errors[points], spatial) @ seen, axis=0, dtype=sums.dtype)
    wd += sums.reshape(wd.shape).astype(wd.dtype, copy=False)


# The public functions


def check_mat(name: str, **values: object) -> None:
    """Raise `DTypeError` unless all are Mats."""
    for k, value in values.items():
        if not isinstance(value, Mat):
            raise DTypeError(f"{k} of {name} must be a Mat, got {type(value).__name__}; "
                             "mat.from_numpy(a) wraps an array without copying, mat.array(obj) "
                             "copies")


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
    check_mat("conv", x=x, w=w)
    settings = given_settings(groups, stride=stride, padding=padding, dilation=dilation)
    if out is None:
        check_real("conv", x, w)
        shape = sizes("conv", x.shape, w.shape, **settings).shape
        out = form_of_result(shape, x.dtype).new(x.device_enabled, None)
    check_mat("conv", out=out)
    result: Mat = correlation(x, w, out, **settings)
    return result


# the parameters are those of `derive_convolve`, with the settings of `conv`
def derive_conv(x: Mat, xd: Mat | None, w: Mat, wd: Mat | None, yd: Mat, *, stride: Setting = None,
                padding: Setting = None, dilation: Setting = None,
                groups: int = 1) -> tuple[Mat | None, Mat | None]:
    """Add the derivatives of a convolution to `xd` and `wd`, and return both.

    Parameters
    ----------
    x, w : Mat
        Images and weights of ``conv(x, w)``.
    xd, wd : Mat or None
        Accumulators of dF/dx and dF/dw, of the shapes of `x` and `w`; None leaves one out.
    yd : Mat
        dF/dy, of the shape of ``conv(x, w)``.
    stride, padding, dilation, groups : optional
        The settings of `conv`.

    Returns
    -------
    xd, wd : Mat or None
        The accumulators.

    Notes
    -----
    The result does not depend on how many threads compute it.

    Examples
    --------
    >>> import mat
    >>> x, w = mat.array([[[1.0, 2, 3]]]), mat.array([[[1.0, 10]]])
    >>> xd, wd = mat.nn.derive_conv(x, mat.zeros(1, 1, 3), w, mat.zeros(1, 1, 2),
    ...                             mat.ones(1, 1, 2))
    >>> xd.tolist(), wd.tolist()
    ([[[1.0, 11.0, 10.0]]], [[[3.0, 5.0]]])
    """
    settings = given_settings(groups, stride=stride, padding=padding, dilation=dilation)
    check_accumulators("derive_conv", x, xd, w, wd, yd)
    fitting("derive_conv", x, w, yd, **settings)
    if xd is not None:
        correlation_to_x(yd, w, xd, **settings)
    if wd is not None:
        correlation_to_w(x, yd, wd, **settings)
    return xd, wd
