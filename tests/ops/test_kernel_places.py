"""Users' kernels that know places: indices, lengths, neighbours, elements by position; outputs that
are made, and reductions.
"""

import os
import shutil
import subprocess
import sys
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import AliasError, KernelError, ShapeError
from mat.cpu.elementwise import KernelPlaces
from mat.debug import trace
from mat.ops.primitives.kernel_places import grid_of
from mat.ops.primitives.kernel_source import index_names

from ..conftest import DEVICE
from ..support import selection
from ..support.in_tiles import in_tiles
from ..support.layouts import LAYOUTS, NUMPY_DTYPES, check_hidden, place
from ..support.needs import native
from .test_kernel_types import numbers

pytestmark = [native, pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")),
                                         reason="there is no C compiler")]
MODES = {"nearest": "edge", "wrap": "wrap", "reflect": "reflect", "7": "constant"}


def index(shape):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)


# Indices

PLACE = mat.kernel("y = i + 1000 * n; rows = i0 * n1 + i1 - x", x="input", y="output",
                   rows="output")


@pytest.mark.sample(4)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_indices_and_lengths(layout):
    for shape in ((3, 4), (5, 65, 2), (0, 3), (300, 7)):
        x = place(numbers(shape, "float32"), layout)
        y, rows = place(np.zeros(shape), layout), place(np.zeros(shape, "int32"), layout)
        PLACE(x, y, rows)
        assert_array_equal(y.to_numpy(), index(shape) + 1000 * np.prod(shape))
        i0, i1 = np.indices(shape)[:2]
        assert_array_equal(rows.to_numpy(), i0 * shape[1] + i1 - x.to_numpy().astype(int))
        check_hidden(y)
    assert "mat_where" not in str(PLACE.__signature__)


def test_names_of_operands_and_variables_come_first():
    k = mat.kernel("int i = 2; y = i * n", n="input", y="output")
    assert k(mat.arange(3.0)).tolist() == [0, 2, 4]


@pytest.mark.parametrize(("source", "names"), [
    ("y = i + n", "i n"), ("y = i0 * n1 + i1 - x", "i0 i1 n1"), ("y = x8 + in + ni", ""),
    ("double n2 = x * x; y = n2", ""), ("T a = 1, n2; n = 2; y = a * n3", "n3"),
    ("for (int i = 0; i < n; i++) y += i0", "i0 n"), ("int64_t *i1 = &k; y = *i1", ""),
    ("int n[3] = {1, i}; y = n[2]", "i"), ("y = T(i) * (float)n / sizeof n1", "i n n1"),
    ("if (x) return i; else n4 + n5; y = a * i2", "i i2 n4 n5"),
    ("float4 n = f(i, n1), i3", "i n1"),
    ("y = p.i + q->n; // i\n/* n1 */ f(\"i2\", 'i')", ""), ("n += 2; --i; y = i3 == n5", "i3 n5"),
    ("y = f(x, i, n) ? i0 : i1", "i i0 i1 n"), ("#define n2 3\ny = n2 + i", "i"),
    ("y = 1.e-3 * i + 0x1p-3 - n", "i n"), ("const T *const n3 = 0; y = x * i", "i"),
    ("for (int a = 0, i = 1; a < i; a++) y += n", "n"), ("unsigned long n6; scan(&n6);", "")])
def test_names_of_indices(source, names):
    assert " ".join(sorted(index_names(source))) == names


def test_a_variable_of_such_a_name():
    k = mat.kernel("T n2 = x * x; /* i7 */ y = n2 + i", x="input", y="output")
    assert k(mat.arange(3.0)).tolist() == [0, 2, 6]
    assert not mat.kernel("T n2 = x * x; y = n2", x="input", y="output").walks


def test_an_index_needs_its_axis():
    with pytest.raises(ShapeError, match="i2"):
        mat.kernel("y = i2", y="output")(mat.empty(3, 4))


# Elements by position


