"""``mat.testing``: `numpy.testing`, with comparisons that convert Mats to arrays."""

from __future__ import annotations

import functools
import sys

import numpy as np

from ...matrix.mat import Mat
from ...support.close_names import no_attribute
from ...support.types import Function, Operand

# what these are given is passed on to what is tested
_CALLING = frozenset(("assert_raises", "assert_raises_regex", "assert_warns", "assert_no_warnings",
                      "assert_no_gc_cycles"))


def _comparison(function: Function) -> Function:
    """Return NumPy's comparison for Mats, also in lists, tuples and dicts."""
    @functools.wraps(function)
    def compare(*args: Operand, **kwargs: Operand) -> Operand:
        __tracebackhide__ = True
        return function(*map(_with_arrays, args), **_with_arrays(kwargs))

    return compare


def _with_arrays(value: Operand) -> Operand:
    if isinstance(value, Mat):
        return value.to_numpy()
    if type(value) in (list, tuple):
        return type(value)(map(_with_arrays, value))
    return {k: _with_arrays(v) for k, v in value.items()} if type(value) is dict else value


def __getattr__(name: str) -> Operand:
    found = getattr(np.testing, name, None)
    if found is None or name.startswith("__"):
        raise no_attribute(sys.modules[__name__], "module 'mat.testing'", name, __dir__())
    if name.startswith("assert") and name not in _CALLING:
        found = globals()[name] = _comparison(found)
    return found


def __dir__() -> list[str]:
    return np.testing.__all__
