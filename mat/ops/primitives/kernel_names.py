"""Which names of indices and lengths the statements of a kernel use: those that are no variables.
It reads tokens of C, and knows no grammar beyond declarations and assignments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_NOTHING = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'", re.DOTALL)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\.?\d(?:[eEpP][-+]|[\w.])*|(?:<<|>>|[-+*/%&|^])=|[=!<>]=|"
                    r"\+\+|--|->|&&|\|\||\S")
_INDEX = re.compile(r"[in][0-7]?")
_ASSIGNING = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_STEPPING = frozenset(("++", "--"))
# before a name that they do not declare
_BEFORE_VALUES = frozenset(("return", "else", "case", "goto", "do", "sizeof"))
_TYPES = frozenset(("T", "auto", "bool", "char", "double", "float", "int", "long", "short",
                    "signed", "size_t", "unsigned", "void", "MAT_REAL_TYPE"))


@cache
def index_names(statements: str) -> frozenset[str]:
    """Return the names i, n, i0, n0 ... that are read in some statements of C.

    A name that is declared or assigned anywhere in them is a variable, and so none of these; nor
    are members of a struct, comments and strings.
    """
    tokens = _TOKEN.findall(_NOTHING.sub(" ", statements))
    found = {t for before, t in zip(["", *tokens], tokens, strict=False)
             if _INDEX.fullmatch(t) and before not in (".", "->")}
    return frozenset(found.difference(_assigned(tokens), _declared(tokens)) if found else found)


def _assigned(tokens: list[str]) -> Iterator[str]:
    """Yield the names that are assigned, or counted up or down."""
    for name, after in zip(tokens, [*tokens[1:], ""], strict=True):
        if after in _ASSIGNING or after in _STEPPING:
            yield name
        if name in _STEPPING:
            yield after


def _declared(tokens: list[str]) -> Iterator[str]:
    """Yield the names that are declared: those after a name of a type, and others of its list."""
    for k, token in enumerate(tokens[:-1]):
        if not _is_name(token) or token in _BEFORE_VALUES:
            continue
        at = k + 1
        while token in _TYPES | {"const"} or token.endswith("_t"):  # so that it is no product
            if tokens[at:at + 1] != ["*"]:
                break
            at += 1
        if at < len(tokens) and _is_name(tokens[at]):
            yield tokens[at]
            yield from _listed(tokens[at + 1:])


def _listed(tokens: list[str]) -> Iterator[str]:
    """Yield the names after commas, up to the end of a declaration."""
    depth, begins = 0, False
    for token in tokens:
        if begins and token != "*":
            if _is_name(token):
                yield token
            begins = False
        depth += (token in "([{") - (token in ")]}")
        if depth < 0 or token == ";":
            return
        begins = begins or (token == "," and not depth)


def _is_name(token: str) -> bool:
    return token[:1].isalpha() or token[:1] == "_"
