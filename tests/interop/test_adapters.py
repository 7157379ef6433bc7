"""Libraries that look at the class of an array: einops, numba, torch's batches, PIL, polars."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.core.compiled import BLOCKS

needs_buffers = pytest.mark.skipif(not BLOCKS.enabled and sys.version_info < (3, 12),
                                   reason="before Python 3.12, buffers are compiled")
BUFFERED = ["?", "b", "B", "h", "H", "i", "I", "l", "q", "Q", "e", "f", "d", "F", "D"]


def square(dtype="f8"):
    return mat.array(np.arange(12).reshape(3, 4).astype(dtype))


@needs_buffers
@pytest.mark.parametrize("dtype", BUFFERED)
def test_buffers_are_read_only_exports_of_any_layout(dtype):
    for x in (square(dtype), square(dtype).T, square(dtype)[1:, ::2], square(dtype)[0, 0, ...]):
        view, wanted = memoryview(x), x.to_numpy()
        assert (view.shape, view.readonly, view.nbytes) == (wanted.shape, True, wanted.nbytes)
        assert_array_equal(np.asarray(view), wanted, strict=True)
        with pytest.raises(mat.ConflictError):
            x.fill_(1)
        del view
        x.fill_(1)


@needs_buffers
def test_bytes_of_a_mat_are_its_elements():
    assert bytes(mat.array([1, 2], "u1")) == b"\1\2"
    with pytest.raises(BufferError):
        memoryview(mat.zeros(2, dtype="bfloat16"))


@needs_buffers
def test_the_array_interface_says_what_the_buffer_has():
    for x in (square(), square().T, square("f2")[::2], square("D")):
        found, wanted = x.__array_interface__, x.to_numpy()
        assert (found["shape"], found["typestr"]) == (wanted.shape, wanted.dtype.str)
        strides = found["strides"] or wanted.strides
        assert strides == tuple(s * x.itemsize for s in x.layout.strides)
    assert not hasattr(mat.zeros(2, dtype="bfloat16"), "__array_interface__")
    x = mat.zeros(3)
    assert x.__array_interface__["shape"] == (3,)
    assert x.fresh == set()  # reading it has made nothing


@needs_buffers
def test_the_array_interface_has_numpys_pair_of_address_and_whether_it_is_read_only():
    for x in (square(), square().T, square()[::-1], mat.zeros(3)):
        address, read_only = x.__array_interface__["data"]
        assert x.__array_interface__["data"][0] == address == np.asarray(x).ctypes.data
        assert read_only is False
        low, high = np.lib.array_utils.byte_bounds(x)
        assert low <= address < high
        assert high - low == x.nbytes
    x += 1  # no export is left
    assert mat.from_numpy(np.broadcast_to(1.0, 3)).__array_interface__["data"][1] is True


class _OnlyTheInterface:
    """An object whose elements NumPy finds by its `__array_interface__` alone."""

    def __init__(self, x):
        self.__array_interface__ = x.__array_interface__


@needs_buffers
@pytest.mark.parametrize("index", [
    (slice(None),), (slice(1, 2), slice(1, 2)), (slice(2, 1, -1), slice(1, 2)),
    (slice(None, None, -1), slice(None, None, 2)), (slice(None), slice(None, None, -2)),
    (slice(None), 1), (1, 1, ...), (slice(0, 0),)])
def test_an_array_of_the_interface_is_an_export(index):
    x, wanted = square(), square().to_numpy()[index]
    for view, expected in ((x[index], wanted), (x[index].T, wanted.T)):
        a = np.asarray(_OnlyTheInterface(view))
        assert_array_equal(a, expected, strict=True)
        if a.size:
            assert np.shares_memory(a, x)
            with pytest.raises(mat.ConflictError):
                x.fill_(1)
        del a
        x[...] = np.arange(12).reshape(3, 4)  # the export has ended


@needs_buffers
def test_an_export_after_a_failed_copy_is_one():
    """NumPy clears the error of a buffer and goes on to the interface."""
    with mat.use_device("emulated") as device:
        x = square() + 0
        device.fail(d2h=1)
        a = np.asarray(x[1:2, 1:2].T)
        assert a.tolist() == [[5]]
        with pytest.raises(mat.ConflictError):
            x.fill_(1)


@needs_buffers
def test_pil_makes_pictures():
    pil = pytest.importorskip("PIL.Image")
    for x in (square("u1"), square("u1").T):
        assert_array_equal(np.asarray(pil.fromarray(x)), x.to_numpy())


def test_einops_rearranges_mats():
    einops = pytest.importorskip("einops")
    x = square()
    for call in (lambda a: einops.rearrange(a, "a (b c) -> c (a b)", b=2),
                 lambda a: einops.reduce(a, "a b -> b", "mean"),
                 lambda a: einops.repeat(a, "a b -> a k b", k=2),
                 lambda a: einops.rearrange([a, a], "k a b -> a (k b)"),
                 lambda a: einops.einsum(a, a, "a b, c b -> a c")):
        found = call(x)
        assert isinstance(found, mat.Mat)
        assert_array_equal(found.to_numpy(), call(x.to_numpy()))


def test_numba_takes_a_mat_as_an_array():
    numba = pytest.importorskip("numba")

    @numba.njit
    def total(a):
        found = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                found += a[i, j]
        return found

    for x in (square(), square("f4").T, square("i8")[:, ::2]):
        assert total(x) == x.to_numpy().sum()
    x.fill_(0)  # nothing of it is exported any more

    @numba.njit
    def write(a):
        a[0, 0] = 1

    with pytest.raises(numba.TypingError):
        write(x)


def test_torch_collates_rows():
    data = pytest.importorskip("torch.utils.data")
    x = square()
    found = data.default_collate([x[0], x[1]])
    assert_array_equal(np.asarray(found), x[:2].to_numpy())
    loader = data.DataLoader([(row, k) for k, row in enumerate(x)], batch_size=3)
    rows, labels = next(iter(loader))
    assert_array_equal(np.asarray(rows), x.to_numpy())
    assert labels.tolist() == [0, 1, 2]


def test_polars_makes_a_table_of_a_matrix():
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    x = square()
    for m in (x, x.T):
        assert_array_equal(polars.DataFrame(m).to_numpy(), m.to_numpy())


def test_pandas_leaves_operators_to_mats_and_keeps_its_labels():
    pd = pytest.importorskip("pandas")
    x = square()
    table = pd.DataFrame(x.to_numpy(), columns=list("abcd"))
    column, v = table["a"], x[:, 0]
    for call in (lambda t, a: t + a, lambda t, a: a - t, lambda t, a: t * a, lambda t, a: a > t,
                 lambda t, a: np.add(t, a), lambda t, a: np.maximum(a, t)):
        pd.testing.assert_frame_equal(call(table, x), call(table, x.to_numpy()))
        pd.testing.assert_series_equal(call(column, v), call(column, v.to_numpy()))
    pd.testing.assert_frame_equal(mat.add(table, x), table + x.to_numpy())


def test_joblib_knows_equal_mats_again():
    joblib = pytest.importorskip("joblib")
    for one, other in ((mat.zeros(3), mat.array([0.0, 0, 0])), (mat.full(2, 7), mat.array([7, 7])),
                       (square().T, mat.array(square().to_numpy().T.copy()))):
        assert joblib.hash(one) == joblib.hash(other)
    assert joblib.hash(mat.zeros(3)) != joblib.hash(mat.ones(3))


def test_xarray_shifts_and_rolls():
    xarray = pytest.importorskip("xarray")
    x = square()
    for call in (lambda a: a.shift(i=1), lambda a: a.rolling(i=2).mean()):
        found, wanted = (call(xarray.DataArray(v, dims=("i", "j"))) for v in (x, x.to_numpy()))
        assert_array_equal(np.asarray(found), wanted)


def test_why_there_is_no_export_is_said():
    """NumPy hides the error of the buffer, and took the Mat for a number."""
    class Refusing(mat.extend.Observer):
        def exported(self, record):
            raise mat.DeviceError("refused")

    x = mat.ones(3)
    with mat.extend.observe(Refusing()), pytest.raises(mat.DeviceError, match="refused"):
        np.asarray(x)
    assert np.asarray(x).tolist() == [1, 1, 1]
