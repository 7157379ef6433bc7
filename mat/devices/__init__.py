"""The devices that operations compute on, and the emulated one."""
