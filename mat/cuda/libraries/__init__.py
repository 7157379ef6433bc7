"""cuBLAS and cuSOLVER."""
