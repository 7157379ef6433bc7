"""`FusedRows`: several programs over the same rows, reductions of these and a last one that writes
elements, as one kernel of a device.
"""

from __future__ import annotations

from typing import Any

from ...matrix.mat import Mat
from ...support.types import Arguments, Engine, Function
from ..tiles.overlap import apart
from .program import FusedOp, Structure

ROWS: dict[tuple[object, ...], FusedRows] = {}
_MOST = 512


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
        kernel: Function = program[0]
        return kernel


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
        key = "".join(self.letters), tuple(self.programs)
        found = ROWS.get(key)
        if found is None:
            if len(ROWS) >= _MOST:
                ROWS.clear()
            found = ROWS[key] = FusedRows(*key)
        return found
