"""`mat.graph` where nothing is recorded: on the host and on ``emulated``, with the same checks."""

import numpy as np
import pytest

import mat
from mat.errors import GraphError

pytestmark = pytest.mark.unchecked("nothing is refused then")


@pytest.fixture(params=["cpu", "emulated"])
def device(request):
    with mat.use_device(request.param):
        yield request.param


def test_each_call_runs_the_function(device):
    calls = []

    @mat.graph
    def step(x, y):
        """Add."""
        calls.append(0)
        y += x
        return y

    x, y = mat.ones(3), mat.zeros(3)
    for _ in range(4):
        assert step(x, y) is y
    assert len(calls) == 4
    np.testing.assert_array_equal(y.to_numpy(), 4.0)
    assert (step.recordings, step.replays) == (0, 0)
    assert step.__doc__ == "Add."
    assert repr(step).startswith("<graph of test_each_call")


@pytest.mark.parametrize("make", [
    lambda x: x + x, lambda x: float(x.sum()), lambda x: x.to_numpy(), lambda x: np.asarray(x),
    lambda x: mat.sum(x), lambda x: x.uniform_(), lambda x: mat.blas.nrm2(x), lambda x: x.copy(),
    lambda x: x.equals(x), lambda x: mat.from_numpy(np.ones(4)), lambda x: mat.random.normal(0, 1),
    lambda x: x.reshape(2, 2).T.reshape(4)])
def test_the_same_is_refused_as_on_a_gpu(device, make):
    @mat.graph
    def step(x):
        x += 0
        make(x)

    x = mat.ones(4)
    with pytest.raises(GraphError, match=r"mat\.graph cannot record .*test_graph\.py:\d+; "):
        step(x)
    assert float((x + 1).sum()) == 8  # and afterwards nothing is refused


def test_mats_of_other_forms_are_checked_again(device):
    step = mat.graph(lambda x: x + x if x.ndim == 2 else None)
    step(mat.ones(3))
    with pytest.raises(GraphError, match="a new Mat of 32 bytes"):
        step(mat.ones(2, 2))


def test_what_is_no_function_of_mats(device):
    with pytest.raises(mat.DTypeError, match="takes a function"):
        mat.graph(5)
    step = mat.graph(lambda x: x.shape)
    with pytest.raises(mat.DTypeError, match="ndarray"):
        step(np.ones(3))
    with pytest.raises(GraphError, match="returns a int"):
        step(mat.ones(3))


def test_errors_of_the_function_pass_through(device):
    def step(x):
        raise KeyError(x.shape)

    with pytest.raises(KeyError):
        mat.graph(step)(mat.ones(3))
    assert float((mat.ones(2) + 1).sum()) == 4


def test_other_threads_are_not_refused(device):
    import threading
    done = []

    @mat.graph
    def step(x):
        thread = threading.Thread(target=lambda: done.append(float(mat.ones(3).sum())))
        thread.start()
        thread.join()
        x += 1

    step(mat.ones(3))
    assert done == [3.0]
