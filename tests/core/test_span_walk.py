"""Random walks over views of a storage, beside a model of its elements: see `span_walk`."""

import pytest

from mat.core import coherence, runs
from mat.matrix import base

from ..support import selection
from .span_walk import Walk

pytestmark = [pytest.mark.host]

WORLDS = {
    "host and device": {"facets": ("array", "emulated")},
    "two devices": {"facets": ("array", "emulated:0", "emulated:1")},
    "small pool": {"facets": ("array", "emulated"), "pool_bytes": 300},
    "few elements": {"facets": ("array", "emulated"), "shape": (4,)},  # parts are joined often
    "one axis": {"facets": ("array", "emulated"), "shape": (40,), "dtype": "float32"},
}


def test_accesses_to_what_is_between_many_runs(monkeypatch):
    """Where views have more runs than an access keeps apart, and sets of runs are arrays."""
    monkeypatch.setattr(coherence, "SMALL", 0)
    monkeypatch.setattr(base, "MOST_RUNS", 2)
    monkeypatch.setattr(runs, "MANY", 3)
    for seed in range(selection.most(100, 5)):
        Walk(seed, facets=("array", "emulated"), exact=False).run(250)


@pytest.mark.parametrize("world", WORLDS)
def test_elements_are_what_the_model_has(world, monkeypatch):
    monkeypatch.setattr(coherence, "SMALL", 0)
    for seed in range(selection.most(100, 4)):
        Walk(seed, **WORLDS[world]).run(250)
