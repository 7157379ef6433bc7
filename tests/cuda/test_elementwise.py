"""Element-wise kernels of the device, run by the C++ compiler, against NumPy and SciPy: lines,
dtypes, layouts, mixtures.
"""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.layout.merged_axes import magic as magic_of
from mat.ops.engine.loops import LOGIC
from mat.ops.engine.operation import REGISTRY
from mat.support.c_compiler import HEADERS

from ..support.functions import FUNCTIONS
from ..support.launching import launch_all
from ..support.layouts import LAYOUTS, check_hidden, numbers, place
from ..tools.mock_driver.harness import compiler

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda import engine
from mat.cuda.kernels import elementwise as device

on_cpu = pytest.mark.skipif(not compiler(), reason="no C++ compiler")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
EVERY = ("bool", *INTEGERS, *FLOATS, *COMPLEX)
REFERENCES = {name: f.reference for name, f in FUNCTIONS.items()} | {
              "replace_nan": lambda x, y: np.where(np.isnan(x), y, x),
              "reciprocal": lambda x: np.reciprocal(x) if x.dtype.kind in "iub" else 1 / x}
LINES = device.lines()
UNARY = [n for n, line in LINES.items() if line.macro.startswith("UNARY") or line.macro == "TEST"]
COMPARISONS = [n for n, line in LINES.items() if line.macro == "COMPARE"]
BINARY = [n for n, line in LINES.items()
          if line.macro in ("BINARY", "BINARY_DEVICE", "DIVISION", "POWER")]
SCALED = ("geem", "geerv", "add_sign")


def dtype_of(name):
    return mat.zeros(1, dtype=name).dtype


def reference(name, *values):
    with np.errstate(all="ignore"):
        return REFERENCES.get(name, getattr(np, name, None))(*values)


def operation(name):
    module = "scaled" if name in SCALED else "selecting" if name == "replace_nan" else "elementwise"
    return REGISTRY[f"{module}.{name}"]


def run(name, *args, seed=0):
    """Call the device's implementation of the operation: Mats and numbers as its operands; what is
    written has changed then.
    """
    op = operation(name)
    operands = [args[k] for k in op.operands]
    chosen = next(b for b in op.implementations if b.facet_name == "cuda" and b.when(*operands))
    found = chosen.function(engine, *operands)
    found.bind(op.operands, op.at_numbers)
    launch, code = (found.launch,
                    found.code) if isinstance(found, device.Encoded) else (found, lambda v: v)
    given = [args[k] for k in launch.operands]
    pairs = [code(args[k]) for k in launch.numbers] + [0 if isinstance(v, mat.Mat) else code(v)
                                                       for v in given]
    with mat.with_facets(*((v, "array", "io") for v in given if isinstance(v, mat.Mat))) as arrays:
        there = iter(arrays)
        launch_all(launch, [next(there) if isinstance(v, mat.Mat) else None for v in given], pairs,
                   seed)
    return launch.kernel


def wide(values):
    """In a dtype that NumPy's tests can compare."""
    return values.astype(np.float64) if values.dtype.char in "eE45" else values


def allowed(name, dtype):
    """What results may differ by: NumPy's functions are not exact, and the C library's, that stand
    here for CUDA's, neither.
    """
    exact = dtype.kind in "iub" or (dtype.kind != "c" and not LINES[name].heavy)
    eps = float(np.finfo(np.float16 if dtype.char == "e"
                         else np.float32).eps) if dtype.char in "ef" else 2.0**-52
    if dtype.char == "E":
        eps = 2.0**-7
    elif dtype.kind == "c":
        eps = float(np.finfo(dtype).eps)
    # of sums digits may cancel
    cancels = dtype.kind == "c" or name == "logaddexp"
    return {"rtol": 0 if exact else 16 * eps, "atol": 16 * eps if cancels and not exact else 0}


def compare(name, found, wanted, whence=""):
    """`whence`: the dtype that was computed in, if it is not the result's."""
    assert found.dtype == wanted.dtype
    modulus = name == "abs" and np.dtype(whence or "f").kind == "c"
    tolerance = allowed("exp" if modulus else name, wanted.dtype)
    assert_allclose(wide(found), wide(wanted), **tolerance, err_msg=name)


