"""Reductions out of one class each: the function, its method, and its implementations.

``sum = reduction(Sum())`` declares the operation (`x` read, `out` written) and its method, and
returns the public function. A subclass of `Reduction` has all that is to be known of one.
``where=`` is an element-wise choice before it, ``initial=`` an operation after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from ...devices.in_use import computes_elsewhere
from ...errors import DTypeError, IntegerError, ShapeError
from ...layout.merged_axes import ReductionAxis, ReductionForm, form_of
from ...layout.shapes import Ints, as_axes, as_axis, broadcast_shapes, integer, items_of
from ...matrix.delegate import delegate
from ...matrix.mat import Mat
from ...matrix.methods import bind
from ...support import dtypes
from ...support.native import lib
from ...support.plugins import plugin
from ...support.types import (
    Array,
    AxisLike,
    DType,
    DTypeLike,
    Engine,
    Function,
    Keywords,
    Number,
    Operand,
)
from ..engine.by_numpy import LeftToNumPy, leave_if, or_leave
from ..engine.functions import ReducingMethod, check_is_mat
from ..engine.operands import as_mat, is_foreign, numpy_gives
from ..engine.operation import Input, MatOp, Op, Output, named, op
from ..engine.planning import Implementation
from ..tiles.overlap import meets_read
from ..tiles.tile import made_later
from . import elementwise
from .selecting import where as selected

# Signatures of reductions, which are NumPy's, each written once: for `mat.f`, `x.f` and `np.f`. The
# most frequent calls go to ``new``, which computes them for arguments of one form; the others to
# ``reduce(a, axis, keepdims, out, dtype, initial, where)``


NO_VALUE: Number = np._NoValue  # NumPy's mark of an argument that is not given
_none = NO_VALUE

PARAMETERS = {
    "dtype": "dtype, optional\n    The elements are converted to it first.",
    "out": "Mat, optional\n    Is overwritten with the result; of its shape, and of a dtype that "
           "can take it.",
    "keepdims": "bool\n    Whether reduced axes are kept, with length 1.",
    "initial": "number, optional\n    Is reduced together with the elements.",
    "where": "Mat or array of bool, optional\n    Which elements are reduced; all by default.",
}


def as_sum(new: Function, reduce: Function) -> Function:
    """Return a reduction with the parameters of NumPy's sum."""
    # the parameters are NumPy's
    def function(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None,
                 out: Mat | None = None, keepdims: bool = False, initial: Number = _none,
                 where: Operand = _none) -> Mat:
        if (out is None and dtype is None and initial is _none and where is _none
                and keepdims is False and type(a) is Mat and (axis is None or type(axis) is int)):
            return new((a, None, axis, False))
        return reduce(a, axis, keepdims, out, dtype, initial, where)

    return function


def as_mean(new: Function, reduce: Function) -> Function:
    """Return a reduction with the parameters of NumPy's mean."""
    def function(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None,
                 out: Mat | None = None, keepdims: bool = False, *,
                 where: Operand = _none) -> Mat:
        if (out is None and dtype is None and where is _none and keepdims is False
                and type(a) is Mat and (axis is None or type(axis) is int)):
            return new((a, None, axis, False))
        return reduce(a, axis, keepdims, out, dtype, _none, where)

    return function


def as_max(new: Function, reduce: Function) -> Function:
    """Return a reduction with the parameters of NumPy's max."""
    def function(a: Operand, axis: AxisLike = None, out: Mat | None = None,
                 keepdims: bool = False, initial: Number = _none, where: Operand = _none) -> Mat:
        if (out is None and initial is _none and where is _none and keepdims is False
                and type(a) is Mat and (axis is None or type(axis) is int)):
            return new((a, None, axis, False))
        return reduce(a, axis, keepdims, out, None, initial, where)

    return function


def as_argmax(new: Function, reduce: Function) -> Function:
    """Return a reduction with the parameters of NumPy's argmax."""
    def function(a: Operand, axis: int | None = None, out: Mat | None = None, *,
                 keepdims: bool = False) -> Mat:
        if (out is None and keepdims is False and type(a) is Mat
                and (axis is None or type(axis) is int)):
            return new((a, None, axis, False))
        return reduce(a, axis, keepdims, out, None, _none, _none)

    return function


