"""pandas: tables and columns of Mats."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from .rows import Rows, rows_checked
from .samples import indices, line, square

pd = pytest.importorskip("pandas")
row = Rows("pandas", globals())


def series():
    return pd.Series([1.0, 2.0, 3.0, 4.0])


row("pd.DataFrame(x)", square)
row("pd.DataFrame(x, copy=False)", square)
row("pd.DataFrame({'a': x})", line)
row("pd.Series(x)", line)
row("pd.Index(x)", line)
row("series() + x", line)
row("x * series()", line)
row("np.add(x, series())", line)
row("x @ pd.DataFrame(np.ones((4, 2)))", square)
row("series().where(x > 2)", line)
row("series().iloc[x]", indices)
row("pd.cut(x, 2).codes", line)
row("mat.array(pd.DataFrame(x))", square)
row("mat.from_numpy(pd.Series(x).to_numpy())", line)
row("series()[x > 2]", line, refuses=KeyError)
row("pd.unique(x)", line, refuses=TypeError)

test_pandas = rows_checked(row)


def test_groups_by_a_mat():
    table = pd.DataFrame({"v": [1.0, 2.0, 3.0, 4.0]})
    found = table.groupby(mat.array([0, 1, 0, 1])).mean()
    assert found.v.tolist() == [2.0, 3.0]
    assert table.v.groupby(mat.array([0, 1, 0, 1])).sum().tolist() == [4.0, 6.0]


def test_a_column_keeps_its_mat_from_being_written():
    x = mat.array(line())
    column = pd.Series(x)
    with pytest.raises(mat.ConflictError, match="test_pandas"):
        x.fill_(0)
    total = column.sum()
    del column
    x.fill_(0)
    assert total == 11


def test_a_column_is_written_in_a_copy():
    x = mat.array(line())
    column = pd.Series(x)
    with pytest.raises(ValueError, match="read-only"):
        column.iloc[0] = 99
    column = pd.Series(x, copy=True)
    column.iloc[0] = 99
    frame = pd.DataFrame({"a": x})
    frame.iloc[0, 0] = 99
    assert x.item(0) == 3
    x.fill_(0)


@pytest.mark.parametrize("name", ["exp", "sqrt", "negative", "add", "power", "isnan", "equal"])
def test_functions_of_elements_give_a_column(name):
    more = (mat.array(line()),) if name in ("add", "power", "equal") else ()
    found = getattr(mat, name)(series(), *more)
    pd.testing.assert_series_equal(found, getattr(np, name)(series(), *map(np.asarray, more)))


def test_other_functions_give_what_numpys_give_for_a_column():
    s, x = series(), mat.array(line())
    for call in (lambda m: m.sum(s), lambda m: m.max(s), lambda m: m.clip(s, 2, 3),
                 lambda m: m.cumsum(s), lambda m: m.mean(s), lambda m: m.add.reduce(s),
                 lambda m: m.linalg.norm(s), lambda m: m.std(s), lambda m: m.round(s, 1)):
        found, wanted = call(mat), call(np)
        assert type(found) is type(wanted)
        assert_array_equal(found, wanted)
    for found, wanted in ((mat.dot(s, x), 31), (mat.concat([s, s]), [1, 2, 3, 4] * 2)):
        assert isinstance(found, mat.Mat)
        assert found.tolist() == wanted


def test_positions_in_a_list_are_no_operands():
    index = pd.Index([3, 1, 2])
    pd.testing.assert_index_equal(mat.take(index, [0, 2]), np.take(index, [0, 2]))
    with pytest.raises(ValueError, match="No axis named None"):  # as from NumPy
        mat.take(series(), [0, 1])


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_columns_are_indices(device):
    x, s = mat.arange(4.0), series()
    with mat.use_device(device):
        assert x[s > 2].tolist() == [2, 3]
        assert x[s.astype(int) - 1].tolist() == x[pd.Index([0, 1, 2, 3])].tolist() == [0, 1, 2, 3]
        x[s > 2] = 7
        x[pd.Index([0])] += 1
    assert x.tolist() == [1, 1, 7, 7]


def test_results_of_functions_have_the_dtype_of_numbers():
    table = pd.DataFrame({"g": [0, 1] * 3, "v": np.arange(6.0)})
    for f in ("mean", "sum", "max", "std"):
        found, wanted = (table.groupby("g").v.apply(getattr(m, f)) for m in (mat, np))
        pd.testing.assert_series_equal(found, wanted)
        found, wanted = (table.apply(getattr(m, f)) for m in (mat, np))
        pd.testing.assert_series_equal(found, wanted)
    pd.testing.assert_series_equal(table.v.apply(mat.exp), table.v.apply(np.exp))
