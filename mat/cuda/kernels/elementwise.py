"""Element-wise operations on the device: the kernel of ``native/cuda/elementwise.cuh`` for an
operation, and its frame of the operands.

The lines of ``native/shared/elementwise.def`` come in families of one kind. There is a kernel for
each family, type of elements, and way to step through them, and a program for all light families,
or all heavy ones, of a type and a way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from math import prod
from typing import NamedTuple

import numpy as np

from ...core.compiled import DriverCall
from ...layout.merged_axes import loops, magic
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...support.c_compiler import HEADERS
from ...support.dtypes import BLAS_TYPES, BY_CHAR, BY_NAME, ELEMENT_TYPES, FLOATING
from ...support.types import Arguments, DType, Function, Number, Operand
from ..runtime.kernel import THREADS, CudaKernel, in_blocks
from ..runtime.nvrtc import EXACT, Program

MOST_AXES = 8
MANY = 5  # operands, of which threads do fewer elements
OWN = ("flat", "rows", "steps", "long")  # of users' kernels
# counts and steps below this leave room in 31 bits for what the last block would count too much
_FEW = 1 << 30
_WORD = (1 << 32) - 1
TYPES = tuple(t.suffix for t in ELEMENT_TYPES)
_KINDS = {t.suffix: "i" if t.kind == "u" else t.kind for t in ELEMENT_TYPES}
_FLOATING = frozenset(BY_CHAR[char].suffix for char in FLOATING)
_REAL_OF = {"c64": "f32", "c128": "f64"}  # the type of the parts of complex numbers
# the ways of one program
_WAYS = {"flat": ("flat",), "rows": ("rows", "steps"), "steps": ("rows", "steps"),
         "types": ("types",)}
# of a thread: of a light family and of a heavy one
_ELEMENTS = {"steps": (4, 1), "long": (4, 1), "types": (2, 1)}
# by numbers, others by their bits
_FILLED = {BY_CHAR[char].name: BY_CHAR[char].suffix for char in BLAS_TYPES}
# types of which these lines take the first of equal operands
_FIRST = {"maximum": ("f16", "c64", "c128"), "minimum": ("f16", "c64", "c128"),
          "clip": ("f16", "bf16")}
_DECLARED = re.compile(r"^([A-Z_]+)\((\w+), (b?i?f?c?), (LIGHT|HEAVY),", re.MULTILINE)


class Line(NamedTuple):
    """A line of ``elementwise.def``: macro, kinds of numbers, and whether computing dominates."""

    macro: str
    kinds: str
    heavy: bool

    def computes(self, kind: str) -> bool:
        """Return whether it computes with elements of the type `kind`, as NumPy's does."""
        return _KINDS[kind] in self.kinds

    def real_of(self, kind: str) -> str:
        """Return the type of a real result of complex elements; else ""."""
        return _REAL_OF.get(kind, "") if self.macro == "UNARY_REAL" else ""


@cache
def lines() -> dict[str, Line]:
    """Return the lines of ``elementwise.def`` by name, in their order."""
    text = (HEADERS / "shared" / "elementwise.def").read_text(encoding="utf-8")
    return {name: Line(macro, kinds, weight == "HEAVY")
            for macro, name, kinds, weight in _DECLARED.findall(text)}


def type_of(dtype: DType) -> str:
    """Return the kernels' name of the element type for a dtype; "" if they do not know it."""
    found = BY_NAME.get(dtype.name)
    return "" if found is None else found.suffix


def of_equal(name: str, kind: str) -> str:
    """Return the macro's suffix for lines that give the first of equal operands, as NumPy does."""
    return "_FIRST" if kind in _FIRST.get(name, ()) else ""


# Families and programs


