"""Bad input to every public operation: our error, which is a builtin too, with the value in its
message; nothing is touched.

Most rows come from ``bad_calls.py``; what is particular to one operation stands here.
"""

import io
import math

import numpy as np
import pytest

import mat
from mat import (
    AliasError,
    DirectionError,
    DTypeError,
    FormatError,
    IndexOutOfRange,
    LinAlgError,
    Mat,
    MatError,
    SettingError,
    ShapeError,
)
from mat.numpy import ndarray_methods

from ..package.test_surface import (
    FUSED,
    NUMPY_METHODS,
    NUMPY_WRITING,
    VERBS,
)
from ..support.bad_calls import SPECS, like, m, read_only, rows
from ..support.functions import COMPARISONS, MATHEMATICS, PUBLIC, PUBLIC_OF_TWO
from ..support.layouts import state


def refused(call, error, text, *operands):
    """Make the call: it must raise `error`, say `text`, and leave the operands as they were."""
    before = [state(x) for x in operands]
    with pytest.raises(error, match=text) as caught:
        call()
    assert isinstance(caught.value, MatError)
    assert isinstance(caught.value, error.__mro__[2])  # the builtin
    assert [state(x) for x in operands] == before


def mats_in(values):
    return [v for v in values if isinstance(v, Mat)]


def function_named(name):
    """The function of that row: BLAS's verbs and the windows are looked for in their namespaces."""
    return next(v for space in (mat.blas, mat.nn, mat)
                if (v := getattr(space, name, None)) is not None)


ROWS = list(rows())


@pytest.mark.parametrize("name", SPECS)
def test_the_good_calls_are_good(name):
    function_named(name)(**SPECS[name].make())


@pytest.mark.parametrize(("name", "change", "error", "text"), [r[1:] for r in ROWS],
                         ids=[r[0] for r in ROWS])
@pytest.mark.sample(3)
def test_functions(name, change, error, text):
    spec = SPECS[name]
    function, (positional, values) = function_named(name), split(name, spec.make())
    for _ in range(2):
        function(*positional, **values)  # so that there is a plan
    positional, values = split(name, {**spec.make(), **change})
    refused(lambda: function(*positional, **values), error, text,
            *mats_in([*positional, *values.values()]))


def split(name, values):
    """The arguments that are given by position, and those by name."""
    return [values.pop(n) for n in SPECS[name].positional(function_named(name))], values


VERB_ROWS = [r for r in ROWS if r[1] in (*VERBS, *FUSED)]


@pytest.mark.parametrize(("name", "change", "error", "text"), [r[1:] for r in VERB_ROWS],
                         ids=[r[0] for r in VERB_ROWS])
@pytest.mark.sample(3)
def test_methods_of_verbs(name, change, error, text):
    spec = SPECS[name]
    positional, values = split(name, {**spec.make(), **change})
    own = positional.pop(list(spec.make()).index(spec.written[-1]))
    if isinstance(own, Mat):
        refused(lambda: getattr(own, name + "_")(*positional, **values), error, text, own,
                *mats_in(positional))


# Methods in place


def one(dtype="float64"):
    return mat.array(np.arange(1, 7).reshape(2, 3), dtype)


@pytest.mark.parametrize("name", [*PUBLIC, *PUBLIC_OF_TWO])
def test_in_place(name):
    other = [one()] if name in PUBLIC_OF_TWO else []
    fixed = read_only(one())
    refused(lambda: getattr(fixed, name + "_")(*other), DirectionError, "read-only", fixed, *other)
    wide = m(1, 3).broadcast_to(2, 3)
    refused(lambda: getattr(wide, name + "_")(*other), AliasError, "overlap", wide, *other)
    if name == "sqrt" or name in MATHEMATICS or (other and name not in COMPARISONS):
        small = one("int32")
        refused(lambda: getattr(small, name + "_")(*other), DTypeError, "float64.*int32", small,
                *other)


@pytest.mark.parametrize("name", PUBLIC_OF_TWO)
@pytest.mark.parametrize("wrong", [None, "2", {}, object(), mat],
                         ids=lambda v: type(v).__name__)
def test_in_place_with_what_is_no_operand(name, wrong):
    x = one()
    refused(lambda: getattr(x, name + "_")(wrong), DTypeError, type(wrong).__name__, x)


