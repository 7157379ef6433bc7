"""Convolution and pooling over any number of axes, with what back-propagation needs of them; one
channel, no bias.

Each public function checks and completes its settings; the operations behind them have the operand
that they write last.
"""

from __future__ import annotations

from typing import Any

from ..errors import DTypeError, ShapeError
from ..layout.sliding_window import Setting, WindowAxis, regions, setting, windows, with_batch
from ..layout.strided import Ints
from ..matrix.mat import Mat
from ..matrix.methods import bind
from ..support.dtypes import FLOATING, INTEGERS, REAL_TYPES
from ..support.native import compiled
from .blas_level23 import check_bool
from .accumulation import same_dtype
from .operation import InOut, Input, Output, named, op
from .overlap import check_disjoint

FLOATS = compiled(REAL_TYPES)
MOST_AXES = 8  # that the compiled kernels take, with the batch
ON_DEVICE = FLOATING + INTEGERS
LONGEST = 2**30  # axis that the device's kernels take


def _settings(batched: bool, **settings: object) -> dict[str, Any]:
    """What was given, in a form that plans can be remembered by."""
    found: dict[str, Any] = {name: setting(value, name) for name,
                             value in settings.items() if value is not None}
    if batched is not False:
        check_bool(batched=batched)
        found["batched"] = bool(batched)
    return found


def _axes(name: str, x: Mat, taps: Ints, y: Mat, start: Setting = None, stride: Setting = None,
          anchor: Setting = None,
          batched: bool = False) -> tuple[WindowAxis, ...]:
    """The axes of windows of shape `taps` over `x`; `ShapeError` unless `y` has a place for each
    point.
    """
    shape, batch = x.layout.shape, x.layout.shape[:1] if batched else ()
    if len(shape) != len(taps) + len(batch) or (batched and not batch):
        raise ShapeError(f"{name} with a window of shape {taps} and batched={batched} wants x of "
                         f"{len(taps) + bool(batched)} axes, got shape {shape}; batched=True takes "
                         "the first one as the batch")
    axes = windows(shape[len(batch):], taps, start, stride, anchor)
    wanted = (*batch, *(a.n for a in axes))
    if y.layout.shape != wanted:
        raise ShapeError(f"{name} of x {shape} with a window of shape {taps}, start {start or 0}, "
                         f"stride {stride or 1} has "
                         f"{wanted} points, the output has shape {y.shape}")
    return with_batch(axes, batch[0]) if batched else axes


def _real(name: str, *mats: Mat) -> None:
    """`DTypeError` unless all are of one dtype of real numbers."""
    dtype = mats[0].storage.dtype
    if dtype.kind not in "iuf" and dtype.name != "bfloat16":
        raise DTypeError(f"{name} is for real numbers, got {dtype}; convert with "
                         "x.astype('float64')")
    same_dtype(*mats)


def _few_axes(*mats: Mat) -> bool:
    return all(m.layout.ndim <= MOST_AXES for m in mats)


def _few_short_axes(*mats: Mat) -> bool:
    return _few_axes(*mats) and all(n <= LONGEST for m in mats for n in m.layout.shape)


def _wide(np: Any, dtype: Any) -> Any:
    """The dtype to add up in: 16 bits are too few."""
    return np.float32 if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype


def _like_batch(w: Any, batched: bool = False, **settings: Any) -> Any:
    return w[None] if batched else w


# Convolution


@op(method="", by_form=True, name="convolve")
def convolution(x: Input, w: Input, y: InOut, *, start: Setting = None, stride: Setting = None,
                anchor: Setting = None,
                batched: bool = False) -> None:
    """``y[i] += sum over p of w[p] * x[start + i * stride + p - anchor]``"""
    _real("convolve", x, w, y)
    _axes("convolve", x, w.layout.shape, y, start, stride, anchor, batched)
    check_disjoint("convolve", y, x, w)


