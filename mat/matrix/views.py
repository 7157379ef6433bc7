"""The layout of a Mat over its storage: shape, strides, displacement, views. No data is moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Self

from ..core.cube import View
from ..errors import ConflictError, DTypeError, ShapeError
from ..layout.strided import Ints, Layout, as_axis, as_shape, integer, packed
from ..support.types import AxisLike, ShapeLike


class Views(View):
    """The part of `Mat` that is a layout over a storage, and that makes views without copying."""

    __slots__ = ("form", "layout")
    layout: Layout
    # an object for all that the checks of operations depend on; None: not determined yet
    form: object

    def over(self, layout: Layout) -> Self:
        """Return the view of the same storage with another layout.

        Parameters
        ----------
        layout : Layout
            Shape, strides and displacement within the storage.

        Returns
        -------
        Mat
            A view.
        """
        raise NotImplementedError

    @property
    def shape(self) -> Ints:
        """The lengths of the axes."""
        return self.layout.shape

    @property
    def strides(self) -> Ints:
        """The steps in the storage along each axis, in elements, not bytes."""
        return self.layout.strides

    @property
    def displacement(self) -> int:
        """The storage index of the first visible element."""
        return self.layout.displacement

    @property
    def size(self) -> int:
        """The number of visible elements."""
        return self.layout.size

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.layout.shape)

    @property
    def max_size(self) -> int:
        """The number of elements of the whole storage."""
        return self.storage.size

    @property
    def is_contiguous(self) -> bool:
        """True if the visible elements are stored in row-major order without gaps."""
        return self.layout.contiguous

    def __len__(self) -> int:
        if not self.shape:
            raise DTypeError("a Mat without axes has no length and no rows; x.item() is its "
                             "element")
        return self.shape[0]

    # Views

    def view(self, shape: ShapeLike, displacement: int | None = None) -> Self:
        """Return a packed view of the same storage with another shape; its size may differ.

        Parameters
        ----------
        shape : int or sequence of int
            The lengths of the axes.
        displacement : int, optional
            The storage index of the first visible element; by default that of self.

        Returns
        -------
        Mat
            A view.

        Raises
        ------
        ShapeError
            If the view does not fit into ``max_size`` elements.

        Examples
        --------
        >>> import mat
        >>> mat.arange(6).view((2, 2), 1)
        <Mat 1+2x2+1 A [[1. 2.] [3. 4.]]>
        """
        return self.over(self._packed_at(shape, displacement))

    def _packed_at(self, shape: ShapeLike, displacement: int | None) -> Layout:
        start = self.displacement
        if displacement is not None:
            start = integer(displacement, "a displacement")
        if start < 0:
            raise ShapeError(f"a displacement is not negative, got {start}")
        return packed(as_shape(shape), start).check_within(self.storage.size)

    def reshape(self, *shape: ShapeLike) -> Self:
        """Return a view of the same elements in another shape of the same size.

        Parameters
        ----------
        *shape : int or sequence of int
            The lengths of the axes; one of them may be -1, and is inferred.

        Returns
        -------
        Mat
            A view.

        Raises
        ------
        ShapeError
            If the size differs (`view` may change it), or the strides do not allow a view
            (``x.contiguous().reshape(...)`` copies).

        Examples
        --------
        >>> import mat
        >>> mat.arange(6).reshape(2, -1).shape
        (2, 3)
        """
        return self.over(self._reshaped(shape[0] if len(shape) == 1 else shape))

    def _reshaped(self, shape: ShapeLike) -> Layout:
        several = isinstance(shape, Iterable) and not isinstance(shape, str)
        items = tuple(shape) if several else (shape,)
        lengths = [integer(n, "a length in a shape") for n in items]
        if lengths.count(-1) == 1:
            rest = as_shape([n for n in lengths if n != -1])
            known = packed(rest).size
            if known == 0 or self.size % known:
                raise ShapeError(f"cannot infer -1 in {tuple(lengths)} for {self.size} elements")
            lengths[lengths.index(-1)] = self.size // known
        return self.layout.reshape(as_shape(lengths))

    def displace(self, displacement: int) -> Self:
        """Return a packed view of the same shape at another displacement.

        Parameters
        ----------
        displacement : int
            The storage index of the first visible element.

        Returns
        -------
        Mat
            A view.
        """
        return self.view(self.shape, displacement)

    @property
    def T(self) -> Self:  # NumPy's name
        """The transposed view: all axes in reverse order."""
        return self.over(self.layout.permute(range(self.ndim - 1, -1, -1)))

    def permute(self, *axes: AxisLike) -> Self:
        """Return the view whose axis ``k`` is axis ``axes[k]`` of self.

        Parameters
        ----------
        *axes : int or sequence of int
            A permutation of the axes, as several arguments or as one sequence.

        Returns
        -------
        Mat
            A view.
        """
        return self.over(self.layout.permute(axes[0] if len(axes) == 1
                                             and not isinstance(axes[0], int) else axes))

    def swapaxes(self, i: int, j: int) -> Self:
        """Return the view with two axes exchanged.

        Parameters
        ----------
        i, j : int
            The axes; negative ones count from the last.

        Returns
        -------
        Mat
            A view.
        """
        axes = list(range(self.ndim))
        a, b = as_axis(i, self.ndim), as_axis(j, self.ndim)
        axes[a], axes[b] = b, a
        return self.over(self.layout.permute(axes))

    def broadcast_to(self, *shape: ShapeLike) -> Self:
        """Return a view of a larger shape, in which axes of length 1 repeat with stride 0.

        Parameters
        ----------
        *shape : int or sequence of int
            The lengths of the axes.

        Returns
        -------
        Mat
            A view, which cannot be written.
        """
        return self.over(self.layout.broadcast_to(as_shape(shape[0] if len(shape) == 1 else shape)))

    def squeeze(self, axis: AxisLike = None) -> Self:
        """Return the view without axes of length 1.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to leave out; by default all of length 1.

        Returns
        -------
        Mat
            A view.
        """
        return self.over(self.layout.squeeze(axis))

    def expand_dims(self, axis: int) -> Self:
        """Return the view with a new axis of length 1.

        Parameters
        ----------
        axis : int
            The position of the new axis.

        Returns
        -------
        Mat
            A view.
        """
        return self.over(self.layout.expand_dims(axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """Return the view of the diagonal of two axes; it can be written.

        Parameters
        ----------
        offset : int
            The number of the diagonal: 0 for the main one, positive above it.
        axis1, axis2 : int
            The axes, which the diagonal replaces by a new last axis.

        Returns
        -------
        Mat
            A view.
        """
        return self.over(self.layout.diagonal(offset, axis1, axis2))

    # Changing the layout of self

    def _see(self, layout: Layout) -> Self:
        for record in tuple(self.storage.accesses):
            raise ConflictError(f"cannot change the shape of {self.label()} during the access to "
                                f"{record.describe()}")
        self._set_layout(layout)
        return self

    def _set_layout(self, layout: Layout) -> None:
        self.layout = layout
        self.form = None
        self.presented = {}

    def view_(self, shape: ShapeLike, displacement: int | None = None) -> Self:
        """Make self see another shape of its storage, packed; its size may differ.

        Parameters
        ----------
        shape : int or sequence of int
            The lengths of the axes.
        displacement : int, optional
            The storage index of the first visible element; by default unchanged.

        Returns
        -------
        Mat
            `self`.

        Raises
        ------
        ConflictError
            If the storage is being accessed.
        """
        return self._see(self._packed_at(shape, displacement))

    def reshape_(self, *shape: ShapeLike) -> Self:
        """Make self see its elements in another shape of the same size.

        Parameters
        ----------
        *shape : int or sequence of int
            The lengths of the axes; one of them may be -1, and is inferred.

        Returns
        -------
        Mat
            `self`.
        """
        return self._see(self._reshaped(shape[0] if len(shape) == 1 else shape))

    def displace_(self, displacement: int) -> Self:
        """Make self see the same shape at another displacement.

        Parameters
        ----------
        displacement : int
            The storage index of the first visible element.

        Returns
        -------
        Mat
            `self`.
        """
        return self.view_(self.shape, displacement)

    def row_(self, i: int) -> Self:
        """Make a matrix see only one of its rows, as a matrix of one row.

        Parameters
        ----------
        i : int
            The index of the row.

        Returns
        -------
        Mat
            `self`.
        """
        if self.ndim != 2:
            raise ShapeError(f"row_ wants a matrix, got shape {self.shape}")
        row = self.layout[i]
        return self._see(Layout((1, *row.shape), self.strides, row.displacement))

    @contextmanager
    def window(self, shape: ShapeLike = None, displacement: int | None = None) -> Iterator[Self]:
        """Make self see another shape and displacement during a block.

        Parameters
        ----------
        shape : int or sequence of int, optional
            The lengths of the axes; by default unchanged.
        displacement : int, optional
            The storage index of the first visible element; by default unchanged.

        Yields
        ------
        Mat
            `self`.

        Examples
        --------
        >>> import mat
        >>> x = mat.zeros(6)
        >>> with x.window(2, 3):
        ...     x.fill_(7)
        <Mat 3+2+1 F [7. 7.]>
        >>> x
        <Mat 6 F [0. 0. 0. 7. 7. 0.]>
        """
        before = self.layout
        self._see(self._packed_at(self.shape if shape is None else shape, displacement))
        try:
            yield self
        finally:
            self._set_layout(before)
