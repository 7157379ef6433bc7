"""Methods of NumPy's arrays: those that write self, convert it or give it away, and those that are
NumPy's function of their name. `clip` is a function of `mat`, too.
"""

from __future__ import annotations

import inspect
import os
import pickle
from typing import Any

import numpy as np

from ..devices.in_use import computes_elsewhere
from ..errors import DTypeError, SettingError, ShapeError
from ..layout.shapes import as_axes, as_axis
from ..matrix.brief_calls import write_briefly
from ..matrix.called_methods import WritingMethod
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..matrix.methods import bind, method
from ..ops.engine.declaration import method_like
from ..ops.engine.functions import check_is_mat
from ..ops.engine.operands import as_mat, is_foreign, is_operand, numpy_gives
from ..ops.engine.operation import named
from ..ops.primitives.copying import sorted_in_place
from ..support.dtypes import as_element
from ..support.plugins import at_first_use
from ..support.types import File, Function, Number, Operand
from ..support.unbound import DeferredSignature
from .array_function import call_numpy, code_of
from .registry import NO_VALUE
from .short_calls import ShortMethod, TakeMethod, partitioned, put_in_order

products = at_first_use("ops.linear.matmul")
sorting = at_first_use("ops.indexing.sorting")
ufuncs = at_first_use("ops.primitives.ufuncs")
_np: Any = np  # for calls with Mats, which NumPy's stubs do not know

# Writing


@method("fill")
def fill(self: Mat, value: Number) -> None:
    """Overwrite every element with a number; `fill_` returns self.

    Parameters
    ----------
    value : number or Mat of one element
        The number.

    Raises
    ------
    DTypeError
        If the dtype cannot represent it.
    """
    if self._fill_quickly(value):
        return
    if isinstance(value, Mat):
        self[...] = value.reshape(())
        return
    plain: Number = value if np.isscalar(value) else np.asarray(value).reshape(())[()]
    self.fill_(as_element(plain, self.element_type, "value"))


def _write_by(function: Function, self: Mat, *args: object, **kwargs: object) -> None:
    """Write self by a method of NumPy's arrays that raises an error before it writes anything."""
    if not write_briefly(function, (self, *args), kwargs):
        delegate(function, (self, *args), kwargs, written=(self,), in_place=True)


def _check_order(order: object) -> None:
    if order is not None:
        raise DTypeError(f"order names fields of structured dtypes, which Mats do not have, got "
                         f"{order!r}; leave it out")


def sort(self: Mat, axis: int = -1, kind: str | None = None, order: None = None, *,
         stable: bool | None = None, descending: bool | None = None) -> None:
    """Sort the elements along an axis, in place; NaN is last.

    Parameters
    ----------
    axis : int
        The axis.
    kind : {"quicksort", "mergesort", "heapsort", "stable"}, optional
        The algorithm.
    order : None
        None: Mats have no fields.
    stable : bool, optional
        Whether equal elements keep their order.
    descending : bool, optional
        Whether the order is descending.

    Raises
    ------
    AxisError
        If there is no such axis.
    """
    if kind is order is stable is descending is None and sorted_in_place((self, axis)):
        return
    _check_order(order)
    k = as_axis(axis, self.ndim)
    given = {"stable": stable, "descending": descending}
    more = {name: value for name, value in given.items() if value is not None}
    if kind is None or (kind in ("stable", "mergesort") and not more):
        sorting.sort_in_place(
            self, k, stable=bool(stable) or kind is not None, descending=bool(descending))
        return
    _write_by(np.ndarray.sort, self, k, kind, **more)


bind("sort", WritingMethod(sorted_in_place, sort))


def partition(self: Mat, kth: Operand, axis: int = -1, kind: str = "introselect",
              order: None = None) -> None:
    """Reorder the elements along an axis, in place, so that some are where sorting puts them.

    Parameters
    ----------
    kth : int or sequence of int
        The indices of these; smaller elements come before, others after them.
    axis : int
        The axis.
    kind : {"introselect"}
        The algorithm.
    order : None
        None: Mats have no fields.

    Raises
    ------
    AxisError
        If there is no such axis.
    """
    _check_order(order)
    k = as_axis(axis, self.ndim)
    if computes_elsewhere(self):
        self.assign_(_np.partition(self, kth, k, kind))
        return
    _write_by(np.ndarray.partition, self, kth, k, kind)


