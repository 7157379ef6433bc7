"""What the trace, the progress and the plan say of tiles on a GPU."""

import numpy as np
import pytest

import mat

pytestmark = pytest.mark.usefixtures("cuda")
POOL = 100_000


@pytest.mark.parametrize(("name", "call"), [
    ("add", lambda x, y: x + y), ("add", lambda x, y: x.add_(y)),
    ("sum", lambda x, y: x.sum(axis=0)),
    ("matmul", lambda x, y: x @ y), ("cumsum", lambda x, y: mat.cumsum(x, axis=1)),
    ("sort", lambda x, y: mat.sort(x, axis=1))])
def test_tiles_are_told_of_once_each(name, call):
    rng, seen = np.random.default_rng(3), []
    x, y = (mat.array(rng.random((300, 300))) for _ in range(2))
    with mat.use_device("cuda", pool_bytes=POOL, required=True):
        plan = mat.debug.plan(call, x, y)
    with mat.debug.trace() as t, mat.settings(progress=lambda *found: seen.append(found)), \
            mat.use_device("cuda", pool_bytes=POOL, required=True):
        found = call(x, y)
    found.close()
    (cut,) = t.tiled
    assert (cut.operation, cut.device, cut.line.partition(":")[0]) == (name, "cuda:0", __file__)
    assert cut.tiles == len(seen) == next(c.tiles for c in plan.calls if c.tiles > 1)
    assert seen[-1] == (cut.nbytes, cut.nbytes)
    assert repr(t).count("was cut into") == 1
    assert t.ping_pong() == []
    assert plan.moved == t.bytes