def test_every_line_has_its_kernels():
    text = (HEADERS / "shared" / "elementwise.def").read_text()
    assert set(LINES) == set(re.findall(r"^[A-Z_]+\((\w+),", text, re.MULTILINE))
    for name in LINES:
        assert operation(name).implementation_on("cuda")
        for kind in device.TYPES:
            found = [f for f in device.families(kind) if name in f.lines]
            twice = name in COMPARISONS and kind in device._FLOATING
            assert len(found) == LINES[name].computes(kind) * (1 + twice)
            for family in found:
                text = device.program(family, kind, "types").text
                assert f"({name})" in text or f"MAT_FUSED({name}, " in text
                assert family.name == "compare_in" or family.kernel(kind, "types") in text
    assert {REGISTRY[n].__name__ for n in REGISTRY
            if n.startswith("elementwise.")} - set(LINES) == {
        "fill", "assign"}


def test_kernels_compute_what_numpy_does():
    for name in (*UNARY, *BINARY, *COMPARISONS):
        rule = {"abs": np.absolute, "logistic": np.cbrt, "erf": np.cbrt,
                "pow": np.power, "replace_nan": np.heaviside}.get(name) or getattr(np, name)
        for dtype in EVERY:
            char = dtype_of(dtype)
            try:
                loop = rule.resolve_dtypes((*[char] * rule.nin, None))
            except TypeError:
                continue
            on_host = loop[0].kind == "c" and (LINES[name].macro.endswith("_DEVICE")
                                               or "c" not in LINES[name].kinds)
            on_host = on_host or rule in LOGIC  # of booleans
            assert LINES[name].computes(device.type_of(loop[0])) or on_host, (name, dtype)


DOMAINS = {**dict.fromkeys(("sqrt", "log", "log1p", "log2", "log10"), (0.1, 9)),
           **dict.fromkeys(("arcsin", "arccos", "arctanh"), (-0.95, 0.95)), "arccosh": (1.1, 9),
           "reciprocal": (1, 9)}


def values_for(rng, name, n, dtype):
    """Elements that the function `name` is defined for."""
    dtype = dtype_of(dtype)
    low, high = DOMAINS.get(name, (-1.5, 1.5))
    if name == "pow":
        low, high = (0, 4) if dtype.kind in "iu" else (0.1, 3)
    if dtype.kind in "iub" and name not in ("sqrt", "log", "log1p", "reciprocal", "pow"):
        return rng.integers(*((-100, 100) if dtype.kind == "i" else (0, 200)), n).astype(dtype)
    found = rng.uniform(low, high, n)
    return (found + 1j * rng.uniform(-1.5, 1.5, n) if dtype.kind == "c" else found).astype(dtype)


def place_for(wanted):
    """A place for such results, full of what must not be read."""
    poison = np.nan if wanted.dtype.kind not in "iub" else 1
    return mat.array(np.full(wanted.shape, poison).astype(wanted.dtype))


def defined(name, dtype):
    if name == "nextafter" and dtype_of(dtype).itemsize == 2:
        return False  # the number next to one of 16 bits is not that of float32
    return LINES[name].computes(device.type_of(dtype_of(dtype)))


# Every function and dtype


@on_cpu
@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.sample(3)
def test_functions_of_adjacent_elements(rng, dtype):
    for name in UNARY:
        for n in (1, 5000) if defined(name, dtype) else ():
            x = values_for(rng, name, n, dtype)
            wanted = reference(name, x)
            out = place_for(wanted)
            converts = x.dtype == bool and wanted.dtype != bool  # conjugate gives int8
            slow = (x.dtype.kind == "c" and LINES[name].heavy) or converts
            assert run(name, mat.array(x), out).endswith("_types" if slow else "_flat")
            compare(name, out.to_numpy(), wanted, x.dtype)


