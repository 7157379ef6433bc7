"""The driver's functions, as `cuda.bindings.driver` has them, also with newer drivers.

Where a function returns an error that this version of the bindings has no name for, they raise
`ValueError`; here it returns the number, as it returns other errors.
"""

from __future__ import annotations

from typing import Any

from cuda.bindings import driver as bindings

from ...support.cuda_probe import accepting


class DriverFunctions:
    """Functions that return the status first, and the types and constants of the bindings."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(bindings, name)
        if name.startswith("cu") and not isinstance(found, type):
            found = accepting(found)
        setattr(self, name, found)
        return found


driver: Any = DriverFunctions()
