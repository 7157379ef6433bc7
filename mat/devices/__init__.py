"""The devices on which operations compute, and the emulated one."""
