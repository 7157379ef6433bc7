"""Operands that overlap on a CUDA device: as on the host, in ``tests/ops/test_overlap.py``."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ..support import overlapping, selection
from ..support.overlapping import Sight, pairs

CROSSING = Sight(2, (5,), (5,), (0,)), Sight(5, (5,), (1,), (0,))


@settings(max_examples=selection.examples(15))
@given(pairs(), st.integers(0, 2**32))
@example(CROSSING, 0)
def test_operations_on_views_of_one_mat(dev, pair, seed):
    overlapping.check(*pair, "float64", np.random.default_rng(seed))
