"""Attributes of NumPy's arrays: `base`, `data`, `flags` and `ctypes`; methods of arrays that Mats
cannot have.
"""

from __future__ import annotations

import weakref
from functools import cached_property
from math import prod
from typing import Any, ClassVar, NoReturn

from ..core.direction import IO
from ..errors import DTypeError, MatError, ShapeError
from ..layout.shapes import as_shape
from ..layout.strided import Layout, packed
from ..matrix.base import MATS
from ..matrix.exports import exported_array
from ..matrix.mat import Mat
from ..matrix.methods import bind, method
from ..matrix.storage import Storage
from ..memories.host import HOST
from ..support.types import DTypeLike, Operand
from ..support.unbound import documented


def base(self: Mat) -> Mat | None:
    """The Mat of whose storage self is a view; None if self is that Mat.

    Where that Mat does not exist any more, it is a new one that sees the whole storage.
    """
    if not self.is_view:
        return None
    storage = self.storage
    for one in MATS.all():
        if one.storage is storage and not one.is_view:
            return one
    whole = Mat.__new__(Mat)
    whole._fill_in(storage, packed((storage.size,)), self.device_enabled)
    return whole


def data(self: Mat) -> memoryview:
    """The visible elements as a read-only memoryview, where the host has them.

    While it exists, self cannot be written. It is an `AttributeError` where the host has them not,
    since reading an attribute copies nothing: ``memoryview(x)`` does.
    """
    if not self._as_now().storage.is_fresh(HOST, self):
        raise AttributeError(f"{self.label()} has no 'data' now: its elements are not on the host, "
                             "and reading an attribute copies nothing; memoryview(x) copies them "
                             "there", name="data", obj=self)
    return exported_array(self).data


class _LazyCtypes:
    """`ndarray.ctypes` of a Mat; the elements are exported at the first use of an attribute."""

    def __init__(self, x: Mat) -> None:
        self._mat = x

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # no inspection copies
        return getattr(self._exported, name)

    @cached_property
    def _as_parameter_(self) -> Any:
        return self._exported._as_parameter_

    @cached_property
    def _exported(self) -> Any:
        return exported_array(self._mat).ctypes


def ctypes(self: Mat) -> Any:
    """NumPy's object for passing the elements to `ctypes`, read-only.

    Reading ``x.ctypes`` copies nothing; reading its ``data`` copies the elements to the host if
    they are not there. From then on, and while the object exists, self cannot be written;
    ``with x.facet("foreign") as p:`` gives an address to write to.
    """
    return _LazyCtypes(self)


class MemoryFlags:
    """NumPy's description of an array's memory: ``x.flags.c_contiguous``, ``x.flags["C"]``.

    `writeable` can be set to False, and again to True: of a view whose elements other Mats see for
    the view, else for the elements and all views of them. The others cannot be set.
    """

    __slots__ = ("_of",)
    _of: Mat
    aligned, writebackifcopy = True, False
    _LETTERS: ClassVar = {
        "C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned",
        "X": "writebackifcopy", "CONTIGUOUS": "c_contiguous", "FORTRAN": "f_contiguous"}
    _BITS: ClassVar = {  # those that NumPy prints, with their bits in its C interface
        "c_contiguous": 1, "f_contiguous": 2, "owndata": 4, "writeable": 0x400, "aligned": 0x100,
        "writebackifcopy": 0x2000}

    def __init__(self, x: Mat) -> None:
        object.__setattr__(self, "_of", x)

    @property
    def c_contiguous(self) -> bool:
        """Whether elements are in row-major order without gaps."""
        return _is_packed(self._of.layout)

    contiguous = c_contiguous

    @property
    def f_contiguous(self) -> bool:
        """Whether elements are in column-major order without gaps."""
        return _is_packed(self._of.layout.transposed())

    @property
    def owndata(self) -> bool:
        """Whether the Mat is no view."""
        return not self._of.is_view

    @property
    def writeable(self) -> bool:
        """Whether elements can be written."""
        return self._of.form.writable and self._of.layout.injective

    @property
    def fnc(self) -> bool:
        """Whether elements are in column-major order, and not also in row-major order."""
        return self.f_contiguous and not self.c_contiguous

    fortran = fnc

    @property
    def forc(self) -> bool:
        """Whether elements are in column-major or row-major order."""
        return self.f_contiguous or self.c_contiguous

    @property
    def behaved(self) -> bool:
        """Whether elements are aligned and can be written."""
        return self.aligned and self.writeable

    @property
    def carray(self) -> bool:
        """`behaved` and `c_contiguous`."""
        return self.behaved and self.c_contiguous

    @property
    def farray(self) -> bool:
        """`behaved` and `fnc`."""
        return self.behaved and self.fnc

    @property
    def num(self) -> int:
        """The flags as the bits that NumPy's C interface has."""
        return sum(bit for name, bit in self._BITS.items() if getattr(self, name))

    def __getitem__(self, name: str) -> bool:
        own = self._LETTERS.get(name, name.lower() if isinstance(name, str) else name)
        if own not in (*self._BITS, "fnc", "forc", "behaved", "carray", "farray"):
            raise KeyError(f"no flag is called {name!r}; x.flags prints them")
        return bool(getattr(self, own))

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("writeable", "W", "WRITEABLE") and set_writable(self._of, bool(value)):
            return
        raise MatError(f"the flag {name!r} of a Mat cannot be set to {value!r}; mat.from_numpy(a) "
                       "of a read-only array is read-only, x.copy() can be written")

    __setitem__ = __setattr__

    def __reduce__(self) -> str:
        raise DTypeError("the flags of a Mat cannot be pickled or copied, as numpy's; they are of "
                         "its memory: pickle x.flags.num")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryFlags) and self.num == other.num

    __hash__: None  # type: ignore[assignment]  # since it has __eq__

    def __repr__(self) -> str:
        return "\n".join(f"  {name.upper()} : {getattr(self, name)}" for name in self._BITS)


