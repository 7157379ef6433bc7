"""Programs that break the promise of a direction, one small function for each way to do so, and
similar correct ones.

`BUGS` lists them with the expected message of the direction check. Without the check they raise
nothing and continue with wrong data, except those marked `loud`.
"""
from . import (
           planted_correct,
           planted_on_devices,
           planted_operations,
           planted_readers,
           planted_writers,
)
from .planted import BUGS, CORRECT

__all__ = ["BUGS", "CORRECT", "planted_correct", "planted_on_devices", "planted_operations",
           "planted_readers", "planted_writers"]
