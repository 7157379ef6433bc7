"""Pending reductions: which ones can wait, how they are carried out, and which ones together. It
carries out none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter
from typing import Any

from ...devices.in_use import CPU, Device
from ...layout.shapes import Ints, broadcast_shapes
from ...matrix.base import Form, MatBase, form_of_result
from ...matrix.mat import Mat
from ...memories import file_pages
from ...memories.file_pages import spills
from ...support.types import Arguments
from ..engine.operation import Op
from ..tiles.tile import is_large, is_too_large, those_in_files
from .nodes import Argument, Leaf, Node
from .program import fold_of, fold_part_of

# how a reduction is carried out: of elements that are there, in tiles, or as part of a program
OF_ELEMENTS, IN_TILES, IN_PROGRAM = range(3)
_MOST = 1024
number_of = attrgetter("number")  # of a node, in the order of the statements


def uses_kernels(device: Device, out: MatBase) -> bool:
    """Return whether a device has kernels of its own, and is not only planned for."""
    return (device is not CPU and out.device_enabled and bool(device.implementations)
            and device.planner is None)


def leaf_or_node(argument: Any) -> Any:
    """Return a leaf with the elements that are read, or the node that is to compute them."""
    if type(argument) is not Node:
        return argument
    node: Any = argument
    return node if node.leaf is None else node.leaf


def read_by(argument: Argument) -> Iterator[Leaf | Node]:
    """Yield the leaves of an expression, each once, and the pending reductions before it."""
    left, seen = [argument], set()
    while left:
        one = leaf_or_node(left.pop())
        if type(one) is Leaf or (type(one) is Node and one.device is not None):
            if one not in seen:
                yield one
        elif type(one) is Node and one not in seen:
            left += one.args
        seen.add(one)


def shape_of(one: Leaf | Node) -> Ints:
    """Return the shape of a leaf or a node."""
    return one.view.shape if isinstance(one, Leaf) else one.form.shape


def views_read_by(argument: Argument) -> list[Mat]:
    """Return the views of the leaves of an expression."""
    return [one.view for one in read_by(argument) if isinstance(one, Leaf)]


def has_shape_of_operands(node: Node) -> bool:
    """Return whether a node has the shape to which its operands broadcast."""
    if node.leaf is not None or node.spanned:
        return node.leaf is None
    shapes = [shape_of(one) for one in read_by(node)]
    return bool(shapes) and broadcast_shapes(shapes) == node.form.shape


def way_of(operation: Op, settings: Arguments, argument: Argument, out: Mat, device: Device) -> int:
    """Return how a reduction is carried out on a device."""
    one = leaf_or_node(argument)
    if type(one) is Leaf:
        return IN_TILES if is_cut(device, one.view, out) else OF_ELEMENTS
    node = one
    if not node.form.layout.contiguous:  # is added in the order of its elements in memory
        return OF_ELEMENTS
    if device is CPU:
        nbytes = node.form.size * node.form.itemsize
        if nbytes >= file_pages.LEAST_LARGE and (spills(nbytes) or node.in_place):
            in_tiles = operation.cutter is not None and is_large(
                *those_in_files(views_read_by(one)))
            return IN_TILES if in_tiles else OF_ELEMENTS
    elif out.device_enabled:
        if is_too_large(device, *views_read_by(one), out):
            return OF_ELEMENTS if operation.cutter is None else IN_TILES
        if is_too_large(device, node.form.new(True, None), out):  # it is cut, the operands are not
            return OF_ELEMENTS
    by = device if uses_kernels(device, out) else CPU
    return IN_PROGRAM if unit_of(operation, node.form, out.form, settings, by) else OF_ELEMENTS


def is_cut(device: Device, x: Mat, out: Mat) -> bool:
    """Return whether a device has to reduce `x` in tiles."""
    if device is CPU:
        return x.storage.nbytes >= file_pages.LEAST_LARGE and is_large(*those_in_files((x,)))
    return x.device_enabled and is_too_large(device, x, out)


def is_cut_on(device: Device) -> bool:
    """Return whether reductions that are pending for a device are carried out in tiles."""
    return device is CPU or device.limit is not None


def unit_of(operation: Op, form: Form, out: Form, settings: Arguments, device: Device) -> int:
    """Return the elements of a unit of the reduction in a program; 0 if it cannot be in one."""
    # the hash of the host takes long
    return _unit_of(operation, form, out, settings, None if device is CPU else device)


@lru_cache(_MOST)
def _unit_of(operation: Op, form: Form, out: Form, settings: Arguments, device: Any) -> int:
    """Return the same, None being the host."""
    args: Any = form_of_result(form.shape, form.dtype).new(True, None), out.new(True, None)
    operation.check(*args, *settings)
    if device is not None:
        return fold_part_of(operation, (*args, *settings), device) is not None
    fold = fold_of(operation, (*args, *settings))
    return 0 if fold is None else fold.unit


# Which ones go together


def joined_with(fold: Node, others: list[Node]) -> list[Node]:
    """Return the pending reductions of the same elements, in the order of the statements."""
    more = [one for one in others if one is not fold and one.operation.folds and one.leaf is None]
    if not more:
        return [fold]
    argument = fold.args[0]
    shape, keys = shape_of(leaf_or_node(argument)), keys_of(argument)
    found = [one for one in more
             if one.device is fold.device and shape_of(leaf_or_node(one.args[0])) == shape
             and all(isinstance(read, Leaf) for read in read_by(one.args[0]))  # needs no other
             and keys & keys_of(one.args[0])]
    return sorted([fold, *found], key=number_of)


def keys_of(argument: Argument) -> set[object]:
    """Return the keys of the leaves that an expression reads whole."""
    shape = shape_of(leaf_or_node(argument))
    return {argument, *(one.key for one in read_by(argument)
                        if isinstance(one, Leaf) and one.view.shape == shape)}