def method_of(function: Function) -> Function:
    """Return a function as a method, whose first parameter is self."""
    assert isinstance(function, FunctionType)
    code = function.__code__
    method = FunctionType(code.replace(co_varnames=("self", *code.co_varnames[1:])),
                          function.__globals__, function.__name__, function.__defaults__,
                          function.__closure__)
    method.__kwdefaults__ = function.__kwdefaults__
    method.__annotations__ = {k: v for k, v in function.__annotations__.items() if k != "a"}
    return method


# Declarations


def mask_of(where: Operand, a: Mat) -> Mat:
    """Return ``where=`` as a Mat of the shape of `a`."""
    leave_if(not isinstance(where, Mat | np.ndarray | np.bool_ | bool | list))
    found = as_mat(where, "where")
    try:
        fits = found.dtype.kind == "b" and broadcast_shapes((found.shape, a.shape)) == a.shape
    except ShapeError:
        raise LeftToNumPy from None
    leave_if(not fits)
    return found.over(found.layout.broadcast_to(a.shape))


def chosen(mask: Mat, a: Mat, neutral: Number) -> Mat:
    """Return `a`, with the number `neutral` where `mask` is not true."""
    return selected(mask, a, as_mat(a.dtype.type(neutral), "a number"))


# the parameters are those of NumPy's functions, and three
def reduce_chosen(reduction: Function, rule: Function, a: Mat, axis: AxisLike, keepdims: bool,
                  initial: Operand, where: Operand, neutral: Number) -> Mat:
    """Return the reduction by `rule` of chosen elements and `initial`, or `neutral`."""
    leave_if(not _adapts(initial, a))
    if where is not NO_VALUE:
        leave_if(neutral is NO_VALUE and initial is NO_VALUE)
        a = chosen(mask_of(where, a), a, initial if neutral is NO_VALUE else neutral)
    leave_if(neutral is NO_VALUE and not a.size)
    found: Mat = reduction(a, axis, keepdims)
    if initial is NO_VALUE:
        return found
    leave_if(not dtypes.represents(found.dtype, initial))
    return rule(found, initial)


def _adapts(initial: Operand, a: Mat) -> bool:
    """Return whether the result has the dtype of the reduction with that `initial` number, too."""
    if initial is NO_VALUE:
        return True
    kind = a.dtype.kind
    return (type(initial) in (int, float) and kind in "iuf"
            and (type(initial) is int or kind == "f") and dtypes.represents(a.dtype, initial))


def mean_chosen(total: Function, a: Mat, axis: AxisLike, keepdims: bool, where: Operand) -> Mat:
    """Return the mean of the elements where ``where=`` is true."""
    mask = mask_of(where, a)
    leave_if(a.dtype.kind not in "iubf" or a.dtype.itemsize == 2)
    if a.dtype.kind != "f":
        a = a.astype(np.float64)
    count = total(mask, axis, keepdims=keepdims)
    leave_if(not computes_elsewhere(count) and not count.to_numpy().all())  # NumPy warns
    found: Mat = elementwise.divide(total(chosen(mask, a, 0), axis, keepdims=keepdims), count)
    return found if found.dtype == a.dtype else found.astype(a.dtype)


RANK = 32  # axes that compiled kernels can step along
DEVICE_RANK = 8  # the same of those of a device
ON_DEVICE = dtypes.DISTINCT  # dtypes of which a device has kernels
# of the names of compiled kernels
SUFFIXES = {c: dtypes.BY_CHAR[c].suffix for c in dtypes.INTEGERS}
SUFFIXES |= {c: c for c in dtypes.REAL_TYPES + dtypes.COMPLEX_TYPES} | {dtypes.BOOL: "1"}
_DOC = """{summary}

Parameters
----------
{operand}axis : {axis_type}
    {axis} if it is None. Negative ones count from the last.
{others}

Returns
-------
Mat
    `out`, or a new Mat: 0-d without `axis`, so that nothing waits for a device.

Raises
------
ShapeError
    If there is no such axis{or_nothing}, or `out` has another shape than the result.
DTypeError
    If {name} is not defined for the dtype, or `out` cannot take the result.

Examples
--------
{example}"""


