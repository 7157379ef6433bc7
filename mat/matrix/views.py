"""Views of a Mat, and changes of its layout. No data is moved."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np

from ..core.compiled import BLOCKS
from ..errors import DTypeError, ShapeError
from ..layout.shapes import as_shape, integer
from ..layout.strided import Layout, packed
from ..support.dtypes import NAMED, as_dtype
from ..support.options import FLOAT32, FLOAT64
from ..support.types import ArrayLike, AxisLike, DType, DTypeLike, Scalar, ShapeLike
from .base import Window, form_of_result
from .elements import Elements

_float32, _float64 = FLOAT32, FLOAT64
_SPECS = (str, type, np.dtype)  # types of a dtype
_named, _blocks = NAMED, BLOCKS  # with types of C
_COMPLEX64, _COMPLEX128 = np.dtype(np.complex64).num, np.dtype(np.complex128).num


class Views(Elements):
    """The part of `Mat` that makes views without copying, and that changes the layout of self."""

    __slots__ = ()

    # The storage

    @property
    def max_size(self) -> int:
        """The number of elements of the whole storage."""
        return self._room()

    @property
    def fill_value(self) -> Scalar | None:
        """The value of elements that were never written; None if they are arbitrary."""
        storage = self.storage
        value: Scalar | None = storage.fill_value
        if value is None or self.element_type is storage.dtype:
            return value
        numbers = self._presentable(np.full(max(1, self.element_size // storage.itemsize), value,
                                            storage.dtype))
        return numbers[0].item() if (numbers == numbers[0]).all() else None

    # Views

    def view(self, shape: ShapeLike | DTypeLike = None, displacement: int | None = None, *,
             dtype: DTypeLike = None) -> Self:
        """Return a view of the same storage: of another shape, or of another dtype.

        Parameters
        ----------
        shape : int or sequence of int, or dtype, optional
            The lengths of the axes; the size may differ. Or, as in NumPy, a dtype.
        displacement : int, optional
            The storage index of the first visible element; by default that of self.
        dtype : dtype, optional
            The element type that the bytes are taken as, in all axes but the last, whose length
            changes if the sizes of elements differ.

        Returns
        -------
        Mat
            A view, packed if a shape or a displacement is given.

        Raises
        ------
        ShapeError
            If the view does not fit into ``max_size`` elements, or the bytes of the last axis are
            no elements of that dtype.
        DTypeError
            If there is no such dtype, or it is a subclass of Mat.

        Examples
        --------
        >>> import mat
        >>> x = mat.arange(6.0)
        >>> x.view((2, 2), 1)
        <Mat 1+2x2+1 A [[1. 2.] [3. 4.]]>
        >>> x.view("int64")[1]
        np.int64(4607182418800017408)
        """
        if isinstance(shape, _SPECS):
            if isinstance(shape, type) and issubclass(shape, Views):
                if not isinstance(self, shape):
                    raise DTypeError(f"Mats have no subclasses such as {shape.__name__}; keep a "
                                     "Mat in an object of a class of your own")
                return self._alone()
            shape, dtype = None, shape
        if dtype is None:
            now = self._alone()
            if shape is not None or displacement is not None:
                now.layout = now._packed_at(now.shape if shape is None else shape, displacement)
            return now
        if shape is not None or displacement is not None:
            raise DTypeError("a view has either another dtype or another shape: "
                             "x.view(dtype).view(shape) has both")
        kind = _named.get(dtype) if type(dtype) is str else None
        if kind is None:
            kind = as_dtype(dtype)
        return self._as_bytes_of(kind)

    def _as_bytes_of(self, kind: DType) -> Self:
        """Return the view of the bytes of self as elements of another dtype."""
        now = self if _blocks.enabled else self._alone()  # which other threads change uncompiled
        layout, size, of = now.layout, now.element_size, kind.itemsize
        if kind is now.element_type:
            return now._alone()
        if of == size:
            return now._typed(layout, kind)
        last = len(layout.shape) - 1
        if last < 0 or (layout.strides[last] != 1 and layout.shape[last] != 1 and layout.size):
            raise ShapeError(f"{now.label()} has no view as {kind}, of another size: its last "
                             "axis must have no gaps; x.copy() has none")
        found = layout.in_units(size, of)
        if found is None:
            raise ShapeError(f"{now.label()} has no view as {kind}: its rows are not whole "
                             f"elements of {of} bytes, or do not begin at multiples of that; "
                             f"x.copy().view({kind.name!r}) may have one")
        return now._typed(found, kind)

    def _packed_at(self, shape: ShapeLike, displacement: int | None) -> Layout:
        """Return a packed layout of that shape; `displacement` is that of self if it is None."""
        start = self.displacement
        if displacement is not None:
            start = integer(displacement, "a displacement")
        if start < 0:
            raise ShapeError(f"a displacement is not negative, got {start}")
        return packed(as_shape(shape), start).check_within(self._room())

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
        now = self._as_now()
        return now.view(now.shape, displacement)

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
        return self._permuted(axes)

    def _permuted(self, axes: tuple[AxisLike, ...]) -> Self:
        now = self._alone()
        now.layout = now.layout.permute(axes[0] if len(axes) == 1
                                        and not isinstance(axes[0], int) else axes)
        return now

    def transpose(self, *axes: AxisLike) -> Self:
        """Return the view with the axes in another order.

        Parameters
        ----------
        *axes : int or sequence of int
            Axis ``k`` of the result is axis ``axes[k]`` of self; without them, all are reversed.

        Returns
        -------
        Mat
            A view; ``x.T.copy()`` is a packed copy.

        Examples
        --------
        >>> import mat
        >>> mat.zeros(2, 3, 4).transpose(2, 0, 1).shape
        (4, 2, 3)
        """
        if not axes or (len(axes) == 1 and axes[0] is None):
            return self._view_of(self.layout.transposed())
        return self._permuted(axes)

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
        now = self._alone()
        now.layout = now.layout.swapped(i, j)
        return now

    def broadcast_to(self, *shape: ShapeLike) -> Self:
        """Return a view of a larger shape: axes of length 1 repeat with stride 0.

        Parameters
        ----------
        *shape : int or sequence of int
            The lengths of the axes.

        Returns
        -------
        Mat
            A view, which cannot be written.
        """
        now = self._alone()
        now.layout = now.layout.broadcast_to(as_shape(shape[0] if len(shape) == 1 else shape))
        return now

    def squeeze(self, axis: AxisLike = None) -> Self:
        """Return the view without axes of length 1.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to leave out; by default all of length 1.

        Returns
        -------
        Mat
            A view; self if there are none.
        """
        if axis is None and not self._seen().has_axes_of_1():
            return self
        now = self._alone()
        now.layout = now.layout.squeeze(axis)
        return now

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
        now = self._alone()
        now.layout = now.layout.expand_dims(axis)
        return now

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
        now = self._alone()
        now.layout = now.layout.diagonal(offset, axis1, axis2)
        return now

    def ravel(self, order: str | None = "C") -> Self:
        """Return the elements as a vector without gaps: a view where that can be, else a copy.

        Parameters
        ----------
        order : {"C", "F", "A", "K"}
            How elements are counted: by rows, by columns, or ("A", "K") as they are stored.

        Returns
        -------
        Mat
            A vector.

        Examples
        --------
        >>> import mat
        >>> mat.array([[1.0, 2.0], [3.0, 4.0]]).ravel("F")
        <Mat 4 F [1. 3. 2. 4.]>
        """
        layout = self.layout
        x: Any = self  # with the methods that `ops` binds
        if order == "C":
            return self._view_of(layout.flat()) if layout.contiguous else x.contiguous().ravel()
        return x._ravel_any(order)

    def flatten(self, order: str | None = "C") -> Self:
        """Return a vector with a copy of the elements.

        Parameters
        ----------
        order : {"C", "F", "A", "K"}
            How elements are counted, as for `ravel`.

        Returns
        -------
        Mat
            A new Mat of shape ``(self.size,)`` and self's dtype.

        Examples
        --------
        >>> import mat
        >>> mat.array([[1.0, 2.0], [3.0, 4.0]]).T.flatten()
        <Mat 4 F [1. 3. 2. 4.]>
        """
        x: Any = self  # with the methods that `ops` binds
        return x.copy().ravel() if order == "C" else x._flatten_any(order)

    # The parts of complex numbers

    @property
    def real(self) -> Self:
        """The real parts: self where elements are real, else a view of their halves."""
        kind = self._type_of_parts()
        return self if kind is None else self._halves(0, kind)

    @real.setter
    def real(self, value: ArrayLike) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Self:
        """The imaginary parts: a view of their halves, or zeros where elements are real."""
        kind = self._type_of_parts()
        if kind is not None:
            return self._halves(1, kind)
        layout = self._seen()
        return form_of_result(layout.shape, self.element_type).new(self.device_enabled, 0)

    @imag.setter
    def imag(self, value: ArrayLike) -> None:
        if self._type_of_parts() is None:
            raise DTypeError(f"{self.label()} is real, so its imaginary parts are 0 and cannot be "
                             "set; x.astype('complex128') has some")
        self.imag[...] = value

    def _type_of_parts(self) -> DType | None:
        """Return the dtype of the parts of complex numbers; None for others."""
        number = _blocks.number_of(self.element_type)
        if number == _COMPLEX128:
            return _float64
        return _float32 if number == _COMPLEX64 else None

    # Changing the layout of self

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
        now = self._as_now()
        return self._see(now._packed_at(shape, displacement), now.storage, now)

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
        now = self._as_now()
        return self._see(now.layout.reshaped(shape[0] if len(shape) == 1 else shape), now.storage,
                        now)

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
        now = self._as_now()
        return self._see(now._packed_at(now.shape, displacement), now.storage, now)

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
        now = self._as_now()
        if now.ndim != 2:
            raise ShapeError(f"row_ requires a matrix, got shape {now.shape}")
        row = now.layout[i]
        layout = Layout((1, *row.shape), now.element_strides, row.displacement)
        return self._see(layout, now.storage, now)

    def window(self, shape: ShapeLike | None = None,
               displacement: int | None = None) -> AbstractContextManager[Self]:
        """Make self see another shape and displacement during a block.

        At its end self sees what it saw before, in the same storage, whatever the block made it
        see: elements of a larger storage that `adjust_` gave it there are kept only by other views.

        Parameters
        ----------
        shape : int or sequence of int, optional
            The lengths of the axes; by default unchanged.
        displacement : int, optional
            The storage index of the first visible element; by default unchanged.

        Returns
        -------
        context manager
            Its block is given `self`.

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
        return Window(self, shape, displacement)
