"""What some tests cannot do without, as marks that skip them visibly."""

import pytest

from mat.cpu.native import lib

native = pytest.mark.skipif(lib is None, reason="shows what the compiled kernels print, and there are none")
