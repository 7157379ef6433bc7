"""Chunks on a GPU in dask's family "cuda": they are sent from and to memory of GPUs."""

import numpy as np
import pytest

import mat

pytest.importorskip("distributed")
from distributed.protocol import deserialize, serialize

pytestmark = pytest.mark.host
FAMILIES = ("cuda", "dask", "pickle")


class Received:
    """A copy of a frame in memory of the receiver, as transports allocate it."""

    def __init__(self, frame):
        driver = pytest.importorskip("cuda.bindings.driver")
        self.nbytes = frame.nbytes
        self.mat = mat.empty(frame.nbytes, dtype="uint8")
        with self.mat.facet("cuda", "output") as to:
            source = frame.__cuda_array_interface__["data"][0]
            with to.gpu.current():
                (status,) = driver.cuMemcpyDtoD(to.address, source, self.nbytes)
            assert status == 0
        self.__cuda_array_interface__ = self.mat.__cuda_array_interface__


@pytest.fixture
def dev(cuda):
    with mat.use_device("cuda", required=True) as device:
        yield device


def on_gpu(shape=(3, 4), dtype="float64"):
    x = mat.arange(float(np.prod(shape))).reshape(shape).astype(dtype)
    x += 1
    assert x.fresh == {"cuda:0"}
    return x


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.T, lambda x: x[1], lambda x: x[:, ::2]],
                         ids=["whole", "transposed", "row", "gaps"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_chunks_stay_on_the_gpu(view, dtype, dev):
    x = view(on_gpu(dtype=dtype))
    with mat.debug.count_copies() as n:
        header, (frame,) = serialize(x, serializers=FAMILIES)
        assert header["serializer"] == "cuda"
        assert frame.nbytes == x.nbytes
        y = deserialize(header, [Received(frame)])
        assert (n.d2h, n.h2d) == (0, 0)
    assert y.fresh == {"cuda:0"}
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    np.testing.assert_array_equal(y.to_numpy(), x.to_numpy())


def test_what_is_sent_is_not_written_meanwhile(dev):
    x = on_gpu()
    _, (frame,) = serialize(x, serializers=FAMILIES)
    with pytest.raises(mat.ConflictError):
        x += 1
    del frame
    x += 1


def test_what_is_received_can_be_written(dev):
    header, (frame,) = serialize(on_gpu(), serializers=FAMILIES)
    y = deserialize(header, [Received(frame)])
    y *= 2
    assert y.fresh == {"cuda:0"}
    np.testing.assert_array_equal(y.to_numpy(), 2 * (np.arange(12.0).reshape(3, 4) + 1))


def test_what_is_on_the_host_goes_through_it(dev):
    assert serialize(mat.array([1.0]), serializers=FAMILIES)[0]["serializer"] == "dask"
    assert serialize(mat.ones(3), serializers=FAMILIES)[0]["serializer"] == "dask"
    header, _ = serialize(on_gpu(dtype="bfloat16"), serializers=FAMILIES)
    assert header["serializer"] == "dask"


def test_other_transports_get_them_from_the_host(dev):
    x = on_gpu()
    header, frames = serialize(x)
    assert header["serializer"] == "dask"
    assert x.fresh == {"cuda:0"}
    y = deserialize(header, [memoryview(bytearray(f)) for f in frames])
    np.testing.assert_array_equal(y.to_numpy(), x.to_numpy())


def test_parts_that_do_not_fit_are_refused(dev):
    header, _ = serialize(on_gpu(), serializers=FAMILIES)
    _, (frame,) = serialize(on_gpu((2, 2)), serializers=FAMILIES)
    with pytest.raises(mat.FormatError, match="96 bytes, got 32"):
        deserialize(header, [frame])
