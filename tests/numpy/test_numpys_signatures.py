"""What has NumPy's name has its parameters, and is a method of classes where NumPy's is."""

import functools
import importlib
import inspect
import pickle
import pkgutil
import re

import numpy as np
import pytest

import mat
from mat.numpy.namespace.lookup import ABSENT, MODULES, kinds, numpy_module
from mat.numpy.registry import IMPLEMENTATIONS

from ..support.numpy_calls import FUNCTIONS as CALLS
from ..support.numpy_calls import Operands
from ..support.numpy_outcomes import ARBITRARY, check_same, outcome

CLASSES = {"ndarray": (np.ndarray, mat.Mat),
           "random.Generator": (np.random.Generator, mat.random.Generator),
           "random.RandomState": (np.random.RandomState, mat.random.RandomState)}
PARAMETER = inspect.Parameter
BY_POSITION = (PARAMETER.POSITIONAL_ONLY, PARAMETER.POSITIONAL_OR_KEYWORD)
BY_NAME = (PARAMETER.KEYWORD_ONLY, PARAMETER.POSITIONAL_OR_KEYWORD)
SHAPES = ({"dtype", "order"}, "the lengths may be given one by one: zeros(2, 3)",
          "m.{}((2, 3), 'f4', 'F')", "m.{}(shape=(2, 3), dtype='f4', order='F')")
# parameters that are taken otherwise than NumPy's signature says, the reason, and calls with them
REASONS = {
    "zeros": SHAPES, "ones": SHAPES, "empty": SHAPES,
    "clip": ({"a_min", "a_max"}, "the places are those of the standard's `min` and `max`",
             "m.clip([1, 5], 2, 3)", "m.clip([1, 5], a_min=2, a_max=3)"),
    "nditer": ({"flags", "op_flags", "op_dtypes", "order", "casting", "op_axes", "itershape",
                "buffersize"}, "all are passed on", "m.nditer([1, 2], ['c_index'], ['readonly'])",
               "m.nditer([1, 2], flags=['c_index'], order='C', buffersize=0)"),
    "ndarray.choose": ({"choices", "out", "mode"}, "may be several; NumPy takes none by name",
                       "m.array([0, 1]).choose([1, 2], out=None, mode='raise')",
                       "m.array([0, 1]).choose(1, 2)")}
# which take what is `mat`'s own
OURS = {"save", "savez", "savez_compressed"}
# folders and files that have no public names, and what is `mat` itself
NO_NAMES = {"array_api", "core", "cpu", "cuda", "devices", "facets", "interop", "io", "layout",
            "matrix", "memories", "native", "numpy", "ops", "running", "support",
            "compiled", "version"}
# what has another name here, as an operation or a class of ours
NAMES = {"concat", "permute_dims", "ndarray", "random.random", "random.RandomState.random",
         "ndarray.conjugate"}


def attribute(root, path):
    return functools.reduce(getattr, filter(None, path.split(".")), root)


def both():
    """Yield each name, what it is in NumPy, and what it is here."""
    for module in MODULES:
        theirs, ours = numpy_module(module), attribute(mat, module)
        for name, kind in kinds(module).items():
            if hasattr(theirs, name) and kind != ABSENT:
                yield f"{module}.{name}".lstrip("."), getattr(theirs, name), getattr(ours, name)


def methods():
    """Yield the same for the methods of classes."""
    for holder, (theirs, ours) in CLASSES.items():
        for name in dir(theirs):
            if not name.startswith("_") and callable(getattr(theirs, name)):
                yield f"{holder}.{name}", getattr(theirs, name), getattr(ours, name)


def parameters(function):
    try:
        return [*inspect.signature(function).parameters.values()]
    except (ValueError, TypeError):  # of functions in C, before NumPy 2.4
        return []


def lacking(theirs, ours):
    """Return the parameters that are not taken as NumPy takes them."""
    found = parameters(ours)
    names = {p.name: p for p in found if p.kind in BY_NAME}
    places = [p.name for p in found if p.kind in BY_POSITION]
    any_number = any(p.kind is PARAMETER.VAR_POSITIONAL for p in found)
    for place, p in enumerate(parameters(theirs)):
        ours_of = names.get(p.name)
        required = (ours_of is not None and ours_of.default is PARAMETER.empty
                    and p.default is not PARAMETER.empty)
        elsewhere = (p.kind is PARAMETER.POSITIONAL_OR_KEYWORD
                     and places[place:place + 1] != [p.name])
        beyond = p.kind in BY_POSITION and place >= len(places) and not any_number
        if elsewhere or beyond or required or (p.kind in BY_NAME and p.name not in names):
            yield p.name


