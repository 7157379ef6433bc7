"""`reshape`, `ravel`, `flatten`, `transpose`, `view` and ``x.shape = ...`` compared with NumPy's:
elements, dtype, shape, errors, and whether the result is a view.
"""

import numpy as np
import pytest

import mat
from mat import Mat

pytestmark = pytest.mark.host

BASE = np.arange(120.0).reshape(2, 3, 4, 5)
LAYOUTS = {
    "packed": BASE[0], "by columns": BASE[0].T, "part": BASE[:, 1:, ::2, 1:4],
    "backwards": BASE[0, ::-1], "turned": BASE[0].transpose(1, 2, 0),
    "vector": BASE[0, 0, :, 1], "row": BASE[0, 0, :1],
    "none": BASE[:, :0], "scalar": np.array(3.0),
    "broadcast": np.broadcast_to(BASE[0, 0, 0], (4, 5)),
    "broadcast by columns": np.broadcast_to(BASE[0, 0].T[None, :, None], (2, 5, 3, 4)),
    "integers": np.arange(12, dtype="i2").reshape(3, 4).T, "flags": (BASE[0, 0] > 7).T,
    "complex": (BASE[0, 0] + 1j)[:, ::2], "one": np.ones((1, 1, 1)),
}


def of(a):
    return mat.from_numpy(a)


def shared(found, x):
    """Whether a Mat is a view of another one."""
    return found.storage is x.storage


def agree(found, wanted, x, a):
    """A Mat is what NumPy gives, and a view of `x` where that is one of `a`."""
    assert isinstance(found, Mat)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found.to_numpy(), wanted)
    if a.size > 1:
        assert shared(found, x) == np.shares_memory(wanted, a)


def same_outcome(call, a):
    """Call for an array and for its Mat: both give the same, or both raise the same kind."""
    x = of(a)
    try:
        wanted = call(a)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        with pytest.raises(kind) as caught:
            call(x)
        assert isinstance(caught.value, mat.MatError)
    else:
        agree(call(x), wanted, x, a)


SHAPES = [(-1,), (-1, 1), (2, -1), (-1, 2), (3, 4), (4, 3), (2, 2, -1), (1, -1, 1), (60,), (3, 20),
          (20, 3), (5, 7), (0, 3), (-1, -1), ()]


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize("copy", [None, True, False])
def test_reshape(name, order, copy):
    for shape in SHAPES:
        same_outcome(lambda x, s=shape: x.reshape(s, order=order, copy=copy), LAYOUTS[name])
        same_outcome(lambda x, s=shape: np.reshape(x, s, order=order, copy=copy), LAYOUTS[name])


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("call", [
    lambda x: x.reshape(-1), lambda x: x.reshape(-1, 2), lambda x: x.reshape([-1, 1]),
    lambda x: x.reshape(np.int64(-1)), lambda x: x.reshape(3, -1, order="F"),
    lambda x: x.T.reshape(-1), lambda x: x.T.reshape(x.shape, order="A"),
    lambda x: x.reshape(x.size),
    lambda x: x.reshape(-1, order="K"), lambda x: x.reshape(-1, order="other"),
    lambda x: x.transpose(), lambda x: x.transpose(None), lambda x: x.transpose(1, 0),
    lambda x: x.transpose((1, 0)), lambda x: x.transpose(2, 0, 1), lambda x: x.transpose([2, 0, 1]),
    lambda x: x.transpose(-1, 0, 1), lambda x: x.transpose(0), lambda x: x.transpose(0, 0),
    lambda x: x.transpose(0, 9), lambda x: np.transpose(x), lambda x: np.transpose(x, (1, 0)),
    lambda x: np.transpose(x, axes=(2, 0, 1)), lambda x: x.T,
    *(lambda x, o=o: x.ravel(o) for o in "CFAK"), *(lambda x, o=o: x.flatten(o) for o in "CFAK"),
    *(lambda x, o=o: np.ravel(x, order=o) for o in "CFAK"),
    lambda x: x.ravel(), lambda x: x.flatten(), lambda x: x.ravel(order="f"),
    lambda x: x.ravel("Z"), lambda x: x.flatten("Z"),
    lambda x: x.T.ravel("K"), lambda x: x.swapaxes(0, -1).flatten("K"), lambda x: x.view()])
def test_calls(name, call):
    same_outcome(call, LAYOUTS[name])


