"""Blocks that change the state of a context, and end whatever happens: out of order, in another
context or thread than they began in, or cut short by an interrupt.

A reset of the context variable does not do for that: it fails in another context (that of the event
loop which closes an abandoned generator), and restores too much if a later block is still open.
"""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from ..layout.attributes import begin_as_nothing
from .native import core

_PACKAGE = __name__.partition(".")[0]


_TRIES = 100  # of ending a block that is interrupted again and again
# Bodies of blocks that run. It keeps them alive: Python calls no callback of a weak reference that
# is garbage itself, as that of a body would be in a cycle with its block.
_running: set[Any] = set()


T = TypeVar("T")  # what a block is given


class Body:
    """The steps of blocks, with types of C: see `Block`."""

    # what attributes are until they are set: see `begin_as_nothing`
    body: Any  # of the same class
    unused: weakref.ref[Any] | None
    # of a body
    late: weakref.ref[Any] | None
    running: bool

    def warn_unless_entered(self, call: str) -> None:
        """Warn if self, made by `call`, becomes garbage before it is entered.

        It is the last thing to do in `__init__`: an interrupt there is no mistake of the user.
        """
        self.unused = weakref.ref(self, functools.partial(warn_unused, call))

    def begin(self) -> Any:
        """Begin the block and return its value."""
        raise NotImplementedError

    def end(self, error: BaseException | None) -> None:
        """End the block, which raised `error` or None."""
        raise NotImplementedError

    def already_open(self) -> BaseException:
        """Return the error to raise if the block is entered again while it is open."""
        return RuntimeError("this block is already open; make another one")

    @property
    def entered(self) -> bool:
        """True while the block is open."""
        return self.body is not None and bool(self.body.running)

    def __enter__(self) -> Any:
        body = self.body
        if body is not None and body.running:
            raise self.already_open()
        self.unused = None
        self.body = body = self.copied()
        try:
            body.running = True
            body.late = weakref.ref(self, body.end_late)
            _running.add(body)
            return body.begin()
        except BaseException as error:
            body.end_surely(error)
            raise

    def copied(self) -> Self:
        """Return a block like this one, which was not entered."""
        kind: Any = type(self)
        made: Self = Body.__new__(kind)
        vars(made).update(vars(self))
        made.body = None
        return made

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        body = self.body
        if body is not None:
            body.end_surely(error)

    def end_surely(self, error: BaseException | None) -> None:
        """Call `end` until nothing is left of the block; raise the first interrupt or error."""
        raised: BaseException | None = None
        for _ in range(_TRIES):
            try:
                self.end(error if raised is None else raised)
                self.running = False
                self.late = None
                _running.discard(self)
                break
            except BaseException as failure:
                if raised is None or (isinstance(raised, Exception)
                                      and not isinstance(failure, Exception)):
                    raised = failure
        try:
            if raised is not None:
                raise raised
        finally:
            del raised  # its traceback keeps this frame

    def end_late(self, block: weakref.ref[Any]) -> None:  # noqa: ARG002
        """End a block that is garbage."""
        if self.running:
            self.end_surely(None)


begin_as_nothing(Body)


class Block(Body, Generic[T]):
    """A context manager whose parts `begin` and `end` can be interrupted at any point.

    Subclasses implement `begin` and `end`. `end` undoes whatever was begun, does nothing for what
    has ended already, and is called again after an interrupt or error, as after a failed `begin`.

    A copy of the block, its body, does all that. It also learns when the block itself is garbage:
    an interrupt may come before the first line of `__exit__`, and nobody ends the block then. The
    block has no `__del__`, since an interrupt in there would be lost.

    Of a block whose call is known there is a warning if it becomes garbage and was never entered.
    """

    if TYPE_CHECKING:
        def begin(self) -> T: ...
        def __enter__(self) -> T: ...


class Decorating(Block[T]):
    """A block that can also decorate a function, for a new block at each call."""

    unused: weakref.ref[Any] | None

    def again(self) -> Self:
        """Return a new block like this one."""
        return self.copied()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self.unused = None

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.again():
                return function(*args, **kwargs)
        return inside


class Nested:
    """The value of a context variable: the innermost block, or a substitute for it.

    ``parent`` is the one around it. Those that have ended are skipped, in every context.
    """

    # what attributes are until they are set: see `begin_as_nothing`
    ended: bool
    parent: Self | None


begin_as_nothing(Nested)


N = TypeVar("N", bound=Nested)


def still_open(nested: N | None) -> N | None:
    """Return `nested`, or the nearest one around it that has not ended."""
    while nested is not None and nested.ended:
        nested = nested.parent
    return nested


def enter(variable: ContextVar[N | None], nested: N) -> None:
    """Make `nested` the innermost one of this context."""
    nested.parent = variable.get()
    inner: N | None = nested
    while inner is not None:  # those that have ended are left out, else the chain may grow for ever
        inner.parent = still_open(inner.parent)
        inner = inner.parent
    variable.set(nested)


def leave(variable: ContextVar[N | None], nested: N) -> None:
    """End `nested`, in whatever context this is."""
    nested.ended = True
    innermost = variable.get()
    if innermost is not None and innermost.ended:
        variable.set(still_open(innermost))


def remove(found: list[object], one: object) -> None:
    """Remove `one` from a list that several threads change, if it is there."""
    if one in found:
        found.remove(one)


# Blocks that nobody enters: ``mat.use_device("cuda")`` does nothing without ``with``


def warn_unused(call: str, _: object = None) -> None:
    """Warn that `call`, as the user wrote it, was not used by ``with``.

    The line is the one at which the object becomes garbage: that of the call, unless the object was
    kept. There is no warning where the package itself does not use one, as after an error, nor at
    the interpreter's exit, nor uncompiled, where an interrupt may come between any two statements
    before the block is entered.
    """
    if core is None or sys.is_finalizing():
        return
    frame = sys._getframe()  # of the caller: compiled code has none
    if _name_of(frame).partition(".")[0] == _PACKAGE or _is_entering(frame):
        return
    warnings.warn_explicit(
        f"{call} did nothing, since it was not used by with: write with {call}: ...",
        RuntimeWarning, frame.f_code.co_filename, frame.f_lineno, _name_of(frame),
        frame.f_globals.setdefault("__warningregistry__", {}))


def _is_entering(frame: FrameType) -> bool:
    """Return whether `frame` was about to begin a ``with`` that an interrupt prevented."""
    found = list(importlib.import_module("dis").get_instructions(frame.f_code))
    at = next(k for k, one in enumerate(found) if one.offset >= frame.f_lasti)
    return any(one.opname in ("BEFORE_WITH", "LOAD_SPECIAL") for one in found[at:at + 2])


def _name_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "")
