"""NumPy's functions called in the shortest way, where there is one for their arguments: no access
is opened, and no code of Python runs in between.

This is the one place that decides whether such a way is tried. A way returns None, with nothing
done, for arguments that it does not take.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from typing import Any

import numpy as np

from ..core.compiled import IN_USE, give_vectorcall
from ..core.observers import OBSERVERS
from ..layout.attributes import begin_as_nothing
from ..matrix.base import is_numpys
from ..matrix.brief_calls import NOT_BRIEF, call_briefly, write_briefly
from ..matrix.called_methods import MatMethod
from ..matrix.creation import adopted
from ..matrix.elements import copied_to_part
from ..matrix.joined import as_packed
from ..matrix.mat import Mat
from ..ops.engine.calls import Calls
from ..ops.indexing import selection
from ..ops.indexing.selection import taken_of, written
from ..ops.primitives import few_elements as few
from ..ops.primitives import reduce, ufuncs
from ..ops.primitives.copying import arg_sorted, sorted_along
from ..ops.primitives.few_elements import leaves_dtype
from ..ops.primitives.few_indices import places, raveled_places, searched, unraveled
from ..ops.primitives.joining import joined, stacked
from ..ops.primitives.selecting import select
from ..support.dtypes import BLAS_TYPES
from ..support.plugins import plugin
from ..support.types import Arguments, Function, Keywords, Operand
from .registry import OF_MANY, numpy_function
from .views import (
    FIXED,
    NAMES,
    OF_SEVERAL,
    NoView,
    at_least_1d,
    key_of_view,
    layouts_of,
    run_as_view,
    squeezed,
    views_of,
)

# with types of C
_in_use, _observers, _mat, _not_brief = IN_USE, OBSERVERS, Mat, NOT_BRIEF
_result_type, _bool, _int64 = np.result_type, np.dtype(bool), np.dtype(np.int64)
_partition: Function = np.ndarray.partition
_copyto: Function = np.copyto
_NO_KEYWORDS: Keywords = {}
_conjugate: Calls = vars(ufuncs.conjugate)["op"]
_trunc: Calls = vars(ufuncs.trunc)["op"]
_select: Calls = select


class Way:
    """A way to call a function."""

    in_blocks: bool  # also with a device in use or results pending: by plans of operations

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Call it with those arguments."""
        raise NotImplementedError


begin_as_nothing(Way)


class ByPlan(Way):
    """By the plan of a reduction of a Mat, without axes of length 1 in the result.

    `axis` is what it is by default.
    """

    def __init__(self, operation: Calls | None, axis: int | None = None) -> None:
        self.operation: Any = operation
        self.axis: int | None = axis

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        axis = only_axis(args, kwargs, self.axis)
        if type(args[0]) is not _mat or not (axis is None or type(axis) is int):
            return None
        view: Any = args[0]
        if not is_numpys(view.element_type):  # others are ordered without regard to NaN
            return None
        if self.axis is not None and not view.layout.shape:
            return None
        return self.operation.make((view, None, axis, False))


class Decision(ByPlan):
    """The same of `any` or `all`, which the first of many elements may decide alone."""

    def __init__(self, operation: Calls, decides: bool) -> None:
        super().__init__(operation)
        self.decides: bool = decides

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        if not kwargs and len(args) == 1 and type(args[0]) is _mat:
            view: Any = args[0]
            if view.layout.size >= _MANY and view.layout.contiguous:
                found = ByPlan.call(self, (raveled(view)[:_FEW],), kwargs)
                if found is not None and bool(found) == self.decides:
                    return found
        return ByPlan.call(self, args, kwargs)


class Running(ByPlan):
    """By the operation of running totals by `rule`, along an axis of a Mat, or with None of a
    packed one in row-major order.
    """

    def __init__(self, rule: np.ufunc, axis: int | None) -> None:
        super().__init__(None, axis)  # many programs do without the operation
        self.rule: np.ufunc = rule

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        axis = only_axis(args, kwargs, self.axis)
        if type(args[0]) is not _mat or not (type(axis) is int or (axis is self.axis is None)):
            return None
        view: Any = args[0]
        if not is_numpys(view.element_type) or not view.layout.shape:
            return None
        if axis is None:
            view, axis = view if len(view.layout.shape) == 1 else raveled(view), 0
        if self.operation is None:
            self.operation = vars(plugin("ops.primitives.scan").BY_UFUNC[self.rule])["op"]
        if view is None or (not view.layout.contiguous and view.layout.is_by_columns()):
            return None  # the operation's function stores by columns, too
        return self.operation.make((view, None, axis))