@on_cpu
@pytest.mark.parametrize("dtype", EVERY)
def test_two_operands_of_adjacent_elements(rng, dtype):
    for name in (*BINARY, *COMPARISONS):
        if not defined(name, dtype):
            continue
        x, y = values_for(rng, name, 2100, dtype), values_for(rng, name, 2100, dtype)
        number = {"c": 0.5 - 2j, "i": -3, "u": 3, "b": True}.get(x.dtype.kind, 2.5)
        if name == "pow":
            number = 3 if x.dtype.kind in "iu" else 0.75
        for a, b in ((x, y), (x, number), (number, x),
                     (x, y[7:8])) if dtype != "bfloat16" else ((x, y), (x, y[7:8])):
            wanted = reference(name, a, b)
            out = place_for(wanted)
            kernel = run(name, *(mat.array(v) if isinstance(v, np.ndarray) else v for v in (a, b)),
                         out)
            assert kernel.endswith("_types" if x.dtype.kind == "c" and name == "pow" else "_flat")
            compare(name, out.to_numpy(), wanted)


@on_cpu
@pytest.mark.parametrize("dtype", [d for d in EVERY if d != "bool"])
@pytest.mark.sample(4)
def test_fused(rng, dtype):
    error = {"bfloat16": 0.03, "float16": 4e-3}.get(dtype, 1e-5)
    rough = {"rtol": error, "atol": error}
    for n, layout in ((1, "packed"), (1500, "packed"), (300, "strided")):
        a, b, c = (numbers(rng, n, dtype_of(dtype)) for _ in range(3))
        for alpha, beta in ((2, 0), (1, 1),
                            (-3, 2)) if a.dtype.kind != "u" else ((2, 0), (1, 1), (3, 2)):
            old = c if beta or a.dtype.kind in "iu" else np.full_like(c, np.nan)
            sign = np.sign(a) if dtype != "bfloat16" else np.sign(a.astype("f"))
            for name, term, inputs in (("geem", wide(a) * wide(b), (a, b)),
                                       ("add_sign", wide(sign), (a,))):
                out = place(old, layout)
                run(name, alpha, *(place(v, layout) for v in inputs), beta, out)
                wanted = alpha * term + (beta * wide(c) if beta else 0)
                assert_allclose(wide(out.to_numpy()), wanted.astype(wide(c).dtype),
                                **rough if a.dtype.kind not in "iu" else {})
                check_hidden(out)


# Layouts


BROADCASTS = (((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3, 4), (3, 1)), ((2, 1, 4), (3, 4)),
              ((), (5,)), ((1, 1), (2, 3)),
              ((7, 640), (7, 1)), ((7, 640), (640,)), ((64, 1), (1, 7)), ((4, 1, 1, 5), (3, 1, 5)),
              ((0, 3), (1, 3)), ((), ()))


@on_cpu
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int16", "complex128"])
@pytest.mark.sample(4)
def test_broadcasting_over_layouts(rng, layout, dtype):
    for one, other in BROADCASTS:
        a, b = numbers(rng, one, dtype), numbers(rng, other, dtype)
        for out_layout in ("packed", layout):
            wanted = reference("subtract", a, b)
            out = place(np.zeros_like(wanted), out_layout)
            run("subtract", place(a, layout), place(b, layout), out, seed=5)
            assert_array_equal(out.to_numpy(), wanted)
            check_hidden(out)
            flags = place(np.zeros(out.shape, bool), out_layout)
            run("less", place(a, layout), place(b, layout), flags)
            assert_array_equal(flags.to_numpy(), a < b)
            check_hidden(flags)


@on_cpu
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "bool", "complex64"])
def test_addresses_that_are_not_aligned(rng, dtype):
    for n in (0, 1, 2, 3, 15, 17, 2047, 2049, 4099, 8193):
        for shift in (0, 1, 3):
            values = numbers(rng, n + 3, dtype)
            x, out = mat.array(values)[shift:shift + n], place(np.zeros(n, dtype),
                                                               "displaced" if shift else "packed")
            kernel = run("add", x, x, out)
            assert kernel.endswith("_flat")
            assert_array_equal(out.to_numpy(),
                               reference("add", values[shift:shift + n], values[shift:shift + n]))
            check_hidden(out)


