"""`mat.graph` on a device: launches that are recorded once and repeated by one call."""


import numpy as np
import pytest

import mat
from mat.errors import GraphError

from .computing import only_there
from .graphs import by_numpy, halve_and_add, pair, same, warmed

pytestmark = [pytest.mark.host, pytest.mark.unchecked(
    "functions run then, instead of being repeated")]


def test_thirty_launches_are_repeated_by_one_call(mock, dev):
    x, y, a, b = pair()
    step = mat.graph(halve_and_add)
    launches = []
    for _ in range(5):
        with dev.gpu.current():  # in a thread without a context it is made the current one before
            before = mock.calls("cuLaunchKernel"), mock.calls("")
            step(x, y)
            launches.append((mock.calls("cuLaunchKernel") - before[0], mock.calls("") - before[1]))
        by_numpy(a, b)
    assert launches[0][0] == launches[1][0] == 30
    assert launches[2:] == [(0, 1)] * 3
    assert (step.recordings, step.replays) == (1, 3)
    assert x.fresh == y.fresh == {"cuda:0"}
    same(x, a)
    same(y, b)


def test_what_the_host_wrote_is_copied_before(cuda, dev):
    x, y, a, b = pair()
    step = warmed(mat.graph(halve_and_add), x, y)
    by_numpy(a, b)
    by_numpy(a, b)
    x[3] = a[3] = 64
    with x.facet("array", "io") as values:
        values[5] = a[5] = 128
    with mat.debug.count_copies() as n:
        step(x, y)
    by_numpy(a, b)
    assert (n.h2d, n.d2h, step.replays) == (1, 0, 1)
    same(x, a)
    same(y, b)


def test_what_is_overwritten_first_is_not_copied(cuda, dev):
    x, t, y = mat.ones(50), mat.zeros(50), mat.zeros(50)

    @mat.graph
    def step(x, y):
        mat.multiply(x, 3, out=t)
        y += t

    warmed(step, x, y)
    with t.facet("array", "output") as values:
        values[:] = 99
    with mat.debug.count_copies() as n:
        step(x, y)
    assert (n.h2d, step.replays) == (0, 1)
    same(y, np.full(50, 9.0))
    same(t, np.full(50, 3.0))


def test_other_mats_of_the_same_forms(mock, dev):
    step, pairs = mat.graph(halve_and_add), [pair() for _ in range(12)]
    for turn in range(3):
        for x, y, a, b in pairs:
            step(x, y)
            by_numpy(a, b)
        # the first one was learned, and the last three were run
        assert (step.recordings, step.replays) == (8, 8 * turn)
        assert turn or mock.calls("cuGraphInstantiateWithFlags") == 8
    for k in range(3):  # what comes again soon takes the place of what came long ago
        x, y, a, b = pairs[0]
        step(x, y)
        by_numpy(a, b)
        assert (step.recordings, step.replays) == ((8, 16), (9, 16), (9, 17))[k]
    assert mock.calls("cuGraphExecUpdate") == 1
    assert mock.calls("cuGraphInstantiateWithFlags") == 8
    for x, y, a, b in pairs:
        same(x, a)
        same(y, b)


def test_arguments_that_see_parts_of_one_storage(cuda, dev):
    data, total = mat.array(np.arange(60_000.0)), mat.zeros(10_000)
    step = mat.graph(lambda part, total: total.add_(part))
    for turn in range(20):  # after the first, one copy has all parts, and they have other addresses
        before = step.replays
        for k in range(6):
            step(data[10_000 * k:10_000 * (k + 1)], total)
        assert turn < 15 or step.replays == before + 6
    same(total, 20 * np.arange(60_000.0).reshape(6, -1).sum(0))


def test_arguments_that_are_the_same(cuda, dev):
    step = mat.graph(lambda x, y: y.add_(x))
    for _ in range(3):
        x, y = mat.ones(7), mat.full(7, 2.0)
        step(x, y)
        same(y, np.full(7, 3.0))
        step(y, y)
        same(y, np.full(7, 6.0))


def test_parts_of_an_argument_and_other_mats(cuda, dev):
    weights = mat.array(np.arange(12.0).reshape(3, 4))

    @mat.graph
    def step(x, y):
        mat.matmul(x, weights.T, out=y)
        y[0] *= 2
        return y[1:], weights

    a = np.arange(8.0).reshape(2, 4)
    for k in range(4):
        x, y = mat.array(a + k), mat.zeros(2, 3)
        part, w = step(x, y)
        wanted = (a + k) @ weights.to_numpy().T
        wanted[0] *= 2
        assert w is weights
        assert part.storage is y.storage
        same(y, wanted)
        same(part, wanted[1:])


