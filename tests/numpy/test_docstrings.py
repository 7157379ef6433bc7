"""Docstrings of functions made of NumPy's: a summary for each, and examples that run."""

import doctest
import inspect
import warnings

import pytest

import mat
from mat.numpy.docstrings import summary_of

from ..support import blocks
from ..support.docstrings import faults_of_summary, sections

HOLDERS = [("", mat), ("linalg.", mat.linalg), ("fft.", mat.fft), ("emath.", mat.emath),
           ("lib.stride_tricks.", mat.lib.stride_tricks), ("random.", mat.random.Generator),
           ("random.", mat.random.RandomState)]
PAGE = "https://numpy.org/doc/stable/reference/generated/numpy."
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


@pytest.mark.parametrize(("name", "function"),
                         [case for case in MADE if case.values[0] not in WITHOUT_EXAMPLE])
def test_the_example_runs(name, function):
    doc = inspect.cleandoc(function.__doc__)
    runner = doctest.DocTestRunner(verbose=False, optionflags=blocks.FLAGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that NumPy deprecates
        runner.run(doctest.DocTestParser().get_doctest(doc, {}, name, None, None))
    assert (runner.failures, runner.tries > 0) == (0, True)
