"""A GPU through the driver: memory, streams, copies, programs, kernels and graphs."""
