"""`kernel`: an element-wise operation from a user's C statements, used like a built-in one."""

from __future__ import annotations

import inspect
import keyword
import math
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import repeat
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...cpu.kernel import CpuKernel
from ...cpu.program import KernelStep, Slot, prepare_program, writes_to_caches
from ...devices.in_use import CPU, in_use
from ...errors import AliasError, DTypeError, KernelError, ShapeError
from ...layout.shapes import Ints, broadcast_shapes
from ...matrix.base import Form, form_of_result
from ...matrix.creation import from_numpy
from ...matrix.mat import Mat
from ...support.c_compiler import CompileError, kernels
from ...support.dtypes import (
    BY_CHAR,
    REAL_TYPES,
    STORED,
    as_dtype,
    check_exact,
    check_number,
    check_operand,
    is_integer,
    promoted,
)
from ...support.native import lib
from ...support.types import Arguments, AxisLike, DType, Engine, Function, Keywords, Operand
from ...support.unbound import DeferredSignature
from ..engine.declaration import readable
from ..engine.functions import check_is_mat
from ..engine.operation import InOut, Input, Op, Output, Scalar
from ..expressions.program import NotOnePassError, fold_of
from ..tiles.overlap import apart, check_disjoint
from ..tiles.tile import by_elements, or_by_host, over
from . import reduce
from .declare_reduce import plain_axis
from .kernel_places import Where, check_places, checked, grid_of, places_of
from .kernel_source import LITERAL, MOST_AXES, OUTSIDE, SMALL, Declared, KernelSource, Typed
from .reduce import ALL, ANY, all_true, any_true

# A kernel and the reduction of what it computes, on the host in one pass over the operands:
# elements are computed into a block that stays in the caches, and reduced there


class OnePass(Op):
    """The reduction along certain axes of a kernel's result: call `new` with the operands that
    this reads, and None.

    Elements are taken in the order of the reduction alone, so that the bits are the same.
    """

    listed = False

    def __init__(self, kernel: Any, reduction: Op, axis: AxisLike, keepdims: bool) -> None:
        self.kernel = kernel
        self.reduction = reduction
        self.axis_and_keepdims: Arguments = axis, keepdims
        self.left: set[tuple[Form, ...]] = set()  # forms of operands that it does not take
        names = [x.name for x in kernel.declared[:-1]]

        def check(*args: Any) -> None:
            values = self.values(args[:-1])
            kernel.check(*args[:-1], values, *kernel.hidden)
            reduction.check(values, args[-1], axis, keepdims)

        roles = dict.fromkeys(names, Input) | {"mat_out": Output}
        vars(check)["__signature__"] = inspect.Signature([
            inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=role)
            for n, role in roles.items()])
        check.__annotations__ = roles
        check.__name__ = check.__qualname__ = kernel.__name__
        check.__module__, check.__doc__ = kernel.__module__, kernel.__doc__
        super().__init__(check, "", True, None)
        self.result_of = self._result_of
        self.prepare("foreign", dtypes=STORED)(self.prepare_cpu)

    def reduced(self, mats: tuple[Mat, ...]) -> Mat | None:
        """Return the result for operands of a kernel; None where it cannot be in one pass."""
        if self.left and tuple(x.form for x in mats) in self.left:
            return None
        try:
            found: Any = self.new((*mats, None))
        except NotOnePassError:
            self.left.add(tuple(x.form for x in mats))
            return None
        return found

    def values(self, mats: tuple[Operand, ...]) -> Mat:
        """Return a Mat of the form of the kernel's result, whose elements are never there."""
        names = (x.name for x in self.kernel.declared)
        return self.kernel.made(self.kernel.declared[-1], dict(zip(names, mats, strict=False)))

    def _result_of(self, *args: Any) -> tuple[Ints, DType]:
        assert self.reduction.result_of is not None
        return self.reduction.result_of(self.values(args[:-1]), None, *self.axis_and_keepdims)

    def prepare_cpu(self, cpu: Engine, *args: Mat) -> CpuKernel:
        """Prepare the kernel and the reduction for operands of these forms."""
        *mats, out = args
        values, count = self.values(tuple(mats)), len(mats)
        kernel = self.kernel.prepare_cpu(cpu, *mats, values, *self.kernel.hidden)
        fold = None
        if values.size:
            fold = fold_of(self.reduction, (values, out, *self.axis_and_keepdims))
        if fold is None or not isinstance(kernel, CpuKernel):
            raise NotOnePassError
        slots = [*(Slot(k, x.itemsize) for k, x in enumerate(args)), Slot(-1, values.itemsize)]
        step = KernelStep(writes_to_caches(kernel), (*range(count), count + 1))
        return prepare_program([step], slots, count + 1, prod(values.shape),
                               [fold._replace(slot=count + 1, out=count)])