class Reduction:
    """All facts of one reduction; a subclass for each."""

    name: ClassVar[str]
    summary: ClassVar[str]  # the first line of its docstring
    example: ClassVar[tuple[str, str]]  # a call, and what it shows
    # NumPy's: ``function(x, axis=, keepdims=, out=)``
    function: ClassVar[Function]
    one_axis = False  # one axis, or all in row-major order; the result is an index
    of_numbers = True  # the axis of a number may be 0 or -1
    of_nothing = True  # defined where there are no elements
    silent = False  # NumPy never warns of it
    compiled = ""  # the dtype characters of which there are compiled kernels
    compiled_name = ""  # in native/cpu/reduce.c; as `name` if it is not given
    of_bools = ""  # the same, of the kernel that computes the result of booleans
    suffixes: ClassVar[dict[str, str]] = SUFFIXES  # of the names, by dtype characters
    divides = False  # the compiled kernel is to divide by the number of elements
    # the element-wise function that merges the results of parts; None: there is none
    merge: ClassVar[Function | None] = None
    merged_by = ""  # the name of such a function of `ufuncs`, which are declared later
    accumulates = False  # in more precision than 16-bit floats have
    neutral: ClassVar[Number] = NO_VALUE  # the result for no elements
    signature: ClassVar[Function] = staticmethod(as_mean)  # of the function: one of NumPy's
    # makes the class of kernels of a device's engine; None: there is none
    device_type: ClassVar[Any] = None

    def cutter(self, operation: Op, cutters: Any) -> Any:
        """Return how the operation is cut into tiles, by the module of such cutters."""
        merge = self.merge or getattr(plugin("ops.primitives.ufuncs"), self.merged_by)
        return cutters.by_parts(
            operation, cutters.Merged(operation, merge, self.accumulates), self.axes)

    def implementation(self) -> Function:
        """Return the function of arrays: ``implementation(x, out, axis, keepdims)``."""
        function = self.function
        return lambda x, out, axis, keepdims: function(x, axis=axis, keepdims=keepdims, out=out)

    def result_dtype(self, dtype: DType) -> DType:
        """Return the dtype of the result for elements of `dtype`."""
        return _result_dtype(self, dtype)

    def of_chosen(self, core: Function, x: Mat, axis: AxisLike, keepdims: bool, initial: Operand,
                  where: Operand) -> Mat:
        """Return the reduction of elements that are chosen, and of `initial`."""
        rule = or_leave(self.merge)
        return reduce_chosen(core, rule, x, axis, keepdims, initial, where, self.neutral)

    # Checks

    def computes_in(self, dtype: DType) -> bool:
        """Return whether elements of `dtype` are reduced in it, whatever the result's dtype is."""
        return not self.one_axis and (not self.divides or dtype.kind in "fc")

    def axes(self, x: Mat, axis: AxisLike) -> Ints:
        """Return the axes to reduce."""
        return axes_of(x, axis, self.one_axis, self.of_numbers)

    def check(self, x: Mat, out: Mat, axis: AxisLike, keepdims: bool) -> None:
        """Raise unless `out` can take the result."""
        name, axes = self.name, self.axes(x, axis)
        if not self.of_nothing and any(x.layout.shape[k] == 0 for k in axes):
            raise ShapeError(f"{name} of no elements is undefined: shape {x.shape}, axis {axis}")
        wanted = reduced_shape(x.layout.shape, axes, keepdims)
        if out.layout.shape != wanted:
            raise ShapeError(f"{name} gives shape {wanted}, out has {out.shape}")
        dtype = self.result_dtype(x.dtype)
        if not np.can_cast(dtype, out.dtype, "same_kind"):
            raise DTypeError(f"{name} gives {dtype}, which {out.dtype} cannot take")

    def operand(self, x: Operand) -> Mat:
        """Return `x` as a Mat."""
        return as_mat(x, "a")

    def result_of(self, x: Mat, axis: AxisLike, keepdims: bool) -> tuple[Ints, DType]:
        """Return shape and dtype of the result."""
        shape = reduced_shape(x.shape, self.axes(x, axis), keepdims)
        return shape, self.result_dtype(x.dtype)

    # Kernels

    def fits_compiled(self, x: Mat, out: Mat) -> bool:
        """Return whether compiled kernels take these operands: they do not convert."""
        return out.dtype == self.result_dtype(x.dtype) and x.ndim <= RANK

    def fits_device(self, x: Mat, out: Mat) -> bool:
        """Return whether the kernels of a device take these operands."""
        return x.ndim <= DEVICE_RANK and self.fits_compiled(x, out)

    def kernel(self, char: str) -> str:
        """Return the name of the compiled kernel for elements of a dtype character."""
        of_bools = self.of_bools if char in dtypes.BOOL else ""
        return f"mat_{of_bools or self.compiled_name or self.name}_{self.suffixes[char]}"

    def prepare(self, cpu: Engine, x: Mat, out: Mat, axis: AxisLike, keepdims: bool) -> Function:
        """Return a compiled kernel for such operands."""
        axes, strides = self.kept(x, out, axis, keepdims)
        return reduced_by(cpu, self.kernel(x.dtype.char), x, axes, strides, ordered=self.one_axis,
                          mean=self.divides, mask=-1)

    def prepare_device(self, cuda: Engine, x: Mat, out: Mat, axis: AxisLike,
                       keepdims: bool) -> Function:
        """Return a device's kernel for such operands."""
        axes, strides = self.kept(x, out, axis, keepdims)
        return reduced_on_device(cuda, self.device_type(cuda), x, out, axes, strides,
                                 ordered=self.one_axis)

    def kept(self, x: Mat, out: Mat, axis: AxisLike, keepdims: bool) -> tuple[Ints, Ints]:
        """Return the axes to reduce, and the strides of the result along the others."""
        axes = self.axes(x, axis)
        return axes, tuple(s for k, s in enumerate(out.element_strides)
                           if k not in axes) if keepdims else out.element_strides

    # Documentation

    def documented(self, function: Function) -> Function:
        """Return the function, or the method, with its name and docstring."""
        code = function.__code__
        operand, _, *others = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
        doc = _DOC.format(
            summary=self.summary, name=self.name,
            example=">>> import mat\n>>> {}\n{}".format(*self.example),
            operand="" if operand == "self" else f"{operand} : Mat or array\n    Operand, of any "
                                                 "shape.\n",
            axis_type="int, optional" if self.one_axis else "int or tuple of int, optional",
            axis=("Axis to search along; all elements in row-major order" if self.one_axis
                  else "Axes to reduce; all"),
            others="\n".join(f"{name} : {PARAMETERS[name]}" for name in others),
            or_nothing="" if self.of_nothing else ", if there are no elements")
        function = named(function, self.name, doc)
        function.__qualname__ = self.name
        return function


