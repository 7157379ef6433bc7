"""Calls that are errors in NumPy: they are errors of the same builtin kinds here."""

import warnings

import numpy as np
import pytest

import mat

# for `np` and for `mat`, one call a line
CALLS = {
    "creation": """
        np.zeros(2.5)
        np.zeros((2, 'a'))
        np.zeros('3')
        np.ones(None)
        np.zeros(-1)
        np.full(2.0, 1)
        np.empty((1.5,))
        np.zeros([2.0, 3])
        """,
    "reshaping": """
        x.reshape(2.0, 2)
        x.reshape('a')
        x.reshape(3)
        x.reshape((2, -1, -1))
        x.sum(axis=1.0)
        x.sum(axis='a')
        x.sum(5)
        x.transpose(0.0, 1)
        x.transpose(0)
        x.swapaxes(0, 1.0)
        x.swapaxes(0, 9)
        """,
    "indices": """
        x[1.0]
        x['a']
        x[None, 9]
        x[9]
        x[0, 0, 0]
        x[[9]]
        x[[1.0]]
        x[[True, False, True]]
        """,
    "powers": """
        i ** -1
        np.power(i, -1)
        np.power(i, [-1, 2, 1, 1])
        np.array([1, 2]) ** np.array([-1, 2])
        2 ** -i
        """,
    "joining": """
        np.array([[1, [2]]])
        np.concatenate([x, y])
        np.concatenate([])
        np.concatenate(x, y, z, 4, 5, 6, 7, 8)
        np.concatenate([x, x], axis=2)
        np.stack([x, y])
        np.stack([])
        np.vstack([x, y])
        np.hstack([])
        np.split(x, 3)
        np.split(x, [1], axis=4)
        x + y
        """,
    "products": """
        x @ y
        x @ 3
        np.dot(x, y)
        np.matmul(x, 2)
        np.matmul(np.ones((2,2)), np.ones((3, 3)))
        np.inner(x, y)
        np.einsum('ij,jk', x, y)
        np.einsum('i', x)
        np.einsum('ij->k', x)
        """,
    "outer products": """
        np.exp.outer(x, x)
        np.cbrt.outer(x, x)
        np.add.outer(x)
        np.add.outer(x, x, x)
        np.arctan2.outer(x, x, x)
        np.exp.outer(x)
        """,
    "reductions": """
        x.argmax(axis=3)
        np.argmax([])
        np.zeros(0).max()
        np.zeros(0).argmin()
        np.max([])
        np.zeros((0, 3)).min(axis=0)
        np.zeros((0,3)).sum(axis=3)
        np.median(x, axis=7)
        np.percentile(x, 120)
        np.quantile(x, 2)
        """,
    "ranges": """
        np.arange()
        np.arange('a')
        np.linspace(0, 1, -1)
        np.linspace(0, 1, 2.5)
        np.eye(2.0)
        np.eye(-1)
        np.identity('a')
        """,
    "choosing": """
        np.where(x, 1)
        np.where([True, False], [1, 2, 3], 0)
        np.select([x > 1], [])
        np.choose([0, 5], [1, 2])
        np.take(x, 9)
        np.take(x, 0, axis=4)
        np.repeat(x, -1)
        np.repeat(x, [1, 2, 3])
        np.tile(x, -1)
        np.tile(x, 1.5)
        np.roll(x, 1, axis=5)
        np.flip(x, 4)
        np.rot90(x, axes=(0, 0))
        np.diff(x, n=-1)
        np.diff(x, axis=3)
        np.pad(x, -1)
        np.pad(x, 1, mode='foo')
        """,
    "linear algebra": """
        np.linalg.inv(np.zeros((2, 2)))
        np.linalg.inv(np.ones((2, 3)))
        np.linalg.inv(z)
        np.linalg.solve(x, np.ones(3))
        np.linalg.cholesky(-np.eye(2))
        np.linalg.norm(x, ord='foo')
        np.linalg.norm(x, axis=(0, 1, 2))
        np.linalg.det(y)
        np.linalg.matrix_power(x, 1.5)
        np.linalg.matrix_power(np.zeros((2,2)), -1)
        np.linalg.eig(y)
        np.linalg.svd(z)
        np.linalg.lstsq(x, np.ones(3))
        np.linalg.qr(x, mode='foo')
        np.fft.fft(x, n=0)
        np.fft.fft(x, axis=4)
        np.fft.fft(x, norm='foo')
        """,
    "conversions": """
        float(x)
        int(x)
        bool(x)
        len(np.array(3))
        iter(np.array(3))
        complex(x)
        x.item()
        x.item(9)
        x.item(0, 0, 0)
        range(x)
        [1, 2][np.array(1.0)]
        round(x, 'a')
        x.astype('foo')
        x.astype(int, casting='safe')
        x.astype(3)
        np.dtype('foo')
        x.view('foo')
        np.zeros(3, 'i1').view('f8')
        x.resize(3)
        """,
    "sorting": """
        x.sort(axis=4)
        np.sort(x, axis=4)
        np.argsort(x, kind='foo')
        np.searchsorted(x, 1)
        np.unique(x, axis=5)
        np.bincount([-1])
        np.histogram(x, bins=-1)
        np.histogram(x, bins=[3, 1])
        np.digitize(x, [1, 3, 2])
        np.interp(1, [1, 2], [1])
        np.cross([1, 2], [1])
        np.kron(x, 'a')
        """,
    "shapes": """
        np.broadcast_to(x, (3,))
        np.broadcast_to(x, -1)
        np.broadcast_arrays(x, z)
        np.expand_dims(x, 5)
        np.squeeze(x, 0)
        np.squeeze(x, 9)
        np.moveaxis(x, 0, 5)
        np.moveaxis(x, [0, 0], [0, 1])
        np.trace(z)
        np.diag(np.ones((2,2,2)))
        np.diagonal(z)
        np.cov(x, ddof=-1.5)
        np.corrcoef('a')
        np.average(x, weights=[1])
        np.average(x, weights=[0, 0], axis=0)
        """,
    "orders": """
        np.ravel(x, order='Q')
        x.reshape(4, order='Q')
        x.copy(order='Q')
        np.zeros(2, order='Q')
        np.unravel_index(9, (2, 2))
        np.ravel_multi_index((3, 3), (2, 2))
        """,
    "element-wise functions": """
        np.add(x)
        np.add(x, y, z, 1, 2)
        np.exp()
        np.exp(x, 2)
        np.exp(x, out=np.zeros(3))
        np.exp(x, where=[True, False, True])
        np.exp(x, foo=1)
        np.exp(i, dtype=int)
        np.add(x, 1, out=np.zeros((2, 2), int))
        np.add.reduce(x, axis=5)
        np.subtract(True, np.array(True))
        -np.array(True)
        np.array(True) - np.array(False)
        ~x
        x & x
        x % 'a'
        x << 1
        np.bitwise_and(x, 1)
        np.bitwise_count(x)
        np.gcd(x, 1)
        np.lcm(1.5, 2)
        np.left_shift(1.5, 1)
        np.ldexp(x, x)
        np.invert(1.5)
        np.arctan2(x, 1j)
        np.fmod(x, 1j)
        np.floor(1j*x)
        np.maximum(x, 'a')
        np.isnan('a')
        np.sign('a')
        """,
    "random numbers": """
        np.random.default_rng('a')
        np.random.default_rng(1).normal(size=-1)
        np.random.default_rng(1).normal(0, -1)
        np.random.default_rng(1).integers(3, 1)
        np.random.default_rng(1).choice([])
        np.random.default_rng(1).choice(3, 5, replace=False)
        np.random.default_rng(1).choice(3, p=[1])
        np.random.default_rng(1).random(2.5)
        np.random.default_rng(1).permutation(1.5)
        np.random.default_rng(1).uniform('a')
        np.random.seed('a')
        np.random.rand(-1)
        np.random.randint(0)
        """,
    "functions of functions": """
        np.piecewise(0.5, [True], [1, 2, 3, 4])
        np.vectorize(3)
        np.apply_along_axis(1, 0, x)
        np.fromstring('1 a', sep=' ')
        np.loadtxt('/no/such')
        np.load('/no/such')
        np.fromfile('/no/such')
        """,
    "copies": """
        np.copyto(x, 'a')
        np.copyto(x, z)
        np.putmask(x, [True], 'a')
        np.place(x, [True, False], [])
        np.require(x, requirements='Q')
        np.ogrid['a']
        np.mgrid[0:1:0]
        np.r_[x, y]
        np.c_[x, y]
        np.ix_(x)
        np.indices(2)
        np.fromiter([1, 'a'], float)
        np.fromfunction(3, (2,))
        np.asarray([[1], [2, 3]])
        """,
    "dtypes": """
        np.array([1, 2], dtype='foo')
        np.array([1, 2], float, int)
        np.asarray(3, 4, 5, 6, 7, 8)
        np.iinfo(float)
        np.finfo(int)
        np.result_type()
        np.can_cast(1, 2)
        np.promote_types('foo', int)
        np.issubdtype('foo', int)
        np.allclose(x, z)
        np.isclose(x, 'a')
        """,
}
KINDS = (ValueError, TypeError, IndexError, KeyError, AttributeError, ZeroDivisionError, OSError,
         RuntimeError, np.linalg.LinAlgError, np.exceptions.AxisError)


