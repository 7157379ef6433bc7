"""`SCENARIOS` on devices."""

import mat

from . import called_back
from .scenarios import SCENARIOS, add, scenario

ROOM = 48  # bytes of one of the Mats


def device_access(direction):
    def run(x, y, z, c):
        with mat.use_device("emulated") as dev, x.facet("emulated", direction) as e:
            if direction == "input":
                dev.launch(called_back.look, e, [])
            else:
                dev.launch(called_back.fill, e)
    return run


for _direction in ("input", "io", "output"):
    add(f"emulated-{_direction}", device_access(_direction))


@scenario
def device_block(x, y, z, c):
    with mat.use_device("emulated"):
        pass


@scenario
def device_operation(x, y, z, c):
    with mat.use_device("emulated"):
        mat.axpy(2, x, y)


@scenario
def device_result(x, y, z, c):
    with mat.use_device("emulated"):
        w = x + y
    assert w.fresh == {"host"}


@scenario
def eviction(x, y, z, c):
    with mat.use_device("emulated", pool_bytes=3 * ROOM):
        w = x + y
        mat.gemm(1, w, z, 0, c)
        y + y


@scenario
def limits(x, y, z, c):
    with mat.use_device("emulated", pool_bytes=5 * ROOM):
        x + y
        with mat.use_device("emulated", pool_bytes=3 * ROOM):
            y + y


@scenario
def two_devices(x, y, z, c):
    with mat.use_device("emulated"):
        w = x + y
        with mat.use_device("emulated:1"):
            v = w + y
        assert float((v - w).sum()) == 13


@scenario
def copied_and_back(x, y, z, c):
    with mat.use_device("emulated"):
        x.fill_(5)
        with x.facet("array", "input") as a:
            assert a[0, 0] == 5
        x.drop("emulated")


@scenario
def device_items(x, y, z, c):
    with mat.use_device("emulated"):
        y.fill_(2)
        assert y[1, 1] == 2
        y[1, 1] = 2.0


@scenario
def keep(x, y, z, c):
    with mat.use_device("emulated"), x.keep("emulated"):
        x + y


@scenario
def two_kept(x, y, z, c):
    with mat.use_device("emulated"), x.keep("emulated"), x.keep("emulated"), y.keep("host"):
        x + y


@scenario
def drop(x, y, z, c):
    with mat.use_device("emulated"):
        w = x + y
        x.drop("emulated")
        w.drop("emulated", force=True)


@scenario
def prefetch_to_device(x, y, z, c):
    with mat.use_device("emulated"):
        with mat.prefetch(to_device=[x, y]):
            z + z
        x + y


@scenario
def prefetch_delayed(x, y, z, c):
    with mat.use_device("emulated") as dev:
        dev.delayed = True
        try:
            with mat.prefetch(to_device=[x, y]):
                mat.axpy(1, x, z.reshape(2, 3))
        finally:
            dev.delayed = False


@scenario
def prefetch_to_host(x, y, z, c):
    with mat.use_device("emulated"):
        w = x + y
        with mat.prefetch(to_host=[w]):
            z + z
        assert "host" in w.fresh
        w.drop("emulated")


@scenario
def inner_barrier(x, y, z, c):
    with mat.use_device("emulated"):
        x + x
        with mat.barrier(drop="emulated"):
            mat.axpy(1, x, y)


@scenario
def device_facets(x, y, z, c):
    with mat.use_device("emulated") as dev, mat.with_facets(
            (x, "emulated", "input"), (y, "emulated", "output")) as (_, e):
        dev.launch(called_back.fill, e)


@scenario
def device_failing(x, y, z, c):
    with mat.use_device("emulated") as dev:
        dev.fail(launch=1)
        try:
            mat.axpy(1, x, y)
        except mat.DeviceError:
            pass
        finally:
            dev.fail(launch=0)


@scenario
def full(x, y, z, c):
    try:
        with mat.use_device("emulated", pool_bytes=ROOM):
            x + y
    except mat.OutOfDeviceMemory:
        pass


@scenario
def in_tiles(x, y, z, c):
    with mat.use_device("emulated", pool_bytes=2 * ROOM):
        x + y  # its tiles are calls of their own


@scenario
def checked_directions(x, y, z, c):
    with mat.debug.check_directions():
        mat.axpy(1, x, y)
        with x.facet("array", "io") as a:
            called_back.fill(a)


@scenario
def checked_on_a_device(x, y, z, c):
    with mat.debug.check_directions(), mat.use_device("emulated"):
        mat.axpy(1, x, y)
        y.to_numpy()


__all__ = ["SCENARIOS"]
