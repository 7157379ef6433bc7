"""``mat.debug.watch``: mistakes of foreign code are named with their line, correct calls not."""

import ctypes
import gc
import importlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path

import cffi
import numpy as np
import pytest

import mat
from mat import AliasError, DirectionError, DTypeError
from mat.debug.protected_pages import FAULT_HANDLER, system
from mat.debug.watching import Watch

from ..support.mock_memories import in_thread, line

HERE = Path(__file__).parent
DECLARATIONS = """
    void scale(const double *x, double *y, long n, double factor);
    double total(const double *x, long n);
    void running_sum(double *x, long n);
    void smooth(const double *x, double *y, long n);
    void transpose(const float *a, float *b, long rows, long columns);
    void histogram(const uint8_t *x, long n, int64_t *counts);
    void fill_strided(double *y, long n, long stride, double value);
    void range_of(const double *x, long n, double *low, double *high);
    void square_complex(const double *z, double *w, long n);
    double median(double *x, long n);
    double normed(double *x, double *y, long n);
    void terminate(double *x, double *y, long n);
    void differences(const double *x, double *y, long n);
    void shifted(const double *x, double *y, long n);
    void inner(const double *x, double *y, long n);
    void guarded(const double *x, double *y, long n);
"""
FFI = cffi.FFI()
FFI.cdef(DECLARATIONS)
pytestmark = [
    pytest.mark.host,
    pytest.mark.skipif(system() is None, reason="needs pages that can be protected"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("foreign") / "foreign.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", found, HERE / "foreign.c"], check=True)
    return str(found)


def by_ctypes(path, name, *args):
    """Return a function of the library, and arguments for it."""
    function = getattr(ctypes.CDLL(path), name)
    function.restype = ctypes.c_double
    return function, [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray)
                      else ctypes.c_long(a) if isinstance(a, int) else ctypes.c_double(a)
                      for a in args]


def by_cffi(path, name, *args):
    function = getattr(FFI.dlopen(path), name)
    kinds = FFI.typeof(function).args
    return function, [FFI.cast(kind, a.ctypes.data) if isinstance(a, np.ndarray) else a
                      for kind, a in zip(kinds, args, strict=True)]


def by_cython(folder):
    """Return a module of Cython with the functions."""
    pytest.importorskip("Cython")
    lines = ["cdef extern from *:", '    """', *(f"    {line}" for line in (
        HERE / "foreign.c").read_text(encoding="utf-8").split("\n")), '    """',
        "    ctypedef unsigned char uint8_t", "    ctypedef long int64_t"]
    for result, name, parameters in FUNCTIONS:
        lines.append(f"    {result} c_{name} \"{name}\"({', '.join(parameters)})")
    lines += ["cdef size_t data(a): return a.__array_interface__['data'][0]"]
    for _, name, parameters in FUNCTIONS:
        kinds = [p.rpartition(" ")[0] for p in parameters]
        given = (f"<{p.rpartition('*')[0]}*><size_t>data(x{k})" if "*" in p else f"<{kinds[k]}>x{k}"
                 for k, p in enumerate(parameters))
        names = ", ".join(f"x{k}" for k in range(len(parameters)))
        lines += [f"def {name}({names}):", f"    return c_{name}({', '.join(given)})"]
    (folder / "by_cython.pyx").write_text("\n".join(lines), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "Cython.Build.Cythonize", "-i", "by_cython.pyx"],
                   cwd=folder, check=True, capture_output=True, env={**os.environ, "CFLAGS": "-O1"})


def by_pybind(folder):
    """Return a module of pybind11 with the functions."""
    pybind = pytest.importorskip("pybind11")
    lines = ["#include <pybind11/pybind11.h>", "#include <pybind11/numpy.h>", 'extern "C" {',
             *(f"{result} {name}({', '.join(p)});" for result, name, p in FUNCTIONS), "}",
             "namespace py = pybind11;", "PYBIND11_MODULE(by_pybind, m) {"]
    for _, name, parameters in FUNCTIONS:
        types = ("py::array" if "*" in p else p.rpartition(" ")[0] for p in parameters)
        given = (f"({p.rpartition('*')[0]}*)x{k}.data()" if "*" in p else f"x{k}"
                 for k, p in enumerate(parameters))
        names = ", ".join(f"{t} x{k}" for k, t in enumerate(types))
        lines.append(f'm.def("{name}", []({names}) {{ return {name}({", ".join(given)}); }});')
    (folder / "by_pybind.cpp").write_text("\n".join([*lines, "}"]), encoding="utf-8")
    subprocess.run(["cc", "-O1", "-fPIC", "-c", "-o", "foreign.o", HERE / "foreign.c"], cwd=folder,
                   check=True)
    subprocess.run(["c++", "-shared", "-fPIC", "-std=c++17", "-I", pybind.get_include(), "-I",
                    sysconfig.get_paths()["include"], "by_pybind.cpp", "foreign.o", "-o",
                    "by_pybind" + sysconfig.get_config_var("EXT_SUFFIX")], cwd=folder, check=True)


