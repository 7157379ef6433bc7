"""Convolution over any number of axes, one channel, no bias; pooling by the largest or the average
of each window, of images with channels too; and their derivatives.

The operations have the axes of their windows as a setting, and the operand that they write last;
the public functions make the axes of the settings that users give.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    windows,
    with_batch,
)
from ...matrix.base import form_of_result
from ...matrix.mat import Mat
from ...matrix.methods import bind
from ...support.dtypes import FLOATING, INTEGERS, REAL_TYPES
from ...support.native import compiled
from ...support.types import (
    Arguments,
    Array,
    DType,
    DTypeLike,
    Engine,
    Function,
    Keywords,
    Operand,
    Presented,
)
from ...support.unbound import documented
from ..engine.declaration import as_method
from ..engine.functions import check_is_mat
from ..engine.operands import same_dtype
from ..engine.operation import InOut, Input, Op, Output, op
from ..linear.blas_checks import check_bool
from ..tiles.overlap import check_disjoint
from ..tiles.signatures import Span, TileGrid, tiles_over
from ..tiles.tile import Cuttable, Cutter, Tile

FLOATS = compiled(REAL_TYPES)
MOST_AXES = 8  # that the compiled kernels take, with the batch
ON_DEVICE = FLOATING + INTEGERS
LONGEST = 2**30  # axis that the device's kernels take
MOST_ELEMENTS = 2**34  # with which the points of all but two axes of two or more fit into 32 bits


# the parameters are operands and the settings of `convolve`
def window_axes(name: str, x: Mat, w: Operand, y: Mat, start: Setting, stride: Setting,
                anchor: Setting, batched: bool, pools: bool = False) -> Windows:
    """Return the axes of windows of the shape of `w` over `x`, with the batch, after checks."""
    try:
        shape, of_y = x.layout.shape, y.layout.shape
        taps = setting(w, "pool_shape") if pools else w.layout.shape
    except AttributeError:
        check_mats(name, {"x": x, "y": y} if pools else {"x": x, "w": w, "y": y})
        raise
    if type(batched) is not bool:
        check_bool(batched=batched)
    return _axes(name, shape, taps, of_y, setting(start, "start"), setting(stride, "stride"),
                 setting(anchor, "anchor"), bool(batched), pools)


# the parameters are those of `window_axes`
@lru_cache
def _axes(name: str, x: Ints, taps: Setting, y: Ints, start: Setting, stride: Setting,
          anchor: Setting, batched: bool, pools: bool) -> Windows:
    if isinstance(taps, int):
        taps = (taps,) * (len(x) - batched)
    if taps is None or (pools and any(k < 1 for k in taps)):
        raise ShapeError(f"{name} requires pool_shape, the shape of its windows, at least 1 in "
                         f"each axis, got {taps}")
    if len(x) != len(taps) + batched:
        raise ShapeError(f"{name} with a window of shape {taps} and batched={batched} requires x "
                         f"of {len(taps) + batched} axes, got shape {x}; batched=True takes the "
                         "first one as the batch")
    axes = with_batch(windows(x[batched:], taps, start, stride, anchor), *x[:batched])
    if y != shape_of(axes):
        raise ShapeError(f"{name} of x {x} with a window of shape {taps}, start {start or 0}, "
                         f"stride {stride or 1} has {shape_of(axes)} points, the output has shape "
                         f"{y}")
    return axes


def shape_of(axes: Windows) -> Ints:
    """Return the number of points of each axis."""
    return tuple(a.n for a in axes)


def check_mats(name: str, values: dict[str, Mat]) -> None:
    """Raise `DTypeError` unless all are Mats."""
    for k, value in values.items():
        check_is_mat(value, f"{k} of {name}")


def check_real(name: str, *mats: Mat) -> None:
    """Raise `DTypeError` unless all are of one dtype of real numbers."""
    dtype = mats[0].element_type
    if dtype.char not in ON_DEVICE:
        raise DTypeError(f"{name} is for real numbers, got {dtype}; convert with "
                         "x.astype('float64')")
    same_dtype(*mats)


def few_axes(*mats: Mat) -> bool:
    return all(m.layout.ndim <= MOST_AXES for m in mats)


def few_short_axes(*mats: Mat) -> bool:
    return few_axes(*mats) and all(max(m.layout.shape, default=0) <= LONGEST
                                   and m.layout.size < MOST_ELEMENTS for m in mats)


def sum_dtype(np: Engine, dtype: DType) -> DTypeLike:
    """Return the dtype to add up in: 16-bit floats are too short."""
    return np.float32 if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype


def _with_axes(w: Array, axes: Windows) -> Array:
    return w.reshape((1,) * (len(axes) - w.ndim) + w.shape)


# Tiles: blocks of windows, with the part of the input that these see


class WindowGrid(TileGrid):
    """The grid of the windows of a call along `axes`, those of a batch with windows of one element.

    `inputs` are the positions of operands that windows see, `outputs` of those that have an element
    for each window. The others stay whole.
    """

    def __init__(self, axes: Windows, inputs: Ints, outputs: Ints, args: Arguments) -> None:
        every = tuple(range(len(axes)))
        others = {k: (None,) * x.ndim for k, x in enumerate(args)
                  if isinstance(x, Mat) and k not in (*inputs, *outputs)}
        super().__init__(tuple(a.n for a in axes), {**dict.fromkeys(outputs, every), **others},
                         args)
        self.axes = axes
        self.inputs = inputs
        self.spans += [Span(args[k], every, axes) for k in inputs]

    def block(self, window: tuple[slice, ...], kwargs: Keywords) -> tuple[Arguments, Keywords]:
        """Return the arguments with views of a block of windows, and the axes of the block."""
        found = list(self.arguments(window))
        parts = [a.part(part.start, part.stop) for a, part in zip(self.axes, window, strict=True)]
        for k in self.inputs:
            found[k] = self.args[k].over(self.args[k].layout.part(tuple(seen for seen, _ in parts)))
        return tuple(found), {"axes": tuple(axis for _, axis in parts)}


def by_windows(operation: Cuttable, inputs: Ints, outputs: Ints) -> Cutter:
    """Return the cutter of an operation whose setting `axes` are those of its windows."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        axes: Windows = kwargs["axes"]
        if any(a.n == 0 or a.k == 0 for a in axes):  # nothing is written
            return
        yield from tiles_over(operation, WindowGrid(axes, inputs, outputs, args), kwargs, budget)

    return cut


