"""Pooling of images with channels, by the largest or the average of each window, and its
derivatives.

Images are (n, channels, *spatial). The kernels are those of ``nn.py`` and ``pooling.py``, with a
batch of images and channels; an average is a convolution of each channel with equal taps.
"""

from __future__ import annotations

from math import prod

from ..errors import DTypeError, SettingError, ShapeError
from ..layout.channel_window import MOST_SPATIAL, spaced
from ..layout.shapes import Ints
from ..layout.sliding_window import Setting, WindowAxis, each, regions, setting, with_batch
from ..matrix.base import form_of_result
from ..matrix.mat import Mat
from ..support.types import Array, Engine, Keyword, Keywords
from .conv import check_mat
from .cut_windows import by_images
from .nn import (
    FLOATS,
    ON_DEVICE,
    check_derivatives,
    check_real,
    convolution,
    convolution_to_x,
    few_short_axes,
    sum_dtype,
)
from .operation import InOut, Input, Output, op
from .overlap import check_disjoint
from .pooling import pooling, pooling_back

KINDS = ("max", "average")
Windows = tuple[WindowAxis, ...]


# the parameters are those of `pool`
def window_axes(name: str, x: Ints, window: Ints, stride: Setting = None,
                padding: Setting = None) -> Windows:
    """Return the axes of windows over images of shape `x`, with those of images and channels."""
    axes = spaced(name, x[2:], window, window if stride is None else stride, padding, None)
    if any(-2 * a.off > a.k for a in axes):
        raise ShapeError(f"{name}: the padding is at most half of the window, {window}, so that "
                         f"each window meets an element; got {padding}")
    inner = tuple(WindowAxis(a.n, a.nx, a.k, a.step, a.off) for a in axes)
    return with_batch(with_batch(inner, x[1]), x[0])


def shape_of(axes: Windows) -> Ints:
    return tuple(a.n for a in axes)


def _checked(name: str, x: Mat, y: Mat, window: Ints, **settings: Setting) -> Windows:
    """Return the axes; `ShapeError` unless y has an element for each window."""
    axes = window_axes(name, x.layout.shape, window, **settings)
    if y.layout.shape != shape_of(axes):
        raise ShapeError(f"{name} of x {x.shape} with windows of shape {window} and {settings} has "
                         f"the shape {shape_of(axes)}, the output has shape {y.shape}")
    return axes


# The largest of each window


@op(method="", by_form=True, name="pool")
def largest(x: Input, y: Output, *, window: Ints = (), stride: Setting = None,
            padding: Setting = None) -> None:
    """Write to y the largest element of each window."""
    check_real("pool", x, y)
    _checked("pool", x, y, window, stride=stride, padding=padding)
    check_disjoint("pool", y, x)


largest.cut_by(by_images(
    largest, (0,), (1,), lambda args, kwargs: window_axes("pool", args[0].shape, **kwargs),
    pooling, {"window": "pool_shape"}))


@largest.prepare("cuda", dtypes=ON_DEVICE, when=few_short_axes)
@largest.prepare("foreign", dtypes=FLOATS)
def largest_kernel(engine: Engine, x: Mat, y: Mat, **settings: Keyword) -> Engine:
    return engine.prepare_pool(window_axes("pool", x.shape, **settings), x, y)


@largest.on("array")
def largest_numpy(np: Engine, x: Array, y: Array, **settings: Keyword) -> None:
    y[...] = np.iinfo(y.dtype).min if y.dtype.kind in "iu" else -np.inf
    for _, positions, points in regions(window_axes("pool", x.shape, **settings)):
        y[points] = np.maximum(y[points], x[positions])


# the parameters are operands and the settings of `pool`
@op(method="", by_form=True, name="derive_pool")
def largest_back(x: Input, y: Input, yd: Input, xd: InOut, *, window: Ints = (),
                 stride: Setting = None, padding: Setting = None) -> None:
    """Compute ``xd += yd`` wherever x is the largest of a window; `derive_pool` has checked."""
    if yd.layout.shape != y.layout.shape:
        raise ShapeError(f"derive_pool: yd must have the shape of y, {y.shape}, got {yd.shape}")
    _checked("derive_pool", x, y, window, stride=stride, padding=padding)


largest_back.cut_by(by_images(
    largest_back, (0, 3), (1, 2), lambda args, kwargs: window_axes("pool", args[0].shape, **kwargs),
    pooling_back, {"window": "pool_shape"}))


@largest_back.prepare("cuda", dtypes=ON_DEVICE, when=few_short_axes)
@largest_back.prepare("foreign", dtypes=FLOATS)
def largest_back_kernel(engine: Engine, x: Mat, y: Mat, yd: Mat, xd: Mat,
                        **settings: Keyword) -> Engine:
    return engine.prepare_pool_back(window_axes("pool", x.shape, **settings), x, y, yd, xd)


@largest_back.on("array")
def largest_back_numpy(np: Engine, x: Array, y: Array, yd: Array, xd: Array,
                       **settings: Keyword) -> None:
    sums = np.zeros(xd.shape, sum_dtype(np, xd.dtype))
    for _, positions, points in regions(window_axes("pool", x.shape, **settings)):
        values, found = x[positions], y[points]
        equal = (values == found) | ((values != values) & (found != found))
        sums[positions] += np.where(equal, yd[points], 0)
    xd += sums.astype(xd.dtype)


# Averages: w has the shape of the window


