"""The cutters of operations: the same results in tiles of any size as at once, over dtypes, layouts
and axes; and that each operation has one, or says why not.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import mat
from mat.layout.sliding_window import windows
from mat.ops.engine.operation import REGISTRY
from mat.ops.tiles.tile import TileTooLarge
from mat.support.native import lib

from ..support import random_cases, selection  # noqa: F401
from ..support.cases import BUILT_IN, CASES
from ..support.in_tiles import in_tiles, same_bits
from ..support.layouts import MIXES, check_hidden, place, tolerance

CUT = [name for name, op in BUILT_IN.items() if name in CASES and op.cutter is not None]
BUDGETS = (8, 40, 100, 400)
# whose results depend on the order in which elements are added or multiplied, which tiles change
REORDERED = {"reduce.sum", "reduce.prod", "reduce.mean", "reduce.sum_into", "reduce.moments",
             "blas_level1.dot", "blas_level1.vdot", "blas_level1.asum", "blas_level1.nrm2"}
# which have one tile, in which other operations are cut
OF_OTHERS = {"gathering.pick"}
REORDERED_MODULES = ("nn", "pooling", "blas_gemm", "blas_level23", "matmul",
                     "conv", "quantization", "linalg", "accumulate_at", "sorting")


def is_exact(name, dtype):
    """Whether tiles give the same bits: NumPy itself has two ways to multiply complex numbers."""
    reordered = name in REORDERED or name.split(".")[0] in REORDERED_MODULES
    return not reordered and dtype != "complex64" and (lib is not None or dtype != "complex128")


# Cases


def compare(name, found, wanted, dtype, text):
    if is_exact(name, dtype):
        assert same_bits(found, wanted), text
        return
    kind = np.asarray(found).dtype if isinstance(found, np.ndarray) else np.result_type(
        dtype, np.float32)
    assert_allclose(found, wanted, **tolerance(kind), err_msg=text)


def check_case(op, name, args, kwargs, mix, budget):
    """Compare a call in tiles with the same call at once; return how many tiles there were."""
    args = [np.asarray(a) if isinstance(a, np.generic) else a for a in args]
    whole, cut = ([place(a, mix[k % len(mix)]) if isinstance(a, np.ndarray) else a
                   for k, a in enumerate(args)] for _ in range(2))
    dtype = next(str(a.dtype) for a in args if isinstance(a, np.ndarray))
    shapes = [a.shape if isinstance(a, np.ndarray) else a for a in args]
    text = f"{name} {shapes} {kwargs} {dtype} {mix} in {budget} bytes"
    wanted = op(*whole, **kwargs)
    done = in_tiles(op, cut, kwargs, budget)
    if done is None:
        return 0
    found, count = done
    if op.result is None:
        assert type(found) is type(wanted), text
        compare(name, found, wanted, dtype, text)
    for k, (one, other) in enumerate(zip(cut, whole, strict=True)):
        if isinstance(one, mat.Mat):
            compare(name, one.to_numpy(), other.to_numpy(), dtype, f"operand {k} of {text}")
            check_hidden(one)
    return count


@pytest.mark.parametrize("name", CUT)
def test_cases(rng, name):
    case, most = CASES[name], 0
    for dtype in selection.part(case.dtypes, name, 3):
        samples = list(case.samples(rng, dtype))
        most = max(most, check_cases(name, selection.part(samples, name + dtype, 4)))
    if most < 2:  # of those none is too large for one tile
        most = check_cases(name, samples)
    assert most == 1 if name in OF_OTHERS else most > 1


def check_cases(name, samples):
    """Check cases with all budgets; return how many tiles there were at most."""
    mixes = list(MIXES.values())
    return max(check_case(BUILT_IN[name], name, args, kwargs, mixes[k % len(mixes)], budget)
               for k, (args, kwargs) in enumerate(samples) for budget in BUDGETS)


def test_every_operation_is_cut_or_says_why_not():
    silent = [name for name, op in BUILT_IN.items()
              if op.cutter is None and "does not say" in op.whole_because]
    assert silent == []


def test_those_that_are_computed_whole():
    """A longer list needs a reason as good as that of this one."""
    whole = {name for name, op in BUILT_IN.items() if op.cutter is None
             and not name.startswith("blocked")}
    # `extent` and the steps of blocked factors compute on the host only, and the others in tiles of
    # running totals
    assert whole == {"sorting.extent", "scan.cumsum_continued", "scan.cumprod_continued"}


# Any shapes, axes and strides


@st.composite
def views(draw, shape, dtype="float64"):
    """A view of that shape, with its axes in any order, steps and directions."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from((1, 1, 2, -1, -2))) for _ in shape]
    stored = [shape[k] * abs(steps[k]) for k in order]
    values = np.random.default_rng(draw(st.integers(0, 99))).integers(-9, 10, stored)
    x = mat.array((values / 4).astype(dtype))
    back = [order.index(k) for k in range(len(shape))]
    return x.permute(*back)[tuple(slice(None, None, s) for s in steps)] if shape else x


