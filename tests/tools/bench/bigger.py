"""Operations on a file that is larger than the memory they may take: their speed beside that of a
plain loop that reads, or writes, the file, and the memory that they keep.

``python -m tests.tools.bench.bigger FOLDER [GIGABYTES]`` makes a file in the folder and removes it.
"""

import mmap
import os
import sys
import time
from pathlib import Path

import numpy as np

import mat

COLUMNS = 1024
CHUNK = 8 << 20


def resident():
    """Return the megabytes that this process has in memory, and those of them that are of files."""
    with open("/proc/self/status", encoding="ascii") as file:
        lines = dict(line.split(":", 1) for line in file)
    return [int(lines[name].split()[0]) / 1000 for name in ("VmRSS", "RssFile")]


class Watch:
    """The most memory that was resident whenever a tile was done."""

    def __init__(self):
        self.most = 0.0

    def __call__(self, done, total):
        self.most = max(self.most, resident()[0])


def forget(path):
    """Have the system read the file from the disk again."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_plainly(path):
    buffer = np.empty(CHUNK, np.uint8)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def write_plainly(path):
    """Read and write every byte in place, and wait for the disk."""
    buffer = np.empty(CHUNK, np.uint8)
    with open(path, "r+b", buffering=0) as file:
        while True:
            at = file.tell()
            n = file.readinto(buffer)
            if not n:
                break
            file.seek(at)
            file.write(buffer[:n])
        os.fsync(file.fileno())


def column_sums(path):
    return mat.open_memmap(path, "r").sum(axis=0)


def standardise(path):
    x = mat.open_memmap(path)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    x -= mean
    x /= deviation
    x.flush()


def product(path):
    return mat.open_memmap(path, "r") @ mat.ones(COLUMNS, 8, dtype="float32")


def made(path, gigabytes):
    """Make the file; report how long that takes."""
    rows = int(gigabytes * 1e9) // (4 * COLUMNS)
    x = mat.open_memmap(path, "w+", "float32", (rows, COLUMNS))
    part = np.random.default_rng(1).normal(size=(1000, COLUMNS)).astype(np.float32)
    for k in range(0, rows, 1000):
        x[k:k + 1000] = part[:rows - k]
    x.flush()


def timed(name, call, path, passes, cold):
    """Call a function of the path; print its speed and the memory that it took."""
    if cold:
        forget(path)
    watch = Watch()
    begin = time.perf_counter()
    with mat.settings(progress=watch):
        call(path)
    seconds = time.perf_counter() - begin
    speed = passes * os.path.getsize(path) / seconds / 1e9
    memory = f", {watch.most:5.0f} MB resident at most" if watch.most else ""
    print(f"{name:28} {'cold' if cold else 'warm'} {seconds:7.2f} s {speed:6.2f} GB/s a pass"
          + memory, flush=True)
    return seconds


def main():
    path = Path(sys.argv[1]) / "bigger.npy"
    gigabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 4.0
    names = sys.argv[3].split(",") if len(sys.argv) > 3 else ["sum", "product", "standardise"]
    print(f"pages of {mmap.PAGESIZE} bytes, resident at first: {resident()[0]:.0f} MB")
    try:
        if not path.exists():
            timed("make", lambda p: made(p, gigabytes), path, 1, False)
        for cold in (True, False):
            plain = timed("read plainly", read_plainly, path, 1, cold)
            for name, call in (("sum", column_sums), ("product", product)):
                if name in names:
                    ours = timed(name, call, path, 1, cold)
                    print(f"    {plain / ours:.2f} of the speed of the plain loop")
            if "standardise" in names:  # reads three times or four, and writes twice
                written = timed("write plainly", write_plainly, path, 1, cold)
                ours = timed("standardise", standardise, path, 5, cold)
                print(f"    {(2 * written + 2 * plain) / ours:.2f} of the speed of plain loops")
    finally:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
