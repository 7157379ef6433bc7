"""Floating-point specials without warnings: log 0 is -inf here, as on a device, whatever NumPy's
error state is.

`numpy.errstate` does this too, at three times the cost of a small operation. NumPy keeps its state
in a context variable; this module finds it by public means, and plans set it directly.
"""

from __future__ import annotations

from contextvars import Context, ContextVar, copy_context

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

# Running a ufunc in a context where that is set costs nothing, setting and resetting it half as
# much as a ufunc. A context can be used by one thread at a time and not within itself: a plan that
# needs one takes it out of here, by thread, and puts it back.
IDLE: dict[int, Context] = {}


def quiet_context() -> Context:
    """Return a new context that has nothing but NumPy's error state, ignoring everything."""
    context = Context()
    context.run(STATE.set, QUIET)
    return context
