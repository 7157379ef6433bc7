"""Division by a number that is known before, as a multiplication and a shift: kernels compute
coordinates by it. Apart from `runtime`, so that what plans copies needs no driver.

Source: Granlund and Montgomery, "Division by invariant integers using multiplication" (1994).
"""

from __future__ import annotations

from ...layout.shapes import signed


def magic(n: int, bits: int) -> tuple[int, int]:
    """Return a factor, as a signed word, and a shift: ``x // n`` is
    ``((x * factor >> bits) + x) >> shift`` for x below ``2**(bits - 1)``.
    """
    n = max(n, 1)
    shift = (n - 1).bit_length()
    return signed(((1 << bits) * ((1 << shift) - n)) // n + 1), shift
