"""Generate the reference pages of the site from the stubs (stubs.py) and docstrings.

The pages follow the groups of ``__all__`` in mat/__init__.py;
names that are NumPy's follow on pages of their own. Each name is in the inventory (inventory.py).
Docstrings are numpydoc: their sections become headed lists and paragraphs.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import re
import tokenize
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import dtypes
import inventory
import numpy as np
import related
import stubs

import mat
from mat.support.close_names import OfOthers

FOLDER = "reference/"
MODULES = {name: f"mat.{name}" for name
           in ("blas", "nn", "debug", "extend", "errors")}
# pages of names that are NumPy's, which are not in the groups, and the modules they belong to
NUMPYS = {"numpy": "", "linalg": "linalg", "fft": "fft", "random": "random",
          "lib.stride_tricks": "lib.stride_tricks"}
VALUES = {  # values have no docstrings of their own
    "mat.supported_dtypes": "The names of the element types that a Mat can have.",
    "mat.__version__": "The version of this library.",
    "mat.__array_api_version__": "The version of the Python array API standard whose functions "
                                 "`mat` has.",
    "mat.extend.Input": "In the signature of an operation: a Mat that is only read.",
    "mat.extend.Output": "In the signature of an operation: a Mat of which every visible element "
                         "is overwritten and none is read.",
    "mat.extend.InOut": "In the signature of an operation: a Mat that is read and written.",
    "mat.extend.Accumulated": "In the signature of an operation with a parameter `beta`: a Mat "
                              "that is only written if `beta` is 0, and otherwise read and "
                              "written.",
    "mat.extend.InputOrNumber": "In the signature of an operation: a Mat that is only read, or a "
                                "number.",
    "mat.extend.Scalar": "In the signature of an operation: a number.",
}
# members of a Mat that only facets and operations use
SERVING = {"allowed", "form", "label", "over"}
PARTS = ("What a Mat is", "Methods that read or manage memory", "Methods that write")
LISTS = ("Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns")
SECTION = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.MULTILINE)


# The public names


def groups() -> dict[str, list[str]]:
    """Return the public names, listed by the comments above them in ``__all__``."""
    found: dict[str, list[str]] = {}
    with open(mat.__file__, "rb") as file:
        tokens = itertools.dropwhile(lambda token: token.string != "__all__",
                                     tokenize.tokenize(file.readline))
        for token in itertools.takewhile(lambda token: token.string != "]", tokens):
            if token.type == tokenize.COMMENT:
                names = found.setdefault(token.string.lstrip("# "), [])
            elif token.type == tokenize.STRING:
                names.append(token.string.strip('"'))
    return found


def modules() -> dict[str, ModuleType]:
    """Return the public modules by name."""
    return {name: importlib.import_module(path) for name, path in MODULES.items()}


def names_in(module: ModuleType) -> list[str]:
    """Return the names in ``__all__`` of a module, or else the public ones that it defines."""
    own = [n for n, thing in vars(module).items() if not n.startswith("_") and callable(thing)
           and getattr(thing, "__module__", "") == module.__name__]
    return [n for n in getattr(module, "__all__", own) if not inspect.ismodule(getattr(module, n))]


def members(kind: type) -> dict[str, Any]:
    """Return the public members of a class that have documentation."""
    names = [n for n in dir(kind) if not n.startswith("_")]
    for name in names:
        getattr(kind, name, None)  # some are bound at their first use
    named = {n: inspect.getattr_static(kind, n) for n in names}
    return {n: thing for n, thing in named.items() if doc_of(thing) and n not in SERVING
            and not isinstance(thing, OfOthers)}


def part_of(name: str, thing: Any) -> str:
    """Return the part of the page of `Mat` that has this member.

    A trailing underscore marks the methods that write.
    """
    return PARTS[inspect.isroutine(thing) and 1 + name.endswith("_")]


def own_members(kind: type) -> dict[str, Any]:
    """Return those documented methods and properties that the class itself defines."""
    return {n: thing for n, thing in members(kind).items()
            if n in vars(kind) and getattr(thing, "__doc__", None)
            and (inspect.isfunction(thing) or isinstance(thing, property))}


def inner_members(path: str, thing: Any) -> dict[str, Any]:
    """Return the members that stand below a class: its own, and those that its stub declares.

    Those of `Mat` have a page, and those of exceptions are Python's.
    """
    if not isinstance(thing, type) or thing is mat.Mat or issubclass(thing, Exception):
        return {}
    own = own_members(thing)
    return {n: member for n, member in members(thing).items()
            if n in own or f"{path}.{n}" in stubs.signatures()}


def doc_of(thing: Any) -> str:
    """Return the docstring; for a slot, its description in the class; for a value, its repr."""
    if isinstance(thing, np.dtype):
        return f"The element type ``{thing}``."
    if thing is None or isinstance(thing, bool | int | float | complex | str):
        return f"The value ``{thing!r}``."
    if inspect.ismemberdescriptor(thing):
        slots = getattr(thing.__objclass__, "__slots__", ())
        return str(slots[thing.__name__]) if isinstance(slots, dict) else ""
    return inspect.getdoc(thing) or ""


# Signatures


class Plain:
    """An annotation, written without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def signature(name: str, thing: Any) -> str:
    """Return the signature of a callable, or the bases of an exception."""
    if isinstance(thing, type) and issubclass(thing, Exception):
        return f"class {name}({', '.join(base.__name__ for base in thing.__bases__)})"
    try:
        given = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    unquoted = [p.replace(annotation=Plain(p.annotation) if isinstance(p.annotation, str)
                          else p.annotation)
                for p in given.parameters.values()]
    result = inspect.Signature.empty if isinstance(thing, type) else given.return_annotation
    given = given.replace(parameters=unquoted,
                          return_annotation=Plain(result) if isinstance(result, str) else result)
    return f"{'class ' * isinstance(thing, type)}{name}{wrapped(given, len(name))}"


