"""Calls that create Mats beside the same calls of NumPy: values, dtypes, shapes, orders, errors."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import MatError

A = np.arange(6.0).reshape(2, 3)
F = np.asfortranarray(A)
PERMUTED = np.arange(24, dtype="int32").reshape(2, 3, 4).transpose(2, 0, 1)
NAMES = {"A": A, "F": F, "P": PERMUTED, "G": A[:, ::2], "R": A[::-1, ::-1], "f4": np.float32,
         "B": np.broadcast_to(np.arange(3.0), (2, 3)), "C": A + 1j, "I": np.arange(4, dtype="int8"),
         "Z": np.empty((0, 3)), "S": np.float32(1.5), "T": np.array(2.5, "float32"),
         "array": np.array, "asarray": np.asarray}
MATS = "AFPGRBCIZT"  # what becomes a Mat in our calls
VALUES = """
    array(3) array(2.5) array(True) array(1j) array([]) array([[], []]) array([1, 2])
    array([1, 2.5]) array([1.5]) array((1, 2)) array([True, False]) array([True, 2]) array([1, 1j])
    array([[1, 2], [3, 4]]) array(range(3)) array([range(2), range(2, 4)]) array([[1.5], [2]])
    array([2**63]) array([2**63, 1]) array([2**62, 2**53 + 1]) array([2**53 + 1, 1.0])
    array([-2**63]) array([S, 2]) array([S, S]) array([S, 2.5]) array([S, np.float64(1)])
    array([np.int8(1), 2]) array([np.int8(1), np.int16(3)]) array([np.uint8(1), np.int8(1)])
    array(S) array(T) array([T, T]) array([I, I]) array([I, [1, 2, 3, 4]]) array([A, F])
    array([A[0], [1, 2, 3]]) array(np.bool_(True)) array([np.True_, 2.5]) array([1, 2], float)
    array([1, 2], "float32") array([1.7, -2.2], int) array([1, 0], bool) array([1, 2], dtype="int8")
    array([1, 2], dtype=complex) array(["1", "2.5"], dtype=float) array("1.5", float)
    array([None, 1], float) array(["1", "2"], int) array(A, "float32") array(A, int) array(I, float)
    array(bytearray(b"ab")) array(memoryview(b"ab")) array([], dtype=int) array(Z)
    array([1, 2], ndmin=3) array([[1, 2]], ndmin=1) array(3, ndmin=2) array(A, ndmin=4)
    array([1, 2], copy=None) array(A, copy=None) array(A, copy=False) array([1, 2], subok=True)
    array([1.5], like=A) array(A, subok=True) array(object=[1, 2]) array([1, 2], None) asarray(3)
    asarray([1, 2]) asarray([1, 2.5], "float32") asarray(A) asarray(A, "float32") asarray(I)
    asarray(A, float) asarray(A, copy=True) asarray(A, copy=False) asarray([1], device="cpu")
    asarray(a=[1, 2]) asarray([1, 2], dtype=float, order="C") asarray(T) asarray(S)
    asarray(range(3)) asanyarray([1, 2]) asanyarray(A, int) asanyarray(A)
    asanyarray([1, 2], dtype="f4") ascontiguousarray(3) ascontiguousarray([1, 2], float)
    ascontiguousarray(A) asfortranarray([1, 2]) asfortranarray(3.5) asfortranarray(A, "float32")
    zeros(3) zeros((2, 3)) zeros([2, 3]) zeros((2, 3), int) zeros((2, 3), "float32") zeros(3, f4)
    zeros(()) zeros(3, "int8", "C") zeros(shape=(2, 3)) zeros(shape=2, dtype=int)
    zeros((2, 3), dtype=complex) zeros(3, None) zeros(3, device="cpu") zeros(3, like=A) zeros(0)
    zeros((0, 3)) zeros(np.int64(3)) zeros((np.int8(2), 3)) zeros(3, bool) zeros(np.array([2, 3]))
    zeros(3, np.dtype("int16")) ones(3) ones((2, 3)) ones((2, 3), int) ones(3, bool)
    ones(shape=2, dtype="f4") ones((2, 3), f4, "C") ones((), int) ones(3, dtype=complex)
    ones([2], device="cpu") full(3, 2) full((2, 3), 2.5) full(2, True) full(2, 1j) full(2, S)
    full(2, T) full((2, 3), [1, 2, 3]) full((2, 2), [[1.5], [2]]) full(2, 1.7, int)
    full(2, 1, "float32") full(2, fill_value=3) full(shape=2, fill_value=3.0, dtype=f4)
    full((2, 3), A) full((2, 3), I[:3]) full(2, 2**63) full((), 1) full(2, np.int8(3))
    full((2, 3), 1, int, "C") full(2, 1, device="cpu") full((2, 3), A, "float32")
    full(2, 3, dtype=bool) full(2, 3, dtype=complex) full(0, 1) zeros_like(A) zeros_like([1, 2])
    zeros_like(3) zeros_like(A, int) zeros_like(A, dtype="f4") zeros_like(A, shape=4)
    zeros_like(A, shape=(2, 2)) zeros_like(C) zeros_like(Z) zeros_like(2.5) zeros_like(a=[1.5])
    zeros_like(A, device="cpu") zeros_like(A, None, "K", True, (3, 4)) zeros_like(T) ones_like(A)
    ones_like([1, 2]) ones_like([True]) ones_like(I, float) ones_like(A, shape=()) ones_like(C)
    full_like(A, 2) full_like([1, 2], 2.5) full_like(A, [1, 2, 3]) full_like(I, 7, float)
    full_like(A, A) full_like([1.0, 2], fill_value=3) full_like(A, 1j, complex)
    full_like(A, 2, shape=4) full_like(3, 2) full_like(A, T) full_like(I, S) full_like([1, 2], True)
    eye(3) eye(2, 3) eye(3, 2, 1) eye(3, k=-1) eye(2, M=4, k=2, dtype=int) eye(3, dtype="float32")
    eye(0) eye(N=2) eye(2, 3, 0, f4, "C") eye(2, 2, 5) eye(2, dtype=bool) eye(2, None, 1)
    identity(3) identity(2, int) identity(n=2, dtype="f4") identity(0) arange(3) arange(1, 5)
    arange(1, 8, 3) arange(5, 0, -2) arange(3.0) arange(0, 1, 0.1) arange(3, 0) arange(0.5, 3)
    arange(stop=5) arange(1, stop=4) arange(0, 5, None, float) arange(0, 5, 2, "float32")
    arange(5, dtype="int8") arange(5, dtype=float) arange(3, dtype="complex64")
    arange(2, dtype=bool) arange(True) arange(5, None) arange(start=1, stop=4, step=2) arange(S)
    arange(np.int8(3)) arange(T) arange(np.uint8(1), 4) arange(-3, 0, 0.5, dtype=int)
    arange(0.5, 3, dtype=int) arange(10, 0, -3) arange(2**62, 2**62 + 2) arange(2**53, 2**53 + 3)
    arange(-2.5, 2.5) arange(3, device="cpu") arange(0, 300, 100, dtype="int8")
    arange(0, 0.3, 0.1, dtype="float32") arange(3, like=A) arange(0) arange(0, -1) arange(0, 1, 2)
    arange(1e15, 1e15 + 3) arange(np.float64(3)) arange(3, step=2) linspace(0, 1, 5) linspace(0, 1)
    linspace(2, 3, 4, False) linspace(0, 10, 3, dtype=int) linspace(0, 1, num=3, endpoint=False)
    linspace([0, 1], [2, 3], 3) linspace([0, 1], [2, 3], 3, axis=1)
    linspace([0, 1], [2, 3], 3, axis=-1) linspace(0, 1j, 3) linspace(S, S + S, 3) linspace(0, 1, 0)
    linspace(0, 1, 1) linspace(5, 1, 3) linspace(A, A + A, 2) linspace(0, A, 3, axis=2)
    linspace(1, 1, 3) linspace(0, 1, 5, True, False, "float32") linspace(start=0, stop=1, num=2)
    linspace(T, 4, 3) linspace(0, 5, 4, dtype="int8") linspace(-1, 1, 3, device="cpu")
    linspace(1, 2, np.int64(3)) logspace(0, 2, 3) logspace(0, 2, 3, base=2)
    logspace(0, 2, 3, base=[2, 3]) logspace(0, 2, 3, base=[2, 3], axis=1)
    logspace(0, 2, 3, True, 10.0, int) logspace(0, 1, 4, False) logspace([0, 1], 2, 3)
    logspace(0, 2, num=3, dtype="f4") logspace(0, 2) logspace(0, 1j, 3) geomspace(1, 1000, 4)
    geomspace(1, 1000, 4, dtype=int) geomspace(-1, -1000, 4) geomspace(1, 8, 3, False)
    geomspace([1, 2], [100, 200], 3, axis=1) geomspace(1j, 16j, 3) geomspace(1, 2, dtype="f4")
    geomspace(start=1, stop=4, num=3) geomspace(1000, 1, 4)
