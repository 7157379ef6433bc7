"""matplotlib: plots of Mats are plots of their elements."""

import io

import numpy as np
import pytest

import mat

from .rows import Library, Rows, rows_checked
from .samples import line, square

matplotlib, plt = Library("matplotlib"), Library("matplotlib.pyplot")
row = Rows("matplotlib", globals())


class Picture:
    """The pixels of a figure."""

    def __init__(self, pixels):
        self.pixels = pixels

    def __array__(self, dtype=None, copy=None):
        return self.pixels


class Axes:
    """Methods of matplotlib's axes, each of which draws a figure of its own."""

    def __getattr__(self, name):
        def drawn(*args, **kwargs):
            matplotlib.use("Agg")
            figure, axes = plt.subplots(figsize=(2, 2), dpi=40)
            try:
                getattr(axes, name)(*args, **kwargs)
                file = io.BytesIO()
                figure.savefig(file, format="rgba")
                return Picture(np.frombuffer(file.getvalue(), np.uint8))
            finally:
                plt.close(figure)

        return drawn


axes = Axes()
pictures = {"memory": lambda picture: None}

row("axes.plot(x)", square, **pictures)
row("axes.plot(x, x * x)", line, **pictures)
row("axes.scatter(x, x, c=x, s=x)", line, **pictures)
row("axes.bar(x, x)", line, **pictures)
row("axes.errorbar(x, x, yerr=x)", line, **pictures)
row("axes.fill_between(x, x, 0)", line, **pictures)
row("axes.hist(x)", line, **pictures)
row("axes.boxplot(x)", square, **pictures)
row("axes.imshow(x)", square, **pictures)
row("axes.pcolormesh(x)", square, **pictures)
row("axes.contour(x)", square, **pictures)
row("axes.axhline(x.max())", line, **pictures)
row("axes.set_xlim(x[0], x.max())", line, **pictures)

test_matplotlib = rows_checked(row)


@pytest.mark.host
def test_a_plot_keeps_no_export_once_it_is_closed():
    x = mat.array(line())
    axes.plot(x)
    x.fill_(0)
