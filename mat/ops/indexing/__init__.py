"""Elements by their positions: indices, masks, gathers, scatters, and sorting."""