def wrapped(given: inspect.Signature, indent: int) -> str:
    """Return a signature as text, with one argument a line if it is long."""
    short = str(given)
    if len(short) + indent < 100:
        return short
    parts = re.split(r", (?=\*{0,2}\w+(?:[:=,)]|$)|\*,|/)", short[1:short.rindex(")")])
    return "(\n" + "".join(f"    {part},\n" for part in parts) + short[short.rindex(")"):]


# Docstrings as Markdown


def markdown(doc: str, links: dict[str, str]) -> str:
    """Return a docstring as Markdown: sections with headings, examples in blocks, names linked."""
    before, *sections = SECTION.split(doc)
    parts = [paragraphs(before, links)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        shown = definitions if title in LISTS else paragraphs
        parts.append(f"**{title}**\n\n{shown(body, links)}")
    return "\n\n".join(part for part in parts if part)


def paragraphs(text: str, links: dict[str, str]) -> str:
    """Return the paragraphs of a docstring, of which those with a prompt are blocks of code."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if paragraph.lstrip().startswith(">>> "):
            parts.append(f"```pycon\n{inspect.cleandoc(paragraph)}\n```")
        else:
            parts.append(inline(paragraph, links))
    return "\n\n".join(parts)


def definitions(body: str, links: dict[str, str]) -> str:
    """Return the entries of a section such as "Parameters" as a definition list.

    An entry is ``name : type``, or a type alone, and below it an indented description.
    """
    parts = []
    for entry in re.split(r"\n(?=\S)", body.strip("\n")):
        head, _, description = entry.partition("\n")
        text = paragraphs(inspect.cleandoc(description), links) if description.strip() else ""
        indented = "\n".join("    " + line if line else "" for line in text.split("\n"))
        parts.append(f"{term(head.strip(), links)}\n:   {indented.lstrip() or '&nbsp;'}")
    return "\n\n".join(parts)


def term(head: str, links: dict[str, str]) -> str:
    """Return the first line of an entry: names as code, linked if they are known, and the type."""
    names, colon, kind = head.partition(" : ")
    if not colon and not re.fullmatch(r"[\w.*]+(, [\w.*]+)*", names):
        return inline(names, links)  # a type in words
    code = ", ".join(linked_code(f"`{name.strip()}`", links) for name in names.split(","))
    return f"{code} : {inline(kind, links)}" if colon else code


def inline(text: str, links: dict[str, str]) -> str:
    """Return text with names linked, and with the characters escaped that Markdown interprets."""
    return re.sub(r"(``.+?``|`[^`]+`)|[*<_]", lambda found: escaped(found, links), text,
                  flags=re.DOTALL)


def escaped(found: re.Match[str], links: dict[str, str]) -> str:
    """Return code as a link if it is a known name, and another character so that it is literal."""
    code = found[1]
    if code is not None:
        return linked_code(code, links)
    line = found.string[:found.start()].rpartition("\n")[2]
    if found[0] == "*" and line.strip() == "":  # a bullet
        return "*"
    return "&lt;" if found[0] == "<" else f"\\{found[0]}"


def linked_code(code: str, links: dict[str, str]) -> str:
    """Return code as a link if it is a known name."""
    target = links.get(re.sub(r"\(.*", "", code.strip("`")))
    return f"[{code}]({target})" if target else code


def entry(path: str, thing: Any, links: dict[str, str], level: int = 2) -> str:
    """Return the text for one name: heading with the whole name as anchor, signature, docstring."""
    name = path.rpartition(".")[2]
    lines = [f"{'#' * level} `{path.removeprefix('mat.Mat.')}` {{ #{anchor(path)} "
             f"data-toc-label='{anchor(name)}' }}"]
    if path in VALUES:
        shows = isinstance(thing, str | tuple)
        return "\n\n".join([*lines, VALUES[path],
                            *([f"```python\n{thing!r}\n```"] if shows else []),
                            see_also(path, links)])
    if callable(thing) and not isinstance(thing, np.dtype):
        shown = stubs.signatures().get(path) or signature(path if path.count(".") == 1 else name,
                                                          thing)
        lines.append(f"```python\n{shown}\n```")
    return "\n\n".join([*lines, markdown(doc_of(thing), links), *additions(path, thing, links)])


def additions(path: str, thing: Any, links: dict[str, str]) -> Iterator[str]:
    """Yield what the docstring does not say: where it computes, an example, what to read next."""
    if path in links and callable(thing) and not isinstance(thing, type):
        yield f"**Where it computes**\n\n{related.where(path, links)}"
        yield f"**Dtypes**\n\n{dtypes.sentence(path, thing)}"
        if "Raises\n---" not in doc_of(thing):
            yield f"**Raises**\n\n{inline(related.raises(path, links), links)}"
    if ">>> " not in doc_of(thing):
        shown, other = related.example(path, links, doc_of)
        title = f"**Example**, of {linked_code(f'`{other}`', links)}" if other else "**Example**"
        if shown:
            yield f"{title}\n\n{paragraphs(shown, links)}"
    yield see_also(path, links)


def see_also(path: str, links: dict[str, str]) -> str:
    """Return links to a member's class, other names of the operation, and the page about it."""
    owner = path.rpartition(".")[0]
    names = [*([] if path in links else [owner]), *related.same(path, links)]
    shown = [linked_code(f"`{name}`", links) for name in names]
    shown.append(related.guide(links.get(path, links.get(owner, "")).partition("#")[0]))
    return f"**See also**\n\n{', '.join(shown)}"


# The pages


def slug(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-") + ".md"


def anchor(path: str) -> str:
    """Return the anchor for a name, without double underscores, which would mean bold text."""
    return path.replace("__", "")


@functools.cache
def everything() -> tuple[tuple[str, str, Any], ...]:
    """Return ``(page, whole name, object)`` for all public names, in the order of the pages."""
    return (*_everything(),)


def _everything() -> Iterator[tuple[str, str, Any]]:
    for title, names in groups().items():
        for name in names:
            if name not in MODULES:
                yield ("mat.md" if name == "Mat"
                       else slug(title)), f"mat.{name}", getattr(mat, name)
    for name, thing in sorted(members(mat.Mat).items(),
                              key=lambda member: PARTS.index(part_of(*member))):
        yield "mat.md", f"mat.Mat.{name}", thing
    for name, module in modules().items():
        if module is not mat.errors:  # its names are also in `mat`
            for inside in names_in(module):
                yield f"{name}.md", f"mat.{name}.{inside}", getattr(module, inside)
    for page, name in NUMPYS.items():
        module = importlib.import_module(f"mat.{name}".rstrip("."))
        for inside in stubs.declared(name):
            # the stubs have the names of another version of NumPy, too
            if (name or inside not in mat.__all__) and hasattr(module, inside):
                whole = f"mat.{name}.{inside}".replace("..", ".")
                yield f"{page}.md", whole, getattr(module, inside)


@functools.cache
def linked() -> dict[str, str]:
    """Return the targets of links, by whole name and, if unambiguous, by the name's last part."""
    found: dict[str, str] = {}
    for page, path, _ in everything():
        found[path] = f"{page}#{anchor(path)}"
        if path.count(".") == 1:
            found.setdefault(path.removeprefix("mat."), found[path])
        found.setdefault(path.removeprefix("mat."), found[path])
    return {name: target for name, target in found.items() if "." in name or name[0].isupper()}


@functools.cache
def pages() -> dict[str, str]:
    """Return the Markdown of each page, by the page's name."""
    links, made = linked(), {}
    titles = {"mat.md": "Mat"}
    titles |= {"numpy.md": "NumPy's functions"} | {f"{name}.md": f"mat.{name}" for name in NUMPYS
                                                   if name != "numpy"}
    titles |= {slug(title): title for title in groups()} | {f"{name}.md": f"mat.{name}"
                                                            for name in modules()}
    for page, path, thing in everything():
        if page not in made:
            made[page] = [f"# {titles[page]}", *introduction(page.removesuffix(".md"), links)]
        made[page] += headings(path, thing, made[page])
        made[page].append(entry(path, thing, links, 3 if path.startswith("mat.Mat.") else 2))
        made[page] += [entry(f"{path}.{n}", member, links, 3)
                       for n, member in inner_members(path, thing).items()]
    index = ["# All names", "All public names; `help(mat.axpy)` in Python shows the same text. "
             "*Dtypes* were found by calls of each function, with all operands of one dtype.",
             *contents(titles, links)]
    return {"index.md": "\n\n".join(index),
            **{page: "\n\n".join(parts) + "\n" for page, parts in made.items()}}


def introduction(page: str, links: dict[str, str]) -> list[str]:
    """Return what a page of the reference says before its names."""
    if page in NUMPYS:
        own = ", ".join(f"`{name}`" for name in stubs.numpys_own(NUMPYS[page]))
        also = f"These are NumPy's own objects: {own}." if own else ""
        return ["NumPy says what these functions do; here are their types, and what they return.",
                *filter(None, [also])]
    module = modules().get(page)
    return [markdown(doc_of(module), links)] if module else []


def headings(path: str, thing: Any, before: list[str]) -> list[str]:
    """Return the heading of a part of the page of `Mat` if the part begins here."""
    heading = f"## {part_of(path, thing)}"
    return [heading] if path.startswith("mat.Mat.") and heading not in before else []


def contents(titles: dict[str, str], links: dict[str, str]) -> Iterator[str]:
    """Yield the tables of the first page: each name with the first line of its docstring."""
    rows: dict[str, list[str]] = {}
    for page, path, thing in everything():
        first = VALUES.get(path) or inline(doc_of(thing).split("\n\n")[0], links)
        rows.setdefault(page, []).append(f"| [`{path}`]({page}#{anchor(path)}) | "
                                         f"{' '.join(first.split())} |")
    for page, lines in rows.items():
        yield f"## [{titles[page]}]({page})"
        yield "\n".join(["| name | |", "|---|---|", *lines])


def inventory_entries() -> Iterator[inventory.Entry]:
    """Yield every module, every name, and what is defined under another name."""
    yield inventory.Entry("mat", "module", f"{FOLDER}index.html")
    for page in sorted({page.removesuffix(".md") for page, _, _ in everything()}):
        if page in MODULES or page in NUMPYS.keys() - {"numpy"}:
            yield inventory.Entry(f"mat.{page}", "module", f"{FOLDER}{page}.html")
    listed = {path for _, path, _ in everything()}
    for page, path, thing in everything():
        target = f"{FOLDER}{page.removesuffix('.md')}.html#{anchor(path)}"
        yield inventory.Entry(path, inventory.role(path, thing), target)
        for name, member in inner_members(path, thing).items():
            yield inventory.Entry(f"{path}.{name}", inventory.role(path, member, thing),
                                  f"{target}.{anchor(name)}")
        home = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
        if home.startswith("mat.") and "<" not in home and home not in listed:
            listed.add(home)
            yield inventory.Entry(home, inventory.role(path, thing), target, path)
