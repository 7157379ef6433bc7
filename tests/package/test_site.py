"""The documentation as a site: the reference has every public name, and all links and anchors have
targets.
"""

import ast
import functools
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import mat
from mat import Mat
from mat.support.close_names import OF_ARRAYS

from ..support import needs
from ..support.site import ROOT, built, reference

pytestmark = [pytest.mark.host, pytest.mark.once]


# before tests add operations
MEMBERS = {n for n in dir(Mat) if not n.startswith("_")
           and inspect.getdoc(inspect.getattr_static(Mat, n))}
PAGE_OF = {path: page for page, path, _ in reference.everything()}
DOCUMENTED = [path for _, path, _ in reference.everything()]
MODULES = ["debug", "extend", "errors"]
STUBS = {"": "__init__", "blas": "blas", "linalg": "linalg", "fft": "fft",
         "random": "random", "lib.stride_tricks": "lib/stride_tricks"}


# The reference


def test_groups_are_the_public_names():
    assert [name for names in reference.groups().values() for name in names] == mat.__all__


def test_every_public_name_is_documented_once():
    assert len(DOCUMENTED) == len(set(DOCUMENTED))
    modules = {name for name in mat.__all__ if inspect.ismodule(getattr(mat, name))}
    assert {f"mat.{name}" for name in mat.__all__} - set(DOCUMENTED) == {f"mat.{name}"
                                                                   for name in modules}
    assert {f"{name}.md" for name in modules} <= set(reference.pages())


def test_every_public_member_of_a_mat_is_documented():
    told = {path.removeprefix("mat.Mat.") for path in DOCUMENTED if path.startswith("mat.Mat.")}
    assert MEMBERS - told == {*reference.SERVING, *OF_ARRAYS}
    assert "device_enabled" in told  # a slot
    assert {"axpy_", "sum", "T", "facet"} <= told


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_of_a_module_is_documented(name):
    module = importlib.import_module(f"mat.{name}")
    wanted = [n for n in getattr(module, "__all__", ()) if not inspect.ismodule(getattr(module, n))]
    if not wanted:
        wanted = [n for n, v in vars(module).items() if inspect.isfunction(inspect.unwrap(v))
                  and not n.startswith("_")
                  and v.__module__ == module.__name__]
    if name == "errors":
        wanted = [n for n,
                  v in vars(module).items() if isinstance(v, type) and issubclass(v, mat.MatError)]
    assert wanted
    start = "mat." if name == "errors" else f"mat.{name}."
    assert {start + n for n in wanted} <= set(DOCUMENTED)


@pytest.mark.parametrize("path", DOCUMENTED)
def test_each_name_has_a_description(path):
    page = reference.pages()[PAGE_OF[path]]
    told = page.partition(f"#{reference.anchor(path)} ")[2].partition("\n#")[0]
    words = re.sub(r"```.*?```", "", told.partition("\n")[2], flags=re.S)
    assert words.strip()


ROLES = {f"mat.extend.{name}" for name in ("Accumulated", "InOut", "Input", "InputOrNumber",
                                           "Output", "Scalar")}  # annotations of parameters
FUNCTIONS = {path: thing for _, path, thing in reference.everything()
             if callable(thing) and not isinstance(thing, type) and path not in ROLES}
SECTIONS = ("**Where it computes**", "**Dtypes**", "**Raises**", "```pycon", "**See also**")


def test_every_name_says_what_to_read_next():
    assert sum(text.count("\n**See also**\n\n") for text in reference.pages().values()) == sum(
        len(re.findall(r"^##+ `", text, re.MULTILINE)) for text in reference.pages().values())


def test_every_class_error_and_property_has_an_example():
    links = reference.linked()
    assert [path for _, path, thing in reference.everything() if path not in reference.VALUES
            and "```pycon" not in reference.entry(path, thing, links)] == []


def test_every_member_of_a_class_has_an_example_of_its_own():
    links = reference.linked()
    entries = {f"{path}.{name}": reference.entry(f"{path}.{name}", member, links, 3)
               for _, path, thing in reference.everything()
               for name, member in reference.inner_members(path, thing).items()}
    assert len(entries) > 150
    assert [name for name, text in entries.items()
            if "```pycon" not in text or "**Example**, of" in text] == []


