"""Operations of each kind in a graph do what they do outside of it."""

import numpy as np
import pytest

import mat

pytestmark = [pytest.mark.host, pytest.mark.unchecked(
    "functions run then, instead of being repeated")]


OPERATIONS = {
    "element-wise": lambda x, y, s: (x.tanh_(), mat.maximum(x, y, out=y), y.add_(1.5)),
    "broadcast": lambda x, y, s: (x.add_(s), y.multiply_(x[0]), x.subtract_(y[:, 1:2])),
    "comparison": lambda x, y, s: x.greater_(y),
    "sums": lambda x, y, s: (mat.sum(x, axis=0, out=s), y.add_(s)),
    "means": lambda x, y, s: (mat.mean(x, axis=0, out=s), y.add_(s)),
    "extremes": lambda x, y, s: (mat.max(x, axis=0, out=s), mat.min(y, axis=1, out=x[1])),
    "accumulating sums": lambda x, y, s: s.sum_(x, 0, 2.0, 0.5),
    "running sums": lambda x, y, s: mat.cumsum(x, axis=1, out=y),
    "products": lambda x, y, s: (x.gemm_(0.5, y, y, 0.0), y.gemm_(0.5, x, x.T, 1.0)),
    "batches": lambda x, y, s: mat.matmul(x.reshape(4, 20, 20)[:2], x.reshape(4, 20, 20)[2:],
                                          out=y.reshape(4, 20, 20)[1:3]),
    "vectors": lambda x, y, s: (mat.axpy(2.0, x, y), mat.gemv(1.0, x, y[0], 0.5, s), x.scal_(0.5)),
    "copies": lambda x, y, s: (mat.transpose(x, out=y), mat.copyto(x, y[::-1])),
    "scaled rows": lambda x, y, s: mat.scale_rows(s, x, out=y),
    "filling": lambda x, y, s: (y.fill_(3), x.add_(y), y.fill_(4)),
    "parts": lambda x, y, s: (x[:20].add_(y[20:]), x[20:, ::2].multiply_(2), y[3].exp_()),
    "swap": lambda x, y, s: (mat.swap(x, y), x.add_(1)),
    "clipping": lambda x, y, s: mat.clip(x, -0.5, 0.5, out=y),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_in_a_graph(cuda, dev, rng, name):
    arrays = [rng.uniform(-1, 1, shape) for shape in ((40, 40), (40, 40), (40,))]
    inside, outside = ([mat.array(a) for a in arrays] for _ in range(2))

    def function(x, y, s):
        OPERATIONS[name](x, y, s)
        x.multiply_(0.5)

    step = mat.graph(function)
    for turn in range(4):
        with dev.gpu.current():
            before = cuda.calls("") if cuda.is_mock else 0
            step(*inside)
            if turn > 1 and cuda.is_mock:
                assert cuda.calls("") == before + 1
        function(*outside)
    assert (step.recordings, step.replays) == (1, 2)
    for found, wanted in zip(inside, outside, strict=True):
        np.testing.assert_array_equal(found.to_numpy(), wanted.to_numpy())
