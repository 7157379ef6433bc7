"""torch: tensors of Mats, and Mats of tensors."""

import json

import numpy as np
import pytest

import mat

from .rows import Rows, rows_checked
from .samples import indices, line, square

torch = pytest.importorskip("torch")
row = Rows("torch", globals())


def ones(*shape):
    return torch.ones(shape, dtype=torch.float64)


row("torch.as_tensor(x)", square)
row("torch.from_dlpack(x)", square)
row("torch.as_tensor(x.T)", square)
row("torch.as_tensor(x[1])", square)
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


def test_negative_steps_are_copied():
    assert torch.as_tensor(mat.array(line())[::-1]).tolist() == [5, 2, 1, 3]


def test_a_tensor_keeps_its_mat_from_being_written():
    x = mat.array(square())
    tensor = torch.as_tensor(x)[1:]
    with pytest.raises(mat.ConflictError, match="test_torch"):
        x.fill_(0)
    total = tensor.sum().item()
    del tensor
    x.fill_(0)
    assert total == 60


def test_batches_of_a_loader():
    x = mat.array(square())
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.as_tensor(x)),
                                         batch_size=2)
    assert [batch.shape[0] for (batch,) in loader] == [2, 1]


# The facet


@pytest.mark.parametrize("dtype", mat.supported_dtypes)
def test_tensors_over_the_memory_of_a_mat(dtype):
    x = mat.array(square()).astype(dtype)
    with x.facet("torch", "io") as t:
        assert str(t.dtype) == f"torch.{dtype}"
        with x.facet("array", "input") as a:
            assert t.data_ptr() == a.ctypes.data
        t[0, 1] = 1
    assert x[0, 1].item() == 1
    assert x[1, 2].item() == mat.array(square()).astype(dtype)[1, 2].item()


@pytest.mark.parametrize("view", [lambda a: a.T, lambda a: a[1:, ::2], lambda a: a[2],
                                  lambda a: a[:0], lambda a: a.reshape(3, 2, 2)])
def test_views_become_strided_tensors(view):
    x = view(mat.array(square()))
    with x.facet("torch", "input") as t:
        assert (tuple(t.shape), t.stride()) == (x.shape, x.element_strides)
        assert t.tolist() == view(square()).tolist()


def test_a_broadcast_mat_is_a_tensor_for_reading():
    x = np.broadcast_to(mat.ones(3), (2, 3))
    with x.facet("torch", "input") as t:
        assert t.stride() == (0, 1)
    with pytest.raises(mat.AliasError):
        x.facet("torch")


def test_what_torch_lacks(monkeypatch):
    with pytest.raises(mat.ShapeError, match=r"strides \(-1,\); x.contiguous\(\)"):
        mat.array(line())[::-1].facet("torch", "input").__enter__()
    monkeypatch.delattr(torch, "uint16")
    with pytest.raises(mat.DTypeError, match="has no uint16"):
        mat.ones(2, dtype="uint16").facet("torch", "input").__enter__()


def test_autograd_ends_where_the_mat_is_written():
    x, gradient = mat.array(square()), mat.zeros(3, 4)
    with mat.with_facets((x, "torch", "input"), (gradient, "torch", "output")) as (t, g):
        t.requires_grad_()
        (t ** 2).sum().backward()
        g.copy_(t.grad)
    assert gradient.tolist() == (2 * square()).tolist()
    with x.facet("torch", "input") as t:
        assert not t.requires_grad


def test_tensors_are_checked_as_other_blocks_are():
    with mat.debug.check_directions() as c:
        x = mat.array(square())
        with x.facet("torch", "input") as t:
            pass
        t.sum()
        with pytest.raises(mat.DirectionError, match=r"facet 'torch'.*used after its end, at .*py"):
            x.sum()
        with pytest.raises(mat.DirectionError, match="written at"):  # noqa: SIM117
            with x.facet("torch", "input") as t:
                t[0, 0] = 5
        with pytest.raises(mat.DirectionError, match="left as it was 4 elements"):  # noqa: SIM117
            with x.facet("torch", "output") as t:
                t[1:] = 5
    assert len(c.faults) == 3


@pytest.mark.filterwarnings("ignore")
def test_a_trace_is_laid_over_the_profile_of_torch(tmp_path):
    from torch.profiler import ProfilerActivity, profile, record_function

    with profile(activities=[ProfilerActivity.CPU]) as profiled, mat.debug.trace() as t:
        with record_function("of mat"), mat.use_device("emulated"):
            mat.ones(10) + 1
        with record_function("of torch"):
            ones(3) + 1
    profiled.export_chrome_trace(str(tmp_path / "torch.json"))
    t.save(tmp_path / "both.json", over=tmp_path / "torch.json")
    entries = json.loads((tmp_path / "both.json").read_text())["traceEvents"]
    add, around = ([e for e in entries if e.get("name") == name and e.get("cat") in
                    ("operation", "user_annotation")] for name in ("add", "of mat"))
    assert (len(add), len(around)) == (1, 1)
    slack = 200.0  # microseconds, to which torch's clock and the system's agree
    assert around[0]["ts"] - slack <= add[0]["ts"]
    assert add[0]["ts"] + add[0]["dur"] <= around[0]["ts"] + around[0]["dur"] + slack
    assert (add[0]["pid"], add[0]["tid"]) == (around[0]["pid"], around[0]["tid"])


@pytest.mark.parametrize("share", [torch.from_dlpack, torch.as_tensor])
def test_a_write_to_an_exported_tensor_is_found(share):
    def wrong():
        x = mat.array(square()).copy()
        t = share(x)
        t[0] = 9

    text = r"exported as facet 'array' at .*test_torch.py:\d+ to .*, was written at .*test_torch.py"
    with pytest.raises(mat.DirectionError, match=text), mat.debug.check_directions():
        wrong()
