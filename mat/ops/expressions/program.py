"""`FusedOp`: an operation that is several element-wise operations in one pass."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from heapq import merge
from math import prod
from operator import itemgetter
from typing import Any, NamedTuple

from ...core.recorder import RECORDERS
from ...cpu.elementwise import FRAME
from ...cpu.kernel import CpuKernel
from ...cpu.program import COMPOSER, Fold, KernelStep, Slot, prepare_program, writes_to_caches
from ...cpu.reduce import REDUCTION, by_rows
from ...devices.in_use import CPU, Device, has_kernels, in_use
from ...errors import OutOfDeviceMemory
from ...layout.shapes import Ints, broadcast_shapes
from ...matrix.base import form_of_result
from ...matrix.mat import Mat
from ...support.dtypes import STORED
from ...support.native import compiled, ffi
from ...support.types import Arguments, DType, Engine, Function, Keywords, Operand
from ..engine.operation import NO_KEYWORDS, InOut, Input, InputOrNumber, Op, Output
from ..engine.planning import choose, is_of_device
from ..tiles.overlap import apart
from ..tiles.tile import Tile, TileTooLarge, by_elements, is_too_large, span_bytes
from .fold_tiles import FoldTile, FoldTiles, in_tiles, start_of, tiles_alone


class Instruction(NamedTuple):
    """One operation of a program: its operands, and where its result goes.

    Operands and results are numbers of slots: first the operands of the program, in their order,
    then the temporary results.
    """

    operation: Op
    reads: tuple[int, ...]
    writes: int
    dtype: DType


class ProgramFold(NamedTuple):
    """A reduction of a program: its settings, and the slot of its operand."""

    operation: Op
    settings: tuple[object, ...]
    slot: int


class Structure(NamedTuple):
    """The common parts of programs of one kind: letters for the operands, "i" for a Mat that is
    read, "n" for a number, "o" for one that is overwritten and "u" for one that is updated; the
    instructions; and perhaps reductions of their results.
    """

    operands: str
    instructions: tuple[Instruction, ...]
    folds: tuple[ProgramFold, ...] = ()


_ROLES = {"i": Input, "n": InputOrNumber, "o": Output, "u": InOut}
MOST_OF_A_UNIT = 1 << 20  # bytes of the operand of a reduction
ROWS_OF = 1 << 12  # elements of a unit of short rows
MOST_WAITING = 16  # programs of one structure that may become compiled ones


class NotOnePassError(Exception):
    """A program for operands of which it cannot be one kernel."""


class FusedOp(Op):
    """Several element-wise operations, carried out as one."""

    listed = False

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        # the instruction that reads a slot last
        self.last = {slot: k for k, one in enumerate(structure.instructions) for slot in one.reads}
        self.last |= {fold.slot: len(structure.instructions) for fold in structure.folds}
        super().__init__(_signature_of(structure.operands), "", True, None)
        if not structure.folds:
            self.cut_by(by_elements(self))
            self.of_elements = False  # it is no part of another one
        elif structure.instructions and len(structure.folds) == 1:
            self.cut_by(self.tiles)
            self.reads_once = True
        self.begun = False  # the tiles of a reduction were asked for
        self.elements: FusedOp | None = None  # what is reduced, as a program
        self.prepare("foreign", dtypes=compiled(STORED))(self.prepare_cpu)
        self.prepare("cuda", dtypes=STORED)(self.prepare_cuda)
        self.uses: Counter[str] = Counter()  # on devices, by the dtypes of the operands
        self.done: int = 0  # on the host, elements times operations, and passes
        self.passes: int = 0
        self.interpreted: list[CpuKernel] = []  # programs that may become worth a compiled one

    def names(self) -> tuple[str, ...]:
        """Return the names of its operations, in their order."""
        found: list[Any] = [one.operation for one in self.structure.instructions]
        found += [fold.operation for fold in self.structure.folds]
        return tuple(operation.__name__ for operation in found)

    def check_operand(self, k: int, args: tuple[Operand, ...]) -> None:
        """Check nothing: the statements have."""

    def evaluate(self, values: Arguments) -> None:
        """Carry out the program; its operations one after another where it cannot be one kernel."""
        device, self.begun = in_use(), False
        if device is not CPU and self.structure.folds and is_too_large(device, *values):
            self(*values)
            return
        if device is not CPU and device.implementations and device.planner is None:
            mats = [x for x in values if isinstance(x, Mat)]
            if has_kernels(*mats) and not self.is_one_kernel(device, values, mats):
                self.one_by_one(values)
                return
        elif not compiled(STORED):
            self.one_by_one(values)
            return
        try:
            self.run(values)
        except NotOnePassError:
            self.one_by_one(values)
        if self.interpreted:
            self.note_use(values)

    def note_use(self, values: Arguments) -> None:
        """Compile programs of the host once they were used much."""
        self.passes += 1
        self.done += prod(self.shape(values)) * len(self.structure.instructions)
        if self.passes >= COMPOSER.passes and self.done >= COMPOSER.work:
            programs, self.interpreted = self.interpreted, []
            COMPOSER.ask(programs)

    def is_one_kernel(self, device: Device, values: Arguments, mats: list[Mat]) -> bool:
        """Return whether it is one kernel of a device, at the second use or compiled already."""
        node = self.walk(self.root_of(device), values, NO_KEYWORDS, False)
        if node is not None and node.plan is not None:
            return True
        engine = device.facet.engine
        program = self.lines(engine, values)
        if program is None:
            return False
        key = "".join(x.dtype.char for x in mats)
        self.uses[key] += 1
        return (self.uses[key] > 1 or bool(RECORDERS)
                or bool(engine.is_compiled(self.kernel(engine, program, values))))

    def joins(self, values: Arguments) -> bool:
        """Return whether it is one kernel of the device in use, which has kernels of its own."""
        mats = [x for x in values if isinstance(x, Mat)]
        return has_kernels(*mats) and self.is_one_kernel(in_use(), values, mats)

    def one_by_one(self, values: Arguments) -> None:
        """Carry out the operations one after another."""
        held, shape = dict(enumerate(values)), self.shape(values)
        for k, (operation, reads, writes, dtype) in enumerate(self.structure.instructions):
            if writes not in held:
                held[writes] = form_of_result(shape, dtype).new(values[-1].device_enabled, None)
            operation(*arguments(operation, [held[slot] for slot in reads], held[writes]))
            for slot in {*reads}:
                if slot >= len(values) and self.last[slot] == k:
                    del held[slot]
        for (operation, settings, slot), out in zip(self.structure.folds, self.results(values),
                                                    strict=True):
            operation(held[slot], out, *settings)

    def results(self, values: Arguments) -> Arguments:
        """Return the operands to which the results of reductions go."""
        return values[len(values) - len(self.structure.folds):]

    def tiles(self, args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        """Return the tiles of a reduction; none on the host, where `Together` has them."""
        if in_use() is CPU:
            return iter(())
        if self.begun:  # smaller ones would have other bits
            raise TileTooLarge(span_bytes(*args))
        found = in_tiles(part for _, part in self.fold_tiles(args, budget))
        self.begun = True
        return found

    def fold_tiles(self, args: Arguments, budget: int) -> Iterator[tuple[int, FoldTile]]:
        """Return the tiles of a reduction, with the first elements that each reads."""
        fold, last = self.structure.folds[0], self.structure.instructions[-1]
        if self.elements is None:
            self.elements = FusedOp(elements_of(self.structure))
        x = form_of_result(self.shape(args), last.dtype).new(args[-1].device_enabled, None)
        return FoldTiles(self.elements, fold, args, x).tiles(budget)

    def lines(self, cuda: Engine, operands: Arguments) -> list[Any] | None:
        """Return the instructions as lines of a device's kernel; None if that is impossible."""
        letters = self.structure.operands
        written = [x for x, letter in zip(operands, letters, strict=True) if letter in "ou"]
        if not cuda.fits_call(operands) or not all(apart(*operands, out) for out in written):
            return None
        shape, values, found = self.shape(operands), list(operands), []
        for operation, reads, writes, dtype in self.structure.instructions:
            if writes >= len(values):
                values.append(form_of_result(shape, dtype).new(True, None))
            part = part_of(operation, arguments(operation, [values[s] for s in reads],
                                                values[writes]), in_use())
            if part is None:
                return None
            found.append(cuda.ProgramLine(part, reads, writes, dtype))
        if not found:  # a reduction of an operand
            part = cuda.PARTS.prepare_copy(operands[0])
            found.append(cuda.ProgramLine(part, (0,), len(values), operands[0].dtype))
        return found

    def prepare_cuda(self, cuda: Engine, *operands: Operand) -> Function:
        """Prepare the kernel of a device for operands of these forms."""
        program = self.lines(cuda, operands)
        if program is None:
            raise NotOnePassError
        return self.kernel(cuda, program, operands)

    def kernel(self, cuda: Engine, program: list[Any], operands: Arguments) -> Function:
        """Return the kernel of a device for instructions that are lines of it."""
        letters = self.structure.operands
        if not self.structure.folds:
            found: Function = cuda.prepare_program(program, operands, letters)
        else:
            part = self.fold_part(program, operands)
            found = cuda.prepare_fold(program, part, self.shape(operands), operands, letters)
        return found

    def fold_part(self, program: list[Any], operands: Arguments) -> Any:
        """Return the reduction as a `FoldPart` of the device in use, or None."""
        if not self.structure.folds:
            return None
        operation, settings, _ = self.structure.folds[0]
        x = form_of_result(self.shape(operands), program[-1].dtype).new(True, None)
        return fold_part_of(operation, (x, operands[-1], *settings), in_use())

    def prepare_cpu(self, cpu: Engine, *operands: Operand) -> Function:
        """Prepare the kernels of the instructions, for operands of these forms."""
        shape = self.shape(operands)
        folds = self.folds_of(shape, operands)
        if folds is None:
            return refuse  # it is only carried out in tiles
        steps, values = [], list(operands)
        slots = [Slot(k, x.itemsize if isinstance(x, Mat) else 0) for k, x in enumerate(operands)]
        places: dict[int, list[int]] = {}  # slots that can be used again, by the size of elements
        place_of: dict[int, int] = {}  # the slots of temporary results
        for k, (operation, reads, writes, dtype) in enumerate(self.structure.instructions):
            for slot in {*reads} & place_of.keys():
                if self.last[slot] == k:  # the result may go where this was
                    places.setdefault(slots[place_of[slot]].size, []).append(place_of[slot])
            if writes >= len(values):
                values.append(form_of_result(shape, dtype).new(True, None))
                place_of[writes] = self._place(slots, places, dtype.itemsize)
            kernel = prepared(operation, [values[s] for s in reads], values[writes])
            if writes >= len(operands) or self.last.get(writes, -1) > k:
                writes_to_caches(kernel)
            steps.append(KernelStep(kernel, [place_of.get(s, s) for s in (*reads, writes)]))
        folds = [fold._replace(slot=place_of[fold.slot]) for fold in folds]
        found = prepare_program(steps, slots, len(operands), prod(shape), folds)
        if len(steps) > 1 and COMPOSER.enabled:
            self.interpreted = [*self.interpreted[1 - MOST_WAITING:], found]
        return found

    def shape(self, operands: tuple[Operand, ...]) -> Ints:
        """Return the shape of the elements of all instructions."""
        if not self.structure.folds:
            return operands[-1].shape
        read = operands[:len(operands) - len(self.structure.folds)]
        return broadcast_shapes([x.shape for x in read if isinstance(x, Mat)])

    def folds_of(self, shape: Ints, operands: Arguments) -> list[Fold] | None:
        """Return the reductions; None if they cannot be part of one program."""
        dtypes = {one.writes: one.dtype for one in self.structure.instructions}
        first, found = len(operands) - len(self.structure.folds), list[Fold]()
        for k, (operation, settings, slot) in enumerate(self.structure.folds, first):
            if slot not in dtypes:
                return None
            x = form_of_result(shape, dtypes[slot]).new(True, None)
            fold = fold_of(operation, (x, operands[k], *settings))
            if fold is None or (found and fold.unit != found[0].unit):
                return None
            found.append(fold._replace(slot=slot, out=k))
        return in_few_rows(found)

    @staticmethod
    def _place(slots: list[Slot], places: dict[int, list[int]], size: int) -> int:
        """Return a slot for temporary elements of that size."""
        spare = places.get(size)
        if spare:
            return spare.pop()
        slots.append(Slot(-1, size))
        return len(slots) - 1


