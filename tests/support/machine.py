"""What the tests and benchmarks say of the machine that they run on."""

import platform
from pathlib import Path


def processor() -> str:
    """Return the CPU's name, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines
                    if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
