"""What a beginner writes, and what is said of it: an error of the right class, in one or two short
sentences, which name the value and the way out.
"""

import contextlib
import copy
import gc
import pickle
import time
import warnings

import numpy as np
import pytest

import mat
from mat.core.compiled import BLOCKS

LONGEST = 240  # characters of a message
SETUP = """
x, y, a = mat.zeros(3), mat.zeros(3), mat.ones((3, 3))
i, j = mat.array([1, 2, 3], "int64"), mat.array([3, 2, 1], "int64")
"""

LINES = {  # the line: the class of the error, and what it has to say
    # integers where floats are needed
    "mat.axpy(1, i, j)": (mat.DTypeError, ["int64", "x.astype('float64')"]),
    "mat.axpy(1, i, x)": (mat.DTypeError, ["int64", "x.astype('float64')"]),
    "mat.scal(2, i)": (mat.DTypeError, ["int64", "x.astype('float64')"]),
    "mat.nrm2(i)": (mat.DTypeError, ["int64", "x.astype('float64')"]),
    "mat.axpy(1, x, i)": (mat.DTypeError, ["float64 and int64", "x.astype('float64')"]),
    "i.exp_()": (mat.DTypeError, ["exp gives float64", "int64", "x.astype('float64')"]),
    "i.logistic_()": (mat.DTypeError, ["logistic gives float64", "int64", "astype"]),
    "i.erf_()": (mat.DTypeError, ["erf gives float64", "int64", "astype"]),
    "i.divide_(2)": (mat.DTypeError, ["divide gives float64", "int64", "astype"]),
    "i.add_(0.5)": (mat.DTypeError, ["add gives float64", "int64", "astype"]),
    "mat.exp(x, out=i)": (mat.DTypeError, ["exp gives float64", "int64", "astype"]),
    "i.uniform_()": (mat.DTypeError, ["real numbers", "int64", "astype"]),
    # facets and directions
    "x.facet('arrray')": (mat.FacetError, ["'arrray'", "did you mean 'array'?", "backing"]),
    "x.facet('Array')": (mat.FacetError, ["'Array'", "did you mean 'array'?"]),
    "x.facet('emulatd')": (mat.FacetError, ["'emulatd'", "did you mean 'emulated'?"]),
    "x.facet('array', 'inptu')": (mat.DirectionError, ["'inptu'", "did you mean 'input'?", "'io'"]),
    "x.facet('array', 'r')": (mat.DirectionError, ["'r'", "did you mean 'input'?"]),
    "x.facet('array', 'rw')": (mat.DirectionError, ["'rw'", "did you mean 'io'?"]),
    "x.facet('array', 'write')": (mat.DirectionError, ["'write'", "did you mean 'output'?"]),
    "x.facet('array', 3)": (mat.DirectionError, ["direction 3", "'io'"]),
    "x.facet('emulated')": (mat.DeviceError, ["'emulated'", "with mat.use_device('emulated')"]),
    "x.facet()": (TypeError, ["facet()", "argument"]),
    "x.facet('array', 'input', 3)": (TypeError, ["facet()", "argument"]),
    "mat.with_facets(x, 'array', 'input')": (
        mat.DTypeError, ["with_facets((x, 'array', 'input'))", "x.facet('array', 'input')"]),
    "mat.with_facets(x, 'array')": (mat.DTypeError, ["with_facets((x, 'array'))"]),
    "mat.with_facets(x)": (mat.DTypeError, ["(mat, facet, direction)", "<Mat 3"]),
    "mat.with_facets((x, 'array'), y)": (mat.DTypeError, ["(mat, facet, direction)", "<Mat 3"]),
    "mat.with_facets((x,))": (mat.DTypeError, ["(mat, facet, direction)"]),
    "mat.with_facets((x, 'array', 'inptu'))": (mat.DirectionError, ["did you mean 'input'?"]),
    # devices and memories
    "mat.use_device('emulatd')": (mat.FacetError, ["'emulatd'", "did you mean 'emulated'?"]),
    "mat.use_device('gpu')": (mat.FacetError, ["'gpu'", "did you mean 'cuda'?", "'cpu'"]),
    "mat.use_device('CUDA')": (mat.FacetError, ["'CUDA'", "did you mean 'cuda'?"]),
    "mat.set_device('cdua')": (mat.FacetError, ["'cdua'", "did you mean 'cuda'?"]),
    "mat.use_device(3)": (mat.FacetError, ["device 3", "'cpu'"]),
    "mat.barrier('hots')": (mat.FacetError, ["'hots'", "did you mean 'host'?"]),
    "x.drop('cpu')": (mat.FacetError, ["'cpu'", "did you mean 'host'?"]),
    "x.keep('hst')": (mat.FacetError, ["'hst'", "did you mean 'host'?"]),
    # settings
    "mat.settings('float32')": (mat.DTypeError, ["mat.settings(dtype='float32')", "'float32'"]),
    "mat.configure(np.float32)": (mat.DTypeError, ["mat.configure(dtype='float32')", "float32"]),
    "mat.settings(True)": (
        mat.DTypeError, ["mat.settings(NAME=True)", "print(mat.settings)", "True"]),
    "mat.settings(dtyp='float32').__enter__()": (
        mat.SettingError, ["'dtyp'", "did you mean 'dtype'?"]),
    "mat.configure(print_content=True)": (
        mat.SettingError, ["'print_content'", "did you mean 'print_contents'?"]),
    "mat.settings.dtyp": (AttributeError, ["mat.settings", "'dtyp'", "dtype"]),
    "mat.settings.dtype = 'float32'": (mat.SettingError, ["mat.configure(dtype='float32')"]),
    # missing and superfluous arguments
    "mat.gemm(1, a)": (mat.DTypeError, ["gemm(alpha, a, b, beta, c)", "without b and beta and c"]),
    "mat.gemm(a, a, 0, a)": (mat.DTypeError, ["gemm(alpha, a, b, beta, c)", "without c"]),
    "mat.gemm(1, a, a, 0, a, True)": (
        mat.DTypeError, ["takes 5 arguments by position, got 6", "transpose_a"]),
    "mat.axpy(x, y)": (mat.DTypeError, ["axpy(alpha, x, y)", "without y"]),
    "mat.axpy(1, x, z=y)": (mat.DTypeError, ["axpy(alpha, x, y)", "no argument 'z'"]),
    "mat.axpy(1, x, alpha=y)": (mat.DTypeError, ["'alpha' twice"]),
    "mat.axpy(1, x, inc=1, y=y)": (mat.DTypeError, ["'inc'", "did you mean 'inc"]),
    "mat.axpy(1, x, y, inc=1)": (TypeError, ["'inc'"]),
    "mat.axpy(1, x, y, 3)": (mat.DTypeError, ["takes 3 arguments by position, got 4", "incx"]),
    "x.axpy_(2)": (mat.DTypeError, ["axpy(alpha, x, y)", "without y"]),
    "mat.exp()": (mat.DTypeError, ["exp(x, out=None) without x"]),
    "mat.add(x)": (mat.DTypeError, ["add(x, y, out=None) without y"]),
    "mat.add(x, y, x, y)": (mat.DTypeError, ["add(x, y, out=None) takes 3", "got 4"]),
    "mat.matmul(x)": (TypeError, ["matmul()"]),
    "mat.scratch()": (TypeError, ["mat.scratch()", "shape"]),
    "mat.use_device()": (TypeError, ["use_device()", "name"]),
    "x.swapaxes(0)": (TypeError, ["swapaxes()"]),
    # what does not exist
    "mat.zerso(3)": (AttributeError, ["module 'mat'", "'zerso'", "zeros"]),
    "mat.with_facet": (AttributeError, ["module 'mat'", "with_facets"]),
    "x.summ()": (AttributeError, ["'Mat' object", "'summ'"]),
    "x.colour = 3": (AttributeError, ["'Mat' object", "'colour'"]),
}
PRIVATE = ("MatBase", "Views", "Exports", "Methods", "Settings.", "Scratch.", "Options", "__call__",
           "__init__", "object at 0x")


