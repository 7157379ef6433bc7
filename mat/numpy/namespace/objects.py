"""Classes and objects of NumPy's that are no functions of arrays, for Mats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, Never, TypeVar

import numpy as np

from ...errors import DTypeError, ShapeError
from ...layout.shapes import Ints, as_shape
from ...layout.strided import Layout
from ...matrix.creation import adopted
from ...matrix.delegate import delegate
from ...matrix.mat import Mat
from ...matrix.nested import without_mats
from ...matrix.with_facets import with_facets
from ...ops.engine.operands import as_mat
from ...support.dtypes import as_dtype
from ...support.types import Array, ArrayLike, DTypeLike, Entry, Index, Keyword, Operand, ShapeLike
from ...support.unbound import unbound

ndarray = Mat
R = TypeVar("R")


class _Indexed:
    """An object that is used by indexing, such as ``r_[1:4, x]``, and gives Mats."""

    def __init__(self, numpy_object: Any, name: str) -> None:
        self._numpy_object = numpy_object
        self.__name__: str = name
        self.__doc__ = f"The object ``numpy.{name}``, whose results are Mats."

    def __getitem__(self, key: Index) -> Operand:
        return delegate(self._numpy_object.__getitem__, [key], name=self.__name__)

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<mat.{self.__name__}, used by indexing>"


r_: _Indexed = _Indexed(np.r_, "r_")
c_: _Indexed = _Indexed(np.c_, "c_")
mgrid: _Indexed = _Indexed(np.mgrid, "mgrid")
ogrid: _Indexed = _Indexed(np.ogrid, "ogrid")


class vectorize(np.vectorize):  # noqa: N801  # NumPy's name
    """A Python function of numbers as a function of Mats, arrays and sequences.

    Parameters
    ----------
    pyfunc, otypes, doc, excluded, cache, signature
        As for ``numpy.vectorize``.

    Examples
    --------
    >>> import mat
    >>> mat.vectorize(lambda a, b: a - b if a > b else a + b)([1, 2, 3, 4], 2)
    <Mat 4 int64 A [3 4 1 2]>
    """

    def __call__(self, *args: ArrayLike, **kwargs: ArrayLike) -> Operand:
        """Return the function's results as Mats."""
        return delegate(super().__call__, args, kwargs, name="vectorize")


class _PolynomialType(type):
    """The class of `poly1d`: NumPy's polynomials, which its operators return, are instances."""

    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, np.poly1d)


class poly1d(np.poly1d, metaclass=_PolynomialType):  # noqa: N801  # NumPy's name
    """A polynomial of one variable, whose coefficients are a NumPy array.

    Parameters
    ----------
    c_or_r, r, variable
        As for ``numpy.poly1d``.

    Examples
    --------
    >>> import mat
    >>> mat.poly1d([1.0, 2.0, 3.0])(mat.array([0.0, 1.0])).tolist()
    [3.0, 6.0]
    """

    def __init__(self, c_or_r: ArrayLike, r: bool = False, variable: str | None = None) -> None:
        super().__init__(without_mats(c_or_r), r, variable)

    def __call__(self, val: ArrayLike) -> Mat:  # type: ignore[override]  # NumPy's takes str, too
        """Return the polynomial's values at `val`."""
        return delegate(super().__call__, [val], name="poly1d")


class ndenumerate:  # noqa: N801  # NumPy's name
    """Iterator over the pairs of index and element of an array-like, in row-major order.

    Parameters
    ----------
    arr : Mat or array_like
        Is copied when the iteration begins.

    Examples
    --------
    >>> import mat
    >>> [(i, float(v)) for i, v in mat.ndenumerate(mat.array([[1.0, 2.0]]))]
    [((0, 0), 1.0), ((0, 1), 2.0)]
    """

    def __init__(self, arr: ArrayLike) -> None:
        self._pairs = np.ndenumerate(without_mats(arr))

    def __next__(self) -> tuple[Ints, Entry]:
        """Return the next pair."""
        return next(self._pairs)

    def __iter__(self) -> Iterator[tuple[Ints, Entry]]:
        return self


