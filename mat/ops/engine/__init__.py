"""How an operation is declared, planned and called."""