"""
ORDERED = """
    array(A) array(F) array(P) array(G) array(R) array(B) array(A, order="F") array(F, order="C")
    array(F, order="A") array(G, order="A") array(G, order="F") array(P, order="A")
    array(P, order="K") array(P, order="C") array(P, order="F") array(F, "float32") array(P, float)
    array([[1, 2], [3, 4]], order="F") array([[1.5, 2], [3, 4]], order="f") array(F, order=None)
    array(F, ndmin=3) array(F, copy=None) array(A, copy=None, order="F") array(F, "int8", order="A")
    array(B, order="C") array(R, order="C") asarray(F) asarray(P) asarray(A, order="F")
    asarray(F, order="C") asarray(F, None, "C") asarray(G) asarray(F, order="F")
    asarray(F, order="A") asarray(R) asarray(F, "float32") asarray([[1, 2], [3, 4]], order="F")
    asanyarray(A, None, "F") asanyarray(F, order="C") ascontiguousarray(F) ascontiguousarray(P)
    asfortranarray(A) asfortranarray(P) asfortranarray(F) zeros((2, 3), order="F")
    zeros((2, 3), f4, "F") zeros((2, 3, 4), order="f") zeros((2, 3), order=None)
    ones((2, 3), order="F") ones((2, 3), int, "F") full((2, 3), 1, order="F")
    full((2, 3), A, None, "F") full((2, 3, 4), 1.5, f4, "F") zeros_like(F) zeros_like(P)
    zeros_like(P, order="A") zeros_like(F, order="C") zeros_like(A, order="F")
    zeros_like(F, order="A") zeros_like(G) zeros_like(F, shape=(4, 5))
    zeros_like(F, shape=(4, 5, 6)) zeros_like(P, shape=(5, 6, 7)) ones_like(P, float, "F")
    ones_like(R) full_like(F, 2) full_like(P, 2, float, "C") full_like(F, [1, 2, 3])
    eye(2, 3, order="F") eye(2, 3, 1, int, "F") zeros_like(B) array(Z, order="F")
    zeros_like(A, None, "C", False, None) zeros_like(F, shape=(4, 5), order="A")
