"""``help()`` of everything that can be called says what it takes and returns; what NumPy computes
says that it gives Mats.
"""

import inspect
from types import ModuleType

import pytest

import mat
from mat.numpy.namespace.lookup import FUNCTION, SAME, UFUNC, kinds
from mat.numpy.namespace.lookup import MODULES as OF_NUMPY

from ..support.docstrings import described, faults_of_summary, parameters_of, sections

pytestmark = pytest.mark.host

SPACES = ["", "linalg", "fft", "random", "blas", "nn", "lib.stride_tricks", "emath", "debug",
          "extend"]
CLASSES = {"random.Generator": mat.random.Generator, "random.RandomState": mat.random.RandomState,
           "Rng": mat.Rng}
NOTHING = {None, "None"}  # annotations of what is returned
# roles, which are annotations
APART = {"extend.Accumulated", "extend.InOut", "extend.Input", "extend.InputOrNumber",
         "extend.Output", "extend.Scalar"}


def space(name):
    found = mat
    for part in filter(None, name.split(".")):
        found = getattr(found, part)
    return found


def functions():
    """Every function of a public module, and every method of a class of random numbers, by name."""
    found = {}
    for name in SPACES:
        known = kinds(name) if name in OF_NUMPY else {}
        for n in dir(space(name)):
            thing = getattr(space(name), n)
            plain = callable(thing) and not isinstance(thing, type | ModuleType)
            if plain and not n.startswith("_") and known.get(n) != SAME:
                found[f"{name}.{n}".lstrip(".")] = thing
    for name, kind in CLASSES.items():
        found |= {f"{name}.{n}": getattr(kind, n) for n in dir(kind)
                  if not n.startswith("_") and inspect.isroutine(getattr(kind, n))}
    return {name: thing for name, thing in found.items() if name not in APART}


FUNCTIONS = functions()


def missing(thing):
    """What the docstring of a function lacks."""
    doc = inspect.getdoc(thing)
    found = faults_of_summary(doc)
    parts = sections(doc or "")
    wanted = parameters_of(thing)
    if sorted(described(parts.get("Parameters", []))) != sorted(wanted):
        found.append(f"the signature has {wanted}")
    returned = getattr(thing, "__annotations__", {}).get("return")
    if returned not in NOTHING and not parts.keys() & {"Returns", "Yields"}:
        found.append("no section Returns")
    return found


def test_there_are_many():
    assert len(FUNCTIONS) > 640


def test_help_shows_parameters_and_results():
    assert {name: found for name, thing in FUNCTIONS.items() if (found := missing(thing))} == {}


def test_what_numpy_computes_says_that_it_gives_mats():
    of_numpy = [f"{name}.{n}".lstrip(".") for name in SPACES if name in OF_NUMPY
                for n, kind in kinds(name).items() if kind in (FUNCTION, UFUNC)]
    assert len(of_numpy) > 200
    assert [name for name in of_numpy if name in FUNCTIONS
            and "Mat" not in inspect.getdoc(FUNCTIONS[name])] == []


def test_help_of_gemm_is_whole():
    parts = sections(inspect.getdoc(mat.gemm))
    assert {"Parameters", "Returns", "Raises", "Examples"} <= parts.keys()


# The tests of the tests


def test_faults_are_found():
    def without_parameters(x: int) -> int:
        """Return x.

        Returns
        -------
        int
            x.
        """

    def without_returns(x: int) -> int:
        """Return x.

        Parameters
        ----------
        x : int
            A number.
        """

    assert missing(without_parameters) == ["the signature has ['x']"]
    assert missing(without_returns) == ["no section Returns"]
