"""Convolution, pooling and quantization."""