def over_windows(operation: Op, inputs: Ints, outputs: Ints, prepare: Function) -> None:
    """Register the cutter of an operation on windows and its kernels, which `prepare` makes of an
    engine, the operands and `axes`. Windows see the operands at `inputs`; those at `outputs` have
    an element for each.
    """
    operation.cut_by(by_windows(operation, inputs, outputs))
    operation.prepare("cuda", dtypes=ON_DEVICE, when=few_short_axes)(prepare)
    operation.prepare("foreign", dtypes=FLOATS, when=few_axes)(prepare)


# Convolution


@op(method="", by_form=True, name="convolve")
def convolution(x: Input, w: Input, y: InOut, *, axes: Windows) -> None:
    """Add to y, for each point, the sum over the taps of w times the elements under them."""
    check_real("convolve", x, w, y)
    check_disjoint("convolve", y, x, w)


over_windows(convolution, (0,), (2,),
             lambda engine, *mats, axes: engine.prepare_convolve(axes, *mats))


@convolution.on("array")
def convolve_numpy(np: Engine, x: Array, w: Array, y: Array, *, axes: Windows) -> None:
    sums, taps = np.zeros(y.shape, sum_dtype(np, y.dtype)), _with_axes(w, axes)
    for p, positions, points in regions(axes):
        sums[points] += taps[p] * x[positions]
    y += sums.astype(y.dtype)


def convolve(x: Mat, w: Mat, y: Mat, *, start: Setting = None, stride: Setting = None,
             anchor: Setting = None, batched: bool = False) -> Mat:  # the signature is MGL-MAT's
    """Add the convolution of `x` with `w` to `y`, and return `y`.

    ``y[i] += sum over p of w[p] * x[start + i * stride + p - anchor]``, where elements outside of
    `x` count as 0. Elsewhere this is called cross-correlation.

    Parameters
    ----------
    x, w, y : Mat
        Input, taps and output, of one dtype of real numbers. Along each axis, `y` has
        ``1 + (length - start - 1) // stride`` elements.
    start : int or tuple of int, optional
        Element of `x` at which the first window is applied, one for all axes or each; default 0.
    stride : int or tuple of int, optional
        Step from one window to the next, default 1.
    anchor : int or tuple of int, optional
        Element of `w` that is placed there, default 0.
    batched : bool, optional
        Whether the first axis of `x` and `y` is that of a batch.

    Returns
    -------
    Mat
        `y`.

    Examples
    --------
    >>> import mat
    >>> mat.nn.convolve(mat.array([1.0, 2, 3, 4]), mat.array([1.0, 10]), mat.zeros(4))
    <Mat 4 F [21. 32. 43. 4.]>
    """
    axes = window_axes("convolve", x, w, y, start, stride, anchor, batched)
    return convolution(x, w, y, axes=axes)


