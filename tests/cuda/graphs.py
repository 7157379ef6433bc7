"""Helpers of the tests of graphs: a function of 30 launches, by mat and by NumPy."""

import threading

import numpy as np

import mat


def halve_and_add(x, y):
    """30 launches, exact in binary."""
    for _ in range(15):
        x *= 0.5
        y += x


def by_numpy(a, b):
    for _ in range(15):
        a *= 0.5
        b += a


def pair(n=100):
    a, b = np.arange(float(n)), np.ones(n)
    return mat.array(a), mat.array(b), a, b


def same(x, a):
    np.testing.assert_array_equal(x.to_numpy(), a)


def warmed(step, *mats):
    """Call `step` twice: to run it, and to record it."""
    step(*mats)
    step(*mats)
    return step


def beside_a_thread(work):
    """A graph that adds 1, and has another thread do `work` while it is being recorded."""
    @mat.graph
    def step(x):
        x += 1
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    return step
