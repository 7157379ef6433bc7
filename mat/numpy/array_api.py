"""Attributes that the array API standard requires of a Mat beyond the operations of ``ops/``: the
remaining operators, its device and its namespace.

Libraries ask for the namespace of whatever they are given, so that this imports little.
"""

from __future__ import annotations

from types import ModuleType

from ..devices.device import Device, device_named, enabled_on
from ..errors import DeviceError, DTypeError, SettingError, ShapeError
from ..matrix.mat import Mat
from ..matrix.methods import bind, method
from ..ops.engine.declaration import named
from ..ops.engine.operands import is_operand
from ..ops.primitives.ufuncs import quotient_and_remainder
from ..support.plugins import plugin
from ..support.types import DeviceName, Function, Operand

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")  # of the standard
__array_api_version__ = VERSIONS[-1]


def _bind_named(name: str, function: Function) -> None:
    bind(name, named(function, name, function.__doc__ or ""))


def _divmod(self: Mat, other: Operand) -> tuple[Operand, Operand]:
    return quotient_and_remainder(self, other) if is_operand(other) else NotImplemented


def _rdivmod(self: Mat, other: Operand) -> tuple[Operand, Operand]:
    return quotient_and_remainder(other, self) if is_operand(other) else NotImplemented


def positive(self: Mat) -> Mat:
    """Return ``+x``: a copy."""
    if self.element_type.kind == "b":
        raise DTypeError("+ is not defined for bool; convert with x.astype(dtype)")
    return self.copy("K")  # of elements, so stored in their order


_bind_named("__divmod__", _divmod)
_bind_named("__rdivmod__", _rdivmod)
_bind_named("__pos__", positive)


# The device of a Mat, and its namespace


def _matrix_transpose(self: Mat) -> Mat:
    """Return the view with the last two axes exchanged.

    It is the transpose of a matrix, or of each matrix in a stack.

    Returns
    -------
    Mat
        A view of shape ``(..., n, m)`` of a self of shape ``(..., m, n)``.

    Raises
    ------
    ShapeError
        If self has fewer than two axes.
    """
    if self.ndim < 2:
        raise ShapeError(f"mT requires at least two axes, got shape {self.shape}")
    return self.swapaxes(-1, -2)


bind("mT", property(_matrix_transpose))


@method("to_device")
def to_device(self: Mat, device: DeviceName | Device, /, *, stream: object = None) -> Mat:
    """Return the elements as a Mat for operations on `device`.

    Parameters
    ----------
    device : str or Device
        ``"cpu"``, or the device in use.
    stream : None
        None: copies are ordered without one.

    Returns
    -------
    Mat
        Self, if operations on it compute there already, else a copy.

    Raises
    ------
    DeviceError
        For a device that is not in use, and for a `stream`.

    Examples
    --------
    >>> import mat
    >>> with mat.use_device("emulated"):
    ...     x = mat.ones(2)
    ...     x.device, x.to_device("cpu").device
    (<device emulated>, <device cpu>)
    """
    enabled = enabled_on(device)
    if stream is not None:
        raise DeviceError(f"to_device takes no stream, got {stream!r}: copies are ordered without "
                          "one")
    if self.device == device_named(device):
        return self
    copied = self.copy()
    copied.device_enabled = enabled
    return copied


def _namespace(self: Mat, /, *, api_version: str | None = None) -> ModuleType:
    """Return the module `mat`, whose functions are those of the Python array API standard, too.

    Parameters
    ----------
    api_version : str, optional
        A version of the standard; the newest by default.

    Returns
    -------
    module
        `mat`.

    Raises
    ------
    SettingError
        For versions that `mat` does not implement.
    """
    if api_version not in (None, *VERSIONS):
        raise SettingError(f"mat implements version {VERSIONS[-1]} of the standard, and those "
                           f"before, not {api_version!r}")
    return plugin("mat")


_bind_named("__array_namespace__", _namespace)
