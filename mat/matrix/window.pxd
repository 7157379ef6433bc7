# Compiled, so that no interrupt comes between the begin of a window and its block.