@on_cpu
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_rows_are_walked_in_groups(rng, dtype):
    for columns in (256, 104, 1000):
        a, v = numbers(rng, (5, columns), dtype), numbers(rng, columns, dtype)
        for x, y, wanted in ((a, v, a + v), (a, a[:, :1], a + a[:, :1]),
                             (a[:, 8:-8], a[:, :-16], a[:, 8:-8] + a[:, :-16])):
            one, other = (mat.array(a)[:, 8:-8],
                          mat.array(a)[:, :-16]) if x is not a else (mat.array(x), mat.array(y))
            out = mat.zeros(wanted.shape, dtype=dtype)
            assert run("add", one, other, out).endswith("_rows")
            assert_array_equal(out.to_numpy(), wanted)
        shifted = place(a, "displaced")  # no address of 16 bytes
        out = mat.zeros(a.shape, dtype=dtype)
        assert run("add", shifted, mat.array(v), out).endswith("_rows")
        assert_array_equal(out.to_numpy(), a + v)


@on_cpu
def test_eight_axes(rng):
    a = rng.standard_normal((2, 3, 2, 3, 2, 3, 2, 3))
    out = mat.zeros(a.shape[::-1])
    assert run("square", place(a, "strided").T, out).endswith("_steps")
    assert_array_equal(out.to_numpy(), (a * a).T)
    deep = mat.zeros(*[2] * 9)
    when = operation("square").implementation_on("cuda").when
    assert when(deep, mat.zeros(*[2] * 9))  # merged into one axis
    assert not when(deep.T, deep)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 255, 256, 641, 65537, 2**30 - 1, 2**30, 2**31 + 11,
                               3**20, 2**40 + 1, 2**62 - 1])
def test_division_by_magic(n, rng):
    for bits in (32, 64):
        magic, shift = magic_of(n, bits)
        most = 1 << bits - 1  # which the sum below must not double beyond a word
        near = (n * m + d for m in (0, 1, 3, 999) for d in (-1, 0, 1))
        for x in (most - 1, most - n, *near, *map(int, rng.integers(0, most, 50))):
            if 0 <= x < most and n < most:
                assert ((x * (magic % (1 << bits)) >> bits) + x) % (1 << bits) >> shift == x // n


def test_what_is_large_is_counted_in_63_bits():
    shape, out = (1 << 20, 1 << 11), (1 << 11, 1)
    def way(*args):
        return device.strided_loop(*args).way

    assert way(shape, [out, out], 4, ("flat", "steps", "types")) == "flat"
    assert way(shape, [(0, 1), out], 4, ("flat", "rows", "steps", "types")) == "types"
    assert way((8, 9), [(1 << 40, 1), (9, 1)], 4, ("flat", "steps", "types")) == "types"
    assert way((8, 9), [(20, 2), (9, 1)], 4, ("flat", "steps", "types")) == "steps"


# Mixed dtypes


MIXED = ("bool", "int8", "uint16", "int64", "float16", "bfloat16", "float32", "float64",
         "complex64", "float8_e4m3fn", "float8_e5m2")


@on_cpu
@pytest.mark.parametrize("one", MIXED)
@pytest.mark.sample(4)
def test_operands_are_converted_as_numpy_promotes(rng, one):
    for other in MIXED:
        try:
            kind = np.add.resolve_dtypes((dtype_of(one), dtype_of(other), None))[0]
        except TypeError:
            continue
        if kind.itemsize == 1 and kind.kind not in "biu":
            continue  # of floats of 8 bits there are no kernels
        x, y = numbers(rng, (6, 50), dtype_of(one)), numbers(rng, 50, dtype_of(other))
        wanted = reference("add", x.astype(kind), y.astype(kind))
        out = place_for(wanted)
        kernel = run("add", mat.array(x), mat.array(y), out)
        assert kernel.endswith("_types") or one == other
        compare("add", out.to_numpy(), wanted)
        flags = mat.zeros(6, 50, dtype="bool")
        run("less_equal", mat.array(x), mat.array(y), flags)
        assert_array_equal(flags.to_numpy(),
                           reference("less_equal", x.astype(kind), y.astype(kind)))


