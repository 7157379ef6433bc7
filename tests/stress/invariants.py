"""`faults`: what an interrupted scenario left behind. This is the one file here that knows what is
not public, and does without where an attribute is gone.
"""

import gc
import importlib
import itertools
import os
import pickle
import sys
import threading

import numpy as np

import mat

from . import called_back

SECONDS = 15  # that another thread may take
DEVICES = ("emulated", "emulated:1")
FOLDERS = []  # in which scenarios write files
ROOM = 4096  # bytes of the pool that is tried afterwards


class Legal:
    """The elements that each Mat of a scenario may have afterwards, and whether it may be torn."""

    def __init__(self, mats, run, also):
        self.descriptors = 1 << 20  # until it is known how many are open
        self.values = {name: [x.to_numpy()] for name, x in mats.items()}
        run(**mats)
        self.written = set()
        for name, x in mats.items():
            with mat.settings(torn="ignore"):
                after = x.to_numpy()
            if not same(after, self.values[name][0]) or name in also:
                self.written.add(name)
            self.values[name] += [after, *map(np.array, also.get(name, ()))]


def same(a, b):
    return a.shape == b.shape and bool((a == b).all())


def faults(mats, legal):
    """Return a list of texts, one for each thing that is not as it was or as it would be."""
    gc.collect()
    undo_requests()
    found = open_accesses(mats) + in_use() + open_files(legal)
    if found:
        return found
    found = [text for name, x in mats.items() for text in wrong_values(name, x, legal)]
    for name, x in mats.items():
        for device in DEVICES:
            if (text := raised(lambda x=x, device=device: x.drop(device, force=True))):
                found.append(f"{name}.drop({device!r}): {text}")
    return found or by_another_thread(mats) or pool_faults(*DEVICES)


def open_files(legal):
    """Descriptors that were not open before, and temporary files."""
    found = [f"{name} is left" for folder in FOLDERS for name in sorted(os.listdir(folder))
             if name.startswith((".mat-", "tmp"))]
    if (more := descriptors() - legal.descriptors) > 0:
        found.append(f"{more} descriptors are open")
    return found