def refuse(*values: Any) -> None:
    """Refuse to compute a program whole that is not one kernel."""
    raise NotOnePassError


def elements_of(structure: Structure) -> Structure:
    """Return the structure of the program that writes the elements that another one reduces."""
    count, last = len(structure.operands) - 1, structure.instructions[-1].writes
    instructions = [one._replace(reads=tuple(count if k == last else k for k in one.reads),
                                 writes=count if one.writes == last else one.writes)
                    for one in structure.instructions]
    return Structure(structure.operands, tuple(instructions))


def prepared(operation: Op, reads: list[Operand], out: Mat) -> CpuKernel:
    """Return the kernel of the host for an operation on these operands."""
    kernel: CpuKernel | None = part_of(operation, arguments(operation, reads, out), CPU)
    if kernel is None:
        raise NotOnePassError
    return kernel


def arguments(operation: Op, reads: list[Operand], out: Mat) -> Arguments:
    """Return the arguments of an operation, of its operands and results."""
    given = iter(reads)
    return tuple(out if k == operation.main else next(given) for k in range(operation.arity))


def part_of(operation: Op, args: Arguments, device: Device) -> Any:
    """Return an operation's part of a program, a `LinePart` or a kernel; None if it is none."""
    implementation, pack = choose(operation, operation.implementations, args, device)
    if pack or not implementation.prepares:
        return None
    engine = implementation.facet.engine
    if device is not CPU:
        of_device = is_of_device(implementation, device)
        return implementation.function(engine.PARTS, *args) if of_device else None
    kernel = implementation.function(engine, *args)
    return kernel if is_loop(kernel) else None


