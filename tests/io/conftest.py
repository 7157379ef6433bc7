"""Fixtures for tests of files."""

import pytest

from mat.io import streams


@pytest.fixture
def small_chunks(monkeypatch):
    """Make the few elements of a test many chunks."""
    monkeypatch.setattr(streams, "CHUNK", 32)
    monkeypatch.setattr(streams, "FIRST", 16)
