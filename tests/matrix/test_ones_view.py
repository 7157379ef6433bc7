"""`ones_view`: ones remain ones, are packed, and are made once."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import DirectionError

from ..support.layouts import NUMPY_DTYPES
from .test_scratch import in_thread, nothing_kept

__all__ = ["nothing_kept"]  # a fixture of every test


@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, "bfloat16"])
@pytest.mark.parametrize("shape", [(), 0, 7, (3, 5)])
def test_ones_are_ones_and_packed(shape, dtype):
    with mat.ones_view(shape, dtype) as one:
        assert one.is_contiguous
        assert one.dtype == mat.zeros(1, dtype=dtype).dtype
        assert_array_equal(one.to_numpy().astype("complex64"), np.ones(mat.zeros(shape).shape))


WRITES = {
    "fill_": lambda x: x.fill_(2), "set": lambda x: x.__setitem__(0, 2),
    "iadd": lambda x: x.__iadd__(1),
    "axpy": lambda x: mat.axpy(1, mat.ones(4), x), "out": lambda x: mat.exp(mat.ones(4), out=x),
    "facet": lambda x: x.facet("array", "output"), "foreign": lambda x: x.facet("foreign", "io"),
    "view": lambda x: x[1:].fill_(2), "reshape": lambda x: x.reshape(2, 2).fill_(2),
    "T": lambda x: x.T.scal_(2),
    "displaced": lambda x: mat.Mat(4, displaced_to=x).fill_(2),
    "window": lambda x: x.view(2).fill_(0),
    "replace_": lambda x: x.replace_([1, 2, 3, 4]),
    "with_facets": lambda x: mat.with_facets((x, "backing", "io")),
}


@pytest.mark.parametrize("write", WRITES)
def test_ones_cannot_be_written(write):
    with mat.ones_view(4) as one:
        before = one.to_numpy()
        with pytest.raises(DirectionError, match="read-only"):
            WRITES[write](one)
        assert_array_equal(one.to_numpy(), before)
    with mat.ones_view(4) as one:
        assert one.tolist() == [1] * 4


@pytest.mark.unchecked("pages are protected, not arrays over them")
def test_ones_cannot_be_written_through_an_array():
    with mat.ones_view(4) as one:
        for facet in ("array", "backing"):
            with one.facet(facet, "input") as a:
                with pytest.raises(ValueError, match="read-only"):
                    a[0] = 2
                with pytest.raises(ValueError, match="WRITEABLE"):
                    a.flags.writeable = True


def test_dropping_ones_brings_ones():
    with mat.ones_view(4) as one:
        one.to_numpy()
        one.close()
        assert one.tolist() == [1] * 4
        one.drop("host", force=True)
        assert one.tolist() == [1] * 4
        one.adjust_(9).fill_(3)
    with mat.ones_view(9) as one:
        assert one.tolist() == [1] * 9


def test_ones_are_made_once():
    with mat.ones_view(100) as one:
        one.to_numpy()
    with (mat.debug.count_allocations() as n, mat.ones_view((5, 5)) as one,
          mat.ones_view(100) as other):
        assert one.storage is other.storage
        one.to_numpy()
    assert n.count == 0
    assert in_thread(lambda: mat.ones_view(1).__enter__().storage) is not other.storage


def test_ones_grow_and_old_ones_stay():
    with mat.ones_view(3) as small, mat.ones_view(1000) as large:
        assert small.tolist() == [1] * 3
        assert large.sum().item() == 1000
    assert small.tolist() == [1] * 3  # harmless: nobody can write it


def test_ones_sum_rows_and_columns_by_blas(rng):
    a = rng.standard_normal((5, 7))
    x = mat.array(a)
    with mat.ones_view(7) as one, mat.debug.count_copies() as n:
        rows = mat.gemv(1, x, one, 0, mat.empty(5)).to_numpy()
    np.testing.assert_allclose(rows, a.sum(1), rtol=1e-12)
    with mat.ones_view((1, 5)) as one:
        np.testing.assert_allclose((one @ x).to_numpy()[0], a.sum(0), rtol=1e-12)
    assert n.packs == 0
