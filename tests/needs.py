"""What some tests cannot do without, as marks that skip them visibly."""

import pytest

from mat.cpu.native import lib

native = pytest.mark.skipif(lib is None, reason="it is about the compiled kernels, and there are none")