@convolution.prepare("cuda", dtypes=ON_DEVICE, when=_few_short_axes)
@convolution.prepare("foreign", dtypes=FLOATS, when=_few_axes)
def _(cpu: Any, x: Mat, w: Mat, y: Mat, **settings: Any) -> Any:
    return cpu.prepare_convolve(_axes("convolve", x, w.shape, y, **settings), x, w, y)


@convolution.on("array")
def _(np: Any, x: Any, w: Any, y: Any, **settings: Any) -> None:
    sums, taps = np.zeros(y.shape, _wide(np, y.dtype)), _like_batch(w, **settings)
    for p, places, points in regions(_axes_of(x, w.shape, **settings)):
        sums[points] += taps[p] * x[places]
    y += sums.astype(y.dtype)


def _axes_of(x: Any, taps: Ints, start: Setting = None, stride: Setting = None,
             anchor: Setting = None,
             batched: bool = False) -> tuple[WindowAxis, ...]:
    """The axes for operands that have been checked."""
    axes = windows(x.shape[1:] if batched else x.shape, taps, start, stride, anchor)
    return with_batch(axes, x.shape[0]) if batched else axes


def convolve(x: Mat, w: Mat, y: Mat, *, start: Any = None, stride: Any = None, anchor: Any = None,
             batched: bool = False) -> Any:
    """``y[i] += sum over p of w[p] * x[start + i * stride + p - anchor]``; returns `y`, to which it
    adds.

    Outside of `x` counts as 0. ``start`` (default 0: a place in x), ``stride`` (1) and ``anchor``
    (0: a place in w) are integers, or one for each axis; along each, `y` has ``1 + (length - start
    - 1) // stride`` points. With ``batched`` the first axis of x and y is that of a batch. Real
    numbers of one dtype. Elsewhere this is called cross-correlation.

    >>> import mat
    >>> mat.convolve(mat.array([1, 2, 3, 4]), mat.array([1, 10]), mat.zeros(4))
    <Mat 4 F [21. 32. 43. 4.]>
    """
    return convolution(x, w, y, **_settings(batched, start=start, stride=stride, anchor=anchor))


def _convolve_(self: Mat, x: Mat, w: Mat, *, start: Any = None, stride: Any = None,
               anchor: Any = None,
               batched: bool = False) -> Any:
    return convolve(x, w, self, start=start, stride=stride, anchor=anchor, batched=batched)


# Its derivatives


@op(method="", by_form=True, name="derive_convolve")
def convolution_to_x(yd: Input, w: Input, xd: InOut, *, start: Setting = None,
                     stride: Setting = None,
                     anchor: Setting = None, batched: bool = False) -> None:
    """``xd += `` the derivative by x of the sum of ``yd * convolve(x, w)``"""
    _real("derive_convolve", yd, w, xd)
    _axes("derive_convolve", xd, w.layout.shape, yd, start, stride, anchor, batched)
    check_disjoint("derive_convolve", xd, yd, w)


@convolution_to_x.prepare("cuda", dtypes=ON_DEVICE, when=_few_short_axes)
@convolution_to_x.prepare("foreign", dtypes=FLOATS, when=_few_axes)
def _(cpu: Any, yd: Mat, w: Mat, xd: Mat, **settings: Any) -> Any:
    return cpu.prepare_to_x(_axes("derive_convolve", xd, w.shape, yd, **settings), yd, w, xd)


@convolution_to_x.on("array")
def _(np: Any, yd: Any, w: Any, xd: Any, **settings: Any) -> None:
    sums, taps = np.zeros(xd.shape, _wide(np, xd.dtype)), _like_batch(w, **settings)
    for p, places, points in regions(_axes_of(xd, w.shape, **settings)):
        sums[places] += taps[p] * yd[points]
    xd += sums.astype(xd.dtype)


