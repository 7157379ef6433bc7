"""The real and the imaginary parts of complex numbers, taken and put: on devices by kernels that
copy halves of elements.
"""

from __future__ import annotations

import numpy as np

from ..errors import DTypeError, ShapeError
from ..matrix.mat import Mat, new_like
from ..support.dtypes import EVERY
from ..support.types import Array, DType, Engine, Function
from .cut_elements import by_elements
from .operation import InOut, Input, Output, op
from .overlap import DEVICE_AXES

_REAL_OF: dict[DType, DType] = {np.dtype(np.complex64): np.dtype(np.float32),
                                np.dtype(np.complex128): np.dtype(np.float64)}


def _check(of: Mat, parts: Mat) -> None:
    if _REAL_OF.get(of.dtype) != parts.dtype or of.layout.shape != parts.layout.shape:
        raise ShapeError(f"{of.label()} has no parts like those of {parts.label()}")


def _on_device(cuda: Engine, x: Mat, out: Mat, imaginary: bool) -> Function:
    found: Function = cuda.prepare_part(x, out, imaginary)
    return found


def _fits(x: Mat, out: Mat) -> bool:
    return x.ndim <= DEVICE_AXES and x.storage is not out.storage


@op(method="", by_form=True)
def take_part(x: Input, out: Output, imaginary: bool) -> None:
    """Copy the real or the imaginary parts of `x` to `out`."""
    _check(x, out)


take_part.cut_by(by_elements(take_part))
take_part.result_of = lambda x, out, imaginary: (x.layout.shape, real_type(x))
take_part.prepare("cuda", dtypes=EVERY, when=_fits)(_on_device)


@take_part.on("array", bare=True, silent=True)
def take_part_numpy(x: Array, out: Array, imaginary: bool) -> None:
    """Copy parts of an array."""
    out[...] = x.imag if imaginary else x.real


@op(method="", by_form=True)
def put_part(x: Input, out: InOut, imaginary: bool) -> None:
    """Copy the real numbers `x` to the real or the imaginary parts of `out`."""
    _check(out, x)


put_part.cut_by(by_elements(put_part))
put_part.prepare("cuda", dtypes=EVERY, when=_fits)(_on_device)


@put_part.on("array", bare=True, silent=True)
def put_part_numpy(x: Array, out: Array, imaginary: bool) -> None:
    """Overwrite parts of an array."""
    if imaginary:
        out.imag = x
    else:
        out.real = x


def real_type(x: Mat) -> DType:
    """Return the dtype of the parts of complex elements."""
    found = _REAL_OF.get(x.dtype)
    if found is None:
        raise DTypeError(f"{x.label()} has elements of {x.dtype}, which are not complex")
    return found


def real_part(x: Mat) -> Mat:
    """Return a new Mat of the real parts of a complex one; `x` itself if it is real."""
    if x.dtype.kind != "c":
        return x
    found: Mat = take_part.new((x, None, False))
    return found


def imaginary_part(x: Mat) -> Mat:
    """Return a new Mat of the imaginary parts: zeros where elements are real."""
    if x.dtype.kind != "c":
        return new_like(x, x.shape, x.dtype).fill_(0)
    found: Mat = take_part.new((x, None, True))
    return found


def complex_of(real: Mat, imaginary: Mat) -> Mat:
    """Return complex numbers of these parts, two Mats of one shape and dtype."""
    kind = next(of for of, part in _REAL_OF.items() if part == real.dtype)
    found = new_like(real, real.shape, kind)
    found.fill_(0)
    put_part(real, found, False)
    put_part(imaginary, found, True)
    return found
