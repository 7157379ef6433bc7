"""Signatures as type checkers see them: those of the stubs (mat/*.pyi), and of methods of `Mat`."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import mat

ROOT = Path(mat.__file__).parent
FILES = {"": "__init__.pyi", "blas": "blas.pyi", "nn": "nn.pyi", "linalg": "linalg.pyi",
         "fft": "fft.pyi", "random": "random.pyi", "lib.stride_tricks": "lib/stride_tricks.pyi"}
METHODS = "matrix/methods.pyi"  # of `Mat`
WIDEST, MOST = 100, 9  # characters of a line, and overloads that are shown


@functools.cache
def declared(module: str) -> list[str]:
    """Return the public names that the stub of a module declares itself."""
    tree = ast.parse((ROOT / FILES[module]).read_text(encoding="utf-8"))
    public: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            public = set(ast.literal_eval(node.value))
    names = (n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef))
    return [name for name in dict.fromkeys(names) if name in public]


def numpys_own(module: str) -> list[str]:
    """Return the names that a stub takes from NumPy's as they are."""
    tree = ast.parse((ROOT / FILES[module]).read_text(encoding="utf-8"))
    taken = (n for n in tree.body if isinstance(n, ast.ImportFrom) and not n.level
             and (n.module or "").partition(".")[0] == "numpy")
    return sorted({name.asname for n in taken for name in n.names if name.asname})


@functools.cache
def signatures() -> dict[str, str]:
    """Return the signatures of functions and methods, by whole names; of a few overloads, all."""
    found: dict[str, list[str]] = {}
    for module, file in FILES.items():
        _collect(file, f"mat.{module}".rstrip("."), found)
    text = (ROOT / METHODS).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            shown = re.sub(r"\bSelf\b", "Mat", _signature(node, text, node.name))
            found.setdefault(f"mat.Mat.{node.name}", []).append(shown)
    return {name: "\n".join(unique) for name, texts in found.items()
            if len(unique := dict.fromkeys(texts)) <= MOST}


def _collect(file: str, path: str, found: dict[str, list[str]]) -> None:
    """Add the functions of a stub, and the methods of its classes."""
    text = (ROOT / file).read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = f"{path}.{node.name}" if isinstance(node, ast.ClassDef) else path
        for function in inside:
            if isinstance(function, ast.FunctionDef):
                name = f"{owner}.{function.name}"
                shown = name if name.count(".") == 1 else function.name
                found.setdefault(name, []).append(_signature(function, text, shown))


def _signature(function: ast.FunctionDef, text: str, name: str) -> str:
    """Return a declaration as one line, or with one parameter a line if it is long."""
    body = function.body[0]
    lines = text.splitlines()[function.lineno - 1:body.lineno]
    head = " ".join([*lines[:-1], lines[-1][:body.col_offset]]).replace("builtins.", "")
    head = re.sub(r"\s+", " ", head[head.index("("):]).strip().removesuffix(":")
    close = head.rindex(") ->") if ") ->" in head else head.rindex(")")
    parts = [re.sub(r"^(\*{0,2}\w+: .*?) ?= ?", r"\1 = ", part) for part in _parts(head[1:close])]
    one = f"{name}({', '.join(parts)}{head[close:]}"
    if len(one) <= WIDEST:
        return one
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + head[close:]


def _parts(text: str) -> list[str]:
    """Return the parameters in a text, which commas outside of brackets part."""
    parts, depth, begin = [], 0, 0
    for k, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[begin:k].strip())
            begin = k + 1
    return [part for part in [*parts, text[begin:].strip()] if part]