bind("partition", WritingMethod(partitioned, partition))


def put(self: Mat, indices: Operand, values: Operand, mode: str = "raise") -> None:
    """Overwrite the elements with these row-major indices.

    Parameters
    ----------
    indices : int or sequence of int
        The indices.
    values : array-like
        The values, which repeat if they are fewer.
    mode : {"raise", "wrap", "clip"}
        What is done with indices out of range.

    Raises
    ------
    IndexError
        If an index is out of range.
    """
    _np.put(self, indices, values, mode)


bind("put", WritingMethod(put_in_order, put))


# Products and selections


def dot(self: Mat, b: Operand, out: Mat | None = None) -> Mat:
    """Return ``numpy.dot``: the matrix product, of vectors their inner product.

    `mat.blas.dot` gives a Python number.

    Parameters
    ----------
    b : array-like
        The second operand.
    out : Mat, optional
        Is overwritten with the result.

    Returns
    -------
    Mat
        `out`, or a new Mat.
    """
    with np.errstate(all="ignore"):  # as in operations; a warning would name this line
        found: Mat = _np.dot(self, b) if out is None else _np.dot(self, b, out)
    return found


bind("dot", ShortMethod(np.dot, dot))


def imatmul(self: Mat, other: Operand) -> Operand:
    """Compute ``self <- self @ other``, a product with the shape of self."""
    if not is_operand(other):
        return NotImplemented
    found: Mat = products.matmul(self, other)
    if found.shape != self.shape:
        raise ShapeError(f"x @= y requires a product of the shape of x, {self.shape}, got "
                         f"{found.shape}; x = x @ y makes a new Mat")
    if not np.can_cast(found.dtype, self.dtype, "same_kind"):
        raise DTypeError(f"x @= y gives {found.dtype}, which {self.dtype} cannot take; x = x @ y "
                         "makes a new Mat")
    self.assign_(found)
    return self


bind("__imatmul__", imatmul)


@method("conjugate")
@method("conj")
def conj(self: Mat, out: Mat | None = None) -> Mat:
    """Return the complex conjugate of each element; self where elements are real.

    Parameters
    ----------
    out : Mat, optional
        Is overwritten with the result.

    Returns
    -------
    Mat
        `out`, self, or a new Mat.
    """
    if self.dtype.kind != "c":
        return self if out is None else check_is_mat(out).assign_(self)
    return ufuncs.conjugate(self, out)


@method("choose")
def choose(self: Mat, *choices: Operand, out: Mat | None = None, mode: str = "raise") -> Mat:
    """Return for each element the one of ``choices[element]``.

    Parameters
    ----------
    *choices : array-like
        What self's integers choose from, as several arguments or as one sequence; they are
        broadcast with self.
    out : Mat, optional
        Is overwritten with the result.
    mode : {"raise", "wrap", "clip"}
        What is done with integers out of range.

    Returns
    -------
    Mat
        `out`, or a new Mat.
    """
    several = choices[0] if len(choices) == 1 else choices
    return _np.choose(self, several, out=out, mode=mode)


def compress(self: Mat, condition: Operand, axis: int | None = None, out: Mat | None = None) -> Mat:
    """Return the slices along an axis where `condition` is true.

    Parameters
    ----------
    condition : sequence of bool
        One for each slice.
    axis : int, optional
        The axis; by default, elements are taken in row-major order.
    out : Mat, optional
        Is overwritten with the result.

    Returns
    -------
    Mat
        `out`, or a new Mat.
    """
    if axis is not None:
        as_axis(axis, max(1, self.ndim))  # a number is taken as a vector of one
    return _np.compress(condition, self, axis=axis, out=out)


bind("compress", ShortMethod(np.compress, compress, second=True))


