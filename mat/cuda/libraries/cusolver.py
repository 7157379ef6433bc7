"""cuSOLVER through cffi: the library, loaded at the first factorisation, its handles and errors.

``MAT_CUSOLVER`` in the environment is the path of a library to load instead of NVIDIA's: the tests
have one of their own. The functions are those whose sizes have 64 bits, which versions 11 and 12
have alike, but for those that `lacks` is asked about, and some of the older ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from ...errors import OutOfDeviceMemory
from ...layout.shapes import Ints
from ...support.types import Arguments
from ..runtime.gpu import Gpu
from .cublas import Handle, Handles, Library, Routine, Statuses, calls_for, ffi, named_by
from .cublas_table import solver_functions, solver_symbol

# of cusolver_common.h, by their numbers
NAMES = ("SUCCESS", "NOT_INITIALIZED", "ALLOC_FAILED", "INVALID_VALUE", "ARCH_MISMATCH",
         "MAPPING_ERROR", "EXECUTION_FAILED", "INTERNAL_ERROR", "MATRIX_TYPE_NOT_SUPPORTED",
         "NOT_SUPPORTED")
library = Library("cuSOLVER", solver_functions)


def lacks(verb: str) -> str:
    """Return why a function that only later versions have cannot be used, or ""."""
    if library.missing() or hasattr(library(), f"cusolverDn{verb}"):
        return library.missing()
    return f"cuSOLVER is too old for {verb}; a newer nvidia-cusolver has it"


STATUSES = Statuses("cuSOLVER", NAMES.index("ALLOC_FAILED"), NAMES.index("NOT_SUPPORTED"),
                    named_by("CUSOLVER_STATUS_", NAMES))


class SolverHandles(Handles):
    """The handle of each device, on the stream where it computes."""

    statuses = STATUSES

    def _make(self, gpu: Gpu) -> Handle:
        with gpu.current():
            handle = self.create(gpu, library().cusolverDnCreate)
            STATUSES.check(library().cusolverDnSetStream(handle, int(self.stream_of(gpu))),
                           "the stream of cuSOLVER")
        return handle


HANDLES = SolverHandles()


@cache
def parameters(kind: str = "Params") -> int:
    """Return a default structure of parameters, never modified; "GesvdjInfo": of Jacobi's method,
    by which values are sorted.
    """
    made = ffi.new("uintptr_t *")
    create = getattr(library(), f"cusolverDnCreate{kind}")
    STATUSES.check(create(made), f"the {kind} of cuSOLVER")
    return int(made[0])


def solver_routine(name: str, reported: dict[str, object] | None, letter: str = "") -> Routine:
    """Return a function of cuSOLVER: ``Xgetrf``, or one for elements of a dtype character."""
    symbol = solver_symbol(name, letter) if letter else f"cusolverDn{name}"
    return Routine(symbol, getattr(library(), symbol), reported, HANDLES)


@contextmanager
def workspace(gpu: Gpu, elements: int, item: int) -> Iterator[int]:
    """Yield the address of a workspace of so many elements for the time of a call.

    Functions that count it in 32 bits say a negative number where these are too few: then it does
    not fit, and the operation is cut.
    """
    if elements < 0:
        raise OutOfDeviceMemory("a workspace of cuSOLVER with more elements than 32 bits count")
    with gpu.room(max(elements, 1) * item) as room:
        yield room


class StackRoutine:
    """A function of cuSOLVER of any type, called for one matrix of a stack after another in one
    workspace; one for stacks is called for as many matrices, of `size` elements, as it takes.
    """

    def __init__(self, name: str, many: int, reported: dict[str, object], size: int = 1) -> None:
        self.ask: Routine = solver_routine(f"{name}_bufferSize", None)
        self.call: Routine = solver_routine(name, reported)
        # the first matrix of each call, and the argument that says how many there are
        self.calls: list[tuple[int, Ints]] = [(k, ()) for k in range(many)]
        if name.endswith("Batched"):
            self.calls = [(k, (count,)) for k, count in calls_for(many, size)]

    def __call__(self, gpu: Gpu, infos: int, arguments: Callable[[int], Arguments],
                 asked: Arguments = ()) -> None:
        """Call it with the arguments from each first matrix on, with statuses from `infos` on.

        The size of the workspace is for the arguments `asked`, or for those of the first call,
        which has the most matrices.
        """
        need = ffi.new("size_t[2]")
        self.ask(gpu, parameters(), *(asked or arguments(0)), need, need + 1, *self.calls[0][1])
        host = ffi.new("char[]", max(need[1], 1))
        with workspace(gpu, need[0], 1) as room:
            for k, count in self.calls:
                self.call(gpu, parameters(), *arguments(k), room, need[0], host, need[1],
                          infos + 4 * k, *count)
