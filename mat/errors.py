"""The classes of the errors that `mat` raises.

Each is a `MatError` and a builtin error, so both ``except mat.MatError`` and ``except ValueError``
work. Messages name the values that are wrong and a way out.
"""

from __future__ import annotations

import numpy


class MatError(Exception):
    """Base class of every error of `mat`."""


class ShapeError(MatError, ValueError):
    """Shapes, sizes, ranks or axes that do not match."""


class AxisError(ShapeError, numpy.exceptions.AxisError):
    """An axis that does not exist."""


class IntegerError(ShapeError, TypeError):
    """A length, an axis or a number of elements that is not an integer."""


class DTypeError(MatError, TypeError):
    """A value of a type or dtype that the operation does not take."""


class IndexTypeError(DTypeError, IndexError):
    """An index that is neither an integer, a slice nor an array of integers or booleans."""


class PowerError(DTypeError, OverflowError, ValueError):
    """A negative power of integers: no integer, and out of the range of unsigned ones."""


class TextError(DTypeError, ValueError):
    """A text that is no number of the wanted element type."""


class StepError(ShapeError, ZeroDivisionError):
    """A range in steps of 0."""


class RangeError(DTypeError, OverflowError, ValueError):
    """A number that is out of the range of an element type."""


class DirectionError(MatError, ValueError):
    """An unknown direction, or one that the Mat does not allow (writing to a read-only Mat)."""


class FacetError(MatError, LookupError):
    """An unknown facet, memory or device."""


class IndexOutOfRange(MatError, IndexError):
    """An index outside of the visible elements."""


class AliasError(MatError, ValueError):
    """An output that overlaps an input, or itself, such that results would be wrong."""


class ConflictError(MatError, RuntimeError):
    """An access that conflicts with another one to the same storage.

    The message names the access that began first, its thread and its source line.
    """


class TornError(MatError, RuntimeError):
    """A read of data whose only copy was left half-written by a block that failed."""


class LinAlgError(MatError, numpy.linalg.LinAlgError):
    """A matrix without a result: it is singular or not positive definite."""


class DeviceError(MatError, RuntimeError):
    """A device that is absent, not in use, or failing."""


class OutOfMemory(MatError, MemoryError):
    """Memory, or room for addresses of it, that the system does not give."""


class OutOfDeviceMemory(DeviceError, OutOfMemory):
    """A device's memory, or the part of it that `mat` may use, is exhausted."""

    used_by_others = False  # some of it was in use by other threads, which may end that


class ExchangeError(MatError, BufferError):
    """Data that cannot be exchanged with another library as requested."""


class DiskError(MatError, OSError):
    """A file that holds data, or the room for one, that is not there.

    ``errno`` is that of the system where the system has found it.
    """


class FormatError(MatError, ValueError):
    """A file whose contents are not in the expected format."""


class KernelError(MatError, ValueError):
    """A user-defined kernel that does not compile."""


class GraphError(MatError, RuntimeError):
    """A function that `mat.graph` cannot record, with the line that it cannot repeat."""


class PlanError(MatError, RuntimeError):
    """A call whose copies `mat.debug.plan` cannot predict, since elements decide."""


class UninitialisedError(MatError, RuntimeError):
    """A use of a Mat whose `__init__` did not run, such as one of a class that did not call it."""


class PerformanceWarning(UserWarning):
    """Something that is right, and takes longer than it could."""


class SettingError(MatError, ValueError):
    """An unknown setting, or a value that it cannot have."""


def __dir__() -> list[str]:
    return [name for name, value in globals().items() if isinstance(value, type)]