@pytest.mark.parametrize("name", PUBLIC_OF_TWO)
def test_in_place_with_shapes_that_do_not_broadcast(name):
    x, y = one(), m(4)
    refused(lambda: getattr(x, name + "_")(y), ShapeError, r"\(4,\).*\(2, 3\)", x, y)
    refused(lambda: getattr(y[:3], name + "_")(x), ShapeError, r"\(2, 3\).*\(3,\)", x, y)


@pytest.mark.parametrize("name", ["__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__",
                                  "__add__", "__matmul__", "__lt__"])
def test_operators_leave_what_they_do_not_know_to_others(name):
    x = one()
    for other in ("text", {1: 2}, None):
        assert getattr(x, name)(other) is NotImplemented


@pytest.mark.parametrize("other", ["text", {1: 2}, None])
def test_no_element_equals_what_is_no_number(other):
    """As in NumPy."""
    x = one()
    assert np.array_equal((x == other).to_numpy(), x.to_numpy() == other)
    assert np.array_equal((x != other).to_numpy(), x.to_numpy() != other)


@pytest.mark.parametrize("name", ["scale_rows_", "scale_columns_"])
def test_scaling_in_place(name):
    a, good = one(), m(2 if name == "scale_rows_" else 3)
    call = getattr(a, name)
    refused(lambda: call(m(5)), ShapeError, r"\(5,\)", a)
    refused(lambda: call([1.0, 2.0]), DTypeError, "list", a)
    refused(lambda: call(like(good, "float32")), DTypeError, "float32", a)
    refused(lambda: call(a.view(good.shape)), AliasError, "overlaps", a)
    fixed = read_only(a)
    refused(lambda: getattr(fixed, name)(good), DirectionError, "read-only", fixed, good)


@pytest.mark.parametrize(("value", "dtype", "text"), [
    ("1", "float64", "'1'"), (None, "float64", "None"), ([1], "float64", "list"),
    (1j, "float64", "1j"), (1j, "int8", "1j"),
    (math.nan, "int32", "nan"), (math.inf, "int8", "inf"), (300, "int8", "300"),
    (-1, "uint8", "-1"),
    (mat.ones(1), "float64", "Mat")], ids=str)
def test_fill(value, dtype, text):
    for warm in (False, True):
        x = mat.zeros(3, dtype=dtype)
        if warm:
            x.fill_(1)
            x.fill_(1.0)
        refused(lambda: x.fill_(value), DTypeError, text, x)  # noqa: B023
    fixed = read_only(one())
    refused(lambda: fixed.fill_(1), DirectionError, "read-only", fixed)


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0), (1, 0.5), (math.nan, 0), (2.5, 2.5)])
def test_integers_are_scaled_by_integers(alpha, beta):
    a, c = one("int32"), one("int32")
    for call in (lambda: mat.geem(alpha, a, a, beta, c), lambda: mat.geerv(alpha, a, a[0], beta, c),
                 lambda: mat.add_sign(alpha, a, beta, c), lambda: c.sum_(a[None], 0, alpha, beta)):
        refused(call, DTypeError, r"0\.5|2\.5|nan", a, c)
        mat.geem(1, a, a, 0, one("int32"))  # so that there are plans
        mat.geem(1, a, a, 1, one("int32"))


def test_sum_into():
    x, y = one(), m(3)
    refused(lambda: y.sum_(x, 1), ShapeError, r"\(2,\).*\(3,\)", x, y)
    refused(lambda: y.sum_(x, 2), ShapeError, "axis 2", x, y)
    refused(lambda: y.sum_(x, "0x"), ShapeError, "'0x'", x, y)
    refused(lambda: y.sum_([[1.0, 2.0, 3.0]], 0), DTypeError, "list", y)
    refused(lambda: y.sum_(like(x, "float32"), 0), DTypeError, "float32", x, y)
    refused(lambda: y.sum_(x, 0, "2"), DTypeError, "'2'", x, y)
    refused(lambda: y.sum_(x, 0, 1, 1j), DTypeError, "1j", x, y)
    refused(lambda: x[0].sum_(x, 0), AliasError, "overlaps", x)


