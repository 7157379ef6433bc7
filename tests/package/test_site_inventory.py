"""The inventory of the site, by which Sphinx and editors find names: it has every name of the
reference, and its addresses exist.
"""

import re
import zlib

import pytest

import mat

from ..support.site import reference

pytestmark = [pytest.mark.host, pytest.mark.once]

LINE = re.compile(r"(.+?)\s+(\S+)\s+(-?\d+)\s+?(\S*)\s+(.*)")  # as Sphinx reads it


def read_inventory(data):
    """The entries of an inventory: the address and the shown name, by role and name."""
    head, found = data.split(b"\n", 4), {}
    assert head[0] == b"# Sphinx inventory version 2"
    assert head[1] == b"# Project: mat"
    assert head[2] == f"# Version: {mat.__version__}".encode()
    assert b"zlib" in head[3]
    for line in zlib.decompress(head[4]).decode().splitlines():
        name, role, priority, address, shown = LINE.fullmatch(line).groups()
        assert priority == "1"
        assert (role, name) not in found
        found[role, name] = address, name if shown == "-" else shown
    return found


INVENTORY = read_inventory(reference.inventory.written("mat", mat.__version__,
                                                       reference.inventory_entries()))
# before tests add operations, as INVENTORY
NAMES = {path for _, path, _ in reference.everything()}


def test_the_inventory_has_every_name_of_the_reference():
    assert {name for _, name in INVENTORY} >= NAMES
    assert {role for role, _ in INVENTORY} == {"py:module", "py:class", "py:function", "py:method",
                                               "py:property", "py:exception", "py:data"}


@pytest.mark.parametrize(("role", "name", "address"), [
    ("class", "mat.Mat", "reference/mat.html#mat.Mat"),
    ("class", "mat.matrix.mat.Mat", "reference/mat.html#mat.Mat"),  # as annotations name it
    ("method", "mat.Mat.facet", "reference/mat.html#mat.Mat.facet"),
    ("property", "mat.Mat.T", "reference/mat.html#mat.Mat.T"),
    ("exception", "mat.ShapeError", "reference/errors.html#mat.ShapeError"),
    ("exception", "mat.errors.ShapeError", "reference/errors.html#mat.ShapeError"),
    ("function", "mat.linalg.svd", "reference/linalg.html#mat.linalg.svd"),
    ("method", "mat.random.Generator.normal", "reference/random.html#mat.random.Generator.normal"),
    ("module", "mat.debug", "reference/debug.html"),
    ("method", "mat.debug.Trace.save", "reference/debug.html#mat.debug.Trace.save")])
def test_names_of_each_kind_are_in_the_inventory(role, name, address):
    assert INVENTORY[f"py:{role}", name][0] == address


@pytest.mark.slow
def test_the_inventory_of_the_site_leads_to_anchors(site):
    found = read_inventory((site / "objects.inv").read_bytes())
    assert found == INVENTORY
    anchors = {path: set(re.findall(r'\bid="?([^"\s>]+)', path.read_text(encoding="utf-8")))
               for path in site.glob("reference/*.html")}
    for address, _ in found.values():
        name, _, anchor = address.partition("#")
        assert not anchor or anchor in anchors[site / name]
        assert site / name in anchors
