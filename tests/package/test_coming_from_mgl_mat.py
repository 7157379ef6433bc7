"""The page for users of MGL-MAT: it lists each exported name once, and the counterparts exist."""

import ast
import inspect
import re
from collections import Counter
from pathlib import Path

import pytest

import mat
from mat.core.barrier import Barrier
from mat.debug.counters import AllocationCounter, CopyCounter

pytestmark = pytest.mark.host

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "coming-from-mgl-mat.md").read_text(encoding="utf-8")
OBJECTS = {**dict.fromkeys("xyabc", mat.Mat), "w": mat.Mat, "xd": mat.Mat, "wd": mat.Mat,
           "yd": mat.Mat, "rng": mat.Rng,
           "bar": Barrier, "n": AllocationCounter(), "copies": CopyCounter(), "mat": mat}
PLAIN = {"fn", "len", "file"}  # names of other libraries


def names():
    """Return the exported names as ``{package: names}``."""
    found, package = {}, ""
    for line in (ROOT / "tests" / "mgl_mat_names.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found[package].append(line.strip())
        else:
            package = line
            found[package] = []
    return found


def rows(page):
    """Yield the rows of the tables: ``(package, first cell, second cell, third cell)``."""
    package = ""
    for line in page.splitlines():
        if line.startswith("## "):
            package = line[3:]
        elif line.startswith("| `"):
            first, second, third = (cell.strip() for cell
                                    in line.removeprefix("|").removesuffix("|").split(" | "))
            yield package, first, second, third


ROWS = list(rows(PAGE))
SPANS = [(first, span) for _, first, second,
         third in ROWS for span in re.findall(r"`([^`]+)`", second)
         + re.findall(r"`((?:with )?(?:mat|x|n|copies)\.[^`]+)`", third)]


def test_the_names_are_all_of_them():
    assert {package: len(found) for package,
            found in names().items()} == {"MGL-CUBE": 37, "MGL-MAT": 144}


@pytest.mark.parametrize("package", ["MGL-CUBE", "MGL-MAT"])
def test_each_name_is_listed_once(package):
    shown = Counter(name for of, first,
                    *_ in ROWS if of == package for name in re.findall(r"`([^`]+)`", first))
    assert shown == Counter(names()[package])


def test_every_row_says_what_to_write_or_why_there_is_nothing():
    for _, first, second, third in ROWS:
        assert second == "*none*" or re.fullmatch(r"(`[^`]+`(, )?)+", second), first
        assert second != "*none*" or third or first == "`*default-lisp-kernel-declarations*`", first


def parsed(span):
    """Return the expressions of a span; those that it enters for a ``with`` statement."""
    tree = ast.parse(span + ":\n    pass" if span.startswith("with ") else span)
    statement = tree.body[0]
    return [item.context_expr
            for item in statement.items] if isinstance(statement, ast.With) else [statement]


def resolved(node):
    """Return the object that an expression of names and attributes refers to.

    None stands for objects of other libraries, and for unknown ones.
    """
    if isinstance(node, ast.Name):
        return OBJECTS.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = resolved(node.value)
        if owner is None or isinstance(owner, property) or inspect.isdatadescriptor(owner):
            return None
        return inspect.getattr_static(owner, node.attr)
    return None


def wrong(span):
    """Return the names, attributes and arguments in a span that do not exist."""
    found = []
    for node in (n for expression in parsed(span) for n in ast.walk(expression)):
        if isinstance(node, ast.Name) and node.id not in OBJECTS.keys() | PLAIN:
            found.append(node.id)
        if isinstance(node, ast.Attribute):
            try:
                resolved(node)
            except AttributeError as error:
                found.append(str(error))
    return found or [error for expression in parsed(span) for n in ast.walk(expression)
                     if isinstance(n, ast.Call)
                     for error in misfits(n)]


def misfits(call):
    """Return the reasons why a call is not possible with its arguments."""
    function = resolved(call.func)
    if function is None:
        return []
    method = isinstance(call.func, ast.Attribute) and isinstance(resolved(call.func.value), type)
    if function is mat.settings or function is mat.configure:
        return [k.arg for k in call.keywords if not hasattr(mat.settings, k.arg)]
    try:
        inspect.signature(function).bind(*[None] * (len(call.args) + method),
                                         **{k.arg: None for k in call.keywords})
    except TypeError as error:
        return [str(error)]
    return []


@pytest.mark.parametrize(("name", "span"), SPANS, ids=lambda text: text)
def test_counterparts_exist(name, span):
    assert wrong(span) == []


# The tests of the tests


@pytest.mark.parametrize(("span", "faults"), [
    ("mat.nowhere", 1), ("x.nowhere(1)", 1), ("mat.debug.nowhere", 1), ("mat.axpy(2, x)", 1),
    ("mat.axpy(2, x, y, m=3)", 1),
    ("x.exp_(1, 2)", 1), ("mat.settings(nothing=1)", 1), ("with x.facets('a') as b", 1),
    ("with mat.nowhere() as n", 1),
    ("mat.extend.Memory.nowhere", 1), ("undefined[0]", 1), ("mat.axpy(2, x, y, n=3)", 0),
    ("x.facets.get('array')", 0),
    ("mat.FacetState.nothing", 1), ("n.nothing", 1), ("rng.copy(3)", 1)])
def test_names_that_do_not_exist_are_found(span, faults):
    assert len(wrong(span)) == faults


def test_a_name_that_is_listed_twice_or_not_at_all_is_noticed():
    page = ("## A\n\n| MGL-MAT | `mat` | what differs |\n|---|---|---|\n"
            "| `m*` | `a @ b` | |\n| `m*` | *none* | no |\n")
    assert [row[:3] for row in rows(page)] == [("A", "`m*`", "`a @ b`"), ("A", "`m*`", "*none*")]
