"""Docstrings of public names follow numpydoc: a sentence of one line, then sections that name the
parameters, what is returned, and examples.

Run as a module (``python -m tests.package.test_docstrings``), this file prints what is missing.
"""

import inspect
import sys
import types
import typing

import pytest

import mat
from mat import Mat
from mat.ops.engine.operation import Op

from ..matrix.test_methods import DECLARED
from ..support.docstrings import described, faults, faults_of_summary, sections
from .test_surface import (
    BLAS,
    FILES,
    FUSED,
    LINALG,
    METHODS,
    MOVED,
    OF_NUMPY,
    RANDOM,
    SCALING,
    SHAPING,
)

pytestmark = pytest.mark.host

WITH_EXAMPLE = {*SHAPING, *BLAS, *LINALG, *OF_NUMPY, *FUSED, *SCALING, *MOVED, *RANDOM, *FILES,
                "zeros", "ones", "full", "empty", "eye", "arange", "array", "from_numpy",
                "allclose", "with_facets", "barrier", "scratch", "ones_view", "show"}
PLAIN_VALUES = {"supported_dtypes", "__version__", "__array_api_version__"}
MADE_BY_MAT = {"extend.Op"}  # classes that users get instances of and do not call


def public_names():
    """Every public name, such as ``zeros``, ``Mat.axpy_`` or ``debug.guard``."""
    spaces = {"extend": mat.extend, "debug": mat.debug, "blas": mat.blas, "nn": mat.nn}
    errors = [n for n, v in vars(mat.errors).items() if isinstance(v, type)]
    roles = {n for n in mat.extend.__all__ if typing.get_origin(getattr(mat.extend, n))}
    return [*(n for n in mat.__all__ if n not in PLAIN_VALUES),
            *(f"Mat.{n}" for n in METHODS),
            *(f"{space}.{n}" for space, module in spaces.items() for n in module.__all__
              if n not in roles),  # annotations have no docstrings
            *(f"errors.{n}" for n in errors)]


def named(name):
    """The object of that name; of `Mat` as it is on the class."""
    if name.startswith("Mat."):
        return inspect.getattr_static(Mat, name[4:])
    found = mat
    for part in name.split("."):
        found = getattr(found, part)
    return found


def returned_by(name, thing):
    """The annotation of what it returns; an operation's says None, but the operation returns."""
    if name.startswith("Mat.") and name[4:] in DECLARED:
        declared = DECLARED[name[4:]].returns
        return getattr(declared, "value", declared)
    if isinstance(thing, Op) or not callable(thing):
        return "Mat"
    signature = inspect.signature(thing) if not isinstance(thing, type) else None
    return signature and signature.return_annotation


def missing(name):
    """What the docstring of a public name lacks."""
    thing = named(name)
    if isinstance(thing, types.ModuleType | property) or name in MADE_BY_MAT:
        return faults_of_summary(thing.__doc__)
    doc, other = thing.__doc__, None
    if name.startswith("Mat."):  # such a method may describe the function's operands, self included
        doc = inspect.getdoc(getattr(Mat, name[4:]))
        spaces = (mat.blas, mat.nn, mat) if name.endswith("_") else (mat,)
        other = next((v for s in spaces if (v := getattr(s, name[4:].rstrip("_"), None))), None)
    return faults(thing, doc, returned=returned_by(name, thing), example=name in WITH_EXAMPLE,
                  other=other)


@pytest.mark.parametrize("space", ["linalg", "fft", "random"])
def test_names_of_numpys_submodules_have_an_example(space):
    module = getattr(mat, space)
    own = [n for n in module.__all__ if callable(thing := getattr(module, n))
           and not getattr(thing, "__module__", "").startswith("numpy")]
    assert len(own) > 10
    without = {n for n in own if ">>> " not in (getattr(module, n).__doc__ or "")}
    assert without <= {"get_bit_generator", "set_bit_generator", "random_integers"}


def test_public_names_follow_numpydoc():
    assert {name: found for name in public_names() if (found := missing(name))} == {}


# The tests of the tests

GOOD = """Return the sum of two numbers.

    Parameters
    ----------
    x, y : number
        Summands, of any kind:
        also complex.
    *more : number
        Further summands.

    Returns
    -------
    number
        The sum.

    Examples
    --------
    >>> add(1, 2)
    3
    """


def add(x, y, *more) -> int: ...


def test_a_good_docstring_has_no_faults():
    assert faults(add, GOOD, returned="int", example=True) == []
    assert described(sections(GOOD)["Parameters"]) == ["x", "y", "more"]


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("numbers.", "numbers", "full stop"), ("Return the sum of", "What sums", "begins with 'What'"),
    ("Return", "return", "capital"), ("two numbers.", "two" + " " * 100 + "numbers.", "columns"),
    ("x, y : number", "x : number", "the signature has"),
    ("*more : number", "*more, z : number", "the signature has"),
    ("Returns\n    -------", "Returns\n    ----", "no section Returns"),
    ("Examples\n    --------", "", "not in a section Examples"),
    (">>> add(1, 2)", "", "no example"),
    ("numbers.\n\n", "numbers.\n    And more.\n\n", "no empty line"),
])
def test_faults_are_found(old, new, fault):
    assert old in GOOD
    found = faults(add, GOOD.replace(old, new), returned="int", example=True)
    assert any(fault in text for text in found), found


if __name__ == "__main__":
    for public in public_names():
        if found := missing(public):
            sys.stdout.write(f"{public}: {'; '.join(found)}\n")
