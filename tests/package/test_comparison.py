"""The comparison with other libraries: each "yes" of ours leads to a page or a test."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.host

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "comparison.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in TEXT.splitlines()
        if line.startswith("| ") and not line.startswith("| |")]


def slugs(page):
    """The anchors of a page's headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())
            for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def test_fifty_features_of_seven_libraries():
    assert len(ROWS) == len({row[0] for row in ROWS}) == 50
    assert all(len(row) == 8 for row in ROWS)
    assert {cell for row in ROWS for cell in row[1:-1]} == {"yes", "partly", "no"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_mat_has_is_shown(row):
    ours = re.fullmatch(r"(?:\[(\w+)\]\(([\w/.-]+)(?:#([\w-]+))?\)(?:, [\w ']+)?|no)", row[-1])
    assert ours, row[-1]
    if target := ours[2]:
        assert ours[1] in ("yes", "partly", "no")
        page = DOCS / target
        assert page.is_file(), target
        assert not ours[3] or ours[3] in slugs(page), row[-1]
