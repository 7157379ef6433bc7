"""What an outsider's memory, facet or operation imports; the built-in ones use the same names.

A memory is a subclass of `Memory` with four methods, a facet a subclass of `Facet` with one,
registered by `register_facet`. An operation is a function that only checks, under ``@op``, with the
directions `Input`, `Output`, `InOut`, `Accumulated` and `Scalar` in its signature, and one body for
each facet that can compute it.
"""

from .core.cube import Facet, Memory, Observer, observe, register_facet, register_memory
from .ops.operation import Accumulated, InOut, Input, InputOrNumber, Op, Output, Scalar, op

__all__ = [
    "Accumulated", "Facet", "InOut", "Input", "InputOrNumber", "Memory", "Observer", "Op", "Output",
    "Scalar", "observe", "op",
    "register_facet", "register_memory",
]
