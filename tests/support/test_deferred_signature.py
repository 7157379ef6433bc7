"""Signatures that are made at the first question answer as all others do."""

import copy
import inspect
import pickle

import pytest

import mat
from mat.ops.engine.declaration import unindented
from mat.support.unbound import DeferredSignature

pytestmark = pytest.mark.host


def function(a, b: int = 2, *, c="x") -> str:
    return a


OWN = inspect.signature(function)


@pytest.fixture
def made():
    return []


@pytest.fixture
def deferred(made):
    def make():
        made.append(1)
        return OWN
    return DeferredSignature(make)


def test_it_is_made_once_and_when_it_is_asked(deferred, made):
    assert made == []
    assert str(deferred) == str(OWN) == "(a, b: int = 2, *, c='x') -> str"
    assert deferred == OWN
    assert dict(deferred.parameters) == dict(OWN.parameters)
    assert deferred.return_annotation is OWN.return_annotation
    assert made == [1]


def test_it_binds(deferred):
    assert deferred.bind(1, c=3).arguments == {"a": 1, "c": 3}
    with pytest.raises(TypeError, match="missing a required argument"):
        deferred.bind()


def test_it_can_be_replaced_copied_and_pickled(deferred):
    parameters = list(OWN.parameters.values())[:1]
    assert str(deferred.replace(parameters=parameters, return_annotation=int)) == "(a) -> int"
    assert copy.copy(deferred) == OWN
    assert pickle.loads(pickle.dumps(deferred)).parameters.keys() == OWN.parameters.keys()


def test_inspect_takes_it_for_functions_and_bound_methods(deferred):
    def shown(*args):
        return args

    shown.__signature__ = deferred
    assert inspect.signature(shown) == OWN
    kind = type("Kind", (), {"method": shown})
    assert str(inspect.signature(kind().method)) == "(b: int = 2, *, c='x') -> str"


@pytest.mark.parametrize(("shown", "text"), [
    (mat.axpy, "(alpha: Scalar, x: Input, y: InOut, *, n: int | None = None, incx: int = 1, "
               "incy: int = 1)"),
    (mat.Mat.exp_, "(self: Mat)"), (mat.Mat.exp, "(self: Mat, out: Mat | None = None)"),
    (mat.ones(2).exp, "(out: Mat | None = None)"),
    (mat.Mat.axpy_, "(self, /, alpha: Scalar, x: Input, *, n: int | None = None, incx: int = 1, "
                    "incy: int = 1)")])
def test_of_operations_and_methods(shown, text):
    assert str(inspect.signature(shown)) == text


@pytest.mark.parametrize("doc", [
    "One line.", "", "One line.\n", "Two\n    lines.", "Words.\n\n    Text\n        code\n    ",
    "Words.\n\n        code\n    Text", "Words.\n\tText", "\n    Begins below.\n    ",
    "Words.\n\nNot indented\n    but here."])
def test_docstrings_lose_their_indentation(doc):
    assert unindented(doc) == inspect.cleandoc(doc)
