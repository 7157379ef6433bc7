"""`SCENARIOS` on the host: what a program does with Mats, each as a function of four of them."""

import contextlib
import copy
import io
import pickle
from types import SimpleNamespace

import numpy as np

import mat
from mat.extend import observe

from . import called_back

X = np.arange(1.0, 7).reshape(2, 3)
Y = np.array([[2.0, 1.0, 0.5], [4.0, 3.0, 2.5]])
Z = np.array([[1.0, 2.0], [0.0, 1.0], [2.0, 2.0]])
C = np.array([[4.0, 1.0], [1.0, 3.0]])
SCENARIOS = []
LARGE = 200_000  # elements that threads share


def given():
    """Return the Mats of a scenario."""
    return {"x": mat.array(X), "y": mat.array(Y), "z": mat.array(Z), "c": mat.array(C)}


def add(name, run, also=None, make=given):
    """Add a scenario; `also` has more values that its Mats may have, beside those at the end."""
    SCENARIOS.append(SimpleNamespace(name=name, run=run, also=also or {}, make=make))


def scenario(function):
    """Add a function as a scenario."""
    add(function.__name__, function)
    return function


# Accesses

def write(a, number):
    """Write all elements of what a facet of the host presents."""
    if isinstance(a, np.ndarray):
        a[...] = number
    else:
        for k in range(a.size):
            a.pointer[k] = number


def access(facet, direction):
    def run(x, y, z, c):
        with x.facet(facet, direction) as a:
            if direction != "input":
                write(a, 7.0)
    # an interrupt between two elements leaves it torn, never half written
    return run


for _facet in ("array", "backing", "foreign"):
    for _direction in ("input", "io", "output"):
        add(f"{_facet}-{_direction}", access(_facet, _direction))


@scenario
def two_facets(x, y, z, c):
    with mat.with_facets((x, "array", "input"), (y, "array", "output")) as (a, b):
        b[...] = 2 * a


@scenario
def three_facets(x, y, z, c):
    with mat.with_facets((x, "array", "input"), (y, "backing"), (c, "array", "io")) as (a, b, d):
        b[:] = a.ravel()
        d[...] = 1


@scenario
def same_twice(x, y, z, c):
    with mat.with_facets((x, "array", "input"), (x, "backing", "io")) as (_, b):
        b[:] = 5


@scenario
def nested(x, y, z, c):
    with x.facet("array") as a:
        with y.facet("array", "input") as b, x.facet("backing", "io") as flat:
            flat[:] = b.ravel()
        with x.facet("array", "input") as again:
            assert again[0, 0] == a[0, 0]


@scenario
def failing(x, y, z, c):
    with contextlib.suppress(ZeroDivisionError), x.facet("array", "io") as a:
        a[...] = 8
        raise ZeroDivisionError


@scenario
def failing_two(x, y, z, c):
    with (contextlib.suppress(ZeroDivisionError),
          mat.with_facets((x, "array", "io"), (y, "array", "output")) as (a, b)):
        a[...] = b[...] = 8
        raise ZeroDivisionError


# Operations

OPERATIONS = {
    "axpy": lambda x, y, z, c: mat.axpy(2, x, y),
    "add": lambda x, y, z, c: x + y,
    "add-out": lambda x, y, z, c: mat.add(x, y, out=y),
    "iadd": lambda x, y, z, c: x.__iadd__(y),
    "exp": lambda x, y, z, c: mat.exp(x),
    "greater": lambda x, y, z, c: x > 2,
    "sum": lambda x, y, z, c: float(x.sum()),
    "sum-axis": lambda x, y, z, c: x.sum(axis=0),
    "argmax": lambda x, y, z, c: x.argmax(axis=1),
    "gemm": lambda x, y, z, c: mat.gemm(1, x, z, 0, c),
    "gemm-beta": lambda x, y, z, c: mat.gemm(1, x, z, 0.5, c),
    "gemm-packed": lambda x, y, z, c: mat.gemm(1, y[:, ::2], z[::2], 0, c),
    "axpy-packed": lambda x, y, z, c: mat.axpy(2, x[:, ::2], y[:, ::2]),
    "broadcast": lambda x, y, z, c: x + y[0],
    "matmul": lambda x, y, z, c: x @ z,
    "matmul-T": lambda x, y, z, c: x @ y.T,
    "copy": lambda x, y, z, c: x.copy(),
    "transpose": lambda x, y, z, c: x.T.copy(),
    "concat": lambda x, y, z, c: mat.concat([x, y]),
    "solve": lambda x, y, z, c: mat.solve(c, c),
    "numpy": lambda x, y, z, c: np.add(x, y),
    "scale-rows": lambda x, y, z, c: mat.scale_rows(c[0], x),
    "fill": lambda x, y, z, c: x.fill_(3),
    "repr": lambda x, y, z, c: repr(x),
    "to-numpy": lambda x, y, z, c: x.to_numpy(),
    "from-numpy": lambda x, y, z, c: mat.from_numpy(Y.copy()) + x,
    "array": lambda x, y, z, c: mat.array([[1.0, 2], [3, 4]]),
    "uniform": lambda x, y, z, c: mat.zeros(3).uniform_(rng=mat.Rng(3).copy()),
    "deepcopy": lambda x, y, z, c: copy.deepcopy(x),
    "pickle": lambda x, y, z, c: pickle.loads(pickle.dumps(x)),
    "item": lambda x, y, z, c: x[1, 2],
    "set-item": lambda x, y, z, c: x.__setitem__((1, 2), 9.0),
    "set-row": lambda x, y, z, c: x.__setitem__(1, y[0]),
    "set-all": lambda x, y, z, c: x.__setitem__(..., 9.0),
    "set-strided": lambda x, y, z, c: x.__setitem__((slice(None), slice(None, None, 2)), y[:, :2]),
    "mask": lambda x, y, z, c: x[x > 2],
    "set-mask": lambda x, y, z, c: x.__setitem__(x > 2, 0.0),
    "integers": lambda x, y, z, c: x[[1, 0, 1]],
    "set-integers": lambda x, y, z, c: x.__setitem__([1, 0], y),
    "iterate": lambda x, y, z, c: [float(e) for row in x for e in row],
}
for _name, _run in OPERATIONS.items():
    add(_name, _run)


