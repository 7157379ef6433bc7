"""The recipe for conda packages says what pyproject.toml says, which it cannot refer to."""

import re
import tomllib
from pathlib import Path

import pytest

import mat

pytestmark = [pytest.mark.host, pytest.mark.once]

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "docs" / "packaging" / "conda" / "recipe.yaml"
yaml = pytest.importorskip("yaml", reason="there is no PyYAML, which comes with zensical")


@pytest.fixture(scope="module")
def recipe():
    return yaml.safe_load(RECIPE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def required(texts):
    """The bounds of requirements by name; conda writes a space between them, and small letters."""
    pairs = [re.fullmatch(r"([\w.-]+) *(.*)", text).groups() for text in texts]
    return {name.lower(): bounds for name, bounds in pairs}


def test_the_recipe_is_of_this_version(recipe):
    assert recipe["context"] == {"name": "facetmat", "version": mat.__version__}
    assert recipe["package"] == {"name": "${{ name }}", "version": "${{ version }}"}
    assert recipe["source"]["url"].endswith("/facetmat-${{ version }}.tar.gz")
    assert re.fullmatch("[0-9a-f]{64}", recipe["source"]["sha256"])


def test_what_is_needed_to_run_is_that_of_the_project(recipe, project):
    found = required(recipe["requirements"]["run"])
    assert found.pop("python") == project["project"]["requires-python"]
    assert found == required(project["project"]["dependencies"])


def test_what_is_needed_to_build_is_that_of_the_project(recipe, project):
    found = required(recipe["requirements"]["host"])
    assert (found.pop("python"), found.pop("pip")) == ("", "")
    assert found == required(project["build-system"]["requires"])
    assert "${{ compiler('c') }}" in recipe["requirements"]["build"]


def test_the_description_is_that_of_the_project(recipe, project):
    about, described = recipe["about"], project["project"]
    assert (about["summary"], about["license"]) == (described["description"],
                                                    described["license"])
    assert about["license_file"] in described["license-files"]
    assert about["repository"] == described["urls"]["Source"]
    assert about["documentation"] == described["urls"]["Documentation"]


def test_the_commands_of_its_test_compute(recipe, capsys):
    first, second = recipe["tests"][1]["script"]["content"]
    assert first == "python -m mat --version"
    code = re.fullmatch('python -c "(.*)"', second)[1]
    exec(code, {})
    with pytest.raises(AssertionError):
        exec(code.replace("24", "25"), {})


def test_rattler_build_reads_the_recipe(recipe):
    tool = pytest.importorskip("rattler_build", reason="py-rattler-build is not installed")
    pythons = tool.VariantConfig.from_yaml(
        "python:\n- 3.11.* *_cpython\n- 3.13.* *_cp313\nc_stdlib:\n- sysroot\n")
    found = [variant.recipe for variant in tool.Stage0Recipe.from_file(RECIPE).render(pythons)]
    assert [(one.package.name, str(one.package.version)) for one in found] == [
        ("facetmat", mat.__version__)] * 2
    assert [[str(need) for need in one.requirements.run] for one in found] == [
        recipe["requirements"]["run"]] * 2
