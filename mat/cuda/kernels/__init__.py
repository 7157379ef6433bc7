"""The kernels in ``native/cuda``: choice and launch."""