@pytest.mark.sample(4)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_elements_by_position(layout):
    flip = mat.kernel("y = x + t(size(t) - 1 - i)", x="input", t="input raw", y="output")
    swap = mat.kernel("y = m(length(m, 0) - 1 - i0, i1)", m="input raw(2)", y="output")
    for dtype in ("float16", "float64", "int8", "bool", "complex64"):
        a, b = numbers((5, 70), dtype), numbers((5, 70), dtype, 2)
        y = flip(place(a, layout), place(b, layout))
        assert y.dtype == dtype
        assert_array_equal(y.to_numpy(), (a + b.ravel()[::-1].reshape(b.shape)).astype(dtype))
        out = place(np.zeros((5, 70), dtype), layout)
        assert_array_equal(swap(place(b, layout), out).to_numpy(), b[::-1])
        check_hidden(out)


def test_a_gather_of_another_shape():
    take = mat.kernel("y = t(k)", t="input raw", k="input", y="output float32")
    table, k = np.linspace(0, 1, 50, dtype="float32"), np.arange(120).reshape(3, 40) % 50
    assert_array_equal(take(mat.array(table), mat.array(k)).to_numpy(), table[k])
    t = mat.ones(4, dtype="float32")
    with pytest.raises(AliasError):
        take(t, mat.arange(4), t)


# Neighbours


def padded(x, r, outside):
    mode = MODES[outside]
    return np.pad(x, r, mode=mode, **({"constant_values": 7} if mode == "constant" else {}))


def around(x, radii, outside):
    """NumPy's sum of 2 * left + 3 * above, of the last two axes."""
    r0, r1 = radii
    p = padded(x, [(0, 0)] * (x.ndim - 2) + [(r0, r0), (r1, r1)], outside)
    n0, n1 = x.shape[-2:]
    left = p[..., r0:r0 + n0, :n1]
    above = p[..., :n0, r1:r1 + n1]
    return 2 * left + 3 * above + x


