"""`kernel`: an element-wise operation from a user's C statements, used like a built-in one."""

from __future__ import annotations

import inspect
import keyword
import re
import sys
import threading
from typing import NamedTuple

from ...errors import DTypeError, KernelError, ShapeError
from ...layout.shapes import broadcast_shapes
from ...matrix.mat import Mat
from ...support.c_compiler import CompileError, library
from ...support.dtypes import BY_CHAR, REAL_TYPES
from ...support.native import lib
from ...support.types import Arguments, Engine, Function
from ..engine.operation import InOut, Input, Op, Output, Scalar
from ..tiles.overlap import apart, check_disjoint
from ..tiles.signatures import by_elements

DIRECTIONS: dict[str, object] = {"number": Scalar, "input": Input, "output": Output, "io": InOut}
TYPES = {char: (BY_CHAR[char].c, BY_CHAR[char].suffix) for char in REAL_TYPES}
_VECTOR = ("exp", "expm1", "log", "log1p", "sinh", "cosh", "tanh", "erf", "logistic", "pow")
_WIDE = ("sin", "cos", "tan")  # right for huge numbers, too
_KEYWORDS = frozenset((  # of C, those that Python has not
    "T", "auto", "case", "char", "const", "default", "do", "double", "enum", "extern", "float",
    "goto", "inline", "int", "long", "register", "restrict", "short", "signed", "sizeof", "static",
    "struct", "switch", "typedef", "union", "unsigned", "void", "volatile"))
_MOST = 16  # operands that the machinery has room for
_ERROR = re.compile(r"^kernel:(\d+):(\d+): (?:fatal )?error: (.*)$", re.MULTILINE)
_NVRTC_ERROR = re.compile(r"^kernel\((\d+)\): error: (.*)\n(?:[^\n]*\n( *)\^)?", re.MULTILINE)
_OF_ONE = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf",
           "erfc", "exp", "exp2", "expm1", "fabs", "floor", "lgamma", "log", "log10", "log1p",
           "log2", "nearbyint", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma",
           "trunc")
_OF_TWO = ("atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow",
           "remainder")
_CUDA_FUNCTIONS = (*(f"#define {n}(x) {n}((T)(x))" for n in _OF_ONE),
                   *(f"#define {n}(x, y) {n}((T)(x), (T)(y))" for n in _OF_TWO),
                   "#define fma(x, y, z) fma((T)(x), (T)(y), (T)(z))", "#define abs(x) fabs(x)",
                   '#define MAT_NAN ((T)nan(""))',
                   # C's are generic, C++'s overloaded
                   "#define logistic(x) mat_logistic((T)(x))")
_LITERAL = re.compile(r"(?<![\w.])"
                      r"(?:\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)"
                      r"(?![\w.])")
_READ_ONLY = "an 'input' or a 'number' cannot be assigned"
_ADVICE = {"read-only": _READ_ONLY, "modifiable": _READ_ONLY}
_RETURN = re.compile(r"\breturn\b")


# the signature is public
def kernel(source: str, /, *, name: str | None = None, doc: str | None = None,
           cuda: str | None = None, grid: int | None = None, block: int = 256,
           **operands: str) -> Kernel:
    """Return an element-wise operation made from C statements.

    Parameters
    ----------
    source : str
        Statements of C about one element: `T` is its type; local variables are allowed, and the
        functions of C's ``math.h`` under their plain names, besides `erf` and `logistic`. A
        `return` ends them for this element.
    name, doc : str, optional
        Name and docstring of the operation.
    cuda : str, optional
        Statements of CUDA C++ for devices, by default those of `source`.
    grid : int, optional
        Largest number of blocks of threads that are launched, each for several shares then.
    block : int, optional
        Threads of a block, default 256.
    **operands : {"number", "input", "output", "io"}
        What each name in `source` is, in the order in which the operation takes them: a number, or
        a Mat that is only read, that is assigned without its old value being read, or both.

    Returns
    -------
    Kernel
        The operation, which returns the last Mat that it writes. Inputs broadcast to it; all Mats
        are of one dtype, float32 or float64.

    Raises
    ------
    KernelError
        For operands that cannot be; when the operation is called for the first time, for
        statements that are not C or of which the compiler warns, with its message, and where there
        is no C compiler.

    Notes
    -----
    An output is NaN until it is assigned, so that a path that leaves it unassigned shows.
    It is compiled when first used, and kept in ``$MAT_CACHE`` or the user's cache directory.

    Examples
    --------
    >>> import mat
    >>> axpby = mat.kernel("y = a * x + b * y", a="number", x="input", b="number", y="io")
    >>> axpby(2, mat.ones(3), 10, mat.arange(3.0))
    <Mat 3 AF [2. 12. 22.]>
    """
    frame = sys._getframe(1)
    line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    origin = KernelOrigin(name, doc, line, frame.f_globals.get("__name__") or "__main__")
    return Kernel(source, operands, origin, DeviceSettings(cuda, grid, block))


