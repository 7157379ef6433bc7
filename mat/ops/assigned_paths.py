"""Which variables every path through C statements assigns: the check of a kernel's outputs.

`problem` walks through the statements as a compiler does, whose warnings depend on its version and
on what it optimizes. What it does not understand (preprocessor directives, assembler, statements
inside of expressions, text that is not C) it leaves to the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from ..support.c_tokens import (
    CLOSING,
    NotUnderstood,
    Token,
    colon,
    first,
    matching,
    split,
    tokens,
)

State: TypeAlias = frozenset[str] | None  # what is assigned; None where nothing arrives

_ASSIGNING = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_TYPES = frozenset((
    "T", "_Bool", "_Complex", "auto", "bool", "char", "const", "constexpr", "double", "enum",
    "extern", "float", "half", "inline", "int", "long", "register", "restrict", "short", "signed",
    "static", "struct", "typedef", "union", "unsigned", "void", "volatile"))
_UNEVALUATED = frozenset(("sizeof", "typeof", "__typeof__", "_Alignof", "alignof", "decltype"))
_OPERAND = re.compile(r"[\w$)\]'\"]")  # how what ends an operand ends


class Problem(NamedTuple):
    """A variable that is read at a line before it is assigned, or, at line 0, left unassigned."""

    name: str
    line: int


def problem(source: str, outputs: Iterable[str]) -> Problem | None:
    """Return the first variable of `outputs` that `source` reads before it is assigned, or that a
    path leaves unassigned; None if there is none, or the statements are not understood.
    """
    names = frozenset(outputs)
    try:
        return Walk(list(tokens(source)), names).problem() if names else None
    except (NotUnderstood, RecursionError):
        return None


def _meet(a: State, b: State) -> State:
    """Return what is assigned where two paths join."""
    if a is None or b is None:
        return a if b is None else b
    return a & b


class Walk:
    """A walk through statements, which notes what is assigned at each point."""

    def __init__(self, tokens: list[Token], outputs: frozenset[str]) -> None:
        self.tokens = tokens
        self.outputs = outputs
        self.at: int = 0
        self.state: State = frozenset()
        self.hidden: list[set[str]] = []  # by local variables of the same name, in each block
        self.exits: State = None
        self.broken: list[State] = []  # at the `break` and `continue` of the statements around
        self.continued: list[State] = []
        self.switches: list[tuple[State, bool]] = []  # before each; whether a default was seen
        # at labels and at the beginnings of loops: what arrives from behind, found before
        self.arriving: dict[object, State] = {}
        self.read: Problem | None = None
        self.statements: dict[str, Callable[[], None]] = {
            "{": self._block, ";": self._skip, "if": self._if, "while": self._while,
            "do": self._do, "for": self._for, "switch": self._switch, "case": self._case,
            "default": self._case, "break": self._break, "continue": self._continue,
            "return": self._return, "goto": self._goto}

    def problem(self) -> Problem | None:
        """Return the first problem, after as many walks as jumps back make necessary."""
        before: dict[object, State] | None = None
        while before != self.arriving:
            before = dict(self.arriving)
            self.at, self.state, self.exits, self.read = 0, frozenset(), None, None
            self.hidden = [set()]
            while self.at < len(self.tokens):
                self._statement()
        final = _meet(self.exits, self.state)
        left = sorted(self.outputs - final) if final is not None else []
        return self.read or (Problem(left[0], 0) if left else None)

    # Statements

    def _statement(self) -> None:
        token = self._peek()
        if token.text in self.statements:
            self.statements[token.text]()
        elif token.is_name and self._peek(1).text == ":":
            self.at += 2
            self._arrive(token.text)
        else:
            self._simple(self._until(";"))

    def _peek(self, ahead: int = 0) -> Token:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else Token(";", 0)  # which is appended

    def _take(self, text: str) -> None:
        if self._peek().text != text:
            raise NotUnderstood
        self.at += 1

    def _until(self, text: str) -> list[Token]:
        """Return what comes before `text`, and go on after that."""
        begin = self.at
        rest = self.tokens[begin:]
        length = first(rest, text)
        length = len(rest) if length < 0 else length
        self.at = begin + length + 1
        return rest[:length]

    def _group(self) -> list[Token]:
        """Return what is in the brackets that follow."""
        if self._peek().text not in CLOSING:
            raise NotUnderstood
        begin, end = self.at, matching(self.tokens, self.at)
        self.at = end + 1
        return self.tokens[begin + 1:end]

    def _skip(self) -> None:
        self.at += 1

    def _block(self) -> None:
        end = matching(self.tokens, self.at)
        self._take("{")
        self.hidden.append(set())
        while self.at < end:
            self._statement()
        self.hidden.pop()
        self._take("}")

    def _if(self) -> None:
        self.at += 1 + (self._peek(1).text == "constexpr")
        self.state, otherwise = self._condition(self._group(), self.state)
        self._statement()
        if self._peek().text == "else":
            self.at += 1
            then, self.state = self.state, otherwise
            self._statement()
            otherwise = then
        self.state = _meet(self.state, otherwise)

    def _arrive(self, place: object) -> None:
        """Join what arrives at a label or at the beginning of a loop from elsewhere."""
        self.state = _meet(self.state, self.arriving.get(place))

    def _jump(self, place: object) -> None:
        """Note what arrives there from here."""
        self.arriving[place] = _meet(self.arriving.get(place), self.state)

    def _loop_body(self) -> State:
        """Walk through a body; return what is assigned after a `break`."""
        self.broken.append(None)
        self.continued.append(None)
        self._statement()
        self.state = _meet(self.state, self.continued.pop())
        return self.broken.pop()

    def _while(self) -> None:
        place = self.at
        self.at += 1
        self._arrive(place)
        self.state, after = self._condition(self._group(), self.state)
        broken = self._loop_body()
        self._jump(place)
        self.state = _meet(after, broken)

    def _do(self) -> None:
        place = self.at
        self.at += 1
        self._arrive(place)
        broken = self._loop_body()
        self._take("while")
        self.state, after = self._condition(self._group(), self.state)
        self._jump(place)
        self.state = _meet(after, broken)
        self._take(";")

    def _for(self) -> None:
        place = self.at
        self.at += 1
        parts = split(self._group(), ";")
        if len(parts) != 3:  # of C++, over a range
            raise NotUnderstood
        begin, condition, step = parts
        self.hidden.append(set())
        self._simple(begin)
        self._arrive(place)
        if condition:
            self.state, after = self._condition(condition, self.state)
        else:
            after = None
        broken = self._loop_body()
        self.state = self._value(step, self.state)
        self._jump(place)
        self.hidden.pop()
        self.state = _meet(after, broken)

    def _switch(self) -> None:
        self.at += 1
        self.state = self._value(self._group(), self.state)
        self.switches.append((self.state, False))
        self.broken.append(None)
        self.state = None
        self._statement()
        before, complete = self.switches.pop()
        self.state = _meet(self.state, self.broken.pop())
        if not complete:
            self.state = _meet(self.state, before)

    def _case(self) -> None:
        if not self.switches:
            raise NotUnderstood
        before, complete = self.switches[-1]
        self.switches[-1] = before, complete or self._peek().text == "default"
        self.at = colon(self.tokens, self.at) + 1
        self.state = _meet(self.state, before)

    def _break(self) -> None:
        if not self.broken:
            raise NotUnderstood
        self.broken[-1] = _meet(self.broken[-1], self.state)
        self._end_of_jump()

    def _continue(self) -> None:
        if not self.continued:
            raise NotUnderstood
        self.continued[-1] = _meet(self.continued[-1], self.state)
        self._end_of_jump()

    def _end_of_jump(self) -> None:
        self.at += 1
        self._take(";") if self.at < len(self.tokens) else None
        self.state = None

    def _return(self) -> None:
        self.at += 1
        self.state = self._value(self._until(";"), self.state)
        self.exits = _meet(self.exits, self.state)
        self.state = None

    def _goto(self) -> None:
        self.at += 1
        target = self._until(";")
        if len(target) != 1:
            raise NotUnderstood
        self._jump(target[0].text)
        self.state = None

    # Declarations and expressions

    def _simple(self, tokens: list[Token]) -> None:
        """Walk through a declaration or an expression."""
        if not tokens:
            return
        words = 0
        while words < len(tokens) and (tokens[words].text in _TYPES or tokens[words].text == "::"
                                       or tokens[words].text.endswith("_t")):
            words += 1
        named = len(tokens) > 1 and tokens[0].is_name and tokens[1].is_name
        if not words and not (named and tokens[0].text not in _UNEVALUATED):
            self.state = self._value(tokens, self.state)
        elif tokens[0].text != "typedef":
            self._declaration(tokens[max(words, 1):])

    def _declaration(self, tokens: list[Token]) -> None:
        """Walk through the variables of a declaration, after its type."""
        for part in split(tokens, ","):
            equals = first(part, "=")
            declared = part if equals < 0 else part[:equals]
            value = [] if equals < 0 else part[equals + 1:]
            if any(token.text == "&" for token in declared):  # a reference of C++: assigns later
                self.state = self._assigned(value, self.state)
            bracket = first(declared, "[")
            self.state = self._value(declared[bracket:] if bracket >= 0 else [], self.state)
            self.hidden[-1].update(_names(declared))
            self.state = self._value(value, self.state)

    def _visible(self, token: Token) -> bool:
        """Tell whether a token is an output that no local variable hides."""
        return token.text in self.outputs and not any(token.text in names for names in self.hidden)

    def _assigned(self, tokens: list[Token], state: State) -> State:
        if state is None:
            return None
        return state | {token.text for token in tokens if self._visible(token)}

    def _condition(self, tokens: list[Token], state: State) -> tuple[State, State]:
        """Return what is assigned if the value of an expression is true, and if it is false."""
        if tokens and tokens[0].text == "(" and matching(tokens, 0) == len(tokens) - 1:
            return self._condition(tokens[1:-1], state)
        if first(tokens, ",", "?", *_ASSIGNING) < 0:
            for sign in ("||", "&&"):
                parts = split(tokens, sign)
                if len(parts) > 1:
                    return self._chain(parts, state, sign == "||")
            if tokens and tokens[0].text == "!" and (
                    len(tokens) == 2 or (tokens[1].text == "("
                                         and matching(tokens, 1) == len(tokens) - 1)):
                return self._condition(tokens[1:], state)[::-1]
        if len(tokens) == 1 and tokens[0].text in ("0", "1", "true", "false"):
            return (state, None) if tokens[0].text in ("1", "true") else (None, state)
        state = self._value(tokens, state)
        return state, state

    def _chain(self, parts: list[list[Token]], state: State, either: bool) -> tuple[State, State]:
        """Return what is assigned after ``a || b || c`` (`either`), or ``a && b && c``."""
        early: State = None
        for part in parts:
            true, false = self._condition(part, state)
            done, state = (true, false) if either else (false, true)
            early = _meet(early, done)
        return (early, state) if either else (state, early)

    def _value(self, tokens: list[Token], state: State) -> State:
        """Return what is assigned after an expression was evaluated."""
        parts = split(tokens, ",")
        if len(parts) > 1:
            for part in parts:
                state = self._value(part, state)
            return state
        at = first(tokens, "?", *_ASSIGNING)
        if at < 0:
            if first(tokens, "&&", "||") < 0:
                return self._operands(tokens, state)
            return _meet(*self._condition(tokens, state))
        if tokens[at].text == "?":
            return self._choice(tokens, at, state)
        return self._assignment(tokens[:at], tokens[at], tokens[at + 1:], state)

    def _choice(self, tokens: list[Token], at: int, state: State) -> State:
        middle = colon(tokens, at + 1)
        true, false = self._condition(tokens[:at], state)
        return _meet(self._value(tokens[at + 1:middle], true),
                     self._value(tokens[middle + 1:], false))

    def _assignment(self, to: list[Token], sign: Token, value: list[Token], state: State) -> State:
        while to and to[0].text == "(" and matching(to, 0) == len(to) - 1:
            to = to[1:-1]
        if len(to) != 1 or not self._visible(to[0]):
            return self._value(to, self._value(value, state))
        if sign.text != "=":
            state = self._operands(to, state)
        return self._assigned(to, self._value(value, state))

    def _operands(self, tokens: list[Token], state: State) -> State:
        """Return what is assigned after operands without assignments among them."""
        k = 0
        while k < len(tokens):
            token = tokens[k]
            before = tokens[k - 1].text if k else ""
            if token.text in _UNEVALUATED and k + 1 < len(tokens):
                k = matching(tokens, k + 1) + 1 if tokens[k + 1].text == "(" else k + 2
                continue
            if token.text in CLOSING:
                end = matching(tokens, k)
                state = self._bracketed(tokens[k:end + 1], before, state)
                k = end
            elif self._visible(token) and before not in (".", "->", "::"):
                state = self._used(tokens, k, state)
            k += 1
        return state

    def _bracketed(self, tokens: list[Token], before: str, state: State) -> State:
        """Return what is assigned after what is in brackets was evaluated."""
        inside = tokens[1:-1]
        if (inside and inside[0].text == "{") or (
                tokens[0].text == "{" and any(token.text == ";" for token in inside)):
            raise NotUnderstood  # statements inside of an expression
        if before == "&" and len(inside) == 1:
            return self._assigned(inside, state)
        return self._value(inside, state)

    def _used(self, tokens: list[Token], k: int, state: State) -> State:
        """Return what is assigned after the output at the index `k` was used."""
        token = tokens[k]
        if k and tokens[k - 1].text == "&" and (k == 1
                                                or not _OPERAND.match(tokens[k - 2].text[-1])):
            return self._assigned([token], state)  # whoever is given its address assigns it
        if state is not None and token.text not in state and self.read is None:
            self.read = Problem(token.text, token.line)
        return state


def _names(declared: list[Token]) -> list[str]:
    """Return the name that a declarator declares, after a struct's members if there are any."""
    begin = first(declared, "{")
    rest = declared if begin < 0 else declared[matching(declared, begin) + 1:]
    return [token.text for token in rest if token.is_name and token.text not in _TYPES][:1]
