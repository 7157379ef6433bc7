"""Which copies of the data are fresh, and who may access them; knows no numbers."""
