"""Calling a function for parts of a Mat, or for its elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ...errors import ShapeError
from ...layout.shapes import as_shape, integer
from ...layout.strided import packed
from ...matrix.mat import Mat
from ...matrix.nested import as_plain, converted
from ...support.types import Function, ShapeLike
from ..engine.functions import check_is_mat

T = TypeVar("T")


def map_concat(fn: Function, mats: Iterable[T], mat: Mat, *,
               key: Callable[[T], Mat] | None = None) -> Mat:
    """Call ``fn(m, part)`` for each m of `mats`, with the next part of `mat` in the shape of m.

    Parameters
    ----------
    fn : callable
        Is called with a Mat and a view of `mat`; what it returns is ignored.
    mats : iterable
        Mats, or anything that `key` makes Mats of.
    mat : Mat
        Packed; it has at least as many elements as `mats` together.
    key : callable, optional
        ``key(m)`` is the Mat whose shape counts, if not m itself.

    Returns
    -------
    Mat
        `mat`.

    Raises
    ------
    ShapeError
        Before any call, if `mat` is not packed or has too few elements.

    Examples
    --------
    >>> import mat
    >>> x = mat.zeros(6)
    >>> mat.map_concat(lambda m, part: part.copy_(m), [mat.ones(2), mat.full((2, 2), 3.0)], x)
    <Mat 6 F [1. 1. 3. 3. 3. 3.]>
    """
    _check_packed("map_concat", mat)
    items = [(m, check_is_mat(m if key is None else key(m), "a part").shape) for m in mats]
    if sum(packed(shape).size for _, shape in items) > mat.size:
        raise ShapeError(f"parts of shapes {[shape for _, shape in items]} are more than the "
                         f"{mat.size} elements of "
                         f"{mat.label()}")
    start = mat.displacement
    for m, shape in items:
        fn(m, mat.view(shape, start))
        start += packed(shape).size
    return mat


def map_displacements(fn: Callable[[Mat], object], mat: Mat, shape: ShapeLike, *, start: int = 0,
                      step: int | None = None) -> Mat:
    """Call `fn` with windows of one shape on the elements of `mat`, from its beginning to its end.

    Parameters
    ----------
    fn : callable
        Is called with a view of `mat`; what it returns is ignored.
    mat : Mat
        Packed.
    shape : int or tuple of int
        The shape of the windows.
    start : int
        The first element of the first window.
    step : int, optional
        Elements from one window to the next, by default the size of a window; it may be smaller.
        The last window is the last one that fits.

    Returns
    -------
    Mat
        `mat`.

    Raises
    ------
    ShapeError
        If `mat` is not packed, `start` is below 0, or `step` below 1.

    Examples
    --------
    >>> import mat
    >>> mat.map_displacements(lambda w: print(w.tolist()), mat.arange(5.0), 2, step=2)
    [0.0, 1.0]
    [2.0, 3.0]
    <Mat 5 A [0. 1. 2. 3. 4.]>
    """
    _check_packed("map_displacements", mat)
    lengths = as_shape(shape)
    size = packed(lengths).size
    stride = size if step is None else integer(step, "step")
    if stride < 1 or integer(start, "start") < 0:
        raise ShapeError(f"map_displacements goes forward: start {start}, step {stride}")
    for k in range(start, mat.size - size + 1, stride):
        fn(mat.view(lengths, mat.displacement + k))
    return mat


def _check_packed(name: str, mat: object) -> None:
    view = check_is_mat(mat, "mat")
    if not view.is_contiguous:
        raise ShapeError(f"{name} requires packed elements, got {view.label()}; contiguous() gives "
                         "a copy")


def map_into(result: Mat, fn: Function, *mats: Mat) -> Mat:
    """Compute ``result[k] <- fn(m1[k], m2[k], ...)`` in row-major order; general and slow.

    Parameters
    ----------
    result : Mat
        Is overwritten, once all calls have ended well; it may be among the inputs.
    fn : callable
        Is called with Python numbers, and returns one.
    *mats : Mat
        At least one; all of the size of `result`.

    Returns
    -------
    Mat
        `result`.

    Raises
    ------
    ShapeError
        If there is no input, the sizes differ, or `fn` returns something else than a number.

    Examples
    --------
    >>> import mat
    >>> mat.map_into(mat.empty(2), lambda a, b: a * b + 1, mat.array([1.0, 2]), mat.array([3.0, 4]))
    <Mat 2 A [4. 9.]>
    """
    sizes = [check_is_mat(m, "an operand of map_into").size for m in (result, *mats)]
    if not mats or len(set(sizes)) != 1:
        raise ShapeError("map_into requires at least one Mat and equal sizes, got "
                         f"{[m.shape for m in (result, *mats)]}")
    values = [fn(*elements)
              for elements in zip(*(m.to_numpy().ravel().tolist() for m in mats), strict=True)]
    elements = converted(values, as_plain(values), result.dtype)
    if elements.ndim != 1:
        raise ShapeError(f"map_into requires one number for each element, got {values[0]!r}")
    with result.facet("array", "output") as a:
        a[...] = elements.reshape(result.shape)
    return result
