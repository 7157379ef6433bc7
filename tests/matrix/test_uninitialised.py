"""Mats whose `__init__` did not run, or runs again."""

import copy
import operator
import pickle
import threading

import numpy as np
import pytest

import mat
from mat.errors import ConflictError, ShapeError, UninitialisedError


class Forgets(mat.Mat):
    """A class that does not call `Mat.__init__`."""

    def __init__(self):
        pass


class Takes(mat.Mat):
    """A class whose `__new__` has parameters."""

    def __new__(cls, name, shape):
        return super().__new__(cls)

    def __init__(self, name, shape):
        super().__init__(shape)


def made(kind):
    return Forgets() if kind == "subclass" else mat.Mat.__new__(mat.Mat)


USES = {
    "add": lambda x: x + 1, "radd": lambda x: 1 + x, "operand": lambda x: mat.ones(3) + x,
    "iadd": lambda x: operator.iadd(x, 1), "into": lambda x: operator.iadd(mat.ones(3), x),
    "neg": lambda x: -x, "equal": lambda x: x == 1, "matmul": lambda x: x @ mat.ones(1),
    "element": lambda x: x[0], "row": lambda x: x[:1], "set": lambda x: x.__setitem__(0, 1),
    "value": lambda x: mat.ones(3).__setitem__(slice(None), x),
    "index": lambda x: mat.ones(3)[x], "transposed": lambda x: x.T,
    "reshape": lambda x: x.reshape(1),
    "hash": hash, "len": len,
    "float": float, "int": int, "bool": bool, "iter": list, "format": "{:.2f}".format,
    "shape": lambda x: x.shape, "dtype": lambda x: x.dtype, "strides": lambda x: x.strides,
    "size": lambda x: x.size, "ndim": lambda x: x.ndim, "nbytes": lambda x: x.nbytes,
    "copy": lambda x: x.copy(), "copy.copy": copy.copy, "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps, "asarray": np.asarray, "array": lambda x: mat.array([x, x]),
    "numpy ufunc": np.exp, "numpy function": np.concatenate, "memoryview": lambda x: x.data,
    "exp": mat.exp, "out": lambda x: mat.exp(mat.ones(1), out=x), "sum": lambda x: x.sum(),
    "where": lambda x: mat.add(mat.ones(3), 1, where=x), "stack": lambda x: mat.stack([x, x]),
    "axpy": lambda x: mat.axpy(2, mat.ones(1), x), "gemm": lambda x: mat.gemm(1, x, x, 0, x),
    "sort": mat.sort, "solve": lambda x: mat.linalg.solve(mat.eye(1), x),
    "fill": lambda x: x.fill_(0),
    "uniform": lambda x: x.uniform_(), "facet": lambda x: x.facet("array").__enter__(),
    "with_facets": lambda x: mat.with_facets((x, "array")).__enter__(),
    "keep": lambda x: x.keep("host").__enter__(), "drop": lambda x: x.drop("host"),
    "window": lambda x: x.window(1).__enter__(), "view": lambda x: x.view(2),
    "adjust": lambda x: x.adjust_(5), "displaced": lambda x: mat.Mat(1, displaced_to=x),
    "dlpack": lambda x: x.__dlpack__(), "save": lambda x: mat.save("unused.npy", x)}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("kind", ["subclass", "new"])
@pytest.mark.parametrize("use", USES)
def test_each_use_raises_an_error_that_says_so(use, kind, device, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with mat.use_device(device), pytest.raises(UninitialisedError, match=r"super\(\).__init__"):
        USES[use](made(kind))


@pytest.mark.parametrize("kind", ["subclass", "new"])
def test_it_prints_and_can_be_initialised(kind):
    x = made(kind)
    assert "not initialised" in repr(x)
    assert "not initialised" in str(x)
    mat.Mat.__init__(x, (2, 3), fill=1)
    assert x.sum() == 6
    assert x.T.shape == (3, 2)


def test_a_failed_init_leaves_it_uninitialised():
    x = mat.Mat.__new__(mat.Mat)
    with pytest.raises(ShapeError):
        x.__init__(-1)
    with pytest.raises(UninitialisedError):
        x + 1


def test_many_share_nothing_that_one_changes():
    one, other = Forgets(), Forgets()
    mat.Mat.__init__(one, 3)
    one.fill_(2)
    with pytest.raises(UninitialisedError):
        other.fill_(1)
    assert one.tolist() == [2, 2, 2]
    mat.memory_report()


def test_views_of_classes_whose_new_has_parameters():
    x = Takes("name", (2, 3))
    assert type(x.T) is Takes
    assert x[0].shape == (3,)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_init_again_replaces_what_is_seen(device):
    with mat.use_device(device):
        x = mat.ones(4)
        view = x[1:]
        x.__init__(2, "float32")
        assert (x.shape, x.dtype, x.tolist()) == ((2,), np.float32, [0, 0])
        assert view.tolist() == [1, 1, 1]


@pytest.mark.parametrize("facet", ["array", "foreign", "emulated"])
def test_init_again_during_an_access_is_a_conflict(facet):
    with mat.use_device("emulated"):
        x = mat.ones(4)
        with x.facet(facet, "io"), pytest.raises(ConflictError):
            x.__init__(2)
        assert x.tolist() == [1, 1, 1, 1]


def test_no_method_divides_by_zero():
    with pytest.raises(UninitialisedError):
        made("subclass")._relative_to(1)


def test_init_again_in_a_window_does_not_see_beyond_the_storage():
    x = mat.ones(4)
    with pytest.raises(ShapeError), x.window(2):
        x.__init__(3)
    assert x.size == 3


def test_init_again_while_another_thread_computes():
    x = mat.ones(300_000)
    done = threading.Event()

    def compute():
        for _ in range(30):
            x.scal_(1.0)
        done.set()

    thread = threading.Thread(target=compute)
    thread.start()
    again = 0
    while not done.is_set():
        try:
            x.__init__(300_000, fill=1)
            again += 1
        except ConflictError:
            pass
    thread.join()
    assert x.sum() in (0, 300_000)
