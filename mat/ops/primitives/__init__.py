"""Operations on elements, reductions, scans, copies in other arrangements, and random numbers."""
