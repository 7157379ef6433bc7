"""polars: series and frames of Mats; vectors go by Arrow, for which it needs pyarrow here."""

import pytest

from .rows import Rows, rows_checked
from .samples import line, square

pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")
row = Rows("polars", globals())


def memory(series):
    return series.to_numpy(allow_copy=False)


row("pl.Series(x)", line, memory=memory)
row("pl.Series(x[::2])", line, memory=memory)
row("pl.DataFrame({'a': x})", line, memory=lambda frame: memory(frame["a"]))
row("pl.DataFrame(np.asarray(x))", square)
row("pl.Series([1.0, 2.0, 3.0, 4.0]) * pl.Series(x)", line)
row("mat.array(pl.Series([1.0, 2.0])) + x[:2]", line)
row("mat.from_numpy(pl.Series(x).to_numpy())", line)
row("pl.DataFrame(x)", square)
row("pl.from_numpy(x)", square)
row("pl.Series([1.0, 2.0, 3.0, 4.0]) + x", line, refuses=TypeError)
row("pl.lit(x)", line, refuses=TypeError)

test_polars = rows_checked(row)
