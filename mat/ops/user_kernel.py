"""`kernel`: an element-wise operation of the user's own, from C statements, that is used like a
built-in one.
"""

from __future__ import annotations

import inspect
import keyword
import re
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import DTypeError, KernelError, ShapeError
from ..layout.strided import broadcast_shapes
from ..matrix.mat import Mat
from ..support.c_compiler import CompileError, library
from ..support.dtypes import BY_CHAR, REAL_TYPES
from ..support.native import lib
from .operation import InOut, Input, Op, Output, Scalar
from .overlap import apart, check_disjoint

DIRECTIONS: dict[str, Any] = {"number": Scalar, "input": Input, "output": Output, "io": InOut}
TYPES = {char: (BY_CHAR[char].c, BY_CHAR[char].suffix) for char in REAL_TYPES}
_VECTOR = ("exp", "expm1", "log", "log1p", "sinh", "cosh", "tanh", "erf", "logistic", "pow")
_WIDE = ("sin", "cos", "tan")  # right for huge numbers, too
_KEYWORDS = frozenset((  # of C, those that Python has not
    "T", "auto", "case", "char", "const", "default", "do", "double", "enum", "extern", "float",
    "goto", "inline", "int", "long",
    "register", "restrict", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "union", "unsigned", "void",
    "volatile"))
_MOST = 16  # operands that the machinery has room for
_ERROR = re.compile(r"^kernel:(\d+):(\d+): (?:fatal )?error: (.*)$", re.MULTILINE)
# NVRTC's
_ERROR_THERE = re.compile(r"^kernel\((\d+)\): error: (.*)\n(?:[^\n]*\n( *)\^)?", re.MULTILINE)
_OF_ONE = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf",
           "erfc", "exp", "exp2",
           "expm1", "fabs", "floor", "lgamma", "log", "log10", "log1p", "log2", "nearbyint", "rint",
           "round", "sin", "sinh",
           "sqrt", "tan", "tanh", "tgamma", "trunc")
_OF_TWO = ("atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow",
           "remainder")
_THERE = (*(f"#define {n}(x) {n}((T)(x))" for n in _OF_ONE),
          *(f"#define {n}(x, y) {n}((T)(x), (T)(y))" for n in _OF_TWO),
          "#define fma(x, y, z) fma((T)(x), (T)(y), (T)(z))", "#define abs(x) fabs(x)",
          "#define logistic(x) mat_logistic((T)(x))")  # C's are generic, C++'s overloaded
_LITERAL = re.compile(r"(?<![\w.])(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])")
_READ_ONLY = "what is declared 'input' or 'number' cannot be assigned"
_ADVICE = {"read-only": _READ_ONLY, "modifiable": _READ_ONLY,
           "uninitialized": "an 'output' has no old value: assign it on every path before it is "
                            "used, or declare it 'io'"}


def kernel(text: str, /, *, name: str | None = None, doc: str | None = None,
           cuda: str | None = None,
           grid: int | None = None, block: int = 256, **operands: str) -> Kernel:
    """An element-wise operation from C statements, compiled for float32 and float64 when first
    used.

    `operands` says what each name in `text` is, in the order in which the operation takes them: a
    ``"number"``, or a Mat that is ``"input"`` (only read), ``"output"`` (assigned, its old value
    not read) or ``"io"`` (both). Inputs broadcast to what is written; all Mats are of one dtype,
    float32 or float64. The operation returns the last Mat that it writes.

    `text` is one statement or several, of C, about one element: `T` is its type, local variables
    are allowed, and so are the functions of C's ``math.h`` under their plain names, besides `erf`
    and `logistic`. What is compiled is kept in ``$MAT_CACHE`` or the user's cache directory.

    On a CUDA device the same text is compiled for that, or `cuda`, statements of CUDA C++ in its
    place, if they are given. Each block of threads has `block` of them; `grid` is the most blocks
    that are launched, and each does several shares then.

    `KernelError` for a text that is not C, with the compiler's message, and where there is no C
    compiler; both when the operation is called for the first time.

    >>> import mat
    >>> axpby = mat.kernel("y = a * x + b * y", a="number", x="input", b="number", y="io")
    >>> axpby(2, mat.ones(3), 10, mat.arange(3))
    <Mat 3 AF [2. 12. 22.]>
    """
    frame = sys._getframe(1)
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    return Kernel(text, operands, name, doc, Launching(cuda, grid, block), place,
                  frame.f_globals.get("__name__"))


