"""Docstrings of functions made of NumPy's: a summary for each, and examples that run."""

import doctest
import inspect
import warnings
from operator import attrgetter

import numpy as np
import pytest

import mat
from mat.numpy.namespace.functions import summary_of

from ..support import blocks
from ..support.docstrings import faults_of_summary, sections

HOLDERS = [("", mat), ("linalg.", mat.linalg), ("fft.", mat.fft), ("emath.", mat.emath),
           ("lib.stride_tricks.", mat.lib.stride_tricks), ("random.", mat.random.Generator),
           ("random.", mat.random.RandomState)]
PAGE = "https://numpy.org/doc/stable/reference/"
# which need elements that Mats cannot have, or are deprecated
WITHOUT_EXAMPLE = {"fromregex", "isnat", "random.random_integers", "row_stack", "in1d", "trapz"}


def made():
    """Return the names in the table and the functions whose docstrings are made of it."""
    return [pytest.param(prefix + name, getattr(holder, name),
                         id=f"{getattr(holder, '__name__', 'mat')}-{name}")
            for prefix, holder in HOLDERS for name in dir(holder)
            if PAGE in (getattr(getattr(holder, name), "__doc__", None) or "")]


MADE = made()


def test_there_are_many():
    assert len(MADE) > 300


@pytest.mark.parametrize(("name", "function"), MADE)
def test_a_function_has_a_summary_and_an_example(name, function):
    doc = function.__doc__
    summary, example = summary_of(name)
    assert doc.startswith(summary)
    assert not faults_of_summary(doc)
    assert {"Parameters", "Returns", "Notes", "References"} <= sections(doc).keys()
    assert bool(example) is (name not in WITHOUT_EXAMPLE)


@pytest.mark.parametrize(("name", "function"), MADE)
def test_the_page_is_where_numpy_has_it(name, function):
    page = sections(function.__doc__)["References"][0].removeprefix(PAGE)
    if name == "random.tomaxint":
        assert page == "random/legacy.html"  # among the methods of the class
        return
    folder, _, described = page.removesuffix(".html").partition("generated/numpy.")
    assert folder == ("random/" if name.startswith("random.") else "")
    assert callable(attrgetter(described)(np))


NEED_NO_ARGUMENT = ["exponential", "gumbel", "laplace", "logistic", "lognormal", "normal", "rand",
                    "randn", "random", "random_sample", "ranf", "rayleigh", "sample",
                    "standard_cauchy", "standard_exponential", "standard_normal", "uniform"]


@pytest.mark.parametrize("name", NEED_NO_ARGUMENT)
def test_one_random_number_is_what_the_docstring_says(name):
    function = getattr(mat.random, name)
    assert type(function()) is type(getattr(np.random, name)())
    returns = " ".join(sections(function.__doc__)["Returns"])
    assert "returns; Python's objects as they are." in returns or (
        "A Python float where ``numpy." in returns and type(function()) is float)


@pytest.mark.parametrize(("name", "function"),
                         [case for case in MADE if case.values[0] not in WITHOUT_EXAMPLE])
def test_the_example_runs(name, function):
    doc = inspect.cleandoc(function.__doc__)
    runner = doctest.DocTestRunner(verbose=False, optionflags=blocks.FLAGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that NumPy deprecates
        runner.run(doctest.DocTestParser().get_doctest(doc, {}, name, None, None))
    assert (runner.failures, runner.tries > 0) == (0, True)