@op(method="", by_form=True, name="derive_convolve")
def convolution_to_w(x: Input, yd: Input, wd: InOut, *, start: Setting = None,
                     stride: Setting = None,
                     anchor: Setting = None, batched: bool = False) -> None:
    """``wd += `` the derivative by w of the sum of ``yd * convolve(x, w)``"""
    _real("derive_convolve", x, yd, wd)
    _axes("derive_convolve", x, wd.layout.shape, yd, start, stride, anchor, batched)
    check_disjoint("derive_convolve", wd, x, yd)


@convolution_to_w.prepare("cuda", dtypes=ON_DEVICE, when=_few_short_axes)
@convolution_to_w.prepare("foreign", dtypes=FLOATS, when=_few_axes)
def _(cpu: Any, x: Mat, yd: Mat, wd: Mat, **settings: Any) -> Any:
    return cpu.prepare_to_w(_axes("derive_convolve", x, wd.shape, yd, **settings), x, yd, wd)


@convolution_to_w.on("array")
def _(np: Any, x: Any, yd: Any, wd: Any, **settings: Any) -> None:
    sums = np.zeros(wd.shape, _wide(np, wd.dtype))
    for p, places, points in regions(_axes_of(x, wd.shape, **settings)):
        sums[p[-wd.ndim:] if wd.ndim else ()] = np.sum(x[places] * yd[points], dtype=sums.dtype)
    wd += sums.astype(wd.dtype)


@op(method="", by_form=True, name="derive_convolve")
def convolution_back(x: Input, w: Input, yd: Input, xd: InOut, wd: InOut, *, start: Setting = None,
                     stride: Setting = None,
                     anchor: Setting = None, batched: bool = False) -> None:
    """Both derivatives of a convolution."""


@convolution_back.prepare("cuda", dtypes=ON_DEVICE, when=_few_short_axes)
@convolution_back.prepare("foreign", dtypes=FLOATS, when=_few_axes)
def _(cpu: Any, x: Mat, w: Mat, yd: Mat, xd: Mat, wd: Mat, **settings: Any) -> Any:
    axes = _axes("derive_convolve", x, w.shape, yd, **settings)
    to_x, to_w = cpu.prepare_to_x(axes, yd, w, xd), cpu.prepare_to_w(axes, x, yd, wd)
    for part in (to_x, to_w):
        if hasattr(part, "bind"):
            part.bind((0, 1, 2), ())

    def both(x: Any, w: Any, yd: Any, xd: Any, wd: Any) -> None:
        to_x(yd, w, xd)
        to_w(x, yd, wd)

    return both


@convolution_back.on("array")
def _(np: Any, x: Any, w: Any, yd: Any, xd: Any, wd: Any, **settings: Any) -> None:
    convolution_to_x.implementation_on("array").function(np, yd, w, xd, **settings)
    convolution_to_w.implementation_on("array").function(np, x, yd, wd, **settings)


def _check_back(name: str, mats: dict[str, Any], pairs: tuple[tuple[str, str], ...]) -> None:
    """`DTypeError` unless all are Mats, `ShapeError` unless a derivative has the shape of what it
    is by.

    `AliasError` where what is written overlaps any other: which operands share a storage is asked
    in each call.
    """
    for name_of, value in mats.items():
        if not isinstance(value, Mat):
            raise DTypeError(f"{name_of} of {name} must be a Mat, got {type(value).__name__}; "
                             "mat.from_numpy(a) wraps an array "
                             f"without copying, mat.array(obj) copies")
    _real(name, *mats.values())
    for derivative, by in pairs:
        out = mats[derivative]
        if out.layout.shape != mats[by].layout.shape:
            raise ShapeError(f"{name}: {derivative} must have the shape of {by}, {mats[by].shape}, "
                             f"got {out.shape}")
        check_disjoint(name, out, *(m for k, m in mats.items() if k != derivative))


