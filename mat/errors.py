"""Every error that `mat` raises on its own account.

Each is a `MatError` and a builtin at once, so both ``except mat.MatError`` and ``except
ValueError`` work. Messages carry the offending values and say the way out.
"""

from __future__ import annotations

import numpy


class MatError(Exception):
    """Base class of every error of `mat`."""


class ShapeError(MatError, ValueError):
    """Shapes, sizes, ranks or axes that do not fit together."""


class DTypeError(MatError, TypeError):
    """A value of a type that the operation cannot take."""


class DirectionError(MatError, ValueError):
    """An unknown direction, or one that the Mat does not allow (writing what is read-only)."""


class FacetError(MatError, LookupError):
    """An unknown facet, memory or device."""


class IndexOutOfRange(MatError, IndexError):
    """An index outside of the visible elements."""


class AliasError(MatError, ValueError):
    """An output that overlaps an input, or itself, where that would give wrong results."""


class ConflictError(MatError, RuntimeError):
    """Two uses of one storage that exclude each other; the message names the one that was there
    first.
    """


class TornError(MatError, RuntimeError):
    """The only copy was left half-written by a block that failed."""


class LinAlgError(MatError, numpy.linalg.LinAlgError):
    """A matrix for which the result does not exist (singular, not positive definite)."""


class DeviceError(MatError, RuntimeError):
    """A device that is absent, not in use, or failing."""


class OutOfDeviceMemory(DeviceError, MemoryError):
    """A device's memory, or our share of it, is exhausted."""


class ExchangeError(MatError, BufferError):
    """Data that cannot be shared with another library in the way that was asked for."""


class FormatError(MatError, ValueError):
    """A file that does not hold what it should."""


class KernelError(MatError, ValueError):
    """A user's kernel that does not compile."""


class SettingError(MatError, ValueError):
    """An unknown setting, or a value that it cannot have."""