def test_no_two_members_of_classes_have_the_same_example():
    shown = reference.related.EXAMPLES
    of_members = [shown[name] for name in shown if name.count(".") == 3]
    assert len(of_members) > 60
    assert len({*of_members}) == len(of_members)


def test_every_function_has_sections_an_example_and_what_to_read_next():
    links, lacking = reference.linked(), {}
    for path, thing in FUNCTIONS.items():
        text = reference.entry(path, thing, links)
        if found := [title for title in SECTIONS
                     if not re.search(re.escape(title) + r"\s+[^\s*]", text)]:
            lacking[path] = found
    assert len(FUNCTIONS) > 700
    assert lacking == {}


@pytest.mark.parametrize(("path", "said"), [
    ("mat.axpy", "Takes `float32`, `float64` and complex numbers. Gives the same dtype."),
    ("mat.equal", "Takes all dtypes. Gives `bool`."),
    ("mat.sum", "Takes all dtypes. Gives `int64` for `bool` and signed integers; the same dtype "
                "for floats, complex numbers and 8-bit floats; `uint64` for unsigned integers."),
    ("mat.linalg.svd", "Takes all but `float16`. Gives `float64` for `bool`, integers, `bfloat16` "
                       "and 8-bit floats; the same dtype for `float32` and `float64`; the same "
                       "dtype and `float32` for `complex64`; the same dtype and `float64` for "
                       "`complex128`."),
    ("mat.Mat.exp_", "Takes all but `bool` and integers. Gives the same dtype."),
    ("mat.random.normal", "Gives `float64`."),
    ("mat.load", "The result has the dtype of the file."),
    ("mat.use_device", "Has no operands with elements.")])
def test_what_is_said_of_dtypes_is_what_calls_give(path, said):
    assert reference.dtypes.sentence(path, FUNCTIONS[path]) == said


@pytest.mark.parametrize("path", ["mat.axpy", "mat.bitwise_and", "mat.negative", "mat.erf",
                                  "mat.linalg.inv", "mat.Mat.exp_", "mat.nn.conv"])
def test_other_dtypes_are_refused(path):
    """Each call of the reference that is refused is a DTypeError, which says what is taken."""
    outcomes = reference.dtypes.outcomes(path, FUNCTIONS[path])
    refused = [name for name in mat.supported_dtypes if name not in outcomes]
    assert refused
    for name in refused:
        with pytest.raises(mat.DTypeError if path != "mat.linalg.inv" else TypeError):
            reference.dtypes.called(path, FUNCTIONS[path], name)


def test_functions_compute_where_the_reference_says():
    links, wrong = reference.linked(), {}
    for path, function in FUNCTIONS.items():
        place = reference.related.where(path, links)
        if not place.startswith("On the device") or reference.dtypes.said_of(path):
            continue
        taken = reference.dtypes.outcomes(path, function)
        name = next(n for n in ("float64", "int64", "uint8", "float32", "") if n in taken)
        with mat.use_device("emulated"), mat.debug.count_copies() as copies:
            reference.dtypes.called(path, function, name)
        if copies.fallbacks:
            wrong[path] = copies.fallbacks
    assert wrong == {}


def test_calls_for_dtypes_are_of_functions_that_exist():
    known = {*FUNCTIONS, *reference.stubs.signatures()}  # the stubs have those of other NumPys
    known |= {path.rpartition(".")[2] for path in known}
    tables = reference.dtypes.CALLS | reference.dtypes.SAID | reference.dtypes.MORE
    assert {*tables} <= known


def test_functions_of_random_numbers_say_where_they_come_from():
    drawing = [path for path in FUNCTIONS if path.startswith("mat.random.")
               and not path.endswith(("state", "seed", "shuffle", "rng", "generator"))]
    assert len(drawing) > 40
    assert [path for path in drawing
            if not re.search("device|host|NumPy", reference.doc_of(FUNCTIONS[path]))] == []


