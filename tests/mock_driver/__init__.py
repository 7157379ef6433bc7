"""What runs the CUDA code without a GPU: kernels through a C++ compiler, and a driver that runs
them on the CPU.
"""
