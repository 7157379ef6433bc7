"""Classification of source files: Python's library, NumPy, any library, or a user's.

No Python code runs in these matches, and so no handler of a signal.
"""

from __future__ import annotations

import os
import re
import threading

import numpy as np

_PYTHON = re.escape(threading.Thread.run.__code__.co_filename.rpartition("threading")[0])
_NUMPY = re.escape(os.path.dirname(np.__file__) + os.sep)
_PACKAGES = ".*(?:site-packages|dist-packages)"  # they may be in the folder of Python's library

# files of Python's library and of NumPy: what lines in them call, a line elsewhere calls by them
BETWEEN: re.Pattern[str] = re.compile(f"{_NUMPY}|<frozen |{_PYTHON}(?!{_PACKAGES})", re.DOTALL)
# files of Python's library and of all installed ones
INSTALLED: re.Pattern[str] = re.compile(f"<frozen |{_PYTHON}|{_PACKAGES}", re.DOTALL)
