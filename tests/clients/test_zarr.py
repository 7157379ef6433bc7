"""zarr: Mats as the elements of chunked arrays."""

import pytest

from .rows import Rows, rows_checked
from .samples import square

zarr = pytest.importorskip("zarr")
row = Rows("zarr", globals())


def assigned(x, chunks):
    z = zarr.create_array({}, shape=(3, 4), chunks=chunks, dtype="float64")
    z[:] = x
    return z[:]


row("zarr.create_array({}, data=np.asarray(x))[:]", square)
row("mat.from_numpy(zarr.create_array({}, data=np.asarray(x))[:])", square)
row("assigned(x, chunks=(2, 3))", square)
row("assigned(x, chunks=(3, 4))", square)
row("zarr.create_array({}, data=x)", square)

test_zarr = rows_checked(row)
