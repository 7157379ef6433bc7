"""h5py: Mats as data of HDF5 files, and read from there."""

import io

import numpy as np
import pytest

from .rows import Rows, rows_checked
from .samples import line, square

h5py = pytest.importorskip("h5py")
row = Rows("h5py", globals())


def file():
    return h5py.File(io.BytesIO(), "w")


def holding(x):
    """Return a file with a dataset of the Mat."""
    return file().create_dataset("x", data=np.array(x))


def overwritten(x):
    """Return a dataset, of which parts are assigned."""
    dataset = holding(np.zeros((3, 4)))
    dataset[1:] = x[:2]
    dataset[0, ::2] = x[2, 1:3]
    return dataset[()]


def attribute(x):
    attributes = file().attrs
    attributes["x"] = x
    return attributes["x"]


def read_into(y, dataset):
    """Read a dataset directly into the Mat."""
    with y.facet("array", "output") as a:
        dataset.read_direct(a)
    return y


row("file().create_dataset('x', data=x)[()]", square)
row("file().create_dataset('x', data=x, compression='gzip')[()]", square)
row("overwritten(x)", square)
row("attribute(x)", line)
row("mat.array(holding(x))", square)
row("read_into(mat.empty(3, 4), holding(x))", square)
row("holding(np.zeros((3, 4))).read_direct(x)", square, refuses=TypeError)

test_h5py = rows_checked(row)
