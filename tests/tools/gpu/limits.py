"""What a card could do at most, from its attributes: what its memory moves, and what its
processors compute at their highest clock.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

# operations of one multiprocessor in one clock, a multiplication and an addition being two, by
# compute capability; of 16-bit floats those of the matrix units, which sum in float32
SCALARS, MATRICES = ("float32", "float64"), ("float16", "bfloat16")
EACH_CLOCK: dict[str, dict[str, int]] = {
    "7.5": {"float32": 128, "float64": 4, "float16": 1024},
    "8.0": {"float32": 128, "float64": 128, "float16": 2048, "bfloat16": 2048},
    "8.6": {"float32": 256, "float64": 4, "float16": 512, "bfloat16": 512},
    "8.7": {"float32": 256, "float64": 4, "float16": 1024, "bfloat16": 1024},
    "8.9": {"float32": 256, "float64": 4, "float16": 512, "bfloat16": 512},
    "9.0": {"float32": 256, "float64": 256, "float16": 4096, "bfloat16": 4096,
            "float8_e4m3fn": 8192, "int8": 8192},
    "10.0": {"float32": 256, "float64": 128, "float16": 8192, "bfloat16": 8192},
    "12.0": {"float32": 256, "float64": 4, "float16": 512, "bfloat16": 512},
}
ATTRIBUTES = {"processors": "MULTIPROCESSOR_COUNT", "clock": "CLOCK_RATE",
              "memory clock": "MEMORY_CLOCK_RATE", "bus": "GLOBAL_MEMORY_BUS_WIDTH",
              "L2": "L2_CACHE_SIZE", "shared": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
              "compute mode": "COMPUTE_MODE", "copy engines": "ASYNC_ENGINE_COUNT",
              "ECC": "ECC_ENABLED", "pools": "MEMORY_POOLS_SUPPORTED",
              "host registration": "HOST_REGISTER_SUPPORTED",
              "read-only registration": "READ_ONLY_HOST_REGISTER_SUPPORTED"}


@dataclass
class Limits:
    """Bytes and operations in a second, by type of element; 0 where they are not known."""

    bandwidth: float = 0.0
    operations: dict[str, float] = field(default_factory=dict)

    def share(self, nbytes: int, operations: float, kind: str, seconds: float | None) -> str:
        """Return which part of the limit was reached, as text; "" if that is not known."""
        if not seconds:
            return ""
        most = self.operations.get(kind, 0.0)
        shares = [done / seconds / limit for done, limit in ((nbytes, self.bandwidth),
                                                             (operations, most)) if limit and done]
        return f"{max(shares):.0%}" if shares else ""


def limits_of(facts: dict[str, int], capability: str) -> Limits:
    """Return the limits of a card with such attributes: clocks in kHz, the bus in bits."""
    # memory transfers at both edges of its clock
    bandwidth = 2e3 * facts.get("memory clock", 0) * facts.get("bus", 0) / 8
    clocks = 1e3 * facts.get("clock", 0) * facts.get("processors", 0)
    each = EACH_CLOCK.get(capability, {})
    return Limits(bandwidth, {kind: n * clocks for kind, n in each.items() if clocks})


def attributes(gpu: Any) -> dict[str, int]:
    """Return those attributes of a device that tell how fast it can be, and what it can do."""
    driver = importlib.import_module("cuda.bindings.driver")
    kinds = driver.CUdevice_attribute
    found = {}
    for name, word in ATTRIBUTES.items():
        kind = getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{word}", None)
        status, value = (1, 0) if kind is None else driver.cuDeviceGetAttribute(kind, gpu.device)
        found[name] = 0 if int(status) else int(value)
    return found


def of(gpu: Any) -> Limits:
    """Return the limits of a device."""
    number = gpu.arch.removeprefix("sm_")
    return limits_of(attributes(gpu), f"{number[:-1]}.{number[-1]}")
