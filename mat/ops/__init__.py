"""The operations. Each is declared once; importing a file adds its methods to `Mat`."""