def error_of(call, library):
    """Return the exception of a call with that library as `np`, or None."""
    a = library.arange(4.0).reshape(2, 2)
    given = {"np": library, "x": a, "y": library.ones(3), "z": library.ones(3),
             "i": library.arange(4)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(call, given)
        except Exception as error:
            return error
    return None


@pytest.mark.host  # what NumPy computes is no error of a device
@pytest.mark.parametrize("group", CALLS)
def test_errors_have_the_kinds_of_numpys(group):
    wrong = []
    for call in map(str.strip, CALLS[group].strip().splitlines()):
        wanted, found = error_of(call, np), error_of(call, mat)
        assert wanted is not None, call
        wrong += [f"{call}: {found!r} is no {kind.__name__}" for kind in KINDS
                  if isinstance(wanted, kind) and not isinstance(found, kind)]
    assert not wrong


def test_errors_that_are_of_another_kind():
    """NumPy divides by the step; an infinite range is a wrong argument."""
    with pytest.raises(mat.ShapeError, match="steps of 0"):
        mat.arange(0, 5, 0)


@pytest.mark.parametrize("name", ["round", "around", "max", "amax", "min", "amin", "transpose",
                                  "asarray", "asanyarray", "ascontiguousarray", "linalg.inv"])
def test_messages_name_the_function_that_was_called(name):
    for f in (eval(f"mat.{name}"), eval(f"np.{name}")):
        with pytest.raises(TypeError) as raised:
            f(mat.ones(2, 2), foo=1)
        assert str(raised.value).startswith(f"{name.rpartition('.')[2]}() got an unexpected")
