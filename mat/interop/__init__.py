"""Mats among other libraries: protocols, and facets of their arrays."""
