"""torch: tensors of Mats, and Mats of tensors."""

import pytest

from .rows import Rows, rows_checked
from .samples import indices, square

torch = pytest.importorskip("torch")
row = Rows("torch", globals())


def ones(*shape):
    return torch.ones(shape, dtype=torch.float64)


row("torch.asarray(x)", square)
row("torch.as_tensor(x)", square)
row("torch.from_dlpack(x)", square)
row("torch.tensor(x)", square)
row("torch.from_numpy(np.array(x))", square)
row("mat.from_numpy(torch.as_tensor(x).numpy())", square)
row("mat.from_dlpack(torch.as_tensor(x))", square)
row("mat.from_dlpack(ones(3, 4)) + x", square)
row("mat.array(ones(3, 4)) + x", square)
row("ones(3, 4)[x]", indices)
row("torch.from_numpy(x)", square, refuses=TypeError)
row("ones(3, 4) + x", square, refuses=TypeError)
row("x @ ones(4, 2)", square, refuses=TypeError)

test_torch = rows_checked(row)
