"""Division by a number that is known before, as a multiplication and a shift: what kernels find
coordinates with.

Source: Granlund and Montgomery, "Division by invariant integers using multiplication" (1994).
"""

from __future__ import annotations

from ..layout.strided import signed


def magic(n: int, bits: int) -> tuple[int, int]:
    """A factor and a shift, so that ``x // n`` is ``((x * factor >> bits) + x) >> shift``; the
    factor as a signed word.
    """
    n = max(n, 1)
    shift = (n - 1).bit_length()
    return signed(((1 << bits) * ((1 << shift) - n)) // n + 1), shift
