"""Every implementation of every operation against the reference in ``cases.py``, over dtypes and
layouts, as planned calls.

What is only overwritten is poisoned before; inputs and invisible elements must be as they were
after.
"""

from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.core.direction import OUTPUT
from mat.ops.engine.operation import Input, Op, Output

from ..conftest import DEVICE
from ..support import random_cases, selection  # noqa: F401
from ..support.cases import BUILT_IN, CASES
from ..support.layouts import BLAS_DTYPES, MIXES, check_hidden, place, tolerance
from ..support.threads import in_threads


@contextmanager
def only(op, implementation):
    """Let the operation have this one implementation."""
    before, op.implementations = op.implementations, [implementation]
    op.forget()
    try:
        yield
    finally:
        op.implementations = before
        op.forget()


def poisoned(op, args, k):
    """The written operand `k`, full of what must not be read where it is only overwritten."""
    direction = op.roles[op.positional[k]].direction
    condition = op.roles[op.positional[k]].output_if_zero
    if direction is OUTPUT or (condition and args[op.positional.index(condition)] == 0):
        values = args[k]
        return np.full_like(values, np.nan if values.dtype.kind in "fc" else 55)
    return args[k]


def compare(found, wanted, dtype, text):
    if isinstance(wanted, bool | int):
        assert type(found) is type(wanted)
        assert found == wanted, text
        return
    dtype = np.result_type(dtype, np.float32) if isinstance(found, float | complex
                                                            | tuple) else found.dtype
    assert_allclose(found, wanted, **tolerance(dtype), err_msg=text)


# the operands that are packed vectors wherever these are called
POSITIONS = {"scatter": (0,), "accumulate_at": (0, 1), "pick": (0, 1, 3)}


def run(op, implementation, args, kwargs, mix, wanted):
    """Call the operation with `args` laid out by `mix`, and compare everything; return whether the
    implementation took them.
    """
    # unless only a part is written
    doomed = () if kwargs.keys() & {"n", "incx", "incy"} else op.written
    given = [poisoned(op, args, k) if k in doomed else a for k, a in enumerate(args)]
    packed = POSITIONS.get(op.__name__, ())
    mats = [place(a, "packed" if k in packed else mix[k % len(mix)])
            if isinstance(a, np.ndarray) else a for k, a in enumerate(given)]
    operands = [mats[k] for k in op.operands if isinstance(mats[k], mat.Mat)]
    if implementation.plain and kwargs:
        return False
    if not implementation.pack and not all(implementation.fits_layout(m.layout) for m in operands):
        return False
    if implementation.when is not None and not implementation.when(*(mats[k] for k in op.operands)):
        return False
    text = f"{op.__name__}, {[a.shape if isinstance(a, np.ndarray) else a for a in args]}, {kwargs}"
    dtype = next(a.dtype for a in args if isinstance(a, np.ndarray))
    for _ in range(2 if not op.written else 1):  # the second time as planned
        result = op(*mats, **kwargs)
    if op.result is None:
        compare(result, wanted, dtype, text)
    else:
        assert result is mats[op.result]
        for k, values in (wanted if isinstance(wanted, dict) else {op.result: wanted}).items():
            compare(mats[k].to_numpy(), values, dtype, text)
    for k in op.operands:
        if isinstance(mats[k], mat.Mat):
            check_hidden(mats[k])
            if k not in op.written:
                assert_array_equal(mats[k].to_numpy(), given[k], f"{text}: input {k} changed")
    return True


# which are called with packed operands only: tests/ops/test_selection_on_devices.py; or by others
# only, in forms of their own: tests/numpy/test_fourier.py, test_decompositions_on_devices.py,
# tests/ops/test_blocked_factors.py
PACKED = {"gathering.within", "gathering.mask_starts", "gathering.mask_positions"}
PARTS = ("blocked.", "fourier.", *(f"linalg.{of}" for of in (
    "singular", "hermitian", "eigen", "triangular", "orthogonal", "determinants")),
         "scan.cumsum_continued", "scan.cumprod_continued")


def test_the_cases_are_those_of_the_registry():
    others = {name for name in BUILT_IN if name.startswith(PARTS)}
    assert set(CASES) == set(BUILT_IN) - PACKED - others


def runs_here(implementation):
    """Return whether it is one that the device under test computes by."""
    return (implementation.facet_name == "cuda") == DEVICE.startswith("cuda")


IMPLEMENTED = [(name, k, dtype) for name, op in BUILT_IN.items() if name in CASES for k,
          implementation in enumerate(op.implementations)
          for dtype in CASES[name].dtypes if runs_here(implementation)
          and (implementation.dtypes is None or np.dtype(dtype).char in implementation.dtypes)]
IDS = [f"{name}-{k}-{BUILT_IN[name].implementations[k].facet_name}-{dtype}" for name, k,
       dtype in IMPLEMENTED]


def drawn(labels, number):
    """Return the mixes of layouts for one sample: with ``--all`` all, else one in turn, and the
    packed one for an implementation that does not take it.
    """
    return labels if selection.ALL else [labels[number % len(labels)], "packed"]


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.sample(14)
@pytest.mark.parametrize(("name", "k", "dtype"), IMPLEMENTED, ids=IDS)
def test_implementation(name, k, dtype, rng):
    op = BUILT_IN[name]
    implementation = op.implementations[k]
    ran = dict.fromkeys(MIXES if dtype in BLAS_DTYPES
                        else ("packed", "displaced", "mixed", "mixed_matrices"), 0)
    first = selection.number_of(f"{name} {k} {dtype}")
    with only(op, implementation):
        for number, (args, kwargs) in enumerate(CASES[name].samples(rng, dtype), first):
            args = [np.asarray(a) if isinstance(a, np.generic) else a for a in args]
            with np.errstate(all="ignore"):
                wanted = CASES[name].reference(*args, **kwargs)
            for label in drawn(list(ran), number):
                ran[label] += run(op, implementation, args, kwargs, MIXES[label], wanted)
                if ran[label] and not selection.ALL:
                    break
    if implementation.when is not None and not any(ran.values()):
        pytest.skip("it is not for these dtypes together, or for operands of this size")
    assert any(ran.values())
    if selection.ALL:
        assert ran["packed"]
        assert ran["displaced"]
        if implementation.fits is None or implementation.pack:
            assert all(ran.values())


def declared():
    """An operation that is not listed, without implementations."""
    def check(x: Input, out: Output):
        """Anything."""

    kind = type("Unlisted", (Op,), {"listed": False})
    return kind(check, "", True, "made")


@pytest.mark.host
def test_threads_that_ask_first_get_the_same_list():
    kinds = list(BUILT_IN["elementwise.exp"].implementations)
    for _ in range(50):
        operation = declared()
        made, found = [], [None] * 4

        def first(operation=operation, made=made):
            made.append(len(kinds))
            return reversed(kinds)

        operation.first_implementations = first

        def ask(k, operation=operation, found=found):
            found[k] = operation.implementations

        in_threads(4, ask)
        assert made
        assert all(one is found[0] for one in found)
        assert [i.facet_name for i in found[0]] == [i.facet_name for i in kinds]
