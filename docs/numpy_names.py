"""Write the section of numpy.md that lists NumPy's names, from the table of names in `mat`.

Run it after a change of the table: ``python docs/numpy_names.py``.
"""

import textwrap
from pathlib import Path

import mat
from mat.numpy.array_function import QUERIES, VIEWS
from mat.numpy.array_ufunc import IMPLEMENTATIONS as UFUNCS
from mat.numpy.namespace.lookup import (
    ABSENT,
    FUNCTION,
    MODULES,
    SAME,
    UFUNC,
    WAYS_OUT,
    WRAPPED,
    kinds,
    numpy_module,
)
from mat.numpy.registry import COMPOSED, IMPLEMENTATIONS, ON_HOST, load_all, load_composed

PAGE = Path(__file__).with_name("numpy.md")
BEGIN, END = "<!-- names: begin -->\n", "<!-- names: end -->\n"
GROUPS = {
    "ours": "Operations of `mat`, on the device in use (with arguments that these do not have, "
            "NumPy computes on the host)",
    "view": "Views, wherever the data is",
    "query": "Answered from shapes and dtypes alone",
    "host": "Computed by NumPy on the host",
    WRAPPED: "Classes, objects and modules of `mat`",
    SAME: "NumPy's own objects",
}


def group_of(module: str, name: str) -> str:
    """Return the group that the page lists the name in."""
    kind = kinds(module)[name]
    if kind not in (FUNCTION, UFUNC):
        return kind
    function = getattr(numpy_module(module), name, None)
    if function is None:  # numpy.lib.stride_tricks has not all names any more
        function = getattr(numpy_module(""), name, None)
    if function in VIEWS:
        return "view"
    if function in QUERIES:
        return "query"
    own = not module and name in mat.__all__
    composed = (function, "__call__") in COMPOSED
    if function in ON_HOST:
        return "host"
    ours = own or composed or function in IMPLEMENTATIONS or function in UFUNCS
    return "ours" if ours else "host"


def section() -> str:
    """Return the section of the page."""
    load_all()
    load_composed()
    parts = []
    for module in MODULES:
        parts.append(f"### `numpy{'.' if module else ''}{module}`\n\n")
        names = {n: group_of(module, n) for n in sorted(kinds(module))}
        for group, title in GROUPS.items():
            listed = " ".join(n for n, g in names.items() if g == group)
            if listed:
                parts.append(textwrap.fill(f"* {title}: `{listed}`", 110,
                                           subsequent_indent="  ", break_on_hyphens=False) + "\n")
        refused = [n for n, g in names.items() if g == ABSENT]
        if refused:
            parts.append("\nThese names raise `DTypeError`, which says what there is instead:\n\n"
                         "| name | instead |\n|---|---|\n")
            parts += [f"| `{n}` | {WAYS_OUT[n]} |\n" for n in refused]
        parts.append("\n")
    return "".join(parts)


def page() -> str:
    """Return the page with the section as it should be."""
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    return head + BEGIN + "\n" + section() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
