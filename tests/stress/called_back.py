"""Functions that the library calls. Interrupts are raised at their lines, too, since a signal's
handler runs wherever Python runs.
"""

from mat.extend import Observer


def fill(a):
    """Write an array of the emulated device."""
    value = 9.0
    a[...] = value


def look(a, into):
    """Copy an array of the emulated device."""
    copied = a.copy()
    into.append(copied)


def progress(done, total):
    """See how many bytes were read or written."""
    percent = 100 * done // max(1, total)
    assert 0 <= percent <= 100


def copy_part(m, part):
    """Be called for each part of a Mat."""
    half = m * 0.5
    part.copy_(half)


class Watching(Observer):
    """An observer that notes what it is told."""

    def __init__(self):
        self.told = []

    def entered(self, record):
        self.told.append(record.label())

    def left(self, record, failed):
        label = record.label()
        self.told.remove(label)

    def copied(self, cube, source, target, seconds):
        text = f"{source.name} {target.name}"
        self.told.append(text)
