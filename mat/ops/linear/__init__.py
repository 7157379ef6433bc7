"""Products of matrices, BLAS and linear algebra."""
