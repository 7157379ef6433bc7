"""All shown code runs: the Python blocks of the README and of docs, file by file, and every
docstring; and the files that pages name exist.
"""

import ast
import doctest
import inspect
import os
import re
from pathlib import Path

import pytest

from ..support import blocks, needs

pytestmark = pytest.mark.host

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PATH = re.compile(r"`((?:mat|tests|docs|examples|\.ci)/[\w./*-]+)`")
FILES = [p.relative_to(ROOT).with_suffix("") for p in sorted(ROOT.glob("mat/**/*.py"))]
MODULES = [".".join(p.parts).removesuffix(".__init__") for p in FILES]
NEEDS = {"clusters.md": ("dask.array", "distributed")}
pages = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))


@pytest.fixture(scope="module")
def run_page():
    """A function that runs a page in a process of its own, since pages register facets and
    operations, and without the direction check, since one page demonstrates bugs.
    """
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    started = blocks.Pages({**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg", "MAT_DEBUG": ""})
    yield started.run
    started.close()


@needs.native
@pages
def test_the_blocks_of_a_page_run(page, run_page, tmp_path):
    for package in NEEDS.get(page.name, ()):
        pytest.importorskip(package)
    status, output = run_page(page, tmp_path)
    assert status == 0, output


@pages
def test_no_python_is_shown_that_does_not_run(page):
    assert blocks.faults(page.read_text(encoding="utf-8")) == []


@pages
def test_files_that_a_page_names_exist(page):
    if not (ROOT / "mat").is_dir():
        pytest.skip("these are the tests alone, without the sources")
    named = PATH.findall(page.read_text(encoding="utf-8"))
    assert [path for path in named if not list(ROOT.glob(path))] == []


@needs.native
@pytest.mark.parametrize("name", MODULES)
def test_docstrings_run(name):
    module = needs.module(name)
    finder = Finder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=blocks.FLAGS)
    for test in finder.find(module, name):
        runner.run(test)
    assert runner.failures == 0
    shown = sum(text.count(">>> ") for text in docstrings(source_of(module)))
    # more: those that declarations make
    assert runner.tries >= shown, "an example in a docstring was not found"


class Finder(doctest.DocTestFinder):
    """A finder that also finds methods of `Mat` in the module that defines them, and leaves out
    what stands for a compiled method of NumPy, with that one's text.
    """

    def _from_module(self, module, thing):
        if inspect.ismethoddescriptor(getattr(thing, "__wrapped__", None)):
            return False
        own = getattr(thing, "__globals__", None) is module.__dict__
        return own or super()._from_module(module, thing)


def source_of(module):
    """The Python file of a module, which may be compiled."""
    path = Path(module.__file__)
    return path.with_name(path.name.partition(".")[0] + ".py")


def docstrings(path):
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [ast.get_docstring(n) or "" for n in nodes
            if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]


# The tests of the tests


def page_of(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


@pytest.mark.parametrize(("text", "passes"), [
    ("```python\nx = 1\n```\ntext\n```python\n>>> x + 1\n2\n```\n", True), ("```python\n>>> 1 + "
                                                                            "1\n3\n```\n", False),
    ("```python\n1 / 0\n```\n", False),
    ("<!-- not run: it fails -->\n```python\n1 / 0\n```\n", True),
    ("<!-- not run: -->\n```python\n1 / 0\n```\n", False), ("<!-- not run: it fails "
                                                            "-->\n\n```python\n1 / 0\n```\n",
                                                            False),
    ("<!-- needs: a_module_that_is_not_there -->\n```python\n1 / 0\n```\n", True),
    ("<!-- needs: json -->\n```python\n1 / 0\n```\n", False),
    ("```console\n$ rm\n```\n", True), ("```python\n>>> y = 2\n```\n```python\nassert y == "
                                        "2\n```\n", True),
    ("```python\n>>> list(range(30))\n[0, ...,\n 29]\n```\n", True), ("```python\nx = 1\n", False),
    ("```python\n>>> import warnings\n>>> warnings.warn('a')\n```\n", False),
    ("```python\nimport mat\nmat.zeros(1)\n```\n", True),
    ("```python\n# own.py\ny = 2\n```\n```python\n>>> import own\n>>> own.y\n2\n```\n", True),
])
def test_pages_that_fail_are_noticed(text, passes, tmp_path, run_page):
    assert (run_page(page_of(tmp_path, text), tmp_path)[0] == 0) == passes


@pytest.mark.parametrize(("text", "count"), [
    ("```python\n>>> 1\n1\n```\n", 0), ("```py\nx\n```\n", 1), ("```Python\nx\n```\n", 1),
    ("~~~python3\nx\n~~~\n", 1),
    ("``` python\nx\n```\n", 0),
    ("```\n>>> 1\n1\n```\n", 1), ("```text\n>>> 1\n```\n", 1), ("    >>> 1\n    1\n", 1),
    ("```python title\nx\n```\n", 1),
    ("```sh\nls\n```\n", 0),
])
def test_python_that_would_not_run_is_noticed(text, count):
    assert len(blocks.faults(text)) == count
