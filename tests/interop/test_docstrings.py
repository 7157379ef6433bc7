"""Docstrings of functions made of NumPy's: a summary for each, and examples that run."""

import doctest
import inspect
import warnings

import pytest

import mat
from mat.interop.numpy.docstrings import _summaries

from ..support import blocks
from ..support.docstrings import faults_of_summary, sections

HOLDERS = {"": mat, "linalg.": mat.linalg, "fft.": mat.fft, "emath.": mat.emath,
           "lib.stride_tricks.": mat.lib.stride_tricks, "random.": mat.random.Generator,
           "random": mat.random.RandomState}
PAGE = "https://numpy.org/doc/stable/reference/generated/numpy."
# which need elements that Mats cannot have, or are deprecated
WITHOUT_EXAMPLE = {"fromregex", "isnat", "random.random_integers", "row_stack", "in1d", "trapz"}


def made():
    """Return the functions whose docstrings are made of the table, by their names in it."""
    found = {}
    for prefix, holder in HOLDERS.items():
        for name in dir(holder):
            if PAGE in (getattr(getattr(holder, name), "__doc__", None) or ""):
                found[f"{prefix.rstrip('.')}.{name}".lstrip(".")] = getattr(holder, name)
    return found


MADE = made()


def test_there_are_many():
    assert len(MADE) > 300


@pytest.mark.parametrize("name", MADE)
def test_a_function_has_a_summary_and_an_example(name):
    doc = MADE[name].__doc__
    summary, example = _summaries()[name]
    assert doc.startswith(summary)
    assert not faults_of_summary(doc)
    assert {"Parameters", "Returns", "Notes", "References"} <= sections(doc).keys()
    assert bool(example) is (name not in WITHOUT_EXAMPLE)


@pytest.mark.parametrize("name", [n for n in MADE if n not in WITHOUT_EXAMPLE])
def test_the_example_runs(name):
    doc = inspect.cleandoc(MADE[name].__doc__)
    runner = doctest.DocTestRunner(verbose=False, optionflags=blocks.FLAGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that NumPy deprecates
        runner.run(doctest.DocTestParser().get_doctest(doc, {}, name, None, None))
    assert (runner.failures, runner.tries > 0) == (0, True)