def raised(line):
    names = {"mat": mat, "np": np}
    exec(SETUP, names)
    try:
        exec(line, names)
    except Exception as error:
        return error
    raise AssertionError("no error")


@pytest.mark.host
@pytest.mark.parametrize("line", LINES)
def test_a_line_of_a_beginner(line):
    kind, words = LINES[line]
    error = raised(line)
    assert isinstance(error, kind), repr(error)
    text = str(error)
    assert [word for word in words if word not in text] == [], text
    assert [word for word in PRIVATE if word in text] == [], text
    assert "\n" not in text
    assert len(text) <= LONGEST


# Blocks without ``with``

compiled = pytest.mark.skipif(not BLOCKS.enabled, reason="only compiled blocks warn")
CALLS = {
    "mat.use_device('emulated')": (), "mat.settings(dtype='float32')": (),
    "mat.barrier()": "mat.barrier(...)", "mat.prefetch(to_host=[x])": "mat.prefetch(...)",
    "mat.scratch(3)": "mat.scratch((3,))",
    "x.facet('array', 'input')": (), "x.facet('array')": "x.facet('array', 'io')",
    "mat.with_facets((x, 'array', 'input'))": (),
    "mat.with_facets((x, 'array', 'input'), (y, 'array', 'output'))":
        "mat.with_facets((x, 'array', 'input'), ...)",
}
CALLS = [pytest.param(call, shown or call, marks=compiled, id=call)
         for call, shown in CALLS.items()]


