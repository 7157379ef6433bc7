"""Data that moves back and forth, found by the ledger: a training step that clips its weights on
the host.

Prints the ledger before and after the mend; ``python examples/ping_pong.py page.html`` writes the
timeline of the first.
"""

import sys

import numpy as np

import mat

mat.seed(1)
images, targets = mat.zeros(200, 64).normal_(), mat.zeros(200, 10).normal_()


def step(weights, clip):
    """One step of gradient descent, after which weights are within -1 and 1."""
    error = images @ weights - targets
    mat.gemm(-0.001, images, error, 1, weights, transpose_a=True)
    clip(weights)


def clip_by_numpy(weights):
    with weights.facet("array") as w:
        np.clip(w, -1, 1, out=w)


def clip_where_it_is(weights):
    weights.maximum_(-1).minimum_(1)


def train(clip):
    weights = mat.zeros(64, 10)
    with mat.trace() as t, mat.use_device("emulated"):
        for _ in range(5):
            step(weights, clip)
    return t, weights.to_numpy()


there_and_back, first = train(clip_by_numpy)
print(there_and_back)
stays, second = train(clip_where_it_is)
print(f"mended: {stays.h2d} copies to the device, {stays.d2h} back, before {there_and_back.h2d} "
      f"and {there_and_back.d2h}")
assert np.array_equal(first, second)
assert there_and_back.ping_pong()
assert not stays.ping_pong()

if len(sys.argv) > 1:
    there_and_back.save(sys.argv[1])
