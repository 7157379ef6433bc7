"""The strip of copies in notebooks: states by runs and memory, to scale, legible on any page."""

import io
import re
import sys
import xml.etree.ElementTree as ET
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import mat
from mat.debug.show import BARS, HEIGHT, WIDTH, strip

from ..support import needs
from .test_printing import torn

pytestmark = pytest.mark.host


def lines_of(x):
    """Return the bars of each line of the strip by its title: states and edges, in elements."""
    grid = ET.fromstring(strip(x)).findall("*")
    scale = max(x.storage.units, 1) / WIDTH
    found = {}
    for title, svg in zip(grid[:-2:2], grid[1:-2:2], strict=True):
        assert svg.get("viewBox") == f"0 0 {WIDTH} {HEIGHT}"
        found[title.text] = [
            (bar.find("title").text.split(" ", 2)[2], round(scale * float(bar.get("x")), 1),
             round(scale * (float(bar.get("x")) + float(bar.get("width"))), 1))
            for bar in svg.findall("rect")[1:]]
    return found


def test_copies_of_parts_are_drawn_by_runs():
    x = mat.arange(1000.0)
    with mat.use_device("emulated", pool_bytes=6000):
        first = x[:300]
        first += 1
        assert lines_of(x) == {"host": [("stale", 0, 300), ("fresh", 300, 1000)],
                               "emulated": [("fresh", 0, 300)]}
        seen = lines_of(x[100:400])["seen"]
    assert seen == [("elements that this Mat sees", 100, 400)]


def test_a_stale_copy_is_drawn_beside_the_fresh_one():
    x = mat.arange(10.0)
    with mat.use_device("emulated"):
        with x.facet("emulated", "io"):
            pass
        assert lines_of(x) == {"host": [("stale", 0, 10)], "emulated": [("fresh", 0, 10)]}


@needs.native
def test_pending_elements_have_bars_of_their_own():
    x = mat.ones(100_000)
    x[0] = 2
    with mat.fused():
        y = x + 1
        assert lines_of(y) == {"nowhere yet": [("pending", 0, 100_000)]}
        assert y.storage.is_pending


def test_torn_and_never_written_elements_have_bars_of_their_own():
    assert lines_of(torn()) == {"host": [("torn", 0, 2)]}
    assert lines_of(mat.zeros(4)) == {"no copy": [("never written", 0, 4)]}
    assert strip(mat.zeros(0)).startswith("<div")
    failed = mat.ones(4)
    with pytest.raises(ZeroDivisionError), failed.facet("array", "output"):
        1 / 0  # noqa: B018
    assert lines_of(failed) == {"host": [("stale", 0, 4)],
                                "fresh nowhere": [("never written", 0, 4)]}


def test_torn_elements_of_a_part():
    x = mat.arange(100.0)
    with mat.use_device("emulated", pool_bytes=500):
        part = x[:50]
        part += 1
        with pytest.raises(ZeroDivisionError), x[10:20].facet("emulated", "io"):
            1 / 0  # noqa: B018
        assert ("torn", 10, 20) in lines_of(x)["emulated"]


def test_many_runs_are_drawn_as_shares():
    x = mat.zeros(2000, 3)
    seen = ET.fromstring(strip(x[:, 1])).findall("*")[3]
    bars = seen.findall("rect")[1:]
    assert len(bars) <= WIDTH
    shares = {float(bar.get("opacity", 1)) for bar in bars}
    assert all(share == pytest.approx(1 / 3, abs=0.1) for share in shares)


def test_the_key_has_the_states_that_are_drawn_and_no_other():
    x = mat.arange(10.0)
    key = ET.fromstring(strip(x)).findall("*")[-1]
    assert [" ".join(one.itertext()).split()[-1] for one in key] == ["fresh"]
    assert len({top for top, _ in BARS.values()} | {look for _, look in BARS.values()}) > len(BARS)


def test_colours_are_those_of_the_page_or_legible_on_both():
    """Contrast of 3 to white and to the usual dark pages."""
    for _, look in BARS.values():
        for colour in re.findall(r"#(\w{6})", look.partition("fill-opacity")[0]):
            parts = [int(colour[k:k + 2], 16) / 255 for k in (0, 2, 4)]
            linear = [c / 12.92 if c <= 0.04 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
            bright = float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
            assert (bright + 0.05) / (0.0056 + 0.05) > 3, colour
            assert 1.05 / (bright + 0.05) > 3, colour


@pytest.fixture
def notebook(monkeypatch):
    """What a notebook would display, as an IPython whose shell has a kernel."""
    shown = []
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    display = ModuleType("IPython.display")
    display.display = lambda data, raw: shown.append((data, raw))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_show_displays_the_strip_in_a_notebook(notebook, capsys):
    x = mat.arange(10.0)
    mat.show(x)
    (data, raw), = notebook
    assert raw
    assert data["text/plain"].startswith("<Mat 10")
    tree = ET.fromstring(data["text/html"].replace("&hellip;", ""))
    assert tree.find("details").get("open") is not None
    assert tree.find(".//svg") is not None
    assert capsys.readouterr().out == ""


def test_show_prints_elsewhere(notebook, monkeypatch, capsys):
    out = io.StringIO()
    mat.show(mat.zeros(2), file=out)
    assert not notebook
    assert out.getvalue().startswith("<Mat 2")
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    mat.show(mat.zeros(2))
    assert not notebook
    assert capsys.readouterr().out.startswith("<Mat 2")


def test_plans_and_settings_are_tables_in_notebooks():
    x = mat.ones(100, 100)
    plan = mat.debug.plan(lambda: x + x, pool_bytes=60_000)
    tree = ET.fromstring(plan._repr_html_())
    rows = [[cell.text or "" for cell in row] for row in tree.findall("tr")]
    assert tree.find("caption").text == repr(plan).splitlines()[0][1:-1]
    assert [row[0] for row in rows] == ["operation", *(call.name for call in plan.calls)]
    assert rows[1][1] == str(plan.calls[0].tiles)
    facts = ET.fromstring(mat.show_config()._repr_html_())
    assert [cell.text for cell in facts.find("tr")] == ["mat", mat.__version__]
