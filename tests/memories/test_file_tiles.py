"""Operations on the host whose operands are in files: carried out in tiles, with the same results,
and with the pages of tiles that are done given back.
"""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.memories import file_pages
from mat.memories.host import HOST
from mat.ops.tiles import file_tiles

from ..support.filing import same

pytestmark = pytest.mark.host
SHAPE = 6000, 100  # for less, kernels are called at once: no real file is so small
A = np.random.default_rng(0).normal(size=SHAPE).astype(np.float32)
W = np.random.default_rng(1).normal(size=(SHAPE[1], 8)).astype(np.float32)


@pytest.fixture(params=["mapped", "by columns", "spilled"])
def x(request, tmp_path, monkeypatch):
    """A Mat in a file that counts as large."""
    monkeypatch.setattr(file_pages, "LEAST_LARGE", 1 << 20)
    monkeypatch.setattr(file_tiles, "TILE", 1 << 18)
    if request.param == "spilled":
        with mat.settings(spill_dir=tmp_path, spill_above=1 << 18):
            yield mat.array(A)
    else:
        found = mat.open_memmap(tmp_path / "x.npy", "w+", "float32", SHAPE,
                                request.param == "by columns")
        yield found.assign_(mat.array(A))


class Tiles:
    """The number of tiles, and what was reported of them."""

    def __init__(self):
        self.reports = []

    def __call__(self, done, total):
        self.reports.append((done, total))


EXACT = {  # element by element, or sums in an order that no cut changes
    "exp": lambda x: np.exp(x), "add": lambda x: x + x, "row": lambda x: x - x[:1],
    "column": lambda x: x * x[:, :1], "less": lambda x: x < 0, "copy": lambda x: x.copy(),
    "transposed": lambda x: x.T + 1, "some rows": lambda x: x[::2] * 2,
    "max": lambda x: x.max(axis=0), "argmax": lambda x: x.argmax(axis=1),
    "all": lambda x: (x > -100).all(), "astype": lambda x: x.astype("float64")}
ROUNDED = {
    "sum": lambda x: x.sum(), "columns": lambda x: x.sum(axis=0), "rows": lambda x: x.sum(axis=1),
    "mean": lambda x: x.mean(axis=0), "std": lambda x: x.std(axis=0),
    "product": lambda x: x @ (W if isinstance(x, np.ndarray) else mat.array(W)),
    "left product": lambda x: x.T @ x, "cumsum": lambda x: x.cumsum(axis=0)}


@pytest.mark.parametrize("name", [*EXACT, *ROUNDED])
def test_tiles_give_the_results_of_the_whole(x, name):
    call, tiles = (EXACT | ROUNDED)[name], Tiles()
    with mat.settings(progress=tiles):
        found = call(x)
    assert len(tiles.reports) > 1
    if name in EXACT:
        with mat.settings(spill_above=None):
            assert_array_equal(found.to_numpy(), call(mat.array(A)).to_numpy())
    else:
        expected = call(A)
        assert found.shape == expected.shape
        assert_allclose(found.to_numpy(), expected, rtol=5e-4, atol=2e-3)
    same(x, A)


def test_in_place(x):
    tiles = Tiles()
    with mat.settings(progress=tiles):
        x -= x.mean(axis=0)
        x /= x.std(axis=0)
    assert len(tiles.reports) > 10
    expected = (A - A.mean(axis=0)) / A.std(axis=0)
    assert_allclose(x.to_numpy(), expected, rtol=1e-3, atol=1e-3)


def test_reports_end_with_all_bytes(x):
    tiles = Tiles()
    with mat.settings(progress=tiles):
        x.sum(axis=0)
    done = [d for d, _ in tiles.reports]
    assert done == sorted(done)
    assert tiles.reports[-1] == (x.nbytes, x.nbytes)


def test_pages_of_passed_tiles_are_given_back(x, monkeypatch):
    passed = []
    release = file_pages.FilePages.release

    def noted(pages, begin, end):
        passed.append((begin, end))
        release(pages, begin, end)

    monkeypatch.setattr(file_pages.FilePages, "release", noted)
    x.sum(axis=0)
    start = HOST.address_of(x.storage.handles[HOST]) - x.storage.handles[HOST].base.address
    assert min(begin for begin, _ in passed) == start
    assert max(end for _, end in passed) == start + x.nbytes
    assert all(end - begin <= file_tiles.TILE for begin, end in passed)


