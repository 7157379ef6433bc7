"""Support of the Python array API standard in `mat`: ``mat.__array_namespace_info__()``."""

from __future__ import annotations

import numpy as np

from ...devices.device import CPU, Device, DeviceLike, device_named, in_use
from ...errors import DTypeError
from ...support.dtypes import ELEMENT_TYPES, FLOAT8, HALVES
from ...support.options import default_float
from ...support.types import DType

_DTYPES = {t.name: np.dtype(t.name) for t in ELEMENT_TYPES
           if t.char not in HALVES + FLOAT8}
_KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating",
          "complex floating", "numeric")


class __array_namespace_info__:  # noqa: N801  # NumPy's name
    """Capabilities, devices and dtypes of `mat`.

    Examples
    --------
    >>> import mat
    >>> mat.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float64')
    """

    def capabilities(self) -> dict[str, bool | int]:
        """Return the supported optional parts of the standard.

        Returns
        -------
        dict
            By the standard's names.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Return the device in use.

        Returns
        -------
        Device
            The default of ``device=``.
        """
        return in_use()

    def devices(self) -> list[Device]:
        """Return the devices that ``device=`` accepts in this block.

        Returns
        -------
        list of Device
            The device in use, and the processor.
        """
        return [CPU] if in_use() is CPU else [in_use(), CPU]

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, DType]:
        """Return the dtypes of Python's numbers.

        Parameters
        ----------
        device : str or Device, optional
            Makes no difference.

        Returns
        -------
        dict of str to dtype
            By kind; that of real numbers follows ``mat.settings(dtype=...)``.
        """
        _check(device)
        return {"real floating": default_float(), "complex floating": np.dtype(np.complex128),
                "integral": np.dtype(np.int64), "indexing": np.dtype(np.int64)}

    def dtypes(self, *, device: DeviceLike = None,
               kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """Return the dtypes by name.

        Parameters
        ----------
        device : str or Device, optional
            Makes no difference.
        kind : str or tuple of str, optional
            Only those of a kind, or of several.

        Returns
        -------
        dict of str to dtype
            The standard's dtypes.
        """
        _check(device)
        if kind is None:
            return dict(_DTYPES)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        unknown = [k for k in kinds if k not in _KINDS]
        if unknown:
            raise DTypeError(f"no kind of dtypes {unknown[0]!r}; there are {', '.join(_KINDS)}")
        return {name: d for name, d in _DTYPES.items() if np.isdtype(d, kinds)}


def _check(device: DeviceLike) -> None:
    if device is not None:
        device_named(device)
