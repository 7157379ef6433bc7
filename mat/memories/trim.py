"""``mat.trim()``: memory that is kept for the next use goes back to the system."""

from __future__ import annotations

from ..core.registry import memories
from ..support import host_pool
from ..support.plugins import loaded_plugin
from .pooled import Pooled


def trim() -> int:
    """Give memory that is kept for the next use back to the system, on the host and on devices.

    Freed memory is kept, within limits, since memory from the system costs time: on the host
    ``mat.settings.host_pool_bytes``, page-locked ``mat.settings.page_locked_bytes``, on the
    emulated device until the last block that uses it ends, and on a GPU until little is free. What
    is in use remains as it is, also the memory that `scratch` keeps for its threads.

    Returns
    -------
    int
        The number of bytes that were given back.

    Examples
    --------
    >>> import mat
    >>> x = mat.ones(1000, 1000) + 1
    >>> del x
    >>> freed = mat.trim()
    >>> mat.trim()
    0
    """
    found = host_pool.trim()
    pinned = loaded_plugin("page_locking")
    if pinned is not None:
        pool = pinned.POOL
        before = pool.in_use + pool.idle
        pool.trim()
        found += max(before - pool.in_use - pool.idle, 0)
    for memory in tuple(memories.values()):
        if isinstance(memory, Pooled):
            before = memory.used + memory.kept  # freed blocks may still count as used
            memory.trim()
            found += max(before - memory.used - memory.kept, 0)
    return found
