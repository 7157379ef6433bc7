"""The site in a browser: its search works without a server, and pages fit narrow screens, light and
dark.
"""

import re

import pytest

from ..support import browser

pytestmark = [pytest.mark.host, pytest.mark.once, pytest.mark.slow, browser.needed]

SEARCH = """<pre id=found></pre><script>
onload = () => setTimeout(() => {
  document.querySelector(".md-search__button").click();
  setTimeout(() => {
    const dialog = [...document.querySelectorAll("*")].find(element => element.shadowRoot);
    const query = dialog.shadowRoot.querySelector("input");
    query.focus();
    query.value = "WORDS";
    query.dispatchEvent(new InputEvent("input", {bubbles: true, composed: true}));
    setTimeout(() => {
      const links = [...dialog.shadowRoot.querySelectorAll("a[role=option]")];
      document.querySelector("#found").textContent = links.map(a => a.href).join(" ");
    }, 4000);
  }, 1000);
}, 500);
</script>"""


@pytest.mark.parametrize(("words", "found"), [
    ("axpy", "reference/mat.html"), ("open_memmap", "reference/files.html"),
    ("loop copies data every step", "tutorials/slow-loop.html"),
    ("does not fit GPU", "tutorials/does-not-fit.html")])
def test_the_search_works_without_a_server(words, found, site, tmp_path):
    page = site / "searching.html"
    text = (site / "index.html").read_text(encoding="utf-8")
    page.write_text(text.replace("</body>", SEARCH.replace("WORDS", words) + "</body>"),
                    encoding="utf-8")
    shown = browser.dom(page.as_uri(), tmp_path, milliseconds=10000)
    page.unlink()
    links = re.search(r'<pre id="found">(.*?)</pre>', shown)[1].split()
    assert any(link.partition("?")[0].endswith(found) for link in links[:3]), links


def test_sessions_are_copied_without_prompts_and_results(site, tmp_path):
    """As the button does it, which marks the code meanwhile."""
    text = (site / "index.html").read_text(encoding="utf-8")
    text = text.replace("<head>", f'<head><base href="{site.as_uri()}/">', 1)
    found = browser.measure(text, """return all("pre code").map(code => {
        code.setAttribute("data-md-copying", ""); return code.innerText; });""", tmp_path)
    (session,) = [code for code in found if "import mat" in code]
    assert ">>>" not in session
    assert "(1, 2)" not in session
    namespace = {}
    exec(session, namespace)
    assert namespace["copies"].h2d == 1


def test_numpy_to_mat_is_on_one_screen(site, tmp_path):
    text = (site / "numpy-to-mat.html").read_text(encoding="utf-8")
    text = text.replace("<head>", f'<head><base href="{site.as_uri()}/">', 1)
    found = browser.measure(text, "return box(all('article')[0])", tmp_path, width=1400)
    assert 500 < found["bottom"] <= 900


@pytest.mark.parametrize(("page", "dark"), [("index", False), ("index", True),
                                            ("reference/mat", True)])
def test_pages_of_the_site_are_as_wide_as_a_telephone(page, dark, site, tmp_path):
    path = site / f"{page}.html"
    text = path.read_text(encoding="utf-8").replace(
        "<head>", f'<head><base href="{path.parent.as_uri()}/">', 1)
    script = """
const paper = getComputedStyle(document.body).backgroundColor;
return {scrolled: document.documentElement.scrollWidth, dark: luminance(paper) < 0.1,
        text: contrast(getComputedStyle(all("article p")[0]).color, paper),
        pictures: all("article img").map(box)};"""
    found = browser.measure(text, script, tmp_path, width=390, dark=dark, after=1000)
    assert found["scrolled"] <= 390
    assert found["dark"] == dark
    assert found["text"] >= 7
    assert all(picture["right"] <= 390 for picture in found["pictures"])