def argpartition(self: Mat, kth: Operand, axis: int | None = -1, kind: str = "introselect",
                 order: None = None) -> Mat:
    """Return the indices that would partition self along an axis.

    Parameters
    ----------
    kth : int or sequence of int
        The indices of the elements that are where sorting puts them.
    axis : int, optional
        The axis; None for all elements in row-major order.
    kind : {"introselect"}
        The algorithm.
    order : None
        None: Mats have no fields.

    Returns
    -------
    Mat
        Of int64.
    """
    _check_order(order)
    if axis is not None:
        as_axis(axis, max(1, self.ndim))  # a number is a vector of one
    return _np.argpartition(self, kth, axis, kind)


bind("argpartition", ShortMethod(np.argpartition, argpartition))


# Bytes and files


@method("byteswap")
def byteswap(self: Mat, inplace: bool = False) -> Mat:
    """Return the elements with the bytes of each in reverse order, read as the same dtype.

    Parameters
    ----------
    inplace : bool
        Whether self is overwritten with them, and returned.

    Returns
    -------
    Mat
        self, or a new Mat.
    """
    found: Mat = delegate(np.ndarray.byteswap, (self,))
    return self.assign_(found) if inplace else found


@method("tofile")
def tofile(self: Mat, fid: File, sep: str = "", format: str = "%s") -> None:
    """Write the elements to a file, row by row, without shape and dtype; `mat.save` keeps these.

    Parameters
    ----------
    fid : path or file
        The file, which `mat.fromfile` reads.
    sep : str
        What is between elements as text; by default they are written as bytes.
    format : str
        The format of elements as text.
    """
    if not (isinstance(fid, str | bytes | os.PathLike) or hasattr(fid, "write")):
        raise DTypeError(f"fid is a path or a file that is open for writing, got {fid!r}")
    with self.facet("array", "input") as a:
        a.tofile(fid, sep, format)


@method("dumps")
def dumps(self: Mat) -> bytes:
    """Return self as a pickle.

    Returns
    -------
    bytes
        What ``pickle.loads`` makes a Mat of.
    """
    return pickle.dumps(self)


@method("dump")
def dump(self: Mat, file: Any) -> None:
    """Write self to a file as a pickle.

    Parameters
    ----------
    file : path or file
        The file.
    """
    if hasattr(file, "write"):
        pickle.dump(self, file)
        return
    with open(file, "wb") as opened:
        pickle.dump(self, opened)


# Rounding, as NumPy's scalars do it


@method("__round__")
def rounded(self: Mat, ndigits: int | None = None) -> Operand:
    """Return the elements rounded; the only element of a Mat without axes as Python's integer."""
    if self.dtype.kind in "bc":
        raise DTypeError(f"round requires real numbers, got {self.dtype}; round x.real and x.imag, "
                         "or convert with astype")
    if ndigits is None and not self.ndim:
        return round(self.item())
    return _np.round(self, 0 if ndigits is None else ndigits)


@method("__trunc__")
def truncated(self: Mat) -> int:
    """Return the only element, rounded towards zero."""
    return int(self)


NAMES: list[str] = []  # of the methods that `bind_function` has bound


def bind_function(name: str, function: Function) -> None:
    """Bind NumPy's `function`, called with self as its first argument, as the method `name`."""
    def method(self: Mat, *args: Operand, **kwargs: Operand) -> Operand:
        try:
            return call_numpy(function, (self, *args), kwargs)
        except (TypeError, ValueError, OverflowError):
            # NumPy's own errors for an axis are of four classes
            axis = args[place] if 0 <= place < len(args) else kwargs.get("axis")
            if axis is not None:
                check(axis, self.ndim)
            raise

    code = code_of(function)
    others = (tuple(p.name for p in _parameters(function)) if code is None
              else code.co_varnames[1:code.co_argcount + code.co_kwonlyargcount])
    place = others.index("axis") if "axis" in others else -1
    check = as_axes if function in (np.all, np.any, np.std, np.var) else as_axis
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__dict__["__signature__"] = DeferredSignature(
        lambda: inspect.Signature([own, *_parameters(function)]))
    NAMES.append(name)
    described = named(method, name, _documentation(name, others))
    bind(name, (TakeMethod if function is np.take else ShortMethod)(function, described))


