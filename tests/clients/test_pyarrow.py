"""pyarrow: columns and tensors of Mats."""

import pytest

import mat

from .rows import Rows, rows_checked
from .samples import line, square

pa = pytest.importorskip("pyarrow")
row = Rows("pyarrow", globals())


def memory(array):
    return array.to_numpy(zero_copy_only=True)


def tensor_memory(tensor):
    return tensor.to_numpy()


row("pa.array(x)", line, memory=memory)
row("pa.table({'a': x})", line, memory=lambda table: table["a"].chunk(0).to_numpy())
row("pa.record_batch([x], ['a'])", line, memory=lambda batch: batch.column(0).to_numpy())
row("pa.Tensor.from_numpy(np.asarray(x))", square, memory=tensor_memory)
row("pa.FixedShapeTensorArray.from_numpy_ndarray(x).to_numpy_ndarray()", square)
row("mat.from_numpy(pa.array(x).to_numpy())", line)
row("mat.array(pa.array(x))", line)
row("pa.array(x[::2])", line, memory=lambda array: array.to_numpy(zero_copy_only=False))
row("pa.array(x > 2)", line, memory=lambda array: array.to_numpy(zero_copy_only=False))
row("pa.array(x, type=pa.float32())", line, memory=memory)
row("pa.Tensor.from_numpy(x)", square, refuses=pa.lib.ArrowTypeError)
row("pa.scalar(x.sum())", line, refuses=pa.lib.ArrowInvalid)

test_pyarrow = rows_checked(row)


@pytest.mark.parametrize("dtype", [d for d in mat.supported_dtypes
                                   if not d.startswith(("bfloat", "complex", "float8"))])
def test_columns_of_every_dtype(dtype):
    x = mat.array([1, 0, 1], dtype)
    column = pa.array(x)
    assert str(column.type) == {"float16": "halffloat", "float32": "float",
                                "float64": "double"}.get(dtype, dtype)
    assert column.to_pylist() == x.tolist()
    if dtype != "bool":  # of which Arrow has eight to a byte
        with pytest.raises(mat.ConflictError, match="test_pyarrow"):
            x.fill_(1)
    del column
    x.fill_(1)


def test_mats_that_are_no_columns():
    for dtype in ("bfloat16", "complex64", "complex128"):
        with pytest.raises(mat.DTypeError, match=dtype):
            pa.array(mat.ones(3, dtype=dtype))
    for shape in ((), (2, 3)):
        with pytest.raises(mat.ShapeError, match="axes"):
            pa.array(mat.ones(shape))