def warned(lines):
    """Run lines as a file called `lines`; return the messages of the warnings and their lines."""
    names = {"mat": mat, "np": np, "contextlib": contextlib, "__name__": "beginner"}
    exec(SETUP, names)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        exec(compile(lines, "lines", "exec"), names)
        del names
        gc.collect()
    assert {(w.category, w.filename) for w in found} <= {(RuntimeWarning, "lines")}
    return [(str(w.message), w.lineno) for w in found]


@pytest.mark.host
@pytest.mark.parametrize(("call", "shown"), CALLS)
def test_a_block_that_nobody_enters(call, shown):
    (text, line), = warned(f"z = x + 1\n{call}\nz = x + 2")
    assert line == 2
    assert text == f"{shown} did nothing, since it was not used by with: write with {shown}: ..."
    assert len(text) <= LONGEST


@pytest.mark.host
@pytest.mark.parametrize(("call", "shown"), CALLS)
def test_a_block_that_is_kept_and_never_entered(call, shown):
    (text, line), = warned(f"def f():\n    block = {call}\n    return 3\n\nf()")
    assert line == 5
    assert shown in text


ENTERED = {
    "with": "with {}: pass",
    "with as": "with {} as b: pass",
    "kept": "b = {}\nwith b: pass",
    "twice": "b = {}\nwith b: pass\nwith b: pass",
    "an exit stack": "with contextlib.ExitStack() as s:\n    s.enter_context({})",
    "an exit stack, kept": "b = {}\nwith contextlib.ExitStack() as s:\n    s.enter_context(b)",
    "by hand": "b = {}\nb.__enter__()\nb.__exit__(None, None, None)",
    "a failing body": "try:\n    with {}: 1 / 0\nexcept ZeroDivisionError: pass",
}


@pytest.mark.host
@pytest.mark.unchecked("the blocks do not write what they promise to overwrite")
@pytest.mark.parametrize("call", [p.values[0] for p in CALLS])
@pytest.mark.parametrize("way", ENTERED)
def test_no_warning_of_a_block_that_is_entered(way, call):
    assert warned(ENTERED[way].format(call)) == []


