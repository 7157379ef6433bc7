"""Mats among other libraries: NumPy's functions and protocols, and those of everybody else."""
