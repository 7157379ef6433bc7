"""Memory of another library on the device, for tests of DLPack there."""

import os
import weakref

import numpy as np
import pytest

import mat

from ..support.dlpack import Exporter

THERE = (2, 0)
def at(x):
    """The address of `x` on the device, brought there."""
    with x.facet("cuda", "input") as a:
        return a.address


class Owner:
    """What keeps memory of another library."""


def release(block):
    """Give back memory; a forked child has none."""
    if block.gpu.process == os.getpid():
        block.gpu.release(block)


class Foreign(Exporter):
    """Memory of another library on the device, with the numbers 0, 1, ... in it, that it lends as 3
    x 4 elements.
    """

    def __init__(self, dev, dtype="float64", flags=0, shape=(3, 4), strides=(4, 1), skip=0,
                 device=THERE):
        core = pytest.importorskip("mat._core")
        self.elements = np.arange(40).astype(mat.Mat(0, dtype).dtype)
        self.owner = Owner()
        self.block = self.owner.block = dev.gpu.allocate(self.elements.nbytes)
        self.gpu, self.memory = dev.gpu, dev.memory
        self.memory.copy_in(None, self.block, self.elements)
        kind = core.take(mat.Mat(1, dtype).__dlpack__(max_version=(1, 0)))[1][4][:2]
        weakref.finalize(self.owner, release, self.block)
        first = self.block.address + skip * self.elements.itemsize
        super().__init__(lambda: core.make_capsule(self.owner, first, shape, strides, device, kind,
                                                 flags), device)

    def now(self):
        """What is in it."""
        dev_array = np.empty_like(self.elements)
        self.memory.copy_out(None, self.block, dev_array)
        return dev_array

    def leave(self):
        """Have nothing of it any more; give what tells whether it is freed."""
        gone = weakref.ref(self.owner)
        self.capsule = self.owner = None
        return gone
