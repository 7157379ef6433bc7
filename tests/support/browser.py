"""Headless Chromium: it opens a page, and a script measures what it shows."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
needed = pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")
DARK, LIGHT = 0, 1  # Chromium's numbers
# how well two colours can be told apart, where elements are, and which there are
TOOLS = """
function rgb(colour) { return colour.match(/[\\d.]+/g).slice(0, 3).map(Number); }
function luminance(colour) {
  const [r, g, b] = rgb(colour).map(c => c / 255).map(
    c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
function box(element) {
  const {left, right, top, bottom} = element.getBoundingClientRect();
  return {left, right, top, bottom};
}
function all(selector, root) { return [...(root || document).querySelectorAll(selector)]; }
"""


def measure(text: str, script: str, folder: Path, *, width: int = 1200, dark: bool = False,
            after: int = 0) -> Any:
    """Return the value of a JavaScript function's body in the page, which has to be JSON.

    The page stands in `folder`, and has the functions of `TOOLS`. It is in a frame, since windows
    have a least width. The script runs as many milliseconds after the page's own as are given.
    """
    end = text.rindex("</body>") if "</body>" in text else len(text)
    tell = f"parent.postMessage(JSON.stringify((() => {{{script}}})()), '*');"
    tell = f"setTimeout(() => {{{tell}}}, {after});" if after else tell
    added = f"<script>{TOOLS}{tell}</script>"
    (folder / "framed.html").write_text(text[:end] + added + text[end:], encoding="utf-8")
    page = folder / "measured.html"
    page.write_text("<!DOCTYPE html><meta name=color-scheme content='light dark'>"
                    "<pre id=measured hidden></pre><script>onmessage = message => {"
                    "document.getElementById('measured').textContent = message.data; };</script>"
                    f"<iframe src='framed.html' style='width:{width}px;height:800px;border:0'>"
                    "</iframe>", encoding="utf-8")
    shown = dom(page.as_uri(), folder, dark=dark, milliseconds=2 * after or 500)
    found = re.search(r'<pre id="measured" hidden="">(.+?)</pre>', shown, re.DOTALL)
    assert found, "the script in the page failed"
    return json.loads(html.unescape(found[1]))


def dom(address: str, folder: Path, *, dark: bool = False, milliseconds: int = 0) -> str:
    """Return a page as it is after its scripts have run, and some virtual time has passed."""
    assert PROGRAM
    waits = [f"--virtual-time-budget={milliseconds}"] if milliseconds else []
    done = subprocess.run(
        [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/user",
         *waits,
         f"--blink-settings=preferredColorScheme={DARK if dark else LIGHT}", "--dump-dom", address],
        capture_output=True, text=True, timeout=120, check=True)
    return done.stdout
