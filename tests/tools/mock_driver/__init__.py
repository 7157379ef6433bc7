"""A mock CUDA driver: a C++ compiler compiles the kernels, and the driver runs them on the CPU."""