@needs.native
def test_examples_of_the_reference_run(tmp_path):
    code = f"""import doctest, sys
sys.path.insert(0, {str(ROOT / "docs" / "site")!r})
import mat, more_examples
flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
for name, text in more_examples.EXAMPLES.items():
    test = doctest.DocTestParser().get_doctest(text.strip() + "\\n", {{"mat": mat}}, name, name, 0)
    doctest.DocTestRunner(optionflags=flags).run(test)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "MAT_DEBUG": ""})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_members_that_are_bound_late_have_their_own_descriptions():
    assert [page for page, text in reference.pages().items()
            if "Stands for an attribute" in text] == []


@pytest.mark.parametrize(("path", "text"), [
    ("mat.debug.trace", "mat.debug.trace() -> Observation[Trace]"),
    ("mat.ShapeError", "class ShapeError(MatError, ValueError)"),
    ("mat.cuda_available", "mat.cuda_available() -> bool"),
    ("mat.Mat", "class mat.Mat(\n    shape: ShapeLike,\n    dtype: DTypeLike = None,\n"
                "    buffer: Any = None,\n")])
def test_signatures_are_those_of_the_objects(path, text):
    name = path.removeprefix("mat.")
    thing = functools.reduce(getattr, name.split("."), mat)
    shown = reference.signature(name if name.endswith("Error") else path, thing)
    assert re.sub(r"\s+|,\s*(?=\))", "", shown).startswith(re.sub(r"\s+", "", text))


@pytest.mark.parametrize("module", STUBS)
def test_every_function_that_a_stub_declares_is_in_the_reference(module):
    stub = Path(mat.__file__).parent / f"{STUBS[module]}.pyi"
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    public = next(ast.literal_eval(node.value) for node in tree.body
                  if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    names = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)} & set(public)
    assert names
    there = importlib.import_module(f"mat.{module}".rstrip("."))
    names = {name for name in names if hasattr(there, name)}  # in this version of NumPy
    assert {f"mat.{module}.{name}".replace("..", ".") for name in names} <= set(DOCUMENTED)


@pytest.mark.parametrize(("path", "shown"), [
    ("mat.axpy", "mat.axpy(\n    alpha: Scalar,\n    x: Mat,\n    y: Mat,\n    *,\n"
                 "    n: int | None = None,\n    incx: int = 1,\n    incy: int = 1,\n) -> Mat"),
    ("mat.Mat.axpy_", "axpy_(\n    self,\n    /,\n    alpha: Scalar,\n    x: Mat,\n"),
    ("mat.linalg.svd", ") -> Mat"),
    ("mat.random.Generator.normal", "normal(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, "),
    ("mat.bincount", "mat.bincount(x: ArrayLike, /, weights: ArrayLike | None = None, ")])
def test_signatures_are_those_of_the_stubs(path, shown):
    assert shown in reference.stubs.signatures()[path]
    page = next(text for text in reference.pages().values()
                if f"#{reference.anchor(path)} " in text)
    assert reference.stubs.signatures()[path] in page


def test_signatures_of_stubs_are_whole():
    signatures = reference.stubs.signatures().values()
    assert len(signatures) > 700
    for signature in signatures:
        for overload in re.split(r"\n(?=\S+\()", signature):
            ast.parse(f"def {overload.replace('mat.', '', 1)}: ...")


@pytest.mark.parametrize(("doc", "shown"), [
    ("Text.\n\n>>> 1 + 1\n2", "Text.\n\n```pycon\n>>> 1 + 1\n2\n```"),
    ("a * b_c <d> `e*f`", r"a \* b\_c &lt;d> `e*f`"),
    ("`ShapeError` and ``None``", "[`ShapeError`](errors.md#mat.ShapeError) and ``None``"),
    ("* one\n* two", "* one\n* two")])
def test_docstrings_become_markdown(doc, shown):
    assert reference.markdown(doc, {"ShapeError": "errors.md#mat.ShapeError"}) == shown


NUMPYDOC = """Compute ``x @ y``.

Parameters
----------
x, y : Mat
    Two Mats, whose_names have `ShapeError`.

    Another paragraph.
*args : {"a", "b"}
    Words.

Returns
-------
Mat
    The product.

Raises
------
ShapeError
    If shapes differ.

Examples
--------
Text.

>>> 1 + 1
2
"""
RENDERED = """Compute ``x @ y``.

**Parameters**