class UfuncReduction(Reduction):
    """A reduction that is the method ``reduce`` of a ufunc, called without its wrapper."""

    ufunc: ClassVar[np.ufunc]
    accumulates = True

    def implementation(self) -> Function:
        reduce: Function = self.ufunc.reduce

        def reduce_by_ufunc(x: Array, out: Array, axis: AxisLike, keepdims: bool) -> object:
            if self.accumulates and is_half(x.dtype):
                out[...] = reduce(x, axis, np.float32, None, keepdims)
                return out
            return reduce(x, axis, None, out, keepdims)

        return reduce_by_ufunc


def is_half(dtype: DType) -> bool:
    """Return whether `dtype` is a floating-point type of 8 or 16 bits, prone to overflow."""
    return dtype.char in dtypes.HALVES + dtypes.FLOAT8


def assigning(function: Function) -> Function:
    """Return `function`, which writes to `out` of one dtype only, extended to any dtype."""
    def reduce_and_assign(x: Array, axis: AxisLike = None, keepdims: bool = False,
                          out: Array | None = None) -> object:
        found = function(x, axis=axis, keepdims=keepdims)
        if out is None:
            return found
        out[...] = found
        return out

    return reduce_and_assign


@cache
def _result_dtype(kind: Reduction, dtype: DType) -> DType:
    try:
        return np.asarray(kind.function(np.ones(1, dtype))).dtype
    except TypeError:
        raise DTypeError(f"{kind.name} is not defined for {dtype}; convert with "
                         "x.astype(dtype)") from None


def reduction(kind: Reduction) -> Function:
    """Declare a reduction, and return the function, which is the method of its name, too."""
    core = core_of(kind)
    function = type(kind).signature(core.op.new, _of_any(kind, core))
    bind(kind.name, ReducingMethod(core.op, kind.documented(method_of(function))))
    public = kind.documented(function)
    vars(public)["op"] = core.op
    return public


