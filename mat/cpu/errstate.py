"""Floating-point specials without warnings: log 0 is -inf here, as on a device, whatever NumPy's
error state is.

`numpy.errstate` does this too, at three times the cost of a small operation. NumPy keeps its state
in a context variable; this module finds it by public means, and plans set it directly.
"""

from __future__ import annotations

from contextvars import ContextVar, copy_context

import numpy as np


def _find() -> tuple[ContextVar[object], object]:
    """Return NumPy's context variable of the error state, and its value for "ignore everything"."""
    before = copy_context()
    with np.errstate(all="ignore"):
        inside = copy_context()
    changed = [v for v in inside if inside[v] is not before.get(v)]
    if len(changed) == 1:
        return changed[0], inside[changed[0]]
    raise ImportError("this NumPy keeps its error state elsewhere; mat needs NumPy 2.0 or newer")


STATE, QUIET = _find()
