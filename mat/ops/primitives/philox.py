"""Philox4x32-10 and the numbers made of its words, in NumPy: the bits of the compiled kernels.

Of each function, `out` is a 1-d array and `words` the halves of the key and of the counter, as
`Rng.take` returns them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...support.types import Array

_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS = 0x9E3779B9, 0xBB67AE85
_MASK, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_CHUNK = 8192  # blocks that stay in the cache

# The coefficients of native/shared/normal_inline.h, which explains them: logarithm, sine, cosine
_F = ((0.66666687, 0.39988717, 0.29582152), (1.5707964, -0.6459635, 0.07968023, -0.0046021766),
      (-1.2337005, 0.2536694, -0.020861529, 0.0009067435))
_D = ((0.666666666666667, 0.39999999999898445, 0.28571428626398954, 0.2222221107285613,
       0.18182893217809906, 0.15331597003764186, 0.14617871940549487),
      (1.5707963267948966, -0.6459640975062443, 0.07969262624604308, -0.004681754132342277,
       0.0001604411507521794, -3.5986433883708526e-06, 5.63393848575394e-08),
      (-1.2337005501361697, 0.2536695079010478, -0.02086348076334078, 0.0009192602745469584,
       -2.5202039028902472e-05, 4.710678436428263e-07, -6.3294004536770836e-09))


def blocks(first: int, count: int, key: tuple[int, int]) -> Array:
    """Return the words of `count` blocks from number `first` on, one row each, in 64 bits."""
    at = np.uint64(first) + np.arange(count, dtype=np.uint64)
    a, b, c, d = at & _MASK, at >> _HALF, np.zeros_like(at), np.zeros_like(at)
    for k in range(10):
        one, other = (np.uint64((key[j] + k * _STEPS[j]) % 2**32) for j in (0, 1))
        left, right = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = ((right >> _HALF) ^ b ^ one, right & _MASK,
                      (left >> _HALF) ^ d ^ other, left & _MASK)
    return np.stack((a, b, c, d), axis=1)


def _chunks(out: Array, words: tuple[float, ...], each: int) -> Iterator[tuple[Array, Array]]:
    """Yield pieces of `out` with their blocks; each block makes `each` elements."""
    key, first = (int(words[0]), int(words[1])), int(words[2]) + (int(words[3]) << 32)
    for start in range(0, out.size, _CHUNK * each):
        piece = out[start:start + _CHUNK * each]
        yield piece, blocks((first + start // each) % 2**64, -(-piece.size // each), key)


def uniform(out: Array, limit: float, below: float, *words: float) -> None:
    """Write numbers from 0 up to, not including, `limit`; `below` is the largest one below it."""
    single = out.dtype.char == "f"
    for piece, w in _chunks(out, words, 4 if single else 2):
        if single:
            u = (w >> np.uint64(8)).astype(np.float32).reshape(-1) * 2.0**-24
        else:
            u = (w[:, 0::2] * 2.0**-32 + (w[:, 1::2] >> np.uint64(11)) * 2.0**-53).reshape(-1)
        piece[...] = np.minimum(u * out.dtype.type(limit), out.dtype.type(below))[:piece.size]


def bernoulli(out: Array, last: float, one: float, *words: float) -> None:
    """Write `one` where the word is not above `last`, else 0."""
    for piece, w in _chunks(out, words, 4):
        piece[...] = np.where(w.reshape(-1)[:piece.size] <= np.uint64(last), out.dtype.type(one),
                              out.dtype.type(0))


def normal(out: Array, mean: float, stddev: float, *words: float) -> None:
    """Write normal numbers by Box and Muller's method."""
    single = out.dtype.char == "f"
    for piece, w in _chunks(out, words, 4 if single else 2):
        pairs = _pairs_f(w.reshape(-1, 2)) if single else _pairs_d(w)
        piece[...] = (np.stack(pairs, axis=1).reshape(-1) * out.dtype.type(stddev)
                      + out.dtype.type(mean))[:piece.size]


def _pairs_f(w: Array) -> tuple[Array, Array]:
    """Return two numbers of 32 bits for each row of two words."""
    first, second = w[:, 0].astype(np.uint32).view(np.int32), w[:, 1].astype(np.uint32)
    nearest = ((first ^ (first >> np.int32(31))).astype(np.float32) + 0.5) * 2.0**-32
    above = np.where(first < 0, 1 - nearest, nearest).view(np.int32) - np.int32(0x3F3504F3)
    m = ((above & np.int32(0x007FFFFF)) + np.int32(0x3F3504F3)).view(np.float32)
    k = (above >> np.int32(23)).astype(np.float32)
    radius = _radius(k, np.where(k, m - 1, -nearest), (0.69314575, 1.4286068e-06), _F[0])
    s = ((second << np.uint32(2)) | np.uint32(2)).view(np.int32).astype(np.float32) * 2.0**-32
    return _rotated(radius, s, w[:, 1], _F)


def _pairs_d(w: Array) -> tuple[Array, Array]:
    """Return two numbers of 64 bits for each row of four words."""
    far = w[:, 0] >> np.uint64(31) == 1
    words = np.where(far[:, None], w[:, :2] ^ _MASK, w[:, :2])
    nearest = words[:, 0] * 2.0**-32 + (words[:, 1] + 0.5) * 2.0**-64
    above = np.where(far, 1 - nearest, nearest).view(np.int64) - np.int64(0x3FE6A09E667F3BCD)
    m = ((above & np.int64(0x000FFFFFFFFFFFFF)) + np.int64(0x3FE6A09E667F3BCD)).view(np.float64)
    k = (above >> np.int64(52)).astype(np.float64)
    radius = _radius(k, np.where(k, m - 1, -nearest), (0.6931471803691238, 1.9082149292705877e-10),
                     _D[0])
    high = ((w[:, 2] << np.uint64(2)) | (w[:, 3] >> np.uint64(30))).astype(np.uint32).view(np.int32)
    s = high * 2.0**-32 + ((w[:, 3] & np.uint64(0x3FFFFFFF)) + 0.5) * 2.0**-62
    return _rotated(radius, s, w[:, 2], _D)


def _radius(k: Array, f: Array, log2: tuple[float, float],
            coefficients: tuple[float, ...]) -> Array:
    """Return ``sqrt(-2 log(2^k (1 + f)))``."""
    s = f / (2.0 + f)
    z, h = s * s, 0.5 * f * f
    log = k * log2[0] + (k * log2[1] + (f - (h - s * (h + z * _polynomial(z, coefficients)))))
    return np.sqrt(-2.0 * log)


def _rotated(radius: Array, s: Array, chosen: Array,
            coefficients: tuple[tuple[float, ...], ...]) -> tuple[Array, Array]:
    """Return the radius times cosine and sine of an angle: `s` quarter turns, and two bits more."""
    z = s * s
    sine, cosine = s * _polynomial(z, coefficients[1]), 1.0 + z * _polynomial(z, coefficients[2])
    radius = np.where(chosen >> np.uint64(31), -radius, radius)
    exchange = (chosen >> np.uint64(30)) & np.uint64(1) == 1
    return radius * np.where(exchange, sine, cosine), radius * np.where(exchange, cosine, sine)


def _polynomial(z: Array, coefficients: tuple[float, ...]) -> Array:
    """By Horner's rule."""
    found = z * coefficients[-1] + coefficients[-2]
    for c in coefficients[-3::-1]:
        found = c + z * found
    return found