def fold_part_of(operation: Op, args: Arguments, device: Device) -> Any:
    """Return a reduction as a `FoldPart` of a device; None for others."""
    implementation, pack = choose(operation, operation.implementations, args, device)
    if pack or not implementation.prepares or not is_of_device(implementation, device):
        return None
    engine = implementation.facet.engine
    found = implementation.function(engine.FOLDS, *args)
    return found if isinstance(found, engine.FoldPart) else None


def fold_of(operation: Op, args: tuple[Operand, ...]) -> Fold | None:
    """Return a reduction by units, ranges of its operand's elements; None for others."""
    implementation, _ = choose(operation, operation.implementations, args, CPU)
    if not implementation.prepares:
        return None
    kernel = implementation.function(implementation.facet.engine, *args)
    found = unit_of(kernel) if isinstance(kernel, CpuKernel) else None
    if found is None or found[0] * args[0].itemsize > MOST_OF_A_UNIT:
        return None
    return Fold(kernel, *found, 0, 0)


def unit_of(kernel: CpuKernel) -> tuple[int, int] | None:
    """Return how many elements are a unit of a program, and how many units of a reduction."""
    frame = kernel.frame
    if ffi.typeof(frame) is not REDUCTION or frame.start_x or frame.start_y:
        return None
    reduced, kept = getattr(frame, "in"), frame.kept.rank
    if reduced.rank != 1 or kernel.refusal is not None or kernel.result:
        return None
    if frame.columns:
        return (frame.chunk * frame.columns, 1) if frame.tiles == 1 and not kept else None
    if not kept:
        return frame.chunk, 1
    if kept > 1 or frame.chunks > 1:
        return None
    each = max(1, ROWS_OF // frame.reduced)
    return each * frame.reduced, each


def in_few_rows(folds: list[Fold]) -> list[Fold]:
    """Return the reductions with units of few rows, which stay in the caches, if possible."""
    found = []
    for fold in folds:
        kernel, columns = by_rows(fold.kernel), fold.kernel.frame.columns
        if kernel is None or columns != folds[0].kernel.frame.columns:
            return folds
        each = max(1, ROWS_OF // (kernel.frame.chunk * columns))
        found.append(fold._replace(kernel=kernel, each=each,
                                   unit=each * kernel.frame.chunk * columns))
    return found


def is_loop(function: object) -> bool:
    """Return whether an implementation is a kernel that a program can call for a block."""
    return (isinstance(function, CpuKernel) and not function.result and function.finish is None
            and function.refusal is None and ffi.typeof(function.frame) is FRAME
            and not function.frame.counters)


def _signature_of(letters: str) -> Function:
    """Return the check of a program with such operands, which checks nothing."""
    def check(*args: Operand) -> None:
        """Carry out several element-wise operations in one pass."""

    roles = {f"{letter}{k}": _ROLES[letter] for k, letter in enumerate(letters)}
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=role)
                  for n, role in roles.items()]
    vars(check)["__signature__"] = inspect.Signature(parameters)
    check.__annotations__ = roles
    check.__name__ = check.__qualname__ = "fused"
    check.__module__ = __name__
    return check