class KernelOrigin(NamedTuple):
    """The name and docstring of a kernel, and the line and module where it was declared."""

    name: str | None
    doc: str | None
    line: str
    module: str


class DeviceSettings(NamedTuple):
    """The settings of a kernel that are for devices only."""

    source: str | None
    grid: int | None
    block: int

    def check(self) -> None:
        """Raise `KernelError` unless it can be launched like this."""
        if self.source is not None and (not isinstance(self.source, str)
                                        or not self.source.strip()):
            raise KernelError(f"cuda= is a string of CUDA C++ statements, got {self.source!r}")
        if not _counts(self.block, 1024) or not (self.grid is None
                                                 or _counts(self.grid, 2**31 - 1)):
            raise KernelError("block is 1 to 1024 threads, grid None or at least 1 block, got "
                              f"{self.block!r}, {self.grid!r}")


def _counts(n: object, most: int) -> bool:
    return type(n) is int and 1 <= n <= most


class Kernel(Op):
    """An operation that `kernel` has made from C statements."""

    listed = False

    def __init__(self, source: str, operands: dict[str, str], origin: KernelOrigin,
                 device: DeviceSettings) -> None:
        _check_source(source, operands, origin.name)
        device.check()
        self.source: str = source
        self.directions: dict[str, str] = dict(operands)
        self.origin: KernelOrigin = origin
        self.device: DeviceSettings = device
        self.lock: threading.Lock = threading.Lock()
        self.addresses: dict[str, int] = {}
        check = _checker(self, origin.name or "kernel")
        check.__module__ = origin.module
        check.__doc__ = origin.doc or f"``{' '.join(source.split())}``"
        super().__init__(check, "", True, None)
        self.cut_by(by_elements(self))
        self.prepare("foreign", dtypes=REAL_TYPES)(self.prepare_cpu)
        self.prepare("cuda", dtypes=REAL_TYPES, when=self._on_device)(self.prepare_cuda)

    def __repr__(self) -> str:
        operands, source = ", ".join(self.directions), " ".join(self.source.split())
        return f"<kernel {self.__name__}({operands}): {source}>"

    def __reduce__(self) -> Arguments:
        return Kernel, (self.source, self.directions, self.origin, self.device)

    def prepare_cpu(self, cpu: Engine, *mats: Mat) -> Engine:
        """Prepare the compiled kernel for Mats of these layouts."""
        if lib is None:
            raise KernelError("mat was installed without its compiled parts, which kernels need: "
                              "install a C compiler, and then mat again")
        written = self._last(mats)
        return cpu.prepare_user_kernel(self.address(written.dtype.char), mats, written.shape)

    def address(self, letter: str) -> int:
        """Return the address of the kernel for that dtype; the first call compiles it."""
        with self.lock:
            if letter not in self.addresses:
                self.addresses[letter] = self._compiled(letter)
            return self.addresses[letter]

    def _compiled(self, letter: str) -> int:
        function = f"mat_user_{TYPES[letter][1]}"
        try:
            return library(self.c_source(letter), function)
        except CompileError as error:
            raise KernelError(self._message(str(error), letter, self.source)) from None

    def _on_device(self, *mats: Mat) -> bool:
        """Return whether a device's kernel supports the operands: so many, without overlap."""
        return len(mats) < _MOST and apart(*mats, self._last(mats))

    def _last(self, mats: tuple[Mat, ...]) -> Mat:
        """Return the Mat that is written last."""
        return mats[self.operands.index(self.written[-1])]

    def prepare_cuda(self, cuda: Engine, *mats: Mat) -> Engine:
        """Prepare the kernel compiled for the device in use."""
        written = self._last(mats)
        letter, source = written.dtype.char, self.device.source or self.source
        placed, numbers, reads, writes = self._placed()
        arguments = self._arguments(placed, numbers, "in[m][{}]", "&out[m][{}]", "number[{}]")
        function = "\n".join([f"typedef {TYPES[letter][0]} T;", *_CUDA_FUNCTIONS,
                              self._function(letter, source)])
        made = cuda.UserKernel(function, f"mat_user({', '.join(arguments)})", len(numbers), reads,
                               writes, self.device.grid, self.device.block)
        try:
            return cuda.prepare_user_kernel(made, mats, written.shape)
        except CompileError as error:
            raise KernelError(self._message(str(error), letter, source)) from None

    def _message(self, messages: str, letter: str, source: str) -> str:
        """Return the first error of the compiler, at the user's line."""
        found, lines = _ERROR.search(messages), source.split("\n")
        if found is not None:
            at, column, message = int(found[1]), int(found[2]), found[3]
        else:
            found = _NVRTC_ERROR.search(messages)
            if found is None:
                return f"{self.origin.line}: the kernel does not compile:\n{messages}"
            at, message = int(found[1]), found[2]
            indent = len(lines[at - 1]) - len(lines[at - 1].lstrip()) if at <= len(lines) else 0
            column = len(found[3] or "") - 1 + indent
        line = min(at, len(lines))
        if letter == "f":
            column -= sum(match.end() + k < column - 1
                          for k, match in enumerate(_LITERAL.finditer(lines[line - 1])))
        advice = next((f" ({text})" for word, text in _ADVICE.items() if word in message), "")
        known = int(found[1]) == line  # else the error is not in the user's statements
        caret = f"\n    {' ' * (column - 1)}^" if known else ""
        return (f"{self.origin.line}, line {line} of the kernel: {message}{advice}\n"
                f"    {lines[line - 1]}{caret}")

    # The source for the compiler

    def c_source(self, letter: str) -> str:
        """Return the C that is compiled for elements of that dtype."""
        element, suffix = TYPES[letter]
        mats, numbers, reads, written = self._placed()
        writes = [(k, n) for k, n in mats if self.directions[n] != "input"]
        setup = "".join(f"{'MAT_INPUT' if (k, n) not in writes else 'MAT_OUTPUT'}(T, mat_at_{k}, "
                        f"{k}); " for k, n in mats)
        setup += "".join(f"const T mat_number_{k} = (T)numbers[{2 * k}]; "
                         for k in range(len(numbers)))
        each = "".join(f"T mat_new_{k}{f' = mat_at_{k}[i]' if self.directions[n] == 'io' else ''}; "
                       for k, n in writes)
        arguments = self._arguments(mats, numbers, "mat_at_{}[i]", "&mat_new_{}", "mat_number_{}")
        each += f"mat_user({', '.join(arguments)}); "
        each += "; ".join(f"mat_at_{k}[i] = mat_new_{k}" for k, _ in writes)
        return "\n".join([
            '#include "elementwise_inline.h"', '#include "vmath_inline.h"', "#include <tgmath.h>",
            f"typedef {element} T;", '#define MAT_NAN ((T)__builtin_nan(""))',
            *_functions(suffix), self._function(letter, self.source),
            f"MAT_ELEMENTWISE(mat_user_{suffix}, {reads}, {written}, 0, ({setup}), {each})", ""])

    def _placed(self) -> tuple[list[tuple[int, str]], list[str], int, int]:
        """Return the Mats by position, the numbers, and, as bits, the Mats read and written."""
        mats = list(enumerate(self._named("input", "output", "io")))
        reads = sum(1 << k for k, n in mats if self.directions[n] != "output")
        writes = sum(1 << k for k, n in mats if self.directions[n] != "input")
        return mats, self._named("number"), reads, writes

    def _named(self, *directions: str) -> list[str]:
        return [n for n, d in self.directions.items() if d in directions]

    def _arguments(self, mats: list[tuple[int, str]], numbers: list[str], read: str, write: str,
                   number: str) -> list[str]:
        """Return the arguments of `_function`, with these spellings of elements and numbers."""
        given = {n: number.format(k) for k, n in enumerate(numbers)}
        given |= {n: (read if self.directions[n] == "input" else write).format(k) for k, n in mats}
        return [given[n] for n in self.directions]

    def _function(self, letter: str, source: str) -> str:
        """Return the user's statements as a function of one element's values.

        In float, constants are of that type, too.
        """
        source = _LITERAL.sub(r"\g<0>f", source) if letter == "f" else source
        written = self._named("output", "io")
        parameters = ", ".join(f"T *mat_to_{n}" if n in written else f"const T {n}"
                               for n in self.directions)
        old = "".join(f"T {n} = {f'*mat_to_{n}' if self.directions[n] == 'io' else 'MAT_NAN'}; "
                      for n in written)
        new = " ".join(f"*mat_to_{n} = {n};" for n in written)
        first_line, begin, end = '#line 1 "kernel"', "", ""
        if _RETURN.search(source):  # in a block, since jumps of C++ cannot pass declarations
            begin, end = "\n#define return goto mat_end\n{", "}\n#undef return\nmat_end:"
        return (f"INLINE void mat_user({parameters}) {{\n{first_line}\n{old}{begin}\n{first_line}\n"
                f'{source}\n; {end}; {new} }}\n#line 1 "mat"')