@on_cpu
@pytest.mark.parametrize(("dtype", "out"), [
    ("float64", "float32"), ("float64", "float16"), ("float64", "bfloat16"),
    ("float32", "float8_e4m3fn"), ("float64", "float8_e5m2"),
    ("float32", "complex64"), ("int64", "int8"),
    ("uint32", "int16"), ("int32", "float64"), ("bool", "float32"), ("complex128", "complex64"),
    ("float32", "float64")])
@pytest.mark.sample(3)
def test_results_are_converted(rng, dtype, out):
    x = numbers(rng, 700, dtype)
    place_ = place(np.zeros(700, dtype_of(out)), "strided")
    run("add", mat.array(x), mat.array(x), place_)
    assert_array_equal(wide(place_.to_numpy()), wide(reference("add", x, x).astype(dtype_of(out))))
    check_hidden(place_)


@on_cpu
def test_doubles_become_the_nearest_halves(rng):
    x = np.concatenate([rng.standard_normal(3000) * 2.0**rng.integers(-26, 17, 3000),
                        [65519.999, 65520, 2.0**-25, 1e300, -0.0,
                        np.nan, np.inf, 1 + 2.0**-11 + 2.0**-40]])
    out = mat.zeros(len(x), dtype="float16")
    run("maximum", mat.array(x), mat.array(x), out)
    with np.errstate(all="ignore"):
        assert_array_equal(out.to_numpy(), x.astype("float16"))


@on_cpu
@pytest.mark.parametrize("dtype", [d for d in EVERY if d not in ("bool", "bfloat16")])
@pytest.mark.sample(3)
def test_comparisons_in_place(rng, dtype):
    x, y = numbers(rng, 900, dtype), numbers(rng, 900, dtype)
    for name in ("less", "not_equal"):
        for layout in ("packed", "strided"):
            out = place(x, layout)
            run(name, out, mat.array(y), out)
            assert_array_equal(out.to_numpy(), reference(name, x, y).astype(dtype))
            check_hidden(out)


@on_cpu
@pytest.mark.parametrize("dtype", EVERY)
def test_fill(dtype):
    value = True if dtype == "bool" else 2**62 + 1 if dtype[-2:] == "64" and "int" in dtype else 3
    value = 1.5 - 2j if dtype.startswith("c") else value
    for shape in ((3, 4), (57, 81), (), (0, 2), (9000,)):
        for layout in LAYOUTS:
            x = place(np.zeros(shape, dtype_of(dtype)), layout)
            run("fill", value, x)
            assert_array_equal(wide(x.to_numpy()), wide(np.full(shape, value, x.dtype)))
            check_hidden(x)
            run("assign", 1, x)
            assert_array_equal(wide(x.to_numpy()), wide(np.ones(shape, x.dtype)))


@on_cpu
def test_rows_and_vectors(rng):
    a, b, v = rng.standard_normal((40, 72)), rng.standard_normal((40, 72)), rng.standard_normal(72)
    for layout in LAYOUTS:
        out = place(np.full_like(b, np.nan), layout)
        run("geerv", 2, place(a, layout), place(v, layout), 0, out)
        assert_allclose(out.to_numpy(), 2 * a * v, rtol=1e-15)
        out = place(b, layout)
        run("geerv", 2, place(a, layout), place(v[None], layout), -1, out)
        assert_allclose(out.to_numpy(), 2 * a * v - b, rtol=1e-12, atol=1e-12)
        check_hidden(out)


def test_what_meets_is_left_to_the_host():
    x, whole = mat.ones(6), mat.ones(6, dtype="int8")
    when = operation("add").implementation_on("cuda").when
    assert when(x[:3], x[3:], x[:3])
    assert not when(x[:5], 1.0, x[1:])
    assert when(x, 2**53, x)
    assert not when(x, 2**53 + 1, x)
    assert when(whole, 127, whole)
    less = operation("less").implementation_on("cuda").when
    assert not less(whole, 300, mat.zeros(6, dtype="bool"))
    assert not less(whole, mat.ones(6, dtype="uint64"), mat.zeros(6, dtype="bool"))