"""
WRONG = """
    zeros(-1) zeros(2.0) zeros((2, -1)) zeros("float32") zeros([2, 3], [1]) zeros((2, 3), 4)
    zeros(2, "no") zeros((2, 3), order="K") zeros(2, order="A") zeros(2, order="X")
    zeros(2, order=1) zeros(2, float, "C", 3) zeros([[1, 2], [3, 4]]) zeros((2, 3), float, "K")
    zeros(2, dtype=3) ones(None) full(2, order="F") full((2, 2), [1, 2, 3])
    full((2, 3), 1, order="K") full((2, 3), A, order="A") full(2.5, 1) full(2, 300, "int8")
    full(2, -1, "uint8") full(2, "x", float) eye(2.5) eye(-1) eye(2, k=1.5) eye(2, order="K")
    eye("a") arange() arange(None) arange(0, 5, 0) arange(np.inf) arange(np.nan, 3) arange("3")
    arange([3]) arange(5, float) arange(0, 5, float) arange(3, dtype=bool) arange(0, 1e30) arange(A)
    linspace(0, 1, -1) linspace(0, 1, 2.0) linspace("a", 1) linspace(0, 1, 3, axis=2) linspace(0)
    geomspace(0, 1, 4) logspace("a", 2) array([[1, 2], [3]]) array([1, [2]]) array([A, [1]])
    array(1, 2, 3) array(1, 2) array([300], "int8") array([-1], "uint8") array([np.nan], int)
    array(["a"], float) array() array([1, 2], copy=False) asarray([1], copy=False)
    asarray(A, "float32", copy=False) array([1], order="X") asarray(A, order="F", copy=False)
    asarray(3, copy=False) zeros_like(A, order="X") full_like([1], 300, "int8") full_like(A, [1, 2])
    zeros_like() array([1j], float) array([1, 2], "no") zeros_like(A, "no") identity(2.5)