def _of_any(kind: Reduction, core: Function) -> Function:
    """Return the reduction of anything, with all arguments that NumPy has."""
    numpys: Function | None = getattr(np, kind.name, None)

    # the parameters are NumPy's
    def reduce(a: Operand, axis: AxisLike, keepdims: bool, out: Mat | None, dtype: DTypeLike,
               initial: Operand, where: Operand) -> Mat:
        foreign, plain = is_foreign(a), initial is NO_VALUE and where is NO_VALUE
        if plain and not foreign and not _is_cast_by_numpy(kind, a, dtype, out):
            return core(a, axis, keepdims, out, dtype)
        keep = keepdims is not NO_VALUE and bool(keepdims)
        if foreign and numpys is not None:
            return numpy_gives(numpys, (a,), _given(axis, dtype, out, keep, initial, where))
        x = as_mat(a, "a")
        if axis is not None:
            axes = kind.axes(x, plain_axis(axis))
            axis = axes[0] if kind.one_axis else axes
        try:
            leave_if(plain or dtype is not None or out is not None)
            found = kind.of_chosen(core, x, axis, keep, initial, where)
        except LeftToNumPy:
            given = _given(axis, dtype, out, keep, initial, where)
            if numpys is None:
                raise DTypeError(f"{kind.name} does not compute with {', '.join(given)} for "
                                 f"{x.label()}; choose elements before") from None
            found = delegate(numpys, (x,), given)
        return found

    return reduce


def _is_cast_by_numpy(kind: Reduction, a: Operand, dtype: DTypeLike, out: Mat | None) -> bool:
    """Return whether `out` is of another kind than the result: NumPy computes in its dtype then.

    Mats of real numbers do not take complex ones.
    """
    if not isinstance(out, Mat):
        return False
    found = kind.result_dtype(as_mat(a, "a").dtype if dtype is None else dtypes.as_dtype(dtype))
    into = out.element_type
    if into.kind == "b":
        return found.kind != "b" or kind.neutral is not NO_VALUE
    return found.kind != "c" and not np.can_cast(found, into, "same_kind")


def _given(axis: AxisLike, dtype: DTypeLike, out: Operand, keepdims: bool, initial: Operand,
           where: Operand) -> Keywords:
    """Return the arguments that are not NumPy's defaults."""
    every = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims or None,
             "initial": initial, "where": where}
    return {k: v for k, v in every.items() if v is not NO_VALUE and (
        v is not None or k == "initial")}


def core_of(kind: Reduction) -> Any:
    """Declare a reduction; return ``core(a, axis=None, keepdims=False, out=None, dtype=None)``."""
    kernel = _operation(kind)
    core = _core(kind, kernel)
    vars(core)["op"] = kernel
    return core


def _operation(kind: Reduction) -> MatOp:
    def check(x: Input, out: Output, axis: AxisLike, keepdims: bool) -> None:
        kind.check(x, out, axis, keepdims)

    check.__name__, check.__doc__, check.__module__ = kind.name, kind.summary, type(kind).__module__
    kernel = op(check, method="", by_form=True)
    kernel.meets_read = lambda args: meets_read(args, 1, same=False)
    kernel.first_implementations = lambda: _implementations(kind)
    kernel.reads_once = kernel.folds = True
    kernel.cut_by(made_later(lambda: kind.cutter(kernel, plugin("ops.primitives.cut_reduce"))))
    return kernel


def _implementations(kind: Reduction) -> Iterator[Implementation]:
    """Yield what computes a reduction: NumPy, kernels of the host and of devices."""
    yield Implementation("array", kind.implementation(), None, None, False, True, kind.silent)
    if lib is not None and kind.compiled:
        yield Implementation("foreign", kind.prepare, None, frozenset(kind.compiled), False, True,
                             prepares=True, when=kind.fits_compiled)
    if kind.device_type is not None:
        yield Implementation("cuda", kind.prepare_device, None, frozenset(ON_DEVICE), False, True,
                             prepares=True, when=kind.fits_device)


def _core(kind: Reduction, kernel: MatOp) -> Function:
    """Return the function that checks its arguments and calls the operation."""
    call: Callable[..., Mat] = kernel
    kernel.result_of = lambda x, out, axis, keepdims: kind.result_of(x, axis, keepdims)

    def core(x: Operand, axis: AxisLike = None, keepdims: bool = False, out: Mat | None = None,
             dtype: DTypeLike = None) -> Mat:
        if dtype is not None:
            return _converted(kind, core, x, axis, keepdims, out, dtypes.as_dtype(dtype))
        if type(x) is not Mat:
            x = kind.operand(x)
        if axis is not None and type(axis) is not int:
            axis = plain_axis(axis)
        if type(keepdims) is not bool:
            keepdims = keepdims is not np._NoValue and bool(keepdims)
        if out is None:
            return kernel.new((x, None, axis, keepdims))
        return call(x, check_is_mat(out), axis, keepdims)

    return core