class Along(Way):
    """By a function of the first argument and an axis."""

    def __init__(self, function: Function, axis: int | None, in_blocks: bool = False) -> None:
        self.function: Function = function
        self.axis: int | None = axis  # by default
        self.in_blocks = in_blocks

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        return self.function(args[0], only_axis(args, kwargs, self.axis))


class Of(Way):
    """By a function of so many arguments, of which the first is a Mat."""

    def __init__(self, function: Function, count: int = 1, in_blocks: bool = False) -> None:
        self.function: Function = function
        self.count: int = count
        self.in_blocks = in_blocks

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        if kwargs or len(args) != self.count or type(args[0]) is not _mat:
            return None
        return self.function(*args)


class ByLayout(Way):
    """By the layouts that NumPy's function gives a view of its first argument, found out once for
    other arguments that are integers, or tuples and lists of some.
    """

    def __init__(self, function: Function) -> None:
        self.function: Function = function
        self.in_blocks = True
        # by layout and arguments: from where these were found, and layouts; None where it copies
        self.known: dict[object, tuple[int, object] | None] = {}

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        if type(args[0]) is not _mat:
            return None
        view: Any = args[0]
        key = key_of_view(view._seen(), args, kwargs)
        if key is None:
            return None
        if key not in self.known:
            return self.learn(view, key, args, kwargs)
        found = self.known[key]
        if found is None:
            return None
        start, layouts = found
        return views_of(view, layouts, view.layout.displacement - start, self.function in FIXED)

    def learn(self, view: Mat, key: object, args: Arguments, kwargs: Keywords) -> Operand:
        """Return the result, and remember the layouts if it is a view."""
        found: Operand = None
        with suppress(NoView):
            found = run_as_view(self.function, False, args, kwargs)
        layouts = None if found is None else layouts_of(found, view.storage)
        if len(self.known) >= _MOST_VIEWS:
            self.known.clear()
        if layouts is not None or found is None:
            self.known[key] = None if found is None else (view.layout.displacement, layouts)
        return found


class OfFew(Way):
    """By NumPy's function of a Mat of less than `limit` elements, or in a line if `in_lines`."""

    def __init__(self, function: Function, limit: int, in_lines: bool = False) -> None:
        self.function: Function = function
        self.limit: int = limit
        self.in_lines: bool = in_lines

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        if kwargs or len(args) != 1 or type(args[0]) is not _mat:
            return None
        view: Any = args[0]
        shape = view.layout.shape
        if (shape[-1] if self.in_lines and shape else view.layout.size) >= self.limit:
            return None
        found = call_briefly(self.function, args, kwargs, True)
        return None if found is _not_brief else found


class OrNumPy(Way):
    """By a function of `count` arguments, or else by NumPy.

    `defaults` are further arguments that mean the same.
    """

    def __init__(self, function: Function, other: Way, count: int = 1,
                 defaults: tuple[object, ...] = ()) -> None:
        self.function: Function = function
        self.other: Way = other
        self.count: int = count
        self.defaults: tuple[object, ...] = defaults

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        found = None
        if not kwargs and len(args) >= self.count:
            if len(args) == self.count:
                found = self.function(*args)
            elif (args[self.count:] == self.defaults
                  and all(map(operator.is_, args[self.count:], self.defaults))):  # 0.0 is none
                found = self.function(*args[:self.count])
        return self.other.call(args, kwargs) if found is None else found


class AlongOrNumPy(OrNumPy):
    """By a function of `count` arguments and an axis, given by its name or after them, or by NumPy.

    `axis` is what it is by default, `named` whether it is given by its name only, which is `name`.
    """

    def __init__(self, function: Function, other: Way, count: int, axis: object,
                 named: bool, name: str = "axis") -> None:
        super().__init__(function, other, count)
        self.axis: object = axis
        self.named: bool = named
        self.name: str = name

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        found = None
        if len(args) == self.count and (not kwargs or len(kwargs) == 1):
            found = self.function(*args, kwargs.get(self.name, _not_brief) if kwargs else self.axis)
        elif len(args) == self.count + 1 and not kwargs and not self.named:
            found = self.function(*args)
        return self.other.call(args, kwargs) if found is None else found