@op(method="", by_form=True, name="pool")
def weighted(x: Input, w: Input, y: InOut, *, stride: Setting = None,
             padding: Setting = None) -> None:
    """Add to y the sum of w times each window."""
    check_real("pool", x, w, y)
    _checked("pool", x, y, w.layout.shape, stride=stride, padding=padding)
    check_disjoint("pool", y, x, w)


weighted.cut_by(by_images(
    weighted, (0,), (2,),
    lambda args, kwargs: window_axes("pool", args[0].shape, args[1].shape, **kwargs),
    convolution, {}))


@weighted.prepare("cuda", dtypes=ON_DEVICE, when=few_short_axes)
@weighted.prepare("foreign", dtypes=FLOATS)
def weighted_kernel(engine: Engine, x: Mat, w: Mat, y: Mat, **settings: Keyword) -> Engine:
    return engine.prepare_convolve(window_axes("pool", x.shape, w.shape, **settings), x, w, y)


@weighted.on("array")
def weighted_numpy(np: Engine, x: Array, w: Array, y: Array, **settings: Keyword) -> None:
    sums = np.zeros(y.shape, sum_dtype(np, y.dtype))
    for p, positions, points in regions(window_axes("pool", x.shape, w.shape, **settings)):
        sums[points] += w[p[2:]] * x[positions]
    y += sums.astype(y.dtype)


@op(method="", by_form=True, name="derive_pool")
def weighted_back(yd: Input, w: Input, xd: InOut, *, stride: Setting = None,
                  padding: Setting = None) -> None:
    """Add to xd, for each window, w times yd."""
    check_real("derive_pool", yd, w, xd)
    _checked("derive_pool", xd, yd, w.layout.shape, stride=stride, padding=padding)
    check_disjoint("derive_pool", xd, yd, w)


weighted_back.cut_by(by_images(
    weighted_back, (2,), (0,),
    lambda args, kwargs: window_axes("pool", args[2].shape, args[1].shape, **kwargs),
    convolution_to_x, {}))


@weighted_back.prepare("cuda", dtypes=ON_DEVICE, when=few_short_axes)
@weighted_back.prepare("foreign", dtypes=FLOATS)
def weighted_back_kernel(engine: Engine, yd: Mat, w: Mat, xd: Mat, **settings: Keyword) -> Engine:
    return engine.prepare_to_x(window_axes("pool", xd.shape, w.shape, **settings), yd, w, xd)


@weighted_back.on("array")
def weighted_back_numpy(np: Engine, yd: Array, w: Array, xd: Array, **settings: Keyword) -> None:
    sums = np.zeros(xd.shape, sum_dtype(np, xd.dtype))
    for p, positions, points in regions(window_axes("pool", xd.shape, w.shape, **settings)):
        sums[positions] += w[p[2:]] * yd[points]
    xd += sums.astype(xd.dtype)


# The public functions


def _given(name: str, x: Mat, window: object, kind: object, **settings: object) -> Keywords:
    """Return the settings in a form that plans can be remembered by, after checking the kind."""
    if kind not in KINDS:
        raise SettingError(f"{name}: kind is one of {KINDS}, got {kind!r}")
    if not 3 <= x.ndim <= 2 + MOST_SPATIAL:
        raise ShapeError(f"{name} requires x of shape (n, channels, *spatial), with 1 to "
                         f"{MOST_SPATIAL} spatial axes, got {x.shape}; x[None] adds the first axis")
    if kind == "average" and x.dtype.kind in "iu":
        raise DTypeError(f"{name}: averages are floats, x has dtype {x.dtype}; convert with "
                         "x.astype('float64')")
    found: Keywords = {k: setting(v, k) for k, v in settings.items() if v is not None}
    return {"window": each(setting(window, "window"), 1, "window", x.ndim - 2), **found}


def _taps(x: Mat, window: Ints) -> Mat:
    """Return the taps of an average."""
    found: Mat = form_of_result(window, x.dtype).new(x.device_enabled, None)
    found.fill_(1 / (prod(window) or 1))  # windows without taps are refused by the operation
    return found


# the parameters are those that neural networks have
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
    check_mat("pool", x=x)
    settings = _given("pool", x, window, kind, stride=stride, padding=padding)
    check_real("pool", x)
    taps: Ints = settings["window"]
    if out is None:
        shape = shape_of(window_axes("pool", x.shape, **settings))
        out = form_of_result(shape, x.dtype).new(x.device_enabled, None)
    check_mat("pool", out=out)
    if kind == "max":
        result: Mat = largest(x, out, **settings)
        return result
    del settings["window"]
    _checked("pool", x, out, taps, **{"stride": taps, **settings})
    check_real("pool", x, out)
    check_disjoint("pool", out, x)
    weighted(x, _taps(x, taps), out.fill_(0), **{"stride": taps, **settings})
    return out


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
    check_derivatives("derive_pool", {"x": x, "xd": xd, "y": y, "yd": yd}, (("xd", "x"),))
    settings = _given("derive_pool", x, window, kind, stride=stride, padding=padding)
    if kind == "max":
        result: Mat = largest_back(x, y, yd, xd, **settings)
        return result
    taps: Ints = settings.pop("window")
    if yd.layout.shape != y.layout.shape:
        raise ShapeError(f"derive_pool: yd must have the shape of y, {y.shape}, got {yd.shape}")
    back: Mat = weighted_back(yd, _taps(x, taps), xd, **{"stride": taps, **settings})
    return back