SHAPES = st.lists(st.integers(1, 7), min_size=1, max_size=4).map(tuple)
SIZES = st.integers(16, 2000)


@st.composite
def broadcast_operands(draw):
    shape = draw(SHAPES)
    other = tuple(draw(st.sampled_from((1, n))) for n in shape)[draw(st.integers(0, len(shape))):]
    return draw(views(shape)), draw(views(other)), draw(views(shape))


@given(broadcast_operands(), SIZES)
def test_broadcasting(operands, budget):
    x, y, out = operands
    done = in_tiles(mat.subtract.op, (x, y, out), {}, budget)
    assert done is None or same_bits(out.to_numpy(), x.to_numpy() - y.to_numpy())


@given(SHAPES.flatmap(views), SIZES)
def test_in_place_and_the_same_operand_twice(x, budget):
    wanted = x.to_numpy() * x.to_numpy()
    in_tiles(mat.multiply.op, (x, x, x), {}, budget)
    assert same_bits(x.to_numpy(), wanted)


@given(st.integers(2, 40), st.integers(-5, 5), SIZES)
def test_operands_that_overlap_the_result(n, shift, budget):
    x = mat.arange(50.0)
    wanted = x.to_numpy()
    of, to = (slice(5, 5 + n), slice(5 + shift, 5 + shift + n))
    wanted[to] = wanted[of].copy()
    in_tiles(REGISTRY["elementwise.assign"], (x[of], x[to]), {}, budget)
    assert same_bits(x.to_numpy(), wanted)


@st.composite
def reduced(draw):
    x = draw(SHAPES.flatmap(views))
    axes = draw(st.none() | st.lists(st.integers(0, x.ndim - 1), unique=True).map(tuple))
    return x, axes, draw(st.booleans())


@pytest.mark.parametrize("name", ["sum", "max", "mean", "prod"])
@given(case=reduced(), budget=SIZES)
def test_reductions(name, case, budget):
    x, axes, keepdims = case
    wanted = getattr(np, name)(x.to_numpy(), axis=axes, keepdims=keepdims)
    out = mat.empty(*np.shape(wanted))
    done = in_tiles(getattr(mat, name).op, (x, out, axes, keepdims), {}, budget)
    assert done is None or np.allclose(out.to_numpy(), wanted, rtol=1e-13)


