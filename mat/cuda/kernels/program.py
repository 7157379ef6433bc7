"""Programs: several element-wise operations as one kernel, composed of the lines of
``native/shared/elementwise.def`` by ``native/cuda/program.cuh``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ...devices.device import in_use
from ...layout.merged_axes import loops
from ...support.types import DType, Function, Number, Operand
from ..runtime.kernel import NUMBERS, OPERANDS, CudaKernel, in_blocks
from ..runtime.nvrtc import EXACT, Program
from .copy import moves_only
from .elementwise import (
    MANY,
    OWN,
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
    """An engine for implementations that return their operation as a `LinePart`, or None."""

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
    """Return whether operands 2 and 3 are single elements, as `mat_of_numbers` decides."""
    shape = operands[-1].layout.shape
    steps = loops(shape, [strides_of(getattr(v, "layout", None), shape) for v in operands])[-1]
    return not (steps[2] or steps[3])


class ProgramLine(NamedTuple):
    """An operation of a program: the numbers of its operands, then of its results."""

    part: LinePart
    reads: Sequence[int]
    writes: int
    dtype: DType


class ProgramKernel(Encoded):
    """The kernel of a program with integers of 64 bits, or more numbers than operands."""

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
    places = ProgramPlaces(program, operands, directions)
    mats = [operands[k] for k in places.mats]
    group = 16 // max(x.itemsize for x in mats)
    shape = operands[-1].layout.shape
    found = strided_loop(shape, [strides_of(x.layout, shape) for x in mats], group, OWN)
    heavy = is_heavy(program, len(mats))
    text = "\n".join(['#include "program.cuh"', *composed(program, places, heavy),
                      f"MAT_PROGRAM(mat_program, {found.way}, {len(mats)}, {group}, mat_composed)",
                      ""])
    return places.called(in_blocks(Program(text, (EXACT,)), "mat_program", (*found.frame, 0),
                                   blocks_of(found, group, heavy)))


class ProgramPlaces:
    """The arguments of a program's kernel: the types of operands, and where it finds them."""

    def __init__(self, program: Sequence[ProgramLine], operands: Sequence[Operand],
                 directions: str, at: Sequence[int] | None = None) -> None:
        self.directions = directions
        self.mats = [k for k, direction in enumerate(directions) if direction != "n"]
        self.kinds = {k: type_of(operands[k].element_type) for k in self.mats}
        numbers = [k for k, direction in enumerate(directions) if direction == "n"]
        # the types that numbers become
        self.given = {k: line.part.number for line in program for k in line.reads if k in numbers}
        self.few = len(operands) < OPERANDS  # then numbers have places among the operands
        self.numbers = numbers
        self.at = {k: k if self.few else n for order in (self.mats, numbers)
                   for n, k in enumerate(order)}
        if at is not None:  # those of a call of several programs
            self.at = dict(enumerate(at))

    def called(self, launch: CudaKernel) -> CudaKernel | ProgramKernel:
        """Return a kernel that is called with the operands of the program."""
        long = {k for k in self.numbers if self.given[k] in ("i64", "u64")}
        if not self.few:
            launch.bind(self.mats, self.numbers)
        return launch if self.few and not long else ProgramKernel(launch, long)


def is_heavy(program: Sequence[ProgramLine], mats: int) -> bool:
    """Return whether threads do fewer elements."""
    return mats > MANY or len(program) > FEW or any(line.part.heavy for line in program)


class Folded(NamedTuple):
    """Facts about a program whose results are reduced: their type, whether all axes are one,
    whether groups are computed of groups or of single elements, and of which operands they are
    adjacent.
    """

    result: str
    flat: bool
    packed: bool
    adjacent: Collection[int]


def composed(program: Sequence[ProgramLine], places: ProgramPlaces, heavy: bool,
             folded: Folded | None = None, name: str = "mat_composed") -> list[str]:
    """Return the lines of the class `name`, which computes elements and stores those that
    are written; or returns the last one's results, if they are to be reduced.
    """
    directions, at = places.directions, places.at
    read = [k for k in places.mats if directions[k] != "o"]
    held = places.mats if folded is None else read
    written = [k for k in held if directions[k] in "ou"]
    axes, count = {k: n for n, k in enumerate(held)}, len(held) + (folded is not None)
    body = _statements(program, places, read)
    names = {line.writes: f"result{n}" for n, line in enumerate(program)}
    body += [f"held{k}.pack[u].at[v] = {names.get(k, f'x{k}')};" for k in written]
    aligned = " && ".join(f"mat_aligned<mat_{places.kinds[k]}, V>({at[k]}, {axes[k]}, frame, call)"
                          for k in held)
    made = ", ".join(f"number{k}(mat_number<mat_{kind}>(call.numbers + {2 * at[k]}))"
                     for k, kind in places.given.items())
    method, taken, facts, types = "run", "", "", []
    loads = [f"held{k}.load({at[k]}, {axes[k]}, frame, call, at, there);" for k in read]
    if folded is not None:
        body.append(f"to[u].at[v] = result{len(program) - 1};")
        method, taken = "compute", f", mat_pack<mat_{folded.result}, V> (&to)[U]"
        facts = f", FLAT = {folded.flat:d}, PACKED = {folded.packed:d}"
        types = [f"    typedef mat_{folded.result} result;"]
        loads = [f"held{k}.load_by({k in folded.adjacent:d}, {at[k]}, {axes[k]}, call, at, there);"
                 for k in read]
    return [
        f"struct {name} {{", f"    enum {{ HEAVY = {heavy:d}{facts} }};", *types,
        *(f"    const mat_{kind} number{k};" for k, kind in places.given.items()),
        f"    INLINE {name}(const mat_call &call){' : ' if made else ''}{made} {{}}",
        "    template <int V>",
        f"    static INLINE bool aligned(const mat_axes<{count}> &frame, const mat_call &call) {{",
        f"        return {aligned};", "    }", "    template <int U, int V>",
        f"    INLINE void {method}(const mat_axes<{count}> &frame, const mat_call &call,",
        f"                    const int64_t (&at)[U][{count}], const bool (&there)[U]{taken})",
        "                    const {",
        *(f"        mat_held<mat_{places.kinds[k]}, U, V> held{k};" for k in held),
        *(f"        {load}" for load in loads),
        "#pragma unroll", "        for (int u = 0; u < U; u++)", "#pragma unroll",
        "            for (int v = 0; v < V; v++) {", *(f"                {one}" for one in body),
        "            }",
        *(f"        held{k}.store({at[k]}, {axes[k]}, call, at, there);" for k in written),
        "    }", "};"]


def _statements(program: Sequence[ProgramLine], places: ProgramPlaces,
                read: Sequence[int]) -> list[str]:
    """Return the statements that compute the results of one element."""
    names = {k: f"x{k}" for k in read} | {k: f"number{k}" for k in places.given}
    found = [f"const mat_{places.kinds[k]} x{k} = held{k}.pack[u].at[v];" for k in read]
    for n, line in enumerate(program):
        result = line.part.expression.format(*(names[k] for k in line.reads))
        found.append(f"const mat_{type_of(line.dtype)} result{n} = {result};")
        names[line.writes] = f"result{n}"
    return found