class ByNumPy(Way):
    """By NumPy, with copies of a few elements.

    `usual` returns how many arguments by position only say what is read, and how.
    """

    def __init__(self, function: Any, usual: Callable[[Function], int]) -> None:
        self.function: Function = function
        self.usual: Callable[[Function], int] = usual
        self.most: int = -1  # what that returns

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        if self.most < 0:
            self.most = self.usual(self.function)
        if len(args) > self.most:
            return None
        found = call_briefly(self.function, args, kwargs, True)
        return None if found is _not_brief else found


def only_axis(args: Arguments, kwargs: Keywords, default: object) -> object:
    """Return the axis, if no other argument than it comes after the first; else `NOT_BRIEF`."""
    if kwargs:
        if len(args) == 1 and len(kwargs) == 1:
            return kwargs.get("axis", _not_brief)
        return _not_brief
    return default if len(args) == 1 else args[1] if len(args) == 2 else _not_brief


def raveled(x: object) -> Operand:
    """Return all elements of a packed Mat, or a copy of a few strided ones, as a vector."""
    view: Any = as_packed(x) if type(x) is _mat else None
    return None if view is None else view._view_of(view.layout.flat())


def flat_places(x: object) -> Operand:
    """Return the indices in row-major order of the elements of a packed Mat that are true."""
    found: Any = places(raveled(x))
    return None if found is None else found[0]


def rows_of_places(x: object) -> Operand:
    """Return the indices of each element that is true as a row."""
    found = places(x)
    return None if found is None else stacked(found, 1)


def real_parts(x: object) -> Operand:
    """Return a view of the real parts of a Mat, of real numbers those."""
    if type(x) is not _mat:
        return None
    view: Any = x
    return view.real if view.element_type.kind == "c" else view._view_of(view._seen())


class ResultType(Way):
    """The dtype of results of Mats that have axes, and other arguments, by NumPy."""

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        dtypes, alike = list(args), True
        for k in range(len(args)):
            if type(args[k]) is _mat:
                view: Any = args[k]
                if not view.layout.shape:  # whose values counted before NumPy 2
                    return None
                dtypes[k] = view.element_type
            alike = alike and dtypes[k] is dtypes[0]
        if kwargs:
            return None
        if alike and type(args[0]) is _mat and is_numpys(dtypes[0]):
            return dtypes[0]
        return _result_type(*dtypes)


# operations that many programs do without
_product: Calls | None = None
# whether subscripts mean a product of matrices, for two numbers of axes
_products: dict[tuple[str, int, int], bool] = {}
_nrm2: Function | None = None


def product() -> Calls:
    """Return the operation of products of matrices."""
    global _product
    if _product is None:
        _product = plugin("ops.linear.matmul").product
    return _product


def length(x: object) -> Operand:
    """Return the Euclidean norm of all elements, if BLAS has their type."""
    if type(x) is not _mat:
        return None
    view: Any = x
    if view.element_type.char not in BLAS_TYPES or not view.layout.size:
        return None
    global _nrm2
    if _nrm2 is None:
        _nrm2 = plugin("ops.linear.blas_level1").nrm2
    packed: Any = as_packed(x)
    found = _nrm2(view if packed is None else packed)
    return adopted(np.asarray(found, view.element_type.char.lower()))


def vector_product(a: Operand, b: Operand) -> Mat | None:
    """Return NumPy's ``vdot(a, b)`` of packed Mats of real numbers, or few complex, else None."""
    one, other = raveled(a), raveled(b)
    if one is None or other is None or one.layout.size != other.layout.size:
        return None
    if one.element_type.kind == "c":
        if one.layout.size > _FEW:
            return None
        one = _conjugate.make((one, None))
    return product().make((one, other, None))


def ranked_product(a: Operand, b: Operand, ranks: tuple[int, int]) -> Mat | None:
    """Return ``conj(a) @ b`` of Mats with so many axes; None for others, and complex matrices."""
    if type(a) is not _mat or type(b) is not _mat:
        return None
    one: Any = a
    other: Any = b
    if (one.ndim, other.ndim) != ranks or one.layout.shape[-1] != other.layout.shape[0] or not (
            is_numpys(one.element_type) and is_numpys(other.element_type)):
        return None
    if one.element_type.kind == "c" and ranks[0] == 1:
        return vector_product(a, b) if ranks[1] == 1 else None
    return matrix_product(a, b)