def derive_convolve(x: Mat, xd: Mat | None, w: Mat, wd: Mat | None, yd: Mat, *, start: Any = None,
                    stride: Any = None,
                    anchor: Any = None, batched: bool = False) -> tuple[Mat | None, Mat | None]:
    """``xd += dF/dx`` and ``wd += dF/dw``, where `yd` is dF/dy and y the convolution of x with w;
    returns ``xd, wd``.

    The settings are those of `convolve`. None in the place of `xd` or `wd` leaves that derivative
    out. The result does not depend on how many threads compute it.

    >>> import mat
    >>> x, w, yd = mat.array([1, 2, 3]), mat.array([1, 10]), mat.array([1, 0, 0])
    >>> mat.derive_convolve(x, mat.zeros(3), w, mat.zeros(2), yd)
    (<Mat 3 F [1. 10. 0.]>, <Mat 2 F [1. 2.]>)
    """
    settings = _settings(batched, start=start, stride=stride, anchor=anchor)
    given = {"x": x, "xd": xd, "w": w, "wd": wd, "yd": yd}
    mats = {k: v for k, v in given.items() if v is not None or k not in ("xd", "wd")}
    _check_back("derive_convolve", mats, tuple((d, d[0]) for d in ("xd", "wd") if d in mats))
    _axes("derive_convolve", x, w.layout.shape, yd, **settings)
    if xd is not None and wd is not None:
        convolution_back(x, w, yd, xd, wd, **settings)
    elif xd is not None:
        convolution_to_x(yd, w, xd, **settings)
    elif wd is not None:
        convolution_to_w(x, yd, wd, **settings)
    return xd, wd


# Pooling


def _pool_axes(name: str, x: Any, y: Any, pool_shape: Setting = None, start: Setting = None,
               stride: Setting = None,
               anchor: Setting = None, batched: bool = False) -> tuple[WindowAxis, ...]:
    """The axes of windows of shape `pool_shape`, an integer meaning as many for all axes."""
    taps = (pool_shape,) * (x.ndim - batched) if isinstance(pool_shape, int) else pool_shape
    if taps is None or any(k < 1 for k in taps):
        raise ShapeError(f"{name} wants pool_shape, the shape of its windows, at least 1 in each "
                         f"axis, got {pool_shape}")
    if isinstance(x, Mat):
        return _axes(name, x, taps, y, start, stride, anchor, batched)
    return _axes_of(x, taps, start, stride, anchor, batched)


@op(method="", by_form=True, name="max_pool")
def pooling(x: Input, y: Output, *, pool_shape: Setting = None, start: Setting = None,
            stride: Setting = None,
            anchor: Setting = None, batched: bool = False) -> None:
    """``y[i] <- max over p of x[start + i * stride + p - anchor]``"""
    _real("max_pool", x, y)
    _pool_axes("max_pool", x, y, pool_shape, start, stride, anchor, batched)
    check_disjoint("max_pool", y, x)


@pooling.prepare("cuda", dtypes=ON_DEVICE, when=_few_short_axes)
@pooling.prepare("foreign", dtypes=FLOATS, when=_few_axes)
def _(cpu: Any, x: Mat, y: Mat, **settings: Any) -> Any:
    return cpu.prepare_pool(_pool_axes("max_pool", x, y, **settings), x, y)


@pooling.on("array")
def _(np: Any, x: Any, y: Any, **settings: Any) -> None:
    y[...] = np.iinfo(y.dtype).min if y.dtype.kind in "iu" else -np.inf
    for _, places, points in regions(_pool_axes("max_pool", x, y, **settings)):
        y[points] = np.maximum(y[points], x[places])


def max_pool(x: Mat, y: Mat, *, pool_shape: Any, start: Any = None, stride: Any = None,
             anchor: Any = None,
             batched: bool = False) -> Any:
    """``y[i] <- max over p of x[start + i * stride + p - anchor]``, p from windows of
    ``pool_shape``; returns `y`.

    What is outside of `x` is ignored; NaN if there is one. The other settings are those of
    `convolve`, and so is the shape of `y`: windows at the far edge are cut off by it, not left out.

    >>> import mat
    >>> mat.max_pool(mat.array([[1, 5, 2], [0, 3, 4]]), mat.empty(1, 2), pool_shape=2, stride=2)
    <Mat 1x2 F [[5. 4.]]>
    """
    return pooling(x, y, **_settings(batched, pool_shape=pool_shape, start=start, stride=stride,
                                     anchor=anchor))