_FROZEN: weakref.WeakSet[Storage] = weakref.WeakSet()  # by `set_writable`


def set_writable(x: Mat, writable: bool) -> bool:
    """Set whether the elements of a Mat can be written, or only whether a view can be, if other
    Mats see them, too; return whether it is so.
    """
    storage, shared = x.storage, x.is_view and _others_see(x)
    if writable and not storage.writable and (shared or storage not in _FROZEN):
        return False
    x.read_only, x.known_form = not writable and shared, None
    if writable != storage.writable and not shared:
        storage.writable = writable
        _FROZEN.add(storage)
        for one in MATS.all():
            if one.storage is storage:
                one.known_form = None
    return True


def _others_see(x: Mat) -> bool:
    """Return whether there are other Mats of the storage of `x`."""
    return any(one.storage is x.storage and one is not x for one in MATS.all())


def _is_packed(layout: Layout) -> bool:
    """Return whether elements are in row-major order without gaps."""
    if not layout.size:
        return True
    wanted = packed(layout.shape).strides
    return all(s == w for s, w, n in zip(layout.strides, wanted, layout.shape, strict=True)
               if n != 1)


def flags(self: Mat) -> MemoryFlags:
    """The facts on memory that NumPy tells of an array: ``x.flags.c_contiguous``.

    They are `c_contiguous`, `f_contiguous`, `owndata`, `writeable`, `aligned` and
    `writebackifcopy`, also by ``x.flags["C_CONTIGUOUS"]``.
    """
    return MemoryFlags(self)


bind("base", property(base))
bind("data", property(data))
bind("ctypes", property(ctypes))
bind("flags", property(flags))


@method("resize")
def resize(self: Mat, *new_shape: Operand, refcheck: bool = True) -> None:
    """Give self another shape: its elements in row-major order, cut off or followed by zeros.

    Parameters
    ----------
    *new_shape : int or sequence of int
        The lengths of the axes; without them, or with None, nothing changes.
    refcheck : bool
        Whether it is an error if other Mats see the storage; with False they keep the old one,
        where self gets a larger one.

    Raises
    ------
    ShapeError
        If self is a view, is not stored by rows, or other Mats see its storage, and its size
        changes; ``mat.resize(x, new_shape)`` returns a new Mat.
    DirectionError
        If self is read-only.
    ConflictError
        If self is being accessed.

    Examples
    --------
    >>> import mat
    >>> x = mat.array([1, 2, 3])
    >>> x.resize(2, 2)
    >>> x.tolist()
    [[1, 2], [3, 0]]
    """
    if not new_shape or new_shape == (None,):
        return
    shape = as_shape(new_shape[0] if len(new_shape) == 1 else new_shape)
    if prod(shape) == self.size:
        self.shape = shape
        return
    if self.is_view or not self.layout.contiguous or (refcheck and _others_see(self)):
        raise ShapeError(f"{self.label()} cannot be resized to {shape}: it is a view, not stored "
                         "by rows, or other Mats see its storage; mat.resize(x, new_shape) returns "
                         "a new one")
    self.allowed(IO)
    before = self.reshape(-1).copy()
    flat = self.adjust_(shape).reshape(-1)
    kept = min(before.size, flat.size)
    flat[:kept] = before[:kept]
    flat[kept:] = 0


# Methods of NumPy's arrays that Mats cannot have: each raises an error that names the way out


_DOC = """Raise: {why}.

Parameters
----------
{parameters}
Returns
-------
None
    Never.

Raises
------
{error}
    Always; it names what does that.
"""
_FIELD = """dtype : dtype
    That of the field.
offset : int
    Its first byte.
"""


@method("getfield")
@documented(_DOC, why="elements have no fields", error="DTypeError", parameters=_FIELD)
def getfield(self: Mat, dtype: DTypeLike, offset: int = 0) -> NoReturn:
    raise DTypeError(f"elements of a Mat have no fields of {dtype!r}; x.view(dtype) reinterprets "
                     "them, x.real and x.imag are the parts of complex ones")


@method("setfield")
@documented(_DOC, why="elements have no fields", error="DTypeError",
            parameters="val : array-like\n    The values.\n" + _FIELD)
def setfield(self: Mat, val: Operand, dtype: DTypeLike, offset: int = 0) -> NoReturn:
    raise DTypeError(f"elements of a Mat have no fields of {dtype!r}; x.real = v and x.imag = v "
                     "set the parts of complex ones")


@method("setflags")
def setflags(self: Mat, write: bool | None = None, align: bool | None = None,
             uic: bool | None = None) -> None:
    """Set whether self can be written, if it is no view of another Mat; check other flags.

    Parameters
    ----------
    write : bool, optional
        Whether self is to be writable.
    align : bool, optional
        Whether elements are to be aligned, which they are.
    uic : bool, optional
        Whether writes are to be copied to another array, which they never are.

    Raises
    ------
    MatError
        If one of them is otherwise.
    """
    if write is not None and set_writable(self, bool(write)):
        write = None
    now = {"write": self.storage.writable, "align": True, "uic": False}
    wanted = {"write": write, "align": align, "uic": uic}
    for name, value in wanted.items():
        if value is not None and bool(value) is not bool(now[name]):
            raise MatError(f"the flag {name!r} of a Mat is {now[name]} and cannot be changed; "
                           "mat.from_numpy(a) of a read-only array is read-only, x.copy() can be "
                           "written")