class Launching(NamedTuple):
    """What is the device's alone of a kernel."""

    text: str | None
    grid: int | None
    block: int

    def check(self) -> None:
        """`KernelError` unless it can be launched like this."""
        if self.text is not None and (not isinstance(self.text, str) or not self.text.strip()):
            raise KernelError(f"cuda= is a text of CUDA C++ statements, got {self.text!r}")
        if not _counts(self.block,
                       1024) or not (self.grid is None or _counts(self.grid, 2**31 - 1)):
            raise KernelError("block is 1 to 1024 threads, grid None or at least 1 block, got "
                              f"{self.block!r}, {self.grid!r}")


def _counts(n: Any, most: int) -> bool:
    return type(n) is int and 1 <= n <= most


class Kernel(Op):
    """What `kernel` makes: an operation that knows its text."""

    listed = False

    def __init__(self, text: str, operands: dict[str, str], name: str | None, doc: str | None,
                 there: Launching, place: str,
                 module: str | None) -> None:
        _check_text(text, operands, name)
        there.check()
        self.there = there
        self.text, self.directions, self.place = text, dict(operands), place
        self.name, self.doc = name, doc
        self.lock = threading.Lock()
        self.addresses: dict[str, int] = {}
        check = _checker(self, name or "kernel")
        check.__module__ = module or "__main__"
        check.__doc__ = doc or f"``{' '.join(text.split())}``"
        super().__init__(check, "", True, None)
        self.prepare("foreign", dtypes=REAL_TYPES)(self._prepared)
        self.prepare("cuda", dtypes=REAL_TYPES, when=self._on_device)(self._prepared_there)

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}({', '.join(self.directions)}): {' '.join(self.text.split())}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.text, self.directions, self.name, self.doc, self.there, self.place,
                        self.__module__)

    def _prepared(self, cpu: Any, *mats: Mat) -> Any:
        """The compiled kernel for Mats that lie so."""
        if lib is None:
            raise KernelError("mat was installed without its compiled parts, which kernels need: "
                              "install a C compiler, and "
                              "then mat again")
        written = self._last(mats)
        return cpu.prepare_user_kernel(self.address(written.dtype.char), mats, written.shape)

    def address(self, letter: str) -> int:
        """Where the kernel for elements of that dtype is, compiled if it was not yet."""
        with self.lock:
            if letter not in self.addresses:
                self.addresses[letter] = self._compiled(letter)
            return self.addresses[letter]

    def _compiled(self, letter: str) -> int:
        function = f"mat_user_{TYPES[letter][1]}"
        try:
            return library(self.source(letter), function)
        except CompileError as error:
            raise KernelError(self._message(str(error), letter, self.text)) from None

    def _on_device(self, *mats: Mat) -> bool:
        """Whether a device's kernel can do it: for so many operands, of so many axes."""
        return len(mats) < _MOST and apart(*mats, self._last(mats))

    def _last(self, mats: tuple[Mat, ...]) -> Mat:
        """What is written last."""
        return mats[self.operands.index(self.written[-1])]

    def _prepared_there(self, cuda: Any, *mats: Mat) -> Any:
        """The kernel compiled for the device in use."""
        written = self._last(mats)
        letter, text = written.dtype.char, self.there.text or self.text
        placed, numbers, reads, writes = self._placed()
        call = f"mat_user({', '.join(self._arguments(placed, numbers, 'in[m][{}]', '&out[m][{}]', 'number[{}]'))})"
        function = "\n".join([f"typedef {TYPES[letter][0]} T;", *_THERE,
                              self._function(letter, text)])
        try:
            return cuda.prepare_user_kernel(cuda.UserKernel(function, call, len(numbers), reads,
                                                            writes, self.there.grid,
                                                            self.there.block), mats, written.shape)
        except CompileError as error:
            raise KernelError(self._message(str(error), letter, text)) from None

    def _message(self, messages: str, letter: str, text: str) -> str:
        """The first error of the compiler, at the user's line."""
        found, lines = _ERROR.search(messages), text.split("\n")
        if found is not None:
            at, column, message = int(found[1]), int(found[2]), found[3]
        else:
            found = _ERROR_THERE.search(messages)
            if found is None:
                return f"{self.place}: the kernel does not compile:\n{messages}"
            at, message = int(found[1]), found[2]
            indent = len(lines[at - 1]) - len(lines[at - 1].lstrip()) if at <= len(lines) else 0
            column = len(found[3] or "") - 1 + indent
        line = min(at, len(lines))
        if letter == "f":
            column -= sum(match.end() + k < column - 1 for k,
                          match in enumerate(_LITERAL.finditer(lines[line - 1])))
        advice = next((f" ({text})" for word, text in _ADVICE.items() if word in message), "")
        # else the place is not in the text
        known = "uninitialized" not in message and int(found[1]) == line
        caret = f"\n    {' ' * (column - 1)}^" if known else ""
        return f"{self.place}, line {line} of the kernel: {message}{advice}\n    {lines[line - 1]}{caret}"

    # The text for the compiler

    def source(self, letter: str) -> str:
        """The C that is compiled for elements of that dtype."""
        element, suffix = TYPES[letter]
        mats, numbers, reads, written = self._placed()
        writes = [(k, n) for k, n in mats if self.directions[n] != "input"]
        setup = "".join(f"{'MAT_INPUT' if (k, n) not in writes else 'MAT_OUTPUT'}(T, mat_at_{k}, "
                        f"{k}); " for k, n in mats)
        setup += "".join(f"const T mat_number_{k} = (T)numbers[{2 * k}]; "
                         for k in range(len(numbers)))
        each = "".join(f"T mat_new_{k}{f' = mat_at_{k}[i]' if self.directions[n] == 'io' else ''}; "
                       for k, n in writes)
        each += f"mat_user({', '.join(self._arguments(mats, numbers, 'mat_at_{}[i]', '&mat_new_{}', 'mat_number_{}'))}); "
        each += "; ".join(f"mat_at_{k}[i] = mat_new_{k}" for k, _ in writes)
        return "\n".join([
            '#include "elementwise_inline.h"', '#include "vmath_inline.h"', "#include <tgmath.h>",
            f"typedef {element} T;",
            *_functions(suffix), self._function(letter, self.text),
            f"MAT_ELEMENTWISE(mat_user_{suffix}, {reads}, {written}, 0, ({setup}), {each})", ""])

    def _placed(self) -> tuple[list[tuple[int, str]], list[str], int, int]:
        """The Mats by position, the numbers, and which Mats are read and which written, as bits."""
        mats = list(enumerate(self._named("input", "output", "io")))
        reads = sum(1 << k for k, n in mats if self.directions[n] != "output")
        return mats, self._named("number"), reads, sum(1 << k for k,
                                                       n in mats if self.directions[n] != "input")

    def _named(self, *directions: str) -> list[str]:
        return [n for n, d in self.directions.items() if d in directions]

    def _arguments(self, mats: list[tuple[int, str]], numbers: list[str], read: str, write: str,
                   number: str) -> list[str]:
        """What `_function` is called with: what is read, written, and the numbers, spelled like
        this.
        """
        given = {n: number.format(k) for k, n in enumerate(numbers)}
        given |= {n: (read if self.directions[n] == "input" else write).format(k) for k, n in mats}
        return [given[n] for n in self.directions]

    def _function(self, letter: str, text: str) -> str:
        """The user's statements as a function of one element's values; in float, constants are of
        that type, too.
        """
        text = _LITERAL.sub(r"\g<0>f", text) if letter == "f" else text
        written = self._named("output", "io")
        parameters = ", ".join(f"T *mat_to_{n}" if n in written else f"const T {n}"
                               for n in self.directions)
        old = "".join(f"T {n}{f' = *mat_to_{n}' if self.directions[n] == 'io' else ''}; "
                      for n in written)
        new = " ".join(f"*mat_to_{n} = {n};" for n in written)
        place = '#line 1 "kernel"'
        return f'INLINE void mat_user({parameters}) {{\n{place}\n{old}\n{place}\n{text}\n; {new} }}\n#line 1 "mat"'