@pytest.mark.sample(8)
@pytest.mark.parametrize("outside", MODES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_neighbours(layout, outside):
    k = mat.kernel("y = 2 * x(0, -2) + 3 * x(-1, 0) + x", x=f"input window(1, 2) {outside}",
                   y="output")
    dtypes = ["float32", "int16", "float16", "complex128"]
    for dtype in selection.part(dtypes, outside, 2):
        for shape in ((3, 4), (2, 9, 300), (40, 70)):
            x = numbers(shape, dtype)
            out = place(np.zeros(shape, dtype), layout)
            k(place(x, layout), out)
            assert_array_equal(out.to_numpy(), around(x, (1, 2), outside).astype(dtype))
            check_hidden(out)


@settings(max_examples=selection.examples(30), deadline=None)
@given(st.integers(0, 3), st.integers(1, 9), st.integers(1, 40), st.sampled_from(list(MODES)))
def test_sums_over_windows(r, rows, columns, outside):
    if outside == "reflect" and r >= min(rows, columns):
        return
    k = mat.kernel(f"y = 0; for (int a = -{r}; a <= {r}; a++) for (int b = -{r}; b <= {r}; b++) "
                   "y += (3 * a + b) * x(a, b)", x=f"input window({r}, {r}) {outside}", y="output")
    x = numbers((rows, columns), "int64")
    p = padded(x, r, outside)
    wanted = sum((3 * a + b) * p[r + a:r + a + rows, r + b:r + b + columns]
                 for a in range(-r, r + 1) for b in range(-r, r + 1))
    assert_array_equal(k(mat.array(x)).to_numpy(), np.broadcast_to(wanted, x.shape))


def test_windows_are_not_written_over():
    k = mat.kernel("y = x(1) + x", x="input window(1) wrap", y="output")
    x = mat.arange(4.0)
    assert k(x).tolist() == [1, 3, 5, 3]
    with pytest.raises(AliasError):
        k(x, x)


def test_places_in_tiles():
    k = mat.kernel("y = i + x(1, -1) * t(i1) + n", x="input window(1, 1) nearest", t="input raw",
                   z="input", y="output")
    x, t, z = numbers((20, 30), "float64"), numbers(30, "float64", 3), np.ones((20, 30))
    out = mat.empty(20, 30)
    args = mat.array(x), mat.array(t), mat.array(z), out
    wanted = k(*args).to_numpy().copy()
    p = np.pad(x, 1, mode="edge")
    assert_array_equal(wanted, index((20, 30)) + p[2:, :30] * t + 600)
    out.fill_(0)
    assert in_tiles(k, args, {}, 8000)[1] > 1
    assert_array_equal(out.to_numpy(), wanted)


TILED = [  # radii, the shapes of x and y, whether x is cut, and whether where it wraps
    ("1, 1", (40, 30), (40, 30), True, False), ("2", (60,), (60,), True, False),
    ("0, 3", (50, 20), (50, 20), True, True), ("1, 0", (40, 1), (40, 30), True, False),
    ("1", (30,), (40, 30), True, False), ("2, 2", (3, 30, 20), (3, 30, 20), True, True),
    ("5", (4,), (4,), False, False)]


@pytest.mark.parametrize("outside", [*MODES, "1"])
@pytest.mark.parametrize(("radii", "of", "shape", "cut", "wraps"), TILED)
def test_windows_in_tiles_have_halos(radii, of, shape, cut, wraps, outside):
    r = tuple(map(int, radii.split(",")))
    ends = ", ".join(map(str, r)), ", ".join(str(-n) for n in r)
    k = mat.kernel(f"y = 2 * x({ends[0]}) - x({ends[1]}) + x + i",
                   x=f"input window({radii}) {outside}", y="output")
    x, out = mat.array(np.random.default_rng(1).random(of)), mat.empty(shape)
    wanted, least = k(x, mat.empty(shape)).to_numpy().copy(), x.nbytes
    for tile in tiles(k, x, out, None):
        for part, *rest in tiles(k, *tile):  # a tile of a tile
            k.run((part, *rest))
            least = min(least, part.nbytes)
    assert_array_equal(out.to_numpy(), wanted)
    assert (least < 0.7 * x.nbytes) == (wraps if outside == "wrap" else cut)


@pytest.mark.host
def test_a_device_gets_each_element_about_once():
    k = mat.kernel("y = x(-1, 0) + x(1, 0)", x="input window(1, 0) nearest", y="output")
    x = mat.array(np.ones((1000, 200)))
    found = mat.debug.plan(k, x, pool_bytes=400_000)
    assert x.nbytes < found.moved - x.nbytes < 1.05 * x.nbytes
    with mat.use_device("emulated", pool_bytes=400_000), mat.debug.count_copies() as n:
        y = k(x)
    assert (y.to_numpy() == 2).all()
    assert n.bytes < 2.1 * x.nbytes


def tiles(k, *args):
    """Arguments of the tiles of a call, three along each axis."""
    grid = grid_of(k, args, {})
    return map(grid.arguments, grid.windows(tuple(-(-n // 3) for n in grid.shape)))


# Outputs that are made


@pytest.mark.sample(6)
@pytest.mark.parametrize("x", NUMPY_DTYPES)
def test_outputs_are_promoted_as_numpys(x):
    k = mat.kernel("y = a * x; z = y", a="number", x="input", w="input", y="output",
                   z="output float64")
    for w in ("int8", "float32", "complex64"):
        for a in (2, 0.5):
            if np.dtype(x).kind == np.dtype(w).kind == "c" or "complex" in (x, w) or "c" in x + w:
                continue
            made, z = k(a, mat.array(numbers((3, 4), x)), mat.ones(4, dtype=w))
            assert made.dtype == np.result_type(x, w, a)
            assert z.dtype == "float64"
            assert_array_equal(z.to_numpy(), np.asarray(a * numbers((3, 4), x), "float64"))


def test_some_outputs_are_given():
    k = mat.kernel("y = x; z = 2 * x", x="input", y="output", z="output")
    x, z = mat.arange(3.0), mat.empty(3)
    assert k(x, z=z).tolist() == [0, 1, 2]
    assert z.tolist() == [0, 2, 4]
    with pytest.raises(KernelError, match="no operand from which the shape"):
        mat.kernel("y = i", y="output")()


# Reductions


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint16", "bool"])
def test_reductions(name, dtype):
    k = mat.kernel("y = x * z", x="input", z="input", y="output", reduce=name)
    shapes = ((3, 4), (700,), (20, 30, 5), ())
    if (name, dtype) == ("prod", "float16"):  # which overflows or is 0, by the order of factors
        shapes = ((3, 4), ())
    for shape in shapes:
        a, b = numbers(shape, dtype), numbers(shape, dtype, 2)
        for axis in (None, *range(len(shape))):
            found = k(mat.array(a), mat.array(b), axis=axis)
            values, half = np.asarray(a * b), dtype == "float16" and name in ("sum", "prod")
            with np.errstate(all="ignore"):  # NumPy's products of float16 overflow on the way
                wanted = getattr(np, name)(values.astype("f") if half else values, axis=axis)
                wanted = wanted.astype(dtype) if half else wanted
            assert found.dtype == wanted.dtype
            assert_allclose(found.to_numpy(), wanted, rtol=1e-2 if dtype == "float16" else 1e-6)
    assert k(mat.array(a), mat.array(b), keepdims=True).shape == ()


REDUCED = {  # shapes, and axes: in one pass on the host, and in two
    True: [((1000,), None), ((300_001,), None), ((300, 700), 1), ((700, 300), 0), ((5, 6, 70), 2),
           ((40_000, 3), (0, 1)), ((1, 1), 0)],
    False: [((3, 100_000), 1), ((40, 2000), 0), ((20, 30, 50), 1), ((0, 4), 0)]}


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "all"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bool"])
@pytest.mark.parametrize("in_one", REDUCED)
def test_bits_of_a_reduction_are_those_of_two_steps(name, dtype, in_one):
    for (shape, axis), source in product(REDUCED[in_one], SOURCES):
        if name == "max" and 0 in shape:
            continue
        given = {n: mat.array((1 + numbers(shape, dtype, k) / 50).astype(dtype))
                 for k, n in enumerate("xzt")}
        operands = {"x": "input", "z": "input window(1) wrap", "t": "input raw", "y": "output"}
        k = mat.kernel(source, **operands, reduce=name)
        passes, one_pass = [], k.one_pass
        k.one_pass = lambda *form, kept=passes, make=one_pass: kept.append(make(*form)) or kept[-1]
        values = mat.kernel(source, **operands)(**given)
        for keepdims in (False, True):
            found = k(**given, axis=axis, keepdims=keepdims)
            wanted = getattr(mat, name)(values, axis=axis, keepdims=keepdims)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            assert found.to_numpy().tobytes() == wanted.to_numpy().tobytes()
        if in_one and (name, dtype) != ("prod", "bool") and DEVICE == "cpu":
            assert passes
            assert not any(one.left for one in passes)


SOURCES = ["y = x * z + t(0)", "y = i < n / 2 ? x - z(1) : t(n - 1 - i)"]


@pytest.mark.sample(3)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reductions_of_all_layouts(layout):
    source = "y = x * z + w(1) + i"
    operands = {"x": "input", "z": "input", "w": "input window(1) 0"}
    k = mat.kernel(source, **operands, y="output", reduce="sum")
    steps = mat.kernel(source, **operands, y="output")
    x, z, w = (np.random.default_rng(j).random(s) for j, s in enumerate(
        ((60, 50), (60, 1), (50,))))
    given = [place(a, layout) for a in (x, z, w)]
    for axis in (None, 0, 1):
        wanted = mat.sum(steps(*given), axis=axis)
        found = k(*given, axis=axis)
        assert found.to_numpy().tobytes() == wanted.to_numpy().tobytes()
        out = place(np.zeros(wanted.shape), layout)
        assert k(*given, axis=axis, out=out) is out
        assert_array_equal(out.to_numpy(), wanted.to_numpy())
        check_hidden(out)
    square = mat.array(x[:50])
    given, row = (square, square[:, :1], square[0]), square[0]
    wanted = k(*given, axis=0).to_numpy().copy()
    assert_array_equal(k(*given, axis=0, out=row).to_numpy(), wanted)


@pytest.mark.host
def test_values_that_are_reduced_are_nowhere():
    k = mat.kernel("y = x * x", x="input", y="output", reduce="sum")
    x = mat.ones(1 << 20)
    with trace() as t:
        assert k(x, axis=0).item() == 1 << 20
    assert [e.mat for e in t.operations] == ["kernel"]
    with mat.fused():
        assert k(2 * x).item() == 1 << 22


def test_what_reductions_are_made_of():
    with pytest.raises(KernelError, match="'sum', 'prod'"):
        mat.kernel("y = x", x="input", y="output", reduce="mean")
    with pytest.raises(KernelError, match="one 'output'"):
        mat.kernel("y = x", x="input", y="io", reduce="sum")
    k = mat.kernel("y = x == x0 ? i : n", x="input", x0="number", y="output int64", reduce="min")
    assert k(mat.array([3.0, 5, 7, 5]), 5).item() == 1


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_out_of_a_reduction_is_checked(name):
    k = mat.kernel("y = x * x", x="input", y="output", reduce=name)
    x, wide = mat.array([0.5, 1, 2]), mat.zeros(3)
    with pytest.raises(mat.DTypeError, match=f"{name} gives float64, which int32 cannot take"):
        k(x, out=mat.zeros((), dtype="int32"))
    for out, error in ((wide, ShapeError), (np.zeros(()), mat.DTypeError)):
        with pytest.raises(error) as found:
            k(x, out=out)
        with pytest.raises(error) as wanted:
            getattr(mat, name)(x, out=out)
        assert str(found.value) == str(wanted.value)
    assert wide.tolist() == [0, 0, 0]
    single = mat.zeros((), dtype="float32")
    assert k(x, out=single) is single
    assert single.item() == {"sum": 5.25, "prod": 1}[name]


def test_arguments_of_a_reduction():
    k = mat.kernel("y = a * x", x="input", a="number", y="output", reduce="sum")
    x = mat.ones(3)
    with pytest.raises(mat.DTypeError, match=r"kernel\(x, a\) takes 2 arguments .* got 3"):
        k(x, 2, mat.ones(3))
    with pytest.raises(mat.DTypeError, match="has no argument 'y'"):
        k(x, 2, y=mat.ones(3))
    for name in ("axis", "out", "keepdims"):
        with pytest.raises(KernelError, match=name):
            mat.kernel(f"y = {name}", **{name: "input"}, y="output", reduce="sum")


def test_declared_numbers_of_a_reduction():
    k = mat.kernel("y = a * x", a="number float64", x="input", y="output float64", reduce="sum")
    assert k(0.5, mat.array([1, 2, 4])).item() == 3.5
    k = mat.kernel("y = a + x", a="number int8", x="input", y="output int64", reduce="max")
    assert k(100, mat.array([1, 100])).item() == 200
    with pytest.raises(mat.RangeError, match="a is 300, out of the range of int8"):
        k(300, mat.array([1]))
    with pytest.raises(mat.DTypeError, match=r"a is 1\.5, but of int8"):
        k(1.5, mat.array([1]))


# Declarations, and places outside


@pytest.mark.parametrize(("text", "message"), [
    ("input windo(1) wrap", "dtype"), ("input window(1)", "says what lies outside"),
    ("input window(1) mirror", "says what lies outside"), ("io raw", "only an 'input'"),
    ("output window(1) 0", "only an 'input'"), ("input raw(9)", "at most 8"),
    ("input float32 raw", "may have a dtype"), ("input window(1) 1e400", "says what lies outside"),
    ("input window(1) 300 uint8", "outside of x is 300"),
    ("input window(1) 1.5 int8", "outside of x is 1.5")])
def test_bad_declarations(text, message):
    with pytest.raises((KernelError, mat.DTypeError), match=message):
        mat.kernel("y = 1", x=text, y="output")


@pytest.mark.parametrize(("text", "dtype", "number"), [
    ("010", "int32", 10), ("08", "float64", 8), ("1e2", "uint8", 100), ("-.5", "float32", -0.5),
    ("-9223372036854775808", "int64", -2**63), ("18446744073709551615", "uint64", 2**64 - 1)])
@pytest.mark.sample(3)
def test_numbers_outside_of_a_window(text, dtype, number):
    k = mat.kernel("y = x(-1)", x=f"input window(1) {text}", y="output")
    assert k(mat.array([3, 4], dtype=dtype)).tolist() == [number, 3]


def test_numbers_outside_are_of_the_dtype():
    k = mat.kernel("y = x(-1)", x="input window(1) 300", y="output int64")
    with pytest.raises(mat.RangeError, match="the number outside of x is 300"):
        k(mat.array([1], dtype="uint8"))


def test_indices_are_counted_with_the_operands():
    inputs = {f"x{k}": "input" for k in range(12)}
    assert mat.kernel("y = i0 + i1", **inputs, y="output")(*12 * [mat.ones(1, 1)]).tolist() == [[0]]
    with pytest.raises(KernelError, match="at most 16 operands, with its indices"):
        mat.kernel("y = i0 + i1 + i2", **inputs, y="output")
    with pytest.raises(KernelError, match="at most 16 operands, with its indices"):
        mat.kernel("y = 1", cuda="y = i0 + i1 + i2", **inputs, y="output")


class FakeEngine:
    """The functions of a device's engine, of which nothing is compiled."""

    KernelPlaces = KernelPlaces
    UserKernel = SimpleNamespace

    @staticmethod
    def prepare_user_kernel(kernel, mats, shape, last, places=None):
        return kernel, places


@pytest.mark.host
@pytest.mark.parametrize(("text", "cuda", "counters"), [
    ("y = i0", "y = i0 + i1", 2), ("y = i + i0 + i1", "y = i", 1), ("y = 1", "y = i1", 1),
    ("y = i", "y = 1", 0)])
def test_places_are_those_of_the_statements_of_the_device(text, cuda, counters):
    k = mat.kernel(text, cuda=cuda, y="output")
    y = mat.zeros(2, 3)
    found, places = k.prepare_cuda(FakeEngine, y, None)
    assert found.counters == counters == len(places.counters if places else ())
    assert found.facts == len(places.facts if places else ())
    with pytest.raises(ShapeError, match="the index i3"):
        mat.kernel("y = 1", cuda="y = i3", y="output").prepare_cuda(FakeEngine, y, None)
    k(y)


OUTSIDE = """
import mat
gather = mat.kernel("y = t(k)", t="input raw", k="input", y="output", name="gather")
shift = mat.kernel("y = x(d)", x="input window(1) wrap", d="input", y="output", name="shift")
grid = mat.kernel("y = m(i0, k)", m="input raw(2)", k="input", y="output", name="grid")
for k, args in ((gather, (mat.ones(5), mat.array([0, 5]))),
                (gather, (mat.ones(5), mat.array([-1]))),
                (shift, (mat.ones(5), mat.array([0, 1, 2, 1, 0]))),
                (grid, (mat.ones(3, 4), mat.array([[0, 4]])))):
    try:
        k(*args)
    except mat.KernelError as error:
        print(error)
print(gather(mat.ones(5), mat.array([0, 4])).tolist())
"""


@pytest.mark.host
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_places_outside_are_found(device, tmp_path):
    file = tmp_path / "outside.py"
    file.write_text(f"import mat\nmat.use_device({device!r}).__enter__()\n{OUTSIDE}")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False,
                          env={**os.environ, "MAT_DEBUG": "bounds"})
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert [line.split(": ", 1)[1] for line in lines[:4]] == [
        "gather reads t outside: the position 5, axis 0, of 5 elements",
        "gather reads t outside: the position -1, axis 0, of 5 elements",
        "shift reads x outside: the offset 2 along axis 0 of the window, which declares 1",
        "grid reads m outside: the position 4, axis 1, of 4 elements"]
    assert lines[0].startswith(f"{file}:13: ")
    assert lines[4] == "[1.0, 1.0]"
