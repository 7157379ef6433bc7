"""Copies and conversions as a device does them, on the CPU: what `prepare` functions give, for Mats of any layout."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from .fake import harness
from .launching import launch_all
from .placing import LAYOUTS, NUMPY_DTYPES, check_hidden, numbers, place, whole

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda import assign

pytestmark = pytest.mark.skipif(harness.compiler() is None, reason="kernels for the device are compiled by a C++ compiler here")
DTYPES = (*NUMPY_DTYPES, "bfloat16")


def seen_by(m, storage):
    """The visible elements of a Mat, in a copy of its storage."""
    return np.ndarray(m.shape, storage.dtype, storage, m.displacement * m.itemsize, [n * m.itemsize for n in m.strides])


def carry_out(prepared, x, out, seed=0):
    """Run what was prepared on copies of the Mats' storages, and put what comes out into `out`."""
    storages = {id(m.storage): whole(m) for m in (x, out)}
    views = [seen_by(m, storages[id(m.storage)]) for m in (x, out)]
    made = prepared.make(*(assign.alignment(m.displacement * m.itemsize) for m in (x, out)))
    if made is not None:
        launch_all(made, views, seed=seed)
    with out.facet("backing", "io") as b:
        b[...] = storages[id(out.storage)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies(dtype, layout, rng):
    values = numbers(rng, (5, 6, 7), "float32").astype(mat.zeros(1, dtype=dtype).dtype)
    x = place(values, layout)
    for axes in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        out = place(np.zeros_like(values.transpose(axes)), layout)
        view = x.permute(axes)
        carry_out(assign.prepare_copy(view, out), view, out)
        assert_array_equal(out.to_numpy(), values.transpose(axes))
        check_hidden(out)


@pytest.mark.parametrize("seed", [0, 5])
def test_copies_within_one_storage(seed, rng):
    values = numbers(rng, (40, 40), "float32")
    for read, write in ((lambda a: a[1:], lambda a: a[:-1]), (lambda a: a[:-1], lambda a: a[1:]),
                        (lambda a: a.T, lambda a: a), (lambda a: a[::-1, ::-1], lambda a: a)):
        x, wanted = mat.array(values), values.copy()
        write(wanted)[...] = read(values)
        carry_out(assign.prepare_copy(read(x), write(x), through=True), read(x), write(x), seed)
        assert_array_equal(x.to_numpy(), wanted)


def test_nothing_is_launched_for_nothing():
    x, out = mat.zeros(3, 0), mat.zeros(3, 0)
    assert assign.prepare_copy(x, out).make(16, 16) is None


def test_programs():
    found = list(assign.programs())
    assert len(found) == len(set(found))
