"""What a Mat sees of its storage: shape, strides, displacement, and the views made of them. Nothing
here moves data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from ..core.cube import View
from ..errors import ConflictError, DTypeError, ShapeError
from ..layout.strided import Ints, Layout, as_axis, as_shape, integer, packed


class Views(View):
    """A layout over a storage, and the views that can be had without copying."""

    __slots__ = ("form", "layout")
    layout: Layout
    form: object  # stands for all that an operation's checks depend on; None: not asked for yet

    def over(self, layout: Layout) -> Self:
        """The view of the same storage that sees what `layout` says."""
        raise NotImplementedError

    @property
    def shape(self) -> Ints:
        """The lengths of the axes."""
        return self.layout.shape

    @property
    def strides(self) -> Ints:
        """The steps in the storage along each axis, in elements (not bytes)."""
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
        """Whether the visible elements lie row-major without gaps."""
        return self.layout.contiguous

    def __len__(self) -> int:
        if not self.shape:
            raise DTypeError("a Mat without axes has no length and no rows; x.item() is its "
                             "element")
        return self.shape[0]

    # Views

    def view(self, shape: object, displacement: int | None = None) -> Self:
        """The `shape` at `displacement` (absolute; default: where self begins), packed, of the same
        storage.

        The size may change. `ShapeError` if it does not fit into ``max_size``.

        >>> import mat
        >>> mat.arange(6).view((2, 2), 1)
        <Mat 1+2x2+1 A [[1. 2.] [3. 4.]]>
        """
        return self.over(self._packed_at(shape, displacement))

    def _packed_at(self, shape: object, displacement: int | None) -> Layout:
        start = self.displacement if displacement is None else integer(displacement, "a displacement")
        if start < 0:
            raise ShapeError(f"a displacement is not negative, got {start}")
        return packed(as_shape(shape), start).check_within(self.storage.size)

    def reshape(self, *shape: Any) -> Self:
        """The same elements in another shape; one length may be -1.

        `ShapeError` where the size differs (``view`` may change it), or where strides forbid a view
        (``x.contiguous().reshape(...)`` copies).

        >>> import mat
        >>> mat.arange(6).reshape(2, -1).shape
        (2, 3)
        """
        return self.over(self._reshaped(shape[0] if len(shape) == 1 else shape))

    def _reshaped(self, shape: object) -> Layout:
        items = tuple(shape) if isinstance(shape,
                                           Iterable) and not isinstance(shape, str) else (shape,)
        lengths = [integer(n, "a length in a shape") for n in items]
        if lengths.count(-1) == 1:
            rest = as_shape([n for n in lengths if n != -1])
            known = packed(rest).size
            if known == 0 or self.size % known:
                raise ShapeError(f"cannot infer -1 in {tuple(lengths)} for {self.size} elements")
            lengths[lengths.index(-1)] = self.size // known
        return self.layout.reshape(as_shape(lengths))

    def displace(self, displacement: int) -> Self:
        """The same shape, packed, at the absolute `displacement`."""
        return self.view(self.shape, displacement)

    @property
    def T(self) -> Self:  # NumPy's name
        """The transposed view: all axes reversed."""
        return self.over(self.layout.permute(range(self.ndim - 1, -1, -1)))

    def permute(self, *axes: Any) -> Self:
        """The view whose axis ``k`` is axis ``axes[k]`` of self."""
        return self.over(self.layout.permute(axes[0] if len(axes) == 1
                                             and not isinstance(axes[0], int) else axes))

    def swapaxes(self, i: int, j: int) -> Self:
        """The view with axes `i` and `j` exchanged."""
        axes = list(range(self.ndim))
        a, b = as_axis(i, self.ndim), as_axis(j, self.ndim)
        axes[a], axes[b] = b, a
        return self.over(self.layout.permute(axes))

    def broadcast_to(self, *shape: Any) -> Self:
        """The view in which axes of length 1 repeat (stride 0) to make `shape`; it cannot be
        written.
        """
        return self.over(self.layout.broadcast_to(as_shape(shape[0] if len(shape) == 1 else shape)))

    def squeeze(self, axis: Any = None) -> Self:
        """The view without axes of length 1, or without those named."""
        return self.over(self.layout.squeeze(axis))

    def expand_dims(self, axis: int) -> Self:
        """The view with a new axis of length 1 at position `axis`."""
        return self.over(self.layout.expand_dims(axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """The view of the diagonal of two axes, as the new last axis; it can be written."""
        return self.over(self.layout.diagonal(offset, axis1, axis2))

    # Changing what self sees

    def _see(self, layout: Layout) -> Self:
        for record in tuple(self.storage.accesses):
            raise ConflictError(f"cannot change the shape of {self.label()} during the access to "
                                f"{record.describe()}")
        self._let_see(layout)
        return self

    def _let_see(self, layout: Layout) -> None:
        self.layout = layout
        self.form = None
        self.presented = {}

    def view_(self, shape: object, displacement: int | None = None) -> Self:
        """Let self see `shape` at `displacement`; refused while the storage is being looked at."""
        return self._see(self._packed_at(shape, displacement))

    def reshape_(self, *shape: Any) -> Self:
        """Let self see its elements in another shape of the same size."""
        return self._see(self._reshaped(shape[0] if len(shape) == 1 else shape))

    def displace_(self, displacement: int) -> Self:
        """Let self see the same shape at the absolute `displacement`."""
        return self.view_(self.shape, displacement)

    def row_(self, i: int) -> Self:
        """Let the 2-d self see only its row `i`, as a matrix of one row."""
        if self.ndim != 2:
            raise ShapeError(f"row_ wants a matrix, got shape {self.shape}")
        row = self.layout[i]
        return self._see(Layout((1, *row.shape), self.strides, row.displacement))

    @contextmanager
    def window(self, shape: object = None, displacement: int | None = None) -> Iterator[Self]:
        """Let self see another shape and displacement inside the block; what it saw comes back
        after it.

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
            self._let_see(before)