"""
# NumPy makes arrays of objects, texts, records or times of these
OURS = """
    array("abc") array(["a"]) array(None) array([1, None]) array({1}) array(object())
    array(iter([1])) array([2**64]) array([1], object) array([1], "U3") array([1], "f8,i4")
    array([1], "M8[s]") array([1], ">f8") array(np.array([1.0], ">f8")) array(np.zeros(2, "f8,i4"))
    zeros(2, object) zeros(2, str) zeros(2, "f8,i4") ones(2, "longdouble") full(2, None)
    full(2, "a") full_like(A, None) eye(2, dtype=object) arange(3, dtype="M8[s]")
    linspace(0, 1, 3, dtype=object) linspace(np.array(1, object), 2, 3) zeros_like(A, object)
    array(np.ma.array([1]), subok=1) asanyarray(np.ma.array([1]))
    array(np.ma.array([1]), subok=True) arange(2**64, 2**64 + 2) full(2, 2**64)
    array([[1, 2]], ndmax=1)
"""


def calls(text):
    """Return the calls in a table, which are separated by spaces outside of brackets."""
    found, depth, call = [], 0, ""
    for c in " ".join(text.split()) + " ":
        depth += (c in "([{") - (c in ")]}")
        if c == " " and not depth:
            found, call = [*found, call], ""
        else:
            call += c
    return found


def ours(call, as_mats):
    """Return the result of a call of `mat`, with Mats for arrays if `as_mats`."""
    names = {k: mat.from_numpy(v.copy("K") if k not in "BGR" else v) if as_mats and k in MATS else v
             for k, v in NAMES.items()}
    return eval(f"mat.{call}", {"mat": mat, "np": np, **names})


def of_numpy(call):
    return eval(f"np.{call}", {"np": np, **NAMES})


def test_tables_are_read():
    assert calls("f(1, 2)\n g([3, 4], k=(5, 6))") == ["f(1, 2)", "g([3, 4], k=(5, 6))"]


@pytest.mark.parametrize("as_mats", [False, True])
@pytest.mark.parametrize("call", calls(VALUES))
def test_values_dtypes_and_shapes(call, as_mats):
    if as_mats and not any(c in call for c in MATS):
        return
    made = ours(call, as_mats)
    assert type(made) is mat.Mat
    assert_array_equal(made.to_numpy(), of_numpy(call), strict=True)


@pytest.mark.parametrize("as_mats", [False, True])
@pytest.mark.parametrize("call", calls(ORDERED))
def test_orders(call, as_mats):
    made, wanted = ours(call, as_mats), of_numpy(call)
    assert_array_equal(made.to_numpy(), wanted, strict=True)
    if wanted.size:
        ours_and_theirs = [(s, t) for n, s, t in
                           zip(made.shape, made.strides, wanted.strides, strict=True) if n > 1]
        assert all(s == t for s, t in ours_and_theirs), ours_and_theirs


@pytest.mark.parametrize("call", calls(WRONG))
def test_errors_where_numpy_has_errors(call):
    with pytest.raises((TypeError, ValueError, OverflowError, ZeroDivisionError)):
        of_numpy(call)
    missing = call in ("full(2, order=\"F\")", "linspace(0)", "array()", "zeros_like()")
    with pytest.raises(TypeError if missing else MatError) as caught:
        ours(call, False)
    assert missing or isinstance(caught.value, TypeError | ValueError)


@pytest.mark.parametrize("call", calls(OURS))
def test_errors_where_numpy_makes_what_no_mat_can_be(call):
    with pytest.raises(TypeError):
        ours(call, False)


@pytest.mark.parametrize("ends", [(0, 1), ([0, 1], [2, 3]), (0, 1j)])
def test_linspace_returns_its_step(ends):
    made, step = mat.linspace(*ends, 5, retstep=True)
    wanted, wanted_step = np.linspace(*ends, 5, retstep=True)
    assert_array_equal(made.to_numpy(), wanted, strict=True)
    assert_array_equal(np.asarray(step), wanted_step)
    assert isinstance(step, mat.Mat) == isinstance(wanted_step, np.ndarray)


@pytest.mark.host  # where what is written is in the array at once
@pytest.mark.parametrize("call", ["asarray(x)", "asarray(x, float)", "asarray(x, order='C')",
                                  "array(x, copy=None)", "asanyarray(x)", "ascontiguousarray(x)"])
def test_what_needs_no_copy_is_the_same(call):
    x, a = mat.ones(2, 3), np.ones((2, 3))
    assert eval(f"mat.{call}") is x
    same = eval(f"mat.{call}", {"mat": mat, "x": a})
    same.fill_(2)
    assert_array_equal(a, np.full((2, 3), 2.0))


@pytest.mark.parametrize("call", ["array(x)", "asarray(x, copy=True)", "asarray(x, 'float32')",
                                  "asfortranarray(x)", "array(x, order='F')"])
def test_what_is_copied_is_not(call):
    x, a = mat.ones(2, 3), np.ones((2, 3))
    for source in (x, a):
        eval(f"mat.{call}", {"mat": mat, "x": source}).fill_(2)
        assert_array_equal(np.asarray(source), np.ones((2, 3)))


@pytest.mark.parametrize("order", ["C", "F"])
def test_orders_on_a_device(order):
    with mat.use_device("emulated"):
        x = mat.arange(6.0).reshape(2, 3) * 2
        y = mat.array(x, order=order)
        assert "host" not in x.fresh
        z = mat.zeros_like(y.T) + y.T
        assert_array_equal(z.to_numpy(), np.arange(6.0).reshape(2, 3).T * 2)
        assert y.element_strides == ((3, 1) if order == "C" else (1, 2))


@pytest.mark.parametrize(("call", "hint"), [
    ("zeros('float32')", "dtype='float32'"), ("zeros([2, 3], [1])", "one shape is meant"),
    ("array(1, 2, 3)", r"one list: mat.array\(\[1, 2"), ("array(1, 2)", r"one list, \[1, 2\]"),
    ("Mat([[1, 2], [3, 4]])", r"mat.array\(...\) makes"), ("array({1, 2})", r"list\(...\)"),
    ("array(np.array([1], object))", "dtype='int64' objects"),
    ("array(np.array([1, 0.5], object))", "dtype='float64' objects"),
    ("array(np.array([1 << 63], object))", "fit 64 bits; dtype='float64'"),
    ("array(['1'])", "dtype='float64' texts"), ("array(np.zeros(1, 'f8,i4'))", r"a\['f0'\]"),
    ("axpy(1, mat.array([1, 2]), mat.array([1, 2]))", r"astype\('float64'\).*\[1., 2.\]"),
    ("array([1, 2]).exp_()", r"astype\('float64'\).*\[1., 2.\]"),
    ("array([1, 2]).uniform_()", "draw in floats"), ("array([1]).logistic_()", "logistic gives"),
    ("nn.convolve(mat.array([1]), mat.ones(1), mat.zeros(1))", r"mat.array\(\[1., 2.\]\)"),
    ("zeros(2, object)", "NumPy array keeps objects"), ("zeros(2, 'f4,i4')", r"a\['f0'\]"),
    ("zeros(2, '>f4')", "newbyteorder"), ("array([1], 'M8[s]')", "counts of time"),
    ("gemm(1, mat.eye(2), mat.eye(2, dtype=int), 0, mat.eye(2))", r"mat.array\(\[1., 2.\]\)"),
])
def test_errors_name_the_way_out(call, hint):
    with pytest.raises(MatError, match=hint):
        eval(f"mat.{call}")


@pytest.mark.parametrize("numbers", [(0, 1, 0), (0, 1, 0.0), (0, 0, 0), (1, 0, 0)])
def test_steps_of_0_are_refused_as_by_numpy(numbers):
    for error in (mat.ShapeError, ZeroDivisionError):
        with pytest.raises(error, match="steps of 0"):
            mat.arange(*numbers)


def test_numbers_at_equal_distances_are_those_of_numpy(rng):
    ends = [*(rng.standard_normal(40) * 10.0 ** rng.integers(-3, 4, 40)).tolist(),
            *rng.integers(-9, 9, 20).tolist(), 1e299, -1e299, 5e-324, 0.0, 2**62 + 1, 2**53 + 1]
    for _ in range(400):
        start, stop = ends[rng.integers(len(ends))], ends[rng.integers(len(ends))]
        num, endpoint = int(rng.integers(0, 9)), bool(rng.integers(2))
        made = mat.linspace(start, stop, num, endpoint).to_numpy()
        assert made.tobytes() == np.linspace(start, stop, num, endpoint).tobytes()
        if max(abs(start), abs(stop)) < 100:
            made = mat.logspace(start, stop, num, endpoint, 3).to_numpy()
            assert made.tobytes() == np.logspace(start, stop, num, endpoint, 3).tobytes()
        step = (stop - start) / float(rng.uniform(0.1, 9))
        if step and abs(step) < 1e290:
            made = mat.arange(start, stop, step).to_numpy()
            assert made.tobytes() == np.arange(start, stop, step).tobytes()


NUMBERS = [1, -2.5, True, 3j, np.float64(0.1), np.float32(0.1), np.int64(-7), np.int8(3),
           np.bool_(True), np.complex128(2j), 2**53 + 1, np.int64(2**60 + 1)]


@pytest.mark.parametrize("first", NUMBERS, ids=repr)
@pytest.mark.parametrize("make", ["array", "asarray", "asanyarray"])
def test_sequences_of_numbers_of_python_and_numpy(first, make):
    ours, theirs = getattr(mat, make), getattr(np, make)
    for second in NUMBERS:
        for nest in ((first, second), [first, second], [(first, second), [second, first]],
                     ((first,), (second,)), ([], ()), ((), [])):
            for dtype in (None, float, "float32"):
                if isinstance(theirs(nest)[..., :1].sum(), complex) and dtype is not None:
                    continue
                found, wanted = ours(nest, dtype), theirs(nest, dtype)
                assert found.dtype == wanted.dtype
                np.testing.assert_array_equal(found.to_numpy(), wanted, strict=True)
