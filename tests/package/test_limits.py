"""Limits that keep the code readable: lengths of lines, files and functions, numbers of parameters,
names of functions and classes, and how often type checkers are overruled.

Run as a module (``python -m tests.package.test_limits``), this file prints what goes beyond them.
"""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from ..support.parsing import forget, nodes, parsed

REPOSITORY = Path(__file__).parents[2]
ROOT = REPOSITORY / "mat"
LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS, LONGEST_LINE, MOST_IGNORES = 750, 40, 6, 100, 40
COMPILED = {".c", ".h", ".cuh", ".cu", ".cpp", ".hpp", ".def", ".pxd", ".pxi", ".pyx"}
# public namespaces, whose docstrings have an example
NAMESPACES = {"mat/__init__.py", "mat/blas.py", "mat/debug/__init__.py"}


def relative(path):
    return path.relative_to(REPOSITORY).as_posix()


def sources():
    """Python and compiled sources of the package, the tests, the examples and the pages."""
    return sorted(p for folder in ("mat", "tests", "examples", "docs")
                  for p in (REPOSITORY / folder).rglob("*")
                  if p.suffix == ".py" or (p.suffix in COMPILED and "build" not in p.parts))


SOURCES = {relative(p): p for p in sources()}
MODULES = {name: path for name, path in SOURCES.items()
           if name.startswith("mat/") and path.suffix == ".py"}


def read(name):
    return SOURCES[name].read_text(encoding="utf-8")


def tree_of(name):
    return parsed(read(name))


def teardown_module():
    forget()


def long_lines(text):
    return [f"{k}: {len(line)} columns" for k, line in enumerate(text.splitlines(), 1)
            if len(line) > LONGEST_LINE]


