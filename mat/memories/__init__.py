"""Memories: places where data is stored."""
