"""Pooling by the largest or the average of each window, and its derivatives: of one channel over
any number of axes, and of images with channels.

Both have the same operations, of the axes of the windows: those of images with channels begin with
two for images and channels. An average is a convolution with equal taps.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from ...errors import DTypeError, SettingError, ShapeError
from ...layout.shapes import Ints
from ...layout.sliding_window import (
    MOST_SPATIAL,
    Setting,
    Windows,
    each,
    regions,
    setting,
    spaced,
    with_batch,
)
from ...matrix.base import form_of_result
from ...matrix.mat import Mat
from ...matrix.methods import bind
from ...support.types import Array, Engine
from ..engine.declaration import as_method
from ..engine.operation import InOut, Input, Output, op
from ..tiles.overlap import check_disjoint
from .nn import (
    check_derivatives,
    check_mats,
    check_real,
    convolution,
    convolution_to_x,
    over_windows,
    shape_of,
    sum_dtype,
    window_axes,
)

KINDS = ("max", "average")


@op(method="", by_form=True, name="max_pool")
def pooling(x: Input, y: Output, *, axes: Windows) -> None:
    """Write to y the largest element of each window."""
    check_real("max_pool", x, y)
    check_disjoint("max_pool", y, x)


over_windows(pooling, (0,), (1,), lambda engine, *mats, axes: engine.prepare_pool(axes, *mats))


@pooling.on("array")
def max_pool_numpy(np: Engine, x: Array, y: Array, *, axes: Windows) -> None:
    y[...] = np.iinfo(y.dtype).min if y.dtype.kind in "iu" else -np.inf
    for _, positions, points in regions(axes):
        y[points] = np.maximum(y[points], x[positions])


@op(method="", by_form=True, name="derive_max_pool")
def pooling_back(x: Input, y: Input, yd: Input, xd: InOut, *, axes: Windows) -> None:
    """Add yd to xd wherever x is the largest of a window; the public functions have checked."""


over_windows(pooling_back, (0, 3), (1, 2),
             lambda engine, *mats, axes: engine.prepare_pool_back(axes, *mats))


@pooling_back.on("array")
def max_pool_back_numpy(np: Engine, x: Array, y: Array, yd: Array, xd: Array, *,
                        axes: Windows) -> None:
    sums = np.zeros(xd.shape, sum_dtype(np, xd.dtype))
    for _, positions, points in regions(axes):
        values, largest = x[positions], y[points]
        equal = (values == largest) | ((values != values) & (largest != largest))
        sums[positions] += np.where(equal, yd[points], 0)
    xd += sums.astype(xd.dtype)


def _check_back(name: str, x: Mat, xd: Mat, y: Mat, yd: Mat) -> None:
    check_derivatives(name, {"x": x, "xd": xd, "y": y, "yd": yd}, (("xd", "x"),))
    if yd.layout.shape != y.layout.shape:
        raise ShapeError(f"{name}: yd must have the shape of y, {y.shape}, got {yd.shape}")


# One channel


def max_pool(x: Mat, y: Mat, *, pool_shape: Setting, start: Setting = None,
             stride: Setting = None, anchor: Setting = None,
             batched: bool = False) -> Mat:  # the signature is MGL-MAT's
    """Write the maxima of windows over `x` to `y`, and return `y`.

    ``y[i] <- max over p of x[start + i * stride + p - anchor]``. Elements outside of `x` are
    ignored; the maximum is NaN if there is one.

    Parameters
    ----------
    x, y : Mat
        Input and output, of one dtype of real numbers; `y` has the shape that `convolve` would
        have: windows at the far edge are cut off by it, not left out.
    pool_shape : int or tuple of int
        Shape of the windows; an integer is that of all axes.
    start, stride, anchor, batched : optional
        The settings of `convolve`.

    Returns
    -------
    Mat
        `y`.

    Examples
    --------
    >>> import mat
    >>> x = mat.array([[1.0, 5, 2], [0, 3, 4]])
    >>> mat.nn.max_pool(x, mat.empty(1, 2), pool_shape=2, stride=2)
    <Mat 1x2 F [[5. 4.]]>
    """
    axes = window_axes("max_pool", x, pool_shape, y, start, stride, anchor, batched, True)
    return pooling(x, y, axes=axes)


def derive_max_pool(x: Mat, xd: Mat, y: Mat, yd: Mat, *, pool_shape: Setting,
                    start: Setting = None, stride: Setting = None,
                    anchor: Setting = None,
                    batched: bool = False) -> Mat:  # the signature is MGL-MAT's
    """Add the derivative of max pooling to `xd`, and return `xd`.

    Every element that is the largest of a window gets the gradient of that window: at ties all of
    them do. Where the largest is NaN, the elements that are NaN get it.

    Parameters
    ----------
    x, y : Mat
        Input and output of ``max_pool(x, y, ...)``.
    xd : Mat
        Accumulator of dF/dx, of the shape of `x`.
    yd : Mat
        dF/dy, of the shape of `y`.
    pool_shape, start, stride, anchor, batched : optional
        The settings of `max_pool`.

    Returns
    -------
    Mat
        `xd`.

    Examples
    --------
    >>> import mat
    >>> x, y = mat.array([1.0, 5, 5, 2]), mat.array([5.0, 5])
    >>> mat.nn.derive_max_pool(x, mat.zeros(4), y, mat.array([1.0, 10]), pool_shape=2, stride=2)
    <Mat 4 F [0. 1. 10. 0.]>
    """
    _check_back("derive_max_pool", x, xd, y, yd)
    axes = window_axes("derive_max_pool", x, pool_shape, y, start, stride, anchor, batched, True)
    return pooling_back(x, y, yd, xd, axes=axes)


bind("max_pool_", as_method(max_pool, "max_pool_", "y"))
bind("derive_max_pool_", as_method(derive_max_pool, "derive_max_pool_", "xd"))


# Images with channels


# the parameters are those of `pool`
def _image_axes(name: str, x: Mat, y: Mat | None, window: Setting, kind: str, stride: Setting,
                padding: Setting) -> Windows:
    """Return the axes of windows, images and channels; `ShapeError` unless y has all points."""
    if kind not in KINDS:
        raise SettingError(f"{name}: kind is one of {KINDS}, got {kind!r}")
    if kind == "average" and x.element_type.kind in "iu":
        raise DTypeError(f"{name}: averages are floats, x has dtype {x.dtype}; convert with "
                         "x.astype('float64')")
    return _windows(name, x.layout.shape, None if y is None else y.layout.shape,
                    setting(window, "window"), setting(stride, "stride"),
                    setting(padding, "padding"))


@lru_cache
def _windows(name: str, x: Ints, y: Ints | None, window: Setting, stride: Setting,
             padding: Setting) -> Windows:
    if not 3 <= len(x) <= 2 + MOST_SPATIAL:
        raise ShapeError(f"{name} requires x of shape (n, channels, *spatial), with 1 to "
                         f"{MOST_SPATIAL} spatial axes, got {x}; x[None] adds the first axis")
    taps = each(window, 1, "window", len(x) - 2)
    axes = spaced(name, x[2:], taps, taps if stride is None else stride, padding, None)
    if any(-2 * a.off > a.k for a in axes):
        raise ShapeError(f"{name}: the padding is at most half of the window, {taps}, so that "
                         f"each window meets an element; got {padding}")
    axes = with_batch(axes, *x[:2])
    if y not in (None, shape_of(axes)):
        raise ShapeError(f"{name} of x {x} with windows of shape {taps}, stride {stride or taps} "
                         f"and padding {padding or 0} has the shape {shape_of(axes)}, the output "
                         f"has shape {y}")
    return axes


def _taps(x: Mat, axes: Windows) -> Mat:
    """Return the taps of an average."""
    window = tuple(a.k for a in axes[2:])
    found: Mat = form_of_result(window, x.dtype).new(x.device_enabled, None)
    found.fill_(1 / prod(window))
    return found


def pool(x: Mat, window: Setting, *, kind: str = "max", stride: Setting = None,
         padding: Setting = None, out: Mat | None = None) -> Mat:
    """Return the largest element or the average of each window over images with channels.

    Parameters
    ----------
    x : Mat
        Images, of shape (n, channels, *spatial) with 1 to 3 spatial axes, of real numbers.
    window : int or tuple of int
        Shape of the windows, one length for all spatial axes or each.
    kind : {"max", "average"}, optional
        What is taken of a window. Elements outside of `x` are no candidates for the largest, and
        count as 0 in an average. The largest is NaN if there is one. Averages are of floats.
    stride : int or tuple of int, optional
        Step from one window to the next; default: the windows are side by side.
    padding : int or tuple of int, optional
        How far windows reach out of `x` at both ends of an axis, at most half of the window;
        default 0.
    out : Mat, optional
        Mat for the result, of its shape and dtype.

    Returns
    -------
    Mat
        Of shape (n, channels, *points); along each spatial axis there are ``1 + (length + 2 *
        padding - window) // stride`` points: windows that do not fit are left out.

    Raises
    ------
    ShapeError
        If shapes and settings do not fit.
    DTypeError
        For other than real numbers, and for averages of integers.

    Examples
    --------
    >>> import mat
    >>> x = mat.array([[[1.0, 5, 2, 0, 7]]])
    >>> mat.nn.pool(x, 2).tolist()
    [[[5.0, 2.0]]]
    >>> mat.nn.pool(x, 3, kind="average", stride=2, padding=1).round(2).tolist()
    [[[2.0, 2.33, 2.33]]]
    """
    check_mats("pool", {"x": x} if out is None else {"x": x, "out": out})
    axes = _image_axes("pool", x, out, window, kind, stride, padding)
    if out is None:
        check_real("pool", x)
        out = form_of_result(shape_of(axes), x.dtype).new(x.device_enabled, None)
    if kind == "max":
        return pooling(x, out, axes=axes)
    check_real("pool", x, out)
    check_disjoint("pool", out, x)
    return convolution(x, _taps(x, axes), out.fill_(0), axes=axes)


# the parameters are operands and the settings of `pool`
def derive_pool(x: Mat, xd: Mat, y: Mat, yd: Mat, window: Setting, *, kind: str = "max",
                stride: Setting = None, padding: Setting = None) -> Mat:
    """Add the derivative of pooling to `xd`, and return `xd`.

    Every element that is the largest of a window gets the gradient of that window: at ties all of
    them do. Of an average, all elements of a window get an equal share.

    Parameters
    ----------
    x, y : Mat
        Input and output of ``pool(x, window, ...)``.
    xd : Mat
        Accumulator of dF/dx, of the shape of `x`.
    yd : Mat
        dF/dy, of the shape of `y`.
    window, kind, stride, padding : optional
        The settings of `pool`.

    Returns
    -------
    Mat
        `xd`.

    Examples
    --------
    >>> import mat
    >>> x, xd = mat.array([[[1.0, 5, 2, 0]]]), mat.zeros(1, 1, 4)
    >>> mat.nn.derive_pool(x, xd, mat.nn.pool(x, 2), mat.array([[[1.0, 10]]]), 2).tolist()
    [[[0.0, 1.0, 10.0, 0.0]]]
    """
    _check_back("derive_pool", x, xd, y, yd)
    axes = _image_axes("derive_pool", x, y, window, kind, stride, padding)
    if kind == "max":
        return pooling_back(x, y, yd, xd, axes=axes)
    return convolution_to_x(yd, _taps(x, axes), xd, axes=axes)
