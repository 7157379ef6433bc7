"""Run the kernels that `prepare` functions of the device return, on the CPU and on NumPy arrays."""

import numpy as np

from mat.support.native import ffi

from ..tools.mock_driver.harness import run


def frame_of(launch):
    """Return the numbers of a launch's frame."""
    return np.frombuffer(bytes(ffi.buffer(launch.frame))[:-1], np.int64)


def launch_all(launch, arrays, numbers=(), seed=0, room_fill=0xEE):
    """Run `launch` and those after it on arrays in the operation's order, in place."""
    room = [np.full(launch.room, room_fill, np.uint8)] if launch.room else []
    while launch is not None:
        if 0 not in launch.grid:
            run(launch.program, launch.kernel, frame_of(launch), [*arrays, *room], numbers,
                launch.grid, launch.block,
                launch.shared, seed)
        launch = launch.then