# Several programs over the same rows, reductions of these and a last one that writes elements, as
# one kernel of a device


_MOST = 512  # operations that are kept, of rows and of reductions together


class FusedRows(FusedOp):
    """Programs that are carried out one after another for each row."""

    def __init__(self, letters: str, programs: tuple[tuple[FusedOp, tuple[int, ...]], ...]) -> None:
        super().__init__(Structure(letters, (), programs[0][0].structure.folds))
        self.programs = programs  # and the places of their operands in a call

    def lines(self, cuda: Engine, operands: Arguments) -> list[Any] | None:
        """Return the kernel for operands of these forms, in a list; None if there is none."""
        letters = self.structure.operands
        written = [x for x, letter in zip(operands, letters, strict=True) if letter in "ou"]
        if len(operands) >= cuda.OPERANDS or not all(apart(*operands, out) for out in written):
            return None
        found = []
        for program, at in self.programs:
            mine = tuple(operands[k] for k in at)
            lines = program.lines(cuda, mine)
            if lines is None:
                return None
            found.append(cuda.RowProgram(lines, program.fold_part(lines, mine),
                                         program.shape(mine), mine, program.structure.operands,
                                         at))
        kernel = cuda.prepare_rows(found)
        return None if kernel is None else [kernel]

    def kernel(self, cuda: Engine, program: list[Any], operands: Arguments) -> Function:
        """Return the kernel that `lines` has found."""
        return program[0]


