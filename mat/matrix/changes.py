"""`Mat.changed`: announcement of writes by others to the memory of a Mat."""

from __future__ import annotations

from .foreign_storage import announce
from .mat import Mat
from .methods import method


@method("changed")
def changed(self: Mat) -> Mat:
    """Announce that somebody has written the host's memory of self, past `mat`.

    From now on that memory has the elements that self sees, and other memories have none of them
    until they are copied there again.

    Returns
    -------
    Mat
        Self.

    Raises
    ------
    ConflictError
        While self is accessed, and if there is no such memory.

    Notes
    -----
    Of memory that `from_numpy`, `from_dlpack` or `asarray` was given, this is needed only after
    ``exclusive=True``, for writes that torch does not count, or to give up what a device has
    changed meanwhile. For data on a GPU that belongs to another library, its memory is that of the
    GPU.

    Examples
    --------
    >>> import numpy, mat
    >>> a = numpy.zeros(2)
    >>> x = mat.from_numpy(a, exclusive=True)
    >>> with mat.use_device("emulated"):
    ...     for k in range(3):
    ...         a[:] = k
    ...         print((x.changed() + 1).tolist())
    [1.0, 1.0]
    [2.0, 2.0]
    [3.0, 3.0]
    """
    announce(self.storage, self)
    return self
