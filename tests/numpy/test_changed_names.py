"""The names whose meaning version 0.2 changed: `dot`, `vdot`, `copy`, `trace` and `convolve` are
compared with NumPy's, and calls that can only mean version 0.1's say where that is now.
"""

import inspect

import numpy as np
import pytest

import mat
from mat import DTypeError, Mat

pytestmark = pytest.mark.host

rng = np.random.default_rng(0)
V, W = rng.standard_normal(5), rng.standard_normal(5)
A, B, S = rng.standard_normal((4, 5)), rng.standard_normal((5, 3)), rng.standard_normal((2, 5, 3))
C = V + 1j * W
N = np.arange(20).reshape(4, 5)
DOTS = [(V, W), (A, V), (A, B), (V, B), (A, S), (S, V[:3]), (C, C), (C, V), (N, N.T), (N, V),
        (A[:, ::2], B[::2]), (A.T, A), (2.5, A), (A, 3), (V.astype("f4"), W),
        (V.astype("f4"), W.astype("f4")), (N > 3, N.T > 3), (N.astype("i1"), N.T.astype("i1")),
        ([1, 2, 3], [4, 5, 6]), ([[1, 2], [3, 4]], [1.5, 2.5]), (V[:0], V[:0]), (A[:0], B)]


def of(value):
    """The Mat of an array, and anything else as it is."""
    return mat.from_numpy(value) if isinstance(value, np.ndarray) else value


def same(found, wanted):
    """Whether a Mat has the shape, the dtype and nearly the elements that NumPy gives."""
    assert isinstance(found, Mat)
    wanted = np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    near = 1e-6 if found.dtype == "f4" else 1e-12
    np.testing.assert_allclose(found.to_numpy(), wanted, rtol=near, atol=1e-12)


@pytest.mark.parametrize("k", range(len(DOTS)))
def test_dot(k):
    a, b = DOTS[k]
    wanted = np.dot(a, b)
    same(mat.dot(of(a), of(b)), wanted)
    same(mat.dot(a, b), wanted)
    same(mat.dot(b=of(b), a=a), wanted)
    out = mat.from_numpy(np.empty_like(wanted))
    for call in (lambda: mat.dot(of(a), of(b), out), lambda: mat.dot(of(a), of(b), out=out)):
        assert call() is out
        same(out, wanted)


@pytest.mark.parametrize("pair", [p for p in DOTS if np.size(p[0]) == np.size(p[1])])
def test_vdot(pair):
    a, b = pair
    same(mat.vdot(of(a), of(b)), np.vdot(a, b))
    same(mat.vdot(a, b), np.vdot(a, b))


@pytest.mark.parametrize("name", ["dot", "vdot"])
def test_those_of_two_numbers_are_numpys_numbers(name):
    found, wanted = getattr(mat, name)(2, 3.5), getattr(np, name)(2, 3.5)
    assert (type(found), found) == (type(wanted), wanted)
    out = mat.from_numpy(np.empty(()))
    if name == "dot":
        assert mat.dot(2, 3.5, out) is out
        same(out, wanted)


@pytest.mark.parametrize("call", [
    lambda f, a: f.dot(a(A), a(A)), lambda f, a: f.vdot(a(A), a(V)),
    lambda f, a: f.dot(a(A), a(B), f.zeros((4, 4))), lambda f, a: f.dot(a(A)),
    lambda f, a: f.dot(a(A), a(B), a(np.zeros((4, 3), "f4"))),
    lambda f, a: f.dot(a(A), a(B), nothing=1), lambda f, a: f.vdot(a(V), b=a(V)),
    lambda f, a: f.trace(a(V)), lambda f, a: f.trace(a(A), 0, 1, 1),
    lambda f, a: f.trace(a(A), 0, 2), lambda f, a: f.trace(3),
    lambda f, a: f.convolve(a(A), a(V)), lambda f, a: f.convolve(V[:0], V),
    lambda f, a: f.convolve(V, V, "other"), lambda f, a: f.copy(), lambda f, a: f.copy(a(V), "X")])
def test_errors_are_numpys(call):
    """What NumPy refuses, `mat` refuses, too, with an error of the same builtin class."""
    with pytest.raises((TypeError, ValueError)) as wanted:
        call(np, lambda x: x)
    with pytest.raises((TypeError, ValueError)) as found:
        call(mat, of)
    kinds = TypeError, ValueError
    assert [isinstance(found.value, k) for k in kinds] == [isinstance(wanted.value, k)
                                                          for k in kinds]


@pytest.mark.parametrize("x", [A, A.T, S, S.transpose(1, 2, 0), A[::2, ::-1], N, C, V[:0], A > 0,
                               np.array(3.0), [1.5, 2.5], [[1, 2], [3, 4]], 3.0])