def _functions(suffix: str) -> list[str]:
    """Plain names for our vector functions; the C library's others are generic already."""
    ours = {**{n: f"mat_{n}_{suffix}" for n in _VECTOR},
            **{n: f"mat_wide_{n}_{suffix}" for n in _WIDE}, "abs": "fabs"}
    return [f"#undef {n}\n#define {n}(...) {name}(__VA_ARGS__)" for n, name in ours.items()]


def _check_text(text: Any, operands: dict[str, str], name: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        raise KernelError(f"a kernel is made from a text of C statements, got {text!r}")
    for operand, direction in operands.items():
        if direction not in DIRECTIONS:
            raise KernelError(f"{operand} is one of {', '.join(map(repr, DIRECTIONS))}, got "
                              f"{direction!r}")
        if operand in _KEYWORDS or keyword.iskeyword(operand) or operand.startswith(("mat_", "_")) or not operand.isascii():
            raise KernelError(f"{operand!r} cannot be the name of an operand: it means something "
                              "in C, Python or mat")
    if not {"output", "io"} & set(operands.values()):
        raise KernelError("a kernel writes something: declare at least one operand as 'output' or "
                          "'io', as in y='io'")
    if len(operands) > _MOST:
        raise KernelError(f"a kernel has at most {_MOST} operands, got {len(operands)}")
    if name is not None and (not isinstance(name, str) or not name.isidentifier()):
        raise KernelError(f"the name of a kernel is an identifier, got {name!r}")


def _checker(operation: Kernel, name: str) -> Callable[..., None]:
    """The check of a kernel, with the signature that its operands ask for."""
    directions = operation.directions

    def check(*args: Any) -> None:
        given = dict(zip(directions, args, strict=True))
        written = [given[n] for n, d in directions.items() if d in ("output", "io")]
        read = [given[n] for n, d in directions.items() if d == "input"]
        _check_mats(operation.__name__, written, read)

    kinds = {n: DIRECTIONS[d] for n, d in directions.items()}
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
                  for n, kind in kinds.items()]
    # functions take attributes
    check.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    check.__annotations__ = kinds
    check.__name__ = check.__qualname__ = name
    return check


