"""Programs that the tests, the measurements and CI use."""