class Family(NamedTuple):
    """Alternative lines of one kernel with so many `inputs`; comparisons are `stored` as bool."""

    name: str
    inputs: int
    heavy: bool
    result: str
    stored: str
    lines: tuple[str, ...]

    def declared(self, kind: str) -> str:
        """Return its declaration for a type."""
        if not self.inputs:
            return f"MAT_FUSED({self.name}, {kind})"
        macro = ("", "MAT_ONE", "MAT_TWO", "MAT_THREE")[self.inputs]
        lines = " ".join(f"{macro}{of_equal(line, kind)}({line})" for line in self.lines)
        return (f"MAT_FAMILY({self.name}, {kind}, {self.inputs}, {self.heavy:d}, "
                f"mat_{self.result}, mat_{self.stored}, {lines})")

    def kernel(self, kind: str, way: str) -> str:
        """Return the declaration of a kernel of it."""
        return (f"MAT_LOOP_OF({way}, {self.name}, {kind}, {self.inputs})" if self.inputs else
                f"MAT_LOOP_FUSED({way}, {self.name}, {kind})")


@cache
def families(kind: str) -> tuple[Family, ...]:
    """Return the families of a type, in the order of a program."""
    known = {name: line for name, line in lines().items() if line.computes(kind)}

    def chosen(heavy: bool, *macros: str) -> tuple[str, ...]:
        return tuple(n for n, line in known.items() if line.macro in macros and line.heavy == heavy
                     and not line.real_of(kind))

    one, function = (chosen(heavy, "UNARY", "UNARY_WITHIN", "UNARY_REAL", "UNARY_DEVICE")
                     for heavy in (False, True))
    two, power = (chosen(heavy, "BINARY", "BINARY_DEVICE", "DIVISION", "POWER")
                  for heavy in (False, True))
    three, test, compare = (chosen(False, macro) for macro in ("TERNARY", "TEST", "COMPARE"))
    modulus = tuple(n for n, line in known.items() if line.real_of(kind))
    real = _REAL_OF.get(kind, "")
    heavy = kind[0] not in "iu"
    found = [Family("one", 1, False, kind, kind, one), Family("two", 2, False, kind, kind, two),
             Family("three", 3, False, kind, kind, three),
             Family("test", 1, False, "b1", "b1", test),
             Family("compare", 2, False, "b1", "b1", compare),
             Family("function", 1, heavy, kind, kind, function),
             Family("power", 2, heavy, kind, kind, power),
             Family("modulus", 1, False, real, real, modulus),
             Family("compare_in", 2, False, "b1", kind, compare if kind in _FLOATING else ()),
             *(Family(n, 0, False, kind, kind, (n,)) for n in chosen(False, "FUSED"))]
    return tuple(f for f in found if f.lines)


def _has_kernel(family: Family, kind: str, way: str) -> bool:
    """Return whether a family has a kernel of its own for that way, beside that for any types."""
    if way == "types":
        return family.name != "compare_in"
    if family.heavy and kind[0] == "c":
        return False  # much code, which takes more time than memory does
    return way != "rows" or kind in _FLOATING


@cache
def _program(kind: str, ways: tuple[str, ...], heavy: bool) -> Program:
    chosen = [f for f in families(kind) if f.heavy == heavy]
    kernels = [(f, w) for f in chosen for w in ways if _has_kernel(f, kind, w)]
    used = [f.declared(kind) for f in chosen if any(f is g for g, _ in kernels)]
    return Program("\n".join(['#include "elementwise.cuh"', *used,
                              *(f.kernel(kind, w) for f, w in kernels), ""]), (EXACT,))


def program(family: Family, kind: str, way: str) -> Program:
    """Return the program with a family's kernel."""
    return _program(kind, _WAYS[way], family.heavy)


@cache
def fill_program() -> Program:
    """Return the program that fills with elements of any type."""
    kernels = (f"MAT_FILL({w}, {k})" for w in ("flat", "steps", "long")
               for k in ("u8", "u16", "u32", "u64", *_FILLED.values()))
    return Program("\n".join(['#include "elementwise.cuh"', *kernels, ""]))


@cache
def axpy_program() -> Program:
    """Return the program of `prepare_axpy`."""
    kernels = (f"MAT_AXPY({w}, {k})" for w in ("flat", "steps", "long") for k in ("f32", "f64"))
    return Program("\n".join(['#include "elementwise.cuh"', *kernels, ""]))


def programs() -> Iterator[Program]:
    """Yield all programs."""
    yield from dict.fromkeys(program(f, kind, way) for kind in TYPES for way in _WAYS
                             for f in families(kind)
                             if _has_kernel(f, kind, way))
    yield fill_program()
    yield axpy_program()


