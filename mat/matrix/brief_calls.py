"""Functions of arrays called with copies of a few elements: no access is open meanwhile, so that
such a call costs little more than the function.

For functions that only read what they are given, and that read no more than their arguments.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy._core import multiarray

from ..core.compiled import BLOCKS
from ..support.types import Arguments, Array, Function, Keywords, Operand
from .base import is_numpys
from .brief_copies import none_else
from .creation import KNOWN, adopted, copy_of_array
from .elements import copied_from_array
from .exports import copied_array
from .joined import new_transposed
from .mat import Mat
from .reading import rebuilt

NOT_BRIEF: Any = object()  # what `call_briefly` returns where it has done nothing
_MOST_RESULT = 1 << 14  # bytes of a result that are copied to memory of ours
# types of arguments that contain no arrays and run no code
_PLAIN = frozenset((int, float, complex, bool, str, type(None), type, slice, np.dtype))
# NumPy's functions that only call the method of their first argument with this name, with the
# others in the same order
_METHODS = frozenset((
    np.argmax, np.argmin, np.argpartition, np.argsort, np.cumprod, np.cumsum, np.nonzero,
    np.repeat, np.round, np.searchsorted, np.take, np.trace))
# by a function of NumPy's: what it calls once it has found out that no argument is of another class
_INSIDE: dict[Function, Function] = {np.einsum: multiarray.c_einsum}
# with types of C
_mat = Mat
_ndarray, _generic, _not_brief = np.ndarray, np.generic, NOT_BRIEF
_known, _inside, _blocks = KNOWN, _INSIDE, BLOCKS


def _is_nest(kind: object) -> bool:
    """Return whether a type is that of lists or tuples; compiled, quicker than `in`."""
    return kind is list or kind is tuple


def _copied(value: Operand, writable: bool) -> Operand:
    """Return an argument with copies for Mats, also in lists; `NOT_BRIEF` for others."""
    kind = type(value)
    if kind is _mat:
        return _array_copied(value, writable)
    if not _is_nest(kind):
        if kind is int or kind in _PLAIN or kind is _ndarray or isinstance(value, _generic):
            return value
        return _not_brief
    items: list[Operand] = []
    for v in value:
        item = _not_brief if _is_nest(type(v)) else _copied(v, writable)
        if item is _not_brief:
            return item
        items.append(item)
    return items if kind is list else tuple(items)


def _array_copied(view: Mat, writable: bool) -> Operand:
    """Return an array with a copy of a small Mat of a dtype of NumPy's own, or `NOT_BRIEF`."""
    found = copied_array(view, writable) if is_numpys(view.element_type) else None
    return _not_brief if found is None else found


def _enabled(values: Any) -> bool:
    """Return whether devices compute with all of the Mats among the values and in their lists."""
    for value in values:
        kind = type(value)
        if kind is _mat:
            view = value
            if not view.device_enabled:
                return False
        elif _is_nest(kind) and not _enabled(value):
            return False
    return True


def _with_mats(value: Operand, enabled: bool) -> Operand:
    """Return a result with Mats for arrays and scalars; `NOT_BRIEF` for elements of other kinds."""
    kind = type(value)
    if kind is _ndarray:
        return _mat_of(value, enabled)
    if not _is_nest(kind):
        if isinstance(value, _generic):
            return _mat_of(np.asarray(value), enabled)
        if not isinstance(value, (list, tuple)):
            return value
    items: list[Operand] = []
    for v in value:
        item = _with_mats(v, enabled)
        if item is _not_brief:
            return item
        items.append(item)
    return rebuilt(value, items)


def _mat_of(value: Array, enabled: bool) -> Operand:
    """Return a Mat with the elements of an array, or `NOT_BRIEF`."""
    made: Any = None
    if _blocks.nbytes_of(value) <= _MOST_RESULT:
        made = copy_of_array(value, "K")
        if made is None and value.flags.f_contiguous:
            turned = copy_of_array(value.T, "K")
            made = None if turned is None else new_transposed(turned)
    if made is None:
        if value.dtype not in _known:
            return _not_brief
        own = value.base is None and value.flags.forc and value.flags.writeable
        made = adopted(value if own else value.copy("K"))
    made.device_enabled = enabled
    return made


def _all_copied(args: Arguments, writable: bool) -> list[Operand] | None:
    """Return arguments with copies for Mats; None if one of them is not for such a call."""
    arguments: list[Operand] = []
    for value in args:
        item = _copied(value, writable)
        if item is _not_brief:
            return None
        arguments.append(item)
    return arguments


def _keywords_copied(kwargs: Keywords, writable: bool) -> Keywords | None:
    """Return the same of keywords, none of which says what is written."""
    options = kwargs
    for name, value in kwargs.items():
        if type(value) in _PLAIN and name != "copy":
            continue
        item = _not_brief if name == "out" or name == "copy" else _copied(value, writable)
        if item is _not_brief:
            return None
        if options is kwargs:
            options = dict(kwargs)
        options[name] = item
    return options


def write_briefly(function: Function, args: Arguments, kwargs: Keywords) -> bool:
    """Call a function of arrays that writes its first argument, a small packed Mat, with copies of
    Mats, and copy that back; return False, with nothing written, for others, as `call_briefly`.
    """
    if not args or type(args[0]) is not _mat or not none_else():
        return False
    target: Any = args[0]
    layout, storage = target.layout, target.storage
    if (target.read_only or not storage.writable or not layout.contiguous
            or layout.size * target.element_size > _MOST_RESULT):
        return False
    version = storage.version
    arguments, options = _all_copied(args, True), _keywords_copied(kwargs, True)
    if arguments is None or options is None:
        return False
    try:
        function(*arguments, **options)
    except Exception:
        return False
    # if nobody has written it meanwhile
    return storage.version == version and copied_from_array(target, layout, storage, arguments[0])


def call_briefly(function: Function, args: Arguments, kwargs: Keywords,
                 writable: bool = False) -> Operand:
    """Call a function of arrays with copies of Mats, and return Mats for arrays.

    `writable`: the function is known to write no operand, and may get arrays that can be written:
    some of NumPy's copy others once more.

    Return `NOT_BRIEF` for other arguments than numbers, arrays and small packed Mats, while a
    device is in use or somebody observes, and if the function raises an error: called in another
    way, it says so again.
    """
    if not none_else():
        return _not_brief
    arguments, options = _all_copied(args, writable), _keywords_copied(kwargs, writable)
    if arguments is None or options is None:
        return _not_brief
    inside = _inside.get(function)
    if inside is None:
        inside = _INSIDE[function] = (getattr(_ndarray, function.__name__)
                                      if function in _METHODS else inspect.unwrap(function))
    if (not arguments or type(arguments[0]) is not _ndarray) and function in _METHODS:
        inside = function
    try:
        found = inside(*arguments, **options) if kwargs else inside(*arguments)
    except Exception:
        return _not_brief
    return _with_mats(found, _enabled(args) and (not kwargs or _enabled(kwargs.values())))