def test_replace():
    for wrong, error, text in (([1, 2], ShapeError, r"\(2,\)"),
                               ([[1, 2], [3]], ShapeError, "ragged"),
                               ("ab", DTypeError, "str"), (None, DTypeError, "NoneType"),
                               ([[1j] * 3] * 2, DTypeError, "complex")):
        x = one()
        refused(lambda: x.replace_(wrong), error, text, x)  # noqa: B023


# What one operation alone has


A, B = [[1.0, 2.0], [2.0, 4.0]], [[-1.0, 0.0], [0.0, 1.0]]
PARTICULAR = {
    "trsm side": (lambda x: mat.trsm(1, x, m(2, 2), side="up"), ShapeError, "'up'"),
    "trsm side type": (lambda x: mat.trsm(1, x, m(2, 2), side=1), ShapeError, "1"),
    "iamax of nothing": (lambda x: mat.iamax(x[:0]), ShapeError, "no elements"),
    "iamax backwards": (lambda x: mat.iamax(x, incx=-1), ShapeError, "-1"),
    "inv singular": (mat.inv, LinAlgError, "singular"),
    "solve singular": (lambda x: mat.solve(x, m(2)), LinAlgError, "singular"),
    "solve float16": (lambda x: mat.solve(x, m(2).astype("float16")), DTypeError, "float16"),
    "inv float16": (lambda x: mat.inv(x.astype("float16")), DTypeError, "float16"),
    "cholesky": (lambda x: mat.cholesky(x - 5), LinAlgError, "positive definite"),
    "slogdet stacked": (lambda x: mat.slogdet(x[None]), ShapeError, r"\(1, 2, 2\)"),
    "multi_dot none": (lambda x: mat.multi_dot(None), DTypeError, "None"),
    "multi_dot number": (lambda x: mat.multi_dot([x, 2]), ShapeError, r"\(\)"),
    "multi_dot one": (lambda x: mat.multi_dot([x]), ShapeError, "got 1"),
    "multi_dot shapes": (lambda x: mat.multi_dot([x, m(3, 2)]), ShapeError, r"\(2, 2\).*\(3, 2\)"),
    "gemm flat without m": (lambda x: mat.gemm(1, m(4), x, 0, m(2, 2), lda=2), ShapeError,
                            r"\(4,\)|k is missing"),
    "gemm ld too small": (lambda x: mat.gemm(1, x, x, 0, m(2, 2), lda=1), ShapeError, "lda = 1"),
    "gemm strided explicit": (lambda x: mat.gemm(1, m(4, 4)[::2, ::2], x, 0, m(2, 2), m=1),
                              ShapeError, "strides"),
    "gemm_batched axes": (lambda x: mat.gemm_batched(1, x[None], m(2, 2, 2), 0, m(1, 2, 2)),
                          ShapeError, r"\(2, 2, 2\)"),
    "gemm_batched rank": (lambda x: mat.gemm_batched(1, x, x, 0, m(2, 2)), ShapeError, r"\(2, 2\)"),
    "derive_convolve": (lambda x: mat.nn.derive_convolve(x, x.copy(), A, None, m(2, 2)), DTypeError,
                        "list"),
    "derive_convolve xd": (lambda x: mat.nn.derive_convolve(x, m(2, 3), x.copy(), None, m(2, 2)),
                           ShapeError, r"\(2, 3\)"),
    "conv": (lambda x: mat.nn.conv(x, x.copy()), ShapeError, r"\(2, 2\)"),
    "conv out": (lambda x: mat.nn.conv(x[None], x[:, None], out=m(1, 2, 2)), ShapeError,
                 r"\(1, 2, 2\)|channels"),
    "derive_conv": (lambda x: mat.nn.derive_conv(x[None], A, x[:, :, None], None, m(1, 2, 2)),
                    DTypeError, "list"),
    "pool": (lambda x: mat.nn.pool(x[None], 2, kind="least"), SettingError, "least"),
    "derive_pool": (lambda x: mat.nn.derive_pool(x[None], m(1, 2, 3), m(1, 2, 1), m(1, 2, 1), 2),
                    ShapeError, r"\(1, 2, 3\)"),
    "argmax axes": (lambda x: mat.argmax(x, (0, 1)), ShapeError, r"\(0, 1\)"),
    "sum dtype": (lambda x: mat.sum(x, dtype="text"), DTypeError, "text"),
    "sum complex dtype": (lambda x: x.astype("complex128").sum(dtype="float64"), DTypeError,
                          "complex128"),
    "max of nothing": (lambda x: mat.max(x[:0], axis=0), ShapeError, r"\(0, 2\)"),
    "argmin of nothing": (lambda x: x[:0].argmin(), ShapeError, r"\(0, 2\)"),
    "pow": (lambda x: mat.pow(x.astype("int32"), -2), DTypeError, "-2"),
    "add huge": (lambda x: x.astype("int8") + 1000, DTypeError, "1000"),
    "subtract bool": (lambda x: (x > 1) - (x > 2), DTypeError, "bool"),
    "floordiv huge": (lambda x: x.astype("int8") // 1000, DTypeError, "1000"),
    "and floats": (lambda x: x & x, DTypeError, "bitwise_and.*float64"),
    "and in place": (lambda x: x.__iand__(1), DTypeError, "bitwise_and.*float64"),
    "mod shapes": (lambda x: x.__imod__(m(3, 2, 2)), ShapeError, r"\(3, 2, 2\)"),
    "floordiv in place": (lambda x: x.astype("int8").__ifloordiv__(1.5), DTypeError,
                          "float64.*int8"),
    "shift complex": (lambda x: 1 << x.astype("complex64"), DTypeError, "left_shift"),
    "invert floats": (lambda x: ~x, DTypeError, "float64"),
    "mT": (lambda x: x[0].mT, ShapeError, r"\(2,\)"),
    "to_device unknown": (lambda x: x.to_device("abacus"), mat.FacetError, "abacus"),
    "to_device not in use": (lambda x: x.to_device("emulated:7"), mat.DeviceError,
                             "emulated:7.*use_device"),
    "to_device stream": (lambda x: x.to_device("cpu", stream=1), mat.DeviceError, "stream"),
    "namespace version": (lambda x: x.__array_namespace__(api_version="2020.1"), SettingError,
                          "2020.1"),
    "exp text": (lambda x: mat.exp("3"), DTypeError, "str"),
    "concat none": (lambda x: mat.concat(None), DTypeError, "None"),
    "concat empty": (lambda x: mat.concat([]), ShapeError, "at least one"),
    "concat number": (lambda x: mat.concat([x, 1]), ShapeError, r"\(\)"),
    "concat text": (lambda x: mat.concat([x, "text"]), DTypeError, "text"),
    "concat shapes": (lambda x: mat.concat([x, m(3, 3)]), ShapeError, r"\(3, 3\)"),
    "concat rank": (lambda x: mat.concat([x, m(2)]), ShapeError, r"\(2,\)"),
    "concat axis": (lambda x: mat.concat([x, x], axis=2), ShapeError, "axis 2"),
    "concat nan": (lambda x: mat.concat([x, x], axis=math.nan), ShapeError, "nan"),
    "concat out": (lambda x: mat.concat([x, x], out=m(2, 2)), ShapeError, r"\(4, 2\).*\(2, 2\)"),
    "concat out list": (lambda x: mat.concat([x, x], out=[1]), DTypeError, "list"),
    "concat overlap": (lambda x: mat.concat([x[:1], x[1:]], out=x), AliasError, "overlaps"),
    "concat complex": (lambda x: mat.concat([x.astype("complex128")], out=m(2, 2)), DTypeError,
                       "complex"),
    "stack none": (lambda x: mat.stack(3), DTypeError, "3"),
    "stack empty": (lambda x: mat.stack(()), ShapeError, "at least one"),
    "stack shapes": (lambda x: mat.stack([x, m(2)]), ShapeError, r"\(2,\)"),
    "stack axis": (lambda x: mat.stack([x, x], axis=3), ShapeError, "axis 3"),
    "transpose axes": (lambda x: mat.transpose(x, (0, 0)), ShapeError, r"\(0, 0\)"),
    "transpose axis": (lambda x: mat.transpose(x, (0, 2)), ShapeError, "axis 2"),
    "map_concat": (lambda x: mat.map_concat(lambda a, b: None, [m(5)], x), ShapeError, r"\(5,\)"),
    "map_concat list": (lambda x: mat.map_concat(lambda a, b: None, [[1]], x), DTypeError, "list"),
    "map_concat strided": (lambda x: mat.map_concat(lambda a, b: None, [m(1)], x.T), ShapeError,
                           "packed"),
    "map_displacements step": (lambda x: mat.map_displacements(print, x, 1, step=0), ShapeError,
                               "step 0"),
    "map_displacements start": (lambda x: mat.map_displacements(print, x, 1, start=-1), ShapeError,
                                "-1"),
    "map_displacements nan": (lambda x: mat.map_displacements(print, x, math.nan), ShapeError,
                              "nan"),
    "map_into sizes": (lambda x: mat.map_into(x, abs, m(5)), ShapeError, r"\(5,\)"),
    "map_into nothing": (lambda x: mat.map_into(x, abs), ShapeError, "at least one"),
    "map_into complex": (lambda x: mat.map_into(x, lambda a: a * 1j, x), DTypeError, "complex"),
    "map_into text": (lambda x: mat.map_into(x, str, x), DTypeError, "numbers"),
    "equals": (lambda x: x.equals(A), DTypeError, "list"),
    "astype": (lambda x: x.astype("float99"), DTypeError, "float99"),
    "astype of complex": (lambda x: x.astype("complex64").astype("float32"), DTypeError, "x.real"),
    "astype complex": (lambda x: x.astype("complex64").astype("float64"), DTypeError, "complex64"),
    "assign_": (lambda x: x.assign_(m(3)), ShapeError, r"\(3,\)"),
    "item": (lambda x: x.item(4), IndexOutOfRange, "4"),
    "item of many": (lambda x: x.item(), ShapeError, "4"),
    "zeros": (lambda x: mat.zeros(-1), ShapeError, "-1"),
    "ones": (lambda x: mat.ones(math.nan), ShapeError, "nan"),
    "full": (lambda x: mat.full((2, 2), "7"), DTypeError, "'7'"),
    "empty": (lambda x: mat.empty(2, 1.5), ShapeError, "1.5"),
    "eye": (lambda x: mat.eye("a"), ShapeError, "'a'"),
    "arange": (lambda x: mat.arange(0.0, 5, 0), ShapeError, "0"),
    "arange nan": (lambda x: mat.arange(math.nan, dtype=float), ShapeError, "nan"),
    "array": (lambda x: mat.array([[1.0, 2], [3]]), ShapeError, "ragged"),
    "array text": (lambda x: mat.array(["a"]), DTypeError, "numbers"),
    "from_numpy": (lambda x: mat.from_numpy([1, 2]), DTypeError, "list"),
    "from_dlpack": (lambda x: mat.from_dlpack([1, 2]), DTypeError, "list"),
    "from_dlpack device": (lambda x: mat.from_dlpack(x, device="nowhere"), mat.FacetError,
                           "nowhere"),
    "with_facets": (lambda x: mat.with_facets((A, "array")), DTypeError, "1.0"),
    "settings": (lambda x: mat.settings(colour="red").__enter__(), SettingError, "colour"),
    "configure": (lambda x: mat.configure(print_facets=2), SettingError, "2"),
    "barrier": (lambda x: mat.barrier(drop="nowhere"), mat.FacetError, "nowhere"),
    "fused": (lambda x: mat.fused(A), DTypeError, "list"),
    "show": (lambda x: mat.show(A), DTypeError, "list"),
    "save": (lambda x: mat.save(io.BytesIO(), None), DTypeError, "None"),
    "save to no file": (lambda x: mat.save(3, x), DTypeError, "3"),
    "load": (lambda x: mat.load(io.BytesIO(b"no file of ours")), FormatError, "no file"),
    "load mapped": (lambda x: mat.load(io.BytesIO(b"1"), mapped=True), DTypeError, "BytesIO"),
    "save_all": (lambda x: mat.save_all("x.pt", {"x": x}), FormatError, "x.pt"),
    "save_all of no Mats": (lambda x: mat.save_all("x.npz", {"x": A}), DTypeError, "'x'.*list"),
    "load_all": (lambda x: mat.load_all(io.BytesIO(b"no file of ours")), FormatError, "neither"),
    "load_": (lambda x: x.load_(io.BytesIO(b"no file of ours")), FormatError, "no file"),
    "write": (lambda x: x.write(None), DTypeError, "None"),
    "read_": (lambda x: x.read_(io.BytesIO(bytes(31))), FormatError, "31"),
}


@pytest.mark.host
@pytest.mark.parametrize("name", PARTICULAR)
def test_particular(name):
    call, error, text = PARTICULAR[name]
    x = mat.array(A)
    # which some of the calls do as well, before they come to what is wrong
    with x.facet("foreign", "input"):
        pass
    refused(lambda: call(x), error, text, x)


# Completeness


ELSEWHERE = {  # tested where the thing itself is
    "Mat": "test_creation.py", "FacetState": "a result", "Direction": "test_access.py",
    "facet": "test_access.py", "facets": "test_access.py", "drop": "test_cube.py",
    "keep": "test_cube.py", "changed": "test_foreign_memory.py",
    **dict.fromkeys(("asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "zeros_like",
                     "ones_like", "full_like", "empty_like", "identity", "linspace", "logspace",
                     "geomspace"), "test_creation_like_numpy.py"),
    "allclose": "test_namespace_calls.py", "batches": "test_batches.py",
    "close": "takes nothing", "show_config": "test_same_everywhere.py",
    "scratch": "test_scratch.py",
    "ones_view": "test_scratch.py",
    "kernel": "test_user_kernel.py",
    "accept_torn": "takes nothing", "copy": "takes nothing", "contiguous": "takes nothing",
    "to_numpy": "takes nothing", "flush": "takes nothing", "open_memmap": "test_memmap_faults.py",
    "tolist": "takes nothing", "label": "takes nothing", "over": "serves facets",
    "allowed": "serves facets",
    "view": "test_views.py", "reshape": "test_views.py", "displace": "test_views.py",
    "view_": "test_views.py",
    "reshape_": "test_views.py", "displace_": "test_views.py", "row_": "test_views.py",
    "window": "test_views.py",
    "adjust_": "test_views.py", "permute": "test_views.py", "swapaxes": "test_views.py",
    "squeeze": "test_views.py",
    "broadcast_to": "test_views.py", "expand_dims": "test_views.py", "diagonal": "test_views.py",
    "ravel_index": "test_indexing.py", "Rng": "test_random.py", "seed": "test_random.py",
    "uniform_": "test_random.py",
    "normal_": "test_random.py", "bernoulli_": "test_random.py", "orthogonal_": "test_random.py",
    "multivariate_normal": "test_distributions.py", "use_device": "test_devices.py",
    "use_cuda": "test_devices.py",
    "prefetch": "test_prefetch.py", "graph": "test_graph.py",
    "set_device": "test_devices.py", "cuda_available": "takes nothing",
    "memory_report": "takes nothing", "trim": "takes nothing",
    **dict.fromkeys(("flatten", "ravel", "reshape", "transpose"), "test_reshape.py"),
    **dict.fromkeys(("quantize", "dequantize", "scaled_matmul"), "test_quantization.py"),
    **dict.fromkeys(("dot", "vdot", "copy", "trace", "convolve"), "test_changed_names.py"),
    **dict.fromkeys(ndarray_methods.NAMES, "test_numpy_methods.py"),
    **dict.fromkeys((*NUMPY_METHODS, *NUMPY_WRITING), "test_ndarray_names.py"),
}


def test_every_public_name_has_a_row():
    errors = {n for n in mat.__all__ if isinstance(getattr(mat, n), type)
              and issubclass(getattr(mat, n), Exception)}
    public = {n for n in mat.__all__ if callable(getattr(mat, n))} - errors
    public |= {*mat.blas.__all__, *mat.nn.__all__}
    public |= {n for n in dir(Mat) if not n.startswith("_") and callable(getattr(Mat, n))}
    rows_for = {*SPECS, *(n.split()[0] for n in PARTICULAR), "replace_", "fill_", "sum_",
                "scale_rows_", "scale_columns_",
                *(n + "_"
                  for n in (*PUBLIC, *PUBLIC_OF_TWO, *VERBS, "convolve", "max_pool",
                            "derive_max_pool"))}
    assert sorted(public - rows_for - set(ELSEWHERE)) == []
