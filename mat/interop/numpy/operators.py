"""The operators that the array API standard asks of a Mat beyond those of ``ops/``: ``// % & | ^ ~
<< >>``, and what finds it.

They have no kernels: NumPy computes on the host, but for booleans, whose logic is multiplication,
maximum and comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...devices.device import CPU, Device, device_named, in_use
from ...errors import DeviceError, DTypeError, SettingError, ShapeError
from ...matrix.mat import Mat
from ...matrix.methods import bind, method
from ...ops.declare_elementwise import as_operand, check_out, is_operand, result_dtype
from ...ops.elementwise import equal, maximum, multiply, not_equal, subtract
from ...ops.roles import named
from ...support.dtypes import check_operand
from ...support.plugins import plugin
from .dispatch import delegate

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")  # of the standard


def by_numpy(rule: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What the NumPy function `rule` gives for Mats, as Mats; what is not finite is no news."""
    with np.errstate(all="ignore"):
        return delegate(rule, args, kwargs)


def _all_bool(*values: Any) -> bool:
    return all(v.dtype.kind == "b" if isinstance(v, Mat | np.generic) else type(v) is bool
               for v in values)


def two(rule: np.ufunc, of_bools: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """``function(x, y, out=None)`` for the ufunc `rule`; `of_bools` computes it of booleans,
    wherever they are.
    """
    def function(x: Any, y: Any, out: Mat | None = None) -> Any:
        x, y = as_operand(x, "x"), as_operand(y, "y")
        if not isinstance(x, Mat) and not isinstance(y, Mat):
            raise DTypeError(f"{rule.__name__} wants at least one Mat or array, got {x!r} and "
                             f"{y!r}")
        if out is None:
            result_dtype(rule, x, y)
            for value, other in ((x, y), (y, x)):
                if not isinstance(value, Mat):
                    check_operand(value, other.dtype, "an operand")
        else:
            check_out(rule, out, x, y)
        if of_bools is not None and _all_bool(x, y):
            return of_bools(x, y, out)
        return by_numpy(rule, x, y) if out is None else by_numpy(rule, x, y, out=out)

    return function


floor_divide = two(np.floor_divide)
remainder = two(np.remainder)
bitwise_and = two(np.bitwise_and, multiply)
bitwise_or = two(np.bitwise_or, maximum)
bitwise_xor = two(np.bitwise_xor, not_equal)
left_shift = two(np.left_shift)
right_shift = two(np.right_shift)


def invert(x: Mat) -> Any:
    """All bits of `x` the other way round, by our own arithmetic; of booleans the negation."""
    kind = x.dtype.kind
    if kind == "b":
        return equal(x, False)
    if kind not in "iu":
        raise DTypeError(f"bits are those of integers and booleans, got {x.dtype}; convert with "
                         "astype")
    return subtract(-1 if kind == "i" else int(np.iinfo(x.dtype).max), x)


def _install(symbol: str, function: Callable[..., Any], doc: str) -> None:
    """``x . y``, ``y . x`` and ``x .= y`` of Mat."""
    def plain(self: Mat, other: Any) -> Any:
        return function(self, other) if is_operand(other) else NotImplemented

    def swapped(self: Mat, other: Any) -> Any:
        return function(other, self) if is_operand(other) else NotImplemented

    def augmented(self: Mat, other: Any) -> Any:
        return function(self, other, self) if is_operand(other) else NotImplemented

    for name, method in ((f"__{symbol}__", plain), (f"__r{symbol}__", swapped),
                         (f"__i{symbol}__", augmented)):
        bind(name, named(method, name, doc))


_install("floordiv", floor_divide, "The largest integer not above ``x / y``.")
_install("mod", remainder, "What ``x // y`` leaves over, with the sign of y.")
_install("and", bitwise_and, "The bits that are 1 in both; of booleans: both.")
_install("or", bitwise_or, "The bits that are 1 in one or both; of booleans: either.")
_install("xor", bitwise_xor, "The bits that are 1 in one only; of booleans: one of them.")
_install("lshift", left_shift, "The bits of x moved up by y places.")
_install("rshift", right_shift, "The bits of x moved down by y places.")


def _divmod(self: Mat, other: Any) -> Any:
    """``(x // y, x % y)``"""
    return (self // other, self % other) if is_operand(other) else NotImplemented


def _rdivmod(self: Mat, other: Any) -> Any:
    """``(y // x, y % x)``"""
    return (other // self, other % self) if is_operand(other) else NotImplemented


def positive(self: Mat) -> Any:
    """``+x``: a copy."""
    return self.copy()


# Where, and by which functions


def _mT(self: Mat) -> Any:  # the standard's name
    """The view with the last two axes exchanged: the transpose of a matrix, or of each in a
    stack.
    """
    if self.ndim < 2:
        raise ShapeError(f"mT wants at least two axes, got shape {self.shape}")
    return self.swapaxes(-1, -2)


def enabled_on(device: Any) -> bool:
    """Whether a Mat that is to be on `device` is one for the device in use, or only for the
    processor.

    `DeviceError` if it is neither: data follows the device in use, it does not choose one.
    """
    wanted = device_named(device)
    if wanted is not CPU and wanted is not in_use():
        raise DeviceError(f"device {wanted!s} is not in use: with mat.use_device({str(wanted)!r}): "
                          "...")
    return wanted is not CPU


@method("to_device")
def _to_device(self: Mat, device: str | Device, /, *, stream: Any = None) -> Any:
    """The elements as a Mat on which operations compute on `device`: self if they do, else a copy.

    `device` is "cpu" or the device in use; `DeviceError` for others, and for a `stream`: copies
    keep their order by themselves.

    >>> import mat
    >>> with mat.use_device("emulated"):
    ...     x = mat.ones(2)
    ...     x.device, x.to_device("cpu").device
    (<device emulated>, <device cpu>)
    """
    enabled = enabled_on(device)
    if stream is not None:
        raise DeviceError(f"to_device takes no stream, got {stream!r}: copies keep their order by "
                          "themselves")
    if self.device == device_named(device):
        return self
    copied = self.copy()
    copied.device_enabled = enabled
    return copied


def _namespace(self: Mat, /, *, api_version: str | None = None) -> Any:
    """The module `mat.array_api`, the Python array API standard for Mats; `SettingError` for
    versions that it is not.
    """
    if api_version not in (None, *VERSIONS):
        raise SettingError(f"mat.array_api is version {VERSIONS[-1]} of the standard, and those "
                           f"before, not {api_version!r}")
    return plugin("array_api")


for _name, _function in (("__divmod__", _divmod), ("__rdivmod__", _rdivmod), ("__pos__", positive),
                         ("__invert__", invert),
                         ("__array_namespace__", _namespace)):
    bind(_name, named(_function, _name, _function.__doc__ or ""))
bind("mT", property(_mT))
