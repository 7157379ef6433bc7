"""Numbers at equal distances or ratios: `arange`, `linspace`, `logspace` and `geomspace`."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import TypeGuard

import numpy as np

from ..core.observers import ELEMENT
from ..devices.device import DeviceLike
from ..errors import AxisError, DTypeError, ShapeError, StepError
from ..layout.shapes import LARGEST, MOST_ELEMENTS, as_shape, integer
from ..support.dtypes import as_dtype, becomes_array, check_number, check_operand, is_supported
from ..support.options import FLOAT64, default_float
from ..support.types import Array, ArrayLike, DType, DTypeLike, Function, Nested, Number
from ..support.unbound import documented, unbound
from .creation import adopted, copy_of_array, placed, range_of_few
from .filled import has_its_own_class
from .mat import Mat
from .nested import as_plain

_PLAIN: set[object] = {bool, int, float, type(None)}
_FAR = 1e300  # of numbers whose differences are finite
_ARRAYS = (Mat, np.ndarray)
_FEW = 4096  # bytes of arrays that are copied to memory of ours rather than adopted
_SEQUENCES = (Mat, np.ndarray, list, tuple)


@unbound
def arange(start: Number = None, stop: Number = None, step: Number = None,
           dtype: DTypeLike = None, *, device: DeviceLike = None, like: object = None) -> Mat:
    """Return evenly spaced numbers in a half-open interval.

    Parameters
    ----------
    start : number
        The first number. If it is the only argument, it is `stop`, and the first number is 0.
    stop : number, optional
        The end of the interval, which is not included.
    step : number
        The difference of consecutive numbers, by default 1; it may be negative.
    dtype : dtype, str or type, optional
        The element type; by default ``int64`` if all arguments are integers, otherwise
        ``mat.settings.dtype``.
    device : str or Device, optional
        ``"cpu"``, or the device in use (default).
    like : object, optional
        Has no effect: the result is a Mat.

    Returns
    -------
    Mat
        A new vector.

    Raises
    ------
    ShapeError
        If `step` is 0, a number is not finite, or there are too many.

    Examples
    --------
    >>> import mat
    >>> mat.arange(4)
    <Mat 4 int64 A [0 1 2 3]>
    >>> mat.arange(0, 1, 0.25)
    <Mat 4 A [0. 0.25 0.5 0.75]>
    """
    found = None if dtype is not None else range_of_few(start, stop, step)
    if found is not None:
        return found if device is None else placed(found, device)
    return placed(_counted_by_numpy(start, stop, step, dtype), device)


def _counted_by_numpy(start: Number, stop: Number, step: Number, dtype: DTypeLike) -> Mat:
    """Return the evenly spaced numbers of `arange`, computed by NumPy."""
    if start is None and stop is None:
        raise DTypeError("arange requires the end of the interval: mat.arange(3), or a begin and "
                         "an end: mat.arange(1, 3)")
    numbers = start, stop, step
    alone = stop is None and step is None and type(start) is float
    if not alone and not _PLAIN.issuperset(map(type, numbers)):
        numbers = _number(start), _number(stop), _number(step)
    if dtype is not None:
        kind: DType | None = as_dtype(dtype)
    else:
        kind = default_float() if alone else _kind(numbers)
    found = _counted(numbers[0], numbers[1], numbers[2], kind)
    made = copy_of_array(found, "C") if found.nbytes <= _FEW else None  # which is faster
    return adopted(found) if made is None else made


def _number(value: Number) -> Number:
    """Return a number, given directly or as an array or a Mat without axes."""
    return _read(value)[()] if isinstance(value, _ARRAYS) else value


def _kind(numbers: tuple[Number, ...]) -> DType | None:
    """Return the default dtype for Python's numbers with a float among them; None for NumPy's."""
    kinds = set(map(type, numbers))
    return default_float() if float in kinds and kinds <= _PLAIN else None


def _counted(start: Number, stop: Number, step: Number, dtype: DType | None) -> Array:
    """Return ``numpy.arange``, whose errors become ours."""
    count: Function = np.arange
    found: Array
    try:
        if stop is None and step is None:
            found = count(start, dtype=dtype)
        else:
            found = count(0 if start is None else start, stop, step, dtype)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, MemoryError) as error:
        start, step = 0 if start is None else start, 1 if step is None else step
        _check_interval(start, stop, step)
        if isinstance(error, MemoryError):
            raise
        first, last = (0, start) if stop is None else (start, stop)
        raise DTypeError(f"arange from {first!r} to {last!r} in steps of {step!r}: "
                         f"{error}") from None
    if not is_supported(found.dtype):
        as_dtype(found.dtype)  # which says what there is
    return found


def _check_interval(start: Number, stop: Number, step: Number) -> None:
    """Raise our error if `arange` cannot count from `start` to `stop`."""
    first, last = (0, start) if stop is None else (start, stop)
    for name, value in (("start", first), ("stop", last), ("step", step)):
        check_number(value, np.dtype(np.float64), name)
        if not math.isfinite(value):
            raise ShapeError(f"arange cannot count with {name} = {value!r}")
    if step == 0:
        raise StepError("arange cannot count in steps of 0")
    length = (float(last) - float(first)) / float(step)
    if length > MOST_ELEMENTS:
        raise ShapeError(f"arange from {first!r} to {last!r} in steps of {step!r} has more "
                         "elements than 64 bits can count the bytes of")


_SPACED = """Return {numbers} from `start` to `stop`.

Parameters
----------
start, stop : number or array_like
    {ends}.
num : int
    The number of elements.
endpoint : bool
    Whether {last} is the last element.{more}
