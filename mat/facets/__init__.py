"""The built-in facets; each file registers its own, as a user-defined one does."""
