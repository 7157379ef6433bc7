"""Methods of Mats that get their arguments as the caller has them: no tuple is made for a few."""

from __future__ import annotations

import functools
from types import MethodType
from typing import Any

from ..core.compiled import IN_USE, give_vectorcall
from ..core.observers import OBSERVERS
from ..support.types import Arguments, Function, Keywords, Operand
from .mat import Mat

_mat, _in_use, _observers = Mat, IN_USE, OBSERVERS  # with types of C


class MatMethod:  # compiled, `Callee` of the core is its base
    """A method of Mats that is called in a shorter way than `function`, with its documentation."""

    def __init__(self, function: Function) -> None:
        self.function: Function = function
        functools.update_wrapper(self, function)

    def __get__(self, instance: object, owner: type | None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Operand, **kwargs: Operand) -> Operand:
        return self.call_fully(args, kwargs)

    def call_fully(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Call the method with any arguments; the dictionary may be changed."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<method {vars(self)['__qualname__']!r} of Mats>"

    def __reduce__(self) -> tuple[Function, tuple[type, str]]:
        return getattr, (_mat, vars(self)["__name__"])


class ItemMethod(MatMethod):
    """The method `item`, in its shortest way for an index of one element by integers."""

    def call_plainly(self, x: Operand, y: Operand, count: int) -> Operand:
        if type(x) is not _mat or (count == 2 and type(y) is not int):
            return None
        view: Any = x
        if count == 1:
            return view._number_at(view.layout.displacement) if view.layout.size == 1 else None
        try:
            return view._number_in_order(y)
        except OverflowError:  # an integer that C cannot represent
            return None

    def call_fully(self, args: Arguments, kwargs: Keywords) -> Operand:
        found = None
        if len(args) > 2 and not kwargs and type(args[0]) is _mat:
            view: Any = args[0]
            try:
                k = view.layout.element(args[1:])
            except OverflowError:  # as above
                k = -1
            found = view._number_at(k) if k >= 0 else None
        return self.function(*args, **kwargs) if found is None else found


class WritingMethod(MatMethod):
    """A method without a result, of which `shorter` returns whether it did it, or `function`."""

    def __init__(self, shorter: Function, function: Function) -> None:
        MatMethod.__init__(self, function)
        self.shorter: Function = shorter

    def call_fully(self, args: Arguments, kwargs: Keywords) -> Operand:
        if not kwargs and not _in_use and not _observers and self.shorter(args):
            return None
        return self.function(*args, **kwargs)


for _kind in (MatMethod, ItemMethod, WritingMethod):
    give_vectorcall(_kind)
_of_class: Any = Mat
_of_class.item = ItemMethod(_of_class.item)