# Frames


class StridedLoop(NamedTuple):
    """The common axes of operands as the frame of a kernel, and the way to step through them."""

    way: str
    items: int
    frame: tuple[int, ...]


def strided_loop(shape: Ints, strides: Sequence[Ints], group: int, ways: Sequence[str],
                 types: Sequence[int] = (), by: int = -1) -> StridedLoop:
    """Return the loop over `shape` by the first of `ways` that can do it; `group` is how many
    elements 16 bytes hold.

    The last way can do everything. The operand `by` is one that is written; strides count elements.
    """
    axes = loops(shape, strides, by)
    inner, *steps = axes.pop()
    way = next(w for w in ways if w == ways[-1] or _can_step(w, inner, steps, axes, group))
    bits = 32 if way in ("rows", "steps") else 64
    row = -(-inner // group) if way == "rows" else inner
    axes.reverse()
    outer = [axis[0] for axis in axes]
    pad = [0] * (MOST_AXES - 1 - len(outer))
    magics = [magic(n, bits) for n in outer]
    items = row * prod(outer)
    frame = (inner, items, row, *magic(row, bits), len(outer), *outer, *pad,
             *(m for m, _ in magics), *pad,
             *(s for _, s in magics), *pad, *steps,
             *(v for k in range(1, len(strides) + 1) for v in (*(axis[k] for axis in axes), *pad)),
             *(types or (0,) * len(strides)))
    return StridedLoop(way, items, frame)


def _can_step(way: str, inner: int, steps: Sequence[int], axes: Sequence[Ints], group: int) -> bool:
    """Return whether `way` can step through these axes."""
    adjacent = all(s in (0, 1) for s in steps)  # what is written is not 0, but for a single element
    if way == "flat":
        return adjacent and not axes
    count = inner * prod(axis[0] for axis in axes)
    few = count < _FEW and all(abs(s) < _FEW for each in ((inner, *steps), *axes) for s in each[1:])
    if way == "rows":
        aligned = all(axis[k] % group == 0 for axis in axes for k, s in enumerate(steps, 1) if s)
        return few and adjacent and aligned and inner >= 4 * group > 4
    return way == "long" or few


def blocks_of(found: StridedLoop, group: int, heavy: bool, threads: int = THREADS) -> int:
    """Return how many blocks it takes, as ``strided_loop.cuh`` shares items among threads."""
    groups = 1 if group == 16 or heavy else 2
    each = {"flat": groups * group, "rows": groups}.get(found.way) or _ELEMENTS[found.way][heavy]
    return -(-found.items // (threads * each))


def strides_of(layout: Layout | None, shape: Ints) -> Ints:
    if layout is None:
        return (0,) * len(shape)  # a number
    return layout.strides if layout.shape == shape else layout.broadcast_to(shape).strides


# Kernels


def prepare_elementwise(name: str, *operands: Operand, layouts: Sequence[Layout | None] = (),
                        dtype: DType | None = None) -> Encoded | CudaKernel:
    """Return the kernel of that name, computing with elements of `dtype`, for Mats of any strides
    that broadcast to the last one.

    Operands with a layout are Mats, if `layouts` does not say how to view them. Elements of another
    dtype are converted when they are loaded. `dtype` is that of the first Mat, if it is not given.
    """
    layouts = layouts or [getattr(v, "layout", None) for v in operands]
    dtypes = [v.element_type for v in operands if hasattr(v, "storage")]
    kind = type_of(dtype if dtype is not None else dtypes[0])
    kinds = [type_of(v.element_type) if hasattr(v, "storage") else kind for v in operands]
    family = family_of(name, kind, kinds[-1])
    natural = family.stored
    same = set(kinds[:-1]) == {kind} and kinds[-1] == natural
    ways = [w for w in ("flat", "rows", "steps") if same and _has_kernel(family, kind, w)]
    shape = operands[-1].layout.shape
    group = 16 // max(_size(kind), _size(natural))
    found = strided_loop(shape, [strides_of(layout, shape) for layout in layouts], group,
                         [*ways, "types"], [TYPES.index(k) for k in kinds])
    if found.way == "types" and family.name == "compare_in":
        family = next(f for f in families(kind) if f.name == "compare")
    launch = in_blocks(program(family, kind, found.way), f"mat_{family.name}_{kind}_{found.way}",
                       (*found.frame, list(lines()).index(name)),
                       blocks_of(found, group, family.heavy))
    numbers = len(dtypes) < len(operands) or not family.inputs
    return Encoded(launch, halves, 64) if numbers and kind in ("i64", "u64") else launch


def family_of(name: str, kind: str, out: str) -> Family:
    """Return the family of a line for such elements: of several, the one that stores `out`."""
    fitting = [f for f in families(kind) if name in f.lines]
    return next((f for f in fitting if f.stored == out), fitting[0])


def _size(kind: str) -> int:
    return max(1, int(kind.lstrip("biufc")) // 8)


def prepare_fill(x: Operand, *, assigned: bool = False) -> Encoded | CudaKernel:
    """Return the kernel that overwrites `x` with a number, or an `assigned` operand."""
    dtype = x.element_type
    found = prepare_filling(dtype, x.layout)
    if assigned:
        return found
    # the number is no operand of a fill: compiled launches find x in its place
    found.integer_bits = {"b": 1, "i": 8 * dtype.itemsize, "u": 8 * dtype.itemsize}.get(dtype.kind)
    return found.launch if dtype.name in _FILLED else found


def prepare_filling(dtype: DType, layout: Layout) -> Encoded:
    """Return the same for elements of a dtype in a layout."""
    kind = _FILLED.get(dtype.name) or f"u{8 * dtype.itemsize}"
    group = 16 // dtype.itemsize
    found = strided_loop(layout.shape, [layout.strides], group, ("flat", "steps", "long"))
    launch = in_blocks(fill_program(), f"mat_fill_{kind}_{found.way}", (*found.frame, 0),
                       blocks_of(found, group, False)).bind((1,), (0,))
    return Encoded(launch, (lambda v: v) if dtype.name in _FILLED else lambda v: _bits(v, dtype),
                   bound=True)


def prepare_axpy(kind: str, n: int, steps: Ints) -> CudaKernel:
    """Return the kernel of ``y <- alpha x + y``, rounded once, for vectors of `n` floats."""
    group = 16 // _size(kind)
    found = strided_loop((n,), [(step,) for step in steps], group, ("flat", "steps", "long"))
    return in_blocks(axpy_program(), f"mat_axpy_{kind}_{found.way}", (*found.frame, 0),
                     blocks_of(found, group, False)).bind((1, 2), (0,))


class Encoded:
    """A kernel that receives numbers in another code, such as the halves of an integer.

    Compiled launches can make the code of integers of `integer_bits`, 1 for bools; not with None.
    """

    def __init__(self, launch: CudaKernel, code: Function, integer_bits: int | None = None, *,
                 bound: bool = False) -> None:
        self.launch: CudaKernel = launch
        self.code: Function = code
        self.integer_bits: int | None = integer_bits
        self.bound: bool = bound

    @property
    def numbers(self) -> Sequence[int]:
        """Return the positions of numbers in a call."""
        return self.launch.numbers

    def launch_like(self, values: Arguments) -> DriverCall | None:
        """Return the compiled launch for operands like these, if there is one."""
        if self.integer_bits is None:
            return None
        return self.launch.launch_like(values, self.integer_bits)

    def bind(self, operands: Sequence[int], numbers: Sequence[int]) -> Encoded:
        """Set the positions of operands and numbers, unless they are known."""
        if not self.bound:
            self.launch.bind(operands, numbers)
        return self

    def __call__(self, *values: object) -> None:
        self.launch(*[v if hasattr(v, "address") else self.code(v) for v in values])


def halves(value: Number) -> complex:
    """Return the two halves of a 64-bit integer: a float cannot represent all its values."""
    bits = int(value)
    return complex(bits & _WORD, bits >> 32 & _WORD)


def _bits(value: Number, dtype: DType) -> complex:
    """Return the two halves of the bits of an element of `dtype` with that value."""
    return halves(np.full(1, value, dtype).view(f"u{dtype.itemsize}")[0])