def large():
    """Mats that threads share."""
    return {"x": mat.ones(LARGE), "y": mat.ones(LARGE)}


def shared_work(x, y):
    with mat.settings(threads=2):
        mat.exp(x, out=y)


add("threads", shared_work, make=large)


# Views that change the Mat, exports, scratch, settings, files

@scenario
def window(x, y, z, c):
    with x.window(2, 3) as w:
        w.fill_(7)


for _name, _run in {
    "view_": lambda x, y, z, c: x.view_((2, 2), 1),
    "reshape_": lambda x, y, z, c: x.reshape_(3, 2),
    "displace_": lambda x, y, z, c: z.view_(2).displace_(3),
    "row_": lambda x, y, z, c: x.row_(1),
}.items():
    add(_name, _run, {"z": [[1.0, 2.0]]} if _name == "displace_" else None)


@scenario
def adjust_(x, y, z, c):
    x.adjust_((2, 2))


add("adjust_-larger", lambda x, y, z, c: x.adjust_((2, 4)))


@scenario
def export(x, y, z, c):
    a = np.asarray(x)
    b = a[1:]
    del a
    assert b[0, 0] == 4


@scenario
def export_by_dlpack(x, y, z, c):
    assert np.from_dlpack(x)[0, 0] == 1


@scenario
def import_by_dlpack(x, y, z, c):
    assert float(mat.from_dlpack(Y).sum()) == 13


@scenario
def scratch(x, y, z, c):
    with mat.scratch((2, 3)) as t:
        t.fill_(1)
        mat.axpy(1, x, t)


@scenario
def ones(x, y, z, c):
    with mat.ones_view(3) as one:
        mat.gemv(1, x, one, 0, c[0])


@scenario
def settings(x, y, z, c):
    with mat.settings(dtype="float32", threads=3), mat.settings(print_contents=False):
        mat.zeros(3) + 1


@scenario
def barrier(x, y, z, c):
    with mat.barrier(drop="emulated"), mat.use_device("emulated"):
        mat.axpy(1, x, y)


@scenario
def rng(x, y, z, c):
    generator = mat.Rng(5)
    z.uniform_(rng=generator)
    generator.take(2)


@scenario
def files(x, y, z, c):
    stream = io.BytesIO()
    mat.save(stream, x, progress=called_back.progress)
    stream.seek(0)
    y.load_(stream, progress=called_back.progress)


@scenario
def archives(x, y, z, c):
    stream = io.BytesIO()
    mat.save_all(stream, {"x": x, "y": y})
    stream.seek(0)
    mat.load_all(stream)


@scenario
def observed(x, y, z, c):
    with mat.debug.trace(), mat.debug.count_copies():
        mat.axpy(1, x, y)


@scenario
def watched(x, y, z, c):
    with observe(called_back.Watching()):
        mat.axpy(1, x, y)
        with mat.use_device("emulated"):
            mat.axpy(1, x, z.reshape(2, 3))


@scenario
def parts(x, y, z, c):
    mat.map_concat(called_back.copy_part, [x, x], mat.zeros(12))


@scenario
def new_kernel(x, y, z, c):
    mat.kernel("y = 3 * x", x="input", y="output")(x, y)


@scenario
def common_numbers(x, y, z, c):
    mat.zeros(3).uniform_()


KERNELS = []


@scenario
def kernel(x, y, z, c):
    if not KERNELS:
        KERNELS.append(mat.kernel("y = 2 * x", x="input", y="output"))
    KERNELS[0](x, y)
