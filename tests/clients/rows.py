"""A row of the table: one call of another library with a Mat, observed, and compared with the
result for an array.

Measured are: the protocol by which the library used the Mat, the type that it returned, whether
that shares the Mat's memory, and, with a Mat that is on a device only, the number of copies.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import mat

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "interop.md"
# with the separator: there is matplotlib, too
PACKAGE = os.path.join(os.path.dirname(mat.__file__), "")

# Protocols by which libraries use a Mat, in the words of the table
EXPORT, DLPACK, STANDARD = "export", "DLPack", "array API"
FUNCTIONS, ITEMS, COPY = "NumPy's functions", "items", "copy"
PROTOCOLS = {
    "__array__": EXPORT, "__buffer__": EXPORT, "_exported": EXPORT, "__dlpack__": DLPACK,
    "__array_namespace__": STANDARD, "__array_ufunc__": FUNCTIONS,
    "__array_function__": FUNCTIONS, "__iter__": ITEMS, "__getitem__": ITEMS,
    "__arrow_array__": "Arrow", "__arrow_c_array__": "Arrow", "__reduce_ex__": "pickle",
    "to_numpy": COPY, "tolist": ITEMS,
}
OPERATORS = [f"__{p}{n}__" for n in ("add", "sub", "mul", "truediv", "matmul", "pow")
             for p in ("", "r")]


class Library:
    """A module of a library, imported when a test uses it: collecting takes no time for that.

    Where the library is not installed, the file that needs it is skipped.
    """

    def __init__(self, name: str) -> None:
        if importlib.util.find_spec(name.partition(".")[0]) is None:
            pytest.skip(f"{name} is not installed", allow_module_level=True)
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest looks for marks
            raise AttributeError(name)
        return getattr(pytest.importorskip(self._name), name)


class Row(NamedTuple):
    """One call of the table."""

    code: str  # an expression of `x`, which is a Mat, or an array with the same elements
    make: Callable[[], np.ndarray[Any, Any]]  # returns the elements
    names: dict[str, Any]  # other names in the expression
    # the array whose memory the result has; None: found by its type
    memory: Callable[[Any], Any] | None
    refuses: type[BaseException] | None  # the error that the library raises for a Mat
    compare: bool  # whether the values are to be those for an array

    def function(self, x: Any) -> Any:
        """Make the call."""
        return eval(self.code, {"np": np, "mat": mat, **self.names, "x": x})


class Measured(NamedTuple):
    """The cells of one row of the table."""

    code: str
    taken: str
    result: str
    memory: str
    device: str


class Rows(list[Row]):
    """The rows of one client, whose expressions are evaluated among `names`."""

    def __init__(self, client: str, names: dict[str, Any], *packages: str) -> None:
        super().__init__()
        self.client = client
        self.names = names
        self.packages = packages or (client,)

    def __call__(self, code: str, make: Callable[[], Any], *, memory: Any = None,
                 refuses: Any = None,
                 compare: bool = True) -> None:
        """Add a row."""
        self.append(Row(code, make, self.names, memory, refuses, compare))

    @property
    def versions(self) -> str:
        """Return names and versions of the packages."""
        return ", ".join(f"{p} {importlib.metadata.version(p)}" for p in self.packages)


# Observing


@contextmanager
def observed_protocols() -> Iterator[list[str]]:
    """List the protocols by which other code than `mat` accesses Mats in the block."""
    found: list[str] = []
    before = {name: vars(kind)[name] for name in PROTOCOLS for kind in mat.Mat.__mro__[:1]
              if name in vars(kind)}
    inherited = [name for name in PROTOCOLS if name not in before and hasattr(mat.Mat, name)]
    inherited = [name for name in inherited
                 if getattr(mat.Mat, name) is not getattr(object, name, None)]
    for name in (*before, *inherited):
        setattr(mat.Mat, name, _recording(name, getattr(mat.Mat, name), found))
    try:
        yield found
    finally:
        for name, value in before.items():
            setattr(mat.Mat, name, value)
        for name in inherited:
            delattr(mat.Mat, name)


def _recording(name: str, method: Callable[..., Any], found: list[str]) -> Callable[..., Any]:
    def recording(self: Any, *args: Any, **kwargs: Any) -> Any:
        caller = sys._getframe(1).f_code
        # compiled code of the package has no frame: what it calls seems to be called from here
        if caller is not recording.__code__ and not caller.co_filename.startswith(PACKAGE):
            found.append("to_numpy" if name == "__array__" and kwargs.get("copy") else name)
        return method(self, *args, **kwargs)

    return recording


def used(found: list[str], size: int) -> str:
    """Return the protocols in words; items only if most were requested one by one."""
    words = []
    for name, word in PROTOCOLS.items():
        if name in found and word not in words and (word != ITEMS or found.count(name)
                                                    >= min(size, 4) or name == "tolist"):
            words.append(word)
    if ITEMS in words and len(words) > 1:  # such as an access to the first item
        words.remove(ITEMS)
    return ", ".join(words) or "operators"


# The contents of a result


def leaves(result: Any) -> list[Any]:
    """Return the items of a result that may be nested."""
    if isinstance(result, list | tuple):
        return [leaf for item in result for leaf in leaves(item)]
    if isinstance(result, dict):
        return [leaf for item in result.values() for leaf in leaves(item)]
    return [result]


def kind(result: Any) -> str:
    """Return the type of a result in words."""
    kinds = dict.fromkeys(_name(type(leaf)) for leaf in leaves(result))
    return ", ".join(kinds)


def _name(of: type) -> str:
    root = of.__module__.partition(".")[0]
    return of.__name__ if root in ("builtins", "mat", "numpy", "tests") else f"{root}.{of.__name__}"


def values(result: Any) -> list[np.ndarray[Any, Any]]:
    """Return copies of the numbers in a result, as arrays."""
    return [np.array(leaf) for leaf in leaves(result)]


def memory_of(leaf: Any) -> np.ndarray[Any, Any] | None:
    """Return the host memory of an item of a result as an array, or None if that needs a copy."""
    if isinstance(leaf, mat.Mat):
        if leaf.fresh - {"host"}:
            return None
        with leaf.facet("array", "input") as a:
            return np.asarray(a)
    if isinstance(leaf, np.ndarray):
        return leaf
    if hasattr(leaf, "to_numpy"):
        found = leaf.to_numpy()
        return found if isinstance(found, np.ndarray) else None
    if type(leaf).__module__ == "torch":
        return leaf.detach().numpy()
    return None


# Measuring


def measure(row: Row) -> Measured:
    """Make the call, on the host and on a device, and return what was observed.

    `AssertionError` if the result for an array is another.
    """
    x = mat.array(row.make())
    if row.refuses is not None:
        with pytest.raises(row.refuses):
            row.function(x)
        return Measured(row.code, "refuses", row.refuses.__name__, "", "")
    with observed_protocols() as found:
        result = row.function(x)
    got = values(result)
    memory = _memory(row, result, x)
    if row.compare:
        _check_values(got, values(row.function(row.make())))
    return Measured(row.code, used(found, x.size), kind(result), memory, _on_device(row, got))


def _memory(row: Row, result: Any, x: Any) -> str:
    arrays = [row.memory(result)] if row.memory else [memory_of(leaf) for leaf in leaves(result)]
    arrays = [a for a in arrays if a is not None and a.ndim]
    if not arrays:
        return ""
    with x.facet("array", "input") as mine:
        return "shared" if any(np.shares_memory(mine, a) for a in arrays) else "own"


def _check_values(got: list[Any], wanted: list[Any]) -> None:
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted, strict=True):
        if w.dtype.kind in "fc":
            np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(g, w)


def _on_device(row: Row, wanted: list[Any]) -> str:
    """Return how much is copied if the Mat is only on the device in use, and whether a Mat that is
    returned is there.
    """
    x = mat.array(row.make())
    with mat.use_device("emulated"):
        with x.facet("emulated"):
            pass
        with mat.debug.count_copies() as n:
            result = row.function(x)
        mats = [leaf for leaf in leaves(result) if isinstance(leaf, mat.Mat)]
        there = all(m.fresh == {"emulated"} for m in mats) if mats else False
        moved = f"{n.d2h} to host" + (f", {n.h2d} to device" if n.h2d else "")
        if row.compare:
            _check_values(values(result), wanted)
    return f"{moved}; stays" if there else moved


# Tests and the table


def rows_checked(rows: Rows) -> Any:
    """Return a test of every row: its result is that for an array, and it is as in the table, if
    that was made with these versions.
    """
    @pytest.mark.host
    @pytest.mark.unchecked("compares addresses, and replaces protocols to observe them")
    @pytest.mark.parametrize("row", rows, ids=lambda row: row.code)
    def test(row: Row) -> None:
        found = measure(row)
        section = sections().get(rows.client)
        assert section is not None, "python -m tests.clients writes the table"
        versions, table = section
        page = PAGE.read_text(encoding="utf-8")
        if versions == rows.versions and f"with {surroundings()}." in page:
            assert table.get(row.code) == found
        else:
            assert row.code in table

    return test


BEGIN, END = "<!-- clients: begin -->\n", "<!-- clients: end -->\n"
HEAD = "| call | takes `x` by | gives | memory | `x` on a device |\n|---|---|---|---|---|\n"
TITLE = re.compile(r"^### (?P<client>.*)\n\n(?P<versions>.*)\.$", re.MULTILINE)


def surroundings() -> str:
    """Return the versions that protocols depend on, such as buffers on Python 3.12."""
    python, numpy = platform.python_version(), np.__version__
    return " and ".join(f"{name} {version.rpartition('.')[0]}"
                        for name, version in (("Python", python), ("NumPy", numpy)))


def shown(name: str, rows: Rows, cells: list[Measured]) -> str:
    """Return the section of one client, in Markdown."""
    lines = "".join(f"| `{c.code}` | {c.taken} | {c.result} | {c.memory} | {c.device} |\n"
                    for c in cells)
    return f"<!-- client: {name} -->\n\n### {rows.client}\n\n{rows.versions}.\n\n{HEAD}{lines}\n"


def sections() -> dict[str, tuple[str, dict[str, Measured]]]:
    """Return the committed table: for each client its versions and the cells by code."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    titles = list(TITLE.finditer(text))
    found = {}
    for title, stop in zip(titles, [*(t.start() for t in titles[1:]), len(text)], strict=True):
        rows = [line.strip("|").split(" | ") for line in text[title.end():stop].splitlines()
                if line.startswith("| `")]
        cells = [Measured(*(cell.strip().strip("`") for cell in row)) for row in rows]
        found[title["client"]] = (title["versions"], {c.code: c for c in cells})
    return found