FUNCTIONS = [(result, name, parameters.split(", ")) for result, name, parameters in
             re.findall(r"(\w+) (\w+)\((.*)\);", DECLARATIONS)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return what makes a module, which it imports."""
    @cache
    def module(make):
        folder = tmp_path_factory.mktemp(make.__name__)
        make(folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(folder)
            return importlib.import_module(make.__name__)
    return module


@pytest.fixture(params=[by_ctypes, by_cffi, *(
    pytest.param(make, marks=[pytest.mark.once, pytest.mark.slow])
    for make in (by_cython, by_pybind))])
def prepared(request, path, made):
    """What prepares a call, by one way or the other."""
    if request.param in (by_ctypes, by_cffi):
        return partial(request.param, path)
    module = made(request.param)
    return lambda name, *args: (getattr(module, name), args)


def random(n):
    return np.random.default_rng(1).random(n)


# Mistakes

MISTAKES = [
    ("median", 9, "x (float64, 9) is an input, and was written", "element"),
    ("median", 3000, "x (float64, 3000) is an input, and was written", "element"),
    ("normed", 9, "x (float64, 9) is an input, and was written", "1 element, (4): "),
    ("normed", 100_000, "x (float64, 100000) is an input, and was written", "1 element, (50000): "),
    ("terminate", 10, "x (float64, 10) was accessed 0 bytes after its end", ""),
    ("differences", 10, "y (float64, 10) was accessed 0 bytes after its end", ""),
    ("shifted", 10, "memory beside y (float64, 10), from 8 bytes before its start on, was written",
     ""),
    ("inner", 9, "y (float64, 9) is an output, and was left unwritten: ", "2 elements, (0), (8); "),
    ("guarded", 9, "y (float64, 9) is an output, and was left unwritten: ", "all of it; ")]


@pytest.mark.parametrize(("name", "n", "fault", "elements"), MISTAKES)
def test_mistakes_are_named(prepared, name, n, fault, elements):
    with mat.debug.watch():
        x, y = random(n), np.zeros(n)
    args, outputs = ((x, n), []) if name == "median" else ((x, y, n), [y])
    function, args = prepared(name, *args)
    with pytest.raises(DirectionError) as caught, mat.debug.watch(x, outputs=outputs):
        function(*args)
    here, text = line() - 1, str(caught.value)
    assert text.startswith(fault)
    assert f"{__file__}:{here} (function(*args))" in text
    assert elements in text
    assert text.count(f"{__file__}:") == 1  # there is one fault


def test_what_is_beside_a_view_belongs_to_others(prepared):
    y = np.ones((6, 5))[:, 2]
    right, wrong = (prepared("fill_strided", y, 6, stride, 2.0) for stride in (5, 4))
    with pytest.raises(DirectionError) as caught, mat.debug.watch(outputs=[y]):
        [function(*args) for function, args in (right, wrong)]
    here, text = line() - 1, str(caught.value)
    assert text.startswith("memory beside y (float64, 6), between its elements, was written at ")
    assert f":{here} (" in text


def test_mistakes_after_outputs_are_written():
    table, other = np.zeros((9, 40_000)), np.zeros(300_000)
    y, x = table[2], table[5]
    with mat.debug.watch(x, outputs=[y, other]) as w:
        y[:] = other[:] = 1
        mine = table[1, 39_999:]
        mine[:] = 3
        x[0] = 7
        table[0, 0] = 1
        first = line() - 3
        assert [f"{__file__}:{first + k} " in text for k, text in enumerate(w.faults)] == 3 * [True]
        w.faults.clear()
    with mat.debug.watch(outputs=[y]):  # in turns with what is beside them
        y[:] = 1


def test_a_mistake_of_another_thread(prepared):
    with mat.debug.watch():
        x, y = random(10), np.zeros(10)
    function, args = prepared("differences", x, y, 10)
    with pytest.raises(DirectionError, match=r"^y .* 0 bytes after its end at .* \(.*target"), \
            mat.debug.watch(x, outputs=[y]):
        in_thread(lambda: function(*args))  # target


def test_each_of_several_mistakes_is_named_once(prepared):
    x, y = random(9), np.zeros(9)
    function, args = prepared("normed", x, y, 9)
    with pytest.raises(ZeroDivisionError) as caught, \
            mat.debug.watch(x, outputs=[y]) as w:  # noqa: PT012
        function(*args)
        1 / (0 * function(*args))
    assert len(w.faults) == 2
    assert caught.value.__notes__ == w.faults


CYTHON = """
def scale(const double[:] x, double[:] y):
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        y[i] = 2 * x[i]

def clear(const double[:] x, double[:] y):
    (<double *>&x[0])[3] = 0
    y[:] = 0
"""


@pytest.mark.once
@pytest.mark.slow
def test_cython(tmp_path, monkeypatch):
    pytest.importorskip("Cython")
    (tmp_path / "with_views.pyx").write_text(CYTHON, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "Cython.Build.Cythonize", "-i", "with_views.pyx"],
                   cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("with_views")
    x, y = random(10_000), np.zeros(10_000)
    with mat.debug.watch(x, outputs=[y]):
        module.scale(x, y)
    with pytest.raises(DirectionError) as caught, mat.debug.watch(x, outputs=[y]):
        module.clear(x, y)
    assert f":{line() - 1} (module.clear(x, y)): 1 element, (3): " in str(caught.value)


# Correct calls

SHAPE = 40, 50


def zeros_of(*shapes, dtype=float):
    return [np.zeros(s, dtype) for s in shapes]


def correct_calls():
    """The names of functions, their arguments, and which of these are inputs, outputs, inout."""
    x, large = random(100), random(200_000)
    y, y_large, two = zeros_of(100, 200_000, 2)
    a, b = random(SHAPE).astype("f"), np.zeros(SHAPE[::-1], "f")
    data, counts = np.arange(10_000, dtype="u1"), np.zeros(256, "i8")
    z, w = (np.zeros(50, complex) + 1j, np.zeros(50, complex))
    grid = np.zeros((20, 20))
    yield "scale", (x, y, 100, 2.0), [x], [y], []
    yield "scale", (large, y_large, 200_000, 2.0), [large], [y_large], []
    yield "scale", (large[5000:], y_large, 50_000, 2.0), [large[5000:]], [y_large[:50_000]], []
    yield "scale", (x[10:], x, 10, 2.0), [x[10:20]], [x[:10]], []
    yield "scale", (x, x, 100, 2.0), [], [], [x]
    yield "total", (x, 100), [x], [], []
    yield "total", (large, 200_000), [large], [], []
    yield "total", (x, 0), [x], [], []
    yield "running_sum", (x, 100), [], [], [x]
    yield "running_sum", (large, 200_000), [], [], [large]
    yield "smooth", (x, y, 100), [x], [y], []
    yield "smooth", (large, y_large, 200_000), [large], [y_large], []
    yield "transpose", (a, b, *SHAPE), [a], [b], []
    yield "transpose", (b, a, *SHAPE[::-1]), [b], [a], []
    yield "histogram", (data, 10_000, counts), [data], [counts], []
    yield "fill_strided", (grid, 20, 1, 3.0), [grid[1:]], [grid[0]], []
    yield "fill_strided", (grid[:, 3], 20, 20, 3.0), [grid[:, :3], grid[:, 4:]], [grid[:, 3]], []
    yield "fill_strided", (grid[::-1], 20, -20, 3.0), [grid[:, 1:]], [grid[::-1, 0]], []
    yield "range_of", (x, 100, two, two[1:]), [x], [two[:1], two[1:]], []
    yield "square_complex", (z, w, 50), [z], [w], []


@pytest.mark.parametrize("k", range(20))
@pytest.mark.parametrize("alone", [False, True])
def test_correct_calls_are_left_alone(prepared, k, alone):
    with mat.debug.watch() if alone else nullcontext():
        name, args, inputs, outputs, inout = list(correct_calls())[k]
    copies = {id(a): a.copy() for a in inputs}
    function, args = prepared(name, *args)
    with mat.debug.watch(*inputs, outputs=outputs, inout=inout) as w:
        function(*args)
    assert w.faults == []
    assert all(np.array_equal(a, copies[id(a)]) for a in inputs)


def test_there_are_twenty():
    assert len(list(correct_calls())) == 20


# The block


def test_numpys_own_functions_and_files(tmp_path):
    x, y, z = random(5000), np.zeros(5000), np.zeros(5000)
    x.tofile(tmp_path / "x")
    with mat.debug.watch(x, outputs=[y, z]):
        np.multiply(x, 2, out=y)
        with open(tmp_path / "x", "rb") as file:
            file.readinto(z)
    assert (y == 2 * x).all()
    assert (z == x).all()


def test_a_system_call_that_writes_to_an_input(tmp_path):
    (tmp_path / "x").write_bytes(bytes(80_000))
    x = random(10_000)
    with pytest.raises(OSError, match=r"Bad address") as caught, \
            open(tmp_path / "x", "rb", buffering=0) as file, mat.debug.watch(x):
        file.readinto(x.view("u1")[4096:])
    assert "was refused" in caught.value.__notes__[-1]


def test_a_fault_that_writes_what_is_there_is_one(path):
    x, y = np.zeros(100_000), np.zeros(100_000)
    function, args = by_ctypes(path, "normed", x, y, 100_000)
    with mat.debug.watch(x, outputs=[y]) as w:
        function(*args)
    assert w.faults == []  # zero is half of zero: nobody can tell


@pytest.mark.parametrize("dtype", ["i8", "u4", "i2", "i1", "?", "f2", "f4", "c16", "M8[s]", "S5",
                                   "g", "G"])
def test_outputs_of_other_types(dtype):
    y = np.zeros(500, dtype)
    with mat.debug.watch(outputs=y):
        y[:] = np.ones(500, "i8").astype(dtype)
    if y.dtype.kind in "biufc" and y.dtype.char not in "gG":
        with pytest.raises(DirectionError, match=r"y .* left unwritten"), \
                mat.debug.watch(outputs=[y]):
            y[:300] = 1


def test_masked_arrays_keep_their_masks():
    y = np.ma.array([1.0, 2, 3], mask=[0, 1, 0])
    with mat.debug.watch(outputs=[y]):
        y.data[:] = 3
    assert y.mask.tolist() == [False, True, False]


def test_a_block_that_fails_at_its_beginning(monkeypatch):
    x, y = np.zeros(20_000), np.zeros(3)
    monkeypatch.setattr("mat.debug.watching.poison", None)
    for _ in range(2):
        with pytest.raises(TypeError), mat.debug.watch(x, outputs=[y]):
            pass
    assert not any(isinstance(user, Watch) for user in FAULT_HANDLER._users)
    x[:] = 1


def test_a_tracer_is_restored():
    x, found = random(5), []
    with mat.debug.watch(x):
        assert sys.gettrace() is not None
    assert sys.gettrace() is None
    sys.settrace(lambda *event: found.append(event))
    try:
        with mat.debug.watch(x):
            assert sys.gettrace() is not None
            mat.debug.watch(x)
    finally:
        sys.settrace(None)
    assert found


def test_blocks_that_end_in_another_order():
    x, y = np.zeros(20), np.zeros(20)
    handler, trace = np._core.multiarray.get_handler_name(), sys.gettrace()
    first, second = mat.debug.watch(x), mat.debug.watch(y)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    guarded = np.ones(3)
    y[5] = 1
    with pytest.raises(DirectionError, match=f":{line() - 1} "):
        second.__exit__(None, None, None)
    assert np._core.multiarray.get_handler_name(guarded) == "mat_guarded"
    assert np._core.multiarray.get_handler_name() == handler
    assert sys.gettrace() is trace


def test_a_callback_of_the_collector_at_the_beginning():
    y = np.zeros((3, 10))[1]
    step = len
    gc.callbacks.append(lambda phase, info: step(phase))
    before = gc.get_threshold()
    try:
        for objects in range(1, 60):
            gc.collect(0)  # so that the next collection is after so many objects
            gc.set_threshold(objects)
            with pytest.raises(DirectionError) as caught, mat.debug.watch(outputs=[y]):
                ctypes.memset(y.ctypes.data - 8, objects, 88)
            assert f":{line() - 1} (ctypes" in str(caught.value)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.pop()


@contextmanager
def watched(x):
    with mat.debug.watch(x):
        yield


def stacked(x):
    found = ExitStack()
    found.enter_context(mat.debug.watch(x))
    return found


@pytest.mark.parametrize("enter", [watched, stacked])
def test_the_line_where_the_block_began_in_another_frame(enter):
    x = random(10)
    with pytest.raises(DirectionError) as caught, enter(x):  # noqa: PT012
        len("before")
        x[3] = 2
        len("after")
    assert f":{line() - 2} (x[3] = 2)" in str(caught.value)


def test_arrays_that_are_freed_while_an_exception_is_raised():
    with mat.debug.watch():
        for _ in range(3):
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                np.linalg.inv(np.zeros((2, 2)))
        with pytest.raises(TypeError, match="isnat"):
            np.isnat(np.zeros(3))
        assert np.array([np.zeros(3) for _ in range(100)]).sum() == 0


AGAIN = """
import ctypes, numpy as np, mat
with mat.debug.watch():
    np.zeros(4)
with mat.debug.watch():
    try:
        with mat.debug.watch():
            z = np.zeros(4)  # where the first array was
            ctypes.memset(z.ctypes.data, 0, 40)
    except mat.DirectionError as error:
        assert "0 bytes after its end" in str(error)
    else:
        raise SystemExit("not found")
"""


def test_memory_that_is_used_again_is_guarded():
    found = subprocess.run([sys.executable, "-c", AGAIN], cwd=HERE.parents[1], text=True,
                           capture_output=True, timeout=120, check=False)
    assert found.returncode == 0, (found.returncode, found.stderr)


def test_what_is_no_array():
    for wrong in ([1, 2], mat.ones(3), np.array([None])):
        with pytest.raises(DTypeError, match="watch takes arrays of numbers, got"):
            mat.debug.watch(wrong)
    x = random(5)
    with pytest.raises(AliasError, match=r"x .* is an input and an output in part"), \
            mat.debug.watch(x[1:], outputs=[x]):
        pass
    x.flags.writeable = False
    with pytest.raises(DirectionError, match="x is read-only: it can be no output"):
        mat.debug.watch(outputs=[x])


# pytest

TESTS = """
import ctypes, numpy as np, pytest

@pytest.fixture
def given():
    x = np.arange(10.0)
    x.flags.writeable = False
    return x

def test_reads(given):
    assert given.sum() == 45

def test_writes(given):
    ctypes.memset(given.ctypes.data, 1, 8)

@pytest.fixture
def views():
    x, table = np.eye(10), np.zeros((50, 4))
    left, right = table[:, :2], table[:, 2:]
    left.flags.writeable = False
    found = [x, x.diagonal(), np.lib.stride_tricks.sliding_window_view(x[0], 3), left, right]
    found.append(found)
    return found

def test_others_write(views):
    x, d, windows, left, right = views[:5]
    x += 1
    right[:] = 1
    assert d.sum() == 20

def test_goes_too_far():
    y = np.zeros(4)
    ctypes.memset(y.ctypes.data, 0, 40)

def test_begins_too_early():
    y = np.zeros(4)
    ctypes.memset(y.ctypes.data - 8, 0, 8)
"""


def run_pytest(folder, *options):
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "mat.debug.pytest_hooks", "-p",
         "no:cacheprovider", *options, "test_it.py"], capture_output=True, text=True, cwd=folder,
        check=False, env={**os.environ, "PYTHONPATH": str(HERE.parents[1]), "MAT_DEBUG": "",
                          "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    return found.stdout


@pytest.mark.once
def test_under_pytest(tmp_path):
    assert "2 passed" in run_pytest(tmp_path, "-k", "reads or others")  # more damage the heap
    out = run_pytest(tmp_path, "--mat-directions")
    assert "3 failed, 2 passed" in out
    file = tmp_path / "test_it.py"
    assert f"given (float64, 10) is an input, and was written at {file}:14 (ctypes.memset(" in out
    assert f"made at {file}:32 (y = np.zeros(4)), was accessed 0 bytes after its end at" in out
    assert f"made at {file}:36 (y = np.zeros(4)), has memory beside it that was written" in out