# Its derivatives


@op(method="", by_form=True, name="derive_convolve")
def convolution_to_x(yd: Input, w: Input, xd: InOut, *, axes: Windows) -> None:
    """Add to `xd` the derivative by x of the sum of ``yd * convolve(x, w)``."""
    check_real("derive_convolve", yd, w, xd)
    check_disjoint("derive_convolve", xd, yd, w)


over_windows(convolution_to_x, (2,), (0,),
             lambda engine, *mats, axes: engine.prepare_to_x(axes, *mats))


@convolution_to_x.on("array")
def convolve_to_x_numpy(np: Engine, yd: Array, w: Array, xd: Array, *, axes: Windows) -> None:
    sums, taps = np.zeros(xd.shape, sum_dtype(np, xd.dtype)), _with_axes(w, axes)
    for p, positions, points in regions(axes):
        sums[positions] += taps[p] * yd[points]
    xd += sums.astype(xd.dtype)


@op(method="", by_form=True, name="derive_convolve")
def convolution_to_w(x: Input, yd: Input, wd: InOut, *, axes: Windows) -> None:
    """Add to `wd` the derivative by w of the sum of ``yd * convolve(x, w)``."""
    check_real("derive_convolve", x, yd, wd)
    check_disjoint("derive_convolve", wd, x, yd)


over_windows(convolution_to_w, (0,), (1,),
             lambda engine, *mats, axes: engine.prepare_to_w(axes, *mats))


@convolution_to_w.on("array")
def convolve_to_w_numpy(np: Engine, x: Array, yd: Array, wd: Array, *, axes: Windows) -> None:
    sums = np.zeros(wd.shape, sum_dtype(np, wd.dtype))
    for p, positions, points in regions(axes):
        sums[p[-wd.ndim:] if wd.ndim else ()] = np.sum(x[positions] * yd[points], dtype=sums.dtype)
    wd += sums.astype(wd.dtype)


@op(method="", by_form=True, name="derive_convolve")
def convolution_back(x: Input, w: Input, yd: Input, xd: InOut, wd: InOut, *, axes: Windows) -> None:
    """Add both derivatives of a convolution to `xd` and `wd`; `derive_convolve` has checked."""


# the signature is the operation's
def _prepare_back(engine: Engine, x: Mat, w: Mat, yd: Mat, xd: Mat, wd: Mat, *,
                  axes: Windows) -> Function:
    to_x, to_w = engine.prepare_to_x(axes, yd, w, xd), engine.prepare_to_w(axes, x, yd, wd)
    for part in (to_x, to_w):
        if hasattr(part, "bind"):
            part.bind((0, 1, 2), ())

    def both(x: Presented, w: Presented, yd: Presented, xd: Presented, wd: Presented) -> None:
        to_x(yd, w, xd)
        to_w(x, yd, wd)

    return both


over_windows(convolution_back, (0, 3), (2,), _prepare_back)


# the signature is the operation's
@convolution_back.on("array")
def convolve_back_numpy(np: Engine, x: Array, w: Array, yd: Array, xd: Array, wd: Array, *,
                        axes: Windows) -> None:
    convolution_to_x.implementation_on("array").function(np, yd, w, xd, axes=axes)
    convolution_to_w.implementation_on("array").function(np, x, yd, wd, axes=axes)


def check_derivatives(name: str, mats: dict[str, Mat], pairs: Iterable[tuple[str, str]]) -> None:
    """Raise unless all are real Mats, and derivatives fit their operands and are apart."""
    check_mats(name, mats)
    check_real(name, *mats.values())
    for derivative, by in pairs:
        out = mats[derivative]
        if out.layout.shape != mats[by].layout.shape:
            raise ShapeError(f"{name}: {derivative} must have the shape of {by}, {mats[by].shape}, "
                             f"got {out.shape}")
        check_disjoint(name, out, *(m for k, m in mats.items() if k != derivative))


def check_accumulators(name: str, x: Mat, xd: Mat | None, w: Mat, wd: Mat | None, yd: Mat) -> None:
    """Check the derivatives by x and w as `check_derivatives` does; None leaves one out."""
    given = {"x": x, "xd": xd, "w": w, "wd": wd, "yd": yd}
    mats: Keywords = {k: v for k, v in given.items() if v is not None or k not in ("xd", "wd")}
    check_derivatives(name, mats, [(d, d[0]) for d in ("xd", "wd") if d in mats])


