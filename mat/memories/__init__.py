"""The memories in which data is stored."""
