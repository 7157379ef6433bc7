"""Computing on NVIDIA's GPUs. These modules are imported when a device is first used."""