@unbound
def broadcast(*args: ArrayLike) -> np.broadcast:
    """Return ``numpy.broadcast`` of the arguments: their common shape, and their elements.

    Parameters
    ----------
    *args : Mat or array_like
        Operands, of which copies are iterated over.

    Returns
    -------
    numpy.broadcast
        NumPy's object.

    Examples
    --------
    >>> import mat
    >>> mat.broadcast(mat.ones((3, 1)), mat.ones(4)).shape
    (3, 4)
    """
    return np.broadcast(*map(without_mats, args))


@unbound
def nditer(op: ArrayLike | Sequence[ArrayLike], *args: Keyword, **kwargs: Keyword) -> np.nditer:
    """Return ``numpy.nditer`` over the operands: over copies of Mats, unless one is written.

    Parameters
    ----------
    op : Mat, array_like, or sequence of these
        Operands.
    *args, **kwargs
        As for ``numpy.nditer``. If `op_flags` say that Mats are written, the host accesses all Mats
        until the end of the iteration, or of its ``with`` block.

    Returns
    -------
    numpy.nditer
        NumPy's iterator.

    Raises
    ------
    DirectionError, AliasError
        If a Mat would be written that is read-only, or whose elements overlap each other.
    ConflictError
        If an open access excludes that.

    Examples
    --------
    >>> import mat
    >>> [int(v) for v in mat.nditer(mat.array([[1.0, 2.0], [3.0, 4.0]]))]
    [1, 2, 3, 4]
    >>> x = mat.array([1.0, 2.0])
    >>> with mat.nditer(x, op_flags=["readwrite"]) as it:
    ...     for v in it:
    ...         v[...] = 2 * v
    >>> x.tolist()
    [2.0, 4.0]
    """
    operands = list(op) if isinstance(op, tuple | list) else [op]
    flags = args[1] if len(args) > 1 else kwargs.get("op_flags")
    if not isinstance(flags, list | tuple) or all(isinstance(f, str) for f in flags):
        flags = repeat(flags)  # they are for all operands
    written = [isinstance(x, Mat) and "write" in repr(of_x)
               for x, of_x in zip(operands, flags, strict=False)]
    if any(written):
        found: Any = _WritingIterator(operands, written, args, kwargs)
        return found
    return np.nditer([_copied(x) if isinstance(x, Mat) else without_mats(x) for x in operands],
                     *args, **kwargs)


def _copied(x: Mat) -> Array:
    """Return a copy with axes in the order and directions of memory, in which NumPy iterates."""
    a = np.asarray(x)
    forward = tuple([slice(None, None, -1 if step < 0 else 1) for step in a.strides])
    found: Array = a[forward].copy("K")[forward]
    return found