DERIVATIVES = """Add the derivatives of a convolution to `xd` and `wd`, and return both.

Parameters
----------
x, w : Mat
    {operands} of ``{call}``.
xd, wd : Mat or None
    Accumulators of dF/dx and dF/dw, of the shapes of `x` and `w`; None leaves one out.
yd : Mat
    dF/dy, of the shape of {y}.
{settings} : optional
    The settings of `{function}`.

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
>>> {example}
"""


# the signature is MGL-MAT's
@documented(DERIVATIVES, function="convolve", operands="Input and taps", call="convolve(x, w, y)",
            y="y", settings="start, stride, anchor, batched", example="""\
x, w, yd = mat.array([1.0, 2, 3]), mat.array([1.0, 10]), mat.array([1.0, 0, 0])
>>> mat.nn.derive_convolve(x, mat.zeros(3), w, mat.zeros(2), yd)
(<Mat 3 F [1. 10. 0.]>, <Mat 2 F [1. 2.]>)""")
def derive_convolve(x: Mat, xd: Mat | None, w: Mat, wd: Mat | None, yd: Mat, *,
                    start: Setting = None, stride: Setting = None, anchor: Setting = None,
                    batched: bool = False) -> tuple[Mat | None, Mat | None]:
    check_accumulators("derive_convolve", x, xd, w, wd, yd)
    axes = window_axes("derive_convolve", x, w, yd, start, stride, anchor, batched)
    if xd is not None and wd is not None:
        convolution_back(x, w, yd, xd, wd, axes=axes)
    elif xd is not None:
        convolution_to_x(yd, w, xd, axes=axes)
    elif wd is not None:
        convolution_to_w(x, yd, wd, axes=axes)
    return xd, wd


bind("convolve_", as_method(convolve, "convolve_", "y"))


# Pooling. Both ways have the same operations, of the axes of the windows: those of images with
# channels begin with two for images and channels. An average is a convolution with equal taps


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


_DERIVATIVE = """Add the derivative of {pooling} to `xd`, and return `xd`.

Every element that is the largest of a window gets the gradient of that window: at ties all of
them do. {more}

Parameters
----------
x, y : Mat
    Input and output of ``{call}``.
xd : Mat
    Accumulator of dF/dx, of the shape of `x`.
yd : Mat
    dF/dy, of the shape of `y`.
{settings} : optional
    The settings of `{function}`.

Returns
-------
Mat
    `xd`.

Examples
--------
>>> import mat
>>> {example}
"""


@documented(_DERIVATIVE, pooling="max pooling", function="max_pool", call="max_pool(x, y, ...)",
            more="Where the largest is NaN, the elements that are NaN get it.",
            settings="pool_shape, start, stride, anchor, batched", example="""\
x, y = mat.array([1.0, 5, 5, 2]), mat.array([5.0, 5])
>>> mat.nn.derive_max_pool(x, mat.zeros(4), y, mat.array([1.0, 10]), pool_shape=2, stride=2)
<Mat 4 F [0. 1. 10. 0.]>""")
def derive_max_pool(x: Mat, xd: Mat, y: Mat, yd: Mat, *, pool_shape: Setting,
                    start: Setting = None, stride: Setting = None,
                    anchor: Setting = None,
                    batched: bool = False) -> Mat:  # the signature is MGL-MAT's
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
@documented(_DERIVATIVE, pooling="pooling", function="pool", call="pool(x, window, ...)",
            more="Of an average, all elements of a window get an equal share.",
            settings="window, kind, stride, padding", example="""\
x, xd = mat.array([[[1.0, 5, 2, 0]]]), mat.zeros(1, 1, 4)
>>> mat.nn.derive_pool(x, xd, mat.nn.pool(x, 2), mat.array([[[1.0, 10]]]), 2).tolist()
[[[0.0, 1.0, 10.0, 0.0]]]""")
def derive_pool(x: Mat, xd: Mat, y: Mat, yd: Mat, window: Setting, *, kind: str = "max",
                stride: Setting = None, padding: Setting = None) -> Mat:
    _check_back("derive_pool", x, xd, y, yd)
    axes = _image_axes("derive_pool", x, y, window, kind, stride, padding)
    if kind == "max":
        return pooling_back(x, y, yd, xd, axes=axes)
    return convolution_to_x(yd, _taps(x, axes), xd, axes=axes)
