"""What the reference adds to a docstring: where a function computes, an example of the same
operation under another name, and what to read next.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import numpy_names
from more_examples import EXAMPLES

import mat

GUIDES = {  # pages that explain what a page of the reference lists
    "mat": ("Facets", "facets"), "creation-and-basics": ("Tutorial", "tutorial"),
    "shaping": ("Memory layout", "layout"), "blas": ("Memory layout", "layout"),
    "element-wise-row-and-column-reductions": ("Accuracy", "accuracy"),
    "random-numbers": ("Random numbers", "random"), "files": ("Files", "files"),
    "facets-memory-devices": ("Devices", "devices"), "errors": ("Facets", "facets"),
    "nn": ("Convolution and pooling", "nn"), "debug": ("Debugging", "debugging"),
    "extend": ("Extending", "extending"), "numpy": ("NumPy's functions", "numpy"),
    "linalg": ("NumPy's functions", "numpy"), "fft": ("NumPy's functions", "numpy"),
    "random": ("Random numbers", "random"), "lib.stride_tricks": ("Memory layout", "layout")}
ON_DEVICE = "On the device in use"
WHERE = {
    "ours": f"{ON_DEVICE}; with arguments that this operation does not have, NumPy computes on the "
            "host.",
    "view": "Nowhere: the result is a view.",
    "query": "Nowhere: shapes and dtypes are enough.",
    "host": "On the host, by NumPy."}
# pages of the reference whose functions, but for `NO_OPERATIONS`, compute on devices
OPERATIONS = ("blas", "nn", "shaping", "element-wise-row-and-column-reductions", "random-numbers")
NO_OPERATIONS = ("mat.Rng", "mat.seed")
NOWHERE = "Nowhere: no element is computed."
PLACES = {  # where functions of other pages compute
    "creation-and-basics": "On the host.", "facets-memory-devices": NOWHERE,
    "random-numbers": NOWHERE, "debug": NOWHERE, "extend": NOWHERE, "random": WHERE["host"],
    "files": "On the host; what is on a device is copied."}
OTHERS = {f"mat.{name}": place for place, names in {  # than the rest of their page
    f"{ON_DEVICE}.": """fused Mat.max_pool_ Mat.derive_max_pool_ random.normal random.rand
        random.randn random.random random.random_sample random.ranf random.sample
        random.standard_normal random.uniform""",
    f"{ON_DEVICE}, when it is called.": "kernel graph",
    f"{ON_DEVICE}, where rows are drawn at random.": "batches",
    NOWHERE: """settings configure random.default_rng random.get_bit_generator random.get_state
        random.seed random.set_bit_generator random.set_state open_memmap
        lib.stride_tricks.broadcast_shapes"""}.items() for name in names.split()}
METHODS = {  # of Mats, without a function of the same name
    f"{ON_DEVICE}.": "assign_ bernoulli_ contiguous equals fill fill_ flatten normal_ uniform_",
    "On the host.": """byteswap dump dumps flush item orthogonal_ read_ replace_ tobytes tofile
        tolist to_numpy write""",
    NOWHERE: """accept_torn adjust_ changed close displace displace_ drop
        facet getfield keep permute ravel_index row_ setfield setflags to_device view view_
        window"""}
OF_METHODS = {f"mat.Mat.{name}": place for place, names in METHODS.items()
              for name in names.split()}
SECTION = re.compile(r"^Examples\n-{3,}\n(.*?)(?=^[A-Z]\w*\n-{3,}\n|\Z)", re.M | re.S)


def where(path: str, links: dict[str, str]) -> str:
    """Return where a function computes."""
    if path in OTHERS:
        return OTHERS[path]
    module, _, name = path.removeprefix("mat.").rpartition(".")
    if path in OF_METHODS:
        return OF_METHODS[path]
    if module == "Mat":
        module, name = "", name.rstrip("_")
    known = module in numpy_names.MODULES and name in numpy_names.kinds(module)
    if known and (place := WHERE.get(numpy_names.group_of(module, name))):
        return place
    page = links.get(f"mat.{module}.{name}".replace("..", "."), "").partition(".md")[0]
    if page in OPERATIONS and path not in NO_OPERATIONS:
        return f"{ON_DEVICE}."
    return PLACES.get(page, "")


def raises(path: str, links: dict[str, str]) -> str:
    """Return the errors of a function whose docstring names none."""
    if path.startswith("mat.random.") or where(path, links) in WHERE.values():
        return "As NumPy's function does; `mat.DTypeError` for elements that a Mat cannot have."
    if links[path].partition(".md")[0] in PLACES:
        return "Nothing by itself."
    return "`mat.ConflictError` and `mat.TornError`, as every access does."


def same(path: str, links: dict[str, str]) -> Iterator[str]:
    """Yield the other public names of the operation: functions, methods, the method that writes.

    Members of other classes than `Mat` only happen to have the names of operations.
    """
    if path not in links:
        return
    name = path.rpartition(".")[2].rstrip("_")
    for other in (f"mat.{name}", f"mat.blas.{name}", f"mat.nn.{name}", f"mat.linalg.{name}",
                  f"mat.Mat.{name}", f"mat.Mat.{name}_"):
        if other in links and other != path:
            yield other


def example(path: str, links: dict[str, str], doc_of: Callable[[object], str]) -> tuple[str, str]:
    """Return an example from the table, or those of the first other name that has some, and it."""
    if path in EXAMPLES:
        return EXAMPLES[path].strip("\n"), ""
    for other in same(path, links):
        found = SECTION.search(doc_of(functools.reduce(getattr, other.split(".")[1:], mat)))
        if found:
            return found[1].strip("\n"), other
    return "", ""


def guide(page: str) -> str:
    """Return a link to the page that explains what a page of the reference lists."""
    title, name = GUIDES[page.removesuffix(".md")]
    return f"[{title}](../{name}.md)"