def _functions(suffix: str) -> list[str]:
    """Return macros for the compiled vector functions; the C library's others are generic."""
    names = {**{n: f"mat_{n}_{suffix}" for n in _VECTOR},
             **{n: f"mat_wide_{n}_{suffix}" for n in _WIDE}, "abs": "fabs"}
    return [f"#undef {n}\n#define {n}(...) {name}(__VA_ARGS__)" for n, name in names.items()]


def _check_source(source: object, operands: dict[str, str], name: object) -> None:
    if not isinstance(source, str) or not source.strip():
        raise KernelError(f"a kernel is made from a string of C statements, got {source!r}")
    if "\0" in source or any("\ud800" <= c <= "\udfff" for c in source):
        raise KernelError(f"a kernel is made from C statements, which have no characters such as "
                          f"in {source!r}")
    for operand, direction in operands.items():
        if not isinstance(direction, str) or direction not in DIRECTIONS:
            raise KernelError(f"{operand} is one of {', '.join(map(repr, DIRECTIONS))}, got "
                              f"{direction!r}")
        if not operand.isascii() or not operand.isidentifier():
            raise KernelError(f"{operand!r} cannot be the name of an operand: a name is letters, "
                              "digits and underscores")
        if (operand in _KEYWORDS or keyword.iskeyword(operand)
                or operand.startswith(("mat_", "_"))):
            raise KernelError(f"{operand!r} cannot be the name of an operand: it means something "
                              "in C, Python or mat")
    if not {"output", "io"} & set(operands.values()):
        raise KernelError("a kernel writes something: declare at least one operand as 'output' or "
                          "'io', as in y='io'")
    if len(operands) > _MOST:
        raise KernelError(f"a kernel has at most {_MOST} operands, got {len(operands)}")
    if name is not None and (not isinstance(name, str) or not name.isidentifier()):
        raise KernelError(f"the name of a kernel is an identifier, got {name!r}")


