"""Random numbers for `CASES`: results by Philox in Python's integers and by long doubles."""

import numpy as np

from .case import case
from .layouts import numbers

LONG = np.longdouble


def philox(counter, key):
    """Return the words of a counter of four words and a key of two, by Philox4x32-10."""
    x, k = list(counter), list(key)
    for _ in range(10):
        left, right = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(right >> 32) ^ x[1] ^ k[0], right % 2**32, (left >> 32) ^ x[3] ^ k[1], left % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return x


def words(count, key_low, key_high, low, high):
    """Return so many words, of as many blocks as that takes."""
    first = int(low) + 2**32 * int(high)
    found = []
    for block in range(first, first - (-count // 4)):
        found += philox((block % 2**32, block // 2**32 % 2**32, 0, 0),
                        (int(key_low), int(key_high)))
    return found[:count]


def halves(values):
    """Return words in pairs, as numbers of 64 bits."""
    return [a << 32 | b for a, b in zip(values[::2], values[1::2], strict=True)]


def draws(x, state):
    """The numbers that x's elements are made of, and how many bits they have; an even number of
    them.
    """
    size = x.size + x.size % 2
    return (words(size, *state), 32) if x.dtype == np.float32 else (halves(words(2 * size, *state)),
                                                                    64)


def complex_too(reference):
    """Return the same for complex elements, which are two real ones each."""
    def function(*args):
        *others, x = args
        if x.dtype.kind != "c":
            return reference(*args)
        return reference(*others,
                         np.empty((*x.shape, 2), x.real.dtype)).view(x.dtype).reshape(x.shape)
    return function


@complex_too
def uniform(limit, below, *state_and_x):
    *state, x = state_and_x
    found, bits = draws(x, state)
    kept = 24 if bits == 32 else 53
    exact = [(w >> (bits - kept)) / 2**kept * LONG(limit) for w in found]
    return np.minimum(np.array(exact[:x.size], LONG), LONG(below)).reshape(x.shape).astype(x.dtype)


@complex_too
def normal(mean, stddev, *state_and_x):
    *state, x = state_and_x
    found, bits = draws(x, state)
    pairs = [_pair(a, b, bits) for a, b in zip(found[::2], found[1::2], strict=True)]
    z = np.array([v for pair in pairs for v in pair][:x.size], LONG)
    return (z * LONG(stddev) + LONG(mean)).reshape(x.shape).astype(x.dtype)


def _pair(first, second, bits):
    """Box and Muller: a radius, and an angle in one of four quarters, which the first two bits
    choose.
    """
    u = (LONG(first) + LONG(0.5)) / LONG(2) ** bits
    radius = np.sqrt(-2 * (np.log1p(-(LONG(2**bits - first) - LONG(0.5)) / LONG(2)**bits) if u > 0.5
                           else np.log(u)))
    inside = second % 2**(bits - 2) - (2**(bits - 2) if second >> (bits - 3) & 1 else 0)
    angle = (LONG(inside) + LONG(0.5)) / LONG(2) ** (bits - 2) * (2 * np.arctan(LONG(1)))
    pair = [np.cos(angle), np.sin(angle)]
    sign = -1 if second >> (bits - 1) else 1
    return [sign * radius * v for v in (pair[::-1] if second >> (bits - 2) & 1 else pair)]


def bernoulli(last, one, *state_and_x):
    *state, x = state_and_x
    return np.array([one * (w <= last)
                     for w in words(x.size, *state)]).reshape(x.shape).astype(x.dtype)


STATES = ((0.0, 0.0, 0.0, 0.0), (2.0**32 - 1, 1.0, 2.0**32 - 3, 7.0),
          (5.0, 2.0**31, 2.0**32 - 2, 2.0**32 - 1))
SHAPES = ((3, 4), (5,), (0, 3), (2, 3, 5), (), (259,))


def samples(*pairs):
    def make(rng, dtype):
        for shape in SHAPES:
            for pair, state in zip(pairs, STATES, strict=True):
                rounded = np.empty(2, dtype).real.dtype.type
                yield (*(float(rounded(v)) for v in pair), *state, np.empty(shape, dtype)), {}
    return make


FLOATS = ("float32", "float64")
case("random.uniform", uniform)(samples((1, 1 - 2**-24), (0.1, 1), (3e30, 3e29)))
case("random.normal", normal)(samples((0, 1), (-3, 0.1), (0, 0)))
case("random.bernoulli", bernoulli, FLOATS)(samples((2**31, 1), (0, 1), (0, 0)))


def orthonormal(scale, a, out):
    """Orthogonalise the columns of `a`, or of its transpose, by Gram and Schmidt's process."""
    q = np.zeros(a.shape, np.result_type(a, LONG))
    for at in np.ndindex(a.shape[:-2]):
        for k in range(a.shape[-1]):
            v = a[at][:, k].astype(q.dtype)
            for _ in range(2):  # the second time for what rounding has left
                v = v - q[at][:, :k] @ (q[at][:, :k].conj().T @ v)
            q[at][:, k] = v / np.sqrt((np.abs(v) ** 2).sum())
    return (scale * (q if a.shape == out.shape else q.swapaxes(-1, -2))).astype(out.dtype)


@case("random.orthonormal", orthonormal)
def orthonormal_samples(rng, dtype):
    for shape in ((3, 3), (4, 2), (1, 1), (2, 3, 3), (3, 0)):
        a = (numbers(rng, shape, dtype) + 3 * np.eye(*shape[-2:])).astype(dtype)
        for scale in (1, -0.5):
            yield (scale, a, np.empty_like(a)), {}
            yield (scale, a, np.empty(a.swapaxes(-1, -2).shape, dtype)), {}
