# Compiled, since reshaping and slicing call it; it declares no types.
