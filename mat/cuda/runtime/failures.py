"""Errors of the driver's functions, and the devices that have failed for good."""

from __future__ import annotations

from ...core.compiled import THREADS
from ...core.source_line import line_of
from ...errors import DeviceError, OutOfDeviceMemory
from ...support.cuda_probe import error_text
from .driver import driver

OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY
# errors after which a context fails for good: ECC, NVLink, contained, illegal address, timeout,
# destroyed, assertion, stack, instruction, misaligned, address space, program counter, launch,
# tensor memory
FATAL = frozenset((214, 220, 226, 700, 702, 709, 710, *range(714, 720), 721))
FAILURES: dict[int, str] = {}  # by the address of a context: what it failed with, and where


def error_of(status: int, what: str, context: int | None = None) -> DeviceError:
    """Return the error of a status, and remember it if the device cannot be used from now on.

    `what` says what was requested, of the device with the address `context`, or else of the
    thread's current one.
    """
    text = f"{what}: {error_text(driver, status)}"
    if status not in FATAL:
        return OutOfDeviceMemory(text) if status == OUT_OF_MEMORY else DeviceError(text)
    if context is None:
        context = int(driver.cuCtxGetCurrent()[1] or 0)
    if context in FAILURES:
        return failed_earlier(context)
    if context:
        FAILURES[context] = f"{line_of(THREADS.line())}: {text}"
    return DeviceError(f"{text}; a GPU does not recover from this within a process: start again; "
                       "what is on the host can still be used")


def has_failed(context: int) -> bool:
    """Return whether a device, by the address of its context, has failed for good."""
    return context in FAILURES


def failed_earlier(context: int) -> DeviceError:
    """Return the error of whoever uses a device that has failed."""
    return DeviceError(f"the device failed earlier at {FAILURES[context]}; it cannot be used again "
                       "in this process: start again; what is on the host can still be used")
