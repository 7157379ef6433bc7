"""The lines that events, errors and reports name: the user's, not those of Python's library or
of NumPy that lead from there to the package.
"""

import contextlib
import functools
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mat

from ..support import composed_calls, ordinary_calls

pytestmark = pytest.mark.host

HERE = "<a line of the user>"
CALLS = [*ordinary_calls.THERE, *ordinary_calls.BACK, "np.histogram(v)", "np.bincount(k[0])",
         *(call.strip() for group in (composed_calls.UFUNCS, composed_calls.FUNCTIONS)
           for line in group.strip().splitlines() for call in line.split(";"))]


def line():
    return f"{__file__}:{sys._getframe(1).f_lineno}"


@pytest.mark.parametrize("module", [np, mat], ids=["numpy", "mat"])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sample(2)
def test_events_of_many_functions(module):
    arrays, wrong = ordinary_calls.arrays(), set()
    for call in dict.fromkeys(CALLS):
        code = compile(call, HERE, "eval")
        names = {n: mat.array(a) for n, a in arrays.items()} | {"np": module}
        with mat.debug.trace() as t, mat.use_device("emulated"), \
                contextlib.suppress(AttributeError, TypeError):  # NumPy's names that `mat` lacks
            eval(code, names)
        lines = {(e.kind, text) for e in (*t.events, *t.operations) for text in (e.line, e.created)}
        wrong |= {(call, *found) for found in lines
                  if found[1] and not found[1].startswith((HERE, __file__))}
    assert not wrong


MAKERS = {
    "stack": lambda x: mat.stack([x, x]), "concatenate": lambda x: np.concatenate([x, x]),
    "append": lambda x: np.append(x, x), "block": lambda x: mat.block([[x], [x]]),
    "insert": lambda x: np.insert(x, 1, 2.0), "tile": lambda x: mat.tile(x, 2),
    "histogram": lambda x: mat.histogram(x)[0],
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_memory_report_names_the_line(name):
    x = mat.ones(30, 30)
    with mat.use_device("emulated"):
        y = MAKERS[name](x)
        y += 1
        text = repr(mat.memory_report())
    assert f"{__file__}:{MAKERS[name].__code__.co_firstlineno}" in text
    assert "contextlib" not in text


def test_what_is_in_the_way_is_named_by_the_line():
    with mat.use_device("emulated", pool_bytes=20_000):
        x = mat.stack([mat.ones(1000), mat.ones(1000)]); here = line()  # noqa: E702
        with x.keep("emulated"), pytest.raises(mat.OutOfDeviceMemory) as error:
            mat.linalg.eigh(mat.eye(30))
    assert here in str(error.value)
    assert "contextlib" not in str(error.value)


def test_stacks_and_callbacks_of_the_library():
    x = mat.arange(3.0)
    with mat.debug.trace() as t, mat.use_device("emulated"), contextlib.ExitStack() as stack:
        stack.enter_context(x.facet("emulated", "input")); one = line()  # noqa: E702
        stack.close()
        x.drop("emulated")
        list(map(functools.partial(np.add, x), [1])); two = line()  # noqa: E702
    assert [e.line for e in t.copies if e.target == "emulated"] == [one, two]


def test_a_line_of_the_library_where_there_is_no_other():
    x = mat.arange(3.0)
    with mat.debug.trace() as t, ThreadPoolExecutor(1) as pool, mat.use_device("emulated"):
        pool.submit(x.to_numpy).result()
        thread = threading.Thread(target=x.fill_, args=(2,))
        thread.start()
        thread.join()
    assert {e.line.rpartition("/")[2].partition(".")[0] for e in t.events} <= {
        "thread", "threading", "test_lines"}
    assert all(e.line for e in t.events)