def functions(tree):
    return [n for n in nodes(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(function):
    """The lines of a function, from its ``def`` on and without its docstring."""
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    return lines - (first.end_lineno - first.lineno + 1 if ast.get_docstring(function) else 0)


def long_functions(text):
    return [f"{n.lineno}: {n.name} has {length(n)} lines" for n in functions(parsed(text))
            if length(n) > LONGEST_FUNCTION and not excused(n, text, "lines")]


def long_cython_functions(text):
    """Functions of a file for Cython that are too long, by their indentation; docstrings count."""
    lines = text.splitlines()
    found = []
    for start, line in enumerate(lines):
        head = re.match(r"( *)(?:def|cdef(?! class)|cpdef)\b[^=]*?(\w+)\(", line)
        if head is None:
            continue
        inner = [k for k, other in enumerate(lines[start + 1:], start + 1) if other.strip()]
        end = next((k for k in inner if re.match(rf" {{0,{len(head[1])}}}\S", lines[k])),
                   len(lines))
        count = sum(1 for k in range(start, end) if lines[k].strip())
        if count > LONGEST_FUNCTION:
            found.append(f"{start + 1}: {head[2]} has {count} lines")
    return found


def wide_functions(text):
    """Functions with too many parameters, self not counted, and no comment that says why."""
    found = []
    for n in functions(parsed(text)):
        named = [a.arg for a in (*n.args.posonlyargs, *n.args.args, *n.args.kwonlyargs)]
        count = len(named) - (named[:1] in (["self"], ["cls"]))
        if count > MOST_PARAMETERS and not excused(n, text, "parameters|signature"):
            found.append(f"{n.lineno}: {n.name} has {count} parameters")
    return found


def excused(function, text, words):
    """A comment just above a function or in its first lines, the docstring not counted, has one of
    these words.
    """
    top = min([function.lineno, *(d.lineno for d in function.decorator_list)])
    head = function.body[0]
    end = head.end_lineno if ast.get_docstring(function) else head.lineno - 1
    lines = text.splitlines()
    near = [*lines[max(top - 3, 0):function.lineno], *lines[function.lineno:head.lineno],
            *lines[end:end + 3]]
    return any(re.search(rf"#.*\b({words})\b", line) for line in near)


def classes(tree):
    return [n.name for n in nodes(tree) if isinstance(n, ast.ClassDef)]


def new_classes_of_objects(tree):
    """The lines that assign to an object's ``__class__``."""
    targets = [t for n in nodes(tree) if isinstance(n, ast.Assign | ast.AnnAssign)
               for t in (n.targets if isinstance(n, ast.Assign) else [n.target])]
    by_call = [n for n in nodes(tree) if isinstance(n, ast.Call)
               and getattr(n.func, "attr", getattr(n.func, "id", "")) in ("setattr", "__setattr__")
               and any(getattr(a, "value", None) == "__class__" for a in n.args)]
    return [t.lineno for t in targets if isinstance(t, ast.Attribute) and t.attr == "__class__"
            ] + [n.lineno for n in by_call]


def ignores(text):
    return len(re.findall(r"#\s*type:\s*ignore", text))


def offenders(names, check):
    """The files in which `check` finds something, with what it finds."""
    return {name: found for name in names if (found := check(name))}


# The project


def test_lines_fit():
    assert offenders(SOURCES, lambda name: long_lines(read(name))) == {}


def test_files_stay_small():
    assert offenders(SOURCES, lambda name: read(name).splitlines()[LONGEST_FILE:]) == {}


def test_files_open_with_a_docstring():
    def fault(name):
        docstring = ast.get_docstring(tree_of(name))
        # five lines, and paragraphs
        return not docstring or (name not in NAMESPACES and len(docstring.splitlines()) > 7)

    documented = [name for name in MODULES
                  if name != "mat/version.py" and not name.startswith("mat/native/")]
    assert offenders(documented, fault) == {}


def test_functions_stay_small():
    assert offenders(MODULES, lambda name: long_functions(read(name))) == {}
    cython = [name for name in SOURCES if name.endswith((".pxd", ".pxi", ".pyx"))]
    assert cython
    assert offenders(cython, lambda name: long_cython_functions(read(name))) == {}


def test_functions_have_few_parameters():
    assert offenders(MODULES, lambda name: wide_functions(read(name))) == {}


def test_functions_have_names():
    assert offenders(MODULES, lambda name: [n.lineno for n in functions(tree_of(name))
                                            if n.name == "_"]) == {}


def test_no_class_name_has_two_meanings():
    counted = Counter(c for name in MODULES for c in classes(tree_of(name)))
    assert [name for name, count in counted.items() if count > 1] == []


def test_no_object_is_given_another_class():
    assert offenders(MODULES, lambda name: new_classes_of_objects(tree_of(name))) == {}


def test_type_checkers_are_seldom_overruled():
    assert sum(ignores(read(name)) for name in MODULES) <= MOST_IGNORES


# The tests of the tests


def test_long_lines_are_found():
    assert long_lines(f"x = 1\ny = '{'z' * 100}'") == ["2: 106 columns"]


def test_long_functions_are_found():
    body = "\n".join("    x = 1" for _ in range(LONGEST_FUNCTION))
    documented = f'def f():\n    """Doc.\n\n    More.\n    """\n{body[10:]}'
    assert long_functions(f"def f():\n{body}") == ["1: f has 41 lines"]
    assert long_functions(f"def f():\n    # as many lines as steps\n{body}") == []
    assert long_functions(documented) == []


def test_long_functions_of_cython_are_found():
    body = "\n\n".join("        x = 1" for _ in range(LONGEST_FUNCTION))
    text = f"cdef class A:\n    cdef int f(self, int k) except -1:\n{body}\n    cdef int x\nx = 2"
    assert long_cython_functions(text) == ["2: f has 41 lines"]
    assert long_cython_functions(text.replace("        x = 1", "", 1)) == []


WIDE = "a, b, c, d, e, f, g"


@pytest.mark.parametrize(("source", "count"), [
    (f"def f({WIDE}): pass", 1), ("def f(self, a, b, c, d, e, f): pass", 0),
    (f"# the signature is BLAS's\ndef f({WIDE}): pass", 0),
    (f"# the signature is BLAS's\n@op\ndef f({WIDE}): pass", 0),
    (f"def f({WIDE}):  # these parameters are BLAS's\n    pass", 0),
    (f'def f({WIDE}):\n    """Doc."""\n    # the signature is BLAS\'s\n    pass', 0),
    (f'def f({WIDE}):\n    """Parameters and signature."""', 1),
    ("def f(a, b, c, *, d, e, f, g): pass", 1),
])
def test_functions_with_many_parameters_are_found(source, count):
    assert len(wide_functions(source)) == count


@pytest.mark.parametrize("source", ["x.__class__ = A", "x.__class__: type = A",
                                    "setattr(x, '__class__', A)",
                                    "object.__setattr__(x, '__class__', A)"])
def test_objects_that_are_given_another_class_are_found(source):
    assert new_classes_of_objects(ast.parse(source)) == [1]
    assert new_classes_of_objects(ast.parse("y = x.__class__")) == []


def report():
    """Print everything that is beyond a limit."""
    lines = []
    for name in SOURCES:
        lines += [f"{name}:{text}" for text in long_lines(read(name))]
    for name in MODULES:
        text, tree = read(name), tree_of(name)
        lines += [f"{name}:{found}" for found in long_functions(text) + wide_functions(text)]
        lines += [f"{name}:{n.lineno}: a function named _" for n in functions(tree)
                  if n.name == "_"]
        lines += [f"{name}:{line}: assigns __class__" for line in new_classes_of_objects(tree)]
        if len(text.splitlines()) > LONGEST_FILE:
            lines.append(f"{name}: {len(text.splitlines())} lines")
    counted = Counter(c for name in MODULES for c in classes(tree_of(name)))
    lines += [f"class {name} is defined {n} times" for name, n in counted.items() if n > 1]
    lines.append(f"type: ignore: {sum(ignores(read(name)) for name in MODULES)}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    report()