@pytest.mark.parametrize("step", [
    lambda x, y: (x[1:].scal_(2), x[:, 1].fill_(3), None)[-1],
    lambda x, y: (x[:, 1].fill_(3), x[1:].scal_(2), None)[-1],
    lambda x, y: (x[:-1].scal_(0.5), x[1:].add_(y[:-1]), None)[-1],
    lambda x, y: (x[:, 2].fill_(3), y.add_(x), None)[-1],
    lambda x, y: (x[:, :3].add_(2), x[:, 1].add_(1), y[3:].add_(x[3:]), None)[-1],
], ids=["rows and a column", "a column and rows", "rows and rows", "a column and all",
        "columns in columns"])
@pytest.mark.parametrize("rows", [40, 1000])
def test_views_of_one_storage_that_overlap(cuda, dev, step, rows):
    repeated, (x, y) = mat.graph(step), (mat.ones(rows, 40), mat.ones(rows, 40))
    for _ in range(4):
        repeated(x, y)
    assert (repeated.recordings, repeated.replays) == (1, 2)
    one, other = mat.ones(rows, 40), mat.ones(rows, 40)
    with mat.use_device("cpu"):
        for _ in range(4):
            step(one, other)
    assert x.equals(one)
    assert y.equals(other)


def test_results_are_the_arguments(cuda, dev):
    step = mat.graph(lambda x, y: [x.add_(1), (y, None)])
    for _ in range(3):
        x, y = mat.zeros(3), mat.zeros(3)
        first, (second, none) = step(x, y)
        assert first is x
        assert second is y
        assert none is None
        same(x, np.ones(3))


def test_workspaces_stay_with_the_graph(cuda, dev):
    x, s = mat.array(np.arange(40_000.0)), mat.zeros(())
    step = mat.graph(lambda x, s: mat.sum(x, out=s))
    for k in range(1, 4):
        step(x, s)
        mat.ones(40_000).cumsum()  # whose memory must not be the graph's
        assert float(s) == 40_000 * 39_999 / 2
        assert step.replays == max(k - 2, 0)


@pytest.mark.parametrize("way", ["drop", "evict", "leave", "trim"])
def test_copies_that_are_gone_are_made_again(cuda, way):
    x, y, a, b = pair()
    step = mat.graph(halve_and_add)
    for _ in range(4):
        with mat.use_device("cuda"):
            for _ in range(2):
                step(x, y)
                by_numpy(a, b)
            if way == "drop":
                for m in (x, y):
                    m.to_numpy()
                    m.drop("cuda")
            if way == "evict":
                with mat.use_device("cuda", pool_bytes=1600):
                    only_there(mat.zeros(200))
            if way == "trim":
                mat.trim()
            other = only_there(mat.zeros(100))  # perhaps where x was
            step(x, y)
            by_numpy(a, b)
            del other
    same(x, a)
    same(y, b)


@pytest.mark.parametrize("make", [
    lambda x: x + x, lambda x: float(x.storage.size) + float(x[0]), lambda x: x.to_numpy(),
    lambda x: mat.sum(x), lambda x: x.uniform_(), lambda x: mat.blas.nrm2(x),
    lambda x: x.equals(x), lambda x: np.asarray(x), lambda x: x.copy(), lambda x: str(x),
    lambda x: mat.linalg.inv(x.reshape(2, 2))])
def test_what_cannot_be_repeated_names_its_line(cuda, dev, make):
    x = only_there(mat.ones(4))

    @mat.graph
    def step(x):
        x += 0
        make(x)

    with pytest.raises(GraphError, match=r"mat.graph cannot record .*step.*test_graph.py:\d+; "):
        step(x)
    x += 1  # nothing is left over
    assert x.fresh == {"cuda:0"}


def test_numbers_are_neither_arguments_nor_results(cuda, dev):
    step = mat.graph(lambda x: 5)
    with pytest.raises(mat.DTypeError, match="float"):
        step(1.0)
    with pytest.raises(GraphError, match="returns a int, but"):
        step(mat.ones(3))


def test_methods_are_graphs_of_their_objects(cuda, dev):
    class Layer:
        def __init__(self, value):
            self.weights = mat.full(4, value)

        @mat.graph
        def step(self, x):
            x *= self.weights

    one, two, x = Layer(2.0), Layer(3.0), mat.ones(4)
    for _ in range(3):
        one.step(x)
        two.step(x)
    same(x, np.full(4, 6.0**3))
    assert one.step.replays == two.step.replays == 1
    assert Layer.step.recordings == 0
