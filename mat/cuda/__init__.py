"""What computes on an NVIDIA GPU, through cuda-python and cuBLAS; loaded when a device is first used, and never before."""
