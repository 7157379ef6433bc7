"""What the tests and benchmarks say of the machine that they run on."""

import platform
import shutil
from pathlib import Path

# of x86-64, and instructions that each needs beside those of the level before
LEVELS = {"x86-64": (), "x86-64-v3": ("avx2", "fma", "bmi2"),
          "x86-64-v4": ("avx512f", "avx512vl", "avx512dq", "avx512bw")}


def processor() -> str:
    """Return the CPU's name, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines
                    if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def runs(level: str) -> bool:
    """Tell whether this machine runs code for that level, and can compile it."""
    cpus = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or shutil.which("gcc") is None or not cpus.exists():
        return False
    flags = cpus.read_text(encoding="ascii").partition("flags")[2].partition("\n")[0].split()
    return set(LEVELS[level]) <= set(flags)
