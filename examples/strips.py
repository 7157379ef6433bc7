"""Follow where the elements of one array are: on the host, on a device, or on both in parts.

Run: python examples/strips.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import mat

N = 600_000


def steps(device: str) -> Iterator[tuple[str, mat.Mat]]:
    """Yield each line of a program after it has run, and the array."""
    x = mat.zeros(N).uniform_()
    yield "x = mat.zeros(N).uniform_()", x
    with mat.use_device(device):
        x[: N // 3] *= 2
        yield "x[:N//3] *= 2, on the device", x
        with x[N // 2:].facet("array") as a:
            a += 1
        yield "NumPy writes x[N//2:], on the host", x
        total = (x * 2).sum()
        yield "(x * 2).sum(), on the device", x
        x[N // 4: N // 2].fill_(0)
        yield "x[N//4:N//2].fill_(0), on the device", x
    yield "the end of the block", x
    print(f"the sum was {float(total) / N:.1f} for each element")


def main() -> None:
    with mat.debug.count_copies() as copies:
        for line, x in steps(sys.argv[1] if len(sys.argv) > 1 else "emulated"):
            print(f"{line:38} fresh in {', '.join(sorted(x.fresh)) or 'parts'};"
                  f" {copies.bytes:,} bytes copied")


if __name__ == "__main__":
    main()