dtype : dtype, str or type, optional
    The element type; by default ``mat.settings.dtype``, ``complex128`` for complex numbers,
    or as NumPy promotes those of arrays.
axis : int
    Where the arguments have axes: the position of the new one.{device}

Returns
-------
Mat
    A vector, or a Mat with the axes of the arguments and the new one{or_pair}.

Examples
--------
>>> import mat
>>> mat.{example}
"""


@documented(_SPACED, numbers="numbers at equal distances", ends="The ends of the interval", more="""
retstep : bool
    Whether the distance is returned, too.""", device="""
device : str or Device, optional
    ``"cpu"``, or the device in use (default).""", last="`stop` itself",
            or_pair="; with `retstep`, a\n    pair of it and the distance",
            example="linspace(0, 1, 5)\n<Mat 5 A [0. 0.25 0.5 0.75 1.]>")  # NumPy's parameters
def linspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True,
             retstep: bool = False, dtype: DTypeLike = None, axis: int = 0, *,
             device: DeviceLike = None) -> Mat | tuple[Mat, Number]:
    few = None if dtype is not None or retstep else _between(start, stop, num, bool(endpoint))
    if few is not None and type(axis) is int and -2 < axis < 1:
        return placed(_as_mat(few, None, (start, stop)), device)
    found = _spaced(np.linspace, (start, stop), num, dtype, endpoint=bool(endpoint),
                    retstep=bool(retstep), axis=axis)
    if not retstep:
        return placed(found, device)
    made, step = found
    return placed(made, device), step


@documented(_SPACED, numbers="powers of `base` whose exponents are at equal distances", more="""
base : number or array_like
    What is raised to these powers.""", ends="The first and the last exponent", device="",
            last="the power of `stop`", or_pair="",
            example="logspace(0, 3, 4)\n<Mat 4 A [1. 10. 100. 1000.]>")  # NumPy's parameters
def logspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True,
             base: ArrayLike = 10.0, dtype: DTypeLike = None, axis: int = 0) -> Mat:
    few = _between(start, stop, num, bool(endpoint)) if dtype is None and not axis else None
    if few is not None and _is_moderate(base):
        with np.errstate(all="ignore"):
            return _as_mat(np.power(base, few), None, (start, stop))
    return _spaced(np.logspace, (start, stop), num, dtype, endpoint=bool(endpoint),
                   base=_plain(base, "base"), axis=axis)


@documented(_SPACED, numbers="numbers at equal ratios", ends="The ends of the interval, not 0",
            last="`stop` itself", more="", device="", or_pair="",
            example="geomspace(1, 8, 4)\n<Mat 4 A [1. 2. 4. 8.]>")
def geomspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True,
              dtype: DTypeLike = None, axis: int = 0) -> Mat:
    return _spaced(np.geomspace, (start, stop), num, dtype, endpoint=bool(endpoint), axis=axis)


def _between(start: ArrayLike, stop: ArrayLike, num: int, endpoint: bool) -> Array | None:
    """Return the numbers of ``numpy.linspace`` for two of Python's, computed in the same way; None
    where that has special cases, or warns.
    """
    if type(num) is not int or not 1 < num <= _FEW or not (
            _is_moderate(start) and _is_moderate(stop)):
        return None
    first, last = float(start), float(stop)
    step = (last - first) / (num - endpoint)
    if not step:
        return None
    found = np.arange(num, dtype=FLOAT64)
    found *= step
    found += first
    if endpoint:
        found[-1] = last
    return found


def _is_moderate(value: ArrayLike) -> TypeGuard[float]:
    """Return whether a value is one of Python's numbers, and far from infinity."""
    return (type(value) is float or type(value) is int) and -_FAR < value < _FAR


def _spaced(function: Function, ends: tuple[Nested, Nested], num: int, dtype: DTypeLike,
            **settings: Nested) -> Nested:
    """Return the result of NumPy's function as a Mat; a pair stays one."""
    if any(map(has_its_own_class, ends)):
        return function(*ends, num, dtype=dtype, **settings)
    start, stop = (_plain(end, name) for end, name in zip(ends, ("start", "stop"), strict=True))
    (length,) = as_shape(integer(num, "num"))
    kind = None if dtype is None else as_dtype(dtype)
    settings["axis"] = integer(settings["axis"], "axis")
    try:
        with np.errstate(all="ignore"):
            found = function(start, stop, length, dtype=kind, **settings)
    except np.exceptions.AxisError as error:
        raise AxisError(f"{function.__name__}: {error}") from None
    except ValueError as error:
        raise ShapeError(f"{function.__name__}: {error}") from None
    if isinstance(found, tuple):
        step = found[1]
        return _as_mat(found[0], kind, ends), _as_mat(step, None, ends) if np.ndim(step) else step
    return _as_mat(found, kind, ends)


def _as_mat(a: Array, dtype: DType | None, ends: tuple[Nested, Nested]) -> Mat:
    if dtype is None and a.dtype is FLOAT64 and all(type(end) in _PLAIN for end in ends):
        a = a.astype(default_float(), copy=False)
    return adopted(a)


def _read(value: Nested) -> Array:
    """Return the elements of array-likes; for those of a Mat the host waits."""
    with value._waits(ELEMENT) if isinstance(value, Mat) else nullcontext():
        return as_plain(value)


def _plain(value: Nested, name: str) -> Nested:
    """Return numbers as NumPy takes them."""
    if isinstance(value, _SEQUENCES) or becomes_array(value):
        return _read(value)
    check_operand(value, FLOAT64, name)
    # NumPy computes with Python's integers where int64 cannot hold them
    return float(value) if isinstance(value, int) and abs(value) > LARGEST else value