def _converted(kind: Reduction, function: Function, x: Operand, axis: AxisLike, keepdims: bool,
               out: Mat | None, dtype: DType) -> Mat:  # the parameters of `core`
    """Return the reduction of `x` converted to `dtype`, and of that dtype unless of indices."""
    x = kind.operand(x)
    x = x if x.dtype == dtype else x.astype(dtype)
    if out is not None and kind.computes_in(dtype) and check_is_mat(out).dtype != dtype:
        kind.check(x, out, axis, keepdims)
        return out.assign_(_converted(kind, function, x, axis, keepdims, None, dtype))
    found: Mat = function(x, axis, keepdims, out)
    as_found = out is not None or kind.one_axis or found.dtype == dtype
    return found if as_found else found.astype(dtype)


# Axes


def reduced_shape(shape: Ints, axes: Ints, keepdims: bool) -> Ints:
    """Return `shape` without `axes`, or with length 1 there."""
    if keepdims:
        return tuple(1 if k in axes else n for k, n in enumerate(shape))
    return tuple(n for k, n in enumerate(shape) if k not in axes)


def axes_of(x: Mat, axis: AxisLike, one_axis: bool = False, of_numbers: bool = True) -> Ints:
    """Return the axes to reduce; None means all, and a number has one where NumPy's has."""
    if axis is None or (of_numbers and not x.ndim and not isinstance(axis, tuple)
                        and axis in (0, -1)):
        return tuple(range(x.ndim))
    if one_axis:
        return (as_axis(axis, x.ndim),)
    return as_axes(axis, x.ndim)


def plain_axis(axis: object) -> AxisLike:
    """Return `axis` as NumPy takes it: None, an integer or a tuple of integers."""
    if axis is None or type(axis) is int:
        return axis
    items = items_of(axis)
    if any(isinstance(a, bool) for a in items):
        raise IntegerError(f"an axis must be an integer, got {axis!r}")
    found = tuple(int(integer(a, "an axis")) for a in items)
    return found if isinstance(axis, Sequence) else found[0] if len(found) == 1 else found


# Kernels of one form


def reduced_by(cpu: Engine, kernel: str, x: Mat, axes: Ints, strides: Ints, *,
               ordered: bool = False, **more: object) -> Function:
    """Return a compiled kernel; `strides` are those of the result along the axes that are kept."""
    form = _form(x, axes, strides, ordered, x.dtype.kind == "c")
    return nothing if form is None else cpu.reduction(kernel, form, x.itemsize, **more)


def reduced_on_device(cuda: Engine, made_of: object, x: Mat, out: Mat, axes: Ints, strides: Ints, *,
                      ordered: bool = False,
                      **more: object) -> Function:  # the parameters of `reduced_by`, and two
    """Return a kernel of a device, made of that class of its kernels."""
    form = _form(x, axes, strides, ordered)
    return nothing if form is None else cuda.reduction(made_of, x.dtype.char, form,
                                                       nbytes=out.itemsize, **more)


def _form(x: Mat, axes: Ints, strides: Ints, ordered: bool,
          as_numpy: bool = False) -> ReductionForm | None:
    """Return the fewest axes to step along, with `as_numpy` in NumPy's order of additions; None for
    a result without elements.
    """
    others = iter(strides)
    every = [ReductionAxis(n, s, 0 if k in axes else next(others)) for k, (n, s) in
             enumerate(zip(x.shape, x.element_strides, strict=True))]
    kept = [a for k, a in enumerate(every) if k not in axes]
    reduced = [a for k, a in enumerate(every) if k in axes]
    if 0 in (a.n for a in kept):
        return None
    if as_numpy and not ordered:  # which reads no axis backwards
        reduced.sort(key=lambda a: -abs(a.x))
        ordered = True
    return form_of(kept, reduced, ordered)


def nothing(*values: object) -> None:
    """Reduce to a result without elements."""
