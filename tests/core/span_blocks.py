"""What `span_walk` does in blocks, and what it finds out about the copies of a storage."""

import numpy as np


def read_block(value):
    if isinstance(value, np.ndarray):
        return value.copy()
    if hasattr(value, "as_array"):
        value.device.synchronize()
        return value.as_array().copy()
    return np.asarray(value).copy()


def write_block(value, number):
    if isinstance(value, np.ndarray):
        value[...] = number
    else:
        value.device.launch(lambda a: a.__setitem__(..., number), value)


def elements_of(handle, dtype):
    """Return the elements that a handle has, of the host or of an emulated device."""
    return handle if isinstance(handle, np.ndarray) else handle.elements(dtype)


def torn_elements(x):
    storage = x.storage
    if storage.spans is not None:
        return {k for a, b in storage.spans.torn_runs() for k in range(a, b)}
    return set(range(storage.size)) if storage.torn is not None else set()


def pristine_elements(x):
    """Return the elements that are said to be the fill value still."""
    storage = x.storage
    if storage.spans is not None:
        return {k for a, b in storage.spans.pristine for k in range(a, b)}
    return set(range(storage.size)) if storage.pristine else set()


def copies_of(x):
    """Return memory, first element, handle and fresh elements of each copy."""
    storage = x.storage
    if storage.spans is None:
        every = set(range(storage.size))
        return [(m.name, 0, h, every if storage.fresh & m.bit else set())
                for m, h in storage.handles.items()]
    return [(c.memory.name, c.start, c.handle, {k for a, b in c.fresh for k in range(a, b)})
            for c in storage.spans.copies]


def state(x):
    return x.storage.version, [(m, a, fresh) for m, a, _, fresh in copies_of(x)]
