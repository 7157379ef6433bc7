"""Another name for `mat`, whose functions are those of the Python array API standard, too."""

import sys

from . import fft, linalg

sys.modules[__name__] = sys.modules[fft.__name__.partition(".")[0]]
sys.modules[f"{__name__}.fft"], sys.modules[f"{__name__}.linalg"] = fft, linalg
