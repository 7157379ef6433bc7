"""Methods of NumPy's arrays that Mats cannot have: each raises an error that names the way out."""

from __future__ import annotations

from typing import NoReturn

from ..errors import DTypeError, MatError, ShapeError
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..support.types import DTypeLike, Operand
from ..support.unbound import documented
from .attributes import set_writable

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


@method("resize")
@documented(_DOC, why="a Mat does not change its size and keep its elements", error="ShapeError",
            parameters="""\
*new_shape : int or sequence of int
    The lengths of the axes.
refcheck : bool
    As for ``numpy.ndarray.resize``.
""")
def resize(self: Mat, *new_shape: Operand, refcheck: bool = True) -> NoReturn:
    raise ShapeError(f"a Mat cannot be resized to {new_shape}: mat.resize(x, new_shape) returns a "
                     "new one, x.adjust_(shape) makes room without keeping the elements")


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
    """Set whether self can be written, if it is no view; check that other flags are as requested.

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


class matrix:  # noqa: N801  # NumPy's name
    """Raise: a Mat with two axes is a matrix."""

    def __new__(cls, *_: object, **__: object) -> NoReturn:
        raise DTypeError("mat has no matrix: a Mat with two axes is a matrix, and @ its product: "
                         "mat.array(data)")