@pytest.mark.parametrize("name", LAYOUTS)
def test_functions_of_mat(name):
    a = LAYOUTS[name]
    x = of(a)
    agree(mat.reshape(x, -1), np.reshape(a, -1), x, a)
    agree(mat.reshape(x, (1, -1), "F"), np.reshape(a, (1, -1), "F"), x, a)
    agree(mat.reshape(x, shape=(-1, 1), order="A", copy=True),
          np.reshape(a, (-1, 1), "A").copy(), x, a)
    agree(mat.transpose(x), a.T, x, a)
    agree(mat.transpose(x, range(a.ndim)), a, x, a)
    assert mat.reshape(a, -1).tolist() == a.reshape(-1).tolist()
    if a.size:  # a list of nothing has no shape
        assert mat.reshape(a.tolist(), -1).tolist() == a.reshape(-1).tolist()
        assert mat.transpose(a.tolist()).tolist() == a.T.tolist()
    out = mat.empty(a.T.shape, dtype=a.dtype)
    assert mat.transpose(x, None, out) is out
    assert out.tolist() == a.T.tolist()


def test_a_copy_is_a_pack_and_only_where_there_is_no_view():
    x = mat.arange(6.0).reshape(2, 3)
    with mat.debug.count_copies() as n:
        x.reshape(3, 2), x.T.reshape(-1, order="F"), x.ravel(), x.T.ravel("K")
        x.T.reshape(3, 2, 1)
        assert n.packs == 0
        x.T.reshape(-1)
        assert n.packs == 1
        x.T.ravel()
        assert n.packs == 2
        x.reshape(6, copy=True)
        assert n.packs == 2
    with pytest.raises(mat.ShapeError, match=r"copy=False forbids a copy; copy=None"):
        x.T.reshape(-1, copy=False)
    with pytest.raises(mat.ShapeError, match="no view"):
        x.T.reshape_(-1)


def test_on_a_device_too():
    with mat.use_device("emulated"):
        x = mat.arange(24.0).reshape(2, 3, 4) + 1
        with mat.debug.count_copies() as n:
            y = x.transpose(2, 0, 1).reshape(-1)
            z = x.ravel("F")
        assert (n.d2h, n.packs) == (0, 2)
        a = x.to_numpy()
        assert y.tolist() == a.transpose(2, 0, 1).reshape(-1).tolist()
        assert z.tolist() == a.ravel("F").tolist()


# The shape as an attribute


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # of NumPy's arrays
@pytest.mark.parametrize("name", [n for n in LAYOUTS if "broadcast" not in n])
@pytest.mark.parametrize("shape", [-1, (-1,), (3, -1), (60,), (5, 7), (1, -1, 1)])
def test_setting_the_shape(name, shape):
    a = LAYOUTS[name].view()
    x = of(a)
    storage, before = x.storage, x.shape
    try:
        a.shape = shape
    except (ValueError, AttributeError):
        with pytest.raises(mat.ShapeError):
            x.shape = shape
        assert x.shape == before
    else:
        x.shape = shape
        assert (x.shape, x.storage) == (a.shape, storage)
        assert x.tolist() == a.tolist()


def test_the_shape_cannot_be_set_during_an_access():
    x = mat.arange(6.0)
    with x.facet("array", "input"), pytest.raises(mat.ConflictError):
        x.shape = 2, 3
    assert x.shape == (6,)


# Other element types


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1", "i2", "c8", "c16", "?",
                                   np.float32, np.dtype("u4"), float])
@pytest.mark.parametrize("name", [n for n in LAYOUTS if n not in ("flags",)])
def test_view_as_another_dtype(dtype, name):
    a = LAYOUTS[name]
    x = of(a.copy("K") if a.dtype == dtype else a)
    try:
        wanted = a.view(dtype)
    except ValueError:
        with pytest.raises(mat.ShapeError):
            x.view(dtype)
        return
    for found in (x.view(dtype), x.view(dtype=dtype)):
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_array_equal(found.to_numpy(), wanted)


def test_a_view_of_a_subclass_is_an_error():
    class Other(Mat):
        """A subclass, of which no result is an instance."""

    with pytest.raises(mat.DTypeError, match="no subclasses such as Other"):
        mat.arange(6.0).view(Other)
    assert type(Other(3).view(Other)) is Other


def test_view_is_told_apart_by_its_argument():
    x = mat.arange(6.0)
    assert x.view((2, 2), 1).tolist() == [[1, 2], [3, 4]]
    assert x.view(4).tolist() == [0, 1, 2, 3]
    assert x.view(displacement=2, shape=3).tolist() == [2, 3, 4]
    assert shared(x.view(), x)
    assert shared(x.view(Mat), x)
    assert shared(x.view("f8"), x)
    x.view("f8")[0] = 9
    assert x[0] == 9
    for call in (lambda: x.view("f4", 1), lambda: x.view(3, dtype="f4"), lambda: x.view("nothing"),
                 lambda: x.view(np.ndarray)):
        with pytest.raises(mat.DTypeError):
            call()
