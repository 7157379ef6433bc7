"""The methods of `Mat` that are declared in a stub and implemented in many files: declarations and
implementations agree.
"""

import ast
import inspect

import pytest

from mat import Mat
from mat.matrix.methods import Methods

from ..types import method_stubs

pytestmark = pytest.mark.host

SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
# parameters of NumPy's functions that releases of NumPy which mat supports do not all have
SINCE_NUMPY_2 = {"clip": {"min", "max"}, "argsort": {"stable", "descending"},
                 "sort": {"stable", "descending"},
                 "std": {"mean", "correction"}, "var": {"mean", "correction"}}


def _is_setter(node):
    return any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in node.decorator_list)


def declarations():
    """The definitions in the class, by name."""
    tree = ast.parse(method_stubs.stub())
    (declaring,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    found = {}
    for node in ast.walk(declaring):
        if isinstance(node, ast.FunctionDef) and not _is_setter(node):
            assert node.name not in found, f"{node.name} is declared twice"
            found[node.name] = node
    return found


DECLARED = declarations()
PROPERTIES = {name for name, node in DECLARED.items() if node.decorator_list}
FUNCTIONS = sorted(DECLARED.keys() - PROPERTIES)


def declared_parameters(name):
    """Names, kinds and defaults as the declaration of `name` has them; ``...`` is any default."""
    node = ast.parse(f"def f({ast.unparse(DECLARED[name].args)}): pass").body[0]
    for argument in ast.walk(node):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    space = {}
    exec(compile(ast.unparse(node), "declaration", "exec"), space)
    return list(inspect.signature(space["f"]).parameters.values())


def bound_parameters(name):
    """The same as the implementation has them; the name of the first is of no account, since a
    bound method passes it.
    """
    getattr(Mat, name)  # some are made at first use
    first, *others = inspect.signature(vars(Methods)[name]).parameters.values()
    return [SELF.replace(kind=first.kind), *others]


def differences(declared, bound, optional=frozenset()):
    """Where two lists of parameters differ; those named `optional` need not be bound, and a
    declared ``**options`` stands for any further keywords.
    """
    if declared and declared[-1].kind is inspect.Parameter.VAR_KEYWORD:
        named = [p.name for p in declared[:-1]]
        if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in bound):
            declared = declared[:-1]
            bound = [p for p in bound
                     if p.name in named or p.kind is not inspect.Parameter.KEYWORD_ONLY]
    there = {p.name for p in bound}
    declared = [p for p in declared if p.name in there or p.name not in optional]
    if len(declared) != len(bound):
        return [f"declared {[p.name for p in declared]}, bound {[p.name for p in bound]}"]
    return [f"declared {d}, bound {b}" for d, b in zip(declared, bound, strict=True)
            if (d.name, d.kind) != (b.name, b.kind)
            or (d.default is not ... and d.default != b.default)]


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_every_declared_method_is_bound(name):
    assert name in vars(Methods)
    assert hasattr(Mat, name)


def test_every_bound_method_is_declared():
    by_mat = {name for name, found in vars(Methods).items()
              if getattr(getattr(found, "fget", found), "__module__", "mat.").startswith("mat.")}
    of_python = {"__module__", "__doc__", "__slots__", "__annotations__",
                 "__firstlineno__", "__static_attributes__"}
    assert by_mat - of_python <= set(DECLARED)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_those_declared(name):
    assert differences(declared_parameters(name), bound_parameters(name),
                       SINCE_NUMPY_2.get(name, frozenset())) == []


@pytest.mark.parametrize("name", sorted(PROPERTIES))
def test_properties_are_properties(name):
    assert isinstance(vars(Methods)[name], property)


def test_none_is_declared_with_any_options():
    with_options = {name for name in FUNCTIONS
                    if DECLARED[name].args.kwarg is not None and not name.startswith("__")}
    assert with_options == set()


def test_differences_are_found():
    def declared(self, x, *, n=1): ...
    def renamed(self, y, *, n=1): ...
    def positional(self, x, n=1): ...
    def other_default(self, x, *, n=2): ...
    def more(self, x, *, n=1, m=1): ...

    own = list(inspect.signature(declared).parameters.values())
    for other in (renamed, positional, other_default, more):
        assert differences(own, list(inspect.signature(other).parameters.values()))
    assert differences(own, own) == []
