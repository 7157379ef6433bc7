"""Max pooling over any number of axes, and its back-propagation.

Windows are those of ``nn.py``; each public function checks and completes its settings.
"""

from __future__ import annotations

from ..errors import ShapeError
from ..layout.shapes import Ints
from ..layout.sliding_window import Setting, WindowAxis, regions
from ..matrix.mat import Mat
from ..matrix.methods import bind
from ..support.types import Arguments, Array, Engine, Keyword, Keywords
from .cut_windows import by_windows
from .nn import (
    FLOATS,
    ON_DEVICE,
    array_axes,
    check_derivatives,
    check_real,
    few_axes,
    few_short_axes,
    given_settings,
    sum_dtype,
    window_axes,
)
from .operation import InOut, Input, Output, op
from .overlap import check_disjoint
from .roles import method_like


def _taps(name: str, ndim: int, pool_shape: Setting) -> Ints:
    """Return the shape of windows over so many axes; an integer means as many for all axes."""
    taps = (pool_shape,) * ndim if isinstance(pool_shape, int) else pool_shape
    if taps is None or any(k < 1 for k in taps):
        raise ShapeError(f"{name} requires pool_shape, the shape of its windows, at least 1 in "
                         f"each axis, got {pool_shape}")
    return taps


def _pool_axes(name: str, x: Mat, y: Mat, pool_shape: Setting = None, batched: bool = False,
               **settings: Setting) -> tuple[WindowAxis, ...]:
    """Return the axes of windows of shape `pool_shape`, checked."""
    taps = _taps(name, x.ndim - batched, pool_shape)
    return window_axes(name, x, taps, y, batched, **settings)


def _array_pool_axes(x: Array, pool_shape: Setting = None, batched: bool = False,
                     **settings: Setting) -> tuple[WindowAxis, ...]:
    """Return the same axes for operands that have been checked."""
    return array_axes(x, _taps("max_pool", x.ndim - batched, pool_shape), batched, **settings)


# the signature is max_pool's
@op(method="", by_form=True, name="max_pool")
def pooling(x: Input, y: Output, *, pool_shape: Setting = None, start: Setting = None,
            stride: Setting = None, anchor: Setting = None, batched: bool = False) -> None:
    """Compute ``y[i] <- max over p of x[start + i * stride + p - anchor]``."""
    check_real("max_pool", x, y)
    _pool_axes("max_pool", x, y, pool_shape, batched, start=start, stride=stride, anchor=anchor)
    check_disjoint("max_pool", y, x)


def _axes(args: Arguments, kwargs: Keywords) -> tuple[WindowAxis, ...]:
    """Return the axes of a call that was checked; `x` and `y` come first."""
    return _pool_axes("max_pool", args[0], args[1], **kwargs)


pooling.cut_by(by_windows(pooling, (0,), (1,), _axes))


@pooling.prepare("cuda", dtypes=ON_DEVICE, when=few_short_axes)
@pooling.prepare("foreign", dtypes=FLOATS, when=few_axes)
def max_pool_kernel(engine: Engine, x: Mat, y: Mat, **settings: Keyword) -> Engine:
    return engine.prepare_pool(_pool_axes("max_pool", x, y, **settings), x, y)


@pooling.on("array")
def max_pool_numpy(np: Engine, x: Array, y: Array, **settings: Keyword) -> None:
    y[...] = np.iinfo(y.dtype).min if y.dtype.kind in "iu" else -np.inf
    for _, positions, points in regions(_array_pool_axes(x, **settings)):
        y[points] = np.maximum(y[points], x[positions])


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
    settings = given_settings(batched, pool_shape=pool_shape, start=start, stride=stride,
                              anchor=anchor)
    result: Mat = pooling(x, y, **settings)
    return result


# the signature is max_pool's
def _max_pool_(self: Mat, x: Mat, *, pool_shape: Setting, start: Setting = None,
               stride: Setting = None, anchor: Setting = None,
               batched: bool = False) -> Mat:
    return max_pool(x, self, pool_shape=pool_shape, start=start, stride=stride, anchor=anchor,
                    batched=batched)


# the signature is derive_max_pool's
@op(method="", by_form=True, name="derive_max_pool")
def pooling_back(x: Input, y: Input, yd: Input, xd: InOut, *, pool_shape: Setting = None,
                 start: Setting = None, stride: Setting = None, anchor: Setting = None,
                 batched: bool = False) -> None:
    """Compute ``xd += yd`` wherever x is the largest of a window."""
    if yd.layout.shape != y.layout.shape:
        raise ShapeError(f"derive_max_pool: yd must have the shape of y, {y.shape}, got {yd.shape}")
    _pool_axes("derive_max_pool", x, y, pool_shape, batched, start=start, stride=stride,
               anchor=anchor)


pooling_back.cut_by(by_windows(pooling_back, (0, 3), (1, 2), _axes))


@pooling_back.prepare("cuda", dtypes=ON_DEVICE, when=few_short_axes)
@pooling_back.prepare("foreign", dtypes=FLOATS, when=few_axes)
def max_pool_back_kernel(engine: Engine, x: Mat, y: Mat, yd: Mat, xd: Mat,
                         **settings: Keyword) -> Engine:
    axes = _pool_axes("derive_max_pool", x, y, **settings)
    return engine.prepare_pool_back(axes, x, y, yd, xd)


@pooling_back.on("array")
def max_pool_back_numpy(np: Engine, x: Array, y: Array, yd: Array, xd: Array,
                        **settings: Keyword) -> None:
    sums = np.zeros(xd.shape, sum_dtype(np, xd.dtype))
    for _, positions, points in regions(_array_pool_axes(x, **settings)):
        values, largest = x[positions], y[points]
        equal = (values == largest) | ((values != values) & (largest != largest))
        sums[positions] += np.where(equal, yd[points], 0)
    xd += sums.astype(xd.dtype)


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
    check_derivatives("derive_max_pool", {"x": x, "xd": xd, "y": y, "yd": yd}, (("xd", "x"),))
    settings = given_settings(batched, pool_shape=pool_shape, start=start, stride=stride,
                              anchor=anchor)
    result: Mat = pooling_back(x, y, yd, xd, **settings)
    return result


# the signature is derive_max_pool's
def _derive_max_pool_(self: Mat, x: Mat, y: Mat, yd: Mat, *, pool_shape: Setting,
                      start: Setting = None, stride: Setting = None,
                      anchor: Setting = None, batched: bool = False) -> Mat:
    return derive_max_pool(x, self, y, yd, pool_shape=pool_shape, start=start, stride=stride,
                           anchor=anchor, batched=batched)


bind("max_pool_", method_like(max_pool, _max_pool_, "max_pool_", "y"))
bind("derive_max_pool_",
     method_like(derive_max_pool, _derive_max_pool_, "derive_max_pool_", "xd"))
