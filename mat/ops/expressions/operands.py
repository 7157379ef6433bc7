"""Operands: what an operation of a `fused` block reads, and whether that can be read later.

What is pending of a storage is a node; elements that are there are read as a leaf.
"""

from __future__ import annotations

import threading
from typing import Any

from ...core.recorder import RECORDERS
from ...matrix.base import Form, MatBase
from ...matrix.mat import Mat
from ...memories.file_pages import is_only_map
from ...support.dtypes import EXACT
from ...support.types import Arguments
from .folds import is_cut_on
from .nodes import Argument, Leaf, Node, leaf_of

_mat, _exact = Mat, EXACT  # with types of C


def value_of(mat: MatBase) -> Node | None:
    """Return the node whose value the storage of `mat` is to have, or None."""
    pending: Any = mat.storage.pending
    return None if pending is None else pending.value


def arguments_like(operation: Any, args: Arguments, form: Form,
                   on_device: bool) -> tuple[Argument, ...] | None:
    """Return what an operation reads; None unless all of it is like a result of that form."""
    if operation.binary:  # without a list
        x = argument_like(args[0], form, on_device)
        y = None if x is None else argument_like(args[1], form, on_device)
        return None if y is None else (x, y)
    found = [argument_like(args[k], form, on_device) for k in operation.others]
    return None if None in found else tuple(found)


def argument_like(value: Any, form: Form, on_device: bool) -> Argument | None:
    """Return what is read of an operand; None for other views, and what cannot be read later."""
    if type(value) is not _mat:
        return value  # exact, as any that a plan is found by
    view = value
    if (view.storage.adopted is not None or view.storage.records
            or (on_device and not view.device_enabled)):
        return None
    pending = view.storage.pending
    if pending is None or pending.value is None:
        return leaf_of(view)  # which nobody keeps if another operand is unlike
    node: Any = pending.value
    return node if view.known_form is form and node.form is form else None


def arguments_of(operation: Any, args: Arguments, out: MatBase,
                 old: Node | Leaf | None) -> tuple[Argument, ...]:
    """Return what an operation reads; `old` is that of `out`."""
    if operation.binary:  # without a list
        return (argument_of(args[0], out, old), argument_of(args[1], out, old))
    return tuple([argument_of(args[k], out, old) for k in operation.others])


def argument_of(value: Any, out: MatBase, old: Node | Leaf | None) -> Argument:
    """Return what is read of an operand; `old` is that of `out`."""
    if value is out and old is not None:
        return old
    if type(value) is not _mat:
        return value  # a number
    found = value_of(value)
    return leaf_of(value) if found is None else found


def is_new(mat: MatBase) -> bool:
    """Return whether the elements of a Mat are arbitrary, and nobody accesses it."""
    storage = mat.storage
    if storage.pending is not None or not storage.pristine or storage.fresh:
        return False
    if storage.fill_value is not None or storage.spans is not None or storage.records:
        return False
    return storage.kept is None and storage.adopted is None and not storage.async_copies


def all_can_wait(args: Arguments, out: MatBase, on_device: bool) -> bool:
    """Return whether all operands are exact and can be read later, on a device if `on_device`."""
    if not can_wait(out, on_device):
        return False
    for value in args:
        if type(value) is _mat:
            if value is not out and not can_wait(value, on_device):
                return False
        elif isinstance(value, MatBase) or (type(value) is int and not (
                0 <= value < 128 or -_exact <= value <= _exact)):  # the first is the quicker test
            return False
    return True


def can_wait(view: MatBase, on_device: bool) -> bool:
    """Return whether a Mat can be read later, on a device if `on_device`: nobody else writes it."""
    storage = view.storage
    if on_device and not view.device_enabled:
        return False
    if storage.records and storage.is_being_written(view) and not is_recorded(view):
        return False
    if storage.adopted is None:
        return True
    pages = getattr(storage, "pages", None)
    return pages is not None and is_only_map(pages)


def is_recorded(view: MatBase) -> bool:
    """Return whether only operations of a recording access the elements of a Mat."""
    recorder = RECORDERS.get(threading.get_ident())
    return recorder is not None and recorder.accesses_all(view.storage)


def compute_unlike(operation: Any, args: Arguments, out: MatBase) -> None:
    """Compute pending operands that are views, or broadcast: they are no nodes of the same pass."""
    for k in operation.others:
        if args[k] is out:
            compute_if_unlike(out, out)
        elif type(args[k]) is _mat:
            compute_if_unlike(args[k], out)


def compute_if_unlike(view: MatBase, out: MatBase) -> None:
    """Compute the value of an operand, if it is pending and no node of the same pass."""
    value = value_of(view)
    if value is None or (view.known_form is value.form and value.form is out.known_form):
        return
    if view.form is value.form and view.layout.shape == out.layout.shape:
        return
    if not (value.device is not None and view.form is value.form
            and (is_cut_on(value.device)
                 or view.layout.shape == (*out.layout.shape[:-1], 1))):
        value.compute()


def device_of_rows(args: Arguments, out: MatBase) -> Any:
    """Return the device of a pending operand for rows of the shape of `out`, or None."""
    for x in args:
        value = value_of(x) if type(x) is Mat else None
        if value is not None and value.device is not None and x.layout.shape == out.layout.shape:
            return value.device
    return None