def descriptors():
    """Return how many descriptors are open, or 0 where the system does not say."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def undo_requests():
    """Undo what an interrupted scenario requested of a device itself."""
    for name in DEVICES:
        device = hidden("mat.devices.device", "device_named")(name)
        device.delayed = False
        device.fail(launch=0, h2d=0, d2h=0)
        device.synchronize()


def raised(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def open_accesses(mats):
    """Accesses, exports, and asynchronous copies that nobody holds."""
    found = [f"{name} is still accessed: {state.name} {state.watchers}"
             for name, x in mats.items() for state in x.facets.values() if state.watchers]
    for name, x in mats.items():
        for what in ("accesses", "async_copies"):
            if getattr(x.storage, what, None) and not found:
                found.append(f"{name}.storage.{what}: {getattr(x.storage, what)}")
    return found


def hidden(module, name, otherwise=()):
    """Return a value that is not public, if it is there."""
    try:
        return getattr(importlib.import_module(module), name, otherwise)
    except ImportError:
        return otherwise


def _beside_arrays():
    """The pages beside arrays that were made in `watch` blocks, which stay protected."""
    module = sys.modules.get("mat.debug.protected_pages")
    if module is None:
        return set()
    allocator = module.ALLOCATOR
    arrays = [*allocator.blocks.values(), *itertools.chain(*allocator._spare.values())]
    return {page for one in arrays for page in one.guards}


def in_use():
    """Settings, devices, barriers and observers of blocks that have ended."""
    found = []
    if mat.ones(1).device != "cpu":
        found.append(f"{mat.ones(1).device} is in use")
    if repr(mat.settings) != SETTINGS:
        found.append(f"the settings are {mat.settings!r}")
    for what, left in (("devices in use", hidden("mat.core.compiled", "IN_USE")),
                       ("settings of threads", hidden("mat.support.settings", "CONTEXTS")),
                       ("running operations", hidden("mat.core.source_line", "RUNNING")),
                       ("waits", vars(hidden("mat.core.observers", "_waits")).get("open")),
                       ("conflicts are allowed", vars(hidden("mat.core.source_line",
                                                             "allow_conflicts")).get("depth")),
                       ("observers", [o for o in observers() if o not in ALWAYS])):
        if left:
            found.append(f"{what}: {left}")
    if hidden("mat.ops.tiles.tile", "being_cut", tuple)():
        found.append("an operation is being cut")
    if not CHECKED:  # else they are, as long as the process
        pages = hidden("mat.debug.protected_pages", "_all", {})
        beside = _beside_arrays()
        if any(p.allowed != 3 and p not in beside for p in tuple(pages.values())):
            found.append("pages are protected")
        if getattr(hidden("mat.debug.protected_pages", "FAULT_HANDLER", None), "_users", ()):
            found.append("the handler of faults is installed")
    innermost = hidden("mat.core.barrier", "INNERMOST", hidden("mat.core.barrier", "_innermost"))
    around = innermost.get() if hasattr(innermost, "get") else None
    if around is not None and not getattr(around, "ended", not getattr(around, "token", 1)):
        found.append(f"a barrier is open: {around!r}")
    return found


def observers():
    """Return all observers."""
    return tuple(hidden("mat.core.observers", "OBSERVERS"))


SETTINGS = repr(mat.settings)
ALWAYS = observers()  # with MAT_DEBUG
CHECKED = any(getattr(o, "every_access", False) for o in ALWAYS)


def wrong_values(name, x, legal):
    """What is wrong about the data of `x`: it is neither old nor new, or copies differ."""
    here = set(x.fresh) & set(DEVICES)
    try:
        a = x.to_numpy()
    except mat.TornError:
        return [] if name in legal.written else [f"{name} is torn, and only read"]
    except Exception as error:
        return [f"{name} cannot be read: {type(error).__name__}: {error}"]
    found = []
    if not any(same(a, value) for value in legal.values[name]):
        found.append(f"{name} is {a.tolist()}: neither old nor new, and not torn")
    for device in here:
        b = on_device(x, device)
        if not same(a, b):
            found.append(f"{name} is {a.tolist()} on the host and {b.tolist()} on {device}")
    return found


def on_device(x, device):
    """Return the elements that the device has."""
    found = []
    with mat.use_device(device) as dev, x.facet(device, "input") as e:
        dev.launch(called_back.look, e, found)
    return found[0]


def by_another_thread(mats):
    """Another thread can write and read each Mat, and so can this one afterwards."""
    found = []

    def use():
        for name, x in mats.items():
            text = raised(lambda x=x: write_and_read(x, 3.0))
            if text:
                found.append(f"another thread cannot write {name}: {text}")
            if (text := raised(lambda x=x: use_locks(x))):
                found.append(f"another thread cannot use {name}: {text}")
        if mat.ones(1).device != "cpu":
            found.append("a device is in use in another thread")

    thread = threading.Thread(target=use, daemon=True)
    thread.start()
    thread.join(SECONDS)
    if thread.is_alive():
        return ["another thread waits for ever: a lock was never released"]
    for name, x in mats.items():
        text = raised(lambda x=x: write_and_read(x, 4.0))
        if text:
            found.append(f"this thread cannot write {name}: {text}")
    return found


def write_and_read(x, number):
    with x.facet("array", "output") as a:
        a[...] = number
    with mat.use_device("emulated"):
        twice = x + x
    assert (twice.to_numpy() == 2 * number).all()


def use_locks(x):
    """Do what takes a lock of its own: pickle, draw numbers, share work."""
    again = pickle.loads(pickle.dumps(x))
    assert (mat.exp(again * 0).to_numpy() == 1).all()
    mat.zeros(2).uniform_()


def pool_faults(*devices):
    """Each pool has as much room as is asked for, and no more; afterwards nothing is in use."""
    gc.collect()
    found = []

    def use():
        for device in devices:
            if (text := raised(lambda device=device: fill_pool(device, found))):
                found.append(f"the pool of {device} has less room: {text}")

    thread = threading.Thread(target=use, daemon=True)
    thread.start()
    thread.join(SECONDS)
    if thread.is_alive():
        return ["another thread waits for ever to use a device"]
    facts = mat.memory_report().by_memory
    for device in devices:
        rest = {k: v for k, v in facts.get(device, {}).items() if v}
        used = getattr(hidden("mat.core.registry", "memories", {}).get(device), "used", 0)
        if rest or used:
            found.append(f"{device} counts {used} bytes as used, and has {rest}")
    return found


def fill_pool(device, found):
    """Use all of a pool, and try to use more."""
    with mat.use_device(device, pool_bytes=ROOM) as dev:
        x, y = mat.zeros(ROOM // 8), mat.zeros(1)
        with x.facet(device, "output") as e:
            dev.launch(called_back.fill, e)
            if not raised(lambda: y.facet(device, "output").__enter__()):
                found.append(f"the pool of {device} has more room than pool_bytes")
