"""Calls from `mat/ops` up into `mat/numpy` and `mat/interop`: run as a program, it prints them.

Frames of compiled modules do not show, so that this runs with ``MAT_NATIVE=0``.
"""

import contextlib
import functools
import sys
import warnings
from pathlib import Path

import numpy as np

import mat

from .numpy_calls import FUNCTIONS, Operands
from .numpy_ufunc_calls import calls_of
from .ordinary_calls import THERE, arrays

ROOT = Path(mat.__file__).parent
OPS = str(ROOT / "ops")
ABOVE = (str(ROOT / "numpy"), str(ROOT / "interop"))


class UpwardCalls:
    """Records the calls of a block, as pairs of a place in `mat/ops` and a function above it."""

    def __init__(self, below=OPS, above=ABOVE):
        self.below, self.above = below, above
        self.found = set()

    def __enter__(self):
        sys.setprofile(self.note)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)

    def note(self, frame, event, arg):
        """Look for who has called, through NumPy, a function of the folder above."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self.above) or (
                code.co_name == "<module>"):  # imported at its first use
            return
        caller = frame.f_back
        while caller is not None:
            file = caller.f_code.co_filename
            if caller.f_code.co_qualname.startswith("Ufunc."):  # of a class of the folder above
                return
            if file.startswith(self.below):
                place = f"{Path(file).name}:{caller.f_lineno} {caller.f_code.co_name}"
                self.found.add((place, f"{Path(code.co_filename).name} {code.co_name}"))
                return
            if file.startswith((*self.above, str(Path(__file__).parent))):
                return
            caller = caller.f_back


def both(name):
    """Yield NumPy's function, and that of `mat`, where there are such."""
    for root in (np, mat):
        with contextlib.suppress(AttributeError):
            yield functools.reduce(getattr, name.split("."), root)


def calls(dtype):
    """Yield functions that make one call each."""
    tables = [(name, table) for name, table in FUNCTIONS.items()]
    tables += [(u.__name__, calls_of(u)) for u in vars(np).values() if isinstance(u, np.ufunc)]
    for name, table in tables:
        for function in both(name):
            for call in table:
                yield functools.partial(call, function, Operands(dtype, mat.array))
    mats = {name: mat.array(a) for name, a in arrays().items()}
    for call in THERE:
        yield functools.partial(eval, call, {"np": np, "mat": mat, **mats})


def main():
    """Print the calls that go up, on the host and on a device."""
    warnings.simplefilter("ignore")
    found = set()
    for device in ("cpu", "emulated"):
        with mat.use_device(device):
            for call in calls("float64"):
                with contextlib.suppress(Exception), UpwardCalls() as record:
                    call()
                found |= record.found
    for pair in sorted(found):
        print(*pair, sep=" -> ")


if __name__ == "__main__":
    main()
