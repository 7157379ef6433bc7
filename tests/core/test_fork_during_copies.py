"""A fork while another thread copies asynchronously: the child does not have that thread."""

import os
import threading

import numpy as np
import pytest

import mat

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
              pytest.mark.filterwarnings("ignore::DeprecationWarning")]
USES = {
    "write": lambda x: x.fill_(3), "add": lambda x: x.add_(1), "read": lambda x: x.sum(),
    "part": lambda x: x[2:5].fill_(1), "array": lambda x: x.to_numpy(), "drop": lambda x: x.close(),
    "adjust": lambda x: x.adjust_(2), "evict": lambda x: x.drop("host", force=True),
    "device": lambda x: on_device(x), "export": lambda x: np.asarray(x)[0]}


def on_device(x):
    with mat.use_device("emulated"):
        x.scal_(2)
        assert np.isfinite(x.to_numpy()).all()


def child_does(use):
    """Return the status of a child that calls `use`."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            use()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]


@pytest.mark.parametrize("delayed", [False, True])
@pytest.mark.parametrize("part", [slice(None), slice(2, 6)], ids=["whole", "part"])
@pytest.mark.parametrize("to", ["to_device", "to_host"])
@pytest.mark.parametrize("use", USES)
def test_the_child_waits_for_no_copy_of_another_thread(use, to, part, delayed):
    x, begun, end = mat.arange(8.0), threading.Event(), threading.Event()
    with mat.use_device("emulated") as device:
        if to == "to_host":
            x[part].add_(0)
        else:
            x.to_numpy()

        def copy():
            device.delayed = delayed
            with (mat.use_device("emulated"), mat.prefetch(**{to: [x[part]]})):
                begun.set()
                end.wait(60)

        thread = threading.Thread(target=copy)
        thread.start()
        try:
            begun.wait(60)
            assert child_does(lambda: USES[use](x)) == 0
        finally:
            end.set()
            thread.join()
            device.delayed = False
        assert x.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]


def test_what_the_child_reads_is_whole():
    """A copy that the other thread had begun and not ended does not count."""
    x, begun, end = mat.arange(1000.0), threading.Event(), threading.Event()

    def copy():
        with mat.use_device("emulated") as device:
            x.add_(1)
            device.delayed = True
            with mat.prefetch(to_host=[x]):
                begun.set()
                end.wait(60)
            device.delayed = False

    def use():
        with mat.use_device("emulated"):
            assert np.array_equal(x.to_numpy(), np.arange(1, 1001.0))

    with mat.use_device("emulated"):
        thread = threading.Thread(target=copy)
        thread.start()
        try:
            begun.wait(60)
            assert child_does(use) == 0
        finally:
            end.set()
            thread.join()
