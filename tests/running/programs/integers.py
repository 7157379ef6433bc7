"""Whole numbers, masks, sets, and arrays as iterables."""

import itertools
import random

import numpy as np

sieve = np.ones(100, dtype=bool)
sieve[:2] = False
for p in range(2, 11):
    if sieve[p]:
        sieve[p * p::p] = False
primes = np.flatnonzero(sieve)
print(primes[:10], len(primes), primes.sum(), 97 in primes, list(map(int, primes[:3])))
print(np.gcd(primes[:4], 6), primes % 4, np.bitwise_xor.reduce(primes), 1 << np.arange(5))
print([int(p) for p in primes if p % 10 == 3], sum(primes[:5]), max(primes), sorted(-primes)[0])
grid = np.indices((3, 4)).sum(axis=0)
for row, (i, value) in zip(grid, enumerate(grid[:, 0])):
    print(i, value, row, row[row > 1], [*itertools.accumulate(row.tolist())])
counter = np.zeros(5, dtype=np.uint8)
np.add.at(counter, [0, 1, 1, 4], 1)
counter[2] -= 1
print(counter, np.packbits(counter > 0), np.union1d([1, 2], [2, 3]), np.setdiff1d([1, 2], [2]))
flat = grid.flat
grid[grid > 3] = -1
print(next(iter(flat)), grid, np.where(grid < 0), np.any(grid < 0), bool(grid.all()))
random.seed(1)
print(sorted(random.sample(list(primes), 3)) <= list(primes), np.unravel_index(7, (3, 4)))
it = np.nditer(grid[:1], flags=["multi_index"])
print([(it.multi_index, int(v)) for v in it], list(np.ndindex(1, 2)), np.base_repr(10, 2))
