"""What an editor and a prompt offer after a dot: public names only."""

import importlib
import types

import pytest

import mat
from mat.numpy.namespace.lookup import ABSENT, kinds
from mat.support.close_names import OF_ARRAYS
from mat.support.options import NAMES

pytestmark = pytest.mark.host

MODULES = ["blas", "debug", "errors", "extend", "fft", "lib", "lib.stride_tricks", "linalg", "nn",
           "random"]
INTERNAL = {"allowed", "form", "known_form", "layout", "over", "presented", "read_only", "storage"}


def offered(thing):
    return {name for name in dir(thing) if name[0] not in "_@"}  # pytest adds the latter


def test_mat_offers_its_own_names_and_those_of_numpy_that_can_be_used():
    usable = {name for name, kind in kinds("").items() if kind != ABSENT}
    own = {name for name in mat.__all__ if not name.startswith("_")}
    assert own | {"array_api"} <= offered(mat) <= own | usable | {"array_api"}


def test_mat_offers_no_internal_modules():
    packages = {name for name in offered(mat) if isinstance(getattr(mat, name), types.ModuleType)
                and getattr(mat, name).__name__.startswith("mat.")}
    assert packages == {"blas", "debug", "emath", "errors", "extend", "fft", "lib",
                        "linalg", "nn", "random", "testing"}


@pytest.mark.parametrize("name", MODULES)
def test_modules_offer_their_public_names(name):
    module = importlib.import_module(f"mat.{name}")
    public = getattr(module, "__all__", None) or [n for n, v in vars(module).items()
                                                  if isinstance(v, type)]
    imported = {"testing"} if name == "extend" else set()  # once somebody has imported it
    assert offered(module) - imported == {n for n in public if not n.startswith("_")}


def test_a_mat_offers_no_private_names_and_nothing_of_facets():
    x = mat.zeros(2, 2)
    assert not [n for n in dir(x) if n.startswith("_") and not n.endswith("__")]
    class_offers = {n for n in dir(mat.Mat) if not n.startswith("_")}
    assert class_offers - offered(x) == INTERNAL | set(OF_ARRAYS)
    assert offered(x) <= class_offers


def test_settings_and_generators_offer_public_names():
    assert offered(mat.settings) == set(NAMES)
    assert not [n for n in offered(mat.random.default_rng(1)) if n.endswith("_")]