def _check_mats(name: str, written: list[Mat], read: list[Mat]) -> None:
    """One dtype that kernels are compiled for, one shape of what is written, to which the rest
    broadcasts, and no overlap.
    """
    out = written[-1]
    for x in (*written, *read):
        if x.dtype.char not in TYPES or x.dtype != out.dtype:
            raise DTypeError(f"{name} takes Mats of one dtype, float32 or float64, got {x.label()} "
                             f"and {out.label()}; "
                             f"convert with x.astype(dtype)")
    for x in written:
        if x.shape != out.shape:
            raise ShapeError(f"{name} writes Mats of one shape, got {x.shape} and {out.shape}")
    for x in read:
        if broadcast_shapes((x.shape, out.shape)) != out.shape:
            raise ShapeError(f"{name}: an input of shape {x.shape} does not broadcast to "
                             f"{out.shape}, the shape of what is "
                             f"written")
    for k, x in enumerate(written):
        check_disjoint(name, x, *(r for r in read if r is not x), same=True)
        check_disjoint(name, x, *(w for w in written[:k] if w is not x))


def _again(text: str, directions: dict[str, str], name: str | None, doc: str | None,
           there: Launching, place: str,
           module: str) -> Kernel:
    """A pickled kernel."""
    return Kernel(text, directions, name, doc, there, place, module)
