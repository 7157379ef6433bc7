"""What the namespace can do, for those who ask: ``__array_namespace_info__``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..devices.device import CPU, Device, device_named, in_use
from ..errors import DTypeError
from ..support.dtypes import ELEMENT_TYPES, HALVES
from .arguments import complex_default, real_default

_DTYPES = {t.name: np.dtype(t.name) for t in ELEMENT_TYPES if t.char not in HALVES}
_KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating",
          "complex floating", "numeric")


class Info:
    """Capabilities, devices and dtypes of `mat.array_api`."""

    def capabilities(self) -> dict[str, Any]:
        """Which optional parts of the standard there are."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """The device in use."""
        return in_use()

    def devices(self) -> tuple[Device, ...]:
        """What `device=` may be here and now: the processor, and the device in use."""
        return (CPU,) if in_use() is CPU else (in_use(), CPU)

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """The dtypes that Python's numbers get; those of real and complex ones follow
        ``mat.settings(dtype=...)``.
        """
        _check(device)
        return {"real floating": real_default(), "complex floating": complex_default(),
                "integral": np.dtype(np.int64), "indexing": np.dtype(np.int64)}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """The dtypes by name: all, or those of a kind or of several."""
        _check(device)
        if kind is None:
            return dict(_DTYPES)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        unknown = [k for k in kinds if k not in _KINDS]
        if unknown:
            raise DTypeError(f"no kind of dtypes {unknown[0]!r}; there are {', '.join(_KINDS)}")
        return {name: d for name, d in _DTYPES.items() if np.isdtype(d, kinds)}


def _check(device: Any) -> None:
    if device is not None:
        device_named(device)


def __array_namespace_info__() -> Info:  # noqa: N807
    """What the namespace can do.

    >>> from mat import array_api as xp
    >>> xp.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float64')
    """
    return Info()