def test_tiles_of_operands_that_are_read_once_are_smaller(x):
    tiles = Tiles()
    with mat.settings(progress=tiles):
        x.max()
        read_once = len(tiles.reports)
        if x.element_strides[1] == 1:
            tiles.reports.clear()
            _ = x @ mat.ones(SHAPE[1], 20, dtype="float32")
            assert 0 < len(tiles.reports) < read_once
    assert read_once >= file_tiles.SMALLER * x.nbytes // file_tiles.TILE


@pytest.fixture
def uncached(monkeypatch):
    """Have nothing be in the system's memory, as far as is known."""
    monkeypatch.setattr(file_pages.FilePages, "is_cached", lambda pages, begin, end: False)


def populated(monkeypatch, found):
    """Have `populate` note the ranges of bytes, and do what ``found()`` says."""
    asked = []

    def populate(pages, begin, end):
        asked.append((begin, end))
        return found()

    monkeypatch.setattr(file_pages.FilePages, "populate", populate)
    return asked


def test_each_byte_is_read_ahead(x, uncached, monkeypatch):
    asked = populated(monkeypatch, lambda: True)
    x.max()
    start = HOST.address_of(x.storage.handles[HOST]) - x.storage.handles[HOST].base.address
    at = start
    for begin, end in sorted(asked):
        assert begin <= at
        at = max(at, end)
    assert at >= start + x.nbytes


def test_where_pages_cannot_be_mapped_ahead_they_are_announced(x, uncached, monkeypatch):
    asked = populated(monkeypatch, lambda: False)
    announced = []
    monkeypatch.setattr(file_pages.FilePages, "announce",
                        lambda pages, begin, end: announced.append((begin, end)))
    assert x.max().item() == A.max()
    assert announced == asked


def test_what_is_in_memory_is_not_read_ahead(x, monkeypatch):
    asked = populated(monkeypatch, lambda: True)
    monkeypatch.setattr(file_pages.FilePages, "is_cached", lambda pages, begin, end: True)
    assert x.max().item() == A.max()
    assert asked == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_of_the_thread_that_reads_ahead_stops_nothing(x, uncached, monkeypatch):
    def fail():
        raise RuntimeError

    populated(monkeypatch, fail)
    assert x.max().item() == A.max()


def test_an_error_in_a_report_ends_the_call(x):
    def fail(done, total):
        raise KeyboardInterrupt

    with mat.settings(progress=fail), pytest.raises(KeyboardInterrupt):
        x.sum(axis=0)
    same(x, A)
    assert_allclose(x.sum(axis=0).to_numpy(), A.sum(axis=0), rtol=1e-3, atol=1e-3)


def test_small_parts_are_not_cut(x):
    tiles = Tiles()
    with mat.settings(progress=tiles):
        part = x[:1000] if x.element_strides[1] == 1 else x[:, :10]
        assert part.exp().shape == part.shape
    assert tiles.reports == []


def test_operands_without_files_are_not_cut(x):
    tiles = Tiles()
    with mat.settings(progress=tiles, spill_above=None):
        _ = mat.array(A) + 1
    assert tiles.reports == []


def test_a_file_that_is_cut_off_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setattr(file_pages, "LEAST_LARGE", 1 << 20)
    monkeypatch.setattr(file_tiles, "TILE", 1 << 18)
    path = tmp_path / "x.npy"
    x = mat.open_memmap(path, "w+", "float32", SHAPE)

    def cut(done, total):
        if 2 * done > total:
            os.truncate(path, 1000)

    with (mat.settings(progress=cut),
          pytest.raises(mat.DiskError, match="cut off by another program")):
        x.sum(axis=0)


def test_on_a_device_nothing_changes(x):
    with mat.use_device("emulated"):
        assert_allclose(x.sum(axis=0).to_numpy(), A.sum(axis=0), rtol=1e-3, atol=1e-3)
