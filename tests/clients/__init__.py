"""Other libraries called with Mats: ``python -m tests.clients`` writes what works, what is copied,
and what is returned.
"""
