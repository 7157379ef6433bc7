"""Functions of arrays called with copies of a few elements: no access is open meanwhile, so that
such a call costs little more than the function.

For functions that only read what they are given, and that read no more than their arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.compiled import BLOCKS, IN_USE
from ..core.observers import OBSERVERS
from ..support.types import Arguments, Array, Function, Keywords, Operand
from .creation import adopted, copy_of_array, is_known
from .exports import copied_array
from .mat import Mat

NOT_BRIEF: Any = object()  # what `call_briefly` returns where it has done nothing
_MOST_RESULT = 1 << 14  # bytes of a result that are copied to memory of ours
# types of arguments that contain no arrays and run no code
_PLAIN = frozenset((int, float, complex, bool, str, type(None), type, slice, np.dtype))
_NESTS = frozenset((list, tuple))
# with types of C
_blocks, _in_use, _observers, _mat = BLOCKS, IN_USE, OBSERVERS, Mat
_ndarray, _generic, _not_brief = np.ndarray, np.generic, NOT_BRIEF


class BriefCall:
    """The arguments of one call: with copies for Mats."""

    __slots__ = ("enabled", "fails")

    fails: bool  # an argument is not for such a call
    enabled: bool  # devices compute with all of the Mats

    def copied(self, value: Operand) -> Operand:
        """Return an argument with copies for Mats, also in a list or tuple."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is _mat:
            view = value
            found = copied_array(view)
            if found is not None:
                self.enabled = self.enabled and view.device_enabled
                return found
        elif kind is _ndarray or isinstance(value, _generic):
            return value
        elif kind in _NESTS:
            items = [self.item_copied(v) for v in value]
            return items if kind is list else tuple(items)
        self.fails = True
        return None

    def item_copied(self, value: Operand) -> Operand:
        """Return an item of a list or tuple, with a copy for a Mat."""
        if type(value) in _NESTS:
            self.fails = True
            return None
        return self.copied(value)

    def with_mats(self, value: Operand) -> Operand:
        """Return a result with Mats for arrays and NumPy's scalars."""
        kind = type(value)
        if kind is _ndarray:
            return self.mat_of(value)
        if isinstance(value, _generic):
            return self.mat_of(np.asarray(value)) if is_known(value.dtype) else value
        if kind in _NESTS:
            items = [self.with_mats(v) for v in value]
            return items if kind is list else tuple(items)
        return value

    def mat_of(self, value: Array) -> Operand:
        """Return a Mat with the elements of an array, or the array if its dtype is unsupported."""
        made: Any = copy_of_array(value, "C") if value.nbytes <= _MOST_RESULT else None
        if made is None:
            if not is_known(value.dtype):
                return value
            own = value.base is None and value.flags.c_contiguous and value.flags.writeable
            made = adopted(value if own else value.copy())
        made.device_enabled = self.enabled
        return made


def call_briefly(function: Function, args: Arguments, kwargs: Keywords) -> Operand:
    """Call a function of arrays with copies of Mats, and return Mats for arrays.

    Return `NOT_BRIEF` for other arguments than numbers, arrays and small packed Mats, while a
    device is in use or somebody observes, and if the function raises an error: called in another
    way, it says so again.
    """
    if _in_use or _observers or not _blocks.enabled:
        return _not_brief
    call = BriefCall.__new__(BriefCall)
    call.fails, call.enabled = False, True
    arguments = [call.copied(value) for value in args]
    for value in kwargs.values():
        call.fails = call.fails or type(value) not in _PLAIN
    if call.fails:
        return _not_brief
    try:
        found = function(*arguments, **kwargs) if kwargs else function(*arguments)
    except Exception:
        return _not_brief
    if isinstance(found, tuple) and type(found) is not tuple:
        return _not_brief  # a named one
    return call.with_mats(found)