class Operands:
    """The operands of several programs, collected for one call."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.letters: list[str] = []
        self.places: dict[object, int] = {}  # of Mats

    def places_of(self, values: Arguments, letters: str) -> tuple[int, ...]:
        """Return the places of the operands of a program."""
        return tuple(map(self.place_of, values, letters))

    def place_of(self, x: Any, letter: str) -> int:
        """Return the place of an operand."""
        key: object = None
        if isinstance(x, Mat):
            key = id(x.storage), x.layout.displacement, x.form
            known = self.places.get(key)
            if known is not None:
                if self.letters[known] == "i" and letter != "i":
                    self.letters[known] = "u"  # it is read before it is written
                return known
            self.places[key] = len(self.values)
        self.values.append(x)
        self.letters.append(letter)
        return len(self.values) - 1


class RowPrograms(Operands):
    """Programs with their operands."""

    def __init__(self) -> None:
        super().__init__()
        self.programs: list[tuple[FusedOp, tuple[int, ...]]] = []

    def add(self, program: FusedOp, values: Arguments) -> None:
        """Add a program that is called with these operands."""
        self.programs.append((program, self.places_of(values, program.structure.operands)))

    def operation(self) -> FusedRows:
        """Return the operation that carries the programs out."""
        return _of_rows("".join(self.letters), tuple(self.programs))


_of_rows = lru_cache(_MOST)(FusedRows)


# Reductions that are carried out in tiles, together: each part of their operands is read from its
# file, or copied to the device, once for all of them


@dataclass(frozen=True)
class JoinedFold:
    """A reduction: its program, None for an operand; its settings; places of its operands."""

    program: FusedOp | None
    operation: Op
    settings: tuple[object, ...]
    places: tuple[int, ...]

    def names(self) -> tuple[str, ...]:
        """Return the names of its operations."""
        return (self.operation.__name__,) if self.program is None else self.program.names()

    def carry_out(self, operands: Arguments) -> None:
        """Carry it out alone."""
        if self.program is None:
            self.operation(*operands, *self.settings)
        else:
            self.program.evaluate(operands)

    def tiles(self, operands: Arguments, budget: int) -> Iterator[tuple[int, FoldTile | Tile]]:
        """Return the tiles that it has alone, with the first elements that each reads."""
        if self.program is not None:
            return self.program.fold_tiles(operands, budget)
        alone = tiles_alone(self.operation, (*operands, *self.settings), budget)
        return ((start_of(tile), tile) for tile in alone)


class Together(FusedOp):
    """Reductions with the tiles that they have alone, and so the bits, in another order."""

    def __init__(self, letters: str, members: tuple[JoinedFold, ...]) -> None:
        folds = tuple(ProgramFold(one.operation, one.settings, 0) for one in members)
        super().__init__(Structure(letters, (), folds))
        self.members = members
        self.reads_once = True
        self.cut_by(self.tiles)

    def names(self) -> tuple[str, ...]:
        return tuple(name for one in self.members for name in one.names())

    def evaluate(self, values: Arguments) -> None:
        """Carry them out; one by one where they are not cut, or two at a time have no room."""
        self.begun = False
        try:
            self(*values)
            return
        except (NotOnePassError, OutOfDeviceMemory):
            pass
        self.one_by_one(values)

    def one_by_one(self, values: Arguments) -> None:
        for one in self.members:
            one.carry_out(tuple(values[k] for k in one.places))

    def tiles(self, args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        """Return the tiles of all, each with its own budget, by their first elements."""
        if self.begun:  # smaller tiles would have other bits
            raise TileTooLarge(span_bytes(*args))
        found = [one.tiles(tuple(args[k] for k in one.places), budget) for one in self.members]
        self.begun = True
        tiles = in_tiles(one for _, one in merge(*found, key=itemgetter(0)))
        # no few of them tell what is copied for the others, as those of one reduction do in a plan
        return tiles if len(found) == 1 else (tile._replace(passed=None) for tile in tiles)

    def prepare_cpu(self, cpu: Engine, *operands: Any) -> Function:
        return refuse

    def prepare_cuda(self, cuda: Engine, *operands: Any) -> Function:
        return refuse


together = lru_cache(_MOST)(Together)  # the operation that carries out reductions together
