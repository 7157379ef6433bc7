"""The memories that store data."""