FUNCTIONS = {name: pair for name, *pair in [*both(), *methods()]
             if callable(pair[0]) and pair[0] is not pair[1]}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_taken_by_numpys_names_and_places(name):
    assert set(lacking(*FUNCTIONS[name])) == REASONS.get(name, [set()])[0]


@pytest.mark.parametrize("name", REASONS)
def test_parameters_with_a_reason_are_taken(name):
    assert lacking(*FUNCTIONS[name])
    for code in REASONS[name][2:]:
        for m in (np, mat):
            found = eval(code.format(name), {"m": m})
            wanted = eval(code.format(name), {"m": np})
            if name != "nditer":
                assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)


GIVEN, NAMED, PLACED = "given by name", "all by name", "all by position"


def respelled(numpys, function, spelling):
    """Return `function`, called with its arguments by the names that NumPy has for them, or with
    all parameters by name or by position, those that are not given with their defaults.
    """
    signature = inspect.signature(numpys)

    def call(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        if spelling != GIVEN:
            bound.apply_defaults()
        if spelling == PLACED or any(p.kind is PARAMETER.VAR_POSITIONAL
                              for p in signature.parameters.values()):
            return function(*bound.args, **bound.kwargs)
        given = {n: signature.parameters[n].kind for n in bound.arguments}
        named = {n: v for n, v in bound.arguments.items() if given[n] in BY_NAME}
        for name, kind in given.items():
            if kind is PARAMETER.VAR_KEYWORD:
                named |= bound.arguments[name]
        return function(*(v for n, v in bound.arguments.items()
                          if given[n] is PARAMETER.POSITIONAL_ONLY), **named)

    return call


@pytest.mark.parametrize("spelling", [GIVEN, NAMED, PLACED])
@pytest.mark.parametrize("library", [mat, np], ids=["mat", "numpy"])  # whose function is called
@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n in CALLS and n not in OURS
                                  and parameters(FUNCTIONS[n][0])])
def test_calls_with_every_parameter(name, library, spelling):
    numpys, ours = FUNCTIONS[name]
    if library is np and name in ("poly", "roots"):
        pytest.skip("NumPy asks the elements of their operand, not the operand")
    if library is mat and name == "clip" and spelling == PLACED:
        pytest.skip("its bounds cannot be at places and by name, `min` and `max`")
    function = ours if library is mat else numpys
    for call in CALLS[name]:
        mine = Operands("float64", mat.array)
        wanted = outcome(call, respelled(numpys, numpys, spelling),
                         Operands("float64", np.array))
        got = outcome(call, respelled(numpys, function, spelling), mine)
        # signatures of some functions are not those of NumPy's own dispatch
        if not isinstance(wanted, Exception) and "which a Mat cannot have" not in str(got):
            check_same(got, wanted, 1e-9 if name in ARBITRARY else 1e-12, mine.arrays)


def test_keepdims_that_is_not_given():
    x = mat.ones((2, 3))
    for name in ("sum", "prod", "max", "min", "mean", "argmax", "argmin", "any", "all", "std",
                 "var", "ptp", "median", "nansum", "nanmax", "nanmean", "average"):
        assert getattr(mat, name)(x, keepdims=np._NoValue).shape == ()


def test_descending_that_is_not_given():  # the default of NumPy 2.5
    assert mat.sort(mat.array([3, 1, 2]), descending=np._NoValue).tolist() == [1, 2, 3]
    assert mat.argsort(mat.array([3, 1, 2]), descending=np._NoValue).tolist() == [1, 2, 0]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_the_method_clip_takes_one_bound(device):
    with mat.use_device(device):
        for a in (np.arange(5), np.arange(5.0), np.arange(6.0).reshape(2, 3).T):
            x = mat.array(a.T).T
            for args, kwargs in (((1,), {}), ((None, 3), {}), ((), {"max": 2}), ((), {"min": 1}),
                                 ((1, 3), {}), ((1, 3, None), {}), ((), {}),
                                 ((2,), {"dtype": "f8"})):
                found, wanted = x.clip(*args, **kwargs), a.clip(*args, **kwargs)
                assert (found.dtype, found.tolist()) == (wanted.dtype, wanted.tolist())
            assert x.clip(a_min=1, a_max=3).tolist() == a.clip(1, 3).tolist()
            with pytest.raises(ValueError, match="two bounds"):
                x.clip(1, a_min=2)


# Methods and names


EVERY = {name: pair for name, *pair in both()
         if pair[0] is not pair[1] and name != "__array_namespace_info__"}  # which classes call


def is_bound(thing):
    """Return whether a class that has `thing` as an attribute has it as a method."""
    holder = type("Holder", (), {"f": thing})()
    return holder.f is not thing