def matrix_product(a: Operand, b: Operand) -> Mat | None:
    """Return NumPy's ``dot(a, b)`` if that is ``a @ b`` of Mats, else None."""
    if type(a) is not _mat or type(b) is not _mat:
        return None
    one: Any = a
    other: Any = b
    if not one.layout.shape or not 0 < len(other.layout.shape) < 3:
        return None
    return a @ b if _in_use else product().make((a, b, None))


def inner_product(a: Operand, b: Operand) -> Mat | None:
    """Return the products of rows of Mats that are vectors or matrices, NumPy's ``inner(a, b)``."""
    if type(b) is not _mat:
        return None
    one: Any = a
    other: Any = b
    shape = other.layout.shape
    if not one.layout.shape or not 0 < len(shape) < 3 or one.layout.shape[-1] != shape[-1]:
        return None
    return product().make((a, b if len(shape) == 1 else other.T, None))


def product_by_einsum(subscripts: object, a: object, b: object) -> Mat | None:
    """Return NumPy's ``einsum(subscripts, a, b)`` if that is ``a @ b`` of Mats of floats."""
    if type(subscripts) is not str or type(a) is not _mat or type(b) is not _mat:
        return None
    one: Any = a
    other: Any = b
    if one.element_type is not other.element_type or one.element_type.char not in BLAS_TYPES:
        return None
    key = subscripts, len(one.layout.shape), len(other.layout.shape)
    means = _products.get(key)
    if means is None:
        if len(_products) >= _FEW:
            _products.clear()
        means = plugin("numpy.composites.products").means_product(*key)
        _products[key] = means
    if not means or one.layout.shape[-1] != other.layout.shape[-2 if key[2] > 1 else 0]:
        return None
    return a @ b if _in_use else product().make((a, b, None))


def contracted(a: Operand, b: Operand, axes: Operand) -> Mat | None:
    """Return NumPy's ``tensordot(a, b, 1)`` if that is ``a @ b`` of Mats, else None."""
    if type(axes) is not int or axes != 1 or type(b) is not _mat:
        return None
    one: Any = a
    other: Any = b
    if not one.layout.shape or one.layout.shape[-1:] != other.layout.shape[:1]:
        return None
    return matrix_product(a, b)


_argmax: Any = Mat.argmax
_argmax.shorter = few.first_truth


def _reductions() -> dict[object, Way]:
    """Return those that have a plan for each form of their operand and axis, and running totals."""
    found: dict[object, Way] = {np.any: Decision(reduce.ANY, True),
                                np.all: Decision(reduce.ALL, False)}
    for name in ("sum", "prod", "mean", "max", "min", "argmax", "argmin"):
        found[getattr(np, name)] = ByPlan(vars(vars(reduce)[name])["op"])
    found |= {np.cumsum: Running(np.add, None), np.cumprod: Running(np.multiply, None)}
    if not isinstance(np.count_nonzero(np.zeros(1)), int):  # before NumPy 2.4
        found[np.count_nonzero] = OrNumPy(few.truths, ByPlan(reduce.COUNT_NONZERO))
    return found


# by NumPy's functions
WAYS: dict[object, Way] = {
    np.concatenate: Along(joined, 0, True), np.stack: Along(stacked, 0, True),
    np.sort: Along(sorted_along, -1), np.ravel: Of(raveled),
    **{f: ByLayout(f) for name in (*NAMES, *OF_SEVERAL) if (f := numpy_function(name)) is not None},
    np.shape: Of(attrgetter("shape")), np.ndim: Of(attrgetter("ndim")),
    np.size: Of(attrgetter("size")), np.real: Of(real_parts), np.imag: Of(attrgetter("imag")),
    np.iscomplexobj: Of(lambda x: x.dtype.kind == "c"),
    np.isrealobj: Of(lambda x: x.dtype.kind != "c"),
    np.clip: Of(few.clipped, 3, True), np.result_type: ResultType(),
    np.diag: OrNumPy(few.of_diagonal, ByLayout(np.diag)),
    np.linalg.norm: Of(length), np.ptp: Along(few.extent, None), np.tensordot: Of(contracted, 3),
    np.dot: Of(matrix_product, 2), np.vdot: Of(vector_product, 2), np.inner: Of(inner_product, 2),
    **_reductions()}
