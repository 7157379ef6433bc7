"""Attributes of classes: their default values where a class may be compiled; named tuples."""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]  # as its `namedtuple` does
from types import FunctionType
from typing import TYPE_CHECKING
from typing import NamedTuple as NamedTuple

_HEAP = 1 << 9  # flag of types that class statements have made, unlike compiled ones


def begin_as_nothing(kind: type) -> None:
    """Default annotated attributes of a class to None, 0 or False, as compiled classes do."""
    if kind.__flags__ & _HEAP:
        numbers = {"int": 0, "bool": False}
        for name, annotation in kind.__annotations__.items():
            setattr(kind, name, numbers.get(annotation))


# Named tuples as `typing.NamedTuple` makes them, in a tenth of the time: that compiles the text of
# each annotation and a function for each class, and `import mat` would do so for dozens of classes

if not TYPE_CHECKING:
    class _Fields(tuple):
        """The methods of named tuples."""

        __slots__ = ()

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **values):
            made = self._make(map(values.pop, self._fields, self))
            if values:
                raise ValueError(f"Got unexpected field names: {list(values)!r}")
            return made

        __replace__ = _replace  # for `copy.replace` of Python 3.13

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            shown = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self):
            return tuple(self)

    _new = tuple.__new__
    # by the number of fields, whose names are put in the place of these
    _NEW = (None,
            lambda _cls, a: _new(_cls, (a,)),
            lambda _cls, a, b: _new(_cls, (a, b)),
            lambda _cls, a, b, c: _new(_cls, (a, b, c)),
            lambda _cls, a, b, c, d: _new(_cls, (a, b, c, d)),
            lambda _cls, a, b, c, d, e: _new(_cls, (a, b, c, d, e)),
            lambda _cls, a, b, c, d, e, f: _new(_cls, (a, b, c, d, e, f)),
            lambda _cls, a, b, c, d, e, f, g: _new(_cls, (a, b, c, d, e, f, g)),
            lambda _cls, a, b, c, d, e, f, g, h: _new(_cls, (a, b, c, d, e, f, g, h)),
            lambda _cls, a, b, c, d, e, f, g, h, i: _new(_cls, (a, b, c, d, e, f, g, h, i)),
            lambda _cls, a, b, c, d, e, f, g, h, i, j: _new(_cls, (a, b, c, d, e, f, g, h, i, j)),
            lambda _cls, a, b, c, d, e, f, g, h, i, j, k: _new(_cls, (a, b, c, d, e, f, g, h, i, j,
                                                                      k)))

    class _Makes(type):
        """Makes a class with annotations a named tuple; more fields than `_NEW` has are refused."""

        def __new__(cls, name, bases, names):  # noqa: ARG004
            fields = tuple(names["__annotations__"])
            code = _NEW[len(fields)].__code__.replace(co_varnames=("_cls", *fields))
            defaults = {field: names[field] for field in fields if field in names}
            new = FunctionType(code, globals(), "__new__", tuple(defaults.values()))
            new.__qualname__, new.__annotations__ = f"{name}.__new__", names["__annotations__"]
            getters = {field: _tuplegetter(k, "") for k, field in enumerate(fields)}
            return type(name, (_Fields,), {
                **names, **getters, "__slots__": (), "__new__": new, "_fields": fields,
                "_field_defaults": defaults, "__match_args__": fields})

    NamedTuple = type.__new__(_Makes, "NamedTuple", (), {})
