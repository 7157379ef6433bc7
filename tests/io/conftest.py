"""Fixtures for tests of files."""

import pytest

from mat.io import streams


@pytest.fixture
def small_chunks(monkeypatch):
    """Make the few elements of a test many chunks."""
    monkeypatch.setattr(streams, "CHUNK", 32)
    monkeypatch.setattr(streams, "FIRST", 16)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A new folder, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
