"""Devices, on which operations compute, and the emulated one."""
