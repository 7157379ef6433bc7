"""The progress of operations in tiles, on devices and of files, as a function and as a bar."""

import importlib
import sys
import types
from typing import ClassVar

import numpy as np
import pytest

import mat
from mat.support.progress import ProgressBar

pytestmark = pytest.mark.host
POOL = 100_000
CALLS = {
    "x + y": lambda x, y: x + y, "x += 1": lambda x, y: x.add_(1.0), "exp": lambda x, y: mat.exp(x),
    "sum": lambda x, y: x.sum(), "sum of columns": lambda x, y: x.sum(axis=0),
    "argmax": lambda x, y: x.argmax(), "x @ y": lambda x, y: x @ y, "x @ y.T": lambda x, y: x @ y.T,
    "sort": lambda x, y: mat.sort(x, axis=0), "cumsum": lambda x, y: mat.cumsum(x, axis=1),
    "x.T + y": lambda x, y: x.T + y, "fill": lambda x, y: x.fill_(2), "var": lambda x, y: x.var(),
}


def numbers():
    rng = np.random.default_rng(3)
    return [mat.array(rng.random((300, 300))) for _ in range(2)]


@pytest.mark.parametrize("name", CALLS)
def test_it_is_called_for_each_tile_on_a_device(name):
    seen = []
    with mat.debug.trace() as t, mat.settings(progress=lambda *found: seen.append(found)), \
            mat.use_device("emulated", pool_bytes=POOL):
        CALLS[name](*numbers())
    (total,) = {found[1] for found in seen}
    done = [found[0] for found in seen]
    assert total == t.tiled[0].nbytes
    assert len(seen) >= t.tiled[0].tiles > 4
    assert done == sorted(done)
    assert done.count(total) == 1
    assert 0 < done[0] < 0.2 * total
    assert 0.2 * total < done[len(done) // 2] < 0.9 * total  # no bar that is full at once


def test_what_fits_reports_nothing():
    def fail(done, total):
        raise AssertionError

    with mat.settings(progress=fail), mat.use_device("emulated", pool_bytes=10_000_000):
        CALLS["x + y"](*numbers())


def test_an_error_of_the_function_undoes_the_operation():
    x, calls = numbers()[0], []

    def stop(done, total):
        calls.append(done)
        if len(calls) == 3:
            raise KeyboardInterrupt

    before = x.to_numpy()
    with mat.settings(progress=stop), mat.use_device("emulated", pool_bytes=POOL), \
            pytest.raises(KeyboardInterrupt):
        x += 1
    assert len(calls) == 3
    np.testing.assert_array_equal(x.to_numpy(), before)


def test_the_function_may_compute_in_tiles_itself():
    x, y = numbers()
    found = []
    with mat.use_device("emulated", pool_bytes=POOL), \
            mat.settings(progress=lambda done, total: found.append(float(inner(y)))):
        x += 1
    assert len(found) > 4
    assert found == pytest.approx([y.to_numpy().sum()] * len(found))


def inner(y):
    with mat.settings(progress=None):
        return y.sum()


class FakeBar:
    """What is used of tqdm's bar."""

    made: ClassVar = []

    def __init__(self, **settings):
        self.settings, self.n, self.closed = settings, 0, False
        self.made.append(self)

    def update(self, n):
        assert not self.closed
        self.n += n

    def close(self):
        self.closed = True


@pytest.fixture(params=["tqdm", "none"])
def bars(request, monkeypatch):
    """The bars that are made, where tqdm is installed and where not."""
    monkeypatch.setattr(FakeBar, "made", [])
    if request.param == "none":
        monkeypatch.setitem(sys.modules, "tqdm", None)
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        return None
    for name in ("tqdm", "tqdm.auto"):
        module = types.ModuleType(name)
        module.tqdm = FakeBar
        monkeypatch.setitem(sys.modules, name, module)
    return FakeBar.made


def check_shown(bars, name, total, text):
    if bars is None:
        assert f"{name}: 100 % of {total:,} bytes\n" in text
        return
    bar = bars.pop(0)
    assert (bar.settings["total"], bar.settings["desc"], bar.n, bar.closed) == (total, name, total,
                                                                                True)
    assert not text


def test_true_shows_a_bar(bars, capsys, tmp_path):
    x, y = numbers()
    with mat.settings(progress=True), mat.use_device("emulated", pool_bytes=POOL):
        x.add_(y)
    check_shown(bars, "add", 2 * x.nbytes, capsys.readouterr().err)
    mat.save(tmp_path / "x.npy", x, progress=True)
    check_shown(bars, "save", x.nbytes, capsys.readouterr().err)
    mat.load(tmp_path / "x.npy", progress=True)
    check_shown(bars, "load", x.nbytes, capsys.readouterr().err)
    mat.save_all(tmp_path / "x.npz", {"x": x}, progress=True)
    check_shown(bars, "save", x.nbytes + 128, capsys.readouterr().err)
    with mat.settings(progress=False), mat.use_device("emulated", pool_bytes=POOL):
        x.add_(y)
    mat.save(tmp_path / "x.npy", x, progress=False)
    assert not bars
    assert capsys.readouterr().err == ""


def test_an_error_ends_the_line(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    bar = ProgressBar("add")
    bar(30, 100)
    del bar
    assert capsys.readouterr().err == "\radd:  30 % of 100 bytes\n"


def test_without_standard_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys, "stderr", None)
    bar = ProgressBar("add")
    bar(50, 100)
    bar(100, 100)


def test_the_real_tqdm(capsys):
    pytest.importorskip("tqdm")
    importlib.import_module("tqdm.auto")
    x, y = numbers()
    with mat.settings(progress=True), mat.use_device("emulated", pool_bytes=POOL):
        x.add_(y)
    assert "add: 100%" in capsys.readouterr().err
