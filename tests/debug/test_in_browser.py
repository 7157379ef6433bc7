"""Traces in a browser, measured there: nothing is cropped, hidden or too small in narrow and wide,
light and dark pages, and nothing of a notebook but the trace is styled.
"""

import json
import threading

import numpy as np
import pytest

import mat

from ..support import browser

pytestmark = [pytest.mark.host, pytest.mark.once, browser.needed]

LAYOUT = """
const root = document.documentElement, svg = all(".mat-lanes svg")[0];
const bars = all("rect", svg).map(box), times = all(".mat-axis span").map(box);
return {
  width: root.clientWidth, scrolled: root.scrollWidth, drawing: box(svg), times,
  bars, names: all(".mat-lane").map(box), first: Math.min(...bars.map(b => b.left)),
  last: Math.max(...bars.map(b => b.right)),
  sizes: all(".mat-lane, .mat-axis span, .mat-key span, .mat-trace pre").map(
    e => parseFloat(getComputedStyle(e).fontSize)),
};
"""
COLOURS = """
const probe = document.body.appendChild(document.createElement("div"));
probe.style.backgroundColor = "Canvas";
return all(".mat-trace").map(trace => {
  const around = trace.closest("[style*=background]") || probe;
  const paper = getComputedStyle(around).backgroundColor;
  const styles = all("*", trace).map(e => [e, getComputedStyle(e)]);
  return {
    paper,
    text: Math.min(...styles.filter(([e]) => e.matches("pre, span, .mat-lane")).map(
      ([, style]) => contrast(style.color, paper))),
    bars: Math.min(...styles.filter(([e]) => e.matches("rect")).map(
      ([, style]) => contrast(style.fill, paper)).concat(
        styles.filter(([e]) => e.matches("i")).map(
          ([, style]) => contrast(style.backgroundColor, paper)))),
    lines: Math.min(...styles.filter(([e]) => e.matches("line")).map(
      ([, style]) => contrast(style.stroke, paper))),
  };
});
"""


@pytest.fixture(scope="module")
def traced():
    x = mat.array(np.arange(1000.0))

    def work():
        with mat.use_device("emulated"):
            mat.asum(x)

    with mat.debug.trace() as t, mat.use_device("emulated"):
        x += 1
        thread = threading.Thread(target=work, name="a thread with a long name")
        thread.start()
        thread.join()
        (x + x).to_numpy()
    return t


def page_of(traced, tmp_path):
    traced.save(tmp_path / "t.html")
    return (tmp_path / "t.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 800, 1700])
def test_a_page_shows_all_at_any_width(width, traced, tmp_path):
    found = browser.measure(page_of(traced, tmp_path), LAYOUT, tmp_path, width=width)
    assert found["width"] == width
    assert found["scrolled"] <= width  # only the table scrolls, in its frame
    left, right = found["drawing"]["left"], found["drawing"]["right"]
    assert right - left > 0.85 * width
    assert all(left - 1 <= bar["left"] < bar["right"] <= right + 1 for bar in found["bars"])
    assert len(found["bars"]) == len(traced.events) + len(traced.operations)
    assert min(found["sizes"]) >= 11
    begin, middle, end = found["times"]
    assert begin["left"] == pytest.approx(found["first"], abs=2)
    assert end["right"] == pytest.approx(found["last"], abs=2)
    assert (middle["left"] + middle["right"]) / 2 == pytest.approx((left + right) / 2, abs=2)
    for name in found["names"]:  # no name is written over a bar
        assert 0 <= name["left"] < name["right"] <= width
        assert not [b for b in found["bars"]
                    if b["top"] < name["bottom"] - 1 and b["bottom"] > name["top"] + 1]


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_a_page_can_be_read_in_light_and_dark(dark, traced, tmp_path):
    (found,) = browser.measure(page_of(traced, tmp_path), COLOURS, tmp_path, dark=dark)
    assert (found["paper"] == "rgb(255, 255, 255)") != dark
    assert found["text"] >= 7
    assert found["bars"] >= 3
    assert found["lines"] >= 7  # they are of the text's colour, less its opacity


OTHERS = """<pre>other text</pre><svg width="50" height="20"><text x="2" y="12">t</text>
<line x1="0" x2="9"/><rect width="3" height="3"/></svg><p class="key">p <span>s</span> <i>i</i></p>
<div class="copy">c</div>"""
NOTEBOOK = """<!DOCTYPE html><html><head><style>
body { margin: 0; font-family: serif } svg { max-width: 100%; height: auto }
.shown pre { color: inherit; font-family: serif; white-space: pre-wrap; word-break: break-all }
</style></head><body><div id="others" style="width:400px">OTHERS</div>
<div class="shown" style="background:#111111;color:#dddddd;width:320px"></div>
<div class="shown" style="background:#ffffff;color:#222222;width:1100px"></div></body></html>"""
COMPUTED = """return all("#others *").map(e => {
  const style = getComputedStyle(e);
  return [...style].map(name => name + ":" + style.getPropertyValue(name)).join(";"); });"""


def test_a_trace_in_a_notebook_can_be_read_and_styles_nothing_else(traced, tmp_path):
    script = f"""const computed = () => {{{COMPUTED}}}, before = computed();
        all(".shown").forEach(e => {{ e.innerHTML = {json.dumps(traced._repr_html_())}; }});
        return {{before, others: computed(), colours: (() => {{{COLOURS}}})(),
                 drawings: all(".mat-lanes svg").map(box),
                 tables: all(".mat-trace pre").map(e => [getComputedStyle(e).fontFamily,
                                                         getComputedStyle(e).whiteSpace])}};"""
    found = browser.measure(NOTEBOOK.replace("OTHERS", OTHERS), script, tmp_path)
    assert len(found["before"]) == 9
    assert found["others"] == found["before"]
    assert [c["paper"] for c in found["colours"]] == ["rgb(17, 17, 17)", "rgb(255, 255, 255)"]
    for colours in found["colours"]:
        assert colours["text"] >= 7
        assert colours["bars"] >= 3
        assert colours["lines"] >= 7
    assert {tuple(table) for table in found["tables"]} == {("ui-monospace, monospace", "pre")}
    widths = [drawing["right"] - drawing["left"] for drawing in found["drawings"]]
    half = len(widths) // 2  # the lanes, and the bytes of each memory
    assert half > 1
    assert widths == pytest.approx([*[320] * half, *[1100] * half], abs=1)
