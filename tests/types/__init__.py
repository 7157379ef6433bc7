"""What type checkers know of `mat`: the stubs, and examples and mistakes for checkers."""
