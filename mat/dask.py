"""Mats on clusters of dask: `Device` has the workers compute on a device, and with `enable` more of
dask's functions result in Mats.

This module needs ``dask.distributed`` (``pip install facetmat[dask]``) and is imported when it is
first used. Arrays of Mats need neither it nor a cluster: ``docs/clusters.md``.
"""

from __future__ import annotations

import threading
from typing import Any

from distributed import WorkerPlugin

from .devices.device import checked_bytes, device_named, set_device
from .interop.dask import enable as _enable
from .support.close_names import name_what_is_close as _name_what_is_close
from .support.types import DeviceName

__all__ = ["Device", "enable"]

_lock = threading.Lock()
_users: list[WorkerDevice] = []  # the plugins of this process: workers may be threads of one


class WorkerDevice(WorkerPlugin):  # type: ignore[misc]  # dask's classes are not typed
    """A plugin of workers that has their tasks compute on a device.

    A worker computes one task at a time there: tasks of several threads would only compete for the
    room on the device. Copies stay on the device from task to task, and where the room ends they
    are evicted to the worker's memory, which dask writes to disk in turn.

    Parameters
    ----------
    name : str
        ``"cuda"``, ``"cuda:1"`` or ``"emulated"``, as for `mat.use_device`. ``"cuda"`` is the first
        GPU that the worker's process sees, by CUDA_VISIBLE_DEVICES.
    pool_bytes : int, optional
        The most bytes that each worker's process allocates on the device.
    required : bool
        If False, workers without that device compute on the CPU.

    Raises
    ------
    FacetError, SettingError
        If there is no such kind of device, or the number of bytes is none.
    DeviceError
        From ``client.register_plugin``, if `required` and a worker has no such device.

    Examples
    --------
    >>> import mat.dask, distributed
    >>> with distributed.Client(processes=False, dashboard_address=":0") as client:
    ...     _ = client.register_plugin(mat.dask.Device("emulated", pool_bytes=10**8))
    ...     client.submit(lambda x: sorted((x + 1).fresh), mat.ones(3)).result()
    ['emulated']
    """

    name = "mat.dask.Device"  # by which dask knows the plugin: another one replaces it

    def __init__(self, name: DeviceName, *, pool_bytes: int | None = None,
                 required: bool = True) -> None:
        device_named(name, required=False)  # raises if there is no such kind
        self.device: DeviceName = name
        self.pool_bytes: int | None = checked_bytes(pool_bytes)
        self.required: bool = required
        self._threads = 1

    def setup(self, worker: Any) -> None:
        """Put the device to use in the worker's process; dask calls this.

        Parameters
        ----------
        worker : distributed.Worker
            The worker.
        """
        with _lock:
            set_device(self.device, pool_bytes=self.pool_bytes, required=self.required)
            _users.append(self)
        self._threads = worker.state.nthreads
        worker.state.nthreads = 1

    def teardown(self, worker: Any) -> None:
        """End the use of the device with that of the last such worker of the process.

        Parameters
        ----------
        worker : distributed.Worker
            The worker.
        """
        with _lock:
            if self in _users:
                _users.remove(self)
            if not _users:
                set_device("cpu")
        worker.state.nthreads = self._threads


Device = WorkerDevice


def enable() -> None:
    """Let arrays of Mats result in arrays of Mats where dask makes arrays of NumPy's.

    It replaces eleven functions in dask's modules for the rest of the process: of ``da.linalg``
    `cholesky`, `inv`, `lstsq`, `lu`, `solve` and `solve_triangular`, and `argwhere`, `flatnonzero`,
    `histogramdd`, `nonzero` and `unique`. A last task for each chunk makes a Mat of it. Arrays of
    other chunks have the same tasks and results as before.

    Notes
    -----
    Without it these functions work, too, and ``found.to_backend("mat")`` makes Mats of the chunks.
    Import functions by name, such as ``from dask.array import unique``, afterwards. A patch by
    which dask needs no replacement is in ``docs/upstream`` of the repository.

    Examples
    --------
    >>> import dask.array, mat.dask
    >>> mat.dask.enable()
    >>> x = dask.array.from_array(mat.array([3, 1, 3]), chunks=2, asarray=False)
    >>> dask.array.unique(x).compute()
    <Mat 2 int64 F [1 3]>
    """
    _enable()


_name_what_is_close(__name__)
