"""Write the pages of the site, from which the generator makes HTML, and its configuration.

``python docs/site/prepare.py`` writes ``build/pages`` and ``build/mkdocs.yml``, in plain Markdown
and without hooks, so that several generators can read them. Pages are those of ``docs``, with the
names in them linked, and those that reference.py makes of the stubs and docstrings.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import inventory
import reference

import mat

SITE = Path(__file__).parent
ROOT = SITE.parents[1]
GIVEN = ("wide.css", "iframe-worker.js")  # files beside this one that are in the site as they are
PICTURES = (".png", ".svg")
EXAMPLES = "examples"
EXAMPLE = re.compile(r"\]\((?:\.\./)+examples/(\w+)\.py\)")
NAME = re.compile(r"(?<!\[)`(mat\.[\w.]+)(?:\([^`]*\))?`(?!\])")
DRAWING = re.compile(r"^!\[[^\]]*\]\(([\w./-]+\.svg)\)$", re.MULTILINE)


def prepare(docs: Path, target: Path) -> None:
    """Write ``pages`` and ``mkdocs.yml`` into the folder `target`, from the pages in `docs`."""
    shutil.rmtree(target / "pages", ignore_errors=True)
    for name, content in files(docs):
        path = target / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    settings = (SITE / "mkdocs.yml").read_text(encoding="utf-8")
    places = json.dumps(navigation(docs), indent=1)  # which is YAML, too
    (target / "mkdocs.yml").write_text(f"{settings}nav: {places}\n", encoding="utf-8")


def files(docs: Path) -> Iterator[tuple[str, str | bytes]]:
    """Yield the files of the site before its generator has run: their names and contents."""
    for path in sorted(docs.rglob("*")):
        name = path.relative_to(docs).as_posix()
        if path.suffix == ".md":
            yield name, page(name, path)
        elif path.suffix in PICTURES:
            yield name, path.read_bytes()
    for name, text in reference.pages().items():
        yield reference.FOLDER + name, as_sessions(text)
    for path in sorted((ROOT / EXAMPLES).glob("*.py")):
        code = path.read_text(encoding="utf-8")
        yield (f"{EXAMPLES}/{path.stem}.md", f"# {path.name}\n\n[All examples](../gallery.md)\n\n"
                                             f"```python\n{code}```\n")
    for name in GIVEN:
        yield name, (SITE / name).read_bytes()
    yield "objects.inv", inventory.written("mat", mat.__version__, reference.inventory_entries())


def page(name: str, path: Path) -> str:
    """Return a page with names and examples linked, and with drawings as parts of it.

    Pages without sections have no table of contents; the search prefers tutorials.
    """
    text = path.read_text(encoding="utf-8")
    facts = (["hide: [toc]"] if "\n## " not in text else []) + (
        ["search: {boost: 2}"] if name.startswith("tutorials/") else [])
    up, links = "../" * name.count("/"), reference.linked()
    text = EXAMPLE.sub(rf"]({up}{EXAMPLES}/\1.md)", text)
    text = DRAWING.sub(lambda found: drawn(path.parent / found[1]), text)
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    parts[::2] = [NAME.sub(lambda found: known(found, links, up), part) for part in parts[::2]]
    head = "".join(f"{fact}\n" for fact in facts)
    return (f"---\n{head}---\n\n" if head else "") + as_sessions("".join(parts))


def as_sessions(text: str) -> str:
    """Mark Python sessions as such, whose prompts are not copied."""
    return re.sub(r"^```python\n(?=>>> )", "```pycon\n", text, flags=re.M)


def known(found: re.Match[str], links: dict[str, str], up: str) -> str:
    """Return a name in a page, as a link if it is known."""
    target = links.get(found[1])
    return f"[{found[0]}]({up}{reference.FOLDER}{target})" if target else found[0]


def drawn(path: Path) -> str:
    """Return the element of an SVG file, which has the colour of the text of the page, without the
    rules that colour it elsewhere.
    """
    if not path.exists():
        return f"![]({path.name})"  # which the generator does not find, either
    drawing = re.sub(r"<style>.*?</style>\n?", "", path.read_text(encoding="utf-8"), flags=re.S)
    return f"<div>\n{drawing.strip()}\n</div>"


def navigation(docs: Path) -> list[dict[str, object]]:
    """Return the list of pages in docs/README.md by headings, then the reference."""
    text = (docs / "README.md").read_text(encoding="utf-8")
    sections = [{part.partition("\n")[0]: [{title: name} for title, name in listed]}
                for part in text.split("\n## ")[1:]
                if (listed := re.findall(r"^\* \[(.*?)\]\((.*?)\)", part, flags=re.M))]
    return [{"What it is for": "README.md"}, *sections,
            {"Reference": [reference.FOLDER + name for name in reference.pages()]}]


if __name__ == "__main__":
    given = [Path(text) for text in sys.argv[1:]]  # other folders, in tests
    prepare(*(given or (ROOT / "docs", ROOT / "build")))
