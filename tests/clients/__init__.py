"""Other libraries that are handed Mats: what works, what is copied, what comes back; ``python -m
tests.clients`` tells.
"""