def _checker(operation: Kernel, name: str) -> Function:
    """Return the check of a kernel, with the signature that its operands ask for."""
    directions = operation.directions

    def check(*args: Mat) -> None:
        given = dict(zip(directions, args, strict=True))
        written = [given[n] for n, d in directions.items() if d in ("output", "io")]
        read = [given[n] for n, d in directions.items() if d == "input"]
        _check_mats(operation.__name__, written, read)

    kinds = {n: DIRECTIONS[d] for n, d in directions.items()}
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
                  for n, kind in kinds.items()]
    vars(check)["__signature__"] = inspect.Signature(parameters)
    check.__annotations__ = kinds
    check.__name__ = check.__qualname__ = name
    return check


def _check_mats(name: str, written: list[Mat], read: list[Mat]) -> None:
    """Raise unless the Mats are of one dtype that kernels are compiled for, and fit together.

    Those written are of one shape, to which the others broadcast, and none overlaps another.
    """
    out = written[-1]
    for x in (*written, *read):
        if x.dtype.char not in TYPES or x.dtype != out.dtype:
            raise DTypeError(f"{name} takes Mats of one dtype, float32 or float64, got {x.label()} "
                             f"and {out.label()}; convert with x.astype(dtype)")
    for x in written:
        if x.shape != out.shape:
            raise ShapeError(f"{name} writes Mats of one shape, got {x.shape} and {out.shape}")
    for x in read:
        if broadcast_shapes((x.shape, out.shape)) != out.shape:
            raise ShapeError(f"{name}: an input of shape {x.shape} does not broadcast to "
                             f"{out.shape}, the shape of the Mats that are written")
    for k, x in enumerate(written):
        check_disjoint(name, x, *(r for r in read if r is not x), same=True)
        check_disjoint(name, x, *(w for w in written[:k] if w is not x))
