# Compiled so that a call has no frame: what NumPy warns of names the line of the program.

from mat.numpy.array_function cimport are_ready, call_in_full, call_numpy
from mat.numpy.short_calls cimport called_shortly