@pytest.mark.parametrize("name", EVERY)
def test_a_method_of_a_class_where_numpys_is_one(name):
    numpys, ours = EVERY[name]
    assert is_bound(ours) == is_bound(numpys)


@pytest.mark.parametrize("name", sorted(n for n, k in kinds("").items() if k == ABSENT))
def test_what_is_refused_is_no_method_either(name):
    if hasattr(np, name):
        assert is_bound(getattr(mat, name)) == is_bound(getattr(np, name))


def test_what_is_no_method_computes_as_an_attribute_of_a_class():
    class Model:
        activation, product, make, pairs = mat.tanh, mat.matmul, mat.array, mat.broadcast
        norm = mat.linalg.norm

    model, x = Model(), mat.ones((2, 2))
    assert model.activation(x).equals(mat.tanh(x))
    assert model.product(x, x).equals(x @ x)
    assert model.make([1]).tolist() == [1]
    assert model.pairs(x, 2).shape == (2, 2)
    with pytest.raises((TypeError, ValueError)):
        model.norm(x)
    assert isinstance(mat.matmul, mat.ufunc)
    assert pickle.loads(pickle.dumps(mat.matmul)) is mat.matmul
    assert list(inspect.signature(mat.matmul).parameters)[:3] == ["a", "b", "out"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_names_are_numpys(name):
    numpys, ours = FUNCTIONS[name]
    same = getattr(ours, "__name__", None) == getattr(numpys, "__name__", None)
    assert same is (name not in NAMES)


@pytest.mark.parametrize("name", ["abs", "pow", "invert", "bitwise_not", "acos", "conj", "mod"])
def test_ufuncs_by_other_names_can_be_pickled(name):
    function = getattr(mat, name)
    assert function.__name__ == getattr(np, name).__name__
    assert pickle.loads(pickle.dumps(function)) is function


# Names that do not exist


@pytest.mark.parametrize(("module", "name", "close"), [
    ("", "arrange", "arange"), ("random", "norml", "normal"), ("nn", "maxpool", "max_pool"),
    ("errors", "ShapError", "ShapeError"), ("extend", "Memry", "Memory"), ("blas", "gem", "gemm"),
    ("debug", "count_copys", "count_copies"), ("testing", "assert_equals", "assert_equal"),
    ("array_api", "matmull", "matmul"), ("array_api.linalg", "svdd", "svd"),
    ("array_api.fft", "ftt", "fft"), ("fft", "ftt", "fft"), ("linalg", "svdd", "svd"),
    ("emath", "sqr", "sqrt"), ("lib", "strid_tricks", "stride_tricks"),
    ("lib.stride_tricks", "asstrided", "as_strided")])
def test_modules_name_what_is_close(module, name, close):
    holder = attribute(mat, module)
    with pytest.raises(AttributeError, match=rf"close names: .*\b{close}\b") as caught:
        getattr(holder, name)
    assert (caught.value.name, caught.value.obj) == (name, holder)
    assert not hasattr(holder, "_no_such_name")


@pytest.mark.parametrize("name", [found.name for found in pkgutil.iter_modules(mat.__path__)
                                  if found.name[0] != "_" and found.name not in NO_NAMES])
def test_every_public_module_names_what_is_close(name):
    if name == "dask":
        pytest.importorskip("distributed")
    holder = importlib.import_module(f"mat.{name}")
    with pytest.raises(AttributeError, match=f"mat.{name}' has no attribute 'xyz'"):
        _ = holder.xyz
    assert "__getattr__" in vars(holder)


ALIASES = {"amax": "max", "amin": "min", "around": "round", "clip": "maximum"}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_messages_about_arguments_name_the_function(device):
    named = {}
    with mat.use_device(device):
        for function in IMPLEMENTATIONS:
            name = function.__name__
            ours = mat
            for part in qualified(function).split("."):
                ours = getattr(ours, part)
            for args, kwargs in (((), {}), ((mat.ones(2, 2),) * 2, {"other": 1})):
                found = outcome_of(ours, args, kwargs)
                said = re.match(r"([\w.<>]+)\(\) ", found)
                if said and said[1] not in (name, ALIASES.get(name)):
                    named[name] = found
    assert not named


def outcome_of(function, args, kwargs):
    """The message of the error, "" if there is none: a few functions take no operands."""
    try:
        function(*args, **kwargs)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def qualified(function):
    """The name of a function of NumPy in mat's namespace."""
    module = function.__module__.removeprefix("numpy").removeprefix(".")
    return f"{module}.{function.__name__}" if module else function.__name__
