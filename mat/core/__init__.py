"""Cubes: data with copies in several memories, and accesses to it; independent of numbers."""
