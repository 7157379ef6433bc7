"""NumPy's functions, ufuncs and methods for Mats; ``%load_ext mat.numpy`` has the cells of a
notebook compute with them where they import NumPy.
"""

from typing import Any

from ..support.plugins import plugin


def load_ipython_extension(shell: Any) -> None:
    """Load the extension into an IPython shell; ``%load_ext mat.numpy`` calls this."""
    plugin("run").load_extension(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Let further cells import NumPy itself; ``%unload_ext mat.numpy`` calls this."""
    plugin("run").unload_extension(shell)
