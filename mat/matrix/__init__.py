"""`Mat`: creation, views, access and exports."""
