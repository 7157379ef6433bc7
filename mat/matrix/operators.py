"""Python's operators of Mats, element by element as in NumPy, by operations.

`OPERATORS` has one object for each operator method, and one more for the reflected and for the
augmented form of it. `bind` of ``methods.py`` sets what they call.
"""

from __future__ import annotations

from typing import Any, Self, TypeVar

import numpy as np

from ..core.cube import View
from ..errors import DTypeError
from ..support.types import Arguments, ArrayLike, Function, Keywords, Number, Operand

V = TypeVar("V", bound=View)

_NO_KEYWORDS: Keywords = {}
_NUMBERS = frozenset((bool, complex, np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8,
                      np.uint16, np.uint32, np.uint64, np.float16, np.float32, np.float64,
                      np.complex64, np.complex128))


class Operation:
    """The interface of an operation for `Operator`: calls without keywords."""

    __slots__ = ()

    def make(self, args: Arguments) -> Operand:
        """Carry out the operation into a new Mat; `args` has None in its place."""
        raise NotImplementedError

    def carry_out(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out the operation."""
        raise NotImplementedError


class Operator:
    """The body of a method for one of Python's operators.

    `function` takes self and the other operand, and returns NotImplemented for what it does not
    know, which are given to `refused` if there is one. With an operation, Mats and Python's numbers
    are passed to that directly, and to `unchecked` if `function` has no values to check: self has
    inexact elements, or the other is a small natural number. `by_number` has operations of one
    operand that are this operator with a number, by the kind of the elements and the number. With
    `gives_numbers`, results of `function` without axes are NumPy's scalars on the host. If there is
    a `by_numpy`, it computes what `function` refuses because of the other operand's elements.
    """

    def __init__(self) -> None:
        self.function: Function | None = None
        self.refused: Function | None = None
        self.by_numpy: Function | None = None
        self.gives_numbers: bool = False
        self.operation: Operation | None = None
        self.unchecked: Operation | None = None
        self.by_number: dict[str, dict[Number, Operation]] | None = None
        self.plain: Operator | None = None  # of an augmented form

    def unary(self, x: V) -> V:
        """Return the new Mat that the operator makes of `x`."""
        if self.operation is not None:
            return self.operation.make((x, None))
        return NotImplemented if self.function is None else self.function(x)

    def binary(self, x: V, y: Operand) -> V:
        """Return the new Mat for ``x . y``."""
        if self.operation is not None and _is_plain(x, y):
            return self.operation.make((x, y, None))
        if self.unchecked is not None and _is_plain(x, y):
            operation: Any = self._with_number(x, y)
            if operation is not None:
                return operation.make((x, None))
            if _is_inexact(x) or (type(y) is int and 0 <= y < 128):
                return self.unchecked.make((x, y, None))
        return self._by_function(x, y)

    def reflected(self, x: V, y: Operand) -> V:
        """Return the new Mat for ``y . x``."""
        if self.operation is not None and _is_plain(x, y):
            return self.operation.make((y, x, None))
        if self.unchecked is not None and _is_inexact(x) and _is_plain(x, y):
            return self.unchecked.make((y, x, None))
        return self._by_function(x, y)

    def _with_number(self, x: V, y: Operand) -> Operation | None:
        """Return the operation that is this operator with the number `y`, if there is one."""
        # a power of integers that is a float is one, too
        if self.by_number is None or not (type(y) is int or (type(y) is float and _is_inexact(x))):
            return None
        operations = self.by_number.get(_kind_of(x))
        return operations.get(y) if operations is not None else None

    def _by_function(self, x: V, y: Operand) -> V:
        if self.by_numpy is not None:
            found = self._of_any(x, y)
        else:
            found = NotImplemented if self.function is None else self.function(x, y)
        kind: Any = type(x)
        if self.gives_numbers and type(found) is kind:
            return found._as_number()
        if self.refused is not None and found is NotImplemented:
            return self.refused(x, y)
        return found

    def _of_any(self, x: V, y: Operand) -> Any:
        """Return the result of `function`, or of `by_numpy` for elements that Mats cannot have."""
        try:
            return NotImplemented if self.function is None else self.function(x, y)
        except DTypeError:
            return self.by_numpy(x, y) if self.by_numpy is not None else NotImplemented

    def augmented(self, x: V, y: Operand) -> V:
        """Carry out ``x .= y``, for a number into a new Mat."""
        if _unchanging and self.plain is not None and _is_number(x):
            return self.plain.binary(x, y)
        if self.operation is not None and _is_plain(x, y):
            return self.operation.carry_out((x, y, x), _NO_KEYWORDS)
        return NotImplemented if self.function is None else self.function(x, y)


def _is_plain(x: View, y: object) -> bool:
    """Return whether `y` needs no conversion: it is a Mat, as `x` is, or a number."""
    kind = type(y)
    return kind is type(x) or kind is float or kind is int or kind in _NUMBERS


def _kind_of(x: Any) -> str:
    """Return the letter of the kind of the elements of a Mat."""
    letter: str = x.element_type.kind
    return letter


def _is_inexact(x: View) -> bool:
    """Return whether the elements of `x` are floats or complex numbers."""
    letter = _kind_of(x)
    return letter == "f" or letter == "c"  # compiled, quicker than `in`


def _is_number(x: View) -> bool:
    """Return whether `x` is a result without axes, and no view or array."""
    mat: Any = x
    return not mat.layout.shape and not mat.is_view


OPERATORS: dict[str, Operator] = {}  # by the name of the method
# if it has items, results without axes never change, as NumPy's scalars; arrays without axes have
# to be told apart by `is_view`
UNCHANGING: list[object] = []
_unchanging = UNCHANGING  # with a type of C


def _operators(*names: str) -> list[Operator]:
    """Return new operators, also registered in `OPERATORS`."""
    for name in names:
        OPERATORS[f"__{name}__"] = Operator()
    return [OPERATORS[f"__{name}__"] for name in names]


# with types of C
_radd, _rsub, _rmul, _rtruediv = _operators("radd", "rsub", "rmul", "rtruediv")
_rfloordiv, _rmod, _rpow, _rmatmul = _operators("rfloordiv", "rmod", "rpow", "rmatmul")
_rand, _ror, _rxor, _rlshift, _rrshift = _operators("rand", "ror", "rxor", "rlshift", "rrshift")
_neg, _pos, _abs, _invert = _operators("neg", "pos", "abs", "invert")
_add, _sub, _mul, _truediv, _floordiv = _operators("add", "sub", "mul", "truediv", "floordiv")
_mod, _pow, _matmul, _and, _or = _operators("mod", "pow", "matmul", "and", "or")
_xor, _lshift, _rshift = _operators("xor", "lshift", "rshift")
_iadd, _isub, _imul, _itruediv = _operators("iadd", "isub", "imul", "itruediv")
_ifloordiv, _imod, _ipow, _iand = _operators("ifloordiv", "imod", "ipow", "iand")
_ior, _ixor, _ilshift, _irshift = _operators("ior", "ixor", "ilshift", "irshift")
_rdivmod, _divmod = _operators("rdivmod", "divmod")
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor",
              "lshift", "rshift"):
    OPERATORS[f"__i{_name}__"].plain = OPERATORS[f"__{_name}__"]
_eq, _ne, _lt, _le, _gt, _ge = _operators("eq", "ne", "lt", "le", "gt", "ge")


class Operators(View):
    """Python's operators, element-wise as in NumPy; arrays and numbers are operands, too."""

    __slots__ = ()

    def __neg__(self) -> Self:
        return _neg.unary(self)

    def __pos__(self) -> Self:
        return _pos.unary(self)

    def __abs__(self) -> Self:
        return _abs.unary(self)

    def __invert__(self) -> Self:
        return _invert.unary(self)

    def __add__(self, other: ArrayLike) -> Self:
        return _add.binary(self, other)

    def __radd__(self, other: ArrayLike) -> Self:
        return _radd.reflected(self, other)

    def __iadd__(self, other: ArrayLike) -> Self:
        return _iadd.augmented(self, other)

    def __sub__(self, other: ArrayLike) -> Self:
        return _sub.binary(self, other)

    def __rsub__(self, other: ArrayLike) -> Self:
        return _rsub.reflected(self, other)

    def __isub__(self, other: ArrayLike) -> Self:
        return _isub.augmented(self, other)

    def __mul__(self, other: ArrayLike) -> Self:
        return _mul.binary(self, other)

    def __rmul__(self, other: ArrayLike) -> Self:
        return _rmul.reflected(self, other)

    def __imul__(self, other: ArrayLike) -> Self:
        return _imul.augmented(self, other)

    def __truediv__(self, other: ArrayLike) -> Self:
        return _truediv.binary(self, other)

    def __rtruediv__(self, other: ArrayLike) -> Self:
        return _rtruediv.reflected(self, other)

    def __itruediv__(self, other: ArrayLike) -> Self:
        return _itruediv.augmented(self, other)

    def __floordiv__(self, other: ArrayLike) -> Self:
        return _floordiv.binary(self, other)

    def __rfloordiv__(self, other: ArrayLike) -> Self:
        return _rfloordiv.reflected(self, other)

    def __ifloordiv__(self, other: ArrayLike) -> Self:
        return _ifloordiv.augmented(self, other)

    def __mod__(self, other: ArrayLike) -> Self:
        return _mod.binary(self, other)

    def __rmod__(self, other: ArrayLike) -> Self:
        return _rmod.reflected(self, other)

    def __imod__(self, other: ArrayLike) -> Self:
        return _imod.augmented(self, other)

    def __pow__(self, other: ArrayLike) -> Self:
        return _pow.binary(self, other)

    def __rpow__(self, other: ArrayLike) -> Self:
        return _rpow.reflected(self, other)

    def __ipow__(self, other: ArrayLike) -> Self:
        return _ipow.augmented(self, other)

    def __matmul__(self, other: ArrayLike) -> Self:
        return _matmul.binary(self, other)

    def __rmatmul__(self, other: ArrayLike) -> Self:
        return _rmatmul.reflected(self, other)

    def __and__(self, other: ArrayLike) -> Self:
        return _and.binary(self, other)

    def __rand__(self, other: ArrayLike) -> Self:
        return _rand.reflected(self, other)

    def __iand__(self, other: ArrayLike) -> Self:
        return _iand.augmented(self, other)

    def __or__(self, other: ArrayLike) -> Self:
        return _or.binary(self, other)

    def __ror__(self, other: ArrayLike) -> Self:
        return _ror.reflected(self, other)

    def __ior__(self, other: ArrayLike) -> Self:
        return _ior.augmented(self, other)

    def __xor__(self, other: ArrayLike) -> Self:
        return _xor.binary(self, other)

    def __rxor__(self, other: ArrayLike) -> Self:
        return _rxor.reflected(self, other)

    def __ixor__(self, other: ArrayLike) -> Self:
        return _ixor.augmented(self, other)

    def __lshift__(self, other: ArrayLike) -> Self:
        return _lshift.binary(self, other)

    def __rlshift__(self, other: ArrayLike) -> Self:
        return _rlshift.reflected(self, other)

    def __ilshift__(self, other: ArrayLike) -> Self:
        return _ilshift.augmented(self, other)

    def __rshift__(self, other: ArrayLike) -> Self:
        return _rshift.binary(self, other)

    def __rrshift__(self, other: ArrayLike) -> Self:
        return _rrshift.reflected(self, other)

    def __irshift__(self, other: ArrayLike) -> Self:
        return _irshift.augmented(self, other)

    def __divmod__(self, other: ArrayLike) -> tuple[Self, Self]:
        return _divmod.binary(self, other)  # type: ignore[return-value]  # NumPy gives a pair

    def __rdivmod__(self, other: ArrayLike) -> tuple[Self, Self]:
        return _rdivmod.reflected(self, other)  # type: ignore[return-value]  # likewise

    # element-wise, as in NumPy

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        return _eq.binary(self, other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        return _ne.binary(self, other)

    def __lt__(self, other: ArrayLike) -> Self:
        return _lt.binary(self, other)

    def __le__(self, other: ArrayLike) -> Self:
        return _le.binary(self, other)

    def __gt__(self, other: ArrayLike) -> Self:
        return _gt.binary(self, other)

    def __ge__(self, other: ArrayLike) -> Self:
        return _ge.binary(self, other)
