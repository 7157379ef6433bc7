"""safetensors: its own functions want arrays of NumPy; ``mat.save_all`` writes the same files."""

import pytest

from .rows import Rows, rows_checked
from .samples import square

numpy_of = pytest.importorskip("safetensors.numpy")
save, load = numpy_of.save, numpy_of.load
row = Rows("safetensors", globals())

row("load(save({'x': np.asarray(x)}))['x']", square)
row("mat.from_numpy(load(save({'x': np.asarray(x)}))['x'])", square)
row("save({'x': x})", square)

test_safetensors = rows_checked(row)