class _WritingIterator:
    """NumPy's iterator over arrays of Mats, which it accesses until it is at its end or closed."""

    _access: Any = None
    _iterator: Any = None
    _in_block: bool = False

    def __init__(self, operands: list[Any], written: list[bool], args: tuple[Keyword, ...],
                 kwargs: dict[str, Keyword]) -> None:
        mats = [k for k, x in enumerate(operands) if isinstance(x, Mat)]
        access = with_facets(*[(operands[k], "array", "io" if written[k] else "input")
                               for k in mats])
        arrays = dict(zip(mats, access.__enter__(), strict=True))
        self._operands, self._access = operands, access
        try:
            self._iterator = np.nditer([arrays[k] if k in arrays else without_mats(x)
                                        for k, x in enumerate(operands)], *args, **kwargs)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Write what is buffered, and end the access: what is written so far stays, as NumPy's."""
        access, iterator, self._access = self._access, self._iterator, None
        if access is not None:
            try:
                if iterator is not None:
                    iterator.close()
            finally:
                access.__exit__(None, None, None)

    __del__ = close

    def __enter__(self) -> _WritingIterator:
        self._in_block = True
        self._iterator.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ends(self, more: bool) -> bool:
        if not more and not self._in_block:
            self.close()
        return more

    def __iter__(self) -> _WritingIterator:
        return self

    def __next__(self) -> Any:
        found = None if self._access is None else next(self._iterator, None)
        if not self._ends(found is not None):
            raise StopIteration
        return found

    def iternext(self) -> bool:
        """Go on to the next element; return whether there is one."""
        return self._access is not None and self._ends(self._iterator.iternext())

    @property
    def finished(self) -> bool:
        """Whether the iteration is at its end."""
        return self._access is None or self._iterator.finished

    @property
    def operands(self) -> tuple[Any, ...]:
        """The operands, and the arrays that NumPy has made for None."""
        return tuple(a if x is None else x for x, a in
                     zip(self._operands, self._iterator.operands, strict=True))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            setattr(self._iterator, name, value)

    def __len__(self) -> int:
        return len(self._iterator)

    def __getitem__(self, index: Any) -> Any:
        return self._iterator[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._iterator[index] = value


def fromfunction(function: Callable[..., R], shape: ShapeLike, *, dtype: DTypeLike = float,
                 like: object = None, **kwargs: Keyword) -> R:
    """Return the result of `function` for the indices of an array of that shape.

    Parameters
    ----------
    function : callable
        Is called once with a Mat of indices for each axis.
    shape : tuple of int
        The lengths of the axes.
    dtype : dtype, optional
        That of the indices.
    like : None
        Has no effect.
    **kwargs
        Are passed on.

    Returns
    -------
    Mat
        What `function` returns.

    Examples
    --------
    >>> import mat
    >>> mat.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int).tolist()
    [[0, 1, 2], [10, 11, 12]]
    """
    found: Array = np.indices(as_shape(shape), as_dtype(dtype))
    return function(*(adopted(a.copy()) for a in found), **kwargs)


def as_strided(x: ArrayLike, shape: ShapeLike | None = None, strides: Sequence[int] | None = None,
               subok: bool = False, writeable: bool = True, *, check_bounds: object = None) -> Mat:
    """Return a view with other lengths and strides, counted in bytes.

    Parameters
    ----------
    x : Mat or array_like
        Operand, whose first element is the first of the view.
    shape, strides : sequence of int, optional
        Lengths, and steps in bytes.
    subok, check_bounds
        Have no effect: a view never leaves the memory of `x`.
    writeable : bool
        Whether the view can be written, where its elements do not overlap.

    Returns
    -------
    Mat
        A view.

    Raises
    ------
    ShapeError
        If elements would lie outside of the storage, or strides are no multiples of the element's
        size.

    Examples
    --------
    >>> import mat
    >>> mat.lib.stride_tricks.as_strided(mat.array([1.0, 2.0, 3.0]), (2, 2), (8, 8)).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    source = as_mat(x, "x")
    size = source.itemsize
    lengths = source.shape if shape is None else as_shape(shape)
    steps = list(source.strides if strides is None else strides)
    if len(steps) != len(lengths) or any(s % size for s in steps):
        raise ShapeError(f"as_strided requires a stride for each of the axes {lengths}, a multiple "
                         f"of {size} bytes, got {tuple(steps)}")
    layout = Layout(lengths, tuple(s // size for s in steps), source.displacement)
    low, high = layout.bounds
    if low < 0 or high > source.max_size:
        raise ShapeError(f"shape {lengths} and strides {tuple(steps)} reach elements {low} to "
                         f"{high - 1} of a storage of {source.max_size}")
    view: Mat = source.over(layout)
    view.read_only |= not writeable
    return view


class _UfuncType(type):
    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, np.ufunc) or (callable(thing) and hasattr(thing, "types")
                                               and hasattr(thing, "reduceat"))


class ufunc(metaclass=_UfuncType):  # noqa: N801  # NumPy's name
    """The type of functions of elements, for `isinstance`: NumPy's ufuncs are of it, too."""

    def __new__(cls) -> Never:
        raise DTypeError("ufuncs are functions such as mat.add; mat.vectorize(f) makes one of f")
