"""Find repeated transfers with the trace: a training step that clips its weights on the host.

Run: python examples/ping_pong.py [page.html], which also saves the timeline of the first run.
"""

import sys

import numpy as np

import mat

mat.seed(1)
images, targets = mat.zeros(200, 64).normal_(), mat.zeros(200, 10).normal_()


def step(weights, clip):
    """Make one step of gradient descent, after which weights are between -1 and 1."""
    error = images @ weights - targets
    mat.gemm(-0.001, images, error, 1, weights, transpose_a=True)
    clip(weights)


def clip_by_numpy(weights):
    with weights.facet("array") as w:
        np.clip(w, -1, 1, out=w)


def clip_on_device(weights):
    weights.maximum_(-1).minimum_(1)


def train(clip):
    weights = mat.zeros(64, 10)
    with mat.debug.trace() as t, mat.use_device("emulated"):
        for _ in range(5):
            step(weights, clip)
    return t, weights.to_numpy()


def main():
    alternating, first = train(clip_by_numpy)
    print(alternating)
    corrected, second = train(clip_on_device)
    print(f"corrected: {corrected.h2d} copies to the device, {corrected.d2h} back; "
          f"before: {alternating.h2d} and {alternating.d2h}")
    assert np.array_equal(first, second)
    assert alternating.ping_pong()
    assert not corrected.ping_pong()
    if len(sys.argv) > 1:
        alternating.save(sys.argv[1])


if __name__ == "__main__":
    main()
