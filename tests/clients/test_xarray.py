"""xarray: a Mat is the data of labelled arrays, and stays a Mat."""

import pytest

import mat

from .rows import Rows, rows_checked
from .samples import line, square

xr = pytest.importorskip("xarray")
xr.set_options(use_opt_einsum=False)  # whether that package is there or not
row = Rows("xarray", globals())


def labelled(x):
    return xr.DataArray(x, dims=("i", "j"), coords={"j": [10, 20, 30, 40]})


row("labelled(x).data", square)
row("(labelled(x) * 2 + 1).data", square)
row("(labelled(x) + labelled(x)[0]).data", square)
row("np.exp(labelled(x)).data", square)
row("labelled(x).mean('i').data", square)
row("labelled(x).sum().data", square)
row("labelled(x).std('j').data", square)
row("labelled(x).isel(i=1).data", square)
row("labelled(x).sel(j=[20, 40]).data", square)
row("labelled(x).T.data", square)
row("labelled(x).where(labelled(x) > 3, 0).data", square)
row("labelled(x).cumsum('i').data", square)
row("xr.concat([labelled(x), labelled(x)], 'i').data", square)
row("xr.dot(labelled(x), labelled(x), dim='j').data", square)
row("labelled(x).groupby('j').mean().data", square)
row("labelled(x).to_numpy()", square)
row("labelled(x).to_pandas()", square)
row("xr.Dataset({'a': ('i', x)}).a.data", line)

test_xarray = rows_checked(row)


@pytest.mark.host
def test_printing():
    text = repr(labelled(mat.array(square())))
    assert "<Mat 3x4" in text
    assert "xarray.DataArray" in text
