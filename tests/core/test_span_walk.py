"""Random walks over views of a storage, beside a model of its elements: see `span_walk`."""

import pytest

from mat.core import spanned

from ..support import selection
from .span_walk import Walk

pytestmark = pytest.mark.host

WORLDS = {
    "host and device": {"facets": ("array", "emulated")},
    "two devices": {"facets": ("array", "emulated:0", "emulated:1")},
    "small pool": {"facets": ("array", "emulated"), "pool_bytes": 300},
    "one axis": {"facets": ("array", "emulated"), "shape": (40,), "dtype": "float32"},
}


@pytest.mark.parametrize("world", WORLDS)
def test_elements_are_what_the_model_has(world, monkeypatch):
    monkeypatch.setattr(spanned, "SMALL", 0)
    for seed in range(selection.most(100, 6)):
        Walk(seed, **WORLDS[world]).run(250)
