"""The tokens of C statements, and the search among them for what is outside of brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(r"""
    (?P<space>\s+|\\\n|//(?:\\\n|[^\n])*|/\*.*?\*/)
  | (?P<directive>\#\s*(?:pragma|line)\b(?:\\\n|[^\n])*)
  | (?P<name>[A-Za-z_$][\w$]*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<long>\.\.\.|->|\+\+|--|(?:<<|>>|[-+*/%&|^=!<>])=|&&|\|\||<<|>>|::)
  | (?P<short>[-+*/%&|^=!<>~?:;,.(){}\[\]])
""", re.VERBOSE | re.DOTALL)
CLOSING = {"(": ")", "[": "]", "{": "}"}
_NOT_UNDERSTOOD = frozenset(("asm", "__asm__", "__asm", "try", "catch", "throw", "template",
                             "operator"))


class NotUnderstood(Exception):
    """Raised for statements that are left to the compiler."""


class Token(NamedTuple):
    """A piece of the text, and the number of its line."""

    text: str
    line: int

    @property
    def is_name(self) -> bool:
        """True for names and keywords."""
        return self.text[0].isalpha() or self.text[0] in "_$"


def has_word(source: str, word: str) -> bool:
    """Tell whether a name or keyword is in C code, outside of comments and texts."""
    return any(found["name"] == word for found in _TOKEN.finditer(source))


def tokens(source: str) -> Iterator[Token]:
    """Yield the tokens of statements, without comments and directives that do not matter."""
    at, line = 0, 1
    while at < len(source):
        found = _TOKEN.match(source, at)
        if found is None or found[0] in _NOT_UNDERSTOOD or (
                found[0] == "/" and source.startswith("*", found.end())):
            raise NotUnderstood
        if found.lastgroup not in ("space", "directive"):
            yield Token(found[0], line)
        line += found[0].count("\n")
        at = found.end()


def matching(tokens: list[Token], at: int) -> int:
    """Return the index of the bracket that closes the one at the index `at`."""
    expected: list[str] = []
    for k in range(at, len(tokens)):
        text = tokens[k].text
        if text in CLOSING:
            expected.append(CLOSING[text])
        elif text in CLOSING.values():
            if text != expected.pop():
                raise NotUnderstood
            if not expected:
                return k
    raise NotUnderstood


def outside(tokens: list[Token]) -> Iterator[int]:
    """Yield the indices of the tokens that are outside of brackets, opening ones included."""
    k = 0
    while k < len(tokens):
        if tokens[k].text in CLOSING.values():
            raise NotUnderstood
        yield k
        k = matching(tokens, k) + 1 if tokens[k].text in CLOSING else k + 1


def first(tokens: list[Token], *texts: str) -> int:
    """Return where the first of `texts` is outside of brackets, or -1."""
    return next((k for k in outside(tokens) if tokens[k].text in texts), -1)


def split(tokens: list[Token], separator: str) -> list[list[Token]]:
    """Return the parts of `tokens` between separators that are outside of brackets."""
    parts: list[list[Token]] = [[]]
    begin = 0
    for k in outside(tokens):
        if tokens[k].text == separator:
            parts[-1] = tokens[begin:k]
            parts.append([])
            begin = k + 1
    parts[-1] = tokens[begin:]
    return parts


def colon(tokens: list[Token], begin: int) -> int:
    """Return the index of the colon that ends what begins there, a `?` or a `case`."""
    depth = 0
    for k in outside(tokens[begin:]):
        text = tokens[begin + k].text
        depth += (text == "?") - (text == ":")
        if text == ":" and depth < 0:
            return begin + k
    raise NotUnderstood
