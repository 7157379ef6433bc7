"""What a GPU is measured with: ``python -m tests.tools.gpu`` runs the tests on it and the
benchmarks, and writes a report.
"""
