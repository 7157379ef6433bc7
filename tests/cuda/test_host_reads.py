"""Operands that a GPU reads in page-locked host memory, where copying them would only evict others
that are used again.
"""

import numpy as np
import pytest

import mat

N = 160
SLACK = 40_000


class Reads(mat.extend.Observer):
    """The views that were read in host memory."""

    def __init__(self):
        self.views = []

    def read_in_host(self, view, memory, nbytes, evicted):
        self.views.append(view)


def made(page_locked, count=3):
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-9, 9, size=(N, N)).astype("float64") for _ in range(count)]
    operands = [mat.empty(N, N) for _ in arrays]
    with mat.settings(page_locked=page_locked):
        for x, a in zip(operands, arrays, strict=True):
            with x.facet("array", "output") as host:
                host[...] = a
    return arrays, operands


CALLS = {"product": lambda a: a @ a[0], "row sums": lambda a: a.sum(axis=1),
         "column sums": lambda a: a.sum(axis=0), "transposed": lambda a: a.T.max(axis=0),
         "every other row": lambda a: a[::2].sum(axis=0),
         "gemv": lambda a: a.T @ a[0]}


@pytest.mark.parametrize("page_locked", [True, False])
@pytest.mark.parametrize("name", CALLS)
def test_page_locked_operands_stay_on_the_host(cuda, name, page_locked):
    call = CALLS[name]
    arrays, operands = made(page_locked)
    wanted = [call(a) for a in arrays]
    reads = Reads()
    with (mat.settings(page_locked=page_locked),
          mat.use_device("cuda", pool_bytes=arrays[0].nbytes + SLACK), mat.extend.observe(reads)):
        for _ in range(4):
            for x, right in zip(operands, wanted, strict=True):
                np.testing.assert_array_equal(call(x).to_numpy(), right)
    assert len(reads.views) == (6 if page_locked else 0)


def test_the_host_may_write_after_the_call(cuda):
    arrays, operands = made(True)
    pool = arrays[0].nbytes + SLACK
    with mat.settings(page_locked=True), mat.use_device("cuda", pool_bytes=pool):
        for _ in range(2):
            for x in operands:
                x.sum(axis=0)
        found = operands[0].sum(axis=0)
        with operands[0].facet("array", "output") as host:
            host[...] = np.nan
        np.testing.assert_array_equal(found.to_numpy(), arrays[0].sum(axis=0))
