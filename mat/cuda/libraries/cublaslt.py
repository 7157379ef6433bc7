"""cuBLASLt through cffi: products of 8-bit floats, which cuBLAS itself lacks, with their scales.

``MAT_CUBLASLT`` in the environment is the path of a library to load instead of NVIDIA's. What
describes a product, and the algorithm that the library's heuristic finds for it, are kept by form.
Products of 16-bit floats and of int8 remain those of `cublasGemmEx`, which has heuristics, too;
cuBLASLt has no other types of results for them that would be of use here.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ...core.observers import OBSERVERS
from ...errors import OutOfDeviceMemory
from ...layout.matrix_operand import MatmulForm, MatrixOperand
from ...layout.shapes import Ints
from ...support.types import CData, Function
from ..kernels.copy import Aligned, prepare_moves
from ..kernels.integer_matmul import prepare_scale
from ..runtime.blocks import At
from ..runtime.gpu import Gpu
from . import cublas
from . import cublas_table as table

LEAST = 89  # the compute capability from which on there are instructions for 8-bit floats
ALIGN = 16  # bytes: of addresses, of lines along the inner axis, and of the result's lines
MOST = 256  # forms that are kept for a process
# the first by versions without a mode
REFUSED = (table.INVALID_VALUE, table.ARCH_MISMATCH, table.NOT_SUPPORTED)
RESULT = 12  # words of cublasLtMatmulHeuristicResult_t: 8 of the algorithm, then bytes of its room

library = cublas.Library("cuBLASLt", table.lt_functions, "cublasLt")


class LtHandles(cublas.Handles):
    """The handle of each device; a call says the stream."""

    def _make(self, gpu: Gpu) -> cublas.Handle:
        with gpu.current():
            return self.create(gpu, library().cublasLtCreate)


HANDLES = LtHandles()


class Float8Form(NamedTuple):
    """A product as cuBLASLt is asked for it, column-major: ``D = A^T B`` with `rows` columns of A.

    `leading` are the steps between columns of A, B and D; `many` products have `steps` between
    their matrices. `mode` is that of the scales, None for no scales.
    """

    chars: str
    rows: int
    columns: int
    inner: int
    leading: Ints
    many: int
    steps: Ints
    mode: int | None


class LtPlan:
    """The descriptions of a product, and the algorithm for it on a device."""

    def __init__(self, gpu: Gpu, form: Float8Form, scales: Sequence[int]) -> None:
        self.gpu, self.form = gpu, form
        self.lock: threading.Lock = threading.Lock()  # for the addresses of scales
        self.scales: Sequence[int] = ()  # where they are
        self._made: list[tuple[CData, int]] = []
        with gpu.current():
            self._describe(scales)
            self._search()
        self.multiply: CData = library().cublasLtMatmul
        self.factors: tuple[CData, CData] = cublas.alpha_of("f")(1.0), cublas.beta_of("f")(0.0)

    def _describe(self, scales: Sequence[int]) -> None:
        form = self.form
        self.product: int = self._new("MatmulDesc", table.COMPUTE_32F, table.DATA["f"])
        self._set("MatmulDesc", self.product, table.DESC_OP_A, "int32_t", table.OP["T"])
        if form.mode is not None:
            modes = table.DESC_A_MODE, table.DESC_B_MODE
            for kind in modes if form.mode != table.SCALE_FOR_ALL else ():
                self._set("MatmulDesc", self.product, kind, "int32_t", form.mode)
            self._point_to(scales)
        sizes = (form.inner, form.rows), (form.inner, form.columns), (form.rows, form.columns)
        self.layouts: list[int] = []
        for char, shape, ld, step in zip(form.chars + "f", sizes, form.leading, form.steps,
                                         strict=True):
            layout = self._new("MatrixLayout", table.DATA[char], *shape, ld)
            self.layouts.append(layout)
            if form.many > 1:
                self._set("MatrixLayout", layout, table.LAYOUT_COUNT, "int32_t", form.many)
                self._set("MatrixLayout", layout, table.LAYOUT_STEP, "int64_t", step)

    def _search(self) -> None:
        """Ask for the fastest algorithm."""
        wanted = self._new("MatmulPreference")
        self._set("MatmulPreference", wanted, table.PREFER_ROOM, "uint64_t",
                  cublas.workspace_of(self.gpu))
        for kind in table.PREFER_ALIGNED:
            self._set("MatmulPreference", wanted, kind, "uint32_t", ALIGN)
        a, b, d = self.layouts
        self.algorithm: CData = cublas.ffi.new("uint64_t[]", RESULT)
        found = cublas.ffi.new("int *")
        _check_form(library().cublasLtMatmulAlgoGetHeuristic(
            HANDLES[self.gpu], self.product, a, b, d, d, wanted, 1, self.algorithm, found))
        _check_form(table.NOT_SUPPORTED if not found[0] else self.algorithm[9] & 0xffffffff)
        self.room: int = self.algorithm[8]

    def _new(self, kind: str, *arguments: object) -> int:
        """Return a new description, which is destroyed with the plan."""
        made, of = cublas.ffi.new("uintptr_t *"), library()
        create = f"cublasLt{kind}Create"
        cublas.check(getattr(of, create)(made, *arguments), create)
        self._made.append((getattr(of, f"cublasLt{kind}Destroy"), made[0]))
        return int(made[0])

    @staticmethod
    def _set(kind: str, of: int, which: int, ctype: str, value: int) -> None:
        function = getattr(library(), f"cublasLt{kind}SetAttribute")
        ffi = cublas.ffi
        _check_form(function(of, which, ffi.new(f"{ctype} *", value), ffi.sizeof(ctype)))

    def _point_to(self, scales: Sequence[int]) -> None:
        if scales == self.scales:
            return
        self.scales = ()
        for kind, address in zip((table.DESC_A_SCALE, table.DESC_B_SCALE), scales, strict=True):
            self._set("MatmulDesc", self.product, kind, "uintptr_t", address)
        self.scales = scales

    def __call__(self, addresses: Ints, d: int) -> None:
        """Queue the product of the matrices at the addresses of a and b, before those of scales."""
        gpu, form = self.gpu, self.form
        a, b, *scales = addresses
        for observer in tuple(OBSERVERS):
            observer.called("cublasLtMatmul", trans="TN", m=form.rows, n=form.columns,
                            k=form.inner, count=form.many, kind=form.chars + "f",
                            scales=form.mode)
        capture = gpu.capture_here()
        stream = gpu.stream if capture is None else capture.stream
        (one, other, to), (alpha, beta) = self.layouts, self.factors
        with gpu.room(max(self.room, 1)) as room, gpu.current():
            with self.lock:
                if form.mode is not None:
                    self._point_to(scales)
                status = self.multiply(
                    HANDLES[gpu], self.product, alpha, a, one, b, other, beta, d, to, d, to,
                    self.algorithm, room, self.room, int(stream))
            if status not in (0, table.NOT_SUPPORTED):
                gpu.check_health("cublasLtMatmul")
            cublas.check(status, "cublasLtMatmul")

    def __del__(self) -> None:  # calls do not need them once they are queued
        while self._made:
            destroy, made = self._made.pop()
            destroy(made)


class _RefusedError(Exception):
    """The library does not have a form."""


def _check_form(status: int) -> None:
    if status in REFUSED:
        raise _RefusedError(status)
    cublas.check(status, "a product of cuBLASLt")


# plans, or the status of the library where it or the device does not have the form
_plans: cublas.Kept[tuple[Gpu, Float8Form], LtPlan | int] = cublas.Kept(MOST)


def plan_for(gpu: Gpu, form: Float8Form, scales: Sequence[int]) -> LtPlan:
    """Return the plan for a form, new or kept; `NotSupportedError`, kept too, if there is none."""
    def make() -> LtPlan | int:
        try:
            return LtPlan(gpu, form, scales)
        except _RefusedError as error:
            return int(error.args[0])

    found = _plans.find((gpu, form), make)
    if isinstance(found, int):
        raise cublas.NotSupportedError(f"{form}: status {found}")
    return found


# Products


class _InnerLines:
    """An operand as lines along the inner axis. cuBLASLt takes lines of adjacent elements that
    begin at multiples of 16 bytes; others are packed so, with zeros at their ends.
    """

    def __init__(self, char: str, shape: Ints, strides: Ints, step: int) -> None:
        lines, inner = shape
        self.char, self.step = char, step
        self.ld: int = strides[0] if lines > 1 else inner
        self.taken: bool = (strides[1] == 1 and not inner % ALIGN and not self.ld % ALIGN
                            and self.ld >= inner and not step % ALIGN)
        self.inner: int = -(-inner // ALIGN) * ALIGN
        self.nbytes: int = lines * self.inner
        self.move: Aligned = prepare_moves(shape, (self.inner, 1), strides, 1)
        self.clear = None if inner == self.inner else prepare_scale(
            "f", (self.nbytes // 4,), (1,), at=0, number=0).bind((0,), (1,))

    def lies(self, x: cublas.DeviceOperand) -> bool:
        """Return whether cuBLASLt can read it where it is."""
        return self.taken and not x.address % ALIGN

    def pack(self, x: cublas.DeviceOperand, to: At) -> None:
        """Copy it to memory of `nbytes`."""
        if self.clear is not None:
            self.clear(to, 0.0)
        self.move(x, to)


class _Scales:
    """Scales of one side: one for all, or one for each line."""

    def __init__(self, lines: int, step: int) -> None:
        self.step = step
        self.nbytes: int = 4 * lines
        self.pack: Aligned = prepare_moves((lines,), (1,), (step,), 4)

    def lies(self, x: cublas.DeviceOperand) -> bool:
        """Return whether they are a vector of one number for each line."""
        return self.step == 1 and not x.address % ALIGN


class Float8Product:
    """``a b`` of 8-bit floats in float32, or that times the scales of rows of a and of columns of
    b, in one call of cuBLASLt.

    `NotSupportedError` where it does not have it; then nothing was written.
    """

    def __init__(self, form: MatmulForm, scales: Sequence[MatrixOperand] = ()) -> None:
        (m, n, k), a, b, c, _ = form
        count, (step_a, step_b, step_c) = _stack(form, scales)
        self.swap: bool = c.column == 1 or n == 1  # the result is row-major: its transpose
        ld = (c.row if m > 1 else n) if self.swap else (c.column if n > 1 else m)
        lies = self.swap or c.row == 1 or m == 1
        if not k or a.char == b.char == "5" or not lies or ld < 1 or ld % 4 or step_c % 4:
            raise cublas.NotSupportedError(f"cuBLASLt has no such product: {form}")
        sides = [_InnerLines(a.char, (m, k), (a.row, a.column), step_a),
                 _InnerLines(b.char, (n, k), (b.column, b.row), step_b)]
        steps = [scales[0].row, scales[1].column] if scales else []
        spread = [_Scales(lines, step) for lines, step in zip((m, n), steps, strict=False)]
        self.mode: int | None = None
        if scales:
            self.mode = table.SCALE_FOR_LINES if any(steps) else table.SCALE_FOR_ALL
        self.sides: list[_InnerLines] = sides[::-1] if self.swap else sides
        self.scales: list[_Scales] = spread[::-1] if self.swap else spread
        rows, columns = (n, m) if self.swap else (m, n)
        self.form = Float8Form("".join(s.char for s in self.sides), rows, columns,
                               sides[0].inner, (0, 0, ld), count, (0, 0, step_c), self.mode)
        self.plans: dict[tuple[Gpu, bool, bool], LtPlan] = {}  # by which operands are not packed

    def __call__(self, a: cublas.DeviceOperand, b: cublas.DeviceOperand, out: cublas.DeviceOperand,
                 *scales: cublas.DeviceOperand) -> None:
        gpu, turn = out.gpu, -1 if self.swap else 1
        missing = library.missing()
        if missing or cublas.capability_of(gpu) < LEAST or out.address % ALIGN:
            raise cublas.NotSupportedError(missing or f"8-bit floats on {gpu}")
        operands, given = (a, b)[::turn], scales[::turn]
        direct = [side.lies(x) for side, x in zip(self.sides, operands, strict=True)]
        if self.form.many > 1 and not all(direct):
            raise cublas.NotSupportedError("a stack that has to be packed")
        plan = self.plans.get((gpu, direct[0], direct[1]))
        if plan is None:
            plan = plan_for(gpu, self._form(direct), [s.address for s in given])
            self.plans[gpu, direct[0], direct[1]] = plan
        packed: list[tuple[int, Function]] = [(x.nbytes, x.pack) for x in self.sides]
        for side, s in zip(self.scales, given, strict=True):
            direct.append(self.mode == table.SCALE_FOR_ALL or side.lies(s))
            packed.append((side.nbytes, side.pack))
        try:
            with _packed(gpu, (*operands, *given), direct, packed) as addresses:
                plan(addresses, out.address)
        except OutOfDeviceMemory as error:
            raise cublas.NotSupportedError("no room for a workspace") from error

    def _form(self, direct: list[bool]) -> Float8Form:
        """Return the form for operands that are read where they are, or packed."""
        one, other = (side.ld if lies else side.inner
                      for side, lies in zip(self.sides, direct, strict=True))
        *_, ld = self.form.leading
        steps = *(side.step for side in self.sides), self.form.steps[2]
        return self.form._replace(leading=(one, other, ld), steps=steps)


@contextmanager
def _packed(gpu: Gpu, operands: Sequence[cublas.DeviceOperand], direct: Sequence[bool],
            packing: Sequence[tuple[int, Function]]) -> Iterator[Ints]:
    """Yield the addresses of operands: their own, or of packed copies for the time of the block."""
    if all(direct):
        yield tuple(x.address for x in operands)
        return
    sizes = [0 if lies else nbytes for lies, (nbytes, _) in zip(direct, packing, strict=True)]
    with cublas.areas(gpu, *sizes) as rooms:
        found = []
        for x, lies, (_, pack), room in zip(operands, direct, packing, rooms, strict=True):
            if not lies:
                pack(x, room)
            found.append((x if lies else room).address)
        yield tuple(found)


def _stack(form: MatmulForm, scales: Sequence[MatrixOperand]) -> tuple[int, Ints]:
    """Return the number of products and the steps between a, b and the results."""
    axes = [d for d, length in enumerate(form.batch) if length != 1]
    if not axes:
        return 1, (0, 0, 0)
    d = axes[0]
    steps = form.a.batch[d], form.b.batch[d], form.c.batch[d]
    if len(axes) > 1 or min(steps) < 0 or any(s.row or s.column or s.batch[d] for s in scales):
        raise cublas.NotSupportedError("a stack of more axes, or with scales that vary")
    return form.batch[d], steps


def prepare_float8_product(form: MatmulForm, *scales: MatrixOperand) -> Float8Product:
    """Prepare a product of 8-bit floats as a function of ``(a, b, out)`` or, with scales of both,
    of ``(a, b, out, a_scales, b_scales)``. Their steps are 0 along axes where they do not vary.
    """
    return Float8Product(form, scales)
