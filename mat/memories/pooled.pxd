# Compiled, so that an interrupt comes between its steps only where they call others.
