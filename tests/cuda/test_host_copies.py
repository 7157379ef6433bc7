"""Copies into and out of page-locked buffers by several threads."""

import importlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.support.native import lib

from .computing import only_there

pytest.importorskip("cuda.core", reason="cuda-python is not installed")


@pytest.fixture
def shared(monkeypatch):
    """The sizes in bytes of copies that several threads share, from now on."""
    copies, kernel = (importlib.import_module(f"mat.{name}")
                      for name in ("cuda.runtime.staging", "cpu.kernel"))
    found, share = [], kernel.share

    def noted(*arguments):
        found.append(arguments[5] >= 2 * arguments[6])
        share(*arguments)

    monkeypatch.setattr(kernel, "share", noted)
    return copies, found


@pytest.mark.skipif(lib is None, reason="nothing is compiled")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n", [0, 1, 1000, (1 << 18) - 1, (1 << 18) + 1, 1_234_567, 4 << 20])
def test_all_bytes_are_copied_and_no_others(shared, rng, n, threads):
    copies, found = shared
    source = rng.integers(0, 255, n + 7, np.uint8)
    target = np.full(n + 16, 7, np.uint8)
    with mat.settings(threads=threads):
        copies.copy_array(source[3:n + 3], target[5:n + 5])
    assert_array_equal(target[5:n + 5], source[3:n + 3])
    assert (target[:5] == 7).all()
    assert (target[n + 5:] == 7).all()
    assert found == ([True] if n >= 1 << 18 else [])


@pytest.mark.skipif(lib is None, reason="nothing is compiled")
@pytest.mark.parametrize("letter", "Bhfd")
def test_rows_are_copied(shared, rng, letter):
    copies, found = shared
    source = rng.integers(0, 100, (700, 1200)).astype(letter)[:, 100:1000]
    target = np.zeros((700, 900), letter)
    copies.copy_array(source, target)
    assert_array_equal(target, source)
    back = np.zeros((700, 1200), letter)
    copies.copy_array(target, back[:, 100:1000])
    assert_array_equal(back[:, 100:1000], source)
    assert not back[:, :100].any()
    assert not back[:, 1000:].any()
    assert found == [True, True]


@pytest.mark.unchecked("the check makes copies of its own")
@pytest.mark.skipif(lib is None, reason="nothing is compiled")
@pytest.mark.parametrize("ahead", [False, True])
def test_staged_copies_are_shared(cuda, dev, shared, rng, ahead):
    _, found = shared
    values = rng.random(1_500_000)  # three pieces
    x = mat.from_numpy(values.copy())
    with mat.settings(page_locked=True):
        if ahead:
            with mat.prefetch(to_device=[x]):
                pass
        only_there(x)
        sent = len(found)
        assert found == [True] * (1 if ahead else 3)
        if ahead:
            with mat.prefetch(to_host=[x]):
                pass
        assert_array_equal(x.to_numpy(), values)
    assert len(found) > sent
    assert all(found)


def test_without_compiled_kernels_numpy_copies(monkeypatch, rng):
    copies = importlib.import_module("mat.cuda.runtime.staging")
    monkeypatch.setattr(copies, "lib", None)
    source, target = rng.random(100_000), np.zeros(100_000)
    copies.copy_array(source, target)
    assert_array_equal(target, source)
