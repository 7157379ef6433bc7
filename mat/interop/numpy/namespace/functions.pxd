# Compiled so that a call has no frame: what NumPy warns of names the line of the program.
