"""Check that the sanitizers find planted faults, each in a process of its own, which they end."""

import subprocess
import sys

SETUP = """
import mat
from mat.support.native import ffi, lib
x = mat.ones({size}).fill_(1)
with x.facet("foreign", "io") as p:
    {call}
print("survived")
"""
RIGHT = """lib.planted_sum(p.pointer, 7, 0)
    lib.planted_fill(p.pointer, 7, 0)
    lib.planted_shift(9)
    lib.planted_load(ffi.cast('char *', p.pointer))"""
# beyond a block of the system's, or of the pool's
BEYOND = "heap-buffer-overflow", "use-after-poison"
ASKEW = ("runtime error: load of misaligned",)
CALLS = {  # what is called, and what may be said, one of these; nothing: it must survive
    "nothing wrong": (RIGHT, ()),
    "one element read beyond the end": ("lib.planted_sum(p.pointer, p.size, 1)", BEYOND),
    "one element written before the beginning": ("lib.planted_fill(p.pointer, p.size, 1)", BEYOND),
    "a shift by too much": ("lib.planted_shift(40)", ("runtime error: shift exponent",)),
    "an address that is not aligned": ("lib.planted_load(ffi.cast('char *', p.pointer) + 1)",
                                       ASKEW),
}
SIZES = (7, 300, 50_000)  # blocks of several classes of the pool

for name, (call, said) in CALLS.items():
    for size in SIZES:
        done = subprocess.run([sys.executable, "-c", SETUP.format(size=size, call=call)],
                              capture_output=True, text=True,
                              timeout=300, check=False)
        if said:
            found = any(text in done.stderr for text in said) and done.returncode != 0
        else:
            found = "survived" in done.stdout and done.returncode == 0
        if not found:
            sys.exit(f"planted: {name}, {size} elements: exit {done.returncode}, wanted "
                     f"{said!r}\n{done.stdout}{done.stderr}")
print(f"planted faults: {len(CALLS) - 1} kinds, all found")