def _parameters(function: Function) -> list[inspect.Parameter]:
    """Return the parameters of NumPy's `function` after its first."""
    try:
        _, *others = inspect.signature(function).parameters.values()
    except ValueError:  # of a ufunc, before NumPy 2.4
        return [inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)]
    return [p for p in others if p.kind is not inspect.Parameter.VAR_KEYWORD]


def _documentation(name: str, parameters: tuple[str, ...]) -> str:
    arguments = f"Parameters\n----------\n{', '.join(parameters)}\n    As for ``numpy.{name}``.\n\n"
    return (f"Return ``numpy.{name}`` of self and the arguments, as Mats.\n\n"
            f"{arguments if parameters else ''}"
            f"Returns\n-------\nMat or tuple of Mat\n    As ``numpy.{name}`` returns arrays.")


bind_function("all", np.all)
bind_function("any", np.any)
bind_function("argsort", np.argsort)
bind_function("cumprod", np.cumprod)
bind_function("cumsum", np.cumsum)
bind_function("nonzero", np.nonzero)
bind_function("repeat", np.repeat)
bind_function("round", np.round)
bind_function("searchsorted", np.searchsorted)
bind_function("std", np.std)
bind_function("take", np.take)
bind_function("trace", np.trace)


# NumPy's parameters, and the places that the standard and the method have for `min` and `max`
def clip(a: Operand, min: Operand = None, max: Operand = None,
         out: Mat | None = None, *, a_min: Operand = None, a_max: Operand = None,
         **kwargs: Operand) -> Mat:
    """Return the elements, those beyond a bound being replaced by it.

    Parameters
    ----------
    a : Mat or array_like
        Of any shape.
    min, max : Mat, array_like or None
        The bounds, which broadcast; None is no bound.
    out : Mat, optional
        Is overwritten with the result.
    a_min, a_max : Mat, array_like or None
        The same, by the names that ``numpy.clip`` gives them.
    **kwargs
        ``dtype=``, ``where=`` and ``casting=``, as for ``numpy.clip``.

    Returns
    -------
    Mat
        `out`, or a new Mat.

    Notes
    -----
    Source: `numpy.clip`.

    Examples
    --------
    >>> import mat
    >>> mat.clip([1, 5, 9], 2, max=6)
    <Mat 3 int64 F [2 5 6]>
    """
    low, high = _bound("min", min, a_min), _bound("max", max, a_max)
    function: Function = np.clip
    if is_foreign(a) and not any(isinstance(v, Mat) for v in (low, high, out)):
        return numpy_gives(function, (a, low, high, out), kwargs)
    bounds = (low, high) if out is None else (low, high, out)
    return call_numpy(function, (as_mat(a, "a"), *bounds), kwargs)


def _bound(name: str, value: Operand, other: Operand) -> Operand:
    """Return the bound that is given, by one name or the other; None if there is none."""
    given = [v for v in (value, other) if v is not None and v is not NO_VALUE]
    if len(given) > 1:
        raise SettingError(f"two bounds, {name}={value!r} and a_{name}={other!r}; give one of them")
    return given[0] if given else None


# parameters and defaults of the method are not those of NumPy's function
def _clip(self: Mat, min: Operand = None, max: Operand = None,
          out: Mat | None = None, *, a_min: Operand = None, a_max: Operand = None,
          **kwargs: Operand) -> Mat:
    return clip(self, min, max, out, a_min=a_min, a_max=a_max, **kwargs)


NAMES.append("clip")
vars(_clip)["__signature__"] = inspect.Signature(
    [p for p in inspect.signature(_clip).parameters.values() if p.kind is not p.VAR_KEYWORD])
bind("clip", ShortMethod(np.clip, method_like(clip, _clip, "clip", "a")))
bind_function("var", np.var)
