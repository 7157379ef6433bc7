"""Named tuples are those of Python's `typing.NamedTuple`."""

import copy
import inspect
import pickle
import sys
from typing import NamedTuple as PythonsOwn

import pytest

from mat.layout.attributes import NamedTuple

pytestmark = pytest.mark.host


class Ours(NamedTuple):
    """A class."""

    a: int
    b: list[int]
    c: str = "c"
    d: object = None

    @property
    def both(self):
        return self.a, self.b


class Wanted(PythonsOwn):
    """A class."""

    a: int
    b: list[int]
    c: str = "c"
    d: object = None

    @property
    def both(self):
        return self.a, self.b


CALLS = {
    "made": lambda kind: kind(1, [2]),
    "by name": lambda kind: kind(b=1, a=2, d=3),
    "too few": lambda kind: kind(1),
    "too many": lambda kind: kind(1, 2, 3, 4, 5),
    "an unknown name": lambda kind: kind(1, 2, e=3),
    "a name twice": lambda kind: kind(1, 2, a=3),
    "repr": lambda kind: repr(kind(1, "x")).replace(kind.__name__, ""),
    "fields": lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__),
    "signature": lambda kind: str(inspect.signature(kind)),
    "annotations": lambda kind: list(kind.__annotations__),
    "replaced": lambda kind: kind(1, 2)._replace(b=5, d=6),
    "replaced by an unknown name": lambda kind: kind(1, 2)._replace(e=5),
    "made of a sequence": lambda kind: kind._make([1, 2, 3, 4]),
    "as a dict": lambda kind: kind(1, 2)._asdict(),
    "a property": lambda kind: kind(1, 2).both,
    "attributes": lambda kind: [getattr(kind(1, 2), name) for name in "abcd"],
    "equal": lambda kind: (kind(1, 2) == (1, 2, "c", None), hash(kind(1, 2)) == hash((1, 2, "c",
                                                                                      None))),
    "copied": lambda kind: copy.deepcopy(kind(1, [2])),
    "pickled": lambda kind: pickle.loads(pickle.dumps(kind(1, [2]))),
    "matched": lambda kind: _matched(kind),
    "unpacked": lambda kind: [*kind(1, 2)],
    "set": lambda kind: setattr(kind(1, 2), "a", 3),
    "set beside": lambda kind: setattr(kind(1, 2), "e", 3),
    "bases": lambda kind: (issubclass(kind, tuple), type(kind), kind.__doc__, kind.__module__),
}
if sys.version_info >= (3, 13):
    CALLS["replaced by copy"] = lambda kind: copy.replace(kind(1, 2), a=3)


def _matched(kind):
    match kind(1, 2, 3, 4):
        case kind(a, b, c=c):
            return a, b, c


def outcome(call, kind):
    try:
        found = call(kind)
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error).replace(kind.__name__, "")
    return (tuple(found), type(found) is kind) if isinstance(found, kind) else found


@pytest.mark.parametrize("name", CALLS)
def test_a_call_does_what_pythons_does(name):
    assert outcome(CALLS[name], Ours) == outcome(CALLS[name], Wanted)


@pytest.mark.parametrize("count", range(1, 12))
def test_any_number_of_fields(count):
    names = [f"field{k}" for k in range(count)]
    made = type(NamedTuple)("Made", (NamedTuple,), {"__annotations__": dict.fromkeys(names, int)})
    assert made(*range(count)) == tuple(range(count))
    assert made(**{name: k for k, name in enumerate(names)})._asdict() == {
        name: k for k, name in enumerate(names)}
    with pytest.raises(TypeError, match="missing 1 required positional argument: "
                                        f"'field{count - 1}'"):
        made(*range(count - 1))
