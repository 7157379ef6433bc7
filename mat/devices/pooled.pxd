# Compiled for speed: every access to a device calls it.
