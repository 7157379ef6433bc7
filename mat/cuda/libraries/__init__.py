"""cuBLAS, cuSOLVER and cuFFT."""