@pytest.mark.parametrize("arguments", [(), ("K",), ("A",), ("C",), ("F",)])
def test_copy(x, arguments):
    wanted = np.copy(x, *arguments)
    for given in (of(x), x):
        found = mat.copy(given, *arguments)
        same(found, wanted)
        if wanted.size > 1:
            assert found.strides == wanted.strides
        assert not isinstance(given, Mat) or found.storage is not given.storage


def test_copy_takes_numpys_keywords():
    x = of(A.copy())
    y = mat.copy(a=x, order="C", subok=True)
    y.fill_(7.0)
    same(x, A)


@pytest.mark.parametrize("x", [A, A.T, S, N, A + 1j, N.astype("i1"), N > 3, A.astype("f4")])
@pytest.mark.parametrize("arguments", [(), (1,), (-1,), (0, 1, 0), (1, -1, 0), (9,)])
def test_trace(x, arguments):
    same(mat.trace(of(x), *arguments), np.trace(x, *arguments))
    same(mat.trace(x, *arguments), np.trace(x, *arguments))


def test_a_trace_takes_integers():
    for trace in (np.trace, mat.trace):
        with pytest.raises(TypeError, match="integer"):
            trace(of(A), 0.0)


def test_trace_with_keywords():
    x = of(S)
    same(mat.trace(x, axis1=1, axis2=2), np.trace(S, axis1=1, axis2=2))
    same(mat.trace(x, dtype="f4"), np.trace(S, dtype="f4"))
    same(mat.trace([[1, 2], [3, 4]], 0, 0, 1, float), np.trace([[1, 2], [3, 4]], 0, 0, 1, float))
    out = mat.zeros(3)
    assert mat.trace(x, out=out) is out
    same(out, np.trace(S))


@pytest.mark.parametrize("mode", [(), ("full",), ("same",), ("valid",)])
@pytest.mark.parametrize(("a", "v"), [(V, W[:3]), (W[:2], V), ([1, 2, 3], [0, 1]), (C, V), (V, 2.0),
                                      (N[0], N[1])])
def test_convolve(a, v, mode):
    same(mat.convolve(of(a), of(v), *mode), np.convolve(a, v, *mode))
    same(mat.convolve(a, v, *mode), np.convolve(a, v, *mode))


# What meant something else


X = mat.ones(4)


@pytest.mark.parametrize(("call", "place"), [
    (lambda: mat.trace(), r"mat\.debug\.trace\(\)"),
    (lambda: mat.dot(X, X, n=2), r"mat\.blas\.dot"),
    (lambda: mat.dot(X, X, incx=1, incy=1), r"incx=, incy=.*mat\.blas\.dot"),
    (lambda: mat.vdot(X, X, n=2), r"mat\.blas\.vdot"),
    (lambda: mat.copy(X, X), r"mat\.blas\.copy\(x, y\)"),
    (lambda: mat.copy(X, n=2), r"mat\.blas\.copy"),
    (lambda: mat.convolve(X, X, X), r"mat\.nn\.convolve\(x, w, y\)"),
    (lambda: mat.convolve(X, X, X, anchor=1), r"mat\.nn\.convolve"),
    (lambda: mat.convolve(X, X, start=1), r"mat\.nn\.convolve"),
    (lambda: mat.convolve(X, X, stride=1, batched=True), r"mat\.nn\.convolve")])
def test_old_spellings_say_where_they_moved(call, place):
    with pytest.raises(DTypeError, match=place):
        call()
    assert X.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("name", ["max_pool", "derive_max_pool", "derive_convolve"])
def test_what_left_says_where_it_is(name):
    with pytest.raises(AttributeError, match=rf"mat\.nn\.{name}"):
        getattr(mat, name)
    assert callable(getattr(mat.nn, name))


def test_the_signatures_are_numpys():
    for name in ("copy", "trace", "convolve"):
        assert list(inspect.signature(getattr(mat, name)).parameters) == list(
            inspect.signature(getattr(np, name)).parameters)
    assert list(inspect.signature(mat.dot).parameters) == ["a", "b", "out"]
    assert list(inspect.signature(mat.vdot).parameters) == ["a", "b"]


def test_old_meanings_have_their_new_places():
    x, y = mat.arange(4.0), mat.zeros(2, 2)
    assert mat.blas.dot(x, x) == 14
    assert type(mat.blas.dot(x, x)) is float
    assert mat.blas.copy(x, y) is y
    assert y.tolist() == [[0, 1], [2, 3]]
    with mat.debug.trace() as t:
        mat.zeros(2)
    assert t.events == []
