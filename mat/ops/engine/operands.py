"""Operands of operators and functions other than Mats: arrays, sequences and numbers; and those of
operations that accumulate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...errors import DTypeError, ShapeError
from ...matrix.arrays import of_sequence
from ...matrix.creation import adopted, from_numpy, small_copied
from ...matrix.delegate import delegate
from ...matrix.mat import Mat
from ...matrix.nested import inferred
from ...support.dtypes import (
    SUPPORTED,
    as_dtype,
    becomes_array,
    check_number,
    check_operand,
    conversion,
    is_integer,
    is_masked,
)
from ...support.options import FLOAT32, current
from ...support.types import Arguments, Array, Engine, Function, Keywords, Number, Operand
from .by_numpy import ufunc_by_numpy

_NUMBERS = (int, float, complex, np.number, np.bool_)
_SCALARS = (int, float, complex, np.generic)
_WEAK = frozenset((bool, int, float, complex))  # numbers that adapt to the other operands
_mat, _array, _file_array = Mat, np.ndarray, np.memmap


def as_operand(value: object, name: str) -> Operand:
    """Return a Mat or a number as it is, a small array copied, a large one wrapped, other sequences
    converted.
    """
    if isinstance(value, Mat):
        return value
    if isinstance(value, np.ndarray):
        copied = small_copied(value)
        return of_array(value) if copied is value else copied
    if isinstance(value, list | tuple):
        return _of_sequence(value, name)
    if becomes_array(value):
        return as_operand(np.asarray(value), name)
    check_operand(value, np.dtype(np.float64), name)
    return value


def of_array(a: Array) -> Mat:
    """Return a Mat over the memory of `a`, or of a copy that has elements as Mats have them."""
    if a.flags.aligned and a.dtype.isnative:
        return from_numpy(a)
    return adopted(a.astype(as_dtype(a.dtype.newbyteorder("="))))


def as_mat(value: object, name: str) -> Mat:
    """Return a Mat as it is, an array wrapped, sequences converted, a number without axes."""
    if type(value) is _mat:
        return value
    if isinstance(value, np.ndarray):
        return of_array(value)
    found = as_operand(value, name)
    return found if isinstance(found, Mat) else from_numpy(np.asarray(found))


def as_mats(values: Iterable[object], name: str) -> list[Mat]:
    """Return the values as Mats; Python's numbers adapt to the dtypes of the others."""
    found: list[Operand] = [v if type(v) in _WEAK else as_mat(v, name) for v in values]
    if any(type(v) in _WEAK for v in found):
        kind = np.result_type(*(v.dtype if isinstance(v, Mat) else v for v in found))
        for v in found:
            if not isinstance(v, Mat):
                check_number(v, kind, name)
        found = [v if isinstance(v, Mat) else from_numpy(np.asarray(v, kind)) for v in found]
    return found


def _of_sequence(value: Sequence[object], name: str) -> Mat:
    found = of_sequence(value, None)
    if found is not None:
        return found
    try:
        a = np.asarray(value)
    except (ValueError, RecursionError):
        raise ShapeError(f"{name} is a sequence of parts of different lengths: "
                         f"{shortened(value)}; make them of one length") from None
    if a.dtype.name not in SUPPORTED:
        raise DTypeError(f"{name} has elements that are not numbers: {shortened(value)}")
    return from_numpy(a.astype(inferred(value, a), copy=False))


def shortened(value: object) -> str:
    """Return the value in so many letters as a message can have."""
    try:
        text = repr(value)
    except RecursionError:
        return "a nesting too deep to be shown"
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_operand(value: object) -> bool:
    """Return whether an operator can take `value`, or should leave it to the other side."""
    if isinstance(value, np.ndarray):
        return type(value) is _array or type(value) is _file_array
    return (isinstance(value, (Mat, list, tuple, *_NUMBERS))
            or (np.isscalar(value) and hasattr(value, "dtype"))
            or (becomes_array(value) and not hasattr(type(value), "__array_priority__")
                and not has_its_own_way(value)))


def is_foreign(value: object) -> bool:
    """Return whether NumPy decides the result: of numbers, and of other libraries' objects."""
    kind: Any = type(value)
    if kind is _mat or kind is _array or kind is list or kind is tuple:
        return False
    if isinstance(value, Mat):
        return False
    if isinstance(value, np.ndarray):
        return kind is not _file_array
    return (isinstance(value, _SCALARS) or hasattr(kind, "__array__")
            or has_its_own_way(value))


