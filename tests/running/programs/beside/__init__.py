"""A package beside the programs."""
