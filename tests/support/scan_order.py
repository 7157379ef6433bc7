"""Running totals of long lines in their order (layout/scan_order.py), line by line."""

import numpy as np

PIECE, CHUNK = 32, 4096


def accumulated(rule, a, axis, dtype=None):
    """Return ``rule.accumulate(a, axis, dtype)`` in that order."""
    with np.errstate(all="ignore"):
        plain = rule.accumulate(a, axis, dtype)
        if a.shape[axis] <= CHUNK or plain.dtype.kind in "biu" or rule in (np.maximum, np.minimum):
            return plain
        lines, found = (np.moveaxis(b, axis, -1) for b in (a.astype(plain.dtype), plain))
        for at in np.ndindex(lines.shape[:-1]):
            found[at] = _by(rule, lines[at], CHUNK, lambda chunk: _by(rule, chunk, PIECE, (
                rule.accumulate)))
        return plain


def _by(rule, line, length, within):
    """Return totals of parts, each added to the last one of the part before."""
    found = np.concatenate([within(line[k:k + length]) for k in range(0, len(line), length)])
    for k in range(length, len(line), length):
        found[k:k + length] = _joined(rule, found[k - 1], found[k:k + length])
    return found


def _joined(rule, before, items):
    """Return ``rule(before, items)``; NumPy's products of many complex numbers are rounded once."""
    if rule is not np.multiply or items.dtype.kind != "c":
        return rule(before, items)
    found = np.empty_like(items)
    found.real = before.real * items.real - before.imag * items.imag
    found.imag = before.real * items.imag + before.imag * items.real
    return found
