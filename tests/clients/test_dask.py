"""dask.array: Mats are chunks, and stay Mats."""

import numpy as np
import pytest

import mat

from .rows import Rows, rows_checked
from .samples import square

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
row = Rows("dask", globals())


def chunks(x):
    """Return an array of which each chunk is a view of the Mat."""
    dask.config.set(scheduler="synchronous")  # whose copies are the same every time
    return da.from_array(x, chunks=(1, 2), asarray=False)


row("chunks(x).compute()", square)
row("(chunks(x) * 2 + 1).compute()", square)
row("np.exp(chunks(x)).compute()", square)
row("chunks(x).sum().compute()", square)
row("chunks(x).mean(axis=0).compute()", square)
row("chunks(x).std().compute()", square)
row("chunks(x).max(axis=1).compute()", square)
row("chunks(x).argmax(axis=1).compute()", square)
row("(chunks(x) @ chunks(x).T).compute()", square)
row("da.tensordot(chunks(x), chunks(x), axes=((0, 1), (0, 1))).compute()", square)
row("da.einsum('ij,kj->ik', chunks(x), chunks(x)).compute()", square)
row("da.linalg.norm(chunks(x)).compute()", square)
row("da.where(chunks(x) > 3, chunks(x), 0).compute()", square)
row("da.concatenate([chunks(x), chunks(x)]).compute()", square)
row("da.stack([chunks(x), chunks(x)]).compute()", square)
row("chunks(x)[1:, ::2].compute()", square)
row("chunks(x).T.compute()", square)
row("chunks(x).rechunk(3).compute()", square)
row("chunks(x).reshape(12).compute()", square)
row("chunks(x).map_blocks(lambda c: c * 2).compute()", square)
row("da.from_array(x, chunks=2).compute()", square)

test_dask = rows_checked(row)


@pytest.mark.host
def test_tokens_are_of_the_contents():
    x = mat.array(square())
    y = x.T.copy().T
    assert dask.tokenize.tokenize(x) == dask.tokenize.tokenize(mat.array(square()))
    assert dask.tokenize.tokenize(x) != dask.tokenize.tokenize(x[:2])
    assert dask.tokenize.tokenize(x) != dask.tokenize.tokenize(x.astype("float32"))
    token = dask.tokenize.tokenize(x)
    with mat.use_device("emulated"):
        with y.facet("emulated"):
            pass
        dask.tokenize.tokenize(y)
        assert y.fresh == {"emulated"}
    x[0, 0] = 7
    assert dask.tokenize.tokenize(x) != token


def test_threads_share_a_mat():
    a = np.random.default_rng(1).normal(size=(200, 300))
    x = da.from_array(mat.array(a), chunks=(50, 60), asarray=False)
    for threads in (2, 4):
        found = ((x @ x.T) * 2 - x.sum()).compute(scheduler="threads", num_workers=threads)
        assert type(found) is mat.Mat
        np.testing.assert_allclose(found.to_numpy(), a @ a.T * 2 - a.sum())


def test_spilling_knows_the_bytes():
    sizeof = pytest.importorskip("dask.sizeof").sizeof
    assert sizeof(mat.array(square())) >= 96
