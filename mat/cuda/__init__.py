"""What computes on NVIDIA's GPUs. Imported when a device is first used, except for ``driver``,
which looks for one.
"""
