"""A rehearsal of what runs on a GPU: the mock driver in place of the machine's, in processes that
know nothing of it.
"""

import os
from pathlib import Path

from .. import driver
from ..cache import scratch

HERE = Path(__file__).parent


def environment():
    """Return the environment of a process that finds the mock driver as the machine's."""
    paths = [str(HERE), str(HERE.parents[3]), os.environ.get("PYTHONPATH", "")]
    cubins = scratch() / "rehearsal"
    cubins.mkdir(mode=0o700, exist_ok=True)
    found = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "MAT_CACHE": str(cubins),
             "MAT_REHEARSAL": str(driver.libcuda())}
    for name in ("cublas", "cublaslt", "cusolver", "cufft"):
        library = getattr(driver, name, None)
        if library is not None:
            found[f"MAT_{name.upper()}"] = str(library())
    return found
