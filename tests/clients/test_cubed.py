"""cubed with CUBED_BACKEND_ARRAY_API_MODULE=mat: it computes with Mats, whatever it is given."""

import tempfile

import pytest

from .apart import rows_checked_apart
from .rows import Rows
from .samples import square

BACKEND = {"CUBED_BACKEND_ARRAY_API_MODULE": "mat"}
cubed = pytest.importorskip("cubed")
xp = pytest.importorskip("cubed.array_api")
FOLDER = tempfile.TemporaryDirectory()
SPEC = cubed.Spec(FOLDER.name, allowed_mem="200MB", executor_name="single-threaded")
row = Rows("cubed", globals())


def chunks(x):
    """Return an array of chunks, which cubed keeps in files."""
    return cubed.from_array(x, chunks=(1, 2), spec=SPEC)


row("chunks(x).compute()", square)
row("(chunks(x) * 2 + 1).compute()", square)
row("xp.exp(chunks(x)).compute()", square)
row("xp.sum(chunks(x)).compute()", square)
row("xp.mean(chunks(x), axis=0).compute()", square)
row("xp.var(chunks(x), axis=1).compute()", square)
row("cubed.nansum(chunks(x)).compute()", square)
row("xp.max(chunks(x), axis=1).compute()", square)
row("xp.argmax(chunks(x), axis=1).compute()", square)
row("(chunks(x) @ chunks(x).T).compute()", square)
row("xp.where(chunks(x) > 3, chunks(x), 0).compute()", square)
row("xp.concat([chunks(x), chunks(x)]).compute()", square)
row("xp.stack([chunks(x), chunks(x)]).compute()", square)
row("chunks(x)[1:, ::2].compute()", square)
row("chunks(x).T.compute()", square)
row("chunks(x).rechunk((3, 1)).compute()", square)
row("cubed.map_blocks(lambda b: b * 2, chunks(x), dtype=float).compute()", square)
row("xp.linalg.qr(chunks(x).rechunk((1, 4)))[1].compute()", square)

test_cubed = rows_checked_apart(row, **BACKEND)
