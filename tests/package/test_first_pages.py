"""The first pages of the documentation: one sentence and one picture, an install line, and what of
NumPy is different, on one screen.
"""

import re
from pathlib import Path

import numpy
import pytest

import mat as np

from ..support import blocks
from ..support.site import load

pytestmark = pytest.mark.host

ROOT = Path(__file__).parents[2]
FRONT = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
numbers = load(ROOT / "docs" / "measured.py")
gallery = load(ROOT / "docs" / "pictures" / "gallery.py")


def test_it_begins_with_one_sentence_and_one_picture():
    title, sentence, picture = FRONT.split("\n\n")[:3]
    assert title == "# mat"
    assert re.fullmatch(r"\*\*[^.]+\.\*\*", sentence)
    assert len(sentence) < 250
    assert re.fullmatch(r"!\[[^]]+\]\([\w/]+\.svg\)", picture)
    assert FRONT.count("![") == 1
    assert README.startswith(f"{title}\n\n{sentence}\n\n{picture.replace('](', '](docs/')}\n")


def test_the_first_screen_of_the_readme_has_code_numbers_and_an_install_line():
    first = README.partition("\n## ")[0]
    shown = blocks.blocks(first)
    assert [block.language for block in shown] == ["python", "sh"]
    assert len(shown[0].text.splitlines()) <= 9
    assert "minutes" in first
    assert "-q" not in shown[1].text, "pip is silent for minutes"
    assert sum(line.startswith("| `") for line in first.splitlines()) >= 5
    assert README.count("```sh") == 2, "the commands that the gate reads"


@pytest.mark.parametrize("page", numbers.PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_numbers_are_those_of_the_benchmarks(page):
    """``python docs/measured.py`` writes them."""
    text = page.read_text(encoding="utf-8")
    assert numbers.current(text) == text


def test_a_number_that_differs_is_noticed():
    changed = README.replace("| 267 us", "| 167 us")
    assert changed != README
    assert numbers.current(changed) == README


def test_the_install_line_is_that_of_the_readme():
    line = re.search(r"## Install\n.*?```sh\n(.+?)\n```", FRONT, re.DOTALL)[1]
    assert f"```sh\n{line}\n```" in README
    assert "mat'" not in line.replace("'.[examples]'", "")


@pytest.mark.parametrize("path", sorted(p for p in (ROOT / "docs" / "pictures").rglob("*")
                                        if p.suffix in (".png", ".svg")), ids=lambda p: p.name)
def test_pictures_are_small_and_used(path):
    assert path.stat().st_size <= 60_000
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    assert any(path.name in page.read_text(encoding="utf-8") for page in pages)


# The gallery


EXAMPLES = sorted(path.stem for path in ROOT.glob("examples/*.py"))


def test_every_example_has_a_place_in_the_gallery_with_a_picture_or_its_text():
    """``python docs/pictures/gallery.py NAME`` makes both."""
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"^### \[(\w+)\.py\]\(\.\./examples/(\w+)\.py\): .+\n\n[A-Z].+\.\n\n"
                       r"(?:!\[.{20,}\]\(pictures/gallery/(\w+)\.svg\)|"
                       r"```text\n\S(?s:.+?)```)$", text, re.MULTILINE)
    assert all(first == second == (picture or first) for first, second, picture in shown)
    assert sorted(names[0] for names in shown) == EXAMPLES
    drawn = {path.name for path in ROOT.glob("docs/pictures/gallery/*")}
    assert drawn == {f"{name}.svg" for name in gallery.DRAWINGS}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", gallery.DRAWINGS)
def test_a_drawing_is_the_one_that_the_script_makes(name):
    if name == "digits":
        pytest.importorskip("sklearn")
    made = gallery.DRAWINGS[name]().text()
    kept = (ROOT / "docs" / "pictures" / "gallery" / f"{name}.svg").read_text(encoding="utf-8")
    assert similar(made) == similar(kept)


def similar(drawing):
    """A drawing without the digits, which may differ between machines in the last place."""
    return re.sub(r"[\d.e-]+", "", drawing)[:2000]


@pytest.mark.parametrize("path", [*ROOT.glob("docs/pictures/**/*.svg")], ids=lambda path: path.stem)
def test_drawings_are_legible_in_light_and_in_dark(path):
    drawing = path.read_text(encoding="utf-8")
    assert 'fill="currentColor"' in drawing.partition(">")[0]
    assert re.search(r'aria-label="[^"]{20,}"', drawing)
    assert set(re.findall(r"#[0-9a-f]{6}", drawing)) <= {
        gallery.BLUE, gallery.GREEN, gallery.ORANGE, gallery.VIOLET, gallery.GREY,
        "#26324a", "#d5dae6"}
    assert "prefers-color-scheme:dark" in drawing  # where it is not a part of a page
    assert not re.search(r'(?:fill|stroke)="(?:black|white|#000|#fff)', drawing)


# What numpy-to-mat.md says


def test_what_is_said_of_writing_and_numbers(tmp_path):
    a = np.array([[0.0, 1], [2, 3]])
    assert np.exp(a, out=a) is a
    assert a.exp_() is a
    a = np.array([[0.0, 1], [2, 3]])
    assert (a.sum().shape, float(a.sum()), f"{a.sum():.2f}") == ((), 6.0, "6.00")
    assert a.sum() > 3
    assert [a.strides[0]] == [numpy.zeros((2, 2)).strides[0]]


def test_what_is_said_of_arrays():
    a = numpy.array([1.0, 2])
    copied, shared = np.array(a), np.from_numpy(a)
    a[0] = 5
    assert (copied[0], shared[0]) == (1, 5)
    assert not numpy.asarray(copied).flags.writeable
    assert not numpy.shares_memory(copied.to_numpy(), numpy.asarray(copied))
    with np.use_device("emulated"):
        doubled = copied * 2
        with doubled.facet("array") as values:
            values[0] = 9
        assert doubled.fresh == {"host"}
        assert (doubled + 1).to_numpy().tolist() == [10, 5]


def test_what_is_said_of_random_numbers_files_and_dtypes(tmp_path):
    found = np.random.default_rng(1).normal(size=3)
    with np.use_device("emulated"):
        again = np.random.default_rng(1).normal(size=3)
    assert found.equals(again)
    assert found.tolist() != numpy.random.default_rng(1).normal(size=3).tolist()
    np.save(tmp_path / "x.npy", np.ones(3))
    assert np.open_memmap(tmp_path / "x.npy").sum() == 3
    for wrong in (["a"], [object()], numpy.array(["2026-01-01"], "datetime64[D]")):
        with pytest.raises(np.DTypeError):
            np.array(wrong)