def _max_pool_(self: Mat, x: Mat, *, pool_shape: Any, start: Any = None, stride: Any = None,
               anchor: Any = None,
               batched: bool = False) -> Any:
    return max_pool(x, self, pool_shape=pool_shape, start=start, stride=stride, anchor=anchor,
                    batched=batched)


@op(method="", by_form=True, name="derive_max_pool")
def pooling_back(x: Input, y: Input, yd: Input, xd: InOut, *, pool_shape: Setting = None,
                 start: Setting = None,
                 stride: Setting = None, anchor: Setting = None, batched: bool = False) -> None:
    """``xd += yd`` wherever x is the largest of a window"""
    if yd.layout.shape != y.layout.shape:
        raise ShapeError(f"derive_max_pool: yd must have the shape of y, {y.shape}, got {yd.shape}")
    _pool_axes("derive_max_pool", x, y, pool_shape, start, stride, anchor, batched)


@pooling_back.prepare("cuda", dtypes=ON_DEVICE, when=_few_short_axes)
@pooling_back.prepare("foreign", dtypes=FLOATS, when=_few_axes)
def _(cpu: Any, x: Mat, y: Mat, yd: Mat, xd: Mat, **settings: Any) -> Any:
    return cpu.prepare_pool_back(_pool_axes("derive_max_pool", x, y, **settings), x, y, yd, xd)


@pooling_back.on("array")
def _(np: Any, x: Any, y: Any, yd: Any, xd: Any, **settings: Any) -> None:
    sums = np.zeros(xd.shape, _wide(np, xd.dtype))
    for _, places, points in regions(_pool_axes("derive_max_pool", x, y, **settings)):
        here, there = x[places], y[points]
        sums[places] += np.where((here == there) | ((here != here) & (there != there)), yd[points],
                                 0)
    xd += sums.astype(xd.dtype)


def derive_max_pool(x: Mat, xd: Mat, y: Mat, yd: Mat, *, pool_shape: Any, start: Any = None,
                    stride: Any = None,
                    anchor: Any = None, batched: bool = False) -> Any:
    """``xd += dF/dx``, where `yd` is dF/dy and `y` what ``max_pool`` with the same settings gave;
    returns `xd`.

    Every place that holds the largest element of a window gets the gradient of that window: at ties
    all of them do. Where the largest is NaN, it goes to those that are.

    >>> import mat
    >>> x, y = mat.array([1, 5, 5, 2]), mat.array([5, 5])
    >>> mat.derive_max_pool(x, mat.zeros(4), y, mat.array([1, 10]), pool_shape=2, stride=2)
    <Mat 4 F [0. 1. 10. 0.]>
    """
    _check_back("derive_max_pool", {"x": x, "xd": xd, "y": y, "yd": yd}, (("xd", "x"),))
    return pooling_back(x, y, yd, xd, **_settings(batched, pool_shape=pool_shape, start=start,
                                                  stride=stride, anchor=anchor))


def _derive_max_pool_(self: Mat, x: Mat, y: Mat, yd: Mat, *, pool_shape: Any, start: Any = None,
                      stride: Any = None,
                      anchor: Any = None, batched: bool = False) -> Any:
    return derive_max_pool(x, self, y, yd, pool_shape=pool_shape, start=start, stride=stride,
                           anchor=anchor, batched=batched)


bind("convolve_",
     named(_convolve_, "convolve_", f"{convolve.__doc__}\n\nAs a method: `y` is self."))
bind("max_pool_",
     named(_max_pool_, "max_pool_", f"{max_pool.__doc__}\n\nAs a method: `y` is self."))
bind("derive_max_pool_", named(_derive_max_pool_, "derive_max_pool_",
                               f"{derive_max_pool.__doc__}\n\nAs a method: `xd` is self."))