# whether the host checks the places from which kernels take elements
CHECKED = "bounds" in os.environ.get("MAT_DEBUG", "").split(",")
DIRECTIONS: dict[str, object] = {"number": Scalar, "input": Input, "output": Output, "io": InOut}
_KEYWORDS = frozenset((  # of C, those that Python has not
    "T", "auto", "case", "char", "const", "default", "do", "double", "enum", "extern", "float",
    "goto", "inline", "int", "long", "register", "restrict", "short", "signed", "sizeof", "static",
    "struct", "switch", "typedef", "union", "unsigned", "void", "volatile"))
_MOST = 16  # operands that the machinery has room for
_MOST_PASSES = 100  # reductions of one kernel, by axis and keepdims
_ERROR = re.compile(r"^kernel:(\d+):(\d+): (?:fatal )?error: (.*)$", re.MULTILINE)
_NVRTC_ERROR = re.compile(r"^kernel\((\d+)\): error: (.*)\n(?:[^\n]*\n( *)\^)?", re.MULTILINE)
_WORD = re.compile(r"[^\s(]+(?:\([^)]*\))?|\S")
_RAW = re.compile(r"raw(?:\(([1-9])\))?")
_WINDOW = re.compile(r"window\((\s*\d+\s*(?:,\s*\d+\s*)*)\)")
_NUMBER = re.compile(r"[-+]?(?:\d{1,400}\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_READ_ONLY = "an 'input' or a 'number' cannot be assigned"
_ADVICE = {"read-only": _READ_ONLY, "modifiable": _READ_ONLY}


# the signature is public
def kernel(source: str, /, *, name: str | None = None, doc: str | None = None,
           cuda: str | None = None, grid: int | None = None, block: int = 256,
           reduce: str | None = None, **operands: str) -> Kernel | KernelReduction:
    """Return an element-wise operation made from C statements, or a reduction of its results.

    Parameters
    ----------
    source : str
        Statements of C about one element: `T` is its type; local variables are allowed, and the
        functions of C's ``math.h`` under their plain names, besides `erf` and `logistic`. A
        `return` ends them for this element. `i` is the index of the element, `n` how many there
        are; `i0`, `n0`, `i1` ... those along axes. Such a name is none of these if an operand has
        it, or if it is declared or assigned anywhere in the statements.
    name, doc : str, optional
        Name and docstring of the operation.
    cuda : str, optional
        Statements of CUDA C++ for devices, by default those of `source`.
    grid : int, optional
        Largest number of blocks of threads that are launched, each for several shares then.
    block : int, optional
        Threads of a block, default 256.
    reduce : {"sum", "prod", "max", "min", "any", "all"}, optional
        The reduction of the values that the statements assign to their only output.
    **operands : {"number", "input", "output", "io"}
        What each name in `source` is, in the order in which the operation takes them: a number, or
        a Mat that is only read, that is assigned without its old value being read, or both. A dtype
        may follow, as in ``"output bool"``. An input may be ``"input raw"``: the source reads any
        element, ``x(k)``, or with ``"input raw(2)"`` ``x(row, column)``; or have neighbours:
        ``"input window(1, 1) nearest"``, one to each side along the last two axes, ``x(-1, 0)``;
        outside of the array they are the nearest element, ``wrap``, ``reflect`` or a number.

    Returns
    -------
    Kernel or KernelReduction
        The operation. It returns the last Mat that it writes, to whose shape inputs broadcast.
        Outputs that a call leaves out are made and returned: of the declared dtype, or of the one
        that NumPy promotes the operands to. A reduction takes the operands but for the output, and
        ``axis``, ``out`` and ``keepdims``.

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
    settings = DeviceSettings(cuda, grid, block)
    if reduce is not None:
        return KernelReduction(source, operands, origin, settings, reduce)
    return Kernel(source, operands, origin, settings)


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
        self.addresses: dict[KernelSource, int] = {}
        self.declared: tuple[Declared, ...] = tuple(declared(n, d) for n, d in operands.items())
        self.mats: list[Declared] = [x for x in self.declared if x.direction != "number"]
        self.sources: dict[str, KernelSource] = {}
        as_double = tuple(Typed(x, "d", "d") for x in self.declared)
        whole = KernelSource(source, as_double, "d")
        sources = [whole, self.for_device(whole)]
        self.walks: bool = any(x.walks for x in sources)
        _check_count(sources)
        check = _checker(self, origin.name or "kernel")
        check.__module__ = origin.module
        check.__doc__ = origin.doc or f"``{' '.join(source.split())}``"
        super().__init__(check, "", True, None)
        self.last: int = self.operands.index(self.written[-1])  # among Mats
        self.main_output: int = self.written[-1]
        self.hidden: Arguments = ()  # arguments after those that are shown
        if self.walks:
            self.hidden = (None,)
            self.__signature__ = DeferredSignature(lambda: _shown(self))
            self.cut_by(over(self, partial(grid_of, self), or_by_host(self), free=True))
        else:
            self.cut_by(by_elements(self))
        self.prepare("foreign", dtypes=STORED)(self.prepare_cpu)
        self.prepare("cuda", dtypes=STORED, when=self._on_device)(self.prepare_cuda)

    def __call__(self, *args: Operand, **kwargs: object) -> Any:
        if not kwargs:
            missing = self.arity - len(args)
            if missing == 0:
                return self.run(args)
            if self.hidden and missing == 1:
                return self.run((*args, None))
        args, made = self._completed(args, kwargs)
        result = self.run(args)
        return result if not made else made[0] if len(made) == 1 else made

    def bind_arguments(self, args: Arguments, kwargs: Keywords) -> tuple[Arguments, Keywords]:
        bound, rest = super().bind_arguments(args, kwargs)
        return (*bound, *self.hidden), rest

    def _completed(self, args: Arguments, kwargs: Keywords) -> tuple[Arguments, tuple[Mat, ...]]:
        """Return all arguments, and the outputs that were made since none are given."""
        names = [x.name for x in self.declared]
        given = dict(zip(names, args, strict=False)) | kwargs
        missing = [x for x in self.declared if given.get(x.name) is None]
        if (len(given) != len(args) + len(kwargs) or not given.keys() <= set(names) or not missing
                or any(x.direction != "output" for x in missing)):
            return self.bind_arguments(args, kwargs)[0], ()
        made = {x.name: self.made(x, given) for x in missing}
        given |= made
        return (*(given[n] for n in names), *self.hidden), tuple(made.values())

    def made(self, output: Declared, given: dict[str, Any]) -> Mat:
        """Return a new Mat for an output of a call."""
        mats = {x.name: given[x.name] for x in self.mats if given.get(x.name) is not None}
        for n, x in mats.items():
            if not isinstance(x, Mat):
                self.check_operand(self.positional.index(n), tuple(
                    given.get(name) for name in self.positional))
        shapes = [mats[x.name].shape for x in self.mats if x.name in mats and not x.raw]
        if not shapes:
            raise KernelError(f"{self.__name__} has no operand from which the shape of "
                              f"{output.name} follows; pass a Mat for it")
        dtype = output.dtype or promoted(self.__name__, *(x.dtype for x in mats.values()),
                                         *self._numbers(given))
        return form_of_result(broadcast_shapes(shapes), dtype).new(
            all(x.device_enabled for x in mats.values()), None)

    def _numbers(self, given: dict[str, Any]) -> Iterator[Any]:
        """Yield the declared dtypes of numbers, or the numbers: texts are no dtypes here."""
        for x in self.declared:
            if x.direction == "number":
                if x.dtype is None:
                    check_operand(given[x.name], np.dtype(np.float64), x.name)
                yield given[x.name] if x.dtype is None else x.dtype

    def __repr__(self) -> str:
        operands, source = ", ".join(self.directions), " ".join(self.source.split())
        return f"<kernel {self.__name__}({operands}): {source}>"

    def __reduce__(self) -> Arguments:
        return Kernel, (self.source, self.directions, self.origin, self.device)

    def prepare_cpu(self, cpu: Engine, *args: Any) -> Engine:
        """Prepare the compiled kernel for Mats of these forms."""
        if lib is None:
            raise KernelError("mat was installed without its compiled parts, which kernels need: "
                              "install a C compiler, and then mat again")
        mats, where = self._split(args)
        source, shape = self.typed(mats), mats[self.last].shape
        if not source.walks:
            return cpu.prepare_user_kernel(self.address(source), mats, shape, self.last)
        places = places_of(cpu, source, mats, shape, where)
        if CHECKED and any(x.walked for x in self.mats):
            source = source._replace(checked=True)
            return checked(partial(cpu.prepare_user_kernel, self.address(source), mats, shape,
                                   self.last), places, self.__name__, source)
        return cpu.prepare_user_kernel(self.address(source), mats, shape, self.last, places)

    def _split(self, args: tuple[Any, ...]) -> tuple[tuple[Mat, ...], Where]:
        """Return the Mats, and where in the whole a tile is."""
        return (args[:-1], args[-1]) if self.hidden else (args, None)

    def typed(self, mats: Sequence[Mat]) -> KernelSource:
        """Return the source for Mats of these dtypes."""
        chars = "".join(x.dtype.char for x in mats)
        found = self.sources.get(chars)
        if found is None:
            whole = _common(self.__name__, [x.dtype for x in mats]).char
            given = iter(chars)
            kinds = ((next(given) if x.direction != "number" else whole
                      if x.dtype is None else x.dtype.char) for x in self.declared)
            operands = tuple(map(Typed, self.declared, kinds, repeat(whole)))
            for x in operands:
                _check_outside(x.declared, as_dtype(BY_CHAR[x.char].name))
            found = self.sources[chars] = KernelSource(self.source, operands, whole)
        return found

    def for_device(self, source: KernelSource) -> KernelSource:
        """Return the source that is compiled for a device."""
        return source if self.device.source is None else source._replace(
            statements=self.device.source)

    def number_types(self, args: Arguments) -> dict[str, DType] | None:
        """Return the dtypes of numbers by name, where they are not those of the last Mat."""
        mats = [args[k] for k in self.operands]
        found = {x.name: as_dtype(BY_CHAR[x.char].name) for x in self.typed(mats).numbers}
        main = args[self.main].element_type
        return None if main.char in REAL_TYPES and all(
            dtype == main for dtype in found.values()) else found

    def address(self, source: KernelSource) -> int:
        """Return the address of the kernel of that source; the first call compiles it."""
        with self.lock:
            found = self.addresses.get(source)
            if found is None:
                found = self.addresses[source] = self._compiled(source)
            return found

    def _compiled(self, source: KernelSource) -> int:
        try:
            return kernels(source.c_source("mat_user_kernel"), 1)[0]
        except CompileError as error:
            raise KernelError(self._message(str(error), source)) from None

    def _on_device(self, *mats: Mat) -> bool:
        """Return whether a device's kernel supports the operands: so many, without overlap."""
        return len(mats) < _MOST and apart(*mats, mats[self.last])

    def prepare_cuda(self, cuda: Engine, *args: Any) -> Engine:
        """Prepare the kernel compiled for the device in use."""
        mats, where = self._split(args)
        source, shape = self.for_device(self.typed(mats)), mats[self.last].shape
        if source.walks:
            check_places(self.__name__, source, mats, shape)
        places = places_of(cuda, source, mats, shape, where) if source.walks else None
        try:
            return cuda.prepare_user_kernel(
                source.cuda_kernel(cuda, self.device.grid, self.device.block), mats, shape,
                self.last, places)
        except CompileError as error:
            raise KernelError(self._message(str(error), source)) from None

    def _message(self, messages: str, source: KernelSource) -> str:
        """Return the first error of the compiler, at the user's line."""
        found, lines = _ERROR.search(messages), source.statements.split("\n")
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
        if source.single:
            column -= sum(match.end() + k < column - 1
                          for k, match in enumerate(LITERAL.finditer(lines[line - 1])))
        advice = next((f" ({text})" for word, text in _ADVICE.items() if word in message), "")
        known = int(found[1]) == line  # else the error is not in the user's statements
        caret = f"\n    {' ' * (column - 1)}^" if known else ""
        return (f"{self.origin.line}, line {line} of the kernel: {message}{advice}\n"
                f"    {lines[line - 1]}{caret}")


def _common(name: str, dtypes: list[DType]) -> DType:
    """Return the dtype to which others promote, float32 for small floats of which that is none."""
    try:
        return promoted(name, *dtypes)
    except DTypeError:
        wider = [np.dtype(np.float32) if x.char in SMALL else x for x in dtypes]
        return promoted(name, *wider)


def _check_source(source: object, operands: dict[str, str], name: object) -> None:
    if not isinstance(source, str) or not source.strip():
        raise KernelError(f"a kernel is made from a string of C statements, got {source!r}")
    if "\0" in source or any("\ud800" <= c <= "\udfff" for c in source):
        raise KernelError(f"a kernel is made from C statements, which have no characters such as "
                          f"in {source!r}")
    for operand in operands:
        if not operand.isascii() or not operand.isidentifier():
            raise KernelError(f"{operand!r} cannot be the name of an operand: a name is letters, "
                              "digits and underscores")
        if operand in _KEYWORDS or keyword.iskeyword(operand) or operand.startswith(("mat_", "_")):
            raise KernelError(f"{operand!r} cannot be the name of an operand: it means something "
                              "in C, Python or mat")
    if not any(declared(n, text).written for n, text in operands.items()):
        raise KernelError("a kernel writes something: declare at least one operand as 'output' or "
                          "'io', as in y='io'")
    if len(operands) > _MOST:
        raise KernelError(f"a kernel has at most {_MOST} operands, got {len(operands)}")
    if name is not None and (not isinstance(name, str) or not name.isidentifier()):
        raise KernelError(f"the name of a kernel is an identifier, got {name!r}")


def _check_count(sources: list[KernelSource]) -> None:
    """Raise unless there is room for the Mats, the indices and what is known of places."""
    for x in sources:
        count = len(x.mats) + len(x.counters) + 1
        if x.walks and count > _MOST:
            raise KernelError(f"a kernel has at most {_MOST} operands, with its indices, those of "
                              f"its widest window, and one for places; got {count}")


def declared(name: str, text: object) -> Declared:
    """Return an operand by the words that declare it."""
    words = _WORD.findall(text) if isinstance(text, str) else []
    if not words or words[0] not in DIRECTIONS:
        raise KernelError(f"{name} is one of {', '.join(map(repr, DIRECTIONS))}, got {text!r}")
    found = Declared(name, words.pop(0))
    if words and (match := _RAW.fullmatch(words[0])):
        found, words = found._replace(raw=int(match[1] or 1)), words[1:]
    elif words and (match := _WINDOW.fullmatch(words[0])):
        found = found._replace(radii=tuple(int(r) for r in match[1].split(",")),
                               outside=words[1] if len(words) > 1 else "")
        words = words[2:]
    if found.walked and found.direction != "input":
        raise KernelError(f"{name}: only an 'input' can be raw or have a window, got {text!r}")
    if not 0 <= found.raw <= MOST_AXES or len(found.radii) > MOST_AXES:
        raise KernelError(f"{name}: arrays have at most {MOST_AXES} axes here, got {text!r}")
    number = _number(found.outside)
    if number is not None:
        found = found._replace(outside=str(number))
    elif found.radii and found.outside not in OUTSIDE:
        raise KernelError(f"{name}: after its window an input says what lies outside of the array, "
                          f"{', '.join(OUTSIDE)} or a number, got {text!r}")
    if words and words[0].startswith(("raw", "window")):
        raise KernelError(f"{name}: an input is read by position if it is 'input raw' or, with 2 "
                          "axes, 'input raw(2)', and with 1 neighbour to each side along 2 axes if "
                          f"it is 'input window(1, 1) wrap', got {text!r}")
    if len(words) > 1:
        raise KernelError(f"{name}: after its role an operand may have a dtype, got {text!r}")
    found = found._replace(dtype=as_dtype(words[0])) if words else found
    if found.dtype is not None:
        _check_outside(found, found.dtype)
    return found


def _number(text: str) -> int | float | None:
    """Return the number outside of a window, None for what is none, or infinite as a float64."""
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    return int(text) if text.lstrip("+-").isdigit() else number


def _check_outside(operand: Declared, dtype: DType) -> None:
    """Raise unless the number outside of its window can be an element of `dtype`."""
    number = _number(operand.outside)
    if number is None:
        return
    what = f"the number outside of {operand.name}"
    check_number(number, dtype, what)
    if is_integer(dtype) and number != int(number):
        raise DTypeError(f"{what} is {number}, which {dtype} cannot hold")


def _shown(operation: Kernel) -> inspect.Signature:
    """Return the signature without the place of a tile."""
    whole = readable(inspect.signature(operation.check), operation.roles)
    return whole.replace(parameters=list(whole.parameters.values())[:-1])


def _checker(operation: Kernel, name: str) -> Function:
    """Return the check of a kernel, with the signature that its operands ask for."""
    def check(*args: Any) -> None:
        given = [x for x, d in zip(args, operation.declared, strict=False)
                 if d.direction != "number"]
        where: Where = args[-1] if operation.hidden else None
        _check_mats(operation.__name__, given, operation.mats, where)
        source = operation.typed(given)
        if source.walks:
            check_places(operation.__name__, source, given, given[operation.last].shape)

    kinds = {x.name: DIRECTIONS[x.direction] for x in operation.declared}
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
                  for n, kind in kinds.items()]
    if operation.walks:
        parameters.append(inspect.Parameter(
            "mat_where", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
    vars(check)["__signature__"] = inspect.Signature(parameters)
    check.__annotations__ = kinds
    check.__name__ = check.__qualname__ = name
    return check


def _check_mats(name: str, mats: list[Mat], operands: list[Declared], where: Where) -> None:
    """Raise unless the Mats are of the declared dtypes, and fit together.

    Those written are of one shape, to which the others broadcast, and none overlaps another. Of an
    input with a window, a tile has a part.
    """
    pairs = list(zip(mats, operands, strict=True))
    written = [x for x, d in pairs if d.written]
    out = written[-1]
    for x, d in pairs:
        if d.dtype is not None and x.dtype != d.dtype:
            raise DTypeError(f"{name} declares {d.name} as {d.dtype}, got {x.label()}; convert "
                             f"with x.astype({d.dtype.name!r})")
        if d.written and x.shape != out.shape:
            raise ShapeError(f"{name} writes Mats of one shape, got {x.shape} and {out.shape}")
        if (d.direction == "input" and not d.raw and not (where and d.radii)
                and broadcast_shapes((x.shape, out.shape)) != out.shape):
            raise ShapeError(f"{name}: an input of shape {x.shape} does not broadcast to "
                             f"{out.shape}, the shape of the Mats that are written")
    for k, x in enumerate(written):
        check_disjoint(name, x, *(r for r, d in pairs if d.read and not d.written and r is not x),
                       same=True)
        check_disjoint(name, x, *(r for r, d in pairs if d.walked))
        check_disjoint(name, x, *(w for w in written[:k] if w is not x))
        if any(w is x for w in written[:k]):
            raise AliasError(f"{name} writes two operands, but got one Mat for both, {x.label()}")


class KernelReduction:
    """A reduction of the values of a kernel: call it with the operands but for the output."""

    def __init__(self, source: str, operands: dict[str, str], origin: KernelOrigin,
                 device: DeviceSettings, name: str) -> None:
        reductions = {"sum": reduce.sum, "prod": reduce.prod, "max": reduce.max, "min": reduce.min,
                      "any": any_true, "all": all_true}
        if name not in reductions:
            raise KernelError(f"reduce is one of {', '.join(map(repr, reductions))}, got {name!r}")
        written = [n for n, text in operands.items() if not str(text).startswith(("number",
                                                                                  "input"))]
        if len(written) != 1 or not operands[written[0]].startswith("output"):
            raise KernelError("a reduction has one 'output', the value to reduce, and no 'io'; got "
                              f"{', '.join(f'{n}={operands[n]!r}' for n in written) or 'none'}")
        taken = sorted(operands.keys() & {"axis", "out", "keepdims"})
        if taken:
            raise KernelError(f"{taken[0]!r} cannot be the name of an operand of a reduction, "
                              "whose calls have an argument of that name")
        self.reduction: Function = reductions[name]
        self.operation: Op = {"any": ANY, "all": ALL}.get(name) or vars(self.reduction)["op"]
        self.numbers: frozenset[str] = frozenset(n for n, text in operands.items()
                                                 if str(text).startswith("number"))
        # numbers are Mats without axes, since passes have no other ones
        inputs = {n: text.replace("number", "input", 1) if n in self.numbers else text
                  for n, text in operands.items() if n != written[0]}
        self.map: Kernel = Kernel(source, inputs | {written[0]: operands[written[0]]}, origin,
                                  device)
        self.given: Arguments = source, operands, origin, device, name
        self.one_pass = lru_cache(_MOST_PASSES)(partial(OnePass, self.map, self.operation))
        self.__name__ = self.__qualname__ = self.map.__name__
        self.__doc__ = self.map.__doc__
        self.__module__ = self.map.__module__

    def __repr__(self) -> str:
        return f"{repr(self.map)[:-1]}; {self.given[-1]}>"

    def __reduce__(self) -> Arguments:
        return KernelReduction, self.given

    def __call__(self, *args: Operand, axis: AxisLike = None, out: Mat | None = None,
                 keepdims: bool = False, **kwargs: Operand) -> Mat:
        names = [x.name for x in self.map.declared[:-1]]
        if len(args) > len(names) or not kwargs.keys() <= set(names):
            unknown = [n for n in kwargs if n not in names]
            raise DTypeError(f"{self.__name__}({', '.join(names)}) " + (
                f"has no argument {unknown[0]!r}" if unknown else
                f"takes {len(names)} arguments by position, got {len(args)}"))
        if self.numbers:
            like = [x.dtype for x in (*args, *kwargs.values()) if isinstance(x, Mat)]
            args = tuple(self._as_input(n, x, like) for n, x in zip(names, args, strict=False))
            kwargs = {n: self._as_input(n, x, like) for n, x in kwargs.items()}
        one = self.one_pass(plain_axis(axis), bool(keepdims))
        given = dict(zip(names, args, strict=False)) | kwargs
        mats = tuple(x for n in names if isinstance(x := given.get(n), Mat))
        if len(given) == len(args) + len(kwargs) == len(mats) == len(names):
            if out is not None:
                one.check(*mats, check_is_mat(out))
            found = one.reduced(mats) if in_use() is CPU else None
            if found is not None and (out is None or out.dtype == found.dtype):
                return found if out is None else out.assign_(found)
        return self.reduction(self.map(*args, **kwargs), axis=axis, out=out, keepdims=keepdims)

    def _as_input(self, name: str, value: Operand, like: list[DType]) -> Operand:
        """Return a number as a Mat without axes, of the declared or the promoted dtype."""
        if name not in self.numbers or isinstance(value, Mat):
            return value
        dtype = next(x.dtype for x in self.map.declared if x.name == name)
        if dtype is not None:
            check_exact(value, dtype, name)
        else:
            check_operand(value, np.dtype(np.float64), name)
            dtype = promoted(self.__name__, *like, value)
            check_number(value, dtype, name)
        return from_numpy(np.asarray(value, dtype))
