"""Programs: several element-wise operations as one kernel, composed of the lines of
``native/shared/elementwise.def`` by ``native/cuda/program.cuh``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ...devices.device import in_use
from ...layout.merged_axes import loops
from ...support.types import DType, Function, Number, Operand
from ..runtime.kernel import NUMBERS, OPERANDS, CudaKernel
from ..runtime.nvrtc import EXACT, Program
from .convert import moves_only
from .elementwise import (
    MANY,
    OWN,
    THREADS,
    Encoded,
    blocks_of,
    family_of,
    halves,
    lines,
    of_equal,
    strided_loop,
    strides_of,
    type_of,
)

FEW = 8  # operations of a program, beyond which threads do fewer elements


class LinePart(NamedTuple):
    """An operation as an expression of C++, of the elements that it reads: ``{0}``, ``{1}``, ..."""

    expression: str
    number: str  # the type of elements that numbers become
    heavy: bool = False


class LineParts:
    """What implementations for the device can be called with in place of the engine: they return
    their operation as a `LinePart`, or None if it cannot be one.
    """

    def __getattr__(self, name: str) -> Function:
        return lambda *_, **__: None

    @staticmethod
    def prepare_elementwise(name: str, *operands: Operand, dtype: DType | None = None) -> (
            LinePart | None):
        """Return a line of ``elementwise.def``."""
        mats = [v.element_type for v in operands if hasattr(v, "storage")]
        kind, out = type_of(dtype if dtype is not None else mats[0]), type_of(mats[-1])
        family = family_of(name, kind, out)
        if not family.inputs:
            return None
        reads = [f"mat_operand<mat_{kind}>({{{k}}})" for k in range(family.inputs)]
        first = of_equal(name, kind).lower()
        if lines()[name].macro == "TERNARY" and not first:
            reads.append("true" if _has_numbers(operands) else "false")
        line = f"each_{name}{first}({', '.join(reads)})"
        return LinePart(f"mat_result<mat_{family.stored}, mat_{out}>({line})", kind, family.heavy)

    @staticmethod
    def prepare_select(*operands: Operand) -> LinePart:
        """Return the choice between two elements."""
        return LinePart("{0} ? {1} : {2}", type_of(operands[-1].element_type))

    @staticmethod
    def prepare_copy(*operands: Operand, through: bool = False) -> LinePart | None:
        """Return the element itself; None where the copy goes `through` other memory."""
        return None if through else LinePart("{0}", type_of(operands[-1].element_type))

    @staticmethod
    def prepare_convert(x: Operand, out: Operand) -> LinePart:
        """Return the conversion of an element."""
        kind = type_of(out.element_type)
        moves = moves_only(x.element_type.name, out.element_type.name)
        return LinePart(f"(mat_{kind}){{0}}" if moves else f"converted<mat_{kind}>({{0}})", kind)


PARTS = LineParts()


def _has_numbers(operands: Sequence[Operand]) -> bool:
    """Return whether the second and third operand are one element each along the innermost axis,
    as `mat_of_numbers` of the kernels decides.
    """
    shape = operands[-1].layout.shape
    steps = loops(shape, [strides_of(getattr(v, "layout", None), shape) for v in operands])[-1]
    return not (steps[2] or steps[3])


class ProgramLine(NamedTuple):
    """An operation of a program: the numbers of what it reads, and of its result; those of the
    operands come first.
    """

    part: LinePart
    reads: Sequence[int]
    writes: int
    dtype: DType


class ProgramKernel(Encoded):
    """The kernel of a program, some of whose numbers are integers of 64 bits, or which has more
    numbers than places of operands.
    """

    def __init__(self, launch: CudaKernel, long: Collection[int]) -> None:
        super().__init__(launch, halves, bound=bool(launch.operands))
        self.long: Collection[int] = long  # the positions of these integers

    def __call__(self, *values: Number) -> None:
        self.launch(*[self.code(v) if k in self.long else v for k, v in enumerate(values)])


def fits_call(operands: Sequence[Operand]) -> bool:
    """Return whether a launch has room for the operands of a program."""
    mats = sum(hasattr(v, "storage") for v in operands)
    return mats < OPERANDS and len(operands) - mats <= NUMBERS


def is_compiled(kernel: CudaKernel | ProgramKernel) -> bool:
    """Return whether nobody has to wait for the compiler of a program."""
    gpu = in_use().gpu  # type: ignore[attr-defined]  # it is of cuda
    launch = kernel.launch if isinstance(kernel, ProgramKernel) else kernel
    return gpu in launch.ready or launch.program.is_compiled(gpu.arch)


def prepare_program(program: Sequence[ProgramLine], operands: Sequence[Operand],
                    directions: str) -> CudaKernel | ProgramKernel:
    """Return the kernel that carries out a program for `operands`, the last of which is written;
    their `directions` are "i" for a Mat that is read, "n" for a number, "o" and "u" for a Mat that
    is overwritten and updated.
    """
    mats = [k for k, direction in enumerate(directions) if direction != "n"]
    numbers = [k for k, direction in enumerate(directions) if direction == "n"]
    kinds = {k: type_of(operands[k].element_type) for k in mats}
    given = {k: line.part.number for line in program for k in line.reads if k in numbers}
    group = 16 // max(operands[k].itemsize for k in mats)
    shape = operands[-1].layout.shape
    found = strided_loop(shape, [strides_of(operands[k].layout, shape) for k in mats], group, OWN)
    heavy = (len(mats) > MANY or len(program) > FEW or any(line.part.heavy for line in program))
    few = len(operands) < OPERANDS  # then numbers have places among the operands
    at = {k: k if few else n for order in (mats, numbers) for n, k in enumerate(order)}
    text = _source(program, kinds, given, directions, (found.way, group, heavy), at)
    launch = CudaKernel(Program(text, (EXACT,)), "mat_program", (*found.frame, 0),
                        (blocks_of(found, group, heavy), 1, 1), (THREADS, 1, 1))
    long = {k for k in numbers if given[k] in ("i64", "u64")}
    if not few:
        launch.bind(mats, numbers)
    return launch if few and not long else ProgramKernel(launch, long)


def _source(program: Sequence[ProgramLine], kinds: dict[int, str], given: dict[int, str],
            directions: str, loop: tuple[str, int, bool], at: dict[int, int]) -> str:
    """Return the source of the kernel: `kinds` are the types of Mats by their positions, `given`
    those of numbers; `at` are their places in a call.
    """
    way, group, heavy = loop
    axes = {k: n for n, k in enumerate(kinds)}
    read = [k for k in kinds if directions[k] != "o"]
    written = [k for k in kinds if directions[k] in "ou"]
    count = len(axes)
    names = {k: f"x{k}" for k in read} | {k: f"number{k}" for k in given}
    body = [f"const mat_{kinds[k]} x{k} = held{k}.pack[u].at[v];" for k in read]
    for n, line in enumerate(program):
        result = line.part.expression.format(*(names[k] for k in line.reads))
        body.append(f"const mat_{type_of(line.dtype)} result{n} = {result};")
        names[line.writes] = f"result{n}"
    body += [f"held{k}.pack[u].at[v] = {names[k]};" for k in written]
    aligned = " && ".join(f"mat_aligned<mat_{kind}, V>({at[k]}, {axes[k]}, frame, call)"
                          for k, kind in kinds.items())
    made = ", ".join(f"number{k}(mat_number<mat_{kind}>(call.numbers + {2 * at[k]}))"
                     for k, kind in given.items())
    return "\n".join([
        '#include "program.cuh"', "struct mat_composed {", f"    enum {{ HEAVY = {heavy:d} }};",
        *(f"    const mat_{kind} number{k};" for k, kind in given.items()),
        f"    INLINE mat_composed(const mat_call &call){' : ' if made else ''}{made} {{}}",
        "    template <int V>",
        f"    static INLINE bool aligned(const mat_axes<{count}> &frame, const mat_call &call) {{",
        f"        return {aligned};", "    }", "    template <int U, int V>",
        f"    INLINE void run(const mat_axes<{count}> &frame, const mat_call &call,",
        f"                    const int64_t (&at)[U][{count}], const bool (&there)[U]) const {{",
        *(f"        mat_held<mat_{kind}, U, V> held{k};" for k, kind in kinds.items()),
        *(f"        held{k}.load({at[k]}, {axes[k]}, frame, call, at, there);" for k in read),
        "#pragma unroll", "        for (int u = 0; u < U; u++)", "#pragma unroll",
        "            for (int v = 0; v < V; v++) {", *(f"                {one}" for one in body),
        "            }",
        *(f"        held{k}.store({at[k]}, {axes[k]}, call, at, there);" for k in written),
        "    }", "};", f"MAT_PROGRAM(mat_program, {way}, {count}, {group}, mat_composed)", ""])
