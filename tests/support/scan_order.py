"""Running totals of long lines in their order (layout/merged_axes.py), by NumPy."""

import numpy as np

PIECE, CHUNK = 32, 4096


def accumulated(rule, a, axis, dtype=None):
    """Return ``rule.accumulate(a, axis, dtype)`` in that order."""
    with np.errstate(all="ignore"):
        plain = rule.accumulate(a, axis, dtype)
        if a.shape[axis] <= CHUNK or plain.dtype.kind in "biu" or rule in (np.maximum, np.minimum):
            return plain
        lines = np.ascontiguousarray(np.moveaxis(a.astype(plain.dtype), axis, -1))
        np.moveaxis(plain, axis, -1)[...] = _by(rule, lines, CHUNK, lambda chunk: _by(
            rule, chunk, PIECE, lambda piece: _in_turn(rule, piece)))
        return plain


def _by(rule, lines, length, within):
    """Return totals of parts of lines, each added to the last one of the part before."""
    starts = range(0, lines.shape[-1], length)
    found = np.concatenate([within(lines[..., k:k + length]) for k in starts], axis=-1)
    for k in starts[1:]:
        part = found[..., k:k + length]
        part[...] = _joined(rule, found[..., k - 1:k], part)
    return found


def _in_turn(rule, lines):
    """Return totals in turn; NumPy rounds products of complex numbers of many lines otherwise."""
    if rule is np.multiply and lines.dtype.kind == "c":
        return np.apply_along_axis(rule.accumulate, -1, lines)
    return rule.accumulate(lines, -1)


def _joined(rule, before, items):
    """Return ``rule(before, items)``; NumPy's products of many complex numbers are rounded once."""
    if rule is not np.multiply or items.dtype.kind != "c":
        return rule(before, items)
    found = np.empty_like(items)
    found.real = before.real * items.real - before.imag * items.imag
    found.imag = before.real * items.imag + before.imag * items.real
    return found