def is_of_others(values: object) -> bool:
    """Return whether a sequence has an object whose class says how NumPy's functions treat it."""
    if not isinstance(values, list | tuple):
        return False
    for x in values:
        kind = type(x)
        if (kind is not _mat and hasattr(kind, "__array_function__") and is_foreign(x)
                and not isinstance(x, np.generic)):
            return True
    return False


def numpy_gives(function: Function, args: Arguments, kwargs: Keywords) -> Mat:
    """Return the result of NumPy's function for foreign operands, with Mats for arrays.

    It may be a number or an object of another library, which the types of functions do not say.
    Python's floats have the default dtype.
    """
    if current().dtype is FLOAT32:
        args = tuple(np.float32(x) if type(x) is float else x for x in args)
    if any(isinstance(v, Mat) for v in kwargs.values()) and not any(map(has_its_own_way, args)):
        call: Function = (partial(ufunc_by_numpy, function, "__call__")
                          if isinstance(function, np.ufunc) else partial(delegate, function))
        return _with_mats(call(args, kwargs))
    return _with_mats(function(*args, **kwargs))


def _with_mats(found: Operand) -> Operand:
    if type(found) is np.ndarray and found.dtype.name in SUPPORTED:
        return of_array(found)
    if type(found) in (tuple, list):
        return type(found)(map(_with_mats, found))
    return found


def has_priority(value: object) -> bool:
    """Return whether `value` is a table or column of pandas: its operators ask the Mat first."""
    kind = type(value)
    return kind is not Mat and hasattr(kind, "__pandas_priority__")


def is_sparse(value: object) -> bool:
    """Return whether `value` is a sparse array of SciPy, with operators for NumPy's arrays only."""
    kind = type(value)
    return (hasattr(kind, "toarray") and hasattr(kind, "__array_priority__")
            and not hasattr(kind, "__array__") and not has_its_own_way(value))


def keeps_its_class(value: object) -> bool:
    """Return whether NumPy's results are of the class of `value`, such as a matrix."""
    return (isinstance(value, np.ndarray) and type(value) is not _array
            and type(value) is not _file_array and not decides(value))


def of_arrays(rule: Function, x: Mat, other: object, reflected: bool) -> Operand:
    """Return the result of the operator `rule` for the array of `x` beside another object."""
    with x.facet("array", "input") as a:
        return numpy_gives(rule, (other, a) if reflected else (a, other), {})


def decides(value: object) -> bool:
    """Return whether the class of `value` decides what functions of it and Mats return."""
    return has_its_own_way(value) or is_masked(value)


def has_its_own_way(value: object) -> bool:
    """Return whether the class of `value` defines its own treatment by ufuncs."""
    hook = getattr(type(value), "__array_ufunc__", np.ndarray.__array_ufunc__)
    return hook is not np.ndarray.__array_ufunc__ and not isinstance(value, Mat)


# Operations that accumulate, ``y <- term + beta * y``: their checks of dtypes, shapes and factors,
# and their last step on arrays


def same_shape(*mats: Mat) -> None:
    """Raise `ShapeError` or `DTypeError` unless all have one shape and one dtype."""
    first = mats[0]
    for other in mats[1:]:
        if other.layout.shape != first.layout.shape:
            raise ShapeError(f"shapes must agree, got {first.shape} and {other.shape}")
        same_dtype(first, other)


def same_dtype(*mats: Mat) -> None:
    """Raise `DTypeError` unless all have one dtype."""
    first = mats[0].element_type
    for other in mats[1:]:
        found = other.element_type
        if found != first:
            mixed = is_integer(first) != is_integer(found)
            raise DTypeError(f"dtypes must agree, got {first} and {found}; "
                             f"{conversion(first, found) if mixed else conversion()}")


def check_factors(y: Mat, *factors: Number) -> None:
    """Raise `DTypeError` unless integers are scaled by integers, as in ``y *= factor``."""
    kind = y.element_type.kind
    for factor in factors if kind in "iub" else ():
        if kind == "b" or not isinstance(factor, int | np.integer):
            raise DTypeError(f"{y.label()} cannot be scaled by {factor!r}; use x.astype('float64') "
                             "first")


def accumulate(np: Engine, term: Array, beta: Number, y: Array) -> None:
    """Compute ``y <- term + beta * y``, without reading y where `beta` is 0."""
    if beta == 0:
        np.copyto(y, term, casting="same_kind")
        return
    if beta != 1:
        np.multiply(y, beta, out=y)
    np.add(y, term, out=y)
