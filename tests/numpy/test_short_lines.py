"""Lines on a few elements that are computed in a short way: with the results, views, writes and
refusals of NumPy's arrays of the same form.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

pytestmark = pytest.mark.host  # devices put other elements around a partition's

FORMS = [lambda a: a, lambda a: a.T, lambda a: a[::-1], lambda a: a[:, ::2], lambda a: a[0],
         lambda a: a[:0], lambda a: a[None, :, :1], lambda a: a[0, 0:1].reshape(())]
LINES = [  # of a matrix or so, with indices, some out of range, and bools of the first axis
    "x.compress(c)", "x.compress(c, 0)", "x.compress(c[:1], axis=-1)", "x.compress(c, k)",
    "x.compress(i, 0)", "x.compress(c, False)", "x.take([0, -1])", "x.take([0, 2], 0)",
    "x.take([1, 9])", "x.take([])", "x.take([True, False])", "x.take([[0, 1], [1, 0]])",
    "x.take([2**70])", "x.take([7, -9], mode='wrap')", "x[[0, -1]]", "x[[0, 9]]", "x[[2**70]]",
    "x[i, i]", "x[j, i]", "x[i, -1]", "x[0, i]", "x[9, i]", "x[i, j[:1]]", "x[i, i, i]", "x[i, c]",
    "x[i, None]", "x[i.reshape(2, 2), i.reshape(2, 2)]", "x[i[::2], i[1::2]]", "x[i, 2**70]",
    "x[i.astype('uint8'), i]", "x[i, ...]", "x.argsort(0)", "x.argsort(1)", "x.argsort(-2)",
    "x.argsort(None)", "x.argsort(k)", "x.argpartition(0)", "x.argpartition(1, 0)",
    "x.argpartition(9)", "x.argpartition([0, 1], axis=k)", "x.argpartition(0.5)",
    "xp.flip(x)", "xp.flip(x, 0)", "xp.flipud(x)", "xp.fliplr(x)", "xp.squeeze(x)",
    "xp.squeeze(x, 0)", "x.reshape(-1)", "x.reshape((-1,))", "x.astype(x.dtype, copy=False)",
    "x.astype(bool, copy=False)", "x.astype('complex64')", "x.astype(x.dtype, 'F', copy=False)",
    "x.astype('int8', casting='safe')", "x.astype(x.dtype, 'K', 'none')",
    "xp.ravel_multi_index((i, i), (8, 8))", "xp.ravel_multi_index((j, j), (2, 2))",
    "xp.ravel_multi_index((m, m % 3, m), (20, 3, 20))", "xp.ravel_multi_index((m, c), (20, 20))",
    "xp.ravel_multi_index((m, m[:1]), (20, 20))", "xp.ravel_multi_index((m, m), (20, 5), 'wrap')",
    "xp.ravel_multi_index((m[0], m[0]), (20, 20))", "xp.ravel_multi_index((m,), (20, 20))",
    "xp.unravel_index(i, (8, 8))", "xp.unravel_index(m, (5, 4))[1]",
    "xp.unravel_index(m.reshape(2, 2), (2, 5, 2))[0]", "xp.unravel_index(m, (5, 4), 'F')[0]",
    "xp.unravel_index(m[::2], (5, 4))[0]", "xp.unravel_index(m[0], (5, 4))[1]",
    "xp.unravel_index(m, 20)[0]", "xp.unravel_index(m, (5, 4.0))", "xp.unravel_index(m, (3, 4))",
    "xp.unravel_index(m, (0, 4))", "xp.unravel_index(m, (2**70, 4))", "xp.unravel_index(m, ())",
    "x.take(i)", "x.take(i, 0)", "x.take(i, axis=k)", "x.take(i, -1)", "x.take(i, 1)", "x.take(j)",
    "x.take(j, 0)", "x.take(m)", "x.take(i.reshape(2, 2), 0)", "x.take(i[::-1])",
    "x.take(i, False)", "x.take(i[0])", "x.take(i.astype('uint8'), 0)", "x[i]", "x[j]",
    "x[i.reshape(2, 2)]", "x[i[::2]]", "x[c]", "x.round(1)", "x.round(2)", "x.round(-1)",
    "x.round(12)", "x.round(True)", "x.round(1.5)", "xp.round(x, decimals=1)",
    "xp.round(x, axis=1)", "x.round(decimals=k)", "xp.nan_to_num(x)", "xp.nan_to_num(x, True, 1.0)",
    "x.real.astype(i.dtype)", "x.astype(x.dtype)", "xp.correlate(x, i)",
    "xp.correlate(x, i, 'full')",
    "xp.correlate(i, i, mode='same')", "xp.correlate(x, i, 'none')", "xp.convolve(x, i)",
    "xp.convolve(i[:1], x)", "xp.convolve(x, i, mode='valid')", "xp.convolve(i, 2)",
    "xp.convolve(i, [1, 2])", "xp.concatenate([x, x])", "xp.concatenate((x, x), -1)",
    "xp.concatenate([x, i])", "xp.concatenate([x, x], k)", "xp.concatenate([x, x], 9)",
    "xp.concatenate([x[::2], x[1:]])", "xp.stack([x, x])", "xp.stack((x, x), -1)",
    "xp.stack([x, i])", "xp.stack([x, x], 9)", "xp.vstack([x[::2], x])", "xp.hstack([x, x])",
    "xp.array(x)", "xp.array(x, order='C')", "xp.array(x, order='F')", "xp.array(x, order='A')",
    "xp.array(x, 'complex128')", "x.ravel()", "x.ravel('K')", "x.flatten()", "xp.sort(x)",
    "xp.sort(x, 0)", "xp.nonzero(x)[0]", "xp.searchsorted(xp.sort(x)[::2], i)", "xp.outer(x, i)",
    "x.tobytes()", "x.tobytes('F')", "x.tolist()",
    "[x.item(k) for k in range(-x.size, x.size)]", "x.item(x.size)", "xp.zeros_like(x)",
    "xp.ascontiguousarray(x)", "xp.asfortranarray(x)", "xp.ascontiguousarray(x, 'complex64')",
    "xp.array([x, x])", "xp.count_nonzero(x)", "x.argmax()", "xp.conj(x)", "xp.conj(x[::-1])"]
WRITING = [
    "x.put(i, 3)", "x.put(i, 0.5)", "x.put(i, -1)", "x.put(i, 300)", "x.put(i, True)",
    "x.put(i, i.astype(x.dtype))", "x.put(i, i)", "x.put(j, 1)", "x.put(j, 1, 'wrap')",
    "x.put(c, 1)", "x.put(i.astype('uint8'), 2)", "x.put([0, 1], 2)", "x.put(0, 2)",
    "x.put(x.size // 3, x)", "xp.put(x, i, 1)", "x.partition(0)", "x.partition(1, 0)",
    "x.partition(9)", "x.partition([0, 1])", "x.partition(0, axis=k)", "x.partition(0, 0, 'none')"]


def outcome(line, x, xp, others):
    """Return the result of a line, or None for an error."""
    names = {"x": x, "xp": xp, "k": 0, **others}
    try:
        return eval(line, names) if line in LINES else exec(line, names)
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        return type(error), None


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", "bool",
                                   "complex128"])
@pytest.mark.parametrize("line", LINES + WRITING)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_lines_give_what_numpy_gives(line, dtype, rng):
    a = (rng.random((5, 4)) * 9).astype(dtype)
    others = {"i": np.array([0, 2, -1, 2]), "j": rng.integers(-9, 9, 4), "c": rng.random(5) > 0.5,
              "m": np.array([0, 19, 7, 2])}
    mats = {name: mat.array(value) for name, value in others.items()}
    for form in FORMS:
        b, x = form(a.copy()), form(mat.array(a))
        wanted, found = outcome(line, b, np, others), outcome(line, x, mat, mats)
        assert isinstance(found, tuple) == isinstance(wanted, tuple), b.shape
        if isinstance(wanted, np.ndarray):
            assert_array_equal(found.to_numpy(), wanted, strict=True)
            shared = np.shares_memory(wanted, b)
            assert (found.storage is x.storage) == shared or not wanted.size
        elif isinstance(wanted, bytes | list):
            assert found == wanted
        if not isinstance(wanted, tuple):  # NumPy writes up to the index that is out of range
            assert_array_equal(x.to_numpy(), b, strict=True)
        assert x.strides == b.strides


def test_read_only_elements_are_not_written():
    a = np.arange(3.0)
    a.flags.writeable = False
    x, i = mat.from_numpy(a), mat.array([1])
    for write in (lambda: x.put(i, 1.0), lambda: x.partition(1), lambda: np.put(x, i, 1.0)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert a.tolist() == [0, 1, 2]


def test_results_stay_when_others_are_computed():
    kept = []
    for k in range(9):
        a = np.full((2, 3), k)
        x = mat.array(a)
        kept += [(a, np.broadcast_arrays(x, x)[0]), (a, np.require(x)), (a, np.fix(x)),
                 (a, np.sort_complex(x).real)]
        for wanted, found in kept:
            assert_array_equal(np.asarray(found), wanted)