`x`, `y` : Mat
:   Two Mats, whose\\_names have [`ShapeError`](errors.md#mat.ShapeError).

    Another paragraph.

`*args` : {"a", "b"}
:   Words.

**Returns**

`Mat`
:   The product.

**Raises**

[`ShapeError`](errors.md#mat.ShapeError)
:   If shapes differ.

**Examples**

Text.

```pycon
>>> 1 + 1
2
```"""


def test_sections_of_a_docstring_become_lists_and_blocks():
    links = {"ShapeError": "errors.md#mat.ShapeError"}
    assert reference.markdown(inspect.cleandoc(NUMPYDOC), links) == RENDERED


@pytest.mark.parametrize("text", ["Text.\n\nNotes\n-----\nMore *text*.", "a table\n-----\nb"])
def test_what_is_no_list_stays_paragraphs(text):
    assert "\n:   " not in reference.markdown(text, {})


# The pages


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_the_list_of_pages_is_complete():
    listed = set(re.findall(r"^\* \[.*?\]\((.*?)\)",
                            (ROOT / "docs" / "README.md").read_text(encoding="utf-8"), flags=re.M))
    assert listed == {path.relative_to(ROOT / "docs").as_posix()
                      for path in ROOT.glob("docs/**/*.md")} - {"README.md"}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_that_a_page_refers_to_are_there(path):
    """Links work without the site, too, where a host of git shows the files."""
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if "://" not in target
            and not (path.parent / target).exists()] == []


# The site


class Page(HTMLParser):
    """The anchors and the targets of links in a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.targets = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        self.targets += [given[name] for name in ("href", "src") if given.get(name)]


@pytest.fixture(scope="module")
def html(site):
    return {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}


@pytest.mark.slow
def test_each_public_name_has_its_anchor(site, html):
    found = {(path.relative_to(site).as_posix(), anchor) for path,
             page in html.items() for anchor in page.anchors}
    for path, page in PAGE_OF.items():
        assert (f"reference/{page.removesuffix('.md')}.html", reference.anchor(path)) in found


@pytest.mark.slow
def test_targets_of_links_exist(html):
    missing = []
    for path, page in html.items():
        for target in page.targets:
            scheme, place, name, _, fragment = urlsplit(target)
            if scheme or place or target.startswith("data:"):
                continue
            to = (path.parent / unquote(name)).resolve() if name else path
            if not to.exists() or (fragment and to in html
                                   and unquote(fragment) not in html[to].anchors | {""}):
                missing.append(f"{path.name}: {target}")
    assert missing == []


@pytest.mark.slow
def test_the_site_loads_nothing_from_other_servers(html):
    text = {path: path.read_text(encoding="utf-8") for path in html}
    assert [path.name for path, t in text.items()
            if re.search(r"""<(script|link|img)[^>]*(src|href)=["']?https?:""", t)] == []


@pytest.mark.slow
def test_every_page_of_the_documentation_is_in_the_site(site):
    wanted = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
              for path in ROOT.glob("docs/**/*.md")}
    wanted |= {f"examples/{path.stem}.html" for path in ROOT.glob("examples/*.py")}
    wanted = {name.replace("README.html", "index.html") for name in wanted}
    found = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert wanted <= found
    assert (site / "pictures" / "perfetto.png").stat().st_size > 1000


@pytest.mark.slow
def test_names_in_pages_lead_to_the_reference(site):
    text = (site / "facets.html").read_text(encoding="utf-8")
    assert re.search(r'href="reference/[\w-]+\.html#mat\.scratch"', text)


@pytest.mark.slow
def test_drawings_have_the_colour_of_the_page(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    drawing = re.search(r"<svg [^>]*role=\"img\".*?</svg>", text, re.DOTALL)[0]
    assert "copied to the GPU once" in drawing
    assert "currentColor" in drawing
    assert "<style" not in drawing  # it would be a rule for all of the page


@pytest.mark.parametrize("wrong", ["[there](nowhere.md)", "[there](facets.md#nowhere)"])
@pytest.mark.slow
def test_broken_links_are_noticed(wrong, tmp_path):
    """Missing pictures are not: `test_files_that_a_page_refers_to_are_there` notices them."""
    pytest.importorskip("zensical", reason="the packages of the extra `docs` are not installed")
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    with (tmp_path / "docs" / "nn.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{wrong}\n")
    done = built(tmp_path / "docs", tmp_path / "built")
    assert done.returncode != 0
    assert "nowhere" in re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)  # no colours
