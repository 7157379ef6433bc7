"""The dtypes and layouts that operations are tested with.

`place` stores an array with a layout in a larger storage of sentinels, `check_hidden` checks that
these are unchanged.
"""

import numpy as np
from numpy.testing import assert_array_equal

import mat

BLAS_DTYPES = ("float32", "float64", "complex64", "complex128")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
# all but bfloat16, which NumPy does not know
NUMPY_DTYPES = ("bool", *INTEGERS, *FLOATS, "complex64", "complex128")
SENTINEL = 77


def storage_of(shape, dtype):
    """Return a Mat of sentinels, of which views see a part."""
    return mat.from_numpy(np.full(shape, SENTINEL).astype(dtype))


def packed(shape, dtype):
    return storage_of(shape, dtype)


def displaced(shape, dtype):
    return storage_of(int(np.prod(shape)) + 5, dtype).view(shape, 3)


def strided(shape, dtype):
    return storage_of([2 * n + 1 for n in shape], dtype)[(*(slice(1, None, 2) for _ in shape), ...)]


def negative(shape, dtype):
    return storage_of([n + 1 for n in shape], dtype)[(*(slice(n, 0, -1) for n in shape), ...)]


def transposed(shape, dtype):
    return storage_of(shape[::-1], dtype).T


def column(shape, dtype):
    return storage_of((*shape, 3), dtype)[..., 1]


def block(shape, dtype):
    return storage_of([n + 2 for n in shape], dtype)[(*(slice(1, n + 1) for n in shape), ...)]


def block_of_transposed(shape, dtype):
    return block(shape[::-1], dtype).T


LAYOUTS = {f.__name__: f for f in (packed, displaced, strided, negative, transposed, column, block,
                                   block_of_transposed)}
MIXES = {**{name: (name,) for name in LAYOUTS},
         "mixed": ("strided", "displaced", "block", "packed", "negative"),
         "mixed_matrices": ("transposed", "block", "packed", "block_of_transposed")}


def place(values, layout="packed"):
    """Return a Mat with the elements of the array `values`, in a layout among sentinels."""
    values = np.asarray(values)
    view = LAYOUTS[layout](values.shape, values.dtype)
    assert view.shape == values.shape
    with view.facet("array", "io") as a:
        a[...] = values
    return view


def whole(view):
    """Return the whole storage as an array."""
    with view.facet("backing", "input") as b:
        return b.copy()


def check_hidden(view):
    """Fail unless the elements that `view` does not see are as `place` left them."""
    storage = whole(view)
    hidden = np.ones(storage.size, bool)
    if view.size:
        np.lib.stride_tricks.as_strided(hidden[view.displacement:], view.shape,
                                        view.element_strides)[...] = False
    assert_array_equal(storage[hidden], np.full(hidden.sum(), SENTINEL).astype(storage.dtype),
                       "invisible elements changed")


def numbers(rng, shape, dtype):
    """Return random elements: small integers of both signs, or normal numbers, also complex."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iub":
        return rng.integers(0 if dtype.kind in "ub" else -5, 2 if dtype.kind == "b" else 6,
                            shape).astype(dtype)
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if dtype.kind == "c" else real).astype(dtype)


def tolerance(dtype):
    """Return the relative and absolute tolerance for results of `dtype`."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iub":
        return {"rtol": 0, "atol": 0}
    eps = float(np.finfo(dtype).eps)
    return {"rtol": 64 * eps, "atol": 64 * eps}


def state(mat_):
    """Return the state that a failed call must not change: elements, freshness and version."""
    storage = mat_.storage
    return (mat_.shape, mat_.strides, mat_.fresh, storage.version, storage.pristine, storage.torn,
            repr(mat_))