@given(reduced(), st.integers(0, 3), st.booleans(), SIZES)
def test_variances(case, ddof, root, budget):
    x, axes, keepdims = case
    with np.errstate(all="ignore"):
        kind = np.std if root else np.var
        count = x.size // max(1, np.sum(x.to_numpy(), axis=axes).size)
        if ddof >= count:
            return
        wanted = kind(x.to_numpy(), axis=axes, keepdims=keepdims, ddof=ddof)
    out = mat.empty(*np.shape(wanted))
    done = in_tiles(REGISTRY["reduce.moments"], (x, out, axes, keepdims, ddof, root), {}, budget)
    assert done is None or np.allclose(out.to_numpy(), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@given(x=SHAPES.flatmap(views), data=st.data(), budget=SIZES)
def test_the_first_extreme_wins(name, x, data, budget):
    axis = data.draw(st.none() | st.integers(0, x.ndim - 1))
    if data.draw(st.booleans()):
        x[tuple(0 for _ in x.shape)] = np.nan
        x[tuple(-1 for _ in x.shape)] = np.nan
    wanted = getattr(np, name)(x.to_numpy(), axis=axis)
    out = mat.empty(*np.shape(wanted), dtype="int64")
    done = in_tiles(getattr(mat, name).op, (x, out, axis, False), {}, budget)
    assert done is None or same_bits(out.to_numpy(), np.asarray(wanted))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@given(shape=SHAPES, data=st.data(), budget=SIZES)
def test_scans_have_the_same_bits(name, dtype, shape, data, budget):
    x, out = data.draw(views(shape, dtype)), data.draw(views(shape, dtype))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    if name == "cumprod":
        x.add_(1.25)
    wanted = mat.empty(*shape, dtype=dtype)
    op = REGISTRY[f"scan.{name}"]
    op(x, wanted, axis)
    done = in_tiles(op, (x, out, axis), {}, budget)
    assert done is None or same_bits(out.to_numpy(), wanted.to_numpy())


@pytest.mark.parametrize("name", ["uniform", "normal", "bernoulli"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(shape=SHAPES, budget=SIZES, counter=st.integers(0, 2**64 - 1))
def test_random_numbers_have_the_same_bits(name, dtype, shape, budget, counter):
    op = REGISTRY[f"random.{name}"]
    given = (2.0, 1.5, 7.0, 8.0, float(counter % 2**32), float(counter >> 32))
    x, y = mat.empty(*shape, dtype=dtype), mat.empty(*shape, dtype=dtype)
    op(*given, x)
    done = in_tiles(op, (*given, y), {}, budget)
    assert done is None or same_bits(y.to_numpy(), x.to_numpy())


@given(SHAPES.flatmap(views), st.integers(1, 3), st.integers(-3, 3).filter(bool), SIZES)
def test_vectors(x, n, inc, budget):
    used = min(n, -(-x.size // abs(inc)))
    y, z = mat.arange(3.0), mat.arange(3.0)
    kwargs = {"n": used, "incx": inc}
    mat.axpy(2, x, y, **kwargs)
    if in_tiles(mat.axpy, (2, x, z), kwargs, budget) is not None:
        assert same_bits(z.to_numpy(), y.to_numpy())


@pytest.mark.parametrize("name", ["max_pool", "convolve"])
@given(data=st.data(), budget=st.integers(100, 2000))
def test_windows(name, data, budget):
    """Taps, steps, starts and anchors of any kind, along axes with fewer elements, too."""
    shape = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=2).map(tuple))
    taps = tuple(data.draw(st.integers(1, 4)) for _ in shape)
    kwargs = {"stride": tuple(data.draw(st.integers(1, 3)) for _ in shape),
              "start": tuple(data.draw(st.integers(0, n - 1)) for n in shape),
              "anchor": tuple(data.draw(st.integers(0, k - 1)) for k in taps)}
    result = tuple(1 + (n - s - 1) // d for n, s, d in zip(
        shape, kwargs["start"], kwargs["stride"], strict=True))
    x, y, z = data.draw(views(shape)), mat.zeros(*result), mat.zeros(*result)
    if name == "max_pool":
        op, operands = REGISTRY["nn.pooling"], (x,)
    else:
        op, operands = REGISTRY["nn.convolution"], (x, data.draw(views(taps)))
    axes = windows(shape, taps, **kwargs)
    op(*operands, y, axes=axes)
    if in_tiles(op, (*operands, z), {"axes": axes}, budget) is not None:
        assert same_bits(z.to_numpy(), y.to_numpy())


# Budgets


def test_the_smallest_tile_is_one_element():
    x, y, out = mat.zeros(3, 4), mat.zeros(4), mat.zeros(3, 4)
    assert in_tiles(mat.add.op, (x, y, out), {}, 24)[1] == 12
    with pytest.raises(TileTooLarge, match="24 bytes"):
        next(mat.add.op.cutter((x, y, out), {}, 23))


def test_rows_stay_whole_where_they_fit():
    x, out = mat.zeros(100, 10), mat.zeros(100, 10)
    tiles = list(mat.exp.op.cutter((x, out), {}, 1600))
    assert [t.reads[0].shape for t in tiles] == [(10, 10)] * 10
    assert all(t.nbytes == 1600 for t in tiles)


def test_columns_are_summed_by_parts_of_columns():
    """A column is spread over all of the storage, so that rows are cut."""
    x, out = mat.ones(64, 8), mat.zeros(8)
    assert in_tiles(mat.sum.op, (x, out, 0, False), {}, 2048)[1] > 1
    assert out.tolist() == [64.0] * 8


def test_a_kernel_of_a_user():
    pytest.importorskip("mat._native")
    kernel = mat.kernel("y += 2 * x", x="input", y="io")
    x, y = mat.arange(40.0).reshape(8, 5), mat.ones(8, 5)
    assert in_tiles(kernel, (x, y), {}, 100)[1] > 1
    assert same_bits(y.to_numpy(), 1 + 2 * x.to_numpy())
