"""`einsum`: where it is a product of two matrices, and everything else."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.numpy.composites.products import contraction

from ..support import needs

pytestmark = pytest.mark.host
SIZES = {"i": 3, "j": 4, "k": 5, "l": 2, "n": 6}
PRODUCTS = ["ij,jk->ik", "ij,jk", "ij,jk->ki", "ji,jk->ik", "ij,kj->ik", "ij,j->i", "j,ij->i",
            "ijk,kjl->il", "ijk,jkl->li", "nij,jk->nik", "ij,njk->nik", "i,i->", "i,i", "ij,ij->",
            "ij,ij", "ij,ji->", "ijk,ljk->li", " ij , jk -> ik ", "nijk,lk->nlij", "ij,k j"]
PAIRS = ["ij,ij->ij", "ij,jk->ijk", "i,j->ij", "ij,jk->i", "ij,jk->", "nij,njk->nik", "ii,ij->ij",
         "ii,ij", "...j,jk->...k", "ij,jk->k", "ni,nij->nj", "nij,nj->ni", "jin,nj->ni"]
ONE_OR_MORE = ["ij->j", "ij->", "ii", "ii->i", "ijj->i", "ijk->ki", "ij->ji", "i->i", "->",
               "ij,jk,kl->il", "ij,ij,ij->j", "i,j,k->kij", "ii,ij,j->", "i,ij,i->ij"]


def operands(subscripts, dtype="float64"):
    names = subscripts.partition("->")[0].replace(" ", "").replace("...", "n").split(",")
    rng = np.random.default_rng(0)
    return [rng.integers(-9, 9, [SIZES[k] for k in name]).astype(dtype) for name in names]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64", "bool"])
@pytest.mark.parametrize("subscripts", PRODUCTS + PAIRS + ONE_OR_MORE)
def test_values_are_numpys(subscripts, dtype):
    arrays = operands(subscripts, dtype)
    expected = np.einsum(subscripts, *arrays)
    for optimize in (False, True):
        found = mat.einsum(subscripts, *map(mat.array, arrays), optimize=optimize)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        assert_array_equal(found.to_numpy(), expected)


@pytest.mark.parametrize("length", [16, 17])  # of matrices with 256 elements, and more
@pytest.mark.parametrize("subscripts", ["ni,nij->nj", "nij,nj->ni", "in,jni->nj", "n,nij->ij"])
@pytest.mark.parametrize("step", [1, -2])
def test_vectors_times_matrices_in_batches(subscripts, length, step):
    rng, arrays = np.random.default_rng(3), []
    for name in subscripts.partition("->")[0].split(","):
        *shape, last = (6 if k == "n" else length for k in name)
        arrays.append(rng.integers(-9, 9, [*shape, last * abs(step)])[..., ::step] / 2)
    found = mat.einsum(subscripts, *map(mat.array, arrays))
    assert_array_equal(found.to_numpy(), np.einsum(subscripts, *arrays), strict=True)


@pytest.mark.parametrize("subscripts", PRODUCTS)
def test_products_are_told_from_the_rest(subscripts):
    assert contraction(subscripts, *(x.ndim for x in operands(subscripts))) is not None


@pytest.mark.parametrize("subscripts", PAIRS)
def test_other_pairs_are_no_products(subscripts):
    assert contraction(subscripts, *(x.ndim for x in operands(subscripts))) is None


def test_results_share_no_memory():
    x, y = mat.ones(3, 4), mat.ones(5, 4)
    found = mat.einsum("ij,kj->ki", x, y)
    assert found.shape == (5, 3)
    found[0, 0] = 7
    assert x.max() == y.max() == 1


@pytest.mark.parametrize("subscripts", ["ij,ij->ij", "nij,njk->nik", "ij,jk->k", "ijj->i", "ij->",
                                        "ij,jk,kl->il", "ij,ij,ij->j", "ii->"])
def test_nothing_is_copied_to_the_host(subscripts):
    with mat.use_device("emulated"):
        mats = [mat.array(a) * 1 for a in operands(subscripts)]
        with mat.debug.count_copies() as n:
            mat.einsum(subscripts, *mats)
        assert (n.d2h, n.fallbacks) == (0, 0)


def test_a_diagonal_is_a_view():
    x = mat.ones(3, 3)
    mat.einsum("ii->i", x).fill_(0)
    assert_array_equal(x.to_numpy(), 1 - np.eye(3))


def test_windows_times_filters():
    a = np.random.default_rng(1).standard_normal((5, 8, 7))
    w = np.random.default_rng(2).standard_normal((4, 3, 3))
    windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(1, 2))
    expected = np.einsum("nyxij,fij->nyxf", windows, w)
    found = mat.einsum("nyxij,fij->nyxf", mat.lib.stride_tricks.sliding_window_view(
        mat.array(a), (3, 3), axis=(1, 2)), mat.array(w))
    assert_allclose(found.to_numpy(), expected, rtol=1e-12, atol=1e-12)
    assert found.is_contiguous


@pytest.mark.parametrize(("subscripts", "shapes", "options"), [
    ("ij,jk->ik", [(3, 1), (4, 5)], {}), ("ij,jk->ik", [(3, 4), (4, 5)], {"order": "F"}),
    ("ij,jk->ik", [(3, 4), (4, 5)], {"optimize": "greedy"}),
    ("ij,jk->ik", [(3, 4), (4, 5)], {"dtype": "float32", "casting": "unsafe"}),
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)], {}), ("ij->ji", [(3, 4)], {})])
def test_other_calls_are_numpys(subscripts, shapes, options):
    arrays = [np.arange(1.0, 1 + np.prod(s)).reshape(s) for s in shapes]
    expected = np.einsum(subscripts, *arrays, **options)
    found = mat.einsum(subscripts, *map(mat.array, arrays), **options)
    assert_array_equal(found.to_numpy(), expected)
    assert found.dtype == expected.dtype


def test_operands_and_axes_as_numbers():
    x = mat.arange(6.0).reshape(2, 3)
    assert_array_equal(mat.einsum(x, [0, 1], x, [2, 1], [0, 2]).to_numpy(), (x @ x.T).to_numpy())


@pytest.mark.parametrize(("subscripts", "shapes"), [
    ("ij,jk->ik", [(3, 4), (5, 2)]), ("ij,jk->il", [(3, 4), (4, 2)]),
    ("ij,jk->ikk", [(3, 4), (4, 2)]), ("i1,jk->ik", [(3, 4), (4, 2)]),
    ("ij,jk->ik", [(3,), (4, 2)])])
def test_errors_are_numpys(subscripts, shapes):
    with pytest.raises(ValueError, match=r"einstein|operand|dim") as expected:
        np.einsum(subscripts, *(np.ones(s) for s in shapes))
    with pytest.raises(ValueError, match=r"einstein|operand|dim") as found:
        mat.einsum(subscripts, *(mat.ones(*s) for s in shapes))
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("settings", [{"dtype": "float32", "casting": "same_kind"},
                                      {"dtype": "complex128"}, {"order": "F"}, {"order": "C"}])
def test_settings_that_change_the_result(settings):
    a = np.arange(6.0).reshape(2, 3)
    got = np.einsum("ij,kj->ik", mat.array(a), mat.array(a), **settings)
    wanted = np.einsum("ij,kj->ik", a, a, **settings)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(np.asarray(got), wanted)


def test_casting_is_checked_on_devices_too():
    with mat.use_device("emulated"), pytest.raises(TypeError, match="cast"):
        mat.einsum("i,i->", mat.ones(3, dtype=int), mat.ones(3, dtype="complex128"), casting="no")


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("subscripts", ["ij", "ij->ji", "...", "...->...", "j...", "ii->i",
                                        "i...->...i", "iij->ji"])
def test_one_operand_that_is_not_summed_gives_a_view(subscripts, dtype):
    shape = (3, 3, 4)[:3 if "iij" in subscripts else 2]
    x, a = mat.ones(shape, dtype=dtype), np.ones(shape, dtype)
    found, expected = mat.einsum(subscripts, x), np.einsum(subscripts, a)
    found[...] = expected[...] = 0
    assert_array_equal(x.to_numpy(), a)
    assert found.strides == expected.strides


@needs.native
@pytest.mark.unchecked("an observer takes the long way")
def test_few_elements_are_left_to_numpy_at_once():
    given = ("ij,ij->i", mat.ones((2, 2)), mat.ones((2, 2)))
    mat.einsum(*given)
    called = []
    sys.setprofile(lambda frame, event, arg: called.append(frame.f_code.co_name))
    try:
        mat.einsum(*given)
    finally:
        sys.setprofile(None)
    assert "numpy_einsum" not in called


@pytest.mark.parametrize("n", [3, 40])
def test_permuted_axes_and_diagonals_are_views(n):
    x = mat.array(np.arange(n**3).reshape(n, n, n))
    for subscripts in ("abc->cab", "abc->abc", "abc", "cba", "b a c -> c b a", "aab->ab",
                       "aba->ba", "aaa->a"):
        found = np.einsum(subscripts, x)
        assert_array_equal(found, np.einsum(subscripts, x.to_numpy()))
        assert found.storage is x.storage
    for subscripts in ("abc->a", "aab->b", "aaa", "abc->"):
        assert_array_equal(np.einsum(subscripts, x), np.einsum(subscripts, x.to_numpy()))