for _function, _shorter in ((np.squeeze, squeezed), (np.atleast_1d, at_least_1d)):
    WAYS[_function] = OrNumPy(_shorter, WAYS[_function])
    WAYS[_function].in_blocks = True
_ways, _of_many = WAYS, OF_MANY  # with types of C
_FEW, _MANY = 1 << 12, 1 << 17  # elements
_MOST_VIEWS = 256  # of each function


# what is shorter than a call of NumPy, by its function: of how many arguments, and what those after
# them may be
_SHORTER: dict[object, tuple[Any, ...]] = {
    np.einsum: (product_by_einsum, 3),
    np.linalg.vecdot: (lambda a, b: ranked_product(a, b, (1, 1)), 2),
    np.real_if_close: (lambda x: x if type(x) is _mat and x.dtype.kind != "c" else None,),
    np.fix: (lambda x: _trunc.make((x, None)) if type(x) is _mat else None,),
    np.bincount: (few.counted,), np.nonzero: (places,), np.flatnonzero: (flat_places,),
    np.argwhere: (rows_of_places,), np.nan_to_num: (few.without_nan,),
    np.unravel_index: (unraveled, 2, ("C",)),
    np.ravel_multi_index: (raveled_places, 2, ("raise", "C")),
    np.trace: (few.traced, 1, (0, 0, 1)), np.array_equal: (few.all_equal, 2),
    np.interp: (few.interpolated, 3), np.where: (few.chosen, 3), np.tile: (few.tiled, 2),
    np.searchsorted: (searched, 2, ("left",))}
# the same of functions of how many arguments and an axis, what this is by default, and whether it
# is given by its name only
_ALONG: dict[object, tuple[Any, ...]] = {
    np.argsort: (arg_sorted, 1, -1, False), np.diff: (few.differenced, 1, -1, True),
    np.repeat: (few.repeated, 2, None, False),
    np.compress: (selection.compressed, 2, None, False),
    np.round: (few.rounded, 1, 0, False, "decimals"),
    np.correlate: (few.correlated, 2, "valid", False, "mode"),
    np.convolve: (few.convolved, 2, "full", False, "mode"),
    np.roll: (few.rolled, 2, None, False), np.take: (selection.taken_of, 2, None, False)}
_usual_of: list[Callable[[Function], int]] = []  # the only one


def leave_to_numpy(usual: Callable[[Function], int]) -> None:
    """Let NumPy compute those functions of a few elements of which it is known to be faster, unless
    something shorter is known; `usual` is that of `ByNumPy`.
    """
    _usual_of.append(usual)
    for function, (shorter, *facts) in _SHORTER.items():
        WAYS[function] = OrNumPy(shorter, ByNumPy(function, usual), *facts)
    for function, (shorter, *facts) in _ALONG.items():
        WAYS[function] = AlongOrNumPy(shorter, ByNumPy(function, usual), *facts)
    WAYS[np.where] = OrNumPy(places, WAYS[np.where])
    WAYS[np.einsum] = OrNumPy(lambda subscripts, x: plugin("numpy.composites.products").viewed(
        subscripts, x), WAYS[np.einsum], 2)


def called_shortly(function: Function, args: Arguments, kwargs: Keywords) -> Operand:
    """Call a function in its shortest way, and return its result; None if there is none."""
    if _observers or not args:
        return None
    way = _ways.get(function)
    if _in_use and (way is None or not way.in_blocks):
        return None
    if way is None:
        if function not in _of_many:
            return None
        way = _ways[function] = ByNumPy(function, _usual_of[0])
    return way.call(args, kwargs)


def copied_to(args: Arguments) -> bool:
    """Copy a small Mat to a packed one of its form, or a number; return whether it was done."""
    if len(args) != 2 or type(args[0]) is not _mat:
        return False
    view: Any = args[0]
    if type(args[1]) is not _mat:
        kind = view.element_type.kind
        return leaves_dtype(args[1], kind) and view._fill_quickly(args[1])
    layout = view.layout
    return view.storage.writable and not view.read_only and (
        layout.contiguous and copied_to_part(view, layout, layout, args[1]))


