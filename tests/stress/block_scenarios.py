"""Scenarios of all public blocks, and of the files that Mats are written to: each block by itself,
in others, on a device, with tiles, and as it fails.
"""

import atexit
import contextlib
import shutil
import tempfile
from pathlib import Path

import numpy as np

import mat
from mat.extend import observe

from . import called_back
from .device_scenarios import SCENARIOS, add, scenario
from .invariants import FOLDERS
from .scenarios import X, Y, given

FOLDER = Path(tempfile.mkdtemp(prefix="mat-stress-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
FOLDERS.append(FOLDER)
ROOM = 48  # bytes of one of the Mats


def several(make, name):
    """Add a scenario of an operation in a block on the host, on a device, and in tiles."""
    def on_host(x, y, z, c):
        with make():
            mat.axpy(1, x, y)

    def on_device(x, y, z, c):
        with contextlib.suppress(mat.ConflictError), make(), mat.use_device("emulated"):
            mat.axpy(1, x, y)
            float(y.sum())

    def outside_of_a_device(x, y, z, c):
        with (contextlib.suppress(mat.ConflictError),
              mat.use_device("emulated", pool_bytes=2 * ROOM), make()):
            x + y

    for kind, run in (("", on_host), ("-device", on_device), ("-tiles", outside_of_a_device)):
        add(name + kind, run)


several(mat.debug.trace, "trace")
several(mat.debug.count_copies, "count_copies")
several(mat.debug.count_allocations, "count_allocations")
several(mat.debug.list_calls, "list_calls")
several(mat.debug.allow_conflicts, "allow_conflicts")
several(mat.debug.expect_copies, "expect_copies")
several(lambda: mat.debug.guard("raise"), "guard")
several(mat.debug.check_directions, "check_directions")
several(mat.fused, "fused")
several(lambda: mat.settings(torn="warn", threads=2), "settings-more")
several(lambda: mat.barrier(drop="emulated:1"), "barrier-more")
several(lambda: observe(called_back.Watching()), "observe-more")


@scenario
def guard_refuses(x, y, z, c):
    with mat.use_device("emulated"):
        w = x + y
        with contextlib.suppress(mat.ConflictError), mat.debug.guard("raise"):
            float(w.sum())


@scenario
def expectation_fails(x, y, z, c):
    with contextlib.suppress(AssertionError), mat.debug.expect_copies(waits=0), \
            mat.use_device("emulated"):
        float((x + y).sum())


@scenario
def all_of_them(x, y, z, c):
    with (mat.settings(progress=called_back.progress), mat.debug.trace() as t,
          mat.debug.count_copies(), mat.debug.guard("allow"),
          mat.use_device("emulated", pool_bytes=2 * ROOM), mat.barrier(drop="emulated")):
        mat.axpy(1, x, y)
        repr(t)


@scenario
def decorated(x, y, z, c):
    @mat.settings(dtype="float32")
    @mat.debug.trace()
    def call():
        mat.axpy(1, x, y)

    call()


@scenario
def waits(x, y, z, c):
    with mat.debug.count_copies() as n, mat.use_device("emulated"):
        w = x + y
        assert w[0, 0] > 0
        assert (w > 100).any() == False  # noqa: E712
        mat.nonzero(w > 4)
        repr(w)
        list(w[0])
    assert n.waits


@scenario
def kept_in_two(x, y, z, c):
    with x.keep("emulated"), mat.use_device("emulated:1"), x[0].keep("emulated:1"):
        mat.axpy(1, x, y)


@scenario
def window_on_a_device(x, y, z, c):
    with mat.use_device("emulated"), x.window((2,), 2) as w, w.facet("array") as a:
        a[...] = 3


@scenario
def window_that_fails(x, y, z, c):
    with contextlib.suppress(ZeroDivisionError), x.window(2, 3) as w:
        w.fill_(7)
        raise ZeroDivisionError


@scenario
def scratch_that_fails(x, y, z, c):
    with contextlib.suppress(ZeroDivisionError), mat.scratch((2, 3)) as t, \
            mat.use_device("emulated"):
        mat.axpy(1, x, t)
        raise ZeroDivisionError


@scenario
def ones_on_a_device(x, y, z, c):
    with mat.use_device("emulated"), mat.ones_view(3) as one:
        mat.gemv(1, x, one, 0, c[0])


@scenario
def prefetch_that_fails(x, y, z, c):
    with mat.use_device("emulated") as dev, contextlib.suppress(mat.DeviceError):
        dev.fail(h2d=1)
        with mat.prefetch(to_device=[x, y]):
            z + z


@scenario
def facets_over_devices(x, y, z, c):
    with mat.use_device("emulated") as dev, mat.with_facets(
            (x, "array", "input"), (z, "foreign", "input"), (y, dev.facet, "output")) as found:
        dev.launch(called_back.fill, found[2])


# Parts on devices, views of other dtypes, memory of others

def on_a_device():
    """Mats of which the device alone has the data."""
    found = given()
    with mat.use_device("emulated"):
        for x in found.values():
            x *= 1
    for x in found.values():
        assert x.fresh
    return found


def parts_joined(x, y, z, c):
    with mat.use_device("emulated"):
        x[0] += 1
        x[1] += 1
        x *= 1


def typed_views(x, y, z, c):
    bits = x.view("int64")
    with mat.use_device("emulated"):
        x += y
        bits + bits
    bits[0, 0] = 0


add("parts-joined", parts_joined, {"x": [X + 1, X + np.array([[1], [0]])]})
add("parts-of-columns", lambda x, y, z, c: _columns(x), {"x": [X + np.array([1, 0, 0])]})
add("typed-views", typed_views, {"x": [X + Y]})
add("on-a-device", lambda x, y, z, c: mat.axpy(1, x, y), make=on_a_device)


def _columns(x):
    with mat.use_device("emulated"):
        x[:, 0] += 1
        x[:, 1] += 1


def over_one_memory():
    """Two Mats over parts of one array."""
    a = np.arange(6.0)
    return {"x": mat.from_numpy(a[:4]), "y": mat.from_numpy(a[2:])}


def two_over_one_memory(x, y):
    with mat.use_device("emulated"):
        x += 1
        y *= 2


add("two-over-one-memory", two_over_one_memory,
    {"x": [[1.0, 2, 3, 4]], "y": [[3.0, 4, 4, 5]]}, over_one_memory)


def large_of_others():
    """A Mat over an array of which parts go to devices."""
    return {"x": mat.from_numpy(np.arange(20_000.0))}


def parts_of_others(x):
    with mat.use_device("emulated"):
        x[:9000] += 1
        with x[9000:12_000].facet("array") as a:
            a += 1
        x[11_000:] += 1
        x.sum()


def after_parts(x):
    first, second, third = x.copy(), x.copy(), x.copy()
    first[:9000] += 1
    second[:12_000] += 1
    third[:12_000] += 1
    third[11_000:] += 1
    return [first, second, third]


add("parts-of-others", parts_of_others, {"x": after_parts(np.arange(20_000.0))}, large_of_others)


# Files

@scenario
def save_by_name(x, y, z, c):
    mat.save(FOLDER / "x.npy", x)
    y.load_(FOLDER / "x.npy")


@scenario
def save_all_by_name(x, y, z, c):
    for name in ("x.npz", "x.safetensors"):
        mat.save_all(FOLDER / name, {"x": x, "y": y})
        mat.load_all(FOLDER / name)


@scenario
def mapped(x, y, z, c):
    m = mat.open_memmap(FOLDER / "m.npy", "w+", shape=(2, 3))
    m += x
    with mat.use_device("emulated"):
        m *= 2
    m.close()


@scenario
def loaded_lazily(x, y, z, c):
    mat.savez(FOLDER / "z.npz", a=x, b=y)
    with np.load(FOLDER / "z.npz") as d:
        assert d["a"].shape == (2, 3)


@scenario
def spilled(x, y, z, c):
    with mat.settings(spill_dir=str(FOLDER), spill_above=8):
        w = x + y
        w *= 2


__all__ = ["SCENARIOS"]