@pytest.mark.host
@pytest.mark.parametrize("lines", [
    "@mat.settings(dtype='float32')\ndef f(): return mat.zeros(1)\nf()\ndel f",
    "@mat.settings(dtype='float32')\ndef f(): return mat.zeros(1)\ndel f",  # never called
    "try:\n    with mat.settings(colour=3): pass\nexcept mat.SettingError: pass",
    "try:\n    mat.with_facets((x, 'array'), (y, 'arry'))\nexcept mat.FacetError: pass",
    "try:\n    with x.facet('array'), y.facet('array'): 1 / 0\nexcept ZeroDivisionError: pass",
    "z = mat.use_device\nz = x.facet"])
def test_no_warning_of_what_fails_or_decorates(lines):
    assert warned(lines) == []


# Writing what was requested for reading

WRITING = {
    "assignment": "with x.facet('array', 'input') as b:\n    b[0] = 1",
    "in place": "with x.facet('array', 'input') as b:\n    b += 1",
    "out=": "with x.facet('array', 'input') as b:\n    np.exp(b, out=b)",
    "sort": "with x.facet('array', 'input') as b:\n    b.sort()",
    "backing": "with x.facet('backing', 'input') as b:\n    b[:] = 1",
    "several": "with mat.with_facets((y, 'array', 'io'), (x, 'array', 'input')) as (c, b):\n"
               "    b[0] = 1",
}


@pytest.mark.host
@pytest.mark.parametrize("way", WRITING)
def test_writing_an_input_array_says_which_block_and_what_to_request(way):
    error = raised(compile(WRITING[way], "lines.py", "exec"))
    assert type(error) is ValueError
    assert "read-only" in str(error)
    note, = error.__notes__
    assert "<Mat 3> as facet" in note
    assert "for 'input'" in note
    assert "lines.py:1" in note
    assert "to write it, request 'io', or 'output' to overwrite all of it" in note
    assert len(note) <= LONGEST


@pytest.mark.host
@pytest.mark.parametrize("lines", [
    "with x.facet('array', 'input') as b:\n    raise ValueError('another one')",
    "with x.facet('array', 'io') as b:\n    raise ValueError('read-only')",
    "r = np.zeros(3)\nr.flags.writeable = False\nr = mat.from_numpy(r)\n"
    "with x.facet('array', 'input') as b:\n    r.fill_(1)"])
def test_other_errors_have_no_note(lines):
    assert not hasattr(raised(lines), "__notes__")


# Attributes


def test_a_missing_attribute_of_mat_is_as_python_has_it():
    with pytest.raises(AttributeError) as caught:
        mat.zerso  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("zerso", mat)
    again = pickle.loads(pickle.dumps(AttributeError(*caught.value.args)))
    assert str(again) == str(caught.value)
    with pytest.raises(AttributeError) as caught:
        mat.zeros(1).summ  # noqa: B018
    assert caught.value.name == "summ"


def test_probing_is_cheap_and_finds_nothing():
    assert not hasattr(mat, "a_name_that_nobody_has")
    assert not hasattr(mat, "_repr_html_")
    assert not hasattr(mat.settings, "_ipython_display_")
    assert not hasattr(mat.zeros(1), "_ipython_canary_method_should_not_exist_")
    # with one, Python would not remember where it finds methods
    assert not hasattr(mat.Mat, "__getattr__")
    start = time.thread_time()
    for k in range(100):
        hasattr(mat, f"zeross{k}")
    assert time.thread_time() - start < 0.5  # 0.1 ms each


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy,
                                    lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_probe_for_attributes_that_are_missing(copied):
    np.testing.assert_array_equal(np.asarray(copied(mat.arange(3))), [0, 1, 2])
    assert copied(mat.DTypeError("text")).args == ("text",)


def test_methods_are_called_mats_own():
    private = [n for n in dir(mat.Mat) if not n.startswith("_") and callable(getattr(mat.Mat, n))
               and getattr(getattr(mat.Mat, n), "__qualname__", f"Mat.{n}").startswith(
                   ("Views", "Methods"))]
    assert private == []
    assert pickle.loads(pickle.dumps(mat.Mat.swapaxes)) is mat.Mat.swapaxes