def masked(args: Arguments) -> bool:
    """Overwrite few elements that a mask selects with a number, or any with those of a Mat of that
    form at their places; return whether it was done.
    """
    if len(args) != 3 or type(args[0]) is not _mat or type(args[1]) is not _mat:
        return False
    view: Any = args[0]
    mask: Any = args[1]
    if mask.element_type is not _bool or view.layout.shape != mask.layout.shape or not (
            view.layout.size and view.storage.writable and is_numpys(view.element_type)):
        return False
    if type(args[2]) is _mat:
        given: Any = args[2]
        if given.element_type is not view.element_type or given.layout.shape != view.layout.shape:
            return False
        return _select.carry_out((mask, given, view, view), _NO_KEYWORDS) is view
    if view.layout.size > _FEW or not leaves_dtype(args[2], view.element_type.kind):
        return False
    return written(view, mask, args[2], True) is not None


def put_in_order(args: Arguments) -> bool:
    """Write a number, or as many elements of the dtype, to the elements of a packed Mat with
    row-major indices; return whether it was done.
    """
    if len(args) != 3 or type(args[0]) is not _mat or type(args[1]) is not _mat:
        return False
    view: Any = args[0]
    at: Any = args[1]
    if at.element_type is not _int64 or not (
            view.layout.contiguous and is_numpys(view.element_type)):
        return False
    if type(args[2]) is _mat:
        source: Any = args[2]
        if source.element_type is not view.element_type or source.layout.shape != at.layout.shape:
            return False
    elif not leaves_dtype(args[2], view.element_type.kind):
        return False
    return written(raveled(view), at, args[2], False) is not None


def partitioned(args: Arguments) -> bool:
    """Reorder few elements as NumPy's method does; return whether it was done."""
    return write_briefly(_partition, args, _NO_KEYWORDS)


def diagonal_filled(args: Arguments) -> bool:
    """Write a number to the diagonal of a matrix; return whether it was done."""
    if len(args) != 2 or type(args[0]) is not _mat:
        return False
    view: Any = args[0]
    layout = view.layout
    if type(args[1]) is not int and type(args[1]) is not float:
        return False
    return len(layout.shape) == 2 and layout.injective and view._view_of(
        layout.diagonal(0, 0, 1))._fill_quickly(args[1])


# by functions that write their first argument: what does so in the shortest way
_writers: dict[object, Function] = {np.copyto: copied_to, np.put: put_in_order,
                                    np.putmask: masked, np.fill_diagonal: diagonal_filled}


def written_shortly(function: Function, args: Arguments, kwargs: Keywords) -> bool:
    """Call a function that writes its first argument in its shortest way, if it has one."""
    if _in_use or _observers:
        return False
    if kwargs and function is _copyto and len(args) == 2 and kwargs.keys() == {"where"} and masked(
            (args[0], kwargs["where"], args[1])):
        return True
    shorter = None if kwargs else _writers.get(function)
    if shorter is not None and shorter(args):
        return True
    return write_briefly(function, args, kwargs)


class ShortMethod(MatMethod):
    """A method that is NumPy's function `numpys` in its shortest way, or `function`; `second`: self
    is the second argument of that.
    """

    def __init__(self, numpys: Function, function: Function, second: bool = False) -> None:
        MatMethod.__init__(self, function)
        self.numpys: Function = numpys
        self.second: bool = second

    def call_plainly(self, x: Operand, y: Operand, count: int) -> Operand:
        if self.second:
            return called_shortly(self.numpys, (y, x), _NO_KEYWORDS) if count == 2 else None
        return called_shortly(self.numpys, (x,) if count == 1 else (x, y), _NO_KEYWORDS)

    def call_fully(self, args: Arguments, kwargs: Keywords) -> Operand:
        given = args
        if self.second and len(args) > 1:
            given = (args[1], args[0], *args[2:])
        found = called_shortly(self.numpys, given, kwargs)
        return self.function(*args, **kwargs) if found is None else found


class TakeMethod(ShortMethod):
    """The method `take`, by `taken_of` at once."""

    def call_plainly(self, x: Operand, y: Operand, count: int) -> Operand:
        found = None
        if count == 2 and not _observers:
            found = taken_of(x, y, None)
        return ShortMethod.call_plainly(self, x, y, count) if found is None else found

    def call_fully(self, args: Arguments, kwargs: Keywords) -> Operand:
        found = None
        if len(args) == 3 and not kwargs and not _observers:
            found = taken_of(args[0], args[1], args[2])
        return ShortMethod.call_fully(self, args, kwargs) if found is None else found


for _kind in (ShortMethod, TakeMethod):
    give_vectorcall(_kind)
